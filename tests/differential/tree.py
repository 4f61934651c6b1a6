"""Programs as trees, and their texts in .ops and in Python, which match line by line."""

# Precedences of .ops, so that its text has only the necessary parentheses; Python's text has all of them.
CONDITIONAL, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, ADD, MULTIPLY, UNARY, POWER, POSTFIX, ATOM = range(
    15
)
BINARY = {
    "|": (BIT_OR, "bitOr"),
    "^": (BIT_XOR, "bitXor"),
    "&": (BIT_AND, "bitAnd"),
    "<<": (SHIFT, "shiftLeft"),
    ">>": (SHIFT, "shiftRight"),
    "+": (ADD, "add"),
    "-": (ADD, "subtract"),
    "*": (MULTIPLY, "multiply"),
    "/": (MULTIPLY, "divide"),
    "//": (MULTIPLY, "floorDivide"),
    "%": (MULTIPLY, "remainder"),
    "**": (POWER, "power"),
}
COMPARE_FUNCTIONS = {
    "==": "equal",
    "!=": "unequal",
    "<": "less",
    "<=": "lessEqual",
    ">": "greater",
    ">=": "greaterEqual",
}
# Built-ins for which Python's function of the same name is used directly.
PLAIN_BUILTINS = {"len", "float", "bool", "ord", "any", "all"}
# Methods whose result is a view in Python.
VIEWS = {"keys", "values", "items"}


def listOf(element):
    return ("list", element)


def dictOf(key, value):
    return ("dict", key, value)


def tupleOf(*elements):
    return ("tuple", *elements)


def optionalOf(type_):
    return type_ if type_ in ("any", "none") or kindOf(type_) == "opt" else ("opt", type_)


def kindOf(type_):
    return type_ if isinstance(type_, str) else type_[0]


kNumbers = ("bool", "int", "float", "complex", "scalar")


def joinTypes(a, b):
    """Returns the type of a variable that has type [a] on one path and [b] on another."""
    if a == b:
        return a
    if a == "none":
        return optionalOf(b)
    if b == "none":
        return joinTypes(b, a)
    if kindOf(a) == "opt" or kindOf(b) == "opt":
        return optionalOf(joinTypes(a[1] if kindOf(a) == "opt" else a, b[1] if kindOf(b) == "opt" else b))
    if kindOf(a) == kindOf(b) == "tuple" and len(a) == len(b):
        return tupleOf(*(joinTypes(x, y) for x, y in zip(a[1:], b[1:])))
    if "scalar" in (a, b) and a in kNumbers and b in kNumbers:
        return "scalar"
    return "any"


def joinAll(types):
    result = types[0]
    for type_ in types[1:]:
        result = joinTypes(result, type_)
    return "any" if result == "none" else result


def typeText(type_):
    kind = kindOf(type_)
    if kind == "list":
        return typeText(type_[1]) + "[]"
    if kind == "opt":
        return typeText(type_[1]) + "?"
    if kind == "dict":
        return f"Dict({typeText(type_[1])}, {typeText(type_[2])})"
    if kind == "tuple":
        return "(" + ", ".join(map(typeText, type_[1:])) + ")"
    return {"any": "Any", "scalar": "Scalar", "none": "()"}.get(kind, kind)


class Expr:
    """[kind] is the kind of expression; [data] distinguishes it from others of its kind. [style] is a free choice in
    its text: redundant parentheses, escapes, or `x.f(a)` for `f(x, a)`."""

    __slots__ = ("kind", "type", "args", "data", "style")

    def __init__(self, kind, type_, args=(), data=None, style=False):
        self.kind, self.type, self.args, self.data, self.style = kind, type_, list(args), data, style

    def copy(self):
        return Expr(self.kind, self.type, [arg.copy() for arg in self.args], self.data, self.style)


def literal(value):
    kinds = {bool: "bool", int: "int", float: "float", str: "str", type(None): "none"}
    return Expr("literal", kinds[type(value)], data=value)


def variable(name, type_):
    return Expr("variable", type_, data=name)


class Stmt:
    __slots__ = ("kind", "exprs", "blocks", "data")

    def __init__(self, kind, exprs=(), blocks=(), data=None):
        self.kind, self.exprs, self.blocks, self.data = kind, list(exprs), list(blocks), data

    def copy(self):
        return Stmt(self.kind, [e.copy() for e in self.exprs], [copyBlock(b) for b in self.blocks], self.data)


