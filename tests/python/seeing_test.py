"""What notebooks and terminals show: explanations, tables, profiles, progress."""

import contextlib
import io
import os
import subprocess
import sys
import types
import unittest
from html.parser import HTMLParser
from unittest import mock

import boxcar

aten = boxcar.ops.aten


class Checked(HTMLParser):
    """Elements that are open, and all text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.rows, self.tags = [], "", 0, set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.rows += tag == "tr"
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def shown(value):
    page = Checked(value._repr_html_())
    assert not page.open
    return page


class Explain(unittest.TestCase):
    def test_the_text_is_that_of_the_program(self):
        build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(boxcar._core.__file__))))
        program = os.path.join(build, "boxcar")
        text = str(boxcar.explain(aten.relu.default, boxcar.ones(1)))
        self.assertEqual(text.splitlines()[0], "aten::relu(Tensor self) -> Tensor")
        self.assertRegex(text, r"gradient: by the formula at backends/ops/.*\.derivatives:\d+\n")
        self.assertIn("argument 'self' (position 1, Tensor) brings: CPU", text)
        self.assertIn("dispatched to: CPU, which runs the kernel registered for CPU at ", text)
        if os.path.exists(program):
            told = subprocess.run([program, "explain", "aten::relu"], capture_output=True, text=True)
            self.assertEqual(told.stdout, text)

    def test_the_overload_is_chosen_as_in_a_call(self):
        x = boxcar.ones(1)
        self.assertEqual(boxcar.explain("aten::add", x, 1).operator, "aten::add.Scalar")
        self.assertEqual(boxcar.explain(aten.add, x, x, alpha=2).operator, "aten::add.Tensor")
        with self.assertRaisesRegex(TypeError, "no overload of aten::add takes"):
            boxcar.explain(aten.add, x)
        with self.assertRaisesRegex(TypeError, "an object of class 'int' is no operator"):
            boxcar.explain(1)

    def test_it_runs_nothing(self):
        ran = []
        with boxcar.op("seeing::f(Tensor x) -> Tensor")(lambda x: ran.append(1) or x) as op:
            self.assertIn("seeing::f(Tensor x)", str(boxcar.explain(op, boxcar.ones(1))))
        self.assertEqual(ran, [])

    def test_modes_of_the_thread_show(self):
        with boxcar.handler(lambda op, args: boxcar.redispatch(op, args)):
            self.assertIn("dispatched to: PreDispatch", str(boxcar.explain(aten.relu, boxcar.Tensor([1.0]))))

    def test_html(self):
        page = shown(boxcar.explain(aten.relu, boxcar.ones(1)))
        self.assertIn("aten::relu(Tensor self) -> Tensor", page.text)
        self.assertGreater(page.rows, 3)


class Html(unittest.TestCase):
    def test_a_small_tensor_shows_its_elements(self):
        page = shown(boxcar.tensor([[1.5, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        self.assertEqual(page.rows, 2)
        self.assertIn("shape (2, 3), boxcar.float32, cpu", page.text)
        self.assertIn("1.5", page.text)
        for x in (boxcar.tensor(3.0), boxcar.ones(2, 2, 2), boxcar.ones(0), boxcar.ones(3, dtype=boxcar.bool)):
            self.assertIn("shape", shown(x).text)

    def test_a_large_tensor_and_one_without_elements_do_not(self):
        self.assertEqual(shown(boxcar.ones(1001)).tags, {"div"})
        self.assertEqual(shown(boxcar.ones(2, device="meta")).tags, {"div"})

    def test_an_operator_shows_its_schemas_or_its_table(self):
        page = shown(aten.add)
        self.assertEqual(page.rows, 1 + len(aten.add.schemas))
        page = shown(aten.add.Tensor)
        self.assertIn("aten::add.Tensor(Tensor self, Tensor other", page.text)
        self.assertIn("defined at backends/ops/", page.text)
        self.assertRegex(page.text, r"\d+ keys have their default and \d+ are missing")
        self.assertIn("AutogradMeta to AutogradCPU (15 keys)", page.text)

    def test_a_profile_is_a_table(self):
        with boxcar.profile() as profile:
            boxcar.ones(2) + 1
        page = shown(profile)
        self.assertIn("table", page.tags)
        self.assertIn("aten::add", page.text)
        self.assertIn("Wall time of the run", page.text)
        self.assertEqual(page.rows, 1 + sum(line.startswith("aten::") for line in profile.report.splitlines()))

    def test_text_is_escaped(self):
        class Odd(boxcar.Tensor):
            pass
        Odd.__name__ = "<script>alert(1)</script>"
        self.assertNotIn("<script>", Odd([1.0])._repr_html_())
        with boxcar.op('seeing::g(str x="<b>&") -> str')(lambda x: x) as op:
            html = op.operator._repr_html_()
        self.assertNotIn("<b>", html)
        self.assertIn("&lt;b&gt;&amp;", html)
        self.assertNotIn("b", Checked(html).tags)


class Progress(unittest.TestCase):
    def test_calls_are_counted_and_what_they_give_is_the_same(self):
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}):
            with boxcar.progress("test") as progress:
                x = boxcar.ones(2)
                for _ in range(9):
                    x = x + 1
        self.assertEqual(x.tolist(), [10.0, 10.0])
        self.assertEqual(progress.count, 10)

    def test_without_tqdm_a_line_says_how_it_goes(self):
        error = io.StringIO()
        clock = iter(range(1000))
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), contextlib.redirect_stderr(error), \
                mock.patch("time.monotonic", lambda: float(next(clock))):
            with boxcar.progress("training", total=4):
                for _ in range(4):
                    boxcar.ones(1)
        self.assertRegex(error.getvalue(), r"\rtraining: \d+ s, 4 of 4 calls\n$")

    def test_tqdm_draws_it_where_it_is_installed(self):
        made = []

        class tqdm:
            def __init__(self, **options):
                self.options, self.count, self.closed = options, 0, False
                made.append(self)

            def update(self, count):
                self.count += count

            def close(self):
                self.closed = True

        with mock.patch.dict(sys.modules, {"tqdm": types.ModuleType("tqdm"),
                                           "tqdm.auto": types.SimpleNamespace(tqdm=tqdm)}):
            with boxcar.progress("training", total=3):
                for _ in range(3):
                    boxcar.ones(1)
        self.assertEqual(made[0].options, {"desc": "training", "total": 3, "unit": " calls"})
        self.assertEqual((made[0].count, made[0].closed), (3, True))

    def test_an_exception_ends_it(self):
        with self.assertRaises(KeyError):
            with boxcar.progress():
                raise KeyError
        self.assertNotIn("PreDispatch", str(boxcar.explain(aten.relu, boxcar.ones(1))))


if __name__ == "__main__":
    unittest.main()
