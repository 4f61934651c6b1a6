"""Reads the output of the measuring programs. A measurement is a dict with `median`, `low` and `high`, in nanoseconds,
instructions or bytes. Measurements are in a dict of dicts: first key what is measured, second key "boxcar", "libtorch"
or "Lua".
"""

import json
import re
import statistics

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Malformed(Exception):
    """A program's output does not have the expected form; str() is a sentence that names the program."""


def one(value):
    """Returns the measurement of a value that is the same in every run."""
    return {"median": value, "low": value, "high": value}


def parts_of(name):
    """Returns (MEASURE, WHO) from a name of a Google Benchmark; MEASURE is empty if it is not one of ours."""
    name = re.sub(r"/(real_time|manual_time|process_time|iterations:\d+|threads:\d+|repeats:\d+)", "", name)
    measure, _, who = name.rpartition("/")
    return measure, who if measure else ""


def of_benchmarks(text):
    """Returns the measurements in Google Benchmark's JSON and a list of failed ones; names are MEASURE/WHO."""
    try:
        runs = json.loads(text)["benchmarks"]
        times, failed = {}, []
        for run in runs:
            measure, who = parts_of(run["run_name"])
            if not measure or run["run_type"] != "iteration":
                continue
            if run.get("error_occurred"):
                failed.append(f"{measure}/{who}: {run['error_message']}")
                continue
            is_real = "_time" in run["run_name"]
            time = run["real_time" if is_real else "cpu_time"] * NANOSECONDS[run["time_unit"]]
            times.setdefault(measure, {}).setdefault(who, []).append(time)
    except (ValueError, KeyError, TypeError) as fault:
        raise Malformed(f"boxcar_bench did not write the JSON of Google Benchmark: {fault!r}") from fault
    results = {
        measure: {who: {"median": statistics.median(all_), "low": min(all_), "high": max(all_)} for who, all_ in by.items()}
        for measure, by in times.items()
    }
    return results, failed


def of_call_cost(text):
    """Returns the measurements in the output of call_cost_test.sh."""
    results = {}
    for path, count in re.findall(r"^(\w+): (\d+) (?:above a direct call|added to a boxed call)", text, re.M):
        results[f"instructions/{path}"] = {"boxcar": one(int(count))}
    if not results:
        raise Malformed(f"call_cost_test.sh counted nothing: {text.strip() or 'it printed nothing'}")
    return results


def of_memory(text, who, program):
    """Returns the measurements about operators in the output of memory_cost or torch_call_cost."""
    found = re.search(r"^(\d+) bytes each beside the schema's", text, re.M)
    if not found:
        raise Malformed(f"{program} did not tell the bytes of an operator: {text.strip() or 'it printed nothing'}")
    return {"bytes/operator": {who: one(int(found[1]))}}


def of_torch_dumps(dumps, calls):
    """Returns the instructions from the files that callgrind dumped, for [calls] calls each."""
    counts = {}
    for dump in dumps:
        path = re.search(r"^desc: Trigger: Client Request: (\w+)", dump, re.M)
        total = re.search(r"^totals: (\d+)", dump, re.M)
        if path and total:
            counts[path[1]] = int(total[1]) // calls
    if "direct" not in counts or "boxed" not in counts:
        raise Malformed("callgrind dumped no counts of torch_call_cost")
    results = {}
    for path, count in counts.items():
        base = counts["boxed" if path == "boxed_through_fallback" else "direct"]
        if path != "direct":
            results[f"instructions/{path}"] = {"libtorch": one(count - base)}
    return results
