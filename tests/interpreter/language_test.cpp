#include "tests/interpreter/script_helpers.h"

// Compares the output of scripts: the language from end to end, topic by topic.

namespace boxcar::interp {
namespace {

TEST(Language, IntsArePythonsOn64Bits) {
  EXPECT_EQ(
      outputOf("print(7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 7 / 2, 1 << 4, 255 >> 2, 6 & 3, 6 | 3, 6 ^ 3, ~5)"),
      "3 -4 1 2 1024 3.5 16 63 2 7 5 -6\n");
  EXPECT_EQ(outputOf("a = 7\nb = -2\nprint(a // b, a % b, a / b, a * b, a - b, -a, +a, ~a, a ** 2)"),
            "-4 -1 -3.5 -14 9 -7 7 -8 49\n");
  EXPECT_EQ(outputOf("n = 9223372036854775807\nprint(n + 1, -9223372036854775808, 0xff, 1_000)"),
            "-9223372036854775808 -9223372036854775808 255 1000\n");
}

TEST(Language, ConstantsNeverRaiseWhileTheyAreFolded) {
  EXPECT_EQ(outputOf("print(1)\nif False { print(1 // 0) }\nprint(2)"), "1\n2\n");
  EXPECT_EQ(outputOf("print(1)\nprint(1 // 0)").substr(0, 36), "1\ninteger division or modulo by zero");
}

TEST(Language, FloatsAndComplexArePythons) {
  EXPECT_EQ(outputOf("print(7.5 // 2, -7.5 % 2, 2.0 ** 0.5, 1e3, 1.5 + 2, inf, nan, 1e-5)"),
            "3.0 0.5 1.4142135623730951 1000.0 3.5 inf nan 1e-05\n");
  EXPECT_EQ(outputOf("x = 2j\nprint(x * 2, (1 + x) * 1j, x == 2j)"), "4j (-2+1j) True\n");
  EXPECT_EQ(outputOf("n = 9007199254740993\nprint(n == 9007199254740992.0, n > 9007199254740992.0)"), "False True\n");
}

TEST(Language, BoolsCountAsInts) {
  EXPECT_EQ(outputOf("t = True\nprint(t + t, t & False, t | False, t ^ t, t == True, t != True, not t, -t, t < 2)"),
            "2 False True False True False False -1 True\n");
}

TEST(Language, AndOrNotGiveBool) {
  EXPECT_EQ(outputOf("x = 3\ny = \"\"\nprint(x and y, x or y, not x, not y)"), "False True False True\n");
  EXPECT_EQ(outputOf("fn say(str s, bool b) -> bool { print(s); return b }\n"
                     "print(say(\"a\", False) and say(\"b\", True), say(\"c\", True) or say(\"d\", True))"),
            "a\nc\nFalse True\n");
}

TEST(Language, ComparisonsChainAndLookOnceAtEachOperand) {
  EXPECT_EQ(outputOf("fn f(int x) -> int { print(x); return x }\nprint(f(1) < f(2) < f(3))\nprint(f(3) < f(2) < f(1))"),
            "1\n2\n3\nTrue\n3\n2\nFalse\n");
  EXPECT_EQ(outputOf("print(1 < 2 == 2, 1 == 1 == 1, \"a\" < \"b\" < \"c\", 3 > 2 > 2)"), "True True True False\n");
}

TEST(Language, OperandsAreLookedAtFromLeftToRight) {
  const std::string f = "fn f(int x) -> int { print(x, end=\" \"); return x }\n";
  EXPECT_EQ(outputOf(f + "print(f(1) > f(2), f(3) - f(4) * f(5))"), "1 2 3 4 5 False -17\n");
  EXPECT_EQ(outputOf(f + "fn g(int a, int b) -> int { return a - b }\nprint(g(b=f(1), a=f(2)))"), "1 2 1\n");
  EXPECT_EQ(outputOf(f + "x = [0, 0, 0]\nx[f(1)] = f(2)\nprint(x)"), "2 1 [0, 2, 0]\n");
}

TEST(Language, Strings) {
  EXPECT_EQ(outputOf("s = \"abcdef\"\nprint(s + \"g\", s * 2, s[1], s[-1], s[1:4], s[::-1], \"cd\" in s, len(s))"),
            "abcdefg abcdefabcdef b f bcd fedcba True 6\n");
  EXPECT_EQ(
      outputOf(
          "print(\"a,b\".split(\",\"), \"-\".join([\"x\", \"y\"]), \" s \".strip(), \"Hi\".lower(), \"hi\".upper())"),
      "['a', 'b'] x-y s hi HI\n");
  EXPECT_EQ(outputOf("a = 3\nb = 4.5\nprint(f\"{a:>5}|{b:.2f}|{'x'}|{a + 1:03d}|{[a]}\")"), "    3|4.50|x|004|[3]\n");
}

TEST(Language, Lists) {
  EXPECT_EQ(
      outputOf("x = [1, 2, 3]\nx.append(4)\nx[0] = 10\nx += [5]\nx[1] *= 7\nprint(x, len(x), x[1:3], x[-1], 3 in x, "
               "7 not in x, x + [6])"),
      "[10, 14, 3, 4, 5] 5 [14, 3] 5 True True [10, 14, 3, 4, 5, 6]\n");
  EXPECT_EQ(outputOf("x = []\nx.append(1)\nx.append(\"a\")\nprint(x, x[1] + \"b\")"), "[1, 'a'] ab\n");
  EXPECT_EQ(outputOf("x = [1]\ny = x\ny += [2]\nprint(x, x is y)"), "[1, 2] True\n");
}

TEST(Language, DictsAndTuples) {
  EXPECT_EQ(
      outputOf(
          "d = {\"a\": 1}\nd[\"b\"] = 2\nd[\"a\"] += 10\nprint(d, d[\"a\"], \"b\" in d, d.get(\"z\", 0), d.keys())\n"
          "for k in d { print(k, d[k]) }"),
      "{'a': 11, 'b': 2} 11 True 0 ['a', 'b']\na 11\nb 2\n");
  EXPECT_EQ(outputOf("t = (1, \"two\", 3.0)\na, b, c = t\nprint(t, t[1], len(t), t[0:2], a, b, c)"),
            "(1, 'two', 3.0) two 3 (1, 'two') 1 two 3.0\n");
  EXPECT_EQ(outputOf("counts = {}\nfor w in [\"a\", \"b\", \"a\"] { counts[w] = counts.get(w, 0) + 1 }\nprint(counts)"),
            "{'a': 2, 'b': 1}\n");
}

TEST(Language, TargetsAreSwappedAsInPython) {
  EXPECT_EQ(outputOf("a, b = 1, 2\na, b = b, a\nprint(a, b)"), "2 1\n");
  EXPECT_EQ(outputOf("x = [1, 2]\nx[0], x[1] = x[1], x[0]\nprint(x)"), "[2, 1]\n");
  EXPECT_EQ(outputOf("for a, b in [(1, \"x\"), (2, \"y\")] { print(a, b) }"), "1 x\n2 y\n");
}

TEST(Language, Loops) {
  EXPECT_EQ(
      outputOf("n = 0\nwhile True {\n n += 1\n if n == 3 { continue }\n if n > 5 { break }\n print(n, end=\",\")\n}"),
      "1,2,4,5,");
  EXPECT_EQ(
      outputOf("for i in range(5, 0, -2) { print(i, end=\" \") }\nfor c in \"ab\" { print(c, end=\" \") }\n"
               "for x in (1, 2.5) { print(x, end=\" \") }\nfor i, x in enumerate([7, 8]) { print(i, x, end=\" \") }"),
      "5 3 1 a b 1 2.5 0 7 1 8 ");
  EXPECT_EQ(outputOf("for i in range(3) { for j in range(3) { if j == 1 { break }; print(i, j) } }"),
            "0 0\n1 0\n2 0\n");
  EXPECT_EQ(outputOf("i = 10\nfor i in range(0) { }\nprint(i)\nfor i in range(3) { i = i * 2 }\nprint(i)"), "10\n4\n");
}

TEST(Language, Comprehensions) {
  EXPECT_EQ(outputOf("x = 5\nprint([x * x for x in range(5) if x % 2 == 0], x, [c + \"!\" for c in \"hey\"])"),
            "[0, 4, 16] 5 ['h!', 'e!', 'y!']\n");
  EXPECT_EQ(
      outputOf("print([(i, j) for i in range(3) for j in range(i)], [[i * j for j in range(3)] for i in range(2)])"),
      "[(1, 0), (2, 0), (2, 1)] [[0, 0, 0], [0, 1, 2]]\n");
  EXPECT_EQ(outputOf("print(sum([1.5 for i in range(3)]), len([0 for i in range(4)]) + 1)"), "4.5 5\n");
}

TEST(Language, TypesMayChangeAlongTheProgram) {
  EXPECT_EQ(outputOf("x = 1\nprint(x + 1)\nx = \"a\"\nprint(x + \"b\")\nx = 2.5\nprint(x * 2)"), "2\nab\n5.0\n");
  EXPECT_EQ(outputOf("for i in range(3) { if i == 1 { x = i } else { x = \"s\" }; print(x) }"), "s\n1\ns\n");
  EXPECT_EQ(outputOf("x = 1\nfor i in range(3) { print(x); if i == 0 { x = \"a\" } else { x = 2.5 } }\nprint(x)"),
            "1\na\n2.5\n2.5\n");
}

TEST(Language, NoneIsTestedFirst) {
  EXPECT_EQ(outputOf("best = None\nfor v in [3, 1, 2] { if best is None or v < best { best = v } }\nprint(best)"),
            "1\n");
  EXPECT_EQ(outputOf("fn f(int? x=None) -> int { return 0 if x is None else x + 1 }\nprint(f(), f(4), f(x=5))"),
            "0 5 6\n");
  EXPECT_EQ(
      outputOf("fn f(Any x) -> str {\n if isinstance(x, int) { return f\"int {x + 1}\" }\n"
               " elif isinstance(x, str) { return x + \"!\" }\n return type(x)\n}\nprint(f(1), f(\"a\"), f(2.5))"),
      "int 2 a! float\n");
}

TEST(Language, Functions) {
  EXPECT_EQ(outputOf("fn fib(int n) -> int { if n < 2 { return n }; return fib(n - 1) + fib(n - 2) }\nprint(fib(15))"),
            "610\n");
  EXPECT_EQ(
      outputOf("fn two(int x, float y=0.5) -> (int, float) { return x, y }\na, b = two(3)\nprint(a, b, two(1, 2))"),
      "3 0.5 (1, 2.0)\n");
  EXPECT_EQ(
      outputOf("fn nothing() -> () { }\nprint(nothing())\nfn late() -> int { return N }\nconst N = 7\nprint(late())"),
      "None\n7\n");
  EXPECT_EQ(
      outputOf("fn pair(int x) -> (int low, int high) { return x - 1, x + 1 }\nprint(pair(5).high, 5.pair().low)"),
      "6 4\n");
}

TEST(Language, ConstantsKeepState) {
  EXPECT_EQ(outputOf("const seen = []\nfn note(str s) -> () { seen.append(s) }\nnote(\"a\")\nnote(\"b\")\nprint(seen)"),
            "['a', 'b']\n");
  // It is not set yet.
  EXPECT_EQ(outputOf("fn early() -> int { return N }\nprint(early())\nconst N = 1").substr(0, 45),
            "the constant `N` is read before it is set; th");
}

TEST(Language, AssertTellsWhatDidNotHold) {
  EXPECT_EQ(outputOf("x = 3\nassert x > 2\nassert x > 5").substr(0, 24), "assertion failed: x > 5\n");
  EXPECT_EQ(outputOf("x = 3\nassert x > 5, f\"x is {x}\"").substr(0, 25), "assertion failed: x is 3\n");
}

TEST(Language, TensorsThroughOperators) {
  EXPECT_EQ(
      outputOf("x = arange(4).to(float32)\nprint(2 * x, 1 - x, x / 2, x ** 2, 2 ** x, x // 2, -x + 0)"),
      "tensor([0., 2., 4., 6.]) tensor([ 1.,  0., -1., -2.]) tensor([0.0000, 0.5000, 1.0000, 1.5000]) "
      "tensor([0., 1., 4., 9.]) tensor([1., 2., 4., 8.]) tensor([0., 0., 1., 1.]) tensor([ 0., -1., -2., -3.])\n");
  EXPECT_EQ(outputOf("x = arange(4)\nprint(x > 1, 1 < x, x == 2, (x > 0) & (x < 3), ~(x > 1), x << 1)"),
            "tensor([False, False,  True,  True]) tensor([False, False,  True,  True]) "
            "tensor([False, False,  True, False]) tensor([False,  True,  True, False]) "
            "tensor([ True,  True, False, False]) tensor([0, 2, 4, 6])\n");
  EXPECT_EQ(outputOf("x = ones(2)\ny = x\nx += 1\nprint(y, x is y)\nx = x + 1\nprint(y)"),
            "tensor([2., 2.]) True\ntensor([2., 2.])\n");
}

TEST(Language, TensorsAreIndexedAsInPyTorch) {
  const std::string x = "x = arange(12).reshape(3, 4)\n";
  EXPECT_EQ(
      outputOf(x + "print(x[1, 2], x[:, 1], x[..., -1], x[1:, ::2], x[None].shape, x[-1][0])"),
      "tensor(6) tensor([1, 5, 9]) tensor([ 3,  7, 11]) tensor([[ 4,  6],\n        [ 8, 10]]) [1, 3, 4] tensor(8)\n");
  EXPECT_EQ(
      outputOf(x + "print(x[x > 8], x[[0, 2], 1], x[tensor([1]), 2], x[:, tensor([0, 3])])"),
      "tensor([ 9, 10, 11]) tensor([1, 9]) tensor([6]) tensor([[ 0,  3],\n        [ 4,  7],\n        [ 8, 11]])\n");
  EXPECT_EQ(outputOf(x + "x[0] = 7\nx[1, 1:3] = tensor([50, 60])\nx[2, 0] += 100\nx[x > 55] = 0\nprint(x)"),
            "tensor([[ 7,  7,  7,  7],\n        [ 4, 50,  0,  7],\n        [ 0,  9, 10, 11]])\n");
}

TEST(Language, TensorAttributesAndMethods) {
  EXPECT_EQ(
      outputOf("x = zeros(2, 3)\nprint(x.shape, x.dtype, x.device, x.ndim, x.T.shape, x.size(), x.size(0), x.dim(), "
               "x.numel(), x.long().dtype, x.tolist())"),
      "[2, 3] torch.float32 cpu 2 [3, 2] [2, 3] 2 2 6 torch.int64 [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]\n");
  EXPECT_EQ(
      outputOf(
          "x = tensor([[1, 5], [7, 2]])\nprint(x.max(1).values, x.max(dim=0).indices)\nv, i = x.max(1)\nprint(v, i)"),
      "tensor([5, 7]) tensor([1, 0])\ntensor([5, 7]) tensor([1, 0])\n");
  EXPECT_EQ(
      outputOf(
          "x = tensor([1.5, 2])\nprint(int(x[0]), float(x[1]), bool(x[0]), x.dtype == float32, x.device == \"cpu\")"),
      "1 2.0 True True True\n");
}

TEST(Language, ATensorInAConditionHasOneElement) {
  EXPECT_EQ(outputOf("x = tensor([3])\nif x > 2 { print(\"more\") }\nprint(not x, x and 1, 1 if x == 3 else 2)"),
            "more\nFalse True 1\n");
  EXPECT_NE(outputOf("if ones(2) { }").find("one"), std::string::npos);
}

TEST(Language, AnyIsDecidedWhenTheLineRuns) {
  EXPECT_EQ(outputOf("xs = []\nfor k in range(3) { xs.append(ones(2) * k) }\na = xs[2]\n"
                     "print(a + 1, 1 - a, a.shape, a.sum().item(), a[0], stack(xs).shape, relu(a))"),
            "tensor([3., 3.]) tensor([-1., -1.]) [2] 4.0 tensor(2.) [3, 2] tensor([2., 2.])\n");
  EXPECT_EQ(
      outputOf("fn f(Any x, Any y) -> Any { return x + y }\nprint(f(1, 2), f(1, 2.5), f(\"a\", \"b\"), f([1], [2]))"),
      "3 3.5 ab [1, 2]\n");
  EXPECT_EQ(outputOf("xs = [1, \"a\", [2]]\nfor x in xs { if isinstance(x, int[]) { x.append(5) } }\nprint(xs)"),
            "[1, 'a', [2, 5]]\n");
  EXPECT_EQ(outputOf("fn f(Any x) -> Any { return x.copy() }\nprint(f([1]), f({\"a\": 1}))"), "[1] {'a': 1}\n");
}

TEST(Language, ArgumentsConvertAsTheReferenceSays) {
  EXPECT_EQ(outputOf("fn f(float x, int[] xs, Device d, float[] ys) -> () { print(x, xs, d, ys) }\n"
                     "f(1, (2, 3), \"cpu\", [1, 2])\nf(True, [], \"meta\", (1, 2.5))"),
            "1.0 [2, 3] cpu [1.0, 2.0]\n1.0 [] meta [1.0, 2.5]\n");
  EXPECT_EQ(
      outputOf("print(zeros(2).shape, zeros([2, 1]).shape, zeros(2, 1, dtype=int64).dtype, ones(4).view(2, -1).shape)"),
      "[2] [2, 1] torch.int64 [2, 2]\n");
  EXPECT_EQ(outputOf("print(maximum(arange(3), 1), maximum(arange(3), 1.5).dtype, (2.5 / arange(1, 3)).dtype)"),
            "tensor([1, 1, 2]) torch.float32 torch.float32\n");
  EXPECT_EQ(outputOf("fn f(int x) -> int { return x }\ns = tensor(2.5).item()\nprint(f(tensor(3).item()))\nf(s)")
                .substr(0, 27),
            "3\nexpected int, found float");
}

TEST(Language, NamesAreLookedUpInTheOrderOfTheReference) {
  EXPECT_EQ(outputOf("fn relu(int x) -> int { return x + 1 }\nprint(relu(1), aten::relu(tensor(-1)))"),
            "2 tensor(0)\n");
  EXPECT_EQ(outputOf("print(add.Scalar(ones(1), 2), aten::add.Tensor(ones(1), ones(1), alpha=3))"),
            "tensor([3.]) tensor([4.])\n");
}

}  // namespace
}  // namespace boxcar::interp
