"""Measures how cost grows with size, fits the exponents and draws a chart of each subject. `./dev bench --growth` runs
it. Writes growth.json, growth.md and a chart for each subject to build/bench. Fails if something grows faster than
allowed: a flat series may have an exponent of at most 0.15, and at the largest size at most 1.5 times the cost at the
smallest; any other series may have an exponent of at most 1.15.
"""

import argparse
import json
import math
import pathlib
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chart  # noqa: E402
import measured  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# The limits of the exponent, and of the ratio of the cost at the largest size to that at the smallest. A series that
# starts in an empty process begins with small tables, so its cost may double before it is flat.
MOST = {"flat": (0.15, 1.5), "flat in the end": (0.15, 2), "linear": (1.15, math.inf)}

CALLS = {"typed call, ns": "flat", "boxed call, ns": "flat"}
LINEAR_CALLS = {"typed call, ns": "linear", "boxed call, ns": "linear"}
# (file, subject of boxcar_growth, title, label of x, label of y, series and how each may grow)
CHARTS = [
    ("operators", "operators", "Calls and registrations, with more operators registered", "operators", "ns",
     {**CALLS, "look-up by name, ns": "flat in the end", "def and impl of one more, ns": "flat in the end", "a fallback for all, ns": "linear"}),
    ("memory", "operators", "Memory of a further operator", "operators", "bytes", {"memory of one more, bytes": "flat in the end"}),
    ("fallthrough", "fallthrough", "A call that goes past fallthrough keys", "fallthrough keys", "ns", CALLS),
    ("fallthrough_memory", "fallthrough", "Memory of fallthrough keys", "fallthrough keys", "bytes", {"memory of all of them, bytes": "linear"}),
    ("arguments", "arguments", "A call with more arguments", "Tensor arguments", "ns", LINEAR_CALLS),
    ("arguments_memory", "arguments", "Memory of an operator with more arguments", "Tensor arguments", "bytes",
     {"memory of the operator, bytes": "linear"}),
    ("handlers", "handlers", "A call through nested handlers that redispatch", "handlers", "ns", LINEAR_CALLS),
    ("handlers_memory", "handlers", "Memory of nested handlers", "handlers", "bytes", {"memory of all of them, bytes": "linear"}),
    ("threads", "threads", "Calls on several threads at once", "threads", "time of a call, ns", CALLS),
    ("script_time", "script", "Compiling a script", "lines", "ms",
     {f"compiling {what}, ms": "linear" for what in ("functions", "statements", "conditions", "branches", "types handed on", "wrong names")}),
    ("script_memory", "script", "Bytecode of a script", "lines", "kB",
     {f"bytecode of {what}, kB": "linear" for what in ("functions", "statements", "conditions", "branches", "types handed on")}),
    ("session", "session", "Inputs at the prompt", "inputs", "ms for all",
     {"inputs that set a variable, ms": "linear", "inputs that declare a function, ms": "linear"}),
    ("trace_time", "trace", "Time of a watched run", "operator calls", "ms",
     {"tracing, ms": "linear", "recording, ms": "linear", "profiling, ms": "linear"}),
    ("trace_memory", "trace", "Memory and files of a watched run", "operator calls", "kB",
     {f"{where} of {what}, kB": "linear" for where in ("memory", "file") for what in ("tracing", "recording", "profiling")}),
]


def read_points(text):
    """Returns {series: [(size, cost), ...]} from the output of boxcar_growth."""
    series = {}
    for line in text.splitlines():
        cells = line.split("\t")
        try:
            name, size, cost = cells
            series.setdefault(name, []).append((float(size), float(cost)))
        except ValueError as fault:
            raise measured.Malformed(f"boxcar_growth printed a line that is no point: '{line}'") from fault
    if not series:
        raise measured.Malformed("boxcar_growth printed nothing")
    return series


class Row(typing.NamedTuple):
    """The result for one series."""

    file: str
    series: str
    points: list
    kind: str
    exponent: float
    times: float    # the cost at the largest size over that at the smallest

    @property
    def is_bad(self):
        return self.exponent > MOST[self.kind][0] or self.times > MOST[self.kind][1]


def positive(points):
    """Returns the points with positive values, which have a logarithm, sorted by size."""
    return [(x, y) for x, y in sorted(points) if x > 0 and y > 0]


