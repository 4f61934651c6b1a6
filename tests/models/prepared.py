"""Compares models as the preparation of programs rewrites them with the same models as they were exported;
`./dev models prepared` calls it.

Both run in boxcar, on the inputs that the archives of export.py were exported with, and on other sizes where PyTorch
keeps these free. Prints the models that differ by more than the tolerance. Fails if there are any without a reason in
prepared_reasons.txt.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import compare
import export
from compare import ARCHIVES, CASE, DRIVER, Failed, arguments_of, call, difference
from safetensors import SafetensorError
from safetensors.torch import load_file

REASONS = pathlib.Path(__file__).resolve().parent / "prepared_reasons.txt"
TOLERANCE = 1e-5  # of the largest value


def gap_of(boxcar, architecture, archive, sizes, folder):
    """The largest difference between both programs, of the largest value of a tensor, and the tensor's name."""
    cases = "".join(CASE.format(case=case, arguments=arguments_of(architecture, case))
                    for case, _ in zip(("first", "other"), sizes))

    def results_of(*arguments):
        driver, results = folder / "driver.ops", folder / f"found{len(arguments)}.safetensors"
        driver.write_text(DRIVER.format(archive=archive, inputs=archive.parent / f"{architecture.name}.safetensors",
                                        results=results, cases=cases, runs=0, seconds=0,
                                        arguments=arguments_of(architecture, "first")))
        call([boxcar, "run", "--threads", "1", *arguments, driver])
        return load_file(results)
    exported, prepared = results_of("--no-prepare"), results_of()
    if exported.keys() != prepared.keys():
        raise Failed(f"returns {len(prepared)} tensors instead of {len(exported)}")
    worst, of = 0.0, ""
    for name in sorted(exported):
        gap = difference(exported[name], prepared[name])
        if isinstance(gap, str):
            raise Failed(f"{name} is {gap}")
        if not gap <= worst:
            worst, of = gap, name
    return worst, of


def main():
    parser = argparse.ArgumentParser(prog="./dev models prepared", description=__doc__.split("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", help="only models with such names: 'resnet*'")
    parser.add_argument("--exported", metavar="FOLDER", type=pathlib.Path,
                        help="where the archives are; without it, build/exported, with those that are missing")
    parser.add_argument("--boxcar", default=export.ROOT / "build" / "release" / "boxcar", help="the program")
    options = parser.parse_args()
    if options.exported is None:
        export.export_missing(options.only, False)
    source = (options.exported or export.FOLDER).resolve()
    reasons, gaps, unexplained = compare.read_reasons(REASONS), {}, []
    for architecture in export.matching(options.only):
        facts_file = source / f"{architecture.name}.json"
        if not facts_file.exists():
            continue  # of another folder, which may have a part of them
        facts = json.loads(facts_file.read_text())
        if "reason" in facts:
            continue
        for tag in ARCHIVES:
            name = f"{architecture.name}{tag}"
            with tempfile.TemporaryDirectory() as folder:
                try:
                    gap, of = gap_of(options.boxcar, architecture, source / f"{name}.pt2", facts["sizes"],
                                     pathlib.Path(folder))
                    told = f"{of} differs by {gap:.1e} of its largest value" if gap else "no difference"
                except (Failed, SafetensorError) as error:
                    gap, told = float("inf"), str(error)
            gaps[name] = gap
            print(f"{name}: {told}", file=sys.stderr, flush=True)
            if not gap <= TOLERANCE:
                reason = reasons.get(architecture.name, "")
                print(f"{name}: {told}{': ' if reason else ''}{reason}", flush=True)
                if not reason:
                    unexplained.append(name)
    if not gaps:
        parser.error(f"no model is called {options.only}")
    finite = [gap for gap in gaps.values() if gap <= TOLERANCE]
    print(f"{len(finite)} of {len(gaps)} archives differ by at most {TOLERANCE} of the largest value when they are "
          f"prepared; {sum(gap == 0 for gap in finite)} do not differ at all.")
    if unexplained:
        sys.exit(f"{REASONS.name} has no reason for {', '.join(unexplained)}")


if __name__ == "__main__":
    main()
