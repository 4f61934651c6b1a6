"""Measures boxcar beside libtorch and Lua, and tells what misses its target. `./dev bench` runs it.

Writes results.json, table.md and a chart for each table to build/bench; prints the tables, with what misses marked, and
a list of it. Exits with 1 where a count of instructions or of bytes, which comes out the same each time, is above what
it must be; times only count with --strict.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chart  # noqa: E402
import measured  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TORCH_CALLS = 1000
MEMORY_OPERATORS = 10000


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


# ---- Measuring ----


def run(command, log=None, may_fail=False):
    """What the command prints. It may fail where its figures are wanted nonetheless."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if log:
        log.write_text(done.stdout + done.stderr)
    if done.returncode != 0 and not may_fail:
        raise measured.Malformed(f"{pathlib.Path(command[0]).name} failed ({done.returncode}): {done.stderr.strip()[-2000:]}")
    return done.stdout


def merge(results, more):
    for measure, by in more.items():
        results.setdefault(measure, {}).update(by)


def has_valgrind():
    try:
        return subprocess.run(["valgrind", "--version"], stdout=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


def measure(build, folder, benchmark_arguments):
    """All figures, and the peers that are there."""
    results, failed = {}, []
    out = folder / "google_benchmark.json"
    say("times: boxcar and its peers in one process, in turns")
    run([build / "boxcar_bench", "--benchmark_report_aggregates_only=false", "--benchmark_display_aggregates_only=true",
         f"--benchmark_out={out}", "--benchmark_out_format=json", *benchmark_arguments], folder / "boxcar_bench.txt")
    times, failed = measured.of_benchmarks(out.read_text())
    merge(results, times)
    if any(argument.startswith("--benchmark_filter") for argument in benchmark_arguments):
        return results, failed
    torch = build / "torch_call_cost"
    has_torch = any("libtorch" in by for by in times.values())
    if has_valgrind():
        say("instructions: call_cost under callgrind")
        cost = HERE.parent / "tests" / "cost" / "call_cost_test.sh"
        merge(results, measured.of_call_cost(run([cost, build / "call_cost"], may_fail=True)))
        if has_torch:
            say("instructions: libtorch's calls under callgrind")
            for old in folder.glob("torch.callgrind*"):
                old.unlink()
            run(["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/torch.callgrind",
                 torch, "calls", TORCH_CALLS])
            dumps = [path.read_text() for path in folder.glob("torch.callgrind*")]
            merge(results, measured.of_torch_dumps(dumps, TORCH_CALLS))
    else:
        failed.append("instructions: `valgrind`, which counts them, is missing")
    say("memory")
    merge(results, measured.of_memory(run([build / "dispatcher_memory_cost"], may_fail=True), "boxcar", "memory_cost"))
    if has_torch:
        merge(results, measured.of_memory(run([torch, "memory", MEMORY_OPERATORS]), "libtorch", "torch_call_cost"))
    return results, failed


# ---- Judging ----


def judge(row, results):
    """The row with what was found: figures, their ratio, and whether targets are met. None where boxcar has none."""
    found = results.get(row["measure"], {})
    if "boxcar" not in found:
        return None
    own, peer = found["boxcar"], found.get(row["peer"]) if row["peer"] else None
    judged = dict(row, boxcar=own, peer_figure=peer, ratio=None, value=None, verdict="")
    if peer and peer["median"] > 0:
        judged["ratio"] = own["median"] / peer["median"]
    both = results.get(row.get("two_threads"), {})
    if "boxcar" in both and row["peer"] in both:
        judged["ratio_of_two"] = both["boxcar"]["median"] / both[row["peer"]]["median"]
    judged["value"] = own["median"] if row["judged"] == "boxcar" else judged["ratio"]
    if row["judged"] == "speed" and judged["ratio"]:
        judged["value"] = 1 / judged["ratio"]
    if judged["value"] is not None and "must" in row:
        meets = (lambda target: judged["value"] >= target) if row["judged"] == "speed" else (lambda target: judged["value"] <= target)
        judged["verdict"] = "aim" if "aim" in row and meets(row["aim"]) else "must" if meets(row["must"]) else "missed"
    return judged


def judge_all(targets, results):
    tables = []
    for table in targets["tables"]:
        rows = [judged for judged in (judge(row, results) for row in table["rows"]) if judged]
        tables.append({"name": table["name"], "title": table["title"], "rows": rows})
    return tables


def missed(tables):
    return [row for table in tables for row in table["rows"] if row["verdict"] == "missed"]


def missing_peers(targets, results):
    """The peers that no figure is of, by the package that they come in."""
    there = {who for by in results.values() for who in by}
    return {who: package for who, package in targets["peers"].items() if who not in there}


# ---- Showing ----


def shown_time(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def is_time(row):
    return "/" not in row["measure"]


def shown(row, figure):
    if not is_time(row):
        return f"{figure['median']:,}"
    # The spread is half of what lies between the fastest and the slowest repetition.
    spread = (figure["high"] - figure["low"]) / 2 / figure["median"]
    return f"{shown_time(figure['median'])} ±{100 * spread:.0f} %"


def shown_ratio(ratio):
    return "" if ratio is None else f"{ratio:.2f}" if ratio >= 0.095 else f"{ratio:.3f}"


def shown_target(row, which):
    if which not in row:
        return ""
    value = row[which]
    if row["judged"] == "speed":
        return f"{shown_ratio(1 / value)} ({value:g} times as fast)"
    return shown_time(value) if is_time(row) and row["judged"] == "boxcar" else f"{value:,}"


VERDICTS = {"": "", "aim": "aim", "must": "must", "missed": "**missed**"}


def shown_peer(row, missing):
    if row["peer"] is None:
        return ""
    if row["peer"] in missing:
        return f"`{missing[row['peer']]}` is missing"
    if row["peer_figure"] is None:
        return ""
    return f"{row.get('peer_shown', row['peer'])} {shown(row, row['peer_figure'])}"


def markdown(table, missing):
    has_two = any("ratio_of_two" in row for row in table["rows"])
    has_aim = any("aim" in row for row in table["rows"])
    heads = ["", "boxcar", "peer", "ratio"]
    heads += ["with two threads"] if has_two else []
    heads += ["must", "aim", "meets"] if has_aim else ["at most", "meets"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in table["rows"]:
        cells = [row["row"], shown(row, row["boxcar"]), shown_peer(row, missing), shown_ratio(row["ratio"])]
        cells += [shown_ratio(row.get("ratio_of_two"))] if has_two else []
        cells += [shown_target(row, "must")] + ([shown_target(row, "aim")] if has_aim else []) + [VERDICTS[row["verdict"]]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def misses_text(tables):
    rows = missed(tables)
    if not rows:
        return "Every target is met.\n"
    lines = ["These miss their target:", ""]
    for row in rows:
        own = row["judged"] == "boxcar"
        value = (shown_time(row["value"]) if is_time(row) else f"{row['value']:,}") if own else shown_ratio(row["ratio"])
        lines.append(f"- {row['row']}: {value}, and {shown_target(row, 'must')} is wanted")
    return "\n".join(lines) + "\n"


def charts(tables):
    """SVG by file name."""
    bars = {}
    for table in tables:
        rows = []
        for row in table["rows"]:
            if not row["ratio"]:
                continue
            scale = {"ratio": 1, "speed": None, "boxcar": row["peer_figure"]["median"]}[row["judged"]]
            targets = [row.get(which) and (1 / row[which] if scale is None else row[which] / scale) for which in ("must", "aim")]
            rows.append((row.get("chart", row["row"]), row["ratio"], *targets))
        if rows:
            note = "boxcar's figure over the peer's: left of 1 boxcar takes less. Line: what it must reach, dashed: what is aimed at."
            bars[f"{table['name']}.svg"] = chart.bars(table["title"], note, rows)
    return bars


def update_page(page, parts):
    """Puts [parts] between the page's markers, <!-- begin NAME --> and <!-- end NAME -->."""
    for name, text in parts.items():
        pattern = re.compile(rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)", re.S)
        page, count = pattern.subn(lambda match: match[1] + "\n" + text + "\n" + match[2], page)
        if count != 1:
            raise measured.Malformed(f"bench/README.md has {count} places called '{name}', and should have one")
    return page


def report(targets, results, failed):
    """(tables, the Markdown of each part, the text for people)."""
    missing = missing_peers(targets, results)
    tables = [table for table in judge_all(targets, results) if table["rows"]]
    parts = {table["name"]: markdown(table, missing) for table in tables}
    parts["misses"] = misses_text(tables)
    text = "\n".join(f"## {table['title']}\n\n{parts[table['name']]}" for table in tables) + "\n" + parts["misses"]
    for who, package in missing.items():
        text += f"\n{who} is not compared with: `{package}` is missing; ./dev setup peers installs it.\n"
    for sentence in failed:
        text += f"\nNot measured: {sentence}.\n"
    return tables, parts, text


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", allow_abbrev=False, description="Other arguments, --benchmark_…, are Google Benchmark's.")
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build" / "release", help="where the programs are")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parent / "build" / "bench", help="where the files go")
    parser.add_argument("--strict", action="store_true", help="fail also where a time misses its target")
    parser.add_argument("--update-readme", action="store_true", help="put tables and charts into bench/README.md and bench/charts")
    parser.add_argument("--from-results", type=pathlib.Path, help="show these results.json instead of measuring")
    options, rest = parser.parse_known_args()
    for argument in rest:
        if not argument.startswith("--benchmark_"):
            parser.error(f"there is no argument '{argument}'; those of Google Benchmark begin with --benchmark_")
    if options.update_readme and any(argument.startswith("--benchmark_filter") for argument in rest):
        parser.error("--update-readme wants all figures, and so no --benchmark_filter")
    options.out.mkdir(parents=True, exist_ok=True)
    targets = json.loads((HERE / "targets.json").read_text())
    try:
        if options.from_results:
            kept = json.loads(options.from_results.read_text())
            results, failed = kept["results"], kept["failed"]
        else:
            results, failed = measure(options.build, options.out, rest)
        tables, parts, text = report(targets, results, failed)
        (options.out / "results.json").write_text(
            json.dumps({"results": results, "failed": failed, "tables": tables}, indent=1, ensure_ascii=False) + "\n")
        (options.out / "table.md").write_text(text)
        drawn = charts(tables)
        for name, svg in drawn.items():
            (options.out / name).write_text(svg)
        if options.update_readme:
            if (options.build / "call_cost").exists() and has_valgrind():
                say("the hot path, from the program")
                import hot_path

                parts.update(hot_path.pages(options.build / "call_cost"))
            page = HERE / "README.md"
            page.write_text(update_page(page.read_text(), parts))
            (HERE / "charts").mkdir(exist_ok=True)
            for name, svg in drawn.items():
                (HERE / "charts" / name).write_text(svg)
    except (measured.Malformed, OSError, ValueError, KeyError) as fault:
        say(f"{type(fault).__name__ + ': ' if not isinstance(fault, measured.Malformed) else ''}{fault}")
        return 2
    print(text)
    say(f"results.json, table.md and the charts are in {options.out}")
    return 1 if any(options.strict or row.get("exact") for row in missed(tables)) else 0


if __name__ == "__main__":
    sys.exit(main())
