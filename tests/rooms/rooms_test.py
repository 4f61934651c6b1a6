#!/usr/bin/env python3
"""Holds the arrows between the rooms: `rooms_test.py ROOT` reads every `#include` of the rooms' sources.

- A room includes only itself and those that ARROWS allows it.
- No files include one another in a circle.
- A header of a room is included as <boxcar/ROOM/FILE>, and is there.
- No two headers of the rooms define classes of one name in one namespace: the linker would mix their functions.
- No source is longer than LONGEST lines, in the rooms, tests and bench.

A small project that breaks each rule is read as well, and must be told of.
"""

import re
import sys
import tempfile
from pathlib import Path

ARROWS = {
    "ivalue": [],
    "schema": ["ivalue"],
    "dispatcher": ["ivalue", "schema"],
    "backends": ["ivalue", "schema", "dispatcher"],
    "interpreter": ["ivalue", "schema", "dispatcher"],
    "interpreter/cli": ["ivalue", "schema", "dispatcher", "backends", "interpreter"],
}
# What is not where its name says: made by the build, or the header that has all others.
MADE = {"version.h": None, "ops.h": "backends/ops.h", "boxcar.h": "interpreter/boxcar.h"}
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".inc"}
LONGEST = 800
# What opens or closes a brace, and what is named where a namespace or a class opens one.
BRACE = re.compile(
    r"namespace(?P<namespace>\s+[\w:]+)?\s*\{"
    r"|\b(?:struct|class|enum|union)\s+(?:class\s+|BOXCAR_API\s+|alignas\([^)]*\)\s+|\[\[[^\]]*\]\]\s+)*"
    r"(?P<type>\w+)(?:\s+final)?\s*(?::(?!:)[^{;()]*)?\{|[{}]")
NO_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<boxcar/([^>]+)>|"([^"]+)")')


def sources_of(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES) if folder.is_dir() else []


def room_of(path):
    """The room of a path inside of the project."""
    return "interpreter/cli" if path.startswith("interpreter/cli/") else path.split("/")[0]


class Project:
    def __init__(self, root):
        self.root = root
        self.included = {}  # file -> the project's files that it includes
        self.types = {}  # a class with its namespaces -> the headers that define it
        self.problems = []

    def say(self, file, line, text):
        self.problems.append(f"{file}:{line}: {text}")

    def read(self, file):
        room = room_of(file)
        allowed = [room, *ARROWS[room]]
        self.included[file] = []
        for number, line in enumerate((self.root / file).read_text(encoding="utf-8").split("\n"), 1):
            found = INCLUDE.match(line)
            if found is None:
                continue
            name, quoted = found.groups()
            if quoted is not None and (self.root / file).parent.joinpath(quoted).is_file():
                self.say(file, number, f'"{quoted}" is a header of a room; include it as <boxcar/ROOM/FILE>')
                continue
            # The programs that read ops/ while boxcar is built write whole paths in quotes.
            target = MADE.get(name, name) if name is not None else quoted
            if target is None or (quoted is not None and not (self.root / quoted).is_file()):
                continue
            other = room_of(target)
            if other not in allowed:
                self.say(file, number, f"{room} must not include {other}, as <boxcar/{target}> does; it may include {', '.join(allowed)}")
            if (self.root / target).is_file():
                self.included[file].append(target)
            elif name not in MADE:
                self.say(file, number, f"<boxcar/{target}> is not there")

    def find_types(self, file):
        """Notes the classes that a header defines in namespaces with names."""
        text = NO_CODE.sub("", (self.root / file).read_text(encoding="utf-8"))
        opened = []  # a namespace's name, or None where a brace is another's
        for found in BRACE.finditer(text):
            if found[0].startswith("namespace"):
                opened.append((found["namespace"] or "").strip())
            elif found[0] == "}":
                if opened:
                    opened.pop()
            else:
                if found["type"] and all(opened):
                    self.types.setdefault("::".join([*opened, found["type"]]), []).append(file)
                opened.append(None)

    def find_twins(self):
        for name, files in sorted(self.types.items()):
            if len(set(files)) > 1:
                self.problems.append(f"{' and '.join(sorted(set(files)))} each define {name}: rename one of them")

    def find_circles(self):
        done, path = set(), []

        def visit(file):
            if file in path:
                circle = path[path.index(file):] + [file]
                self.problems.append("these include one another in a circle: " + " -> ".join(circle))
                return
            if file in done:
                return
            path.append(file)
            for other in self.included.get(file, []):
                visit(other)
            path.pop()
            done.add(file)

        for file in self.included:
            visit(file)

    def check(self):
        for room in ("ivalue", "schema", "dispatcher", "backends", "interpreter"):
            for path in sources_of(self.root / room):
                self.read(path.relative_to(self.root).as_posix())
                if path.suffix in (".h", ".inc"):
                    self.find_types(path.relative_to(self.root).as_posix())
        self.find_twins()
        self.find_circles()
        for folder in ("ivalue", "schema", "dispatcher", "backends", "interpreter", "tests", "bench", "scripts"):
            for path in sources_of(self.root / folder):
                lines = path.read_bytes().count(b"\n")
                if lines > LONGEST:
                    self.problems.append(f"{path.relative_to(self.root)} has {lines} lines, and {LONGEST} at most are allowed: split it by subject")
        return self.problems


