"""Random expressions that give lists, dicts, tuples, and values that may be None."""

from tree import Expr, dictOf, joinAll, listOf, literal, tupleOf


class Containers:
    """A part of Expressions."""

    def makeList(self, type_, depth):
        element = type_[1]
        if depth <= 0:
            return self.listLiteral(element, 0)
        d = depth - 1
        choices = [
            (5, lambda: self.listLiteral(element, d)),
            (1, lambda: self.binary(type_, "+", self.make(type_, d), self.make(type_, d))),
            (0.7, lambda: self.binary(type_, "*", self.make(type_, d), literal(self.one([0, 1, 2, -1])))),
            (1.5, lambda: self.sliced(type_, d)),
            (0.7, lambda: self.builtin(type_, "list", self.make(type_, d))),
            (0.5, lambda: self.method(type_, "copy", self.make(type_, d))),
        ]
        if element != "any":
            choices.append((2.5, lambda: self.comprehension(element, d)))
        if self.isOrdered(element):
            choices.append(
                (
                    1,
                    lambda: (
                        self.builtin(type_, "sorted", self.make(type_, d), literal(True), keywords=("reverse",))
                        if self.chance(0.4)
                        else self.builtin(type_, "sorted", self.make(type_, d))
                    ),
                )
            )
        if element == "int":
            choices.append((2, lambda: self.builtin(type_, "range", *self.rangeLimits(d))))
            choices.append((0.5, lambda: self.method(type_, "keys", self.make(dictOf("int", "str"), d))))
        if element == "str":
            choices.append(
                (
                    1,
                    lambda: self.method(
                        type_,
                        "split",
                        self.make("str", d),
                        *(
                            [literal(self.one([",", " ", "a", "日", None]))] + ([literal(1)] if self.chance(0.3) else [])
                            if self.chance(0.6)
                            else []
                        ),
                    ),
                )
            )
            choices.append((1, lambda: self.builtin(type_, self.one(["list", "sorted"]), self.make("str", d))))
            choices.append((0.5, lambda: self.method(type_, "keys", self.make(dictOf("str", "int"), d))))
        if element in ("int", "float", "str"):
            choices.append((0.5, lambda: self.method(type_, "values", self.make(dictOf("str", element), d))))
        if element == tupleOf("int", "str"):
            choices.append(
                (
                    3,
                    lambda: self.builtin(
                        type_,
                        "enumerate",
                        self.make(self.one([listOf("str"), "str"]), d),
                        *([self.make("int", 0)] if self.chance(0.3) else []),
                    ),
                )
            )
            choices.append((2, lambda: self.builtin(type_, "zip", self.make(listOf("int"), d), self.make("str", d))))
            choices.append((2, lambda: self.method(type_, "items", self.make(dictOf("int", "str"), d))))
        return self.weighted(choices)()

    def listLiteral(self, element, depth):
        if element != "any":
            return Expr(
                "list", listOf(element), [self.make(element, depth) for _ in range(self.one([1, 2, 2, 3, 3, 4]))]
            )
        if self.chance(0.15):
            return Expr("list", listOf("any"))
        items = [self.value(depth) for _ in range(self.one([1, 2, 3]))]
        items += [self.make("int", 0), self.make(self.one(["str", "float", "str"]), 0)]
        self.random.shuffle(items)
        if joinAll([item.type for item in items]) != "any":
            items += [literal("é"), literal(0)]
        return Expr("list", listOf("any"), items)

    def rangeLimits(self, depth):
        small = lambda: (
            self.binary("int", "%", self.make("int", depth), literal(6))
            if self.chance(0.4)
            else literal(self.random.randint(-2, 6))
        )
        count = self.one([1, 1, 2, 3])
        return [small() for _ in range(min(count, 2))] + (
            [literal(self.one([1, 2, 3, -1, -2, -3]))] if count == 3 else []
        )

    def loopOver(self, depth):
        """Returns what a `for` iterates over: (names, iterable, their types)."""
        kind = self.random.random()
        if kind < 0.35:
            return [self.newName("i")], self.builtin(listOf("int"), "range", *self.rangeLimits(depth - 1)), ["int"]
        if kind < 0.5:
            type_ = listOf(tupleOf("int", "str"))
            return [self.newName("i"), self.newName("i")], self.make(type_, depth), ["int", "str"]
        if kind < 0.6:
            return [self.newName("i")], self.make("str", depth), ["str"]
        if kind < 0.7:
            type_ = dictOf(self.one(["int", "str"]), "int")
            return [self.newName("i")], self.make(type_, depth), [type_[1]]
        if kind < 0.77:
            types = [self.simpleType() for _ in range(2)]
            return [self.newName("i")], self.make(tupleOf(*types), depth), [types[0] if types[0] == types[1] else "any"]
        element = self.one([self.simpleType(), self.simpleType(), "any"])
        return [self.newName("i")], self.make(listOf(element), depth), [element]

    def comprehension(self, element, depth):
        parts, clauses = [], []
        before = dict(self.environment)
        for _ in range(self.one([1, 1, 1, 2])):
            names, iterable, types = self.loopOver(max(depth, 1))
            parts.append(iterable)
            self.environment.update(zip(names, types))
            condition_count = self.one([0, 0, 1])
            parts += [self.make("bool", depth) for _ in range(condition_count)]
            clauses.append((tuple(names), condition_count))
        made = Expr("comprehension", listOf(element), [self.make(element, depth), *parts], clauses)
        self.environment = before
        return made

    def sliced(self, type_, depth):
        present = [self.chance(0.6), self.chance(0.6), self.chance(0.3)]
        bounds = [
            literal(self.one([0, 1, 2, -1, -2, 3, 100, -100])) if self.chance(0.8) else self.make("int", 0)
            for p in present[:2]
            if p
        ]
        steps = [literal(self.one([1, -2, 3, 1, 0] if self.chance(0.3) else [-1, 2]))] if present[2] else []
        return Expr("slice", type_, [self.make(type_, depth), *bounds, *steps], present)

    def makeDict(self, type_, depth):
        key, value = type_[1:]
        d = max(depth - 1, 0)
        if depth > 0 and self.chance(0.15):
            return self.method(type_, "copy", self.make(type_, d))
        items = []
        if key == "any":
            if self.chance(0.3):
                return Expr("dict", type_)
            keys = [
                literal(1),
                literal("a"),
                literal(True),
                literal(1.0),
                literal(2.5),
                Expr("tuple", tupleOf("int", "str"), [literal(1), literal("b")]),
            ]
            for key_literal in self.random.sample(keys, 3) + [literal("z"), literal(0)]:
                items += [key_literal, self.value(d)]
            items[-1], items[-3] = literal("s"), literal(2)
            return Expr("dict", type_, items)
        for i in range(self.one([1, 2, 3])):
            items += [
                self.key(key) if i == 0 else self.make(key, 0),
                self.value(d) if value == "any" else self.make(value, d),
            ]
        if value == "any":
            items += [self.make(key, 0), literal("s"), self.make(key, 0), literal(3)]
        return Expr("dict", type_, items)

    def makeTuple(self, type_, depth):
        return Expr(
            "tuple", type_, [self.value(depth - 1) if t == "any" else self.make(t, depth - 1) for t in type_[1:]]
        )

    def makeOpt(self, type_, depth):
        d = max(depth - 1, 0)
        inner = type_[1]
        if inner in ("int", "float", "str") and self.chance(0.4):
            key = self.one(["int", "str"])
            return self.method(type_, "get", self.make(dictOf(key, inner), d), self.make(key, 0))
        pair = [self.make(inner, d), literal(None)]
        self.random.shuffle(pair)
        return Expr("conditional", type_, [pair[0], self.make("bool", d), pair[1]])

    def makeNone(self, type_, depth):
        return literal(None)

    def sized(self, depth):
        return self.make(
            self.one(["str", "str", listOf("int"), listOf("str"), dictOf("str", "int"), tupleOf("int", "str")]), depth
        )
