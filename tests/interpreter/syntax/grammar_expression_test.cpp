#include <gtest/gtest.h>

#include "syntax_helpers.h"

namespace boxcar::syntax {
namespace {

TEST(Grammar, Literals) {
  EXPECT_EQ(parsed("None; True; False; 12; 0xff; 1.5; 2j; inf; nan"),
            "None\nTrue\nFalse\n12\n255\n1.5\n2.0j\ninf\nnan");
  EXPECT_EQ(parsed("'a' ; \"b\\n\""), "\"a\"\n\"b\n\"");
  EXPECT_EQ(parsed("-9223372036854775808"), "(- -9223372036854775808)");
}

TEST(Grammar, Containers) {
  EXPECT_EQ(parsed("[]; [1]; [1, 2,]"), "(list)\n(list 1)\n(list 1 2)");
  EXPECT_EQ(parsed("(); (1); (1,); (1, 2); (1, 2,)"), "(tuple)\n1\n(tuple 1)\n(tuple 1 2)\n(tuple 1 2)");
  EXPECT_EQ(parsed("x = {}; x = {'a': 1}; x = {1: {}, 2: [],}"),
            "(= x (dict))\n(= x (dict \"a\":1))\n(= x (dict 1:(dict) 2:(list)))");
}

TEST(Grammar, Comprehensions) {
  EXPECT_EQ(parsed("[e * 2 for e in xs]"), "(each (* e 2) for e in xs)");
  EXPECT_EQ(parsed("[e for e in xs if e > 1]"), "(each e for e in xs if (compare e > 1))");
  EXPECT_EQ(parsed("[a if b else c for a, b in xs if b or c if d for e in a]"),
            "(each (if b a c) for <a b> in xs if (or b c) if d for e in a)");
  EXPECT_EQ(parsed("[x for (i, x) in xs]"), "(each x for <i x> in xs)");
}

TEST(Grammar, FStrings) {
  EXPECT_EQ(parsed("f''"), "(f)");
  EXPECT_EQ(parsed("f'a{b}{c + 1:>6.2f}d{{'"), "(f \"a\" {b} {(+ c 1):>6.2f} \"d{\")");
  EXPECT_EQ(parsed("f\"{f'{a}'}{ {1: 2}[1] }{x if y else z}\""), "(f {(f {a})} {(at (dict 1:2) 1)} {(if y x z)})");
}

TEST(Grammar, CallsByName) {
  EXPECT_EQ(parsed("f()"), "(call f)");
  EXPECT_EQ(parsed("f(1, x=2, y=a == b,)"), "(call f 1 x=2 y=(compare a == b))");
  EXPECT_EQ(parsed("ns::f(1)"), "(call ns::f 1)");
  EXPECT_EQ(parsed("ns::f.over(1)"), "(call ns::f.over 1)");
  EXPECT_EQ(parsed("f({}, [{}])"), "(call f (dict) (list (dict)))");
}

TEST(Grammar, KeywordsAreNamesWhereNothingElseCanBe) {
  EXPECT_EQ(parsed("aten::mode(x, mode=1, in=2, nan=0.0)"), "(call aten::mode x mode=1 in=2 nan=0.0)");
  EXPECT_EQ(parsed("x.mode(1).use"), "(. (method x mode 1) use)");
  EXPECT_EQ(parsed("aten::sum.import(x)"), "(call aten::sum.import x)");
}

TEST(Grammar, NamesThatAreNotCalled) {
  EXPECT_EQ(parsed("math::pi + op"), "(+ math::pi op)");
  EXPECT_EQ(parsed("math::pi.real"), "(. math::pi real)");
  EXPECT_EQ(parsed("op.name; op .name"), "(. op name)\n(. op name)");
}

TEST(Grammar, AttributesAndMethods) {
  EXPECT_EQ(parsed("x.T"), "(. x T)");
  EXPECT_EQ(parsed("x.f(1).g.h(k=2)"), "(method (. (method x f 1) g) h k=2)");
  EXPECT_EQ(parsed("x.topk(5).values"), "(. (method x topk 5) values)");
  EXPECT_EQ(parsed("5.abs() + 'a'.upper() + (1, 2).count(1) + [1].pop()"),
            "(+ (+ (+ (method 5 abs) (method \"a\" upper)) (method (tuple 1 2) count 1)) (method (list 1) pop))");
  EXPECT_EQ(parsed("add.Tensor(a, b)"), "(method add Tensor a b)");
}

TEST(Grammar, Indexing) {
  EXPECT_EQ(parsed("x[0]; x[-1]; x['k']"), "(at x 0)\n(at x (- 1))\n(at x \"k\")");
  EXPECT_EQ(parsed("x[1:]; x[:1]; x[:]; x[::]; x[1:2:3]; x[::2]"),
            "(at x (slice 1 _ _))\n(at x (slice _ 1 _))\n(at x (slice _ _ _))\n(at x (slice _ _ _))\n"
            "(at x (slice 1 2 3))\n(at x (slice _ _ 2))");
  EXPECT_EQ(parsed("x[a::b]; x[a::f(b)]; x[(a::b)]"), "(at x (slice a _ b))\n(at x (call a::f b))\n(at x a::b)");
  EXPECT_EQ(parsed("x[..., None, 1:2, i]"), "(at x (tuple ... None (slice 1 2 _) i))");
  EXPECT_EQ(parsed("x[1,]"), "(at x (tuple 1))");
  EXPECT_EQ(parsed("x[(1, 2)]"), "(at x (tuple 1 2))");
  EXPECT_EQ(parsed("x[a if b else c:d]"), "(at x (slice (if b a c) d _))");
  EXPECT_EQ(parsed("x[0][1].y[2]"), "(at (. (at (at x 0) 1) y) 2)");
}

TEST(Grammar, IsInstanceTakesAType) {
  EXPECT_EQ(parsed("isinstance(x, int)"), "(call isinstance x `int`)");
  EXPECT_EQ(parsed("isinstance(x.y, Dict(str, int[])?)"), "(call isinstance (. x y) `Dict(str, int[])?`)");
  EXPECT_EQ(parsed("isinstance(x, (int, float))"), "(call isinstance x `(int, float)`)");
  EXPECT_EQ(parsed("isinstance"), "isinstance");
}

// ---- Precedence ----

TEST(GrammarPrecedence, EachLevelBindsMoreThanTheOneBefore) {
  // One operator of each binary level, from loose to tight: each takes the next one as its right operand.
  EXPECT_EQ(parsed("a or b and c < d | e ^ f & g << h + i * j ** k"),
            "(or a (and b (compare c < (| d (^ e (& f (<< g (+ h (* i (** j k))))))))))");
}

TEST(GrammarPrecedence, AndTheOtherWayRound) {
  EXPECT_EQ(parsed("a ** b * c + d << e & f ^ g | h < i and j or k"),
            "(or (and (compare (| (^ (& (<< (+ (* (** a b) c) d) e) f) g) h) < i) j) k)");
}

TEST(GrammarPrecedence, OperatorsOfOneLevelGoFromLeftToRight) {
  EXPECT_EQ(parsed("a - b + c"), "(+ (- a b) c)");
  EXPECT_EQ(parsed("a * b / c // d % e @ f"), "(@ (% (// (/ (* a b) c) d) e) f)");
  EXPECT_EQ(parsed("a << b >> c"), "(>> (<< a b) c)");
  EXPECT_EQ(parsed("a | b | c"), "(| (| a b) c)");
}

TEST(GrammarPrecedence, PowerGoesFromRightToLeft) {
  EXPECT_EQ(parsed("a ** b ** c"), "(** a (** b c))");
  EXPECT_EQ(parsed("a * b ** c ** d * e"), "(* (* a (** b (** c d))) e)");
}

TEST(GrammarPrecedence, PowerBindsMoreThanASignOnItsLeftOnly) {
  EXPECT_EQ(parsed("-a ** b"), "(- (** a b))");
  EXPECT_EQ(parsed("a ** -b"), "(** a (- b))");
  EXPECT_EQ(parsed("2 ** -1 ** 2"), "(** 2 (- (** 1 2)))");
  EXPECT_EQ(parsed("2 ** -1 * 3"), "(* (** 2 (- 1)) 3)");
  EXPECT_EQ(parsed("-~+a ** b"), "(- (~ (+ (** a b))))");
  EXPECT_EQ(parsed("-a.b[0]"), "(- (at (. a b) 0))");
}

TEST(GrammarPrecedence, SignsBindMoreThanProducts) {
  EXPECT_EQ(parsed("-a * -b"), "(* (- a) (- b))");
  EXPECT_EQ(parsed("a - -b"), "(- a (- b))");
  EXPECT_EQ(parsed("- - a"), "(- (- a))");
}

TEST(GrammarPrecedence, NotStandsBetweenAndAndComparisons) {
  EXPECT_EQ(parsed("not a == b"), "(not (compare a == b))");
  EXPECT_EQ(parsed("not a and b"), "(and (not a) b)");
  EXPECT_EQ(parsed("a or not b and not not c"), "(or a (and (not b) (not (not c))))");
  EXPECT_EQ(parsed("not -a + b"), "(not (+ (- a) b))");
}

TEST(GrammarPrecedence, ComparisonsChain) {
  EXPECT_EQ(parsed("a < b <= c"), "(compare a < b <= c)");
  EXPECT_EQ(parsed("a == b != c > d >= e < f"), "(compare a == b != c > d >= e < f)");
  EXPECT_EQ(parsed("a in b not in c is d is not e"), "(compare a in b not in c is d is not e)");
  EXPECT_EQ(parsed("(a < b) < c"), "(compare (compare a < b) < c)");
  EXPECT_EQ(parsed("a < (b < c)"), "(compare a < (compare b < c))");
  EXPECT_EQ(parsed("a < b + 1 < c"), "(compare a < (+ b 1) < c)");
}

TEST(GrammarPrecedence, AndAndOrCollectTheirOperands) {
  EXPECT_EQ(parsed("a and b and c"), "(and a b c)");
  EXPECT_EQ(parsed("a or b or c and d and e"), "(or a b (and c d e))");
  EXPECT_EQ(parsed("(a and b) and c"), "(and (and a b) c)");
}

TEST(GrammarPrecedence, ConditionalsAreLoosestAndNestToTheRight) {
  EXPECT_EQ(parsed("a if b else c"), "(if b a c)");
  EXPECT_EQ(parsed("a or b if c or d else e or f"), "(if (or c d) (or a b) (or e f))");
  EXPECT_EQ(parsed("a if b else c if d else e"), "(if b a (if d c e))");
  EXPECT_EQ(parsed("(a if b else c) if d else e"), "(if d (if b a c) e)");
  EXPECT_EQ(parsed("[a if b else c, d]"), "(list (if b a c) d)");
}

TEST(GrammarPrecedence, NotBehindATighterOperatorNeedsParentheses) {
  EXPECT_EQ(errorsOf("a + not b"), "1:5: `not` binds less than `+` before it; put it in parentheses: `(not ...)`");
  EXPECT_EQ(errorsOf("a == not b"), "1:6: `not` binds less than `==` before it; put it in parentheses: `(not ...)`");
  EXPECT_EQ(errorsOf("-not b"), "1:2: `not` binds less than `-` before it; put it in parentheses: `(not ...)`");
  EXPECT_EQ(parsed("a + (not b)"), "(+ a (not b))");
}

}  // namespace
}  // namespace boxcar::syntax
