"""The examples of python/README.md do what the page says."""

import contextlib
import io
import os
import pathlib
import re
import unittest

PAGE = pathlib.Path(os.environ["BOXCAR_ROOT"]) / "python" / "README.md"


class Page(unittest.TestCase):
    def test_examples_print_what_the_page_says(self):
        examples = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
        self.assertGreater(len(examples), 1)
        names = {}
        for example in examples:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(example, str(PAGE), "exec"), names)  # later examples go on from earlier ones
            wanted = re.findall(r"# prints (.*)", example)
            self.assertEqual(printed.getvalue().splitlines(), wanted)


if __name__ == "__main__":
    unittest.main()
