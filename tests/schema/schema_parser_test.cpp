#include <gtest/gtest.h>

#include <string>

#include "tests/schema/schema_test_util.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

void expectUnchanged(std::string_view text) { EXPECT_EQ(reprinted(text), text); }
void expectRejected(std::string_view text, std::string_view reason) { EXPECT_EQ(reasonAgainst(text), reason) << text; }

// A schema with one argument.
std::string with(std::string_view argument) { return "f(" + std::string(argument) + ") -> ()"; }
void expectArgument(std::string_view argument) { expectUnchanged(with(argument)); }
void expectArgumentRejected(std::string_view argument, std::string_view reason) {
  expectRejected(with(argument), reason);
}
std::string reprintedArgument(std::string_view argument) {
  const std::string text = reprinted(with(argument));
  return text.substr(2, text.size() - 9);
}

TEST(SchemaParser, ReadsEveryPart) {
  const FunctionSchema schema = parseSchema(
      "aten::f.out(Tensor(a!) self, int[2] size=[3,4], str? mode='x', *, float p=0.5, bool b=True) -> (Tensor(a!) y, "
      "int)");
  EXPECT_EQ(schema.name(), "aten::f");
  EXPECT_EQ(schema.overload_name(), "out");
  ASSERT_EQ(schema.arguments().size(), 5u);
  const Argument& self = schema.arguments()[0];
  EXPECT_EQ(self.name(), "self");
  EXPECT_EQ(self.type(), Type::tensor());
  EXPECT_TRUE(self.is_write());
  EXPECT_FALSE(self.N().has_value());
  EXPECT_FALSE(self.default_value().has_value());
  EXPECT_FALSE(self.kwarg_only());
  const Argument& size = schema.arguments()[1];
  EXPECT_EQ(size.type(), Type::listOf(Type::integer()));
  EXPECT_EQ(size.N(), 2);
  EXPECT_EQ(*size.default_value(), IValue(List<int64_t>{3, 4}));
  EXPECT_EQ(size.default_spelling(), "[3,4]");
  const Argument& mode = schema.arguments()[2];
  EXPECT_EQ(mode.type(), Type::optionalOf(Type::string()));
  EXPECT_EQ(mode.default_value()->toStringView(), "x");
  EXPECT_TRUE(schema.arguments()[3].kwarg_only());
  EXPECT_EQ(schema.arguments()[3].default_value()->toDouble(), 0.5);
  EXPECT_EQ(schema.arguments()[4].default_value()->toBool(), true);
  ASSERT_EQ(schema.returns().size(), 2u);
  EXPECT_EQ(schema.returns()[0].name(), "y");
  EXPECT_EQ(schema.returns()[0].alias_info(), self.alias_info());
  EXPECT_EQ(schema.returns()[1].name(), "");
  EXPECT_FALSE(schema.is_vararg());
  EXPECT_FALSE(schema.is_varret());
}

TEST(SchemaParser, KnowsEveryTypeName) {
  for (const std::string_view type :
       {"Tensor",  "Generator", "Dimname",           "ScalarType", "Layout",      "MemoryFormat", "Storage",
        "QScheme", "Quantizer", "ConstQuantizerPtr", "Device",     "DeviceIndex", "Stream",       "Scalar",
        "str",     "float",     "complex",           "int",        "SymInt",      "bool",         "NoneType",
        "Capsule", "Any",       "AnyClassType",      "AnyEnumType"}) {
    expectArgument(std::string(type) + " x");
    EXPECT_EQ(parseType(type)->text(), type);
  }
  EXPECT_EQ(reprintedArgument("None x"), "NoneType x");
  EXPECT_EQ(reprintedArgument("number x"), "Scalar x");
  EXPECT_EQ(reprintedArgument("SymBool x"), "bool x");
}

TEST(SchemaParser, ReadsComposedTypes) {
  for (const std::string_view argument :
       {"str[] x", "t[] x", "t x", "Dict(str, t) x", "Dict(str, t)(a!) self", "(int, Tensor)[] x", "((int, str), t) x",
        "Future(t) x", "Await(Tensor) x", "RRef(t) x", "Union(int, str, Tensor[]) x", "Union(int, str)(a!) x",
        "__torch__.torch.classes.quantized.Conv2dPackedParamsBase x", "AnyEnumType x", "Tensor[][] x", "Tensor?[]? x",
        "() x", "(int) x", "Dict(str, Dict(int, Future(Tensor?[]))) x"}) {
    expectArgument(argument);
  }
}