class Function:
    """[parameters] are (name, type, default or None). With [is_operator], it is declared with `op`."""

    def __init__(self, name, parameters, result, body, is_operator=False):
        self.name, self.parameters, self.result, self.body = name, parameters, result, body
        self.is_operator = is_operator

    def copy(self):
        return Function(self.name, self.parameters, self.result, copyBlock(self.body), self.is_operator)


class Program:
    """[constants] are (name, Expr). The body runs in a function, or, with [at_top_level], as the script itself."""

    def __init__(self, constants, functions, body, at_top_level):
        self.constants, self.functions, self.body, self.at_top_level = constants, functions, body, at_top_level

    def copy(self):
        return Program(
            [(name, e.copy()) for name, e in self.constants],
            [f.copy() for f in self.functions],
            copyBlock(self.body),
            self.at_top_level,
        )


def copyBlock(block):
    return [statement.copy() for statement in block]


# ---- .ops ----

ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}


def opsString(text, quote, escapes_all=False, is_format=False):
    result = []
    for c in text:
        if c in ESCAPES:
            result.append(ESCAPES[c])
        elif c == quote:
            result.append("\\" + c)
        elif is_format and c in "{}":
            result.append(c * 2)
        elif c.isprintable() and (c.isascii() or not escapes_all):
            result.append(c)
        else:
            number = ord(c)
            result.append(
                f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
            )
    return "".join(result)


