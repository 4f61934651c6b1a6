"""Updates measured results in bench/README.md between the markers <!-- begin NAME --> and <!-- end NAME -->.

`page.py NAME FILE` inserts the file there. ./dev check --update-readme calls it.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measured  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parent / "README.md"


def replaced(page, parts):
    """Returns [page] with [parts], a dict of texts by name, between their markers."""
    for name, text in parts.items():
        pattern = re.compile(rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)", re.S)
        page, count = pattern.subn(lambda match: match[1] + "\n" + text + "\n" + match[2], page)
        if count != 1:
            raise measured.Malformed(f"bench/README.md has {count} places called '{name}', and should have one")
    return page


def update(parts):
    PAGE.write_text(replaced(PAGE.read_text(), parts))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("page: it is called as page.py NAME FILE")
    try:
        update({sys.argv[1]: pathlib.Path(sys.argv[2]).read_text()})
    except (measured.Malformed, OSError) as fault:
        sys.exit(f"page: {fault}")
