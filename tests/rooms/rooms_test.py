#!/usr/bin/env python3
"""Checks the dependencies between rooms and between their folders: `rooms_test.py ROOT [BUILD]` reads every `#include`.

- A room includes only itself and the rooms that ARROWS allows.
- A folder of a room includes only itself and the folders that FOLDERS allows.
- Files do not include one another in a circle.
- A header of a room is included as <boxcar/ROOM/FILE>, and exists.
- No two headers of the rooms define a class of the same name in the same namespace: the linker would mix their functions.
- No source defines a class in an anonymous namespace whose name a header has in an enclosing namespace: sources are
  compiled together, and others would mean the wrong one.
- No source in the rooms, tests and bench is longer than LONGEST lines.

The test also checks a small project that breaks each rule, and each broken rule must be reported. With BUILD, the test
draws the dependencies that it found: BUILD/rooms.dot, and BUILD/rooms.svg if Graphviz is installed.
"""

import re
import shutil
import subprocess
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
    "python": ["ivalue", "schema", "dispatcher", "backends", "interpreter"],
}
# Rooms with folders: what a folder may include from its room, besides itself. A folder that is not listed may include
# what its parent may; files directly in a room may include all of it.
CORE = ["boxing", "registry", "call", "plugin"]
FOLDERS = {
    "dispatcher": {
        **{folder: CORE for folder in CORE},
        "values": CORE,
        "handlers": [*CORE, "values"],
    },
    "backends": {
        "meta": [],
        "functors": [],
        "native": ["meta", "functors"],
        "cpu": ["meta", "functors", "native"],
        "cuda": ["meta", "functors", "native"],
        "no_cuda": ["cuda"],
        "composite": ["meta", "functors", "native"],
        "autograd": ["meta"],
        "transforms": ["meta", "autograd"],
        "io": ["native"],
        "codegen": [],
    },
    "interpreter": {
        "syntax": [],
        "bytecode": ["syntax"],
        "runtime": ["syntax", "bytecode"],
        "compiler": ["syntax", "bytecode", "runtime"],
        "import": ["syntax", "bytecode", "runtime"],
        "export": ["import"],
        "prepare": ["syntax", "bytecode", "runtime", "compiler"],
        "session": ["syntax", "bytecode", "runtime", "compiler", "import", "prepare"],
        "service": ["syntax", "bytecode", "runtime", "compiler", "import", "session"],
        "cli": ["syntax", "bytecode", "runtime", "import", "export", "session", "service"],
    },
}
# Headers that are not at the path of their name: made by the build, or the header that includes all others.
MADE = {"version.h": None, "ops.h": "backends/ops.h", "boxcar.h": "interpreter/boxcar.h"}
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".inc"}
LONGEST = 800
# Matches opening and closing braces, and the name if a namespace or a class opens one.
BRACE = re.compile(
    r"namespace(?P<namespace>\s+[\w:]+)?\s*\{"
    r"|\b(?:struct|class|enum|union)\s+(?:class\s+|BOXCAR_API\s+|alignas\([^)]*\)\s+|\[\[[^\]]*\]\]\s+)*"
    r"(?P<type>\w+)(?:\s+final)?\s*(?::(?!:)[^{;()]*)?\{|[{}]")
NO_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<boxcar/([^>]+)>|"([^"]+)")')


def sources_of(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES) if folder.is_dir() else []


def room_of(path):
    """Returns the room of a path inside the project."""
    return "interpreter/cli" if path.startswith("interpreter/cli/") else path.split("/")[0]


def folder_of(path):
    """Returns the room of a path and the folder in it; the folder is None for a file directly in its room."""
    parts = path.split("/")
    return parts[0], parts[1] if len(parts) > 2 else None


