"""The notebook of the tutorial runs, and its cells say what they should."""

import os
import re
import subprocess
import sys
import unittest
from importlib.util import find_spec

ROOT = os.environ.get("BOXCAR_ROOT") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPT = os.path.join(ROOT, "scripts", "tutorial", "python.py")


class Tutorial(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([sys.executable, "-B", SCRIPT], capture_output=True, text=True)
        cls.code, cls.out, cls.err = done.returncode, done.stdout, done.stderr

    def test_it_runs_to_its_end(self):
        self.assertEqual(self.code, 0, self.err[-3000:])

    def test_the_cells_say_what_they_found(self):
        self.assertIn("images (1500, 64) boxcar.float32", self.out)
        self.assertIn("dispatched to: CPU", self.out)
        self.assertIn("tensor([-0.1000,  2.0000])", self.out)
        self.assertIn("tensor([-0.0500,  2.0000])", self.out)
        self.assertIn("calls {", self.out)
        self.assertIn("'tutorial::leaky': 1", self.out)
        self.assertIn("  Shown: aten::relu", self.out)
        self.assertRegex(self.out, r"Name +Self CPU %.*\n(.*\n)*?tutorial::leaky")

    def test_the_network_learns(self):
        found = re.search(r"correct (\d+) of 297", self.out)
        self.assertIsNotNone(found, self.out)
        self.assertGreater(int(found[1]), 240)

    @unittest.skipIf(find_spec("torch") is None, "PyTorch is not installed")
    def test_the_model_of_pytorch_runs(self):
        self.assertIn("largest difference from PyTorch", self.out)

    @unittest.skipUnless(find_spec("torch") is None, "PyTorch is installed")
    def test_without_pytorch_its_cell_says_so(self):
        self.assertIn("PyTorch is not installed: the model is left out", self.out)

    def test_it_is_a_notebook(self):
        with open(SCRIPT, encoding="utf-8") as file:
            text = file.read()
        self.assertGreater(text.count("\n# %%\n"), 8)
        self.assertGreater(text.count("# %% [markdown]\n"), 8)


if __name__ == "__main__":
    unittest.main()
