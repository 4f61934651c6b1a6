#!/usr/bin/env python3
"""Checks the names in pages: `pages_test.py ROOT` reads every page of the project.

- A link leads to an existing file, and to an existing heading of it.
- A name in backquotes that looks like a file of the project, as `dispatcher/call/mode.h`, exists in the root or beside
  the page; so does each name in a column of text before an explanation.
- After a link whose text is a file in backquotes, names in backquotes occur in that file: [`a.cpp`](a.cpp), `f`, `g`.
"""

import re
import sys
import tempfile
from pathlib import Path

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
HOLDS = re.compile(r"\[`[^`]+`\]\(([^)\s#]+)\)((?:,\s+`[^`]+`)+)")
FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:h|cpp|cu|py|sh|md|ops|schemas|cmake|txt|rc|dict)|(?:[\w.-]+/)+)`")
ROOMS = ("ivalue/", "schema/", "dispatcher/", "backends/", "interpreter/", "tests/", "bench/", "cmake/", "scripts/")


def without_code(text):
    """Returns [text] with code blocks replaced by blank lines."""
    return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def anchors_of(page):
    """Returns the anchors of the headings: lower case, no punctuation, dashes for spaces."""
    headings = re.findall(r"^#+ (.*)$", without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def problems_of(root, page):
    text = without_code(page.read_text(encoding="utf-8"))

    def at(found):
        return f"{page.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}"

    for found in LINK.finditer(text):
        if re.match(r"https?://", found[2]):
            continue
        name, _, anchor = found[2].partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            yield f"{at(found)}: the link to {found[2]} leads nowhere"
        elif anchor and anchor not in anchors_of(target):
            yield f"{at(found)}: {name or page.name} has no heading #{anchor}"
    for found in HOLDS.finditer(text):
        target = page.parent / found[1]
        content = target.read_text(encoding="utf-8") if target.is_file() else ""
        for name in re.findall(r"`([^`]+)`", found[2]):
            if re.search(rf"\b{re.escape(name)}\b", content) is None:
                yield f"{at(found)}: {found[1]} has no {name}"
    for found in FILE.finditer(text):
        if found[1].startswith(ROOMS) and not ((root / found[1]).exists() or (page.parent / found[1]).exists()):
            yield f"{at(found)}: there is no {found[1]}"


def tells_of_wrong_names(folder):
    (folder / "tests").mkdir()
    (folder / "tests" / "there.h").write_text("int f();\n")
    page = folder / "README.md"
    page.write_text("# A page, a\n[x](gone.md) [y](#a-page-a) [z](#b) `tests/there.h` `tests/gone.h`\n"
                    "[`tests/there.h`](tests/there.h), `f`,\n`g`\n```\n[x](gone.md)\n```\n")
    wanted = ["README.md:2: the link to gone.md leads nowhere", "README.md:2: README.md has no heading #b",
              "README.md:3: tests/there.h has no g", "README.md:2: there is no tests/gone.h"]
    found = list(problems_of(folder, page))
    if found != wanted:
        print("FAILED: a page with wrong names gives\n" + "\n".join(found))
    return found == wanted


def main():
    root = Path(sys.argv[1]).resolve()
    pages = sorted(path for path in root.rglob("*.md") if not {"build", ".git"} & set(path.relative_to(root).parts))
    problems = [problem for page in pages for problem in problems_of(root, page)]
    for problem in problems:
        print(problem)
    with tempfile.TemporaryDirectory() as folder:
        told = tells_of_wrong_names(Path(folder).resolve())
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 0 if told and not problems and len(pages) > 10 else 1


if __name__ == "__main__":
    sys.exit(main())
