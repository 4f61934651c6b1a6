#!/usr/bin/env python3
"""Follows scripts/tutorial/README.md as a reader does: `tutorial_test.py CMAKE SOURCE BUILD COMPILER [FLAGS]` installs the
BUILD in a temporary folder, copies the tutorial beside the scripts' data, and runs each block there, like
manual_test.py does. Every file of the tutorial must be a block of the page, but python.py, which tests/python runs.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from manual_test import Examples


def main():
    cmake, source, build, compiler = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], sys.argv[4]
    flags = sys.argv[5] if len(sys.argv) > 5 else ""
    tutorial = source / "scripts" / "tutorial"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        installed = subprocess.run([cmake, "--install", build, "--prefix", str(folder / "prefix")], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if installed.returncode != 0:
            print(installed.stdout)
            return 1
        (folder / "scripts").mkdir()
        (folder / "scripts" / "data").symlink_to(source / "scripts" / "data")
        copy = folder / "scripts" / "tutorial"
        shutil.copytree(tutorial, copy, ignore=shutil.ignore_patterns("build", "*.rec", "*.html"))
        examples = Examples(folder / "prefix" / "bin" / "boxcar", copy)
        tools = [str(folder / "prefix" / "bin"), str(Path(cmake).parent)]
        examples.environment |= {"PATH": ":".join([*tools, os.environ["PATH"]]), "CXX": compiler, "CXXFLAGS": flags,
                                 "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
        counts = examples.page((copy / "README.md").read_text(encoding="utf-8").split("\n"), tutorial)
    files = len([path for path in tutorial.iterdir() if path.name not in ("README.md", "python.py")])
    if counts["files"] != files:
        print(f"FAILED: of the {files} files beside the page it shows {counts['files']}")
        examples.failures += 1
    print(f"{counts['files']} files, {counts['console']} blocks of commands, {examples.failures} failures")
    return 1 if examples.failures else 0


if __name__ == "__main__":
    sys.exit(main())