BROKEN = {
    "schema/upward.h": "#include <boxcar/dispatcher/table.h>\n",
    "dispatcher/table.h": "",
    "backends/mill.h": "#include <boxcar/interpreter/run.h>\n",
    "interpreter/run.h": "#include <boxcar/interpreter/cli/main.h>\n#include <boxcar/ops.h>\n",
    "interpreter/cli/main.h": "",
    "ivalue/hen.h": "#include <boxcar/ivalue/egg.h>\n",
    "ivalue/egg.h": "#include <boxcar/ivalue/hen.h>\n#include <boxcar/ivalue/gone.h>\n",
    "ivalue/near.cpp": '#include "hen.h"\n',
    "ivalue/scope.h": "namespace boxcar::a {\nstruct Scope { struct Part {}; };  // class Other {\n}\nnamespace boxcar { struct Scope; }\n",
    "ivalue/range.h": "namespace boxcar {\nnamespace a {\nclass Scope final : public B<C> {\n};\n}\nenum class Part {};\n}\n",
    "ivalue/long.cpp": "\n" * 801,
}
TOLD = """\
ivalue/egg.h:2: <boxcar/ivalue/gone.h> is not there
ivalue/near.cpp:1: "hen.h" is a header of a room; include it as <boxcar/ROOM/FILE>
schema/upward.h:1: schema must not include dispatcher, as <boxcar/dispatcher/table.h> does; it may include schema, ivalue
backends/mill.h:1: backends must not include interpreter, as <boxcar/interpreter/run.h> does; it may include backends, ivalue, schema, dispatcher
interpreter/run.h:1: interpreter must not include interpreter/cli, as <boxcar/interpreter/cli/main.h> does; it may include interpreter, ivalue, schema, dispatcher
interpreter/run.h:2: interpreter must not include backends, as <boxcar/backends/ops.h> does; it may include interpreter, ivalue, schema, dispatcher
ivalue/range.h and ivalue/scope.h each define boxcar::a::Scope: rename one of them
these include one another in a circle: ivalue/egg.h -> ivalue/hen.h -> ivalue/egg.h
ivalue/long.cpp has 801 lines, and 800 at most are allowed: split it by subject""".split("\n")


def tells_of_broken_rules(folder):
    for name, text in BROKEN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = Project(folder).check()
    if found != TOLD:
        print("FAILED: a project that breaks the rules gives\n" + "\n".join(found) + "\ninstead of\n" + "\n".join(TOLD))
    return found == TOLD


def main():
    project = Project(Path(sys.argv[1]).resolve())
    problems = project.check()
    for problem in problems:
        print(problem)
    with tempfile.TemporaryDirectory() as folder:
        told = tells_of_broken_rules(Path(folder))
    count = sum(map(len, project.included.values()))
    print(f"{len(project.included)} files of the rooms, {count} includes between them, {len(problems)} problems")
    if len(project.included) < 300 or count < 1000:
        print("FAILED: those are too few: is this the project's root?")
        return 1
    return 0 if told and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