class OpsText:
    """The .ops text of expressions; [suffix] keeps the names of programs in one file apart."""

    def __init__(self, suffix=""):
        self.suffix = suffix
        self.in_field = False

    def name(self, name):
        return name + self.suffix

    def at(self, expr, level):
        text, own = self.levelled(expr)
        return f"({text})" if own < level or (expr.style and own < ATOM) else text

    def __call__(self, expr):
        return self.at(expr, CONDITIONAL)

    def behindSign(self, expr):
        """Returns the text for places where `{` opens a dict: after `=`, `(`, `,`, `[`, `:` and `return`."""
        return self.braces(expr) if expr.kind == "dict" else self(expr)

    def listed(self, exprs):
        return ", ".join(map(self.behindSign, exprs))

    def levelled(self, expr):
        return getattr(self, "of_" + expr.kind)(expr)

    def of_literal(self, expr):
        value = expr.data
        if isinstance(value, str):
            quote = "'" if self.in_field or (expr.style and '"' in value) else '"'
            return quote + opsString(value, quote, expr.style) + quote, ATOM
        if isinstance(value, float) and value != value:
            return "nan", ATOM
        text = repr(value)
        if isinstance(value, int) and not isinstance(value, bool) and expr.style and value >= 0:
            text = hex(value) if value % 3 == 0 else f"{value:_}"
        return text, UNARY if text.startswith("-") else ATOM

    def of_variable(self, expr):
        return self.name(expr.data), ATOM

    def of_unary(self, expr):
        if expr.data == "not":
            return "not " + self.at(expr.args[0], NOT), NOT
        operand = self.at(expr.args[0], UNARY)
        # The smallest int is written with its sign, so two signs are kept apart.
        return expr.data + (f"({operand})" if operand.startswith("-") else operand), UNARY

    def of_binary(self, expr):
        level = BINARY[expr.data][0]
        left, right = (POSTFIX, UNARY) if level == POWER else (level, level + 1)
        return f"{self.at(expr.args[0], left)} {expr.data} {self.at(expr.args[1], right)}", level

    def of_compare(self, expr):
        text = self.at(expr.args[0], COMPARE + 1)
        for op, operand in zip(expr.data, expr.args[1:]):
            text += f" {op} {self.at(operand, COMPARE + 1)}"
        return text, COMPARE

    def of_logical(self, expr):
        level = AND if expr.data == "and" else OR
        return f" {expr.data} ".join(self.at(arg, level + 1) for arg in expr.args), level

    def of_conditional(self, expr):
        value, condition, otherwise = expr.args
        return f"{self.at(value, OR)} if {self.at(condition, OR)} else {self(otherwise)}", CONDITIONAL

    def of_list(self, expr):
        return f"[{self.listed(expr.args)}]", ATOM

    def of_tuple(self, expr):
        return f"({self.listed(expr.args)}{',' if len(expr.args) == 1 else ''})", ATOM

    def braces(self, expr):
        pairs = zip(expr.args[::2], expr.args[1::2])
        return "{" + ", ".join(f"{self(key)}: {self.behindSign(value)}" for key, value in pairs) + "}"

    def of_dict(self, expr):
        return f"({self.braces(expr)})", ATOM

    def of_comprehension(self, expr):
        parts = iter(expr.args)
        text = self.behindSign(next(parts))
        for names, condition_count in expr.data:
            text += f" for {', '.join(map(self.name, names))} in {self.at(next(parts), OR)}"
            for _ in range(condition_count):
                text += f" if {self.at(next(parts), OR)}"
        return f"[{text}]", ATOM

    def receiver(self, expr):
        text = self.at(expr, POSTFIX)
        return f"({text})" if expr.kind == "literal" and not isinstance(expr.data, str) else text

    def of_index(self, expr):
        return f"{self.at(expr.args[0], POSTFIX)}[{self.behindSign(expr.args[1])}]", POSTFIX

    def of_slice(self, expr):
        bounds = iter(expr.args[1:])
        texts = [self(next(bounds)) if is_there else "" for is_there in expr.data]
        text = ":".join(texts[:2]) + (":" + texts[2] if expr.data[2] else "")
        return f"{self.at(expr.args[0], POSTFIX)}[{text}]", POSTFIX

    def arguments(self, args, keywords):
        first_keyword = len(args) - len(keywords)
        texts = [self.behindSign(arg) for arg in args[:first_keyword]]
        texts += [f"{name}={self.behindSign(arg)}" for name, arg in zip(keywords, args[first_keyword:])]
        return "(" + ", ".join(texts) + ")"

    def of_call(self, expr):
        """[data] is (name, keywords, kind); kind is "fn" or "op" for the program's own, or False for a built-in."""
        name, keywords, is_own = expr.data
        if is_own:
            name = ("ops_of_tests::" if is_own == "op" else "") + self.name(name)
            keywords = list(map(self.name, keywords))
        if (
            expr.style
            and is_own != "op"
            and name != "float"
            and not name.startswith("math::")
            and len(expr.args) > len(keywords)
        ):
            return self.receiver(expr.args[0]) + "." + name + self.arguments(expr.args[1:], keywords), POSTFIX
        return name + self.arguments(expr.args, keywords), POSTFIX

    def of_method(self, expr):
        name, keywords = expr.data
        return f"{self.receiver(expr.args[0])}.{name}{self.arguments(expr.args[1:], keywords)}", POSTFIX

    def of_isinstance(self, expr):
        return f"isinstance({self(expr.args[0])}, {expr.data})", POSTFIX

    def of_format(self, expr):
        """[data] contains the texts between the fields, and (spec,) for each field."""
        fields = iter(expr.args)
        text = ""
        for part in expr.data:
            if isinstance(part, str):
                text += opsString(part, '"', expr.style, True)
            else:
                self.in_field = True
                field = self(next(fields))
                self.in_field = False
                text += "{" + field + (":" + part[0] if part[0] else "") + "}"
        return f'f"{text}"', ATOM


# ---- Python ----