class Project:
    def __init__(self, root):
        self.root = root
        self.included = {}  # file -> the project's files that it includes
        self.types = {}  # a class with its namespaces -> the headers that define it
        self.unnamed = []  # a source, the namespaces around its anonymous one, and a class in there
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
            # Programs that read ops/ during the build of boxcar use full paths in quotes.
            target = MADE.get(name, name) if name is not None else quoted
            if target is None or (quoted is not None and not (self.root / quoted).is_file()):
                continue
            other = room_of(target)
            if other not in allowed:
                self.say(file, number, f"{room} must not include {other}, as <boxcar/{target}> does; it may include {', '.join(allowed)}")
            self.check_folder(file, number, target)
            if (self.root / target).is_file():
                self.included[file].append(target)
            elif name not in MADE:
                self.say(file, number, f"<boxcar/{target}> is not there")

    def check_folder(self, file, number, target):
        (room, folder), (other_room, other) = folder_of(file), folder_of(target)
        folders = FOLDERS.get(room, {})
        if room != other_room or folder == other or folder is None or other is None:
            return
        for name in (folder, other):
            if name not in folders:
                self.say(file, number, f"{room}/{name} is not in FOLDERS: say there what it may include")
                return
        if other not in folders[folder]:
            self.say(file, number, f"{room}/{folder} must not include {room}/{other}, as <boxcar/{target}> does; "
                     f"it may include {', '.join(folders[folder]) or 'nothing of its room but itself'}")

    def arrows(self):
        """Counts the includes between folders: {(from, to): number}."""
        found = {}
        for file, others in self.included.items():
            for other in others:
                ends = tuple("/".join(part for part in folder_of(path) if part) for path in (file, other))
                if ends[0] != ends[1]:
                    found[ends] = found.get(ends, 0) + 1
        return found

    def draw(self):
        """Returns the folders and the includes between them as a graph in Graphviz's language; arrows point to the
        included folder."""
        arrows = self.arrows()
        places = sorted({place for ends in arrows for place in ends})
        lines = ["digraph rooms {", "  rankdir=BT; newrank=true; fontname=Helvetica;",
                 "  node [shape=box style=\"rounded,filled\" fillcolor=\"#e8eef7\" fontname=Helvetica];", "  edge [color=\"#51606e\"];"]
        rooms = {place: room_of(place + "/") for place in places}
        for room in sorted(set(rooms.values())):
            lines.append(f'  subgraph "cluster_{room}" {{ label="{room}"; color="#c3ccd6";')
            lines += [f'    "{place}" [label="{place.split("/")[-1]}"];' for place in places if rooms[place] == room]
            lines.append("  }")
        # Draws each arrow inside a room, but only one between two rooms, so that the picture stays readable.
        drawn = {}
        for (one, other), count in sorted(arrows.items()):
            ends = (one, other) if rooms[one] == rooms[other] else (rooms[one], rooms[other])
            drawn[ends] = drawn.get(ends, 0) + count
        for (one, other), count in sorted(drawn.items()):
            if rooms.get(one) == rooms.get(other, ""):
                lines.append(f'  "{one}" -> "{other}" [tooltip="{count} includes"];')
            else:
                tail, head = (next(place for place in places if rooms[place] == room) for room in (one, other))
                lines.append(f'  "{tail}" -> "{head}" [ltail="cluster_{one}" lhead="cluster_{other}" style=bold tooltip="{count} includes"];')
        return "\n".join([*lines[:1], "  compound=true;", *lines[1:], "}", ""])

    def find_types(self, file):
        """Records the classes that a header defines in named namespaces, or a source in an anonymous one."""
        is_header = file.endswith((".h", ".inc"))
        text = NO_CODE.sub("", (self.root / file).read_text(encoding="utf-8"))
        opened = []  # a namespace's name, or None for any other brace
        for found in BRACE.finditer(text):
            if found[0].startswith("namespace"):
                opened.append((found["namespace"] or "").strip())
            elif found[0] == "}":
                if opened:
                    opened.pop()
            else:
                if found["type"] and is_header and all(opened):
                    self.types.setdefault("::".join([*opened, found["type"]]), []).append(file)
                if found["type"] and not is_header and opened.count("") == 1 and None not in opened:
                    self.unnamed.append((file, "::".join(filter(None, opened)), found["type"]))
                opened.append(None)

    def find_twins(self):
        for name, files in sorted(self.types.items()):
            if len(set(files)) > 1:
                self.problems.append(f"{' and '.join(sorted(set(files)))} each define {name}: rename one of them")

    def find_hidden(self):
        for file, namespace, name in self.unnamed:
            rooms = [room_of(file), *ARROWS[room_of(file)]]
            words = namespace.split("::")
            for depth in range(len(words), 0, -1):
                hidden = "::".join([*words[:depth], name])
                headers = [header for header in self.types.get(hidden, []) if room_of(header) in rooms]
                if headers:
                    self.problems.append(f"{file}: its class {name} hides {hidden} of {headers[0]}: rename it")
                    break

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
                if path.suffix in (".h", ".inc", ".cpp"):
                    self.find_types(path.relative_to(self.root).as_posix())
        self.find_twins()
        self.find_hidden()
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
    "interpreter/syntax/tree.h": "#include <boxcar/interpreter/compiler/names.h>\n",
    "interpreter/compiler/names.h": "",
    "dispatcher/registry/why.h": "#include <boxcar/dispatcher/handlers/trace.h>\n#include <boxcar/dispatcher/attic/old.h>\n",
    "dispatcher/handlers/trace.h": "",
    "dispatcher/attic/old.h": "",
    "ivalue/hen.h": "#include <boxcar/ivalue/egg.h>\n",
    "ivalue/egg.h": "#include <boxcar/ivalue/hen.h>\n#include <boxcar/ivalue/gone.h>\n",
    "ivalue/near.cpp": '#include "hen.h"\n',
    "ivalue/scope.h": "namespace boxcar::a {\nstruct Scope { struct Part {}; };  // class Other {\n}\nnamespace boxcar { struct Scope; }\n",
    "ivalue/range.h": "namespace boxcar {\nnamespace a {\nclass Scope final : public B<C> {\n};\n}\nenum class Part {};\n}\n",
    "schema/hiding.cpp": "namespace boxcar::a {\nnamespace {\nenum class Part {};\nclass Own { struct Scope {}; };\n}\n}\n",
    "ivalue/long.cpp": "\n" * 801,
}
TOLD = """\
ivalue/egg.h:2: <boxcar/ivalue/gone.h> is not there
ivalue/near.cpp:1: "hen.h" is a header of a room; include it as <boxcar/ROOM/FILE>
schema/upward.h:1: schema must not include dispatcher, as <boxcar/dispatcher/table.h> does; it may include schema, ivalue
dispatcher/registry/why.h:1: dispatcher/registry must not include dispatcher/handlers, as <boxcar/dispatcher/handlers/trace.h> does; it may include boxing, registry, call, plugin
dispatcher/registry/why.h:2: dispatcher/attic is not in FOLDERS: say there what it may include
backends/mill.h:1: backends must not include interpreter, as <boxcar/interpreter/run.h> does; it may include backends, ivalue, schema, dispatcher
interpreter/run.h:1: interpreter must not include interpreter/cli, as <boxcar/interpreter/cli/main.h> does; it may include interpreter, ivalue, schema, dispatcher
interpreter/run.h:2: interpreter must not include backends, as <boxcar/backends/ops.h> does; it may include interpreter, ivalue, schema, dispatcher
interpreter/syntax/tree.h:1: interpreter/syntax must not include interpreter/compiler, as <boxcar/interpreter/compiler/names.h> does; it may include nothing of its room but itself
ivalue/range.h and ivalue/scope.h each define boxcar::a::Scope: rename one of them
schema/hiding.cpp: its class Part hides boxcar::Part of ivalue/range.h: rename it
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


def write_picture(text, build):
    (build / "rooms.dot").write_text(text, encoding="utf-8")
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", build / "rooms.dot", "-o", build / "rooms.svg"], check=True)


def main():
    project = Project(Path(sys.argv[1]).resolve())
    problems = project.check()
    if len(sys.argv) > 2:
        write_picture(project.draw(), Path(sys.argv[2]))
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
