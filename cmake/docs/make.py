#!/usr/bin/env python3
"""Makes the C++ reference: `make.py SOURCE BUILD OUTPUT` reads the headers that are installed, from the tree SOURCE and
its BUILD, and writes OUTPUT/index.html with Doxygen. Fails if Doxygen gives a warning.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from comments import for_doxygen

ROOMS = ["ivalue", "schema", "dispatcher", "interpreter"]  # as in cmake/install.cmake


def headers_of(source, build):
    """Yields the path below <boxcar/ and the location of each header."""
    for room in ROOMS:
        for path in sorted((source / room).rglob("*.h")):
            if "cli" not in path.relative_to(source).parts:
                yield path.relative_to(source), path
    yield Path("boxcar.h"), source / "interpreter" / "boxcar.h"
    yield Path("version.h"), build / "include" / "boxcar" / "version.h"
    yield Path("ops.h"), build / "generated" / "ops.h"


def main():
    source, build, output = (Path(argument).resolve() for argument in sys.argv[1:4])
    here = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder).resolve()
        for name, path in headers_of(source, build):
            copy = staged / "boxcar" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(for_doxygen(path.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copy(here / "mainpage.dox", staged)
        version = re.search(r'BOXCAR_VERSION "(.*)"', (staged / "boxcar" / "version.h").read_text())[1]
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        environment = {**os.environ, "BOXCAR_HEADERS": str(staged), "BOXCAR_DOCS": str(output), "BOXCAR_VERSION": version}
        done = subprocess.run(["doxygen", str(here / "Doxyfile")], env=environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    complaints = done.stdout.replace(f"{staged}/boxcar/", "")
    sys.stderr.write(complaints)
    if done.returncode != 0 or complaints.strip():
        return 1
    print(output / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
