"""Tests how bench/ evaluates and reports figures: `report_test.py SOURCE_ROOT`."""

import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "bench"))
import chart  # noqa: E402
import growth  # noqa: E402
import hot_path  # noqa: E402
import measured  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
import sizes  # noqa: E402


def run_of(name, times, unit="us", kind="iteration"):
    return [{"run_name": name, "run_type": kind, "cpu_time": time, "real_time": 2 * time, "time_unit": unit} for time in times]


def google(*runs):
    return json.dumps({"benchmarks": [run for several in runs for run in several]})


TARGETS = {
    "peers": {"libtorch": "libtorch-dev", "Lua": "liblua5.4-dev"},
    "tables": [{"name": "some", "title": "Some", "rows": [
        {"row": "a call", "measure": "call", "peer": "libtorch", "judged": "ratio", "must": 0.4, "aim": 0.2},
        {"row": "a loop", "measure": "loop", "peer": "Lua", "judged": "ratio", "must": 0.7, "aim": 0.45},
        {"row": "a parse", "measure": "parse", "peer": "libtorch", "judged": "speed", "must": 4, "aim": 6},
        {"row": "instructions", "measure": "instructions/boxed", "peer": "libtorch", "judged": "boxcar", "exact": True, "must": 100, "aim": 80},
    ]}],
}


def results_of(call=2.0, with_lua=True, boxed=97):
    text = google(run_of("call/boxcar", [1, call, 3]), run_of("call/libtorch", [9, 10, 14]),
                  run_of("loop/boxcar", [8]), run_of("loop/Lua", [10]) if with_lua else [],
                  run_of("parse/boxcar", [1]), run_of("parse/libtorch", [5]))
    results, failed = measured.of_benchmarks(text)
    report.merge(results, measured.of_call_cost(f"a direct call: 5 instructions\nboxed: {boxed} above a direct call (at most 97)\n"))
    return {"results": results, "failed": failed, "peers": ["libtorch"] + with_lua * ["Lua"], "filter": None}


class Benchmarks(unittest.TestCase):
    def test_medians_and_spread_are_of_the_repetitions_alone(self):
        results, failed = measured.of_benchmarks(google(run_of("call/boxcar", [4, 1, 2]), run_of("call/boxcar", [99], kind="aggregate")))
        self.assertEqual(results, {"call": {"boxcar": {"median": 2000, "low": 1000, "high": 4000}}})
        self.assertEqual(failed, [])

    def test_real_time_counts_where_the_name_says_so(self):
        results, _ = measured.of_benchmarks(google(run_of("call/boxcar/iterations:5/real_time", [3], "ms")))
        self.assertEqual(results["call"]["boxcar"]["median"], 6e6)

    def test_what_failed_is_told(self):
        failing = dict(run_of("call/boxcar", [1])[0], error_occurred=True, error_message="no disk")
        self.assertEqual(measured.of_benchmarks(google([failing])), ({}, ["call/boxcar: no disk"]))

    def test_malformed_input_is_an_error_that_names_the_program(self):
        for text in ("", "{", "[]", '{"benchmarks": [{}]}'):
            with self.assertRaisesRegex(measured.Malformed, "boxcar_bench did not write the JSON"):
                measured.of_benchmarks(text)
        with self.assertRaisesRegex(measured.Malformed, "call_cost_test.sh counted nothing: valgrind died"):
            measured.of_call_cost("valgrind died")
        with self.assertRaisesRegex(measured.Malformed, "memory_cost did not tell the bytes"):
            measured.of_memory("", "boxcar", "memory_cost")

    def test_counts_of_libtorch_are_above_a_direct_call(self):
        dumps = [f"desc: Trigger: Client Request: {path}\nsummary: 1\ntotals: {total}\n"
                 for path, total in (("direct", 5019), ("typed", 211066), ("boxed", 376488), ("boxed_through_fallback", 432484))]
        results = measured.of_torch_dumps(dumps, 1000)
        self.assertEqual({path: by["libtorch"]["median"] for path, by in results.items()},
                         {"instructions/typed": 206, "instructions/boxed": 371, "instructions/boxed_through_fallback": 56})
        with self.assertRaisesRegex(measured.Malformed, "no counts"):
            measured.of_torch_dumps(dumps[:1], 1000)


