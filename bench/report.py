"""Measures boxcar beside libtorch and Lua, and reports missed targets. `./dev bench` runs it.

Writes results.json, table.md and a chart for each table to build/bench. Prints the tables, with missed targets marked,
and a list of these. Exits with 1 if a count of instructions or bytes, which is the same in every run, is above its
limit or was not measured, or if a program or a benchmark failed; times only count with --strict.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chart  # noqa: E402
import measured  # noqa: E402
import page  # noqa: E402
import training  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TORCH_CALLS = 1000
TODAYS_TORCH = "libtorch 2.15"
MEMORY_OPERATORS = 10000


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


# ---- Measuring ----


def run(command, log=None, may_fail=False):
    """Returns the command's output. With [may_fail], a failing command's output is still returned, and reported."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if log:
        log.write_text(done.stdout + done.stderr)
    if done.returncode != 0 and not may_fail:
        raise measured.Malformed(f"{pathlib.Path(command[0]).name} failed ({done.returncode}): {done.stderr.strip()[-2000:]}")
    if done.returncode != 0 and done.stderr:
        say(f"{pathlib.Path(command[0]).name} failed ({done.returncode}): {done.stderr.strip()[-2000:]}")
    return done.stdout


def filter_of(benchmark_arguments):
    """Returns the value of the last --benchmark_filter, or None if there is none."""
    chosen = [argument.partition("=")[2] for argument in benchmark_arguments if argument.startswith("--benchmark_filter")]
    return chosen[-1] if chosen else None


def merge(results, more):
    for measure, by in more.items():
        results.setdefault(measure, {}).update(by)


def has_valgrind():
    try:
        return subprocess.run(["valgrind", "--version"], stdout=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


def linked_peers(program):
    """Returns the peers that the program has benchmarks of."""
    names = run([program, "--benchmark_list_tests=true"]).split()
    has_todays = program.with_name("torch_training").exists()
    return sorted({measured.parts_of(name)[1] for name in names} - {"boxcar", ""} | ({TODAYS_TORCH} if has_todays else set()))


def missing_peers(targets, peers):
    """Returns the packages of the peers that are not among [peers]."""
    return {who: package for who, package in targets["peers"].items() if who not in peers}


def measure(build, folder, benchmark_arguments, peers):
    """Returns all figures, what failed, the available [peers], and the filter that selected benchmarks, or None."""
    program, out = build / "boxcar_bench", folder / "google_benchmark.json"
    chosen = filter_of(benchmark_arguments)
    say("times: boxcar and its peers in one process, in turns")
    out.unlink(missing_ok=True)
    run([program, "--benchmark_report_aggregates_only=false", "--benchmark_display_aggregates_only=true",
         f"--benchmark_out={out}", "--benchmark_out_format=json", *benchmark_arguments], folder / "boxcar_bench.txt")
    text = out.read_text() if out.exists() else ""
    if chosen is not None and not text:
        raise measured.Malformed(f"--benchmark_filter={chosen} matches no benchmark; {program} --benchmark_list_tests lists them")
    results, failed = measured.of_benchmarks(text)
    kept = {"results": results, "failed": failed, "peers": peers, "filter": chosen}
    if chosen is not None:
        return kept
    trainings = {"boxcar": build / "boxcar_training"}
    if TODAYS_TORCH in peers:
        trainings[TODAYS_TORCH] = build / "torch_training"
    say("training: a program each, in turns")
    merge(results, training.measure(trainings))
    if has_valgrind():
        say("training: instructions under callgrind")
        merge(results, training.count(trainings, folder))
    torch = build / "torch_call_cost"
    has_torch = "libtorch" in peers
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
    return kept


# ---- Judging ----


def spread(figure):
    """Returns half the difference between the fastest and the slowest repetition, as a fraction of the median."""
    return (figure["high"] - figure["low"]) / 2 / figure["median"]


def judge(row, results):
    """Returns the row with its figures, their ratio, and whether targets are met; None if boxcar has no figure."""
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
        judged["spread_of_two"] = spread(both["boxcar"]) + spread(both[row["peer"]])
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


def not_measured(targets, kept):
    """Returns the rows with a target that should have been measured and were not, or whose available peer was not."""
    if kept["filter"] is not None:
        return []
    rows = []
    for row in (row for table in targets["tables"] for row in table["rows"] if "must" in row):
        wanted = {"boxcar"}
        if row["judged"] != "boxcar" and row["peer"] in kept["peers"]:
            wanted.add(row["peer"])
        if not wanted <= kept["results"].get(row["measure"], {}).keys():
            rows.append(row)
    return rows


# ---- Showing ----


def shown_time(nanoseconds, more=0):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.{3 + more}g} {unit}"
    return f"{nanoseconds:.{3 + more}g} ns"


def is_time(row):
    return "/" not in row["measure"]


def shown(row, figure):
    if not is_time(row):
        return f"{figure['median']:,}"
    return f"{shown_time(figure['median'])} ±{100 * spread(figure):.0f} %"


def shown_ratio(ratio, more=0):
    return "" if ratio is None else f"{ratio:.{(2 if ratio >= 0.095 else 3) + more}f}"