TEST(SchemaParser, ReadsAliasesAtEveryPosition) {
  for (const std::string_view argument : {"Tensor(a) x",
                                          "Tensor(a!) x",
                                          "Tensor(a|b) x",
                                          "Tensor(b|a!) x",
                                          "Tensor(a -> *) x",
                                          "Tensor(a! -> a|b) x",
                                          "Tensor(*) x",
                                          "Tensor(*|a) x",
                                          "Tensor(a|*) x",
                                          "Tensor(a!)? x",
                                          "Tensor(a)?[] x",
                                          "Tensor(a)?[](b!)? x",
                                          "Tensor(a!)[] x",
                                          "Tensor(a)[](b) x",
                                          "Tensor[](b!) x",
                                          "Tensor(a)[][](c) x",
                                          "Tensor(first_set) x",
                                          "Tensor(a)[2] x",
                                          "int[2](a!) x",
                                          "Tensor(a)[2](b)? x",
                                          "t(a!) x",
                                          "t[](a!) self",
                                          "t(c -> *) el",
                                          "(Tensor(a), Tensor(b!)) x",
                                          "(Tensor(a), int)[](b) x",
                                          "Dict(str, Tensor(a!))(b) x",
                                          "Future(Tensor(a)) x",
                                          "Union(Tensor(a), int)(b) x",
                                          "Any(a) x",
                                          "Stream(z!) x"}) {
    expectArgument(argument);
  }
  EXPECT_EQ(reprintedArgument("Tensor(a -> a) x"), "Tensor(a) x");
  EXPECT_EQ(reprintedArgument("Tensor ( a | b ! ->c ) x"), "Tensor(a|b! -> c) x");
}

TEST(SchemaParser, BareExclamationMarkIsASetOfItsOwn) {
  for (const std::string_view argument : {"Tensor! x", "Tensor![] x", "Tensor!? x", "int[2]!? x", "t[]! x"}) {
    expectArgument(argument);
    EXPECT_TRUE(parseSchema(with(argument)).is_mutable()) << argument;
  }
}

TEST(SchemaParser, ReadsReturns) {
  for (const std::string_view returns :
       {"()", "Tensor", "Tensor y", "(Tensor, int)", "(Tensor values, Tensor indices)", "...", "(int, ...)", "int[2]",
        "int[2] y", "(int[2] x, Tensor(a!)? y)", "((int, Tensor))", "((str, t)[])", "(())", "Tensor(a!)[](b)"}) {
    expectUnchanged("f() -> " + std::string(returns));
  }
  EXPECT_EQ(reprinted("f() -> (Tensor)"), "f() -> Tensor");
  EXPECT_EQ(reprinted("f() -> (Tensor y)"), "f() -> Tensor y");
  EXPECT_EQ(reprinted("f() -> (...)"), "f() -> ...");
  EXPECT_EQ(parseSchema("f() -> ((int, Tensor))").returns().size(), 1u);
}

TEST(SchemaParser, AcceptsNames) {
  expectUnchanged("f() -> ()");
  expectUnchanged("_f1.a1() -> ()");
  expectUnchanged("ns::f.overload(int from, int lambda, int int) -> ()");
  EXPECT_EQ(reprinted("a :: f . b (int x)->()"), "a::f.b(int x) -> ()");
}

TEST(SchemaParser, AcceptsCommentsAndNewlinesInsideParentheses) {
  EXPECT_EQ(reprinted("f( # the first\n  int x,\n  # )\n  str y='#'\n) -> (\n\n)"), "f(int x, str y='#') -> ()");
  EXPECT_EQ(reprinted("\n# before\n  f(int x) -> () # behind\n\n"), "f(int x) -> ()");
}

TEST(SchemaParser, NewlinesOutsideParenthesesEndASchema) {
  expectRejected("f(int x)\n-> ()", "expected '->', found the end of the line");
  expectRejected("f(int x) ->\n()", "expected a return type, found the end of the line");
  expectRejected("f\n(int x) -> ()", "expected '(', found the end of the line");
  expectRejected("f(int x) -> ()\ng() -> ()", "expected the end, found the end of the line");
}

