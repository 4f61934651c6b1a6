"""Random expressions of given types. An expression's type is exactly the type that the language infers for it."""

from containers import Containers
from pools import kEdgeFloats, kEdgeInts, kEdgeStrings, kFloats, kFormats, kInts, kParts, kStrings
from tree import Expr, dictOf, kindOf, listOf, literal, optionalOf, tupleOf, variable


class Expressions(Containers):
    def __init__(self, random):
        self.random = random
        self.environment, self.declared, self.constants = {}, {}, {}
        self.functions, self.recursive_functions, self.recursive = {}, set(), None
        self.kept_types = {}
        self.names = 0
        self.depth = 0

    # ---- Choices ----

    def one(self, options):
        return self.random.choice(options)

    def chance(self, probability):
        return self.random.random() < probability

    def weighted(self, choices):
        return self.random.choices([c for _, c in choices], [w for w, _ in choices])[0]

    def newName(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def simpleType(self):
        return self.one(["int", "int", "int", "float", "float", "bool", "str", "str"])

    def storableType(self):
        return self.weighted(
            [
                (8, lambda: self.simpleType()),
                (4, lambda: listOf(self.simpleType())),
                (1.5, lambda: listOf("any")),
                (1.5, lambda: dictOf(self.one(["int", "str"]), self.one(["int", "float", "str", "any"]))),
                (0.3, lambda: dictOf("any", "any")),
                (1.5, lambda: tupleOf(*(self.simpleType() for _ in range(self.random.randint(1, 3))))),
                (0.7, lambda: listOf(listOf(self.one(["int", "str"])))),
                (0.5, lambda: listOf(tupleOf("int", "str"))),
                (0.3, lambda: "complex"),
            ]
        )()

    def argumentType(self):
        return self.weighted(
            [
                (10, lambda: self.simpleType()),
                (2, lambda: listOf(self.simpleType())),
                (1, lambda: "any"),
                (1, lambda: optionalOf(self.simpleType())),
                (1, lambda: dictOf("str", "int")),
                (1, lambda: tupleOf("int", "str")),
                (0.5, lambda: listOf("any")),
            ]
        )()

    def typeOfName(self, name):
        return self.environment.get(name, self.constants.get(name))

    def namesOf(self, type_):
        return [n for n, t in [*self.constants.items(), *self.environment.items()] if t == type_]

    def isOrdered(self, type_):
        kind = kindOf(type_)
        if kind in ("list", "tuple"):
            return all(map(self.isOrdered, type_[1:]))
        return kind in ("int", "float", "bool", "str", "scalar", "any")

    # ---- Values ----

    def value(self, depth):
        """Returns an expression of any type."""
        choices = [
            (10, lambda: self.make(self.simpleType(), depth)),
            (3, lambda: self.make(self.storableType(), depth)),
            (1, lambda: literal(None)),
            (1, lambda: self.make("any", depth)),
            (0.5, lambda: self.make("scalar", depth)),
            (0.5, lambda: self.make(optionalOf(self.simpleType()), depth)),
            (0.5, lambda: self.anyComparison(depth)),
        ]
        names = [*self.environment, *self.constants]
        if names:
            choices.append((4, lambda: (lambda n: variable(n, self.typeOfName(n)))(self.one(names))))
        return self.weighted(choices)()

    def make(self, type_, depth):
        """Returns an expression of [type_]; if that is Any, the inferred type is not narrower."""
        names = self.namesOf(type_)
        if names and self.chance(0.35 if depth > 0 else 0.6):
            return variable(self.one(names), type_)
        kind = kindOf(type_)
        if depth > 0 and self.chance(0.12):
            made = self.general(type_, depth - 1)
            if made is not None:
                return made
        maker = {
            "int": self.makeInt,
            "float": self.makeFloat,
            "bool": self.makeBool,
            "str": self.makeStr,
            "any": self.makeAny,
            "scalar": self.makeScalar,
            "complex": self.makeComplex,
        }.get(kind)
        made = maker(depth) if maker else getattr(self, "make" + kind.capitalize())(type_, depth)
        made.style = self.chance(0.08)
        return made

    def literalOf(self, type_):
        edge = self.chance(0.12)
        if type_ == "int":
            return literal(self.one(kEdgeInts if edge else kInts))
        if type_ == "float":
            return literal(self.one(kEdgeFloats if edge else kFloats))
        if type_ == "bool":
            return literal(self.chance(0.5))
        return literal(self.one(kEdgeStrings if edge else kStrings))

    def general(self, type_, depth):
        """Returns an expression of a kind that exists for all types: a conditional, a function call, an element."""
        choices = [self.conditional]
        for name, (_, result, _) in self.functions.items():
            if result == type_:
                choices += [lambda t, d, n=name: self.callFunction(n, d)] * 2
        kind = kindOf(type_)
        if kind not in ("none", "opt", "any", "scalar"):
            choices += [self.elementOfList, self.elementOfDict, self.elementOfTuple]
        if kind not in ("none", "opt", "any", "scalar", "complex"):
            choices.append(self.poppedOrGotten)
        return self.one(choices)(type_, depth)

    def conditional(self, type_, depth):
        return Expr("conditional", type_, [self.make(type_, depth), self.make("bool", depth), self.make(type_, depth)])

    def callFunction(self, name, depth):
        parameters, result, is_operator = self.functions[name]
        args = []
        for i, (_, type_, default) in enumerate(parameters):
            if i == 0 and self.recursive and self.recursive[0] == name:
                args.append(Expr("binary", "int", [variable(self.recursive[1], "int"), literal(1)], "-"))
            elif i == 0 and name in self.recursive_functions:
                args.append(literal(self.random.randint(0, 5)))
            elif default is not None and self.chance(0.5):
                break
            else:
                args.append(self.value(depth) if type_ == "any" else self.make(type_, depth))
        keywords = ()
        if len(args) > 1 and self.chance(0.15):  # the last ones by name, in any order
            first = self.random.randint(1, len(args) - 1)
            named = list(zip((p[0] for p in parameters[first:]), args[first:]))
            self.random.shuffle(named)
            keywords, args = tuple(n for n, _ in named), args[:first] + [a for _, a in named]
        return Expr("call", result, args, (name, keywords, "op" if is_operator else "fn"))

    def index(self):
        if self.chance(0.85):
            return literal(self.one([0] * 8 + [-1] * 5 + [1, 1, 2, -2, True]))
        return Expr("binary", "int", [self.make("int", 1), literal(self.one([2, 3]))], "%")

    def elementOfList(self, type_, depth):
        made = self.listLiteral(type_, depth) if self.chance(0.6) else self.make(listOf(type_), depth)
        return Expr("index", type_, [made, self.index()])

    def key(self, type_):
        """Returns a key that most dicts with this key type contain."""
        if self.chance(0.1):
            return self.make(type_, 0)
        return literal({"int": 0, "str": "a"}[type_])

    def elementOfDict(self, type_, depth):
        key = self.one(["int", "str"])
        return Expr("index", type_, [self.make(dictOf(key, type_), depth), self.key(key)])

    def elementOfTuple(self, type_, depth):
        types = [self.simpleType() for _ in range(self.random.randint(1, 3))]
        place = self.random.randrange(len(types))
        types[place] = type_
        chosen = place - len(types) if self.chance(0.3) else place
        return Expr("index", type_, [self.make(tupleOf(*types), depth), literal(chosen)])

    def poppedOrGotten(self, type_, depth):
        if self.chance(0.4):
            made = self.listLiteral(type_, depth) if self.chance(0.5) else self.make(listOf(type_), depth)
            return Expr("method", type_, [made] + ([self.index()] if self.chance(0.4) else []), ("pop", ()))
        key = self.one(["int", "str"])
        args = [self.make(dictOf(key, type_), depth), self.make(key, 0), self.make(type_, depth)]
        return Expr("method", type_, args, (self.one(["get", "get", "pop"]), ()))

    def builtin(self, type_, name, *args, keywords=()):
        return Expr("call", type_, args, (name, keywords, False))

    def method(self, type_, name, *args, keywords=()):
        return Expr("method", type_, args, (name, keywords))

    def binary(self, type_, op, a, b):
        return Expr("binary", type_, [a, b], op)

    # ---- Numbers ----

    def makeInt(self, depth):
        if depth <= 0:
            return self.literalOf("int")
        d = depth - 1
        return self.weighted(
            [
                (3, lambda: self.literalOf("int")),
                (8, lambda: self.intArithmetic(d)),
                (1, lambda: Expr("unary", "int", [self.make(self.one(["int", "int", "bool"]), d)], self.one("--~+"))),
                (2, lambda: self.builtin("int", "len", self.sized(d))),
                (1, lambda: self.builtin("int", "int", self.make(self.one(["float", "bool", "int"]), d))),
                (
                    0.3,
                    lambda: self.builtin(
                        "int",
                        "int",
                        literal(self.one(["12", "-3", " 42 ", "1_000", "+5", "007", "-0"] * 3 + ["x", "1.5", ""])),
                    ),
                ),
                (0.5, lambda: self.builtin("int", "ord", literal(self.one("aZé日😀 \n")))),
                (1, lambda: self.builtin("int", "abs", self.make(self.one(["int", "bool"]), d))),
                (
                    1,
                    lambda: self.builtin(
                        "int",
                        self.one(["min", "max"]),
                        *(self.make("int", d) for _ in range(self.random.randint(2, 3))),
                    ),
                ),
                (0.4, lambda: self.builtin("int", self.one(["min", "max"]), self.make(listOf("int"), d))),
                (
                    1,
                    lambda: self.builtin(
                        "int",
                        "sum",
                        self.make(listOf(self.one(["int", "bool"])), d),
                        *([self.make("int", 0)] if self.chance(0.2) else []),
                    ),
                ),
                (0.7, lambda: self.builtin("int", "round", self.make("float", d))),
                (0.5, lambda: self.builtin("int", "round", self.make("int", d), literal(self.one([0, 1, -1, -2, -3])))),
                (0.5, lambda: self.builtin("int", self.one(["math::floor", "math::ceil"]), self.make("float", d))),
                (0.7, lambda: self.method("int", "find", self.make("str", d), literal(self.one(kParts)))),
                (0.7, lambda: self.countOrIndex(d)),
            ]
        )()

    def countOrIndex(self, depth):
        element = self.simpleType()
        return self.method(
            "int", self.one(["count"] * 6 + ["index"]), self.make(listOf(element), depth), self.make(element, 0)
        )

    def safeIntOperand(self, depth):
        """Returns an operator on ints and its right operand, which rarely causes an error."""
        op = self.one(["+", "+", "-", "-", "*", "*", "//", "%", "&", "|", "^", "<<", ">>", "**"])
        if op in ("//", "%"):
            right = literal(self.one([1, 2, 3, 5, 7, -2, -3, 10])) if self.chance(0.94) else self.make("int", depth)
        elif op in ("<<", ">>"):
            right = literal(self.one([0, 1, 3, 8, 31, 63, 64, 70])) if self.chance(0.97) else self.make("int", depth)
        elif op == "**":
            right = literal(self.one([0, 1, 2, 3, 5, 20])) if self.chance(0.98) else self.make("int", depth)
        else:
            right = self.make("int", depth)
        return op, right

    def intArithmetic(self, depth):
        op, right = self.safeIntOperand(depth)
        left = self.make("int", depth)
        if op not in "&|^" and self.chance(0.07):
            left = self.make("bool", depth)
        return self.binary("int", op, left, right)

    def makeFloat(self, depth):
        if depth <= 0:
            return self.literalOf("float")
        d = depth - 1
        return self.weighted(
            [
                (3, lambda: self.literalOf("float")),
                (7, lambda: self.floatArithmetic(d)),
                (1, lambda: Expr("unary", "float", [self.make("float", d)], self.one("--+"))),
                (1, lambda: self.builtin("float", "float", self.make(self.one(["int", "bool", "float"]), d))),
                (
                    0.3,
                    lambda: self.builtin(
                        "float",
                        "float",
                        literal(
                            self.one(
                                ["1.5", " -2e3 ", "\u30001.5\u2003", "inf", "nan", "1_0.5", "1e400", ".5", "Infinity", "-0", "+2.", "x"]
                            )
                        ),
                    ),
                ),
                (1, lambda: self.builtin("float", "abs", self.make("float", d))),
                (
                    1,
                    lambda: self.builtin(
                        "float", self.one(["min", "max"]), self.make("float", d), self.make("float", d)
                    ),
                ),
                (0.4, lambda: self.builtin("float", self.one(["min", "max"]), self.make(listOf("float"), d))),
                (
                    1,
                    lambda: self.builtin(
                        "float", "sum", Expr("list", listOf("float"), [self.make("float", d) for _ in range(2)])
                    ),
                ),
                (
                    1,
                    lambda: self.builtin(
                        "float", "round", self.make("float", d), literal(self.one([0, 1, 2, 3, 5, -1, -2]))
                    ),
                ),
                (
                    0.5,
                    lambda: self.builtin(
                        "float",
                        "math::sqrt",
                        (
                            self.builtin("float", "abs", self.make("float", d))
                            if self.chance(0.8)
                            else self.make("float", d)
                        ),
                    ),
                ),
                (0.3, lambda: self.mathFunction(d)),
                (0.1, lambda: self.builtin("float", "abs", self.makeComplex(d))),
            ]
        )()

    def mathFunction(self, depth):
        # Math libraries differ in the last digits.
        name = "math::" + self.one(["exp", "log", "sin", "cos", "tan", "tanh"])
        argument = (
            self.binary("float", "%", self.make("float", depth), literal(4.0))
            if self.chance(0.8)
            else self.make("float", depth)
        )
        return self.builtin("float", "round", self.builtin("float", name, argument), literal(6))

    def floatArithmetic(self, depth):
        kind = self.random.random()
        if kind < 0.25:
            return self.binary("float", "/", self.make("int", depth), self.nonzero("int", depth))
        types = self.one(
            [("float", "float"), ("float", "float"), ("int", "float"), ("float", "int"), ("bool", "float")]
        )
        op = self.one(["+", "+", "-", "-", "*", "*", "/", "//", "%", "**"])
        if op == "**":
            return self.binary(
                "float", op, self.make("float", depth), literal(self.one([0, 1, 2, 3, 1, 2, 0.5, -1.0, 2.0]))
            )
        right = self.nonzero(types[1], depth) if op in ("/", "//", "%") else self.make(types[1], depth)
        return self.binary("float", op, self.make(types[0], depth), right)

    def nonzero(self, type_, depth):
        if self.chance(0.06) or type_ == "bool":
            return self.make(type_, depth)
        return literal(
            self.one([1, 2, 3, 7, -2, 10, 1000, 2**53 + 1] if type_ == "int" else [0.5, 2.0, -1.5, 3.0, 1e-3, 0.1])
        )

    def makeComplex(self, depth):
        # Small integral parts, so that products are exact however they are computed.
        imaginary = Expr("literal", "complex", data=complex(0, self.random.randint(1, 4)))
        number = self.binary("complex", self.one("+-*"), literal(self.random.randint(0, 4)), imaginary)
        return self.binary("complex", "**", number, literal(self.random.randint(0, 4))) if self.chance(0.2) else number

    def makeScalar(self, depth):
        numbers = [self.make("int", depth - 1), self.make("float", depth - 1)]
        self.random.shuffle(numbers)
        made = self.builtin("scalar", self.one(["min", "max"]), *numbers)
        if depth > 0 and self.chance(0.5):
            made = self.binary(
                "scalar", self.one(["+", "-", "*", "//", "%"]), made, self.make(self.one(["int", "float"]), depth - 1)
            )
        return made

    def makeAny(self, depth):
        d = depth - 1
        if depth > 0 and self.chance(0.4):
            left, right = self.anyNumber(d), self.one(
                [self.nonzero("int", d), self.make("float", d), self.anyNumber(d)]
            )
            if self.chance(0.3):
                left, right = right, left
            return self.binary("any", self.one(["+", "+", "*", "-", "//", "%", "/"]), left, right)
        if depth > 0 and self.chance(0.1):
            return self.builtin("any", "abs", self.anyNumber(d))
        if depth > 0 and self.chance(0.1):
            numbers = [self.make("int", d), self.make("float", d), self.anyNumber(d)]
            return self.builtin("any", "sum", Expr("list", listOf("any"), numbers))
        if depth > 0 and self.chance(0.2):
            return Expr("index", "any", [self.make(dictOf("str", "any"), d), self.key("str")])
        if depth > 0 and self.chance(0.3):
            return self.conditionalOfAny(d)
        return Expr("index", "any", [self.make(listOf("any"), d), self.index()])

    def conditionalOfAny(self, depth):
        pair = self.one([("int", "str"), ("float", "int"), ("bool", "str"), ("str", "float")])
        return Expr(
            "conditional", "any", [self.make(pair[0], depth), self.make("bool", depth), self.make(pair[1], depth)]
        )

    def anyNumber(self, depth):
        if self.chance(0.08):
            return self.make("any", depth)
        pair = self.one([("int", "float"), ("float", "int"), ("bool", "int"), ("bool", "float")])
        values = [self.make(pair[0], depth), self.make(pair[1], depth)]
        if self.chance(0.5):
            return Expr("index", "any", [Expr("list", listOf("any"), values), literal(self.one([0, 1]))])
        return Expr("conditional", "any", [values[0], self.make("bool", depth), values[1]])

    # ---- Conditions ----

    def makeBool(self, depth):
        if depth <= 0:
            return self.literalOf("bool")
        d = depth - 1
        return self.weighted(
            [
                (1, lambda: self.literalOf("bool")),
                (8, lambda: self.comparison(d)),
                (2, lambda: self.chain(d)),
                (
                    2,
                    lambda: Expr(
                        "logical", "bool", [self.truth(d) for _ in range(self.one([2, 2, 3]))], self.one(["and", "or"])
                    ),
                ),
                (1.5, lambda: Expr("unary", "bool", [self.truth(d)], "not")),
                (2, lambda: self.membership(d)),
                (1, lambda: self.noneTest(d)),
                (0.5, lambda: self.identity(d)),
                (1, lambda: self.builtin("bool", "bool", self.value(d))),
                (
                    1,
                    lambda: self.method(
                        "bool", self.one(["startswith", "endswith"]), self.make("str", d), literal(self.one(kParts))
                    ),
                ),
                (1, lambda: self.builtin("bool", self.one(["any", "all"]), self.make(listOf(self.simpleType()), d))),
                (0.7, lambda: self.binary("bool", self.one("&|^"), self.make("bool", d), self.make("bool", d))),
                (
                    0.7,
                    lambda: Expr(
                        "isinstance",
                        "bool",
                        [self.unnamed(self.make("any", d))],
                        self.one(["int", "str", "float", "bool"]),
                    ),
                ),
            ]
        )()

    def truth(self, depth):
        return self.make("bool", depth) if self.chance(0.7) else self.value(depth)

    def comparison(self, depth):
        op = self.one(["==", "!=", "<", "<=", ">", ">="])
        if self.chance(0.6):
            a, b = (self.one(["int", "float", "int", "bool"]) for _ in range(2))
            return Expr("compare", "bool", [self.make(a, depth), self.make(b, depth)], [op])
        if op in ("==", "!=") and self.chance(0.3):
            a, b = self.make(self.storableType(), depth), self.make(self.storableType(), depth)
            return Expr("compare", "bool", [a, b], [op])
        type_ = self.weighted(
            [
                (5, "str"),
                (1, listOf("int")),
                (1, listOf("str")),
                (1, tupleOf("int", "str")),
                (1, tupleOf("float", "bool")),
            ]
        )
        return Expr("compare", "bool", [self.make(type_, depth), self.make(type_, depth)], [op])

    def anyComparison(self, depth):
        """Returns a comparison of Any with a number or Any. It might be a Tensor, so only the run knows its type."""
        ops = ["==", "!="] if self.chance(0.7) else ["<", ">", "<=", ">="]
        return Expr(
            "compare",
            "any",
            [self.make("any", depth), self.make(self.one(["any", "int", "float"]), depth)],
            [self.one(ops)],
        )

    def chain(self, depth):
        type_ = self.one(["int", "int", "float", "str"])
        count = self.one([2, 2, 3])
        return Expr(
            "compare",
            "bool",
            [self.make(type_, depth) for _ in range(count + 1)],
            [self.one(["<", "<=", "==", "!=", ">", ">="]) for _ in range(count)],
        )

    def membership(self, depth):
        op = self.one(["in", "in", "not in"])
        if self.chance(0.4):
            return Expr("compare", "bool", [literal(self.one(kParts)), self.make("str", depth)], [op])
        element = self.simpleType()
        container = self.one(
            [listOf(element), dictOf(self.one(["int", "str"]), "int"), tupleOf(element, "int"), listOf("any")]
        )
        return Expr("compare", "bool", [self.make(element, depth), self.make(container, depth)], [op])

    def identity(self, depth):
        """Returns an identity test of lists, which are identical only if one name was assigned the other's list."""
        names = [n for n, t in [*self.environment.items(), *self.constants.items()] if kindOf(t) == "list"]
        if not names:
            return self.noneTest(depth)
        a, b = (self.one(names) for _ in range(2))
        return Expr(
            "compare",
            "bool",
            [variable(a, self.typeOfName(a)), variable(b, self.typeOfName(b))],
            [self.one(["is", "is not"])],
        )

    def noneTest(self, depth):
        value = self.make(optionalOf(self.simpleType()), depth) if self.chance(0.7) else self.value(depth)
        return Expr("compare", "bool", [self.unnamed(value), literal(None)], [self.one(["is", "is not"])])

    def unnamed(self, value):
        """Returns [value] in a form that is not a name: only statements track what a test tells about a name's type."""
        if value.kind != "variable" or value.type == "none":
            return value
        return Expr("index", value.type, [Expr("list", listOf(value.type), [value]), literal(0)])

    # ---- Text ----

    def makeStr(self, depth):
        if depth <= 0:
            return self.literalOf("str")
        d = depth - 1
        return self.weighted(
            [
                (3, lambda: self.literalOf("str")),
                (3, lambda: self.binary("str", "+", self.make("str", d), self.make("str", d))),
                (1, lambda: self.binary("str", "*", self.make("str", d), literal(self.one([0, 1, 2, 3, -1, True])))),
                (0.3, lambda: self.binary("str", "*", literal(self.one([0, 2, 3])), self.make("str", d))),
                (2, lambda: self.builtin("str", "str", self.value(d))),
                (4, lambda: self.formatted(d)),
                (
                    0.6,
                    lambda: Expr(
                        "index",
                        "str",
                        [self.make("str", d) if self.chance(0.2) else literal(self.one(kStrings[4:])), self.index()],
                    ),
                ),
                (1.5, lambda: self.sliced("str", d)),
                (1.5, lambda: self.method("str", self.one(["upper", "lower"]), self.make("str", d))),
                (
                    1,
                    lambda: self.method(
                        "str",
                        "strip",
                        self.make("str", d),
                        *([literal(self.one(["a", "ab ", "éx", ""]))] if self.chance(0.4) else []),
                    ),
                ),
                (
                    1,
                    lambda: self.method(
                        "str", "replace", self.make("str", d), literal(self.one(kParts)), self.make("str", 0)
                    ),
                ),
                (
                    1,
                    lambda: self.method(
                        "str", "join", self.make("str", 0), self.make(self.one([listOf("str"), "str"]), d)
                    ),
                ),
                (
                    0.5,
                    lambda: self.builtin(
                        "str",
                        "chr",
                        literal(self.one([65, 97, 233, 0x3B1, 0x65E5, 0x1F600, 10, 39, 0] * 4 + [-1, 0x110000])),
                    ),
                ),
                (0.5, lambda: self.builtin("str", self.one(["min", "max"]), self.make(listOf("str"), d))),
            ]
        )()

    def formatted(self, depth):
        data, args = [], []
        for _ in range(self.random.randint(1, 3)):
            if self.chance(0.6):
                data.append(self.one(["x=", " ", "{", "é", "|", "}"]))
            if self.chance(0.6):
                type_ = self.one(list(kFormats))
                spec = self.one(kFormats[type_])
            else:
                type_, spec = None, ""
            args.append(self.inField(self.make(type_, depth) if type_ else self.value(depth)))
            data.append((spec,))
        return Expr("format", "str", args, data)

    def inField(self, expr):
        """Returns [expr] or a literal that may be in a field: neither older Pythons nor the language allow quotes and
        backslashes there."""

        def isPlain(e):
            if e.kind == "format":
                return False
            if e.kind == "literal" and isinstance(e.data, str) and any(c in e.data for c in "'\"\\{}#\n\t\r\x00\x7f"):
                return False
            return all(map(isPlain, e.args))

        return expr if isPlain(expr) else self.literalWithin(expr.type)

    def literalWithin(self, type_):
        return literal({"int": 7, "float": 2.5, "bool": True}.get(type_, "plain"))