class PythonText:
    """Python's text of expressions, with calls of python_side.py where ints may wrap or the language is stricter."""

    def __call__(self, expr):
        return getattr(self, "of_" + expr.kind)(expr)

    def listed(self, exprs):
        return ", ".join(map(self, exprs))

    def of_literal(self, expr):
        value = expr.data
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            return f"float('{value}')"
        return f"({value!r})"

    def of_variable(self, expr):
        return expr.data

    def of_unary(self, expr):
        if expr.data == "not":
            return f"(not {self(expr.args[0])})"
        return f"wrap({expr.data}{self(expr.args[0])})"

    def of_binary(self, expr):
        return f"{BINARY[expr.data][1]}({self.listed(expr.args)})"

    def of_compare(self, expr):
        if len(expr.data) == 1 and expr.data[0] in COMPARE_FUNCTIONS:
            return f"{COMPARE_FUNCTIONS[expr.data[0]]}({self.listed(expr.args)})"
        if expr.data == ["in"]:
            return f"contains({self.listed(expr.args)})"
        if expr.data == ["not in"]:
            return f"(not contains({self.listed(expr.args)}))"
        text = self(expr.args[0])
        for op, operand in zip(expr.data, expr.args[1:]):
            text += f" {op} {self(operand)}"
        return f"({text})"

    def of_logical(self, expr):
        return "bool(" + f" {expr.data} ".join(map(self, expr.args)) + ")"

    def of_conditional(self, expr):
        value, condition, otherwise = map(self, expr.args)
        return f"({value} if {condition} else {otherwise})"

    def of_list(self, expr):
        return f"[{self.listed(expr.args)}]"

    def of_tuple(self, expr):
        return f"({self.listed(expr.args)}{',' if len(expr.args) == 1 else ''})"

    def of_dict(self, expr):
        pairs = zip(expr.args[::2], expr.args[1::2])
        return "{" + ", ".join(f"{self(key)}: {self(value)}" for key, value in pairs) + "}"

    def of_comprehension(self, expr):
        parts = iter(expr.args)
        text = self(next(parts))
        for names, condition_count in expr.data:
            text += f" for {', '.join(names)} in each({self(next(parts))})"
            for _ in range(condition_count):
                text += f" if {self(next(parts))}"
        return f"[{text}]"

    def of_index(self, expr):
        return f"{self(expr.args[0])}[{self(expr.args[1])}]"

    def of_slice(self, expr):
        bounds = iter(expr.args[1:])
        texts = [self(next(bounds)) if is_there else "" for is_there in expr.data]
        return f"{self(expr.args[0])}[{':'.join(texts)}]"

    def arguments(self, args, keywords):
        first_keyword = len(args) - len(keywords)
        texts = [self(arg) for arg in args[:first_keyword]]
        texts += [f"{name}={self(arg)}" for name, arg in zip(keywords, args[first_keyword:])]
        return "(" + ", ".join(texts) + ")"

    def of_call(self, expr):
        name, keywords, is_own = expr.data
        if not is_own and name not in PLAIN_BUILTINS:
            name += "_"
        return name.replace("math::", "math_") + self.arguments(expr.args, keywords)

    def of_method(self, expr):
        name, keywords = expr.data
        call = f"{self(expr.args[0])}.{name}{self.arguments(expr.args[1:], keywords)}"
        if name in ("index", "count", "sort", "extend"):
            return f"{name}Of({self.listed(expr.args[:2])}{self.keyword(expr)})"
        return f"list({call})" if name in VIEWS else f"limited({call})" if name in ("join", "replace") else call

    def keyword(self, expr):
        return f", {expr.data[1][0]}={self(expr.args[-1])}" if expr.data[1] and len(expr.args) > 2 else ""

    def of_isinstance(self, expr):
        return f"(type({self(expr.args[0])}) is {expr.data})"

    def of_format(self, expr):
        fields = iter(expr.args)
        parts = [
            repr(part) if isinstance(part, str) else f"format_({self(next(fields))}, {part[0]!r})" for part in expr.data
        ]
        return '"".join([' + ", ".join(parts) + "])"


# ---- Statements ----