def shown_miss(row):
    """Returns the value that misses the target, with enough digits to differ from the target."""
    is_own = row["judged"] == "boxcar"
    if is_own and not is_time(row):
        return f"{row['value']:,}"
    show, found = (shown_time, row["value"]) if is_own else (shown_ratio, row["ratio"])
    wanted = 1 / row["must"] if row["judged"] == "speed" else row["must"]
    return next(show(found, more) for more in range(16) if show(found, more) != show(wanted, more) or more == 15)


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
        ratio = shown_miss(row) if row["verdict"] == "missed" and row["judged"] != "boxcar" else shown_ratio(row["ratio"])
        cells = [row["row"], shown(row, row["boxcar"]), shown_peer(row, missing), ratio]
        if has_two:
            cells.append(f"{shown_ratio(row['ratio_of_two'])} ±{100 * row['spread_of_two']:.0f} %" if "ratio_of_two" in row else "")
        cells += [shown_target(row, "must")] + ([shown_target(row, "aim")] if has_aim else []) + [VERDICTS[row["verdict"]]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def misses_text(tables, lacking):
    parts = []
    rows = missed(tables)
    if rows:
        parts += ["These miss their target:", "", *[f"- {row['row']}: {shown_miss(row)}, and {shown_target(row, 'must')} is wanted" for row in rows]]
    if lacking:
        parts += ["", "These have a target and were not measured:", "", *[f"- {row['row']}" for row in lacking]]
    if not parts:
        is_judged = any(row["verdict"] for table in tables for row in table["rows"])
        parts = ["Every target is met." if is_judged else "Nothing that was measured has a target."]
    return "\n".join(parts).lstrip("\n") + "\n"


def charts(tables):
    """Returns {file name: SVG}."""
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


def report(targets, kept):
    """Returns (tables, the rows that were not measured, the Markdown of each part, the text for the terminal)."""
    missing = missing_peers(targets, kept["peers"])
    tables = [table for table in judge_all(targets, kept["results"]) if table["rows"]]
    lacking = not_measured(targets, kept)
    parts = {table["name"]: markdown(table, missing) for table in tables}
    parts["misses"] = misses_text(tables, lacking)
    text = "\n".join(f"## {table['title']}\n\n{parts[table['name']]}" for table in tables) + "\n" + parts["misses"]
    for who, package in missing.items():
        group = "models" if "==" in package else "peers"
        text += f"\n{who} is not compared with: `{package}` is missing; ./dev setup {group} installs it.\n"
    for sentence in kept["failed"]:
        text += f"\nNot measured: {sentence}.\n"
    return tables, lacking, parts, text


def read_kept(path):
    """Returns measure()'s result from a results.json; older files lack the peers and the filter."""
    kept = json.loads(path.read_text())
    if not isinstance(kept, dict) or not isinstance(kept.get("results"), dict) or "failed" not in kept:
        raise measured.Malformed(f"{path} is no results.json of ./dev bench; make it again")
    by_figures = sorted({who for by in kept["results"].values() for who in by} - {"boxcar"})
    return {"peers": by_figures, "filter": None, **kept}


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
        if argument.startswith("--benchmark_out"):
            parser.error(f"{argument} would take away the file that the tables are made of; --out says where all files go")
    if options.update_readme and filter_of(rest) is not None:
        parser.error("--update-readme wants all figures, and so no --benchmark_filter")
    options.out.mkdir(parents=True, exist_ok=True)
    targets = json.loads((HERE / "targets.json").read_text())
    try:
        kept = read_kept(options.from_results) if options.from_results else None
        peers = kept["peers"] if kept else linked_peers(options.build / "boxcar_bench")
        missing = missing_peers(targets, peers)
        if options.update_readme and missing:
            raise measured.Malformed(f"--update-readme wants all peers, and {' and '.join(missing.values())} is missing; ./dev bench --peers installs it")
        kept = kept or measure(options.build, options.out, rest, peers)
        tables, lacking, parts, text = report(targets, kept)
        (options.out / "results.json").write_text(
            json.dumps({**kept, "tables": tables}, indent=1, ensure_ascii=False) + "\n")
        (options.out / "table.md").write_text(text)
        drawn = charts(tables)
        for name, svg in drawn.items():
            (options.out / name).write_text(svg)
        if options.update_readme:
            if (options.build / "call_cost").exists() and has_valgrind():
                say("the hot path, from the program")
                import hot_path

                parts.update(hot_path.pages(options.build / "call_cost"))
                say("sizes, from the tests that hold them")
                import sizes

                parts["sizes"] = sizes.part(options.build)
            page.update(parts)
            (HERE / "charts").mkdir(exist_ok=True)
            for name, svg in drawn.items():
                (HERE / "charts" / name).write_text(svg)
    except (measured.Malformed, OSError, ValueError, KeyError) as fault:
        say(f"{type(fault).__name__ + ': ' if not isinstance(fault, measured.Malformed) else ''}{fault}")
        return 2
    print(text)
    say(f"results.json, table.md and the charts are in {options.out}")
    is_bad = any(options.strict or row.get("exact") for row in [*missed(tables), *lacking])
    return 1 if is_bad or kept["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