TEST(SchemaParser, KeywordOnlyArguments) {
  expectUnchanged("f(int x, *, int y) -> ()");
  expectUnchanged("f(*, int y) -> ()");
  expectUnchanged("f(*, int x=1, int y) -> ()");
  expectUnchanged("f(int x=0, *, int y, int z=1, Tensor w) -> ()");
  EXPECT_EQ(reprinted("f(*, *, int x) -> ()"), "f(*, int x) -> ()");
  EXPECT_EQ(reprinted("f(int x, *) -> ()"), "f(int x) -> ()");
}

TEST(SchemaParser, Varargs) {
  expectUnchanged("f(...) -> ...");
  expectUnchanged("f(str format, ...) -> str");
  EXPECT_TRUE(parseSchema("f(...) -> ...").is_vararg());
  EXPECT_TRUE(parseSchema("f(...) -> ...").is_varret());
  expectRejected("f(..., int x) -> ()", "'...' must come last");
  expectRejected("f(..., *) -> ()", "'...' must come last");
  expectRejected("f(..., ...) -> ()", "'...' must come last");
  expectRejected("f() -> (..., int)", "'...' must come last");
  expectRejected("f(int x=1, ...) -> ()", "argument 'x' cannot have a default beside '...'");
}

TEST(SchemaParser, RejectsBadNames) {
  expectRejected("a::b::f() -> ()", "expected '(', found '::'");
  expectRejected("f.default() -> ()", "overload name 'default' is reserved: it means the overload without a name");
  expectRejected("f.__x() -> ()", "overload name '__x' starts with '__', which is reserved");
  expectRejected("in::f() -> ()", "expected an operator name, found the keyword 'in'");
  expectRejected("a::if() -> ()", "expected an operator name, found the keyword 'if'");
  expectRejected("f.in() -> ()", "expected an overload name, found the keyword 'in'");
  expectRejected("1f() -> ()", "expected an operator name, found '1f'");
  expectRejected("", "expected an operator name, found the end of the text");
  expectRejected("f", "expected '(', found the end of the text");
  for (const std::string keyword :
       {"and",  "as",    "assert", "break",  "class",  "continue", "def",   "del", "elif", "Ellipsis",
        "else", "False", "for",    "global", "if",     "import",   "in",    "is",  "None", "NoneType",
        "not",  "or",    "pass",   "raise",  "return", "True",     "while", "with"}) {
    expectArgumentRejected("int " + keyword, "expected an argument name, found the keyword '" + keyword + "'");
  }
}

TEST(SchemaParser, RejectsTrailingComma) {
  expectRejected("f(int x,) -> ()", "expected an argument, found ')'");
  expectRejected("f() -> (int,)", "expected a return type, found ')'");
  expectArgumentRejected("int[] x=[1,]", "expected a number, a string or a name, found ']'");
  expectArgumentRejected("(int,) x", "expected a type, found ')'");
}

TEST(SchemaParser, RejectsMisplacedAnnotations) {
  expectArgumentRejected("Tensor?(a!) x", "an alias annotation comes before the '?': write Tensor(a!)?");
  expectArgumentRejected("Tensor[]?! x", "an alias annotation comes before the '?': write Tensor(a!)?");
  expectArgumentRejected("int[2][] x", "expected an argument name, found '['");
  expectArgumentRejected("Future(int)(a) x", "expected an argument name, found '('");
  expectArgumentRejected("(int, int)(a) x", "expected an argument name, found '('");
  expectArgumentRejected("Tensor() x", "expected an alias set or '*', found ')'");
  expectArgumentRejected("Tensor(a, b) x", "expected ')', found ','");
  expectArgumentRejected("Tensor(if) x", "expected an alias set or '*', found the keyword 'if'");
  expectArgumentRejected("Tensor(a -> ) x", "expected an alias set or '*', found ')'");
}

