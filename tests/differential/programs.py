"""Random programs that follow the language's typing rules, so that it accepts all of them: `makeProgram(seed)`."""

import random

from expressions import Expressions
from tree import Expr, Function, Program, Stmt, joinTypes, kindOf, listOf, literal, optionalOf, tupleOf, variable

kMaxReprints = 8


def call(name, *args):
    return Expr("call", "none", args, (name, (), False))


def isNone(name, is_none=True):
    return Expr("compare", "bool", [variable(name, "none"), literal(None)], ["is" if is_none else "is not"])


class Programs(Expressions):
    """Statements. Tracks the types of names as the language does: types are joined where paths meet."""

    def __init__(self, seed):
        super().__init__(random.Random(seed))
        self.result = None  # result type of the function being made; None in the script
        self.loops = 0  # number of loops around the statement
        self.kept = [set()]  # names whose types must stay, by loop
        self.fixed = set()  # counters, which only the loop sets
        self.mode = self.random.random()

    def program(self):
        constants = []
        for _ in range(self.one([0, 0, 0, 1, 2])):
            name, type_ = self.newName("k"), self.storableType()
            constants.append((name, self.make(type_, 1)))
            self.constants[name] = constants[-1][1].type
        functions = [self.sayer(t) for t in self.random.sample(["int", "str", "bool", "float"], self.one([0, 1, 1, 2]))]
        for _ in range(self.one([0, 0, 1, 1, 2])):
            functions.append(self.function())
        self.environment, self.declared = {}, {}
        body = self.block(self.random.randint(3, 9))
        body += self.reprints()
        return Program(constants, functions, body, self.random.random() < 0.4)

    # ---- Functions ----

    def sayer(self, type_):
        """Returns a function that prints when it is called, to test the order of evaluation."""
        name = f"say_{type_}"
        is_operator = self.chance(0.2)
        self.functions[name] = ([("x", type_, None)], type_, is_operator)
        body = [
            Stmt("expression", [call("print", literal("say"), variable("x", type_))]),
            Stmt("return", [variable("x", type_)]),
        ]
        return Function(name, [("x", type_, None)], type_, body, is_operator)

    def function(self):
        is_recursive, is_operator = self.chance(0.35), self.chance(0.2)
        types = ["int"] if is_recursive else []
        types += [self.argumentType() for _ in range(self.random.randint(0 if is_recursive else 1, 3))]
        name, result = self.newName("f"), self.argumentType()
        parameters = [(self.newName("a"), type_, None) for type_ in types]
        if not is_recursive and self.chance(0.3) and types[-1] in ("int", "float", "str", "bool"):
            defaults = {"int": 3, "float": 2.5, "str": "by default", "bool": True}  # schemas have no inf and no Unicode
            parameters[-1] = parameters[-1][:2] + (literal(defaults[types[-1]]),)
        self.environment = {name_: type_ for name_, type_, _ in parameters}
        self.declared = {}
        self.result = result
        body = []
        if is_recursive:
            counter = parameters[0][0]
            self.fixed.add(counter)
            stop = Expr("compare", "bool", [variable(counter, "int"), literal(0)], ["<="])
            body.append(Stmt("if", [stop], [[Stmt("return", [self.make(result, 1)])]]))
            self.functions[name] = (parameters, result, is_operator)
            self.recursive = (name, counter)
        body += self.block(self.random.randint(0, 4))
        if is_recursive:
            inner = self.callFunction(name, 1)
            kept = self.newName("v")
            body.append(Stmt("assign", [inner], data=(kept, None)))
            self.environment[kept] = result
        body.append(Stmt("return", [self.make(result, 2)]))
        self.recursive = None
        self.functions[name] = (parameters, result, is_operator)
        self.recursive_functions.update([name] if is_recursive else [])
        self.result = None
        self.fixed.clear()
        return Function(name, parameters, result, body, is_operator)

    # ---- Blocks ----

    def block(self, count):
        statements = []
        for _ in range(count):
            statements += self.statement()
        return statements

    def branch(self, count, facts=()):
        """Returns a block with its own types: (statements, the types at its end)."""
        before = dict(self.environment)
        self.environment.update(facts)
        statements = self.block(count)
        after, self.environment = self.environment, before
        return statements, after

    def meet(self, ends):
        """Joins the types at the ends of paths: only names that are set on all paths are known afterwards."""
        names = set.intersection(*(set(end) for end in ends))
        self.environment = {name: type_ for name, type_ in self.environment.items() if name in names}
        for name in sorted(names):
            type_ = ends[0][name]
            for end in ends[1:]:
                type_ = joinTypes(type_, end[name])
            self.environment[name] = type_

    def reprints(self):
        names = [name for name in self.environment if self.chance(0.8)]
        return [
            Stmt("expression", [call("print", literal(name), variable(name, self.environment[name]))])
            for name in names[-kMaxReprints:]
        ]

    def statement(self):
        choices = [
            (6, self.printing),
            (6, self.assignment),
            (3, self.reassignment),
            (4, self.updating),
            (2, self.setting),
            (3, self.unpacking),
            (4, self.changing),
            (0.3, self.asserting),
            (1, self.noneable),
            (1, self.mixing),
        ]
        if self.depth < 3:
            choices += [(3, self.ifStatement), (2.5, self.forStatement), (1.2, self.whileStatement)]
        if self.loops > 0:
            choices.append((1, self.leaving))
        if self.result is not None:
            choices.append((0.5, self.returning))
        return self.weighted(choices)()

    # ---- Simple statements ----

    def printing(self):
        values = [self.value(self.random.randint(1, 3)) for _ in range(self.one([1, 1, 2, 3]))]
        keywords, extra = (), []
        if self.chance(0.1):
            keywords, extra = ("sep",), [self.make("str", 0)]
        if self.chance(0.1):
            keywords, extra = keywords + ("end",), extra + [literal(self.one(["|\n", "", "é\n"]))]
        return [Stmt("expression", [Expr("call", "none", values + extra, ("print", keywords, False))])]

    def assignment(self):
        name = self.newName("v")
        if self.chance(0.15):
            declared = self.one(["any", "any", optionalOf(self.simpleType()), listOf("any"), self.storableType()])
            if kindOf(declared) == "opt":
                value = self.one([literal(None), self.make(declared[1], 1)])
            else:
                value = self.value(2) if declared == "any" else self.make(declared, 2)
            if kindOf(declared) == "list" and self.chance(0.3):
                value = Expr("list", listOf("any"))
            self.declared[name] = declared
            self.environment[name] = declared
            return [Stmt("assign", [value], data=(name, declared))]
        value = self.make(self.storableType(), 3) if self.chance(0.7) else self.value(2)
        self.environment[name] = value.type
        return [Stmt("assign", [value], data=(name, None))]

    def settable(self):
        return [name for name in self.environment if name not in self.fixed]

    def valueFor(self, name, depth):
        """Returns a value that may be assigned to the name here."""
        if name in self.declared:
            declared = self.declared[name]
            if kindOf(declared) == "opt":
                return literal(None) if self.chance(0.3) else self.make(declared[1], depth)
            return self.value(depth) if declared == "any" else self.make(declared, depth)
        if any(name in kept for kept in self.kept):
            type_ = self.kept_types[name]
            if kindOf(type_) == "opt":
                return literal(None) if self.chance(0.3) else self.make(type_[1], depth)
            return self.make(type_, depth)
        return self.value(depth)

    def set_(self, name, value):
        self.environment[name] = self.declared.get(name, value.type)
        return [Stmt("assign", [value], data=(name, None))]

    def reassignment(self):
        names = self.settable()
        if not names:
            return self.assignment()
        name = self.one(names)
        return self.set_(name, self.valueFor(name, 3))

    def updating(self):
        names = [
            n
            for n in self.settable()
            if self.environment[n] in ("int", "float", "str", "any", "bool") or kindOf(self.environment[n]) == "list"
        ]
        if not names:
            return self.assignment()
        name = self.one(names)
        type_ = self.environment[name]
        target = variable(name, type_)
        if kindOf(type_) != "list" and name in self.declared:
            # It has its declared type again, whatever narrower type was known.
            if type_ != self.declared[name]:
                return self.reassignment()
        if kindOf(type_) == "list":
            op, value = "+", self.make(type_, 2)
            if type_[1] == "any":
                value = self.make(self.one([listOf("any"), "str", listOf("int")]), 1)
            return [Stmt("update", [target, value], data=(op, True))]
        if type_ == "bool":
            return [Stmt("update", [target, self.make("bool", 2)], data=(self.one("&|^"), False))]
        if type_ == "str":
            return [Stmt("update", [target, self.make("str", 1)], data=("+", False))]
        if type_ == "any":
            if any(name in kept for kept in self.kept) and self.kept_types[name] != "any":
                return self.assignment()
            if self.chance(0.7):
                return self.reassignment()
            op = self.one(["+", "+", "*"])
            return [Stmt("update", [target, self.make(self.one(["int", "any", "str", "float"]), 1)], data=(op, False))]
        if type_ == "float":
            return [
                Stmt(
                    "update",
                    [target, self.make(self.one(["int", "float"]), 2)],
                    data=(self.one(["+", "-", "*", "+"]), False),
                )
            ]
        op, value = self.safeIntOperand(2)
        return [Stmt("update", [target, value], data=(op, False))]

    def places(self):
        return [
            name
            for name, type_ in [*self.environment.items(), *self.constants.items()]
            if kindOf(type_) in ("list", "dict")
        ]

    def place(self, name):
        """Returns an element of a list or dict: an index expression."""
        type_ = self.typeOfName(name)
        if kindOf(type_) == "dict":
            return Expr(
                "index", type_[2], [variable(name, type_), self.key(type_[1]) if type_[1] != "any" else literal(1)]
            )
        return Expr("index", type_[1], [variable(name, type_), self.index()])

    def elementFor(self, type_, depth):
        if kindOf(type_) == "opt":
            return literal(None) if self.chance(0.3) else self.make(type_[1], depth)
        return self.value(depth) if type_ == "any" else self.make(type_, depth)

    def setting(self):
        names = self.places()
        if not names:
            return self.assignment()
        target = self.place(self.one(names))
        if self.chance(0.4) and target.type in ("int", "float", "str"):
            return [Stmt("update", [target, self.make(target.type, 2)], data=("+", False))]
        return [Stmt("set", [target, self.elementFor(target.type, 2)])]

    def unpacking(self):
        count = self.one([2, 2, 2, 3])
        old = [n for n in self.settable() if n not in self.declared and not any(n in kept for kept in self.kept)]
        is_swap = self.chance(0.35) and len(old) >= count
        if is_swap:  # a, b = b, a
            names = self.random.sample(old, count)
            sources = names[1:] + names[:1]
            values = [variable(n, self.environment[n]) for n in sources]
            value = Expr("tuple", tupleOf(*(v.type for v in values)), values)
        else:
            names = [self.newName("v") for _ in range(count)]
            kind = self.random.random()
            if kind < 0.6:
                value = self.makeTuple(tupleOf(*(self.storableType() for _ in range(count))), 2)
            elif kind < 0.9:
                element = self.simpleType()
                value = Expr(
                    "list", listOf(element), [self.make(element, 1) for _ in range(count if self.chance(0.9) else 2)]
                )
            else:
                value = self.make("str", 0) if self.chance(0.5) else literal("é日x"[:count])
        types = (
            list(value.type[1:])
            if kindOf(value.type) == "tuple"
            else [value.type[1] if kindOf(value.type) == "list" else "str"] * count
        )
        targets = [variable(n, t) for n, t in zip(names, types)]
        for i, type_ in enumerate(types):
            # Uses only names that are not set here.
            lists = [] if is_swap else self.namesOf(listOf(type_))
            if lists and self.chance(0.3):
                targets[i] = self.place(self.one(lists))
        self.environment.update((target.data, target.type) for target in targets if target.kind == "variable")
        return [Stmt("unpack", [*targets, value])]

    def changing(self):
        """Returns a call of a method that changes a list or dict."""
        names = self.places()
        if not names:
            return self.assignment()
        name = self.one(names)
        type_ = self.typeOfName(name)
        target = variable(name, type_)

        def method(method_name, *args, keywords=()):
            return [Stmt("expression", [Expr("method", "none", [target, *args], (method_name, keywords))])]

        if kindOf(type_) == "dict":
            if self.chance(0.5):
                return method("update", self.make(type_, 2))
            key = literal("a") if type_[1] == "any" else self.make(type_[1], 0)
            return method("pop", key, *([self.make(type_[2], 1)] if type_[2] != "any" and self.chance(0.9) else []))
        choice = self.one(["append"] * 8 + ["extend", "insert", "sort", "reverse"] * 2 + ["pop"])
        if choice == "append":
            return method("append", self.elementFor(type_[1], 2))
        if choice == "extend":
            return method("extend", self.make(type_, 1))
        if choice == "insert":
            return method("insert", self.make("int", 0), self.elementFor(type_[1], 2))
        if choice == "pop":
            return method("pop", *([self.index()] if self.chance(0.4) else []))
        if choice == "sort":
            if not self.isOrdered(type_[1]) or (type_[1] == "any" and self.chance(0.8)):
                return method("reverse")
            return method("sort", literal(True), keywords=("reverse",)) if self.chance(0.4) else method("sort")
        return method(choice)

    def asserting(self):
        condition = self.make("bool", 2)
        if self.chance(0.9):
            condition = Expr("logical", "bool", [condition, literal(True)], "or")
        return [Stmt("assert", [condition])]

    def mixing(self):
        """Returns statements that make a list of values of mixed types, and take one of them."""
        name, element = self.newName("v"), self.newName("v")
        value = self.make(listOf("any"), 2)
        self.environment[name] = value.type
        self.environment[element] = "any"
        return [
            Stmt("assign", [value], data=(name, None)),
            Stmt("assign", [Expr("index", "any", [variable(name, value.type), self.index()])], data=(element, None)),
        ]

    # ---- Values that may be None, or whose type is only known at run time ----

    def noneable(self):
        name, type_ = self.newName("v"), self.simpleType()
        value, otherwise = self.make(type_, 2), literal(None)
        if self.chance(0.5):
            value, otherwise = otherwise, value
        maybe = Expr("conditional", optionalOf(type_), [value, self.make("bool", 2), otherwise])
        self.environment[name] = maybe.type
        return [Stmt("assign", [maybe], data=(name, None))]

    def condition(self):
        """Returns a condition, and what is known if it holds and if it does not."""
        narrowable = [n for n, t in self.environment.items() if kindOf(t) == "opt" or t == "any"]
        if narrowable and self.chance(0.6):
            name = self.one(narrowable)
            type_ = self.environment[name]
            if kindOf(type_) == "opt":
                facts = {name: "none"}, {name: type_[1]}
                if self.chance(0.5):
                    return isNone(name), *facts
                if self.chance(0.3):
                    test = isNone(name, False)
                    before, self.environment = self.environment, {**self.environment, name: type_[1]}
                    both = Expr("logical", "bool", [test, self.make("bool", 2)], "and")
                    self.environment = before
                    return both, facts[1], {}
                return isNone(name, False), facts[1], facts[0]
            tested = self.one(["int", "str", "float", "bool"])
            return Expr("isinstance", "bool", [variable(name, "any")], tested), {name: tested}, {}
        value = self.make("bool", 3) if self.chance(0.8) else self.value(1)
        return value, {}, {}

    # ---- Statements with blocks ----

    def ifStatement(self):
        self.depth += 1
        conditions, blocks, ends = [], [], []
        before = dict(self.environment)
        for _ in range(self.one([1, 1, 1, 2])):
            condition, if_true, if_false = self.condition()
            statements, after = self.branch(self.random.randint(1, 3), if_true)
            conditions.append(condition)
            blocks.append(statements)
            ends.append(after)
            self.environment.update(if_false)
        if self.chance(0.5):
            statements, after = self.branch(self.random.randint(1, 2))
            blocks.append(statements)
            ends.append(after)
        else:
            ends.append(dict(self.environment))
        self.environment = before
        self.depth -= 1
        self.meet(ends)
        return [Stmt("if", conditions, blocks)]

    def loop(self, names, types, fixed=(), makeCondition=None):
        """Returns the condition and the body of a loop. If a name changes its type in the loop, it has the joined type
        from the loop's head on."""
        self.depth += 1
        self.loops += 1
        retyped = None
        plain = [
            n
            for n in self.settable()
            if n not in self.declared and n not in fixed and not any(n in kept for kept in self.kept)
        ]
        head = dict(self.environment)
        if plain and self.chance(0.3):
            retyped = self.one(plain)
            new = self.simpleType()
            head[retyped] = joinTypes(head[retyped], new)
        # A narrowed type stays narrowed in a loop that does not set the name.
        narrowed = {n for n in self.declared if n in head and head[n] != self.declared[n]} - self.fixed
        self.fixed |= narrowed
        self.environment = dict(head)
        self.kept.append(set(head))
        old_types = self.kept_types
        self.kept_types = {**head, **old_types}
        # The name is set only before the loop and at the body's end, so that the join gives exactly the head's type.
        if retyped is not None:
            self.fixed.add(retyped)
        self.fixed.update(fixed)
        before = dict(self.environment)
        condition = makeCondition and makeCondition()
        self.environment.update(zip(names, types))
        body = self.block(self.random.randint(1, 4))
        if retyped is not None:
            self.fixed.discard(retyped)
            body.append(Stmt("assign", [self.make(new, 2)], data=(retyped, None)))
        self.environment = before
        self.kept.pop()
        self.kept_types = old_types
        self.fixed.difference_update(fixed, narrowed)
        self.loops -= 1
        self.depth -= 1
        return condition, body

    def forStatement(self):
        names, iterable, types = self.loopOver(2)
        self.fixed.update(names)
        _, body = self.loop(names, types)
        self.fixed.difference_update(names)
        return [Stmt("for", [iterable], [body], names)]

    def whileStatement(self):
        counter = self.newName("n")
        start = Stmt("assign", [literal(0)], data=(counter, None))
        self.environment[counter] = "int"
        limit = Expr("compare", "bool", [variable(counter, "int"), literal(self.random.randint(1, 5))], ["<"])
        step = Stmt("update", [variable(counter, "int"), literal(1)], data=("+", False))

        def makeCondition():
            return Expr("logical", "bool", [limit, self.make("bool", 2)], "and") if self.chance(0.4) else limit

        condition, body = self.loop([], [], [counter], makeCondition)
        if self.chance(0.2):
            leave = Stmt("if", [Expr("unary", "bool", [limit], "not")], [[Stmt("break")]])
            return [start, Stmt("while", [literal(True)], [[step, leave, *body]])]
        return [start, Stmt("while", [condition], [[step, *body]])]

    def leaving(self):
        return [Stmt("if", [self.make("bool", 2)], [[Stmt(self.one(["break", "continue"]))]])]

    def returning(self):
        return [Stmt("if", [self.make("bool", 2)], [[Stmt("return", [self.make(self.result, 2)])]])]


def makeProgram(seed):
    return Programs(seed).program()
