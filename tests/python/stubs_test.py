"""The type stubs of the package: what mypy says of programs that use boxcar, and that nothing public is missing."""

import ast
import importlib.util
import keyword
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import boxcar
from boxcar import _core

PACKAGE = pathlib.Path(boxcar.__file__).parent
HAS_STUBS = (PACKAGE / "__init__.pyi").exists()

GOOD = '''
from collections.abc import Sequence
from pathlib import Path

import boxcar
from boxcar import Tensor

x: Tensor = boxcar.ones(2, 3, dtype=boxcar.float64, device="cpu")
y: Tensor = boxcar.zeros([2, 3], device=boxcar.device("cpu")) + 2 * x - x / 3
z: Tensor = boxcar.add(x, y, alpha=2).relu().sum(0, keepdim=True)
one: Tensor = boxcar.add(1, x).clamp(0, 1.5).to(boxcar.float32).to("cpu").float()
values, indices = x.max(dim=1)
best: Tensor = x.max(1).indices
shape: tuple[int, ...] = x.shape
rows: int = x.size(0)
number: float = x.sum().item()
pieces: tuple[Tensor, ...] = x.split(1) + boxcar.ops.aten.split(x, 1)
whole: Tensor = boxcar.cat(pieces).type(float).to(boxcar.promote_types(int, boxcar.float32))
leaf: Tensor = boxcar.tensor([1], dtype=float, requires_grad=True)
slopes: tuple[Tensor, ...] = boxcar.autograd.grad(leaf * leaf, leaf)
handle = leaf.register_hook(lambda grad: grad * 2)
handle.remove()
same: bool = boxcar.equal(x, y)
kind: boxcar.dtype = x.dtype
x[0, 1:] = 3
row: Tensor = x[..., None]
less: Tensor = x < y
moved: Tensor = x.permute(1, 0).reshape(3, 2).contiguous(memory_format=boxcar.contiguous_format)
drawn: Tensor = boxcar.rand(2, 2).random_(0, 5)
folded: Tensor = boxcar.conv2d(boxcar.ones(1, 1, 4, 4), boxcar.ones(1, 1, 2, 2), stride=2, padding=[1, 1])
solved: Tensor = boxcar.ops.aten.mm(x, boxcar.ones(3, 3))
x.requires_grad = True
gradient: Tensor | None = x.grad
names: list[str] = boxcar.ops.aten.add.overloads
for each in x:
    print(each.tolist(), f"{each.sum():.2f}")


@boxcar.no_grad()
def decorated(values: Sequence[Tensor]) -> Tensor:
    with boxcar.no_grad(), boxcar.profile() as scope:
        result = boxcar.cat(values, 0)
    report: str | None = scope.report
    print(report)
    return result


@boxcar.op("stubs::scale(Tensor x, float by) -> Tensor")
def scale(values: Tensor, by: float) -> Tensor:
    return values * by


@scale.register_fake
def scale_fake(values: Tensor, by: float) -> Tensor:
    return boxcar.empty_like(values)


result: Tensor = decorated([x, y])
program: boxcar.Program = boxcar.load(Path("m.ops"), run=False)
answer = program.main(x, by=2)
with boxcar.handler(lambda op, args: boxcar.redispatch(op, args)), boxcar.trace(Path("t.ops")):
    pass
diagonal: Tensor = boxcar.trace(x.real) + x.mT.trace()
library = boxcar.Library("stubs")


@library.impl("scale", "CPU")
def kernel(values: Tensor, by: float) -> Tensor:
    return values


try:
    boxcar.compile("fn f( {")
except boxcar.CompileError as error:
    print(error)
'''