def exponent(points):
    """Returns the exponent of size, fitted by least squares to the logarithms of the larger half of the sizes, where
    constant costs, such as startup, matter less. Uses at least three points."""
    points = [(math.log(x), math.log(y)) for x, y in positive(points)]
    points = points[-max(3, (len(points) + 1) // 2):]
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    width = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / width


def judge(charts, points_of):
    """Returns a row for each series."""
    rows = []
    for file, subject, _, _, _, wanted in charts:
        for series, kind in wanted.items():
            points = points_of.get(subject, {}).get(series)
            if not points:
                raise measured.Malformed(f"boxcar_growth {subject} told nothing of '{series}'; measure again: ./dev bench --growth")
            above = positive(points)
            if len({x for x, _ in above}) < 3:
                raise measured.Malformed(f"boxcar_growth {subject} told a cost above zero of '{series}' for {len(above)} sizes; three or more "
                                         "are wanted: measure again, ./dev bench --growth")
            rows.append(Row(file, series, points, kind, exponent(points), above[-1][1] / above[0][1]))
    return rows


def shown_growth(row):
    """Returns the exponent as text, followed by the growth from end to end if that exceeds its limit."""
    found = f"{max(row.exponent, 0):.2f}"
    if row.times > MOST[row.kind][1]:
        found += f", {row.times:.1f} times"
    return found


def shown_most(row):
    most, times = MOST[row.kind]
    return f"{most}" if times == math.inf else f"{most}, {times:g} times"


def table(charts, rows):
    titles = {file: (title, x) for file, _, title, x, _, _ in charts}
    lines = ["| | | from | to | exponent | at most |", "|---|---|---|---|---|---|"]
    before = None
    for row in rows:
        title, x = titles[row.file]
        link = f"[{title}](charts/growth_{row.file}.svg)" if row.file != before else ""
        before = row.file
        name, _, unit = row.series.rpartition(", ")
        (least, first), (greatest, last) = row.points[0], row.points[-1]
        mark = f"**{shown_growth(row)}**" if row.is_bad else shown_growth(row)
        lines.append(f"| {link} | {name} | {shown(first)} {unit} at {least:,.0f} {x} | "
                     f"{shown(last)} {unit} at {greatest:,.0f} | {mark} | {shown_most(row)} |")
    return "\n".join(lines) + "\n"


def shown(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def read_kept(path):
    """Returns the points of a growth.json, {subject: {series: [(size, cost), ...]}}."""
    try:
        kept = json.loads(path.read_text())
        return {subject: {name: [(float(x), float(y)) for x, y in points] for name, points in series.items()} for subject, series in kept.items()}
    except (ValueError, TypeError, AttributeError) as fault:
        raise measured.Malformed(f"{path} is no growth.json ({fault}); make it again: ./dev bench --growth") from fault


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --growth", allow_abbrev=False)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build" / "release", help="where the programs are")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parent / "build" / "bench", help="where the files go")
    parser.add_argument("--update-readme", action="store_true", help="put table and charts into bench/README.md and bench/charts")
    parser.add_argument("--from-results", type=pathlib.Path, help="show this growth.json instead of measuring")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        points_of = {}
        if options.from_results:
            points_of = read_kept(options.from_results)
        else:
            for subject in dict.fromkeys(chart_[1] for chart_ in CHARTS):
                report.say(subject)
                points_of[subject] = read_points(report.run([options.build / "boxcar_growth", subject]))
        rows = judge(CHARTS, points_of)
        drawn = {}
        for file, _, title, x, y, wanted in CHARTS:
            series = {row.series.rpartition(", ")[0]: row.points for row in rows if row.file == file}
            drawn[f"growth_{file}.svg"] = chart.lines(title, x, y, series)
        text = table(CHARTS, rows)
        (options.out / "growth.json").write_text(json.dumps(points_of, indent=1) + "\n")
        (options.out / "growth.md").write_text(text)
        folders = [options.out]
        if options.update_readme:
            page.update({"growth": text})
            (HERE / "charts").mkdir(exist_ok=True)
            folders.append(HERE / "charts")
        for folder in folders:
            for name, svg in drawn.items():
                (folder / name).write_text(svg)
    except (measured.Malformed, OSError, ValueError) as fault:
        report.say(fault)
        return 2
    print(text)
    bad = [row for row in rows if row.is_bad]
    for row in bad:
        print(f"grows too fast: {row.series.rpartition(', ')[0]}, exponent {shown_growth(row)}, at most {shown_most(row)}")
    report.say(f"growth.json, growth.md and the charts are in {options.out}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
