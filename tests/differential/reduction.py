"""Reduces a program while it still differs in the same way."""

from tree import kindOf, literal

kSmallest = {"int": (0, 1), "float": (0.0, 1.5), "bool": (False, True), "str": ("", "a"), "none": (None,)}


def blocksOf(program):
    """Yields every list of statements, outer ones first."""
    todo = [program.body] + [function.body for function in program.functions]
    for block in todo:
        yield block
        for statement in block:
            todo += statement.blocks


def slotsOf(program):
    """Yields (list, index) of every expression, outer ones first."""
    holders = [statement.exprs for block in blocksOf(program) for statement in block]
    todo = [(holder, i) for holder in holders for i in range(len(holder))]
    for holder, i in todo:
        yield holder, i
        args = holder[i].args
        todo += [(args, k) for k in range(len(args))]


def descendants(expr):
    todo = list(expr.args)
    for each in todo:
        yield each
        todo += each.args


def withoutParts(program):
    """Yields versions of the program with a part removed, larger parts first."""
    for part in ("functions", "constants"):
        for i in range(len(getattr(program, part))):
            smaller = program.copy()
            del getattr(smaller, part)[i]
            yield smaller
    for b, block in enumerate(list(blocksOf(program))):
        for size in sorted({len(block), 4, 2, 1}, reverse=True):
            for i in range(0, max(len(block) - size + 1, 0)):
                smaller = program.copy()
                del list(blocksOf(smaller))[b][i : i + size]
                yield smaller
        for i, statement in enumerate(block):
            for inner in range(len(statement.blocks)):  # replaces a statement by the contents of its block
                smaller = program.copy()
                target = list(blocksOf(smaller))[b]
                target[i : i + 1] = target[i].blocks[inner]
                yield smaller
            if statement.kind == "if" and len(statement.blocks) > 1:
                smaller = program.copy()
                target = list(blocksOf(smaller))[b][i]
                del target.blocks[1:], target.exprs[1:]
                yield smaller


def withSmallerExpressions(program):
    for s, (holder, i) in enumerate(list(slotsOf(program))):
        expr = holder[i]
        replacements = [d for d in descendants(expr) if d.type == expr.type]
        if expr.args or expr.kind == "variable":
            replacements += [literal(v) for v in kSmallest.get(kindOf(expr.type), ())]
        for replacement in replacements:
            smaller = program.copy()
            target, place = list(slotsOf(smaller))[s]
            target[place] = replacement.copy()
            yield smaller
        # A list of Any may get a narrower type when an element is removed.
        is_flexible = expr.kind == "format" or (expr.kind == "list" and expr.type[1] != "any")
        if expr.kind == "call" and expr.data[0] == "print" and not expr.data[1]:
            is_flexible = True
        for k in range(len(expr.args) if is_flexible else 0):
            smaller = program.copy()
            target, place = list(slotsOf(smaller))[s]
            del target[place].args[k]
            if expr.kind == "format":
                fields = [n for n, part in enumerate(expr.data) if not isinstance(part, str)]
                target[place].data = expr.data[: fields[k]] + expr.data[fields[k] + 1 :]
            yield smaller


def reduced(program, stillDiffers, most_tries=1500):
    """Returns the reduced program. [stillDiffers] returns whether a program still shows the difference."""
    tries = 0
    changed = True
    while changed:
        changed = False
        for variants in (withoutParts, withSmallerExpressions):
            found = True
            while found:
                found = False
                for smaller in variants(program):
                    tries += 1
                    if tries > most_tries:
                        return program
                    if stillDiffers(smaller):
                        program, found, changed = smaller, True, True
                        break
    return program
