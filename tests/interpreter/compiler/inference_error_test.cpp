#include "tests/interpreter/script_helpers.h"

// Errors in names and types are reported before anything runs, with the place marked.

namespace boxcar::interp {
namespace {

TEST(InferenceError, UnknownVariable) {
  EXPECT_EQ(errorsOf("count = 1\nprint(cuont)\n"),
            "test.ops:2:7: error: there is no variable or constant called `cuont`. Did you mean 'count'?\n"
            "print(cuont)\n"
            "      ^~~~~\n");
  EXPECT_EQ(errorsOf("x = 1\nprint(completely_else)\n"),
            "test.ops:2:7: error: there is no variable or constant called `completely_else`\n"
            "print(completely_else)\n"
            "      ^~~~~~~~~~~~~~~\n");
}

TEST(InferenceError, UnknownFunction) {
  EXPECT_EQ(errorsOf("fn double_it(int x) -> int { return 2 * x }\ndouble_ti(3)\n"),
            "test.ops:2:1: error: there is no function or operator called `double_ti`. Did you mean 'double_it'?\n"
            "double_ti(3)\n"
            "^~~~~~~~~\n");
  EXPECT_EQ(errorsOf("x = rellu(ones(2))\n"),
            "test.ops:1:5: error: there is no function or operator called `rellu`. Did you mean 'relu'?\n"
            "x = rellu(ones(2))\n"
            "    ^~~~~\n");
  EXPECT_EQ(errorsOf("aten::rellu(ones(2))\n"),
            "test.ops:1:1: error: there is no operator called `aten::rellu`. Did you mean 'aten::relu', 'aten::celu' "
            "or 'aten::elu'?\n"
            "aten::rellu(ones(2))\n"
            "^~~~~~~~~~~\n");
}

TEST(InferenceError, VariableIsNoFunction) {
  EXPECT_EQ(errorsOf("weight = 3\nweight(4)\n"),
            "test.ops:2:1: error: there is no function or operator called `weight`\n"
            "weight(4)\n"
            "^~~~~~\n"
            "note: the variable `weight` is an int; only a Function can be called\n");
}

TEST(InferenceError, FunctionIsNoValue) {
  EXPECT_EQ(errorsOf("x = ones(2).to(float)\n"),
            "test.ops:1:16: error: `float` is a function, not a value: call it, `float(…)`\n"
            "x = ones(2).to(float)\n"
            "               ^~~~~\n"
            "note: the dtypes are called `float32` and `float64`\n");
}

TEST(InferenceError, ReadBeforeItIsSet) {
  EXPECT_EQ(errorsOf("print(x)\nx = 1\n"),
            "test.ops:1:7: error: `x` is read before it is set\n"
            "print(x)\n"
            "      ^\n");
  EXPECT_EQ(errorsOf("if clock() > 1 { y = 1 }\nprint(y)\nprint(y)\n"),
            "test.ops:2:7: error: `y` may be read before it is set\n"
            "print(y)\n"
            "      ^\n");
  EXPECT_EQ(errorsOf("for i in range(3) { last = i }\nprint(last)\n"),
            "test.ops:2:7: error: `last` may be read before it is set\n"
            "print(last)\n"
            "      ^~~~\n");
  EXPECT_EQ(errorsOf("while True { z = 1; break }\nprint(z)\n"), "no error");
  EXPECT_EQ(errorsOf("if clock() > 1 { w = 1 } else { w = 2.0 }\nprint(w)\n"), "no error");
}

TEST(InferenceError, AFunctionSeesItsArgumentsAndConstantsOnly) {
  EXPECT_EQ(errorsOf("limit = 3\nfn f(int x) -> int { return x + limit }\n"),
            "test.ops:2:33: error: there is no variable or constant called `limit`\n"
            "fn f(int x) -> int { return x + limit }\n"
            "                                ^~~~~\n"
            "test.ops:1:1: note: `limit` is a variable of the script; make it a `const`, or pass it\n"
            "limit = 3\n"
            "^~~~~\n");
  EXPECT_EQ(errorsOf("const LIMIT = 3\nfn f(int x) -> int { return x + LIMIT }\n"), "no error");
}

TEST(InferenceError, WrongArgument) {
  EXPECT_EQ(errorsOf("fn f(int x) -> int { return x }\nf(\"one\")\n"),
            "test.ops:2:3: error: f: argument 'x' must be int, not str\n"
            "f(\"one\")\n"
            "  ^~~~~\n"
            "note: f(int x) -> int\n");
  EXPECT_EQ(errorsOf("relu(3)\n"),
            "test.ops:1:6: error: aten::relu: argument 'self' must be Tensor, not int; a number can replace a Tensor "
            "only next to a Tensor argument\n"
            "relu(3)\n"
            "     ^\n"
            "note: aten::relu(Tensor self) -> Tensor\n"
            "note: aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n");
  EXPECT_EQ(errorsOf("len(3, 4)\n"),
            "test.ops:1:1: error: len: it takes 1 positional argument, not 2\n"
            "len(3, 4)\n"
            "^~~~~~~~~\n"
            "note: len(Any value) -> int\n");
}

TEST(InferenceError, OperatorsOnTypesThatTheyDoNotWorkOn) {
  EXPECT_EQ(errorsOf("x = 1 + \"a\"\n"),
            "test.ops:1:5: error: `+` does not work on int and str\n"
            "x = 1 + \"a\"\n"
            "    ^~~~~~~\n");
  EXPECT_EQ(errorsOf("x = -\"a\"\n"),
            "test.ops:1:5: error: `-` does not work on str\n"
            "x = -\"a\"\n"
            "    ^~~~\n");
  EXPECT_EQ(errorsOf("x = 1 < \"a\"\n"),
            "test.ops:1:5: error: `<` does not work on int and str\n"
            "x = 1 < \"a\"\n"
            "    ^~~~~~~\n");
  EXPECT_EQ(errorsOf("x = 2 in 3\n"),
            "test.ops:1:5: error: `in` does not work on int and int\n"
            "x = 2 in 3\n"
            "    ^~~~~~\n");
}

TEST(InferenceError, OptionalsAreTestedFirst) {
  EXPECT_EQ(errorsOf("fn f(int? x) -> int { return x + 1 }\n"),
            "test.ops:1:30: error: `+` does not work on int? and int\n"
            "fn f(int? x) -> int { return x + 1 }\n"
            "                             ^~~~~\n"
            "note: check `is None` first for what may be None\n");
  EXPECT_EQ(errorsOf("fn f(int? x) -> int { if x is None { return 0 }; return x + 1 }\n"), "no error");
  EXPECT_EQ(errorsOf("fn f(int? x) -> int { return x + 1 if x is not None else 0 }\n"), "no error");
  EXPECT_EQ(errorsOf("fn f(int? x) -> bool { return x is not None and x > 1 }\n"), "no error");
  EXPECT_EQ(errorsOf("fn f(int? x) -> bool { return x is None or x > 1 }\n"), "no error");
  EXPECT_EQ(errorsOf("fn f(Any x) -> int { return x + 1 if isinstance(x, int) else 0 }\n"), "no error");
}

TEST(InferenceError, ReturnsAreChecked) {
  EXPECT_EQ(errorsOf("fn f(int x) -> int { return \"a\" }\n"),
            "test.ops:1:29: error: what `f` returns must be int, not str\n"
            "fn f(int x) -> int { return \"a\" }\n"
            "                            ^~~\n");
  EXPECT_EQ(errorsOf("fn f(int x) -> int { if x > 0 { return 1 } }\n"),
            "test.ops:1:4: error: `f` returns int, but its end can be reached without a return\n"
            "fn f(int x) -> int { if x > 0 { return 1 } }\n"
            "   ^\n");
  EXPECT_EQ(errorsOf("fn f(int x) -> int { return }\n"),
            "test.ops:1:22: error: `f` returns int, so a value is needed here\n"
            "fn f(int x) -> int { return }\n"
            "                     ^~~~~~\n");
  EXPECT_EQ(errorsOf("fn f(int x) -> int { while True { if x > 3 { return x }; x = x + 1 } }\n"), "no error");
  EXPECT_EQ(errorsOf("return 1\n"),
            "test.ops:1:1: error: `return` is only allowed in a function\n"
            "return 1\n"
            "^~~~~~~~\n");
}

TEST(InferenceError, ConstantsAreSetOnce) {
  EXPECT_EQ(errorsOf("const N = 1\nN = 2\n"),
            "test.ops:2:1: error: `N` is a constant, and a constant is set only once\n"
            "N = 2\n"
            "^\n"
            "test.ops:1:7: note: it is set here\n"
            "const N = 1\n"
            "      ^\n");
  EXPECT_EQ(errorsOf("const N = 1\nconst N = 2\n"),
            "test.ops:2:7: error: `N` is defined twice\n"
            "const N = 2\n"
            "      ^\n"
            "test.ops:1:7: note: the first definition\n"
            "const N = 1\n"
            "      ^\n");
  EXPECT_EQ(errorsOf("print(N)\nconst N = 1\n"),
            "test.ops:1:7: error: the constant `N` is read before it is set\n"
            "print(N)\n"
            "      ^\n"
            "test.ops:2:7: note: it is set here\n"
            "const N = 1\n"
            "      ^\n");
}

TEST(InferenceError, FunctionsAreDefinedOnce) {
  EXPECT_EQ(errorsOf("fn f() -> () { }\nfn f(int x) -> () { }\n"),
            "test.ops:2:4: error: `f` is defined twice\n"
            "fn f(int x) -> () { }\n"
            "   ^\n"
            "test.ops:1:4: note: the first definition\n"
            "fn f() -> () { }\n"
            "   ^\n");
}

TEST(InferenceError, SignaturesAreSchemas) {
  EXPECT_EQ(errorsOf("fn f(itn x) -> () { }\n"),
            "test.ops:1:6: error: there is no type called `itn`. Did you mean 'int'?\n"
            "fn f(itn x) -> () { }\n"
            "     ^~~\n");
}

TEST(InferenceError, DeclaredTypesHold) {
  EXPECT_EQ(errorsOf("x: int = 1\nx = \"a\"\n"),
            "test.ops:2:5: error: `x` must be int, not str\n"
            "x = \"a\"\n"
            "    ^~~\n");
  EXPECT_EQ(errorsOf("x: int = 1\nx: str = \"a\"\n"),
            "test.ops:2:4: error: `x` is declared as int already\n"
            "x: str = \"a\"\n"
            "   ^~~\n"
            "test.ops:1:1: note: the first declaration\n"
            "x: int = 1\n"
            "^\n");
  EXPECT_EQ(errorsOf("x: float = 1\ny: int? = None\ny = 3\n"), "no error");
}

TEST(InferenceError, TakingApartChecksTheLength) {
  EXPECT_EQ(errorsOf("a, b = 1, 2, 3\n"),
            "test.ops:1:1: error: 2 names cannot take the 3 values of a (int, int, int)\n"
            "a, b = 1, 2, 3\n"
            "^~~~\n");
  EXPECT_EQ(errorsOf("a, b = 3\n"),
            "test.ops:1:8: error: an int cannot be unpacked\n"
            "a, b = 3\n"
            "       ^\n");
}

TEST(InferenceError, WhatCannotBeIndexedOrWalkedOver) {
  EXPECT_EQ(errorsOf("x = 3\nprint(x[0])\n"),
            "test.ops:2:7: error: an int cannot be indexed\n"
            "print(x[0])\n"
            "      ^~~~\n");
  EXPECT_EQ(errorsOf("d = {\"a\": 1}\nprint(d[3])\n"),
            "test.ops:2:9: error: a key of a Dict(str, int) must be str, not int\n"
            "print(d[3])\n"
            "        ^\n");
  EXPECT_EQ(errorsOf("t = (1, 2)\nprint(t[2])\n"),
            "test.ops:2:9: error: index 2 is out of range for a (int, int)\n"
            "print(t[2])\n"
            "        ^\n");
  EXPECT_EQ(errorsOf("for x in 3 { }\n"),
            "test.ops:1:10: error: `for` cannot iterate over an int\n"
            "for x in 3 { }\n"
            "         ^\n");
}

TEST(InferenceError, UnknownMembers) {
  EXPECT_EQ(errorsOf("x = ones(2)\nprint(x.shap)\n"),
            "test.ops:2:9: error: a Tensor has no attribute `shap`. Did you mean 'shape'?\n"
            "print(x.shap)\n"
            "        ^~~~\n");
  EXPECT_EQ(errorsOf("x = [1]\nx.apend(2)\n"),
            "test.ops:2:3: error: there is no function, method or operator `apend` for int[]. Did you mean 'append'?\n"
            "x.apend(2)\n"
            "  ^~~~~\n");
  EXPECT_EQ(errorsOf("add.Tenser(ones(2), ones(2))\n").substr(0, 85),
            "test.ops:1:5: error: aten::add has no overload `Tenser`. Did you mean 'Tensor'?\nadd.T");
}

TEST(InferenceError, ADevicesScopeThatIsNotCalled) {
  EXPECT_EQ(errorsOf("with stream { x = 1 }\n"),
            "test.ops:1:6: error: a scope is called: `with stream(Device? device=None)`\n"
            "with stream { x = 1 }\n"
            "     ^~~~~~\n");
}

TEST(InferenceError, SeveralIndependentErrorsInOnePass) {
  EXPECT_EQ(errorsOf("fn f(int x) -> int { return y }\nz = w + 1\nprint(z + 1)\nq = 1 + \"a\"\n"),
            "test.ops:1:29: error: there is no variable or constant called `y`\n"
            "fn f(int x) -> int { return y }\n"
            "                            ^\n"
            "test.ops:2:5: error: there is no variable or constant called `w`\n"
            "z = w + 1\n"
            "    ^\n"
            "test.ops:4:5: error: `+` does not work on int and str\n"
            "q = 1 + \"a\"\n"
            "    ^~~~~~~\n");
}

TEST(InferenceError, ErrorsInLoopsAreToldOnce) {
  EXPECT_EQ(errorsOf("x = None\nwhile clock() > 0 {\n    y = x + 1\n    x = 2\n}\n"),
            "test.ops:3:9: error: `+` does not work on int? and int\n"
            "    y = x + 1\n"
            "        ^~~~~\n"
            "note: check `is None` first for what may be None\n");
}

TEST(InferenceError, BreakOutsideALoop) {
  EXPECT_EQ(errorsOf("break\n"),
            "test.ops:1:1: error: `break` is only allowed in a loop\n"
            "break\n"
            "^~~~~\n");
}

}  // namespace
}  // namespace boxcar::interp
