"""Lists the compiled instructions of a typed and of a boxed call, each with its purpose.

`hot_path.py CALL_COST` finds with callgrind which instructions of call_cost run for every call, takes their text from
objdump and their source lines from addr2line, and prints them as in bench/README.md, in the order of their addresses in
each function; --update-readme writes them to that page.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measured  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CALLS = 3000

# The purpose of an instruction, by the function it comes from: the first match for the innermost function that is named
# here. If none matches, the first match for the source line; if none matches that either, the line itself is shown.
PURPOSES = [
    (r"\bcallsAreWatched\b", "does anybody watch calls (observers, tracing)?"),
    (r"\bholdsBytes\b", "does the stack hold as many values as the operator has arguments?"),
    (r"\bDispatchKeyExtractor::arguments\b", "where the arguments that have keys lie"),
    (r"\bnonFallthroughKeys\b", "the keys that are no fallthrough for this operator"),
    (r"\bcomputeDispatchKeySet\b", "with the keys that the thread includes, without those it excludes and fallthroughs"),
    (r"\bgetDispatchKeySetOfRun\b", "the key sets of the tensors among the arguments, ORed"),
    (r"\bkeysOf\b|\bkey_set\(\)", "the key set of a tensor"),
    (r"\bgetDispatchTableIndex\b|\bhighestBit\b", "the slot of the highest key and its highest backend"),
    (r"\blookup\b", "the cell in that slot: the kernel's record"),
    (r"\bdropDestroyed\b", "the stack is as long as before"),
    (r"\bdropArguments\b|~Tensor\(|\brelease\(", "the stack's reference to an argument goes"),
    (r"\bpush\b|\bretain\(|\bemplace", "the arguments are pushed, each with a reference counted"),
    (r"\bBorrowedArgument<.*::get\b|\bunsafe_get\b", "an argument is borrowed where it lies"),
]
LINE_PURPOSES = [
    (r"\bcallsAreWatched\(\).*has_unboxed", "the long way, where somebody watches or the kernel has a boxed entry alone"),
    (r"\bholdsBytes\(", "the long way, where values are missing or somebody watches"),
    (r"record->unboxed\(", "the record's typed entry, with the arguments as they came"),
    (r"kernel->boxed\(", "the record's boxed entry, with the operator, the keys and the stack"),
    (r"\bCanonicalType<R> unboxed\(|\bstatic void boxed\(", "what the kernel does not take is left out, what the adapter uses is kept"),
    (r"\bentry = entry_;", "the operator's entry"),
    (r"\bargs = stack\.end\(\) -", "where the arguments begin"),
    (r"<uintptr_t>\(args\) <", "does the stack hold them all?"),
    (r"<Args>::matches\(", "is each of the type that the kernel takes?"),
    (r"\bCallee::get\(kernel\)", "the kernel"),
]
LOOP = "the loop that makes the calls"


def callgrind(program, path):
    """Returns {address: times}: how often each instruction of the program ran in CALLS calls."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        report.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
                    f"--callgrind-out-file={out}", program, path, CALLS])
        return executed(out.read_text(), pathlib.Path(program).name)


def executed(dump, program):
    """Returns {address: times} for the program's own instructions, from callgrind's file."""
    counts, of_program, is_inclusive = {}, False, False
    for line in dump.splitlines():
        if line.startswith("ob="):
            of_program = line.rstrip().endswith("/" + program)
        elif line.startswith("calls="):
            is_inclusive = True
        elif line.startswith("0x"):
            if is_inclusive:
                is_inclusive = False
                continue
            if of_program:
                address, _, cost = line.split()
                counts[int(address, 16)] = counts.get(int(address, 16), 0) + int(cost)
    return counts


def disassembled(program):
    text = report.run(["objdump", "-d", "--no-show-raw-insn", "-C", program])
    lines = re.findall(r"^ +([0-9a-f]+):\t(.*)$", text, re.M)
    return {int(address, 16): re.sub(r"\s*(#.*|<.*)$", "", code).rstrip() for address, code in lines}


def sources(program, addresses):
    """Returns [(function, file, line), ...] of each address, innermost first."""
    text = report.run(["addr2line", "-e", program, "-a", "-f", "-i", "-C", *[hex(address) for address in addresses]])
    found, chain = {}, None
    lines = iter(text.splitlines())
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            chain = found.setdefault(int(line, 16), [])
        else:
            place = re.match(r"(.*):(\d+)", next(lines))
            chain.append((line, place[1] if place else "", int(place[2]) if place else 0))
    return found


def part_of(chain):
    """Returns which function on the path of a call this is, by its position, and its name on the page."""
    function = chain[-1][0]
    if "Adapters<" in function or "StaticCallee<" in function:
        return 1, "the adapter around the kernel"
    return (0, "where the call is written") if re.search(r"\brun(Typed|Boxed|Direct)\b", function) else (2, "the kernel")


def purpose(chain):
    for function, file, line in chain:
        for pattern, text in PURPOSES:
            if re.search(pattern, function):
                return text
    function, file, line = chain[0]
    if len(chain) == 1 and part_of(chain)[0] == 0:
        return LOOP
    for function, file, line in chain:
        # Source paths are given as if the files were in the compiler's working folder.
        path = HERE.parent / re.sub(r"^(.*/)?build/[^/]+/", "", file)
        if path.suffix == ".h" and path.is_file() and path.is_relative_to(HERE.parent):
            source = path.read_text().splitlines()[line - 1].strip().rstrip("{").rstrip()
            for pattern, text in LINE_PURPOSES:
                if re.search(pattern, source):
                    return text
            return "the way back" if source == "}" else source if len(source) <= 96 else source[:95] + "…"
    return "the kernel, which does nothing" if part_of(chain)[0] == 2 else ""


def listing(program, path):
    """Returns lines of text, and the number of instructions that a call executes."""
    counts = callgrind(program, path)
    hot = {address: round(count / CALLS) for address, count in counts.items() if count >= 0.99 * CALLS}
    code, chains = disassembled(program), sources(program, sorted(hot))
    lines, before, part = [], None, None
    for address in sorted(hot, key=lambda each: (part_of(chains[each]), each)):
        if part_of(chains[address]) != part:
            part = part_of(chains[address])
            lines.append(f"{part[1]}:")
        text = purpose(chains[address])
        times = f"{hot[address]}x" if hot[address] > 1 else ""
        words = code[address].split(None, 1)
        shown = f"{words[0]:<7}{words[1] if len(words) > 1 else ''}"
        lines.append(f"{times:>3} {shown:<36}{'' if text == before else '; ' + text}".rstrip())
        before = text
    return lines, sum(hot.values())


def pages(program):
    direct = listing(program, "direct")[1]
    parts = {}
    for path in ("typed", "boxed"):
        lines, count = listing(program, path)
        head = f"{count} instructions, {count - direct} above the {direct} of a direct call:"
        parts[f"hot path {path}"] = "\n".join([head, "", "```", *lines, "```"]) + "\n"
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--update-readme", action="store_true")
    options = parser.parse_args()
    try:
        parts = pages(options.program)
        if options.update_readme:
            page.update(parts)
    except (measured.Malformed, OSError) as fault:
        report.say(fault)
        return 2
    for part in parts.values():
        print(part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