class Tables(unittest.TestCase):
    def test_rows_have_figures_ratio_targets_and_what_they_meet(self):
        tables, lacking, parts, _ = report.report(TARGETS, results_of())
        rows = parts["some"].splitlines()[2:]
        self.assertEqual(rows[0], "| a call | 2 µs ±50 % | libtorch 10 µs ±25 % | 0.20 | 0.4 | 0.2 | aim |")
        self.assertEqual(rows[1], "| a loop | 8 µs ±0 % | Lua 10 µs ±0 % | 0.80 | 0.7 | 0.45 | **missed** |")
        self.assertEqual(rows[2], "| a parse | 1 µs ±0 % | libtorch 5 µs ±0 % | 0.20 | 0.25 (4 times as fast) | 0.17 (6 times as fast) | must |")
        self.assertEqual(rows[3], "| instructions | 97 |  |  | 100 | 80 | must |")
        self.assertEqual([row["row"] for row in report.missed(tables)], ["a loop"])
        self.assertEqual(lacking, [])
        self.assertEqual(parts["misses"], "These miss their target:\n\n- a loop: 0.80, and 0.7 is wanted\n")

    def test_what_misses_by_a_hair_is_told_from_its_target(self):
        kept = results_of()
        kept["results"]["call"]["boxcar"]["median"] = 4000.4
        _, _, parts, _ = report.report(TARGETS, kept)
        self.assertIn("| 0.40004 | 0.4 | 0.2 | **missed** |", parts["some"])
        self.assertIn("- a call: 0.40004, and 0.4 is wanted", parts["misses"])
        start = {"row": "a start", "measure": "start", "judged": "boxcar", "must": 8e6, "value": 8000100.0, "ratio": None}
        self.assertEqual(report.shown_miss(start), "8.0001 ms")
        parse = {"row": "a parse", "measure": "parse", "judged": "speed", "must": 4, "value": 3.98, "ratio": 1 / 3.98}
        self.assertEqual(report.shown_miss(parse), "0.251")

    def test_a_ratio_of_two_threads_has_the_spreads_of_both(self):
        two = {"boxcar": {"median": 10, "low": 9, "high": 11}, "libtorch": {"median": 20, "low": 18, "high": 20}}
        row = {"row": "add", "measure": "add", "two_threads": "add_2", "peer": "libtorch", "judged": "ratio"}
        kept = dict(results_of(), results={"add": two, "add_2": two})
        _, _, parts, _ = report.report({"peers": {}, "tables": [{"name": "k", "title": "K", "rows": [row]}]}, kept)
        self.assertIn("| 0.50 | 0.50 ±15 % |", parts["k"])
        self.assertEqual(parts["misses"], "Nothing that was measured has a target.\n")

    def test_a_missing_peer_is_named_by_its_package(self):
        _, lacking, parts, text = report.report(TARGETS, results_of(with_lua=False))
        self.assertEqual(lacking, [])
        self.assertIn("| a loop | 8 µs ±0 % | `liblua5.4-dev` is missing |  | 0.7 | 0.45 |  |", parts["some"])
        self.assertIn("Lua is not compared with: `liblua5.4-dev` is missing; ./dev setup peers installs it.", text)
        self.assertNotIn("libtorch-dev", text)

    def test_rows_that_were_not_measured_are_named_unless_a_filter_left_them_out(self):
        kept = dict(results_of(), failed=["loop/boxcar: no memory"])
        for measure, who in (("loop", "boxcar"), ("parse", "libtorch"), ("instructions/boxed", "boxcar")):
            del kept["results"][measure][who]
        _, lacking, parts, text = report.report(TARGETS, kept)
        self.assertEqual([row["row"] for row in lacking], ["a loop", "a parse", "instructions"])
        self.assertEqual(parts["misses"], "These have a target and were not measured:\n\n- a loop\n- a parse\n- instructions\n")
        self.assertEqual(len(parts["some"].splitlines()), 4)
        self.assertIn("Not measured: loop/boxcar: no memory.", text)
        _, lacking, parts, _ = report.report(TARGETS, dict(kept, filter="call"))
        self.assertEqual((lacking, parts["misses"]), ([], "Every target is met.\n"))

    def test_a_filter_takes_away_no_peer_that_is_linked(self):
        kept = results_of()
        kept = dict(kept, filter="parse", results={"parse": kept["results"]["parse"]})
        _, _, _, text = report.report(TARGETS, kept)
        self.assertNotIn("missing", text)

    def test_the_page_is_changed_between_its_markers_alone(self):
        text = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n"
        self.assertEqual(page.replaced(text, {"x": "new\n"}), "a\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nb\n")
        with self.assertRaisesRegex(measured.Malformed, "has 0 places called 'y'"):
            page.replaced(text, {"y": ""})


