"""Traces random functions with views, writes, lazy conjugates and `.data`, without writes, and calls what is traced with
other arguments than those of the trace: it must give what the function gives, and leave the arguments as it leaves them.
Usage: trace_random_test.py BOXCAR [FUNCTIONS [FIRST_SEED]]"""

import random
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BOXCAR = str(Path(sys.argv.pop(1)).absolute())
FUNCTIONS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 100
FIRST_SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 0

# Calls in place, and with out=. The traced function copies to its arguments at its end.
WRITE = re.compile(r"^\s*([^'(]* = )?[a-z_]+::[a-z0-9_]*[a-z0-9]_(\.[A-Za-z_]+)?\(|[(, ]out=")
COPY_BACK = re.compile(r"^\s*aten::copy_\((x|y|c)(_\w+)?, ")


@dataclass
class Value:
    name: str
    sizes: tuple
    is_complex: bool
    is_conj: bool = False
    is_shared: bool = False  # whether several of its elements may be one


class Function:
    """A function with the arguments x and y, float32 of sizes [2, 3], and c, complex64 of sizes [2, 2]."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f"f{seed}"
        self.lines = []
        self.values = [Value("x", (2, 3), False), Value("y", (2, 3), False), Value("c", (2, 2), True)]
        for _ in range(self.random.randint(4, 14)):
            self.random.choice(
                [self.make, self.make, self.complex, self.view, self.view, self.view, self.bits, self.bits, self.data]
                + [self.write] * 4
            )()
        results = self.random.sample(self.values, 3) + self.values[-2:]
        self.lines.append(f"return [{', '.join(value.name + self.random.choice(['', ' + 1']) for value in results)}]")

    def text(self):
        return f"fn {self.name}(Tensor x, Tensor y, Tensor c) -> Tensor[] {{\n    " + "\n    ".join(self.lines) + "\n}\n"

    def pick(self, condition=lambda value: True):
        found = [value for value in self.values if condition(value)]
        return self.random.choice(found) if found else None

    def add(self, text, sizes, is_complex, is_conj=False):
        value = Value(f"v{len(self.values)}", tuple(sizes), is_complex, is_conj)
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)

    def make(self):
        value = self.pick()
        other = self.pick(lambda other: other.sizes == value.sizes)
        is_complex = value.is_complex or other.is_complex
        text = self.random.choice(["{0} * 2", "{0} + 1", "{0} - {1}", "{0}.clone()", "{0} + {1}", "-{0}"])
        if "{1}" not in text:
            is_complex = value.is_complex
        self.add(text.format(value.name, other.name), value.sizes, is_complex)

    def complex(self):
        value = self.pick(lambda value: not value.is_complex)
        self.add(f"complex({value.name}, {value.name} + 1)", value.sizes, True)

    def view(self):
        value = self.pick()
        name, sizes, flags = value.name, value.sizes, (value.is_complex, value.is_conj)
        kind = self.random.randrange(6)
        if kind == 0 and len(sizes) == 2:
            self.add(f"{name}.t()", sizes[::-1], *flags)
        elif kind == 1 and sizes:
            dim = self.random.randrange(len(sizes))
            at = self.random.randrange(sizes[dim])
            self.add(f"{name}.select({dim}, {at})", sizes[:dim] + sizes[dim + 1 :], *flags)
        elif kind == 2 and sizes and sizes[0] > 1:
            self.add(f"{name}[1:]", (sizes[0] - 1, *sizes[1:]), *flags)
        elif kind == 3 and len(sizes) < 4:
            self.add(f"{name}.unsqueeze(0)", (1, *sizes), *flags)
        elif kind == 4 and value.is_complex and not value.is_conj:
            self.add(f"view_as_real({name})", (*sizes, 2), False)
        elif kind == 5 and len(sizes) == 2 and value.is_complex:
            self.add(f"{name}.mH()", sizes[::-1], True, not value.is_conj)

    def bits(self):
        value = self.pick(lambda value: value.is_complex) or self.pick()
        name, sizes = value.name, value.sizes
        kind = self.random.randrange(6)
        if kind == 0:
            real = self.pick()
            self.add(f"aten::_neg_view({real.name})", real.sizes, real.is_complex, real.is_conj)
        elif kind == 1:
            self.add(f"{name}.resolve_conj()", sizes, value.is_complex)
        elif kind == 2:
            self.add(f"{name}.conj()", sizes, value.is_complex, value.is_complex and not value.is_conj)
        elif value.is_complex:
            part = self.random.choice(["real", "imag"])
            self.add(f"{name}{self.random.choice(['', '.conj()'])}.{part}()", sizes, False)

    def data(self):
        value = self.pick()
        name = self.random.choice([".data", ".data", ".detach()"])
        self.add(f"{value.name}{name}", value.sizes, value.is_complex, value.is_conj)

    def write(self):
        value = self.pick()
        name = value.name
        other = self.pick(lambda other: other.sizes == value.sizes and (value.is_complex or not other.is_complex))
        texts = ["{0}.mul_(2)", "{0}.add_(1)", "{0}.copy_({1}.clone())", "{0}.add_({1}.clone())", "{0}.neg_()", "{0}.zero_()"]
        if value.is_complex:
            texts += ["{0}.conj_physical_()", "{0}.imag().add_(3)", "{0}.conj().imag().mul_(2)", "{0}.conj().real().sub_(1)"]
        if value.sizes:
            texts += ["{0}[0].add_(2)", "{0}.data[0].mul_(3)"]
        self.lines.append(self.random.choice(texts).format(name, other.name if other else name))


def run(*arguments, folder):
    return subprocess.run([BOXCAR, *arguments], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


TRACED = (
    "x=arange(6, dtype=float32).view(2, 3)",
    "y=tensor([[-1., 2., 5.], [4., -3., 0.]])",
    "c=complex(tensor([[1., -2.], [3., 5.]]), tensor([[2., 7.], [-4., 1.]]))",
)
# Of the same sizes and strides, as sizes are constants of a trace.
OTHERS = """
x = tensor([[-1., 7., 15.], [11., -11., -3.]])
y = tensor([[-4., -3., 0.], [5., 12., 21.]])
c = complex(tensor([[1., 5.], [-5., 9.]]), tensor([[4., -8.], [14., 2.]]))
"""


class TraceRandom(unittest.TestCase):
    def compare(self, option):
        functions = [Function(seed) for seed in range(FIRST_SEED, FIRST_SEED + FUNCTIONS)]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "direct.ops").write_text("\n".join(each.text() for each in functions))

            def trace(function):
                options = ["--functional", *option, "--function", function.name, "-o", f"{function.name}.ops"]
                return run("trace", "direct.ops", *options, *TRACED, folder=folder)

            with ThreadPoolExecutor(2) as pool:
                traces = list(pool.map(trace, functions))
            wrong = []
            calls = []
            for function, traced in zip(functions, traces):
                if traced.returncode != 0:
                    wrong.append(f"{function.text()}is not traced: {traced.stderr}")
                    continue
                program = Path(folder, f"{function.name}.ops").read_text()
                lines = [line for line in program.splitlines() if WRITE.search(line) and not COPY_BACK.match(line)]
                if lines:
                    wrong.append(f"{function.text()}has a trace that writes:\n{program}")
                calls.append((function, program))
            script = 'import "direct.ops" as direct\n'
            for function, _ in calls:
                script += f'import "{function.name}.ops" as of_{function.name}\n'
            for function, _ in calls:
                for module in ("direct", f"of_{function.name}"):
                    script += OTHERS + f"print('{function.name}', {module}.{function.name}(x, y, c), x, y, c)\n"
            Path(folder, "compare.ops").write_text(script)
            result = run("run", "compare.ops", folder=folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            printed = re.split(r"^(?=f\d+ )", result.stdout, flags=re.MULTILINE)[1:]
            self.assertEqual(len(printed), 2 * len(calls))
            for (function, program), direct, traced in zip(calls, printed[::2], printed[1::2]):
                if direct != traced:
                    wrong.append(f"{function.text()}traced with {option}:\n{program}gives\n{traced}instead of\n{direct}")
            self.assertGreater(len(calls), 0.9 * FUNCTIONS)
            self.assertEqual(len(wrong), 0, f"{len(wrong)} of {FUNCTIONS} functions are wrong. The first:\n" + "\n".join(wrong[:3]))

    def test_with_copies_of_views(self):
        self.compare([])

    def test_with_views(self):
        self.compare(["--keep-views"])


if __name__ == "__main__":
    unittest.main()
