"""bundle.py WHEEL FOLDER: writes a wheel to FOLDER that has the libraries of this machine that WHEEL needs.

auditwheel copies the libraries that the module is linked to, and names the oldest system that has the rest (manylinux).
OpenBLAS is opened when it is first needed, so auditwheel does not see it: a copy is put beside libboxcar, which looks
there (backends/cpu/openblas/library.cpp), before auditwheel runs. Prints the path of the wheel, and its sizes on stderr.
"""

import importlib.metadata
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile

from auditwheel.wheeltools import InWheel

OPENBLAS = f"/usr/lib/{platform.machine()}-linux-gnu/openblas-openmp/libopenblas.so.0"
OWN_COPY = "libboxcar_openblas.so"
# Compiled into boxcar as headers. Boost asks for no notice in programs.
HEADERS = {"libhwy-dev", "libkissfft-dev", "nlohmann-json3-dev"}
# Every system has its own of these.
SYSTEM = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}
# In bytes, packed: boxcar's own part, and the whole.
MOST = {"boxcar's own part": 6_000_000, "the wheel": 30_000_000}


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"bundle.py: {' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


def package_of(path):
    """The Debian package of a file, or None."""
    for name in (path, pathlib.Path(path).resolve()):
        found = subprocess.run(["dpkg", "-S", str(name)], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return None


def linked(files):
    """The libraries of this machine that files are linked to, by name."""
    found = {}
    for file in files:
        for line in run("ldd", str(file)).splitlines():
            name, arrow, path = line.strip().partition(" => ")
            if arrow and path.startswith("/"):
                found[name] = path.split(" ")[0]
    return found


def add_openblas(folder):
    if not pathlib.Path(OPENBLAS).exists():
        sys.exit(f"bundle.py: there is no {OPENBLAS}, which products of float64 and linear algebra need; install it with "
                 "./dev setup kernels")
    copy = folder / "boxcar" / OWN_COPY
    shutil.copy(OPENBLAS, copy)
    run("patchelf", "--set-soname", OWN_COPY, str(copy))


def add_notices(folder):
    """Copies what the authors of the code that will be in the wheel want to be said."""
    notices = next(folder.glob("*.dist-info")) / "licenses"
    notices.mkdir(exist_ok=True)
    libraries = linked(folder.glob("boxcar/*.so*"))
    packages = {package_of(path) for path in [*libraries.values(), OPENBLAS]} - SYSTEM - {None}
    for package in sorted(packages | HEADERS):
        text = pathlib.Path("/usr/share/doc", package, "copyright")
        if text.exists():
            shutil.copy(text, notices / f"{package}.txt")
    for file in importlib.metadata.files("nanobind") or []:
        if file.name.startswith("LICENSE"):
            shutil.copy(file.locate(), notices / "nanobind.txt")


def sizes(wheel):
    """The packed sizes of the parts of a wheel, in bytes."""
    own = 0
    with zipfile.ZipFile(wheel) as archive:
        for each in archive.infolist():
            if not each.filename.startswith("boxcar.libs/") and not each.filename.endswith(OWN_COPY):
                own += each.compress_size
    return {"boxcar's own part": own, "the wheel": wheel.stat().st_size}


def main(wheel, folder):
    wheel, folder = pathlib.Path(wheel), pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as temporary:
        with_openblas = pathlib.Path(temporary, wheel.name)
        with InWheel(wheel, with_openblas) as inside:
            inside = pathlib.Path(inside)
            add_openblas(inside)
            add_notices(inside)
        repaired = pathlib.Path(temporary, "repaired")
        print(run(sys.executable, "-m", "auditwheel", "repair", "--only-plat", "--zip-compression-level", "9", "-w",
                  str(repaired), str(with_openblas)), end="", file=sys.stderr)
        [made] = repaired.glob("*.whl")
        result = pathlib.Path(shutil.copy(made, folder))
    failed = False
    for name, size in sizes(result).items():
        print(f"{name} has {size / 1e6:.2f} MB, of at most {MOST[name] / 1e6:.0f}", file=sys.stderr)
        failed = failed or size > MOST[name]
    if failed:
        sys.exit(f"bundle.py: {result} is larger than it may be")
    print(result)


if __name__ == "__main__":
    main(*sys.argv[1:])