class Lines:
    """The lines of both texts; lines with the same number correspond."""

    def __init__(self, suffix=""):
        self.ops, self.python = [], []
        self.ops_expr, self.python_expr = OpsText(suffix), PythonText()
        self.ops_depth = self.python_depth = 0

    def add(self, ops, python):
        self.ops.append("    " * self.ops_depth + ops)
        self.python.append("    " * self.python_depth + python)

    def both(self, expr):
        return self.ops_expr(expr), self.python_expr(expr)

    def bothBehindSign(self, expr):
        return self.ops_expr.behindSign(expr), self.python_expr(expr)

    def name(self, name):
        return self.ops_expr.name(name)

    def open(self, ops, python):
        self.add(ops, python)
        self.ops_depth += 1
        self.python_depth += 1

    def close(self):
        self.ops_depth -= 1
        self.ops.append("    " * self.ops_depth + "}")
        # Python needs a statement even in a block whose statements were removed.
        self.python.append("    " * self.python_depth + "pass")
        self.python_depth -= 1

    def block(self, statements):
        for statement in statements:
            getattr(self, "of_" + statement.kind)(statement)

    def of_assign(self, statement):
        name, declared = statement.data
        ops, python = self.bothBehindSign(statement.exprs[0])
        self.add(f"{self.name(name)}{': ' + typeText(declared) if declared else ''} = {ops}", f"{name} = {python}")

    def of_unpack(self, statement):
        *targets, value = statement.exprs
        self.add(
            f"{', '.join(map(self.ops_expr, targets))} = {self.ops_expr.behindSign(value)}",
            f"{', '.join(map(self.python_expr, targets))} = {self.python_expr(value)}",
        )

    def of_set(self, statement):
        target, value = statement.exprs
        self.add(
            f"{self.ops_expr(target)} = {self.ops_expr.behindSign(value)}",
            f"{self.python_expr(target)} = {self.python_expr(value)}",
        )

    def of_update(self, statement):
        """`target op= value`. [data] is (op, whether Python's own statement is used: it extends lists in place)."""
        target, value = statement.exprs
        op, is_in_place = statement.data
        (ops_target, python_target), (ops_value, python_value) = self.both(target), self.both(value)
        ops = f"{ops_target} {op}= {ops_value}"
        if is_in_place:
            self.add(ops, f"{python_target} {op}= limited({python_value})")
        elif target.kind == "variable":
            self.add(ops, f"{python_target} = update({BINARY[op][1]}, {python_target}, {python_value})")
        else:
            place = ", ".join(self.python_expr(arg) for arg in target.args)
            self.add(ops, f"updateIndex({BINARY[op][1]}, {place}, lambda: {python_value})")

    def of_expression(self, statement):
        self.add(*self.both(statement.exprs[0]))

    def of_if(self, statement):
        conditions = [self.both(e) for e in statement.exprs]
        self.open(f"if {conditions[0][0]} {{", f"if {conditions[0][1]}:")
        self.block(statement.blocks[0])
        for i, block in enumerate(statement.blocks[1:], 1):
            self.add("", "pass")
            self.ops_depth -= 1
            self.python_depth -= 1
            if i < len(conditions):
                self.open(f"}} elif {conditions[i][0]} {{", f"elif {conditions[i][1]}:")
            else:
                self.open("} else {", "else:")
            self.block(block)
        self.close()

    def of_while(self, statement):
        ops, python = self.both(statement.exprs[0])
        self.open(f"while {ops} {{", f"while tick() and {python}:")
        self.block(statement.blocks[0])
        self.close()

    def of_for(self, statement):
        """[data] are the names."""
        ops, python = self.both(statement.exprs[0])
        names = ", ".join(map(self.name, statement.data))
        self.open(f"for {names} in {ops} {{", f"for {', '.join(statement.data)} in each({python}):")
        self.block(statement.blocks[0])
        self.close()

    def of_break(self, statement):
        self.add("break", "break")

    def of_continue(self, statement):
        self.add("continue", "continue")

    def of_return(self, statement):
        ops, python = self.bothBehindSign(statement.exprs[0])
        self.add(f"return {ops}", f"return {python}")

    def of_assert(self, statement):
        ops, python = self.both(statement.exprs[0])
        self.add(f'assert {ops}, "it holds"', f"assert {python}")

    def function(self, function):
        parameters = [(self.name(n), typeText(t), n, d and self.both(d)) for n, t, d in function.parameters]
        ops = ", ".join(f"{t} {n}{'=' + d[0] if d else ''}" for n, t, _, d in parameters)
        python = ", ".join(f"{n}{'=' + d[1] if d else ''}" for _, _, n, d in parameters)
        word, space = ("op", "ops_of_tests::") if function.is_operator else ("fn", "")
        head = f"{word} {space}{self.name(function.name)}({ops}) -> {typeText(function.result)} {{"
        self.open(head, f"def {function.name}({python}):")
        self.block(function.body)
        self.close()

    def program(self, program, main="main"):
        """Returns the lines of the .ops text that runs it."""
        for name, value in program.constants:
            ops, python = self.bothBehindSign(value)
            self.add(f"const {self.name(name)} = {ops}", f"{name} = {python}")
        for function in program.functions:
            self.function(function)
        if program.at_top_level:
            self.block(program.body)
        else:
            self.function(Function(main, [], "none", program.body))
            self.add(f"{self.name(main)}()", f"{main}()")