TEST(SchemaParser, RejectsUnknownAndIncompleteTypes) {
  expectArgumentRejected("Tensr x", "unknown type Tensr. Did you mean 'Tensor'?");
  expectArgumentRejected("T x", "unknown type T");
  expectArgumentRejected("double x", "unknown type double: schemas write float");
  expectArgumentRejected("int64_t x", "unknown type int64_t: schemas write int or SymInt");
  expectArgumentRejected("if x", "expected a type, found the keyword 'if'");
  expectArgumentRejected("Dict(str) x", "Dict takes 2 types, found 1");
  expectArgumentRejected("Future(int, int) x", "Future takes 1 type, found 2");
  expectArgumentRejected("Future x", "expected '(', found 'x'");
  expectArgumentRejected("Union() x", "expected a type, found ')'");
  expectArgumentRejected("__torch__.foo.classes.a.B x", "a class is written __torch__.torch.classes.namespace.Name");
  expectArgumentRejected("__torch__.torch.classes.a x", "expected '.', found 'x'");
}

TEST(SchemaParser, RejectsOtherSyntax) {
  expectRejected("f(int x) -> ", "expected a return type, found the end of the text");
  expectRejected("f(int x) ()", "expected '->', found '('");
  expectRejected("f(int x -> ()", "expected ',' or ')', found '->'");
  expectRejected("f(int) -> ()", "expected an argument name, found ')'");
  expectRejected("f(int 1) -> ()", "expected an argument name, found '1'");
  expectRejected("f() -> int x=1", "expected the end, found '='");
  expectRejected("f() -> (int x) y", "expected the end, found 'y'");
  expectRejected("f() -> (int, Tensor)[]", "expected the end, found '['");
  expectArgumentRejected("int x=", "expected a default value, found ')'");
  expectArgumentRejected("int[x] y", "expected a number, found 'x'");
  expectArgumentRejected("int[1.5] y", "1.5 is not a length of a list: that is a decimal number below 2147483648");
  expectArgumentRejected("int[-1] y", "-1 is not a length of a list: that is a decimal number below 2147483648");
  expectArgumentRejected("int[2147483648] y",
                         "2147483648 is not a length of a list: that is a decimal number below 2147483648");
  expectRejected("f(int \xC3\xA4) -> ()", "expected an argument name, found '\xC3\xA4'");
}

TEST(SchemaParser, RejectsTwoArgumentsOfOneName) {
  expectRejected("f(Tensor x, int y, int x) -> ()", "two arguments are called 'x'");
  expectUnchanged("f() -> (int x, int x)");
}

TEST(SchemaParser, RejectsARequiredPositionalArgumentBehindADefault) {
  constexpr std::string_view kReason =
      "argument 'y' needs a default, because one before it has one: give it one, move it forward or put '*' before it";
  expectRejected("f(int x=0, int y) -> ()", kReason);
  expectRejected("f(int x=0, int[]? y) -> ()", kReason);
  expectUnchanged("f(int x=0, int[] y) -> ()");
  expectUnchanged("f(int x=0, int[2] y, Tensor[] z) -> ()");
}

TEST(SchemaParser, LimitsNesting) {
  const auto lists = [](int count) {
    std::string type = "int";
    for (int i = 0; i < count; ++i) type += "[]";
    return type;
  };
  EXPECT_EQ(parseType(lists(Type::kMaxDepth - 1))->depth(), Type::kMaxDepth);
  expectArgumentRejected(lists(Type::kMaxDepth) + " x", "types are nested deeper than 64");
  expectArgumentRejected(lists(100000) + " x", "types are nested deeper than 64");
  const auto tuples = [](int count) { return std::string(count, '(') + "int" + std::string(count, ')'); };
  EXPECT_EQ(parseType(tuples(Type::kMaxDepth - 1))->depth(), Type::kMaxDepth);
  EXPECT_THROW(parseType(tuples(Type::kMaxDepth)), SchemaError);
  expectRejected("f() -> " + tuples(1000000), "types are nested deeper than 64");
  EXPECT_EQ(errorAgainst("f((" + lists(Type::kMaxDepth - 1) + ") x) -> ()").substr(0, 64),
            "schema, line 1, column 3: types are nested deeper than 64\n  f((i");
  expectArgumentRejected("Dict(str, " + lists(Type::kMaxDepth - 1) + ") x", "types are nested deeper than 64");
  expectArgumentRejected(lists(Type::kMaxDepth - 1) + "? x", "types are nested deeper than 64");
  expectArgumentRejected(lists(Type::kMaxDepth - 1) + "[2] x", "types are nested deeper than 64");
  std::string dicts;
  for (int i = 0; i < 1000; ++i) dicts += "Dict(str, ";
  expectArgumentRejected(dicts, "types are nested deeper than 64");
}

