"""The kept cases of tests/numerics, called through the module: PyTorch's arguments and answers.

A few of each operator are called: `python tests/python/numerics_test.py --all` calls all, in minutes; --only 'add*' calls
those of some operators.
"""

import collections
import fnmatch
import os
import pathlib
import sys
import unittest

import case_files

DATA = pathlib.Path(os.environ.get("BOXCAR_ROOT", pathlib.Path(__file__).resolve().parents[2])) / "tests/numerics/data"
ALL = "--all" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else "*"
LARGEST = 512  # elements of the cases that are called without --all


def chosen(cases):
    """Yields the cases to call: without --all, one of each operator that is answered and one that is refused."""
    seen = set()
    for case in cases:
        name = case["op"].split("::")[1]
        if not fnmatch.fnmatch(name, ONLY) and not fnmatch.fnmatch(name.split(".")[0], ONLY):
            continue
        key = (case["op"], "err" in case)
        if not ALL and (key in seen or sum(count for _, _, count in case["st"]) > LARGEST):
            continue
        seen.add(key)
        yield case


def failure_of(file, case, resolves):
    """Returns what differs from PyTorch's answer, or None."""
    call = case_files.Call(file, case)
    try:
        results = call.run(resolves)
    except (RuntimeError, TypeError, ValueError, IndexError, OverflowError) as error:
        if "err" not in case:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return call.difference_of_arguments() if str(error) else "it is refused without a word"
    return f"it should be refused (PyTorch: {case['err']})" if "err" in case else call.difference(results)


class Numerics(unittest.TestCase):
    def compare(self, resolves):
        failures, called = collections.Counter(), 0
        shown = []
        for path in sorted(DATA.glob("*.safetensors")):
            file = case_files.File(path)
            for case in chosen(file.cases):
                called += 1
                if failure := failure_of(file, case, resolves):
                    failures[case["op"]] += 1
                    if failures[case["op"]] <= 2:
                        shown.append(f"{case['op']} ({path.stem}, {case['dtype']}, {case['args']}): {failure}")
        if ALL:
            print(f"{called} calls, {sum(failures.values())} differ", file=sys.stderr)
        self.assertEqual(shown, [], "\n" + "\n".join(shown))
        self.assertGreater(called, 0 if ONLY != "*" else 2000)

    def test_overloads_answer_as_pytorch_does(self):
        self.compare(resolves=False)

    def test_overloads_that_arguments_choose_answer_as_pytorch_does(self):
        self.compare(resolves=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