class Command(unittest.TestCase):
    def status(self, kept, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.json"
            path.write_text(kept if isinstance(kept, str) else json.dumps(kept))
            return self.main(folder, "--from-results", str(path), *arguments)

    def main(self, folder, *arguments):
        sys.argv = ["report.py", "--out", folder, *arguments]
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = report.main()
        return status, out.getvalue(), errors.getvalue(), sorted(path.name for path in pathlib.Path(folder).iterdir())

    @staticmethod
    def part(results, **more):
        return {"results": results, "failed": [], "peers": ["Lua"], "filter": "some", **more}

    def test_counts_fail_the_command_and_times_only_when_strict(self):
        slow = self.part({"script_while_100000_rounds": {"boxcar": measured.one(9), "Lua": measured.one(10)}})
        status, text, _, files = self.status(slow)
        self.assertEqual(status, 0)
        self.assertIn("These miss their target:", text)
        self.assertEqual(files, ["calls.svg", "design.svg", "kept.json", "results.json", "table.md"][1:])
        self.assertEqual(self.status(slow, "--strict")[0], 1)
        self.assertEqual(self.status(self.part({"instructions/boxed": {"boxcar": measured.one(101)}}))[0], 1)
        self.assertEqual(self.status(self.part({"instructions/boxed": {"boxcar": measured.one(100)}}))[0], 0)

    def test_what_was_not_measured_fails_the_command_as_what_misses(self):
        rows = [row for table in json.loads((ROOT / "bench" / "targets.json").read_text())["tables"] for row in table["rows"]]
        one = {"boxcar": measured.one(1), "libtorch": measured.one(100), "Lua": measured.one(100)}
        every = {row["measure"]: one for row in rows}
        complete = {"results": every, "failed": [], "peers": ["Lua", "libtorch"], "filter": None}
        self.assertEqual(self.status(complete, "--strict")[:1], (0,))
        self.assertEqual(self.status(dict(complete, failed=["a: b"]))[0], 1)
        for measure, statuses in (("bytes/operator", (1, 1)), ("parse_schema", (0, 1)), ("slice_view", (0, 0))):
            kept = dict(complete, results={name: by for name, by in every.items() if name != measure})
            self.assertEqual((self.status(kept)[0], self.status(kept, "--strict")[0]), statuses, measure)

    def measure(self, folder, script, *arguments):
        """Runs main() with a measuring program that runs this script and has benchmarks of boxcar and Lua."""
        path = pathlib.Path(folder) / "boxcar_bench"
        path.write_text(f'#!/bin/sh\n[ "$1" != --benchmark_list_tests=true ] || {{ echo a/boxcar; echo b/Lua/real_time; exit 0; }}\n{script}\n')
        path.chmod(0o755)
        return self.main(folder, "--build", folder, *arguments)

    def test_figures_of_an_earlier_run_are_not_taken_for_those_of_this_one(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "google_benchmark.json").write_text(google(run_of("a/boxcar", [1])))
            status, _, errors, _ = self.measure(folder, "exit 0", "--benchmark_filter=a", "--benchmark_filter=nothing")
            self.assertEqual(status, 2)
            self.assertIn("--benchmark_filter=nothing matches no benchmark", errors)
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as errors:
                sys.argv = ["report.py", "--out", folder, "--benchmark_out=mine.json"]
                report.main()
            self.assertIn("--benchmark_out=mine.json would take away", errors.getvalue())

    def test_peers_are_those_that_the_program_has_benchmarks_of(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = google(run_of("a/boxcar", [1]))
            status, text, _, _ = self.measure(folder, f"echo '{kept}' >{folder}/google_benchmark.json", "--benchmark_filter=a")
            self.assertEqual(status, 0)
            self.assertNotIn("Lua is not compared", text)
            self.assertIn("libtorch is not compared with: `libtorch-dev` is missing", text)
            self.assertEqual(json.loads((pathlib.Path(folder) / "results.json").read_text())["peers"], ["Lua"])

    def test_the_page_is_not_changed_where_a_peer_is_missing(self):
        status, _, errors, _ = self.status(results_of(with_lua=False), "--update-readme")
        self.assertEqual(status, 2)
        self.assertIn("--update-readme wants all peers, and liblua5.4-dev and torch==2.15.0 is missing", errors)

    def test_a_missing_peer_is_told_before_anything_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, errors, files = self.measure(folder, f"touch {folder}/measured", "--update-readme")
            self.assertEqual((status, files), (2, ["boxcar_bench"]))
            self.assertIn("libtorch-dev and torch==2.15.0 is missing; ./dev bench --peers installs it", errors)

    def test_wrong_input_is_told_in_a_sentence(self):
        status, _, errors, _ = self.status("{")
        self.assertEqual(status, 2)
        self.assertTrue(errors.startswith("bench: "), errors)
        self.assertIn("kept.json is no results.json of ./dev bench", self.status([])[2])
        with self.assertRaises(SystemExit) as stopped:
            self.status({}, "--frobnicate")
        self.assertEqual(stopped.exception.code, 2)


class Charts(unittest.TestCase):
    def test_lines_are_well_formed_and_small(self):
        svg = chart.lines("a < b", "calls", "ns", {"flat": [(10, 3), (100, 3), (1000, 3)], "steep": [(10, 1), (1000, 1e4)]})
        texts = [node.firstChild.data for node in xml.dom.minidom.parseString(svg).getElementsByTagName("text")]
        for wanted in ("a < b", "calls", "ns", "flat", "steep", "10", "1,000"):
            self.assertIn(wanted, texts)
        self.assertEqual(svg.count("<polyline"), 2)
        self.assertLess(len(svg), 20000)

    def test_a_slope_of_one_goes_up_as_far_as_across(self):
        svg = chart.lines("t", "x", "y", {"s": [(1, 1), (10, 10), (100, 100)]})
        places = [tuple(map(float, place.split(","))) for place in re.search(r'points="([^"]*)"', svg)[1].split()]
        (x1, y1), (x2, y2), (x3, y3) = places
        self.assertAlmostEqual(x2 - x1, x3 - x2, delta=0.2)
        self.assertAlmostEqual(y1 - y2, y2 - y3, delta=0.2)

    def test_bars_that_miss_are_of_another_colour(self):
        svg = chart.bars("t", "n", [("met", 0.2, 0.4, 0.1), ("missed", 0.5, 0.4, None), ("free", 2.0, None, None)])
        xml.dom.minidom.parseString(svg)
        self.assertEqual(svg.count("#d1242f"), 1)
        self.assertEqual(svg.count("#1f6feb"), 2)

    def test_bars_that_are_all_as_long_as_the_peer_are_drawn(self):
        svg = chart.bars("t", "n", [("even", 1.0, None, None)])
        xml.dom.minidom.parseString(svg)
        width = float(re.search(r'<rect x="\d+" y="\d+" width="([\d.]+)" height="13"', svg)[1])
        self.assertGreater(width, 100)

    def test_nothing_to_draw_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "nothing to draw in 't'"):
            chart.lines("t", "x", "y", {"s": [(1, 0)]})
        with self.assertRaisesRegex(ValueError, "nothing to draw in 't'"):
            chart.bars("t", "n", [])


class Growth(unittest.TestCase):
    CHARTS = [("c", "subject", "Title", "lines", "ms", {"work, ms": "linear", "call, ns": "flat"})]

    def rows(self, work, call):
        sizes = (10, 100, 1000, 10000)
        points = {"work, ms": [(size, work(size)) for size in sizes], "call, ns": [(size, call(size)) for size in sizes]}
        return growth.judge(self.CHARTS, {"subject": points})

    def test_exponents_are_those_of_the_larger_sizes(self):
        self.assertAlmostEqual(growth.exponent([(x, 3 * x * x) for x in (1, 10, 100)]), 2)
        self.assertAlmostEqual(growth.exponent([(1, 50), (2, 50), (10, 100), (100, 1000), (1000, 10000)]), 1)

    def bad(self, work, call):
        return [row.is_bad for row in self.rows(work, call)]

    def test_linear_work_and_flat_calls_pass(self):
        self.assertEqual(self.bad(lambda size: 0.3 * size + 5, lambda size: 3), [False, False])

    def test_quadratic_work_and_growing_calls_are_marked(self):
        rows = self.rows(lambda size: 1e-3 * size * size, lambda size: size**0.5)
        self.assertEqual([row.is_bad for row in rows], [True, True])
        self.assertIn("| **2.00** | 1.15 |", growth.table(self.CHARTS, rows))

    def test_what_is_flat_may_not_have_grown_before_the_larger_sizes(self):
        rows = self.rows(lambda size: size, lambda size: 3 if size == 10 else 6)
        self.assertEqual([row.is_bad for row in rows], [False, True])
        self.assertIn("| **0.00, 2.0 times** | 0.15, 1.5 times |", growth.table(self.CHARTS, rows))
        self.assertEqual(self.bad(lambda size: size, lambda size: 3 if size == 10 else 4.4), [False, False])

    def test_fewer_than_three_costs_are_no_growth(self):
        with self.assertRaisesRegex(measured.Malformed, "told a cost above zero of 'call, ns' for 2 sizes; three or more"):
            self.rows(lambda size: size, lambda size: 3 if size > 100 else 0)

    def test_kept_points_that_are_none_are_told_with_their_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "growth.json"
            for text in ("{", "[]", '{"operators": 1}', '{"operators": {"a, ns": [[1, null]]}}'):
                path.write_text(text)
                with self.assertRaisesRegex(measured.Malformed, "growth.json is no growth.json .*; make it again: ./dev bench --growth"):
                    growth.read_kept(path)
            path.write_text('{"operators": {"a, ns": [[1, 2]]}}')
            self.assertEqual(growth.read_kept(path), {"operators": {"a, ns": [(1, 2)]}})

    def test_lines_that_are_no_points_are_errors(self):
        self.assertEqual(growth.read_points("a, ns\t10\t2.5\n"), {"a, ns": [(10, 2.5)]})
        for text in ("a\t10\n", "a\tb\tc\n", ""):
            with self.assertRaisesRegex(measured.Malformed, "boxcar_growth printed"):
                growth.read_points(text)
        with self.assertRaisesRegex(measured.Malformed, "told nothing of 'work, ms'"):
            growth.judge(self.CHARTS, {"subject": {}})
        with self.assertRaisesRegex(measured.Malformed, "boxcar_growth subject told nothing"):
            growth.judge(self.CHARTS, {})


class Page(unittest.TestCase):
    page = (ROOT / "bench" / "README.md").read_text()

    def test_every_table_has_its_place(self):
        targets = json.loads((ROOT / "bench" / "targets.json").read_text())
        names = [table["name"] for table in targets["tables"]] + ["misses", "growth", "sizes", "check", "hot path typed", "hot path boxed"]
        for name in names:
            self.assertEqual(self.page.count(f"<!-- begin {name} -->"), 1, name)
            self.assertEqual(self.page.count(f"<!-- end {name} -->"), 1, name)

    def test_every_kernel_that_is_measured_is_in_the_table(self):
        cases = (ROOT / "bench" / "kernel_cases.h").read_text()
        targets = json.loads((ROOT / "bench" / "targets.json").read_text())
        rows = next(table["rows"] for table in targets["tables"] if table["name"] == "kernels")
        # A row without a peer is a bound, not a kernel.
        self.assertEqual({row["measure"] for row in rows if row["peer"]}, set(re.findall(r"^(?:KERNEL|SHARED)\((\w+),", cases, re.M)))
        self.assertEqual({row["measure"] for row in rows if "two_threads" in row}, set(re.findall(r"^SHARED\((\w+),", cases, re.M)))

    def test_the_listed_instructions_are_as_many_as_the_test_of_counts_allows(self):
        script = (ROOT / "tests" / "cost" / "call_cost_test.sh").read_text()
        for path in ("typed", "boxed"):
            allowed = int(re.search(rf"^check {path} (\d+)$", script, re.M)[1])
            part = re.search(rf"<!-- begin hot path {path} -->(.*?)<!-- end", self.page, re.S)[1]
            total, above, direct = map(int, re.search(r"(\d+) instructions, (\d+) above the (\d+) of a direct call", part).groups())
            lines = [line for line in part.split("```")[1].splitlines() if line and not line.endswith(":")]
            listed = sum(int(re.match(r" *(\d+)x ", line)[1]) if re.match(r" *\d+x ", line) else 1 for line in lines)
            self.assertEqual((listed, above), (total, total - direct))
            self.assertEqual(above, allowed)

    def test_charts_are_there_and_small(self):
        names = re.findall(r"\]\((charts/[\w.]+)\)", self.page)
        self.assertTrue(names)
        for name in names:
            self.assertLess((ROOT / "bench" / name).stat().st_size, 20000, name)


class Sizes(unittest.TestCase):
    SIZES = "boxcar: 1173832 bytes\nlibboxcar.so: 6680840 bytes\ntogether: 7854672 bytes (at most 8000000)\n"
    START = ("static initialisation: 192070 instructions (at most 210000)\n"
             "boxcar run of an empty script: 13021950 instructions (at most 16000000)\n")
    PEAK = "correct 273 of 297\nat most 22.1 MB in memory at once (40 are allowed)\n"

    def test_rows_are_what_the_tests_print(self):
        rows = sizes.table(self.SIZES, self.START, self.PEAK).splitlines()
        self.assertIn("| both together | 7.85 MB | 8 MB | `size` |", rows)
        self.assertIn("| static initialisation, what programs pay before `main` | 192 thousand instructions | 210 thousand | `start_cost` |", rows)
        self.assertIn("| peak memory of `scripts/digits.ops` | 22.1 MB | 40 MB | `peak_memory` |", rows)

    def test_a_test_that_tells_nothing_is_an_error(self):
        with self.assertRaisesRegex(measured.Malformed, "printed no line like"):
            sizes.table("boxcar: 1 bytes\n", self.START, self.PEAK)

    def test_bounds_are_those_of_the_tests(self):
        self.assertEqual(sizes.bounds(), (14000000, 40))


class HotPath(unittest.TestCase):
    def test_instructions_of_the_program_alone_are_counted(self):
        dump = "ob=/a/libx.so\nfn=f\n0x10 0 7\nob=/a/call_cost\nfn=g\n0x20 0 3\ncalls=3 0x10 0\n0x20 0 21\n0x24 0 3\nfn=h\n0x20 0 1\n"
        self.assertEqual(hot_path.executed(dump, "call_cost"), {0x20: 4, 0x24: 3})

    def test_purposes_go_by_the_innermost_function_that_is_known(self):
        chain = [("std::__atomic_base<int>::load(int) const", "", 0), ("boxcar::detail::callsAreWatched()", "", 0), ("runBoxed", "", 0)]
        self.assertIn("anybody watch", hot_path.purpose(chain))
        self.assertEqual(hot_path.purpose([("runTyped", "", 0)]), hot_path.LOOP)


if __name__ == "__main__":
    unittest.main()