# Each mistake, with what mypy says of its line.
MISTAKES = [
    ('boxcar.relu("text")', "call-overload"),
    ("boxcar.softmaks(boxcar.ones(1), 0)", "attr-defined"),
    ("boxcar.ones(2).softmaks(0)", "attr-defined"),
    ("boxcar.ops.aten.softmaks(boxcar.ones(1), 0)", "attr-defined"),
    ('boxcar.zeros("2")', "arg-type"),
    ('boxcar.zeros(2, dtype="float32")', "call-overload"),
    ("boxcar.ones(2).relu(1)", "call-overload"),
    ("boxcar.ones(2).sum(dimension=0)", "call-overload"),
    ("boxcar.cat(boxcar.ones(2), axis=0)", "call-overload"),
    ("count: int = boxcar.ones(2).relu()", "assignment"),
    ("wrong: str = boxcar.equal(boxcar.ones(1), boxcar.ones(1))", "assignment"),
    ('boxcar.ones(2) + "text"', "operator"),
    ("boxcar.ones(2).max(1).value", "attr-defined"),
    ('boxcar.set_default_device(boxcar.float32)', "arg-type"),
    ("boxcar.profile(file='p.html')", "call-arg"),
    ("boxcar.ops.aten.add.Tenser", "attr-defined"),
    ("boxcar.ones(2).shape = (1,)", "misc"),
]


def defined_in(tree):
    """The names that the statements of a module or a class define."""
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names |= {each.asname or each.name for each in node.names}
    return names


def classes_of(tree):
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


@unittest.skipUnless(HAS_STUBS, "only release builds make the stubs (the target boxcar_package)")
class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.main, cls.ops = (ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
                             for file in ("__init__.pyi", "ops.pyi"))

    def assertHasAll(self, names, wanted):
        self.assertEqual(sorted(name for name in wanted if name not in names and not keyword.iskeyword(name)), [])

    def test_everything_public_of_the_package_is_there(self):
        self.assertHasAll(defined_in(self.main), [name for name in dir(boxcar) if not name.startswith("_")])

    def test_everything_of_a_tensor_is_there(self):
        own = [name for name in dir(boxcar.Tensor) if name not in dir(object) and hasattr(boxcar.Tensor, name)]
        # What classes in C have beside what they define, and what only other modules call.
        hidden = {"__dict__", "__weakref__", "__module__", "__copy__", "__deepcopy__", "__delitem__", "__rmatmul__"}
        self.assertHasAll(defined_in(classes_of(self.main)["Tensor"]), set(own) - hidden)

    def test_every_operator_is_there_with_its_overloads(self):
        classes = classes_of(self.ops)
        for name in _core._operator_names():
            namespace, short = name.split("::")
            with self.subTest(name):
                self.assertIn(short, defined_in(classes[f"_namespace_{namespace}"]))
                found = defined_in(classes[f"_{namespace}_{short}"])
                self.assertIn("__call__", found)
                self.assertHasAll(found, _core._operators(name).overloads)

    def test_what_is_there_exists(self):
        for name in sorted(defined_in(self.main)):
            if not name.startswith("_"):
                with self.subTest(name):
                    self.assertTrue(name in dir(boxcar) or hasattr(boxcar, name))
        for name in sorted(defined_in(classes_of(self.main)["Tensor"])):
            if name != "__buffer__":  # of classes in C, only from Python 3.12 on
                with self.subTest(name):
                    self.assertTrue(hasattr(boxcar.Tensor, name))


@unittest.skipUnless(HAS_STUBS and importlib.util.find_spec("mypy"), "mypy, or the stubs, are not there")
class Mypy(unittest.TestCase):
    maxDiff = None

    def check(self, text):
        """Returns what `mypy --strict` prints of a program, without the summary."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program.py")
            program.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir",
                 str(PACKAGE.parent / ".mypy_cache"), str(program)],
                capture_output=True, text=True, check=False, cwd=folder,
                env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
            self.assertLess(done.returncode, 2, done.stderr)
            return done.stdout.splitlines()

    def test_a_program_without_mistakes_passes(self):
        self.assertEqual("\n".join(self.check(GOOD)), "")

    def test_each_mistake_is_found(self):
        found = self.check("import boxcar\n" + "".join(f"{line}\n" for line, _ in MISTAKES))
        for number, (line, code) in enumerate(MISTAKES, 2):
            with self.subTest(line):
                self.assertTrue(any(f"program.py:{number}: error:" in each and each.endswith(f"[{code}]")
                                    for each in found), "\n".join(each for each in found if f":{number}:" in each))


if __name__ == "__main__":
    unittest.main()
