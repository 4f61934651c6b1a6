"""Compares libraries of kernels on the convolutions and products of bench/models: `python3 bench/libraries/compare.py`.

oneDNN 2.6 and XNNPACK are Debian's (libdnnl-dev, libxnnpack-dev, libpthreadpool-dev), oneDNN 3.2 is PyPI's last build that
needs neither SYCL nor TBB, which goes to build/libraries, and boxcar is build/release/boxcar. One thread; prints a table
of microseconds: the least of calls with packed weights, in channels-last.
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "libraries"
WHEEL = "onednn-devel-cpu-gomp==2023.2.0"
SCRIPT = """\
fn least(Tensor x, Tensor w, int stride, int padding, int groups) -> float {
    best = 1e9
    begin = clock()
    while clock() - begin < 0.15 {
        t = clock()
        if x.dim() == 4 { y = fused::convolution(x, w, stride=[stride], padding=[padding], groups=groups) } else {
            y = fused::linear(x, w)
        }
        best = min(best, clock() - t)
    }
    return best * 1e6
}
with inference_mode() {
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        sys.exit(f"compare.py: {command[0]} failed: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout.split()


def built(name, source, *options):
    run("g++", "-O2", "-std=c++20", HERE / source, *options, "-o", FOLDER / name)
    return run(FOLDER / name)


def shapes():
    """Returns the shapes that shapes.h has, as tuples: convolutions have seven numbers, products three."""
    text = (HERE / "shapes.h").read_text()
    found = [tuple(int(number) for number in match.split(",")) for match in re.findall(r"\{([\d, ]+)\}", text)]
    return [each for each in found if len(each) == 7] + [each for each in found if len(each) == 3]


def boxcar():
    lines = [SCRIPT]
    for shape in shapes():
        if len(shape) == 7:
            batch, inputs, size, outputs, kernel, stride, groups = shape
            lines.append(f"    x = rand({batch}, {inputs}, {size}, {size}).contiguous(memory_format=channels_last)")
            lines.append(f"    w = rand({outputs}, {inputs // groups}, {kernel}, {kernel})")
            lines.append(f"    print(least(x, w, {stride}, {kernel // 2}, {groups}))")
        else:
            rows, inputs, outputs = shape
            lines.append(f"    print(least(rand({rows}, {inputs}), rand({outputs}, {inputs}), 1, 0, 1))")
    script = FOLDER / "boxcar.ops"
    script.write_text("\n".join(lines) + "\n}\n")
    return run(ROOT / "build" / "release" / "boxcar", "run", "--threads", "1", script)


def title(shape):
    if len(shape) == 3:
        return "{} rows, {} → {}".format(*shape)
    batch, inputs, size, outputs, kernel, stride, groups = shape
    return (f"{batch}×{inputs}×{size}² → {outputs}, {kernel}×{kernel}" + (f", stride {stride}" if stride > 1 else "")
            + (", depthwise" if groups > 1 else ""))


def main():
    if not (FOLDER / "lib").is_dir():
        run(sys.executable, "-m", "venv", FOLDER)
        run(FOLDER / "bin" / "pip", "install", "--quiet", WHEEL)
    own = FOLDER / "lib"
    columns = {
        "boxcar": boxcar(),
        "oneDNN 2.6": built("onednn2", "onednn.cpp", "-ldnnl"),
        "oneDNN 3.2": built("onednn3", "onednn.cpp", f"-I{FOLDER}/include", f"-L{own}", f"-Wl,-rpath,{own}", "-ldnnl"),
        "XNNPACK": built("xnnpack", "xnnpack.cpp", "-lXNNPACK", "-lpthreadpool"),
    }
    print("| µs | " + " | ".join(columns) + " |\n| --- |" + " --: |" * len(columns))
    for shape, *times in zip(shapes(), *columns.values()):
        print(f"| {title(shape)} | " + " | ".join(f"{float(each):.4g}" for each in times) + " |")


main()
