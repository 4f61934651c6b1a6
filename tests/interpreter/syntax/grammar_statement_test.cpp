#include <gtest/gtest.h>

#include "syntax_helpers.h"

namespace boxcar::syntax {
namespace {

TEST(Grammar, Assignments) {
  EXPECT_EQ(parsed("a = 1; x[i] = 2; x[1:2, ...] = 3; x.y[0] = 4"),
            "(= a 1)\n(= (at x i) 2)\n(= (at x (tuple (slice 1 2 _) ...)) 3)\n(= (at (. x y) 0) 4)");
  EXPECT_EQ(parsed("a, b = e; a, = e; a, x[0], c = f(1), 2, 3"),
            "(= <a b> e)\n(= <a> e)\n(= <a (at x 0) c> (tuple (call f 1) 2 3))");
  EXPECT_EQ(parsed("(a, b) = e; (a) = e"), "(= <a b> e)\n(= a e)");
  EXPECT_EQ(parsed("a = 1, 2; a = 1,"), "(= a (tuple 1 2))\n(= a (tuple 1))");
}

TEST(Grammar, TypedAssignments) {
  EXPECT_EQ(parsed("x: int = 1"), "(= x:`int` 1)");
  EXPECT_EQ(parsed("x: Dict(str, Tensor?[])? = {}"), "(= x:`Dict(str, Tensor?[])?` (dict))");
  EXPECT_EQ(parsed("op: (int, float) = 1, 2"), "(= op:`(int, float)` (tuple 1 2))");
}

TEST(Grammar, AugmentedAssignments) {
  EXPECT_EQ(parsed("a += 1; a -= 1; a *= 1; a /= 1; a //= 1; a %= 1; a @= 1; a **= 1"),
            "(+= a 1)\n(-= a 1)\n(*= a 1)\n(/= a 1)\n(//= a 1)\n(%= a 1)\n(@= a 1)\n(**= a 1)");
  EXPECT_EQ(parsed("a |= 1; a ^= 1; a &= 1; a <<= 1; a >>= 1; x[0] += 2"),
            "(|= a 1)\n(^= a 1)\n(&= a 1)\n(<<= a 1)\n(>>= a 1)\n(+= (at x 0) 2)");
}

TEST(Grammar, ControlFlow) {
  EXPECT_EQ(parsed("if a { b }"), "(if a {b})");
  EXPECT_EQ(parsed("if a { b } elif c { } else { d; e }"), "(if a {b} c {} {d e})");
  EXPECT_EQ(parsed("if a {\n  b\n}\nelif c {\n}\n\n# text\nelse {\n  d\n  e\n}\nf"), "(if a {b} c {} {d e})\nf");
  EXPECT_EQ(parsed("while a < b { break; continue }"), "(while (compare a < b) {(break) (continue)})");
  EXPECT_EQ(parsed("for x in range(3) { }"), "(for x (call range 3) {})");
  EXPECT_EQ(parsed("for i, (x) in enumerate(xs) { }\nfor (a, b) in c { }\nfor x[0] in 1, 2 { }"),
            "(for <i x> (call enumerate xs) {})\n(for <a b> c {})\n(for (at x 0) (tuple 1 2) {})");
  EXPECT_EQ(parsed("return; return 1; return a, b; return {}; return {'a': 1}"),
            "(return _)\n(return 1)\n(return (tuple a b))\n(return (dict))\n(return (dict \"a\":1))");
  EXPECT_EQ(parsed("assert a; assert a, 'm'"), "(assert a _)\n(assert a \"m\")");
  EXPECT_EQ(parsed("raise 'm'; raise f(x)"), "(raise \"m\")\n(raise (call f x))");
}

TEST(Grammar, With) {
  EXPECT_EQ(parsed("with count { y = 1 }"), "(with count {(= y 1)})");
  EXPECT_EQ(parsed("with trace('a.ops'), include(CPU, Dense), m { }"),
            "(with (call trace \"a.ops\") (call include CPU Dense) m {})");
}

TEST(Grammar, UseImportConst) {
  EXPECT_EQ(parsed("use aten\nimport 'a/b.ops'\nconst N = 1 + 2\nconst state = {}"),
            "(use aten)\n(import \"a/b.ops\")\n(const N (+ 1 2))\n(const state (dict))");
}

TEST(Grammar, FunctionsKeepTheTextOfTheirSchemas) {
  EXPECT_EQ(parsed("fn f() -> () { }"), "(fn f `f() -> ()` {})");
  EXPECT_EQ(parsed("fn f(int x, float y=1e-05) -> (int, float n) { return x, y }"),
            "(fn f `f(int x, float y=1e-05) -> (int, float n)` {(return (tuple x y))})");
  EXPECT_EQ(parsed("fn f(int x,\n     str s=\"{\") -> str {\n return s\n}"),
            "(fn f `f(int x,\n     str s=\"{\") -> str` {(return s)})");
}

TEST(Grammar, OperatorsKeepTheTextOfTheirSchemas) {
  EXPECT_EQ(parsed("op my::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!) { return x }"),
            "(op my::f.out `my::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)` {(return x)})");
  EXPECT_EQ(parsed("op my::f(Tensor(a! -> *) x, int[2]? s=None, Tensor?[] y, ...) -> ...\nx = 1"),
            "(op my::f `my::f(Tensor(a! -> *) x, int[2]? s=None, Tensor?[] y, ...) -> ...`)\n(= x 1)");
  EXPECT_EQ(parsed("op f(Tensor(a|b) x) -> (Tensor(a|b), int); op g(int x=-1) -> int"),
            "(op f `f(Tensor(a|b) x) -> (Tensor(a|b), int)`)\n(op g `g(int x=-1) -> int`)");
  EXPECT_EQ(parsed("op a::b(__torch__.torch.classes.q.C x, Dict(str, int) d) -> Future(t)\n"),
            "(op a::b `a::b(__torch__.torch.classes.q.C x, Dict(str, int) d) -> Future(t)`)");
}

TEST(Grammar, OpIsAWordOnlyBeforeAName) {
  EXPECT_EQ(parsed("op = 1; op.name; x = op; op(1)"), "(= op 1)\n(. op name)\n(= x op)\n(call op 1)");
}

TEST(Grammar, ImplAndFallback) {
  EXPECT_EQ(parsed("impl aten::add.Tensor @ CPU { return self }"), "(impl aten::add.Tensor CPU {(return self)})");
  EXPECT_EQ(parsed("impl f @ CPU { }"), "(impl f CPU {})");
  EXPECT_EQ(parsed("fallback @ CPU { return redispatch(op, args) }"),
            "(fallback CPU {(return (call redispatch op args))})");
  EXPECT_EQ(parsed("if a { impl f @ CPU { } ; fallback @ CPU { } }"), "(if a {(impl f CPU {}) (fallback CPU {})})");
}

TEST(Grammar, Modes) {
  EXPECT_EQ(parsed("mode m { a }"), "(mode m {a})");
  EXPECT_EQ(parsed("mode m @ Python { a } exit { b }"), "(mode m @ Python {a} {b})");
  EXPECT_EQ(parsed("mode m {\n}\nexit {\n}\nexit"), "(mode m {} {})\nexit");
}

TEST(Grammar, DeclarationsStandAtTopLevel) {
  EXPECT_EQ(errorsOf("if a {\n  fn f() -> () { }\n  op g() -> ()\n  use b; import 'c'; const d = 1\n  mode e { }\n}"),
            "2:3: `fn` is only allowed at top level\n"
            "3:3: `op` is only allowed at top level\n"
            "4:3: `use` is only allowed at top level\n"
            "4:10: `import` is only allowed at top level\n"
            "4:22: `const` is only allowed at top level\n"
            "5:3: `mode` is only allowed at top level");
}

TEST(Grammar, TheExamplesOfTheReference) {
  EXPECT_EQ(parsed(R"(# Classify 8x8 handwritten digits with a two-layer perceptron.
op digits::mlp(Tensor x, Tensor w1, Tensor b1, Tensor w2, Tensor b2) -> Tensor {
    h = relu(linear(x, w1, b1))
    return linear(h, w2, b2)
}

data = io::load("data/digits.safetensors")
net = io::load("data/digits_mlp.safetensors")
x = data["test.images"].to(float32) / 16
logits = digits::mlp(x, net["fc1.weight"], net["fc1.bias"], net["fc2.weight"], net["fc2.bias"])
hits = (logits.argmax(1) == data["test.labels"]).sum().item()
print("correct", hits, "of", x.size(0))
)"),
            "(op digits::mlp `digits::mlp(Tensor x, Tensor w1, Tensor b1, Tensor w2, Tensor b2) -> Tensor` "
            "{(= h (call relu (call linear x w1 b1))) (return (call linear h w2 b2))})\n"
            "(= data (call io::load \"data/digits.safetensors\"))\n"
            "(= net (call io::load \"data/digits_mlp.safetensors\"))\n"
            "(= x (/ (method (at data \"test.images\") to float32) 16))\n"
            "(= logits (call digits::mlp x (at net \"fc1.weight\") (at net \"fc1.bias\") (at net \"fc2.weight\") "
            "(at net \"fc2.bias\")))\n"
            "(= hits (method (method (compare (method logits argmax 1) == (at data \"test.labels\")) sum) item))\n"
            "(call print \"correct\" hits \"of\" (method x size 0))");
  EXPECT_EQ(parsed(R"(const counts = {}
mode count {
    counts[op.name] = counts.get(op.name, 0) + 1
    return redispatch(op, args, nested=True)
} exit {
    for name in sorted(counts.keys()) { print(f"{name:<20}{counts[name]:>6}") }
}
with count {
    y = relu(ones([2, 2]) - 2)
}
)"),
            "(const counts (dict))\n"
            "(mode count {(= (at counts (. op name)) (+ (method counts get (. op name) 0) 1)) "
            "(return (call redispatch op args nested=True))} "
            "{(for name (call sorted (method counts keys)) {(call print (f {name:<20} {(at counts name):>6}))})})\n"
            "(with count {(= y (call relu (- (call ones (list 2 2)) 2)))})");
}

TEST(Grammar, AnEmptyScriptHasNoStatements) {
  EXPECT_EQ(parsed(""), "");
  EXPECT_EQ(parsed("#!/usr/bin/boxcar\n\n ; ;\n# end"), "");
}

// ---- Spans ----

// Returns the text covered by the expression, or the statement, of a script.
std::string covered(const std::string& text, bool whole_statement = false) {
  const SourcePtr source = Source::create("t.ops", text);
  Diagnostics diagnostics;
  const SyntaxTree tree = parse(source, diagnostics);
  EXPECT_EQ(toString(diagnostics.all()), "");
  const Stmt& stmt = *tree.statements.at(0);
  if (whole_statement) return std::string(source->text(stmt.span));
  return std::string(source->text(boost::variant2::get<Assign>(stmt.node).value->span));
}

TEST(GrammarSpans, ExpressionsCoverTheirText) {
  for (const char* text : {"12",
                           "-1.5",
                           "2j",
                           "'a'",
                           "f'a{b:>3}'",
                           "None",
                           "True",
                           "name",
                           "math::pi",
                           "[1, 2]",
                           "[e for e in xs if e]",
                           "(1, 2)",
                           "(1)",
                           "()",
                           "{1: 2}",
                           "not a",
                           "a + b * c",
                           "a and b or c",
                           "a < b is not c",
                           "a if b else c",
                           "a if b else c if d else e",
                           "x.y",
                           "f()",
                           "ns::f.over(1, k=2)",
                           "x.f(1).g()",
                           "x[0]",
                           "x[1:2, ...]",
                           "(a) + (b)",
                           "-(a)",
                           "((a))[0]",
                           "(a).b",
                           "isinstance(a, int[])"}) {
    EXPECT_EQ(covered(fmt::format("x = {} # comment\n", text)), text);
  }
  EXPECT_EQ(covered("x = a, (b)\n"), "a, (b)");
}

TEST(GrammarSpans, StatementsCoverTheirTextWithTheirBlocks) {
  for (const char* text : {"a",
                           "a = 1",
                           "a: int = 1",
                           "a, b = c",
                           "a += 1",
                           "if a { b } else { c }",
                           "while a { }",
                           "for a in b { }",
                           "break",
                           "continue",
                           "return",
                           "return 1",
                           "assert a, b",
                           "with a { }",
                           "use a",
                           "import 'a'",
                           "const a = 1",
                           "fn f() -> () { }",
                           "op f() -> ()",
                           "op f() -> () { }",
                           "impl f @ CPU { }",
                           "fallback @ CPU { }",
                           "mode m { }",
                           "mode m { } exit { }"}) {
    EXPECT_EQ(covered(fmt::format("  {}  # comment\n", text), true), text);
  }
}

TEST(GrammarSpans, PartsHaveTheirOwn) {
  const SourcePtr source = Source::create("t.ops", "x = a  <  b is not c + ns::f.o( 1 , k = 2 )\n");
  Diagnostics diagnostics;
  const SyntaxTree tree = parse(source, diagnostics);
  const auto& assign = boost::variant2::get<Assign>(tree.statements.at(0)->node);
  EXPECT_EQ(source->text(assign.targets.span), "x");
  const auto& comparison = boost::variant2::get<Comparison>(assign.value->node);
  EXPECT_EQ(source->text(comparison.links[0].op_span), "<");
  EXPECT_EQ(source->text(comparison.links[1].op_span), "is not");
  const auto& sum = boost::variant2::get<Binary>(comparison.links[1].operand->node);
  EXPECT_EQ(source->text(sum.op_span), "+");
  const auto& call = boost::variant2::get<Call>(sum.right->node);
  EXPECT_EQ(source->text(call.callee.span), "ns::f.o");
  EXPECT_EQ(source->text(call.callee.overload.span), "o");
  EXPECT_EQ(source->text(call.arguments_span), "( 1 , k = 2 )");
  EXPECT_EQ(source->text(call.arguments[0].span), "1");
  EXPECT_EQ(source->text(call.arguments[1].span), "k = 2");
  EXPECT_EQ(source->text(call.arguments[1].keyword.span), "k");
}

TEST(GrammarSpans, BlocksIncludeTheirBraces) {
  const SourcePtr source = Source::create("t.ops", "if a {\n b\n} else { c }\nfn f(int x) -> () { }");
  Diagnostics diagnostics;
  const SyntaxTree tree = parse(source, diagnostics);
  const auto& branch = boost::variant2::get<If>(tree.statements.at(0)->node);
  EXPECT_EQ(source->text(branch.branches[0].body.span), "{\n b\n}");
  EXPECT_EQ(source->text(branch.otherwise->span), "{ c }");
  const auto& function = boost::variant2::get<Function>(tree.statements.at(1)->node);
  EXPECT_EQ(source->text(function.name.span), "f");
  EXPECT_EQ(source->position(function.signature.begin), (LineColumn{4, 4}));
}

TEST(Grammar, Structs) {
  EXPECT_EQ(parsed("struct A { }"), "(struct A {})");
  EXPECT_EQ(parsed("struct A { int x; Tensor?[] xs = []\n  Dict(str, A) all = {'a': 1}; (int, str) p }"),
            "(struct A {(field x:`int`) (field xs:`Tensor?[]` (list)) (field all:`Dict(str, A)` (dict \"a\":1)) "
            "(field p:`(int, str)`)})");
  EXPECT_EQ(parsed("struct A { str mode = 'a'; int const; fn use(self) -> () { } }"),
            "(struct A {(field mode:`str` \"a\") (field const:`int`) (fn use `use(self) -> ()` {})})");
  EXPECT_EQ(parsed("struct A {\n  int x\n\n  # text\n  fn f(self, int y) -> () { x }\n  m.B b = None\n}"),
            "(struct A {(field x:`int`) (fn f `f(self, int y) -> ()` {x}) (field b:`m.B` None)})");
}

}  // namespace
}  // namespace boxcar::syntax