TEST(SchemaParser, ParsesNames) {
  EXPECT_EQ(parseName("aten::add.Tensor"), OperatorName("aten::add", "Tensor"));
  EXPECT_EQ(parseName(" add "), OperatorName("add", ""));
  EXPECT_THROW(parseName("aten::add(int x) -> ()"), SchemaError);
  EXPECT_THROW(parseName("aten::add.default"), SchemaError);
  EXPECT_EQ(std::get<OperatorName>(parseSchemaOrName("aten::add.Tensor ")), OperatorName("aten::add", "Tensor"));
  EXPECT_EQ(std::get<FunctionSchema>(parseSchemaOrName("f() -> int")), parseSchema("f() -> int"));
  EXPECT_EQ(errorOf([] { parseSchemaOrName("f[]"); }),
            "schema, line 1, column 2: expected '(', found '['\n"
            "  f[]\n"
            "   ^");
}

TEST(SchemaParser, ParsesTypes) {
  EXPECT_EQ(parseType(" Dict( str,Tensor?[ ] ) "),
            Type::dictOf(Type::string(), Type::listOf(Type::optionalOf(Type::tensor()))));
  EXPECT_EQ(errorOf([] { parseType("int[](a)"); }),
            "schema, line 1, column 6: an alias annotation has no meaning on a type alone\n"
            "  int[](a)\n"
            "       ^");
  EXPECT_THROW(parseType("int x"), SchemaError);
  EXPECT_THROW(parseType("int[2]"), SchemaError);
}

TEST(SchemaParser, PrefixEndsBehindTheLastReturn) {
  const std::string_view text = "mlp(Tensor x,\n  int n=2) -> (Tensor y, int)  # why\n { return x }";
  const SchemaPrefix prefix = parseSchemaPrefix(text);
  EXPECT_EQ(toString(prefix.schema), "mlp(Tensor x, int n=2) -> (Tensor y, int)");
  EXPECT_EQ(text.substr(prefix.length), "  # why\n { return x }");

  const std::string_view next_line = "f(Tensor x) -> Tensor\ny = f(x)";
  EXPECT_EQ(next_line.substr(parseSchemaPrefix(next_line).length), "\ny = f(x)");
  const std::string_view body = "f() -> Dict(str, int)? {";
  EXPECT_EQ(body.substr(parseSchemaPrefix(body).length), " {");

  const std::string_view declaration = "Dict(str, int)[] = {}";
  const TypePrefix type = parseTypePrefix(declaration);
  EXPECT_EQ(type.type->text(), "Dict(str, int)[]");
  EXPECT_EQ(declaration.substr(type.length), " = {}");
}

TEST(SchemaParser, KnowsFurtherTypesByName) {
  class Names final : public TypeNames {
   public:
    TypePtr find(std::string_view name) const override {
      static const int point = 0;
      return name == "Point" || name == "m.Point" ? Type::classOf("Point", &point) : nullptr;
    }
    bool qualifies(std::string_view word) const override { return word == "m"; }
    std::vector<std::string_view> candidates() const override { return {"Point", "m.Point"}; }
  };
  const Names names;
  const TypePtr point = names.find("Point");
  EXPECT_EQ(parseType("Dict(str, Point?[])", &names),
            Type::dictOf(Type::string(), Type::listOf(Type::optionalOf(point))));
  EXPECT_EQ(parseType("(m.Point, int)", &names)->contained()[0], point);
  EXPECT_EQ(parseTypePrefix("m.Point[] x", &names).length, 9U);
  EXPECT_EQ(parseSchemaPrefix("f(Point p) -> m.Point", &names).schema.returns()[0].type(), point);
  const auto reason = [&names](std::string_view text) -> std::string {
    try {
      parseType(text, &names);
      return "none";
    } catch (const SchemaError& error) {
      return std::string(text.substr(error.offset(), error.length())) + ": " + error.reason();
    }
  };
  EXPECT_EQ(reason("Poimt[]"), "Poimt: unknown type Poimt. Did you mean 'Point'?");
  EXPECT_EQ(reason("m.Poimt[]"), "m.Poimt: unknown type m.Poimt. Did you mean 'm.Point'?");
  EXPECT_EQ(reason("m[]"), "[: expected '.', found '['");
}

}  // namespace
}  // namespace boxcar
