#!/usr/bin/env python3
"""Tests the C++ reference that `./dev docs` writes: `reference_test.py SOURCE BUILD`. Doxygen must read the installed
headers without a warning, and show the text of their plain comments. Skipped if there is no Doxygen.
"""

import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
# For each: a page's title, and text of a comment in the headers that the page must show.
SHOWN = {
    "boxcar::OperatorHandle Class Reference": "Calls the operator with the values at the top of stack and replaces them by the results.",
    "boxcar::PluginInfo Struct Reference": "as BOXCAR_PLUGIN gives it",
    "boxcar/dispatcher/plugin/plugin.h File Reference": "A plugin is a shared library that adds operators, kernels, fallbacks or a device",
    "boxcar Namespace Reference": "self + alpha * other",
}
# Code in comments is shown as code.
CODE = 'op.typed<Tensor(const Tensor&, const Tensor&, const Scalar&)>().call(a, b, 1);'


def text_of(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", page)))


def main():
    source, build = Path(sys.argv[1]).resolve(), sys.argv[2]
    if shutil.which("doxygen") is None:
        print("skipped: the reference needs Doxygen")
        return SKIPPED
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "docs"
        done = subprocess.run([sys.executable, "-B", str(source / "cmake/docs/make.py"), str(source), build, str(output)],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0 or done.stdout.strip() != str((output / "index.html").resolve()):
            print(f"FAILED: make.py ends with {done.returncode} and says\n{done.stdout}")
            return 1
        pages = {}
        for path in output.glob("*.html"):
            page = path.read_text(encoding="utf-8")
            title = re.search(r"<title>boxcar: (.*)</title>", page)
            pages[html.unescape(title[1]) if title else path.name] = page
        for title, shown in SHOWN.items():
            if shown not in text_of(pages.get(title, "")):
                failures += 1
                print(f"FAILED: there is no page '{title}' that says '{shown}'")
        blocks = re.findall(r'<div class="fragment">.*?</div><!-- fragment -->', pages["boxcar::OperatorHandle Class Reference"], re.DOTALL)
        if not any(CODE in text_of(block) for block in blocks):
            failures += 1
            print("FAILED: the example of OperatorHandle is not shown as code")
        if 'href="classboxcar_1_1Program.html"' not in pages["boxcar in C++"]:
            failures += 1
            print("FAILED: the first page does not lead to Program")
        if any("boxcar::cli" in title for title in pages):
            failures += 1
            print("FAILED: the program's own headers are in the reference")
    print(f"{len(pages)} pages, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
