#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

// Chooses among schemas for arguments in notation such as "Tensor, alpha=int".
class Overloads {
 public:
  Overloads(std::initializer_list<const char*> schemas) {
    for (const char* text : schemas) schemas_.push_back(parseSchema(text));
    for (const FunctionSchema& schema : schemas_) candidates_.push_back(&schema);
  }

  Resolution resolve(std::string_view written, TypesFrom types = TypesFrom::kProgram) {
    arguments_.clear();
    while (!written.empty()) {
      int depth = 0;
      size_t end = 0;
      while (end < written.size() && (depth > 0 || written[end] != ',')) {
        depth += written[end] == '(' ? 1 : written[end] == ')' ? -1 : 0;
        ++end;
      }
      std::string_view one = written.substr(0, end);
      written.remove_prefix(std::min(end + 2, written.size()));
      const size_t equals = one.find('=');
      const std::string_view keyword = equals == std::string_view::npos ? "" : one.substr(0, equals);
      if (equals != std::string_view::npos) one.remove_prefix(equals + 1);
      arguments_.push_back({parseType(one), keyword});
    }
    return resolveOverload(candidates_, arguments_, types);
  }

  // Returns the name of the chosen overload, "dynamic", or the error.
  std::string choose(std::string_view written, TypesFrom types = TypesFrom::kProgram) {
    const Resolution resolution = resolve(written, types);
    switch (resolution.kind) {
      case Resolution::Kind::Chosen: return schemas_[resolution.candidate].overload_name();
      case Resolution::Kind::Dynamic: return "dynamic";
      case Resolution::Kind::None: break;
    }
    std::string text = rejectionHeadline(schemas_[0].name(), arguments_, resolution.rejections);
    for (const std::string& line : rejectionLines(candidates_, resolution.rejections)) text += "\n" + line;
    return text;
  }

  const FunctionSchema& schema(size_t i) const { return schemas_[i]; }
  std::span<const FunctionSchema* const> candidates() const { return candidates_; }

 private:
  std::vector<FunctionSchema> schemas_;
  std::vector<const FunctionSchema*> candidates_;
  std::vector<CallArgument> arguments_;
};

Overloads add() {
  return {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"};
}

TEST(Overload, SameTypeBeatsConversion) {
  EXPECT_EQ(add().choose("Tensor, Tensor"), "Tensor");
  EXPECT_EQ(Overloads({"t::f.i(int x) -> ()", "t::f.f(float x) -> ()"}).choose("int"), "i");
  EXPECT_EQ(Overloads({"t::f.f(float x) -> ()", "t::f.i(int x) -> ()"}).choose("bool"), "f");
}

TEST(Overload, ConversionsRankFromFreeToDear) {
  // Each pair lists the costlier one first, so that the order does not decide.
  EXPECT_EQ(Overloads({"t::f.b(float x) -> ()", "t::f.a(SymInt x) -> ()"}).choose("int"), "a");
  EXPECT_EQ(Overloads({"t::f.b(Scalar x) -> ()", "t::f.a(float x) -> ()"}).choose("int"), "a");
  EXPECT_EQ(Overloads({"t::f.b(int? x) -> ()", "t::f.a(Scalar x) -> ()"}).choose("int"), "a");
  EXPECT_EQ(Overloads({"t::f.b(int[2] x) -> ()", "t::f.a(int? x) -> ()"}).choose("int"), "a");
  EXPECT_EQ(Overloads({"t::f.b(Tensor s, Tensor x) -> ()", "t::f.a(Tensor s, int[2] x) -> ()"}).choose("Tensor, int"),
            "a");
  EXPECT_EQ(Overloads({"t::f.b(float[] x) -> ()", "t::f.a(int[]? x) -> ()"}).choose("int[]"), "a");
}

TEST(Overload, WhereConversionsDifferBothWaysDefaultsDecideThenOrder) {
  Overloads mixed{"t::f.a(float x, int y) -> ()", "t::f.b(int x, float y) -> ()"};
  EXPECT_EQ(mixed.choose("int, int"), "a");
  Overloads defaults{"t::f.a(float x, int y, int z=0) -> ()", "t::f.b(int x, float y) -> ()"};
  EXPECT_EQ(defaults.choose("int, int"), "b");
  EXPECT_EQ(Overloads({"t::f.a(int x, int y=1) -> ()", "t::f.b(int x) -> ()"}).choose("int"), "b");
}

TEST(Overload, KeywordsFindTheirParameters) {
  EXPECT_EQ(add().choose("Tensor, Tensor, alpha=int"), "Tensor");
  EXPECT_EQ(add().choose("Tensor, int, alpha=int"), "Scalar");
  const Resolution resolution = add().resolve("Tensor, other=float");
  ASSERT_EQ(resolution.kind, Resolution::Kind::Chosen);
  EXPECT_EQ(resolution.candidate, 1u);
  EXPECT_EQ(resolution.fit.parameters[1].first, 1u);
  EXPECT_EQ(resolution.fit.parameters[2].from, ParameterPlan::From::Default);
  EXPECT_EQ(resolution.fit.default_count, 1u);
}

TEST(Overload, IntsMayStandSinglyForTheOnlyList) {
  Overloads zeros{"aten::zeros(SymInt[] size, *, ScalarType? dtype=None) -> Tensor"};
  const Resolution two = zeros.resolve("int, int, dtype=ScalarType");
  ASSERT_EQ(two.kind, Resolution::Kind::Chosen);
  EXPECT_EQ(two.fit.parameters[0].from, ParameterPlan::From::Rest);
  EXPECT_EQ(two.fit.parameters[0].count, 2u);
  EXPECT_EQ(zeros.resolve("int").fit.parameters[0].target.list_size, 1);
  EXPECT_EQ(zeros.choose("int[]"), "");
  EXPECT_EQ(zeros.choose("int, float"),
            "aten::zeros: argument 'size' accepts separate ints, but float is no int\n"
            "aten::zeros(SymInt[] size, *, ScalarType? dtype=None) -> Tensor");

  Overloads view{"aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)"};
  EXPECT_EQ(view.resolve("Tensor, int, int").fit.parameters[1].count, 2u);
  Overloads sum{"aten::sum.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor"};
  EXPECT_EQ(sum.choose("Tensor, int"), "dim");
  EXPECT_EQ(sum.choose("Tensor, int, int"),
            "aten::sum: argument 'keepdim' must be bool, not int\n"
            "aten::sum.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor");
}

TEST(Overload, NumbersAreTensorsBesideTensorsOnly) {
  Overloads maximum{"aten::maximum(Tensor self, Tensor other) -> Tensor"};
  EXPECT_EQ(maximum.choose("Tensor, float"), "");
  EXPECT_EQ(maximum.choose("float, Tensor"), "");
  EXPECT_EQ(maximum.choose("float, float"),
            "aten::maximum: argument 'self' must be Tensor, not float; a number can replace a Tensor only next to a "
            "Tensor argument\naten::maximum(Tensor self, Tensor other) -> Tensor");
}

TEST(Overload, DeviceAloneIsAcceptedByTo) {
  Overloads to{"aten::to.dtype(Tensor self, ScalarType dtype, bool copy=False) -> Tensor",
               "aten::to.device(Tensor self, Device device, ScalarType dtype) -> Tensor",
               "aten::to.dtype_layout(Tensor self, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
               "aten::to.other(Tensor self, Tensor other) -> Tensor"};
  EXPECT_EQ(to.choose("Tensor, ScalarType"), "dtype");
  EXPECT_EQ(to.choose("Tensor, str"), "dtype_layout");
  EXPECT_EQ(to.choose("Tensor, Device"), "dtype_layout");
  EXPECT_EQ(to.choose("Tensor, str, ScalarType"), "device");
  EXPECT_EQ(to.choose("Tensor, Tensor"), "other");
  EXPECT_EQ(to.choose("Tensor, dtype=ScalarType"), "dtype");
}

TEST(Overload, AnyIsDecidedWhenTheLineRuns) {
  EXPECT_EQ(add().choose("Tensor, Any"), "dynamic");
  EXPECT_EQ(Overloads({"t::f.a(Any x) -> ()", "t::f.b(Any x, int y=0) -> ()"}).choose("Any"), "a");
  EXPECT_EQ(Overloads({"t::f.only(int x) -> ()"}).choose("Any"), "only");
  EXPECT_EQ(Overloads({"t::f.a(int[] x) -> ()", "t::f.b(Tensor[] x) -> ()"}).choose("Any[]"), "dynamic");
}

TEST(Overload, ScalarIsDecidedAtOnceWhereEveryNumberGivesTheSame) {
  EXPECT_EQ(add().choose("Tensor, Scalar"), "Scalar");
  EXPECT_EQ(Overloads({"t::f.i(int x) -> ()", "t::f.f(float x) -> ()"}).choose("Scalar"), "dynamic");
}

TEST(Overload, TellsWhyEachWasTurnedDown) {
  EXPECT_EQ(
      add().choose("Tensor, str"),
      "no overload of aten::add takes (Tensor, str)\n"
      "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor: argument 'other' must be Tensor, "
      "not str\n"
      "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor: argument 'other' must be Scalar, not "
      "str");
  Overloads relu{"aten::relu(Tensor self) -> Tensor"};
  const std::string schema = "\naten::relu(Tensor self) -> Tensor";
  EXPECT_EQ(relu.choose(""), "aten::relu: argument 'self' is missing" + schema);
  EXPECT_EQ(relu.choose("Tensor, int"), "aten::relu: it takes 1 positional argument, not 2" + schema);
  EXPECT_EQ(relu.choose("slef=Tensor"), "aten::relu: it has no argument 'slef'. Did you mean 'self'?" + schema);
  EXPECT_EQ(relu.choose("Tensor, self=Tensor"),
            "aten::relu: argument 'self' is given twice, by position and by keyword" + schema);
  EXPECT_EQ(relu.choose("Tensor?"),
            "aten::relu: argument 'self' must be Tensor, not Tensor?; check `is None` first" + schema);
  Overloads many{"t::f(int a, int b, int c) -> ()"};
  EXPECT_EQ(many.choose(""), "t::f: arguments 'a', 'b' and 'c' are missing\nt::f(int a, int b, int c) -> ()");
  Overloads some{"t::f(int a, int b=1) -> ()"};
  EXPECT_EQ(some.choose("int, int, int"),
            "t::f: it takes at most 2 positional arguments, not 3\nt::f(int a, int b=1) -> ()");
}

TEST(Overload, TypeVariablesStandForWhatIsGiven) {
  Overloads get{"t::get(t[] self, int index, t fallback) -> t"};
  const Resolution resolution = get.resolve("str[], int, str");
  ASSERT_EQ(resolution.kind, Resolution::Kind::Chosen);
  EXPECT_EQ(resultType(get.schema(0), resolution.fit), Type::string());
  EXPECT_EQ(get.resolve("str[], int, int").kind, Resolution::Kind::None);
}

TEST(Overload, ValuesChooseByTheSameRules) {
  Overloads overloads = add();
  const std::string_view keywords[] = {"", "", "alpha"};
  std::vector<IValue> values = {Tensor(), 2.5, 3};
  const ValueResolution found = resolveValues("aten::add", overloads.candidates(), values, keywords);
  EXPECT_EQ(found.candidate, 1u);
  const std::vector<IValue> arranged = arrangeValues(overloads.schema(1), found.fit, values);
  ASSERT_EQ(arranged.size(), 3u);
  EXPECT_EQ(arranged[1].toDouble(), 2.5);
  EXPECT_EQ(arranged[2].toInt(), 3);

  const std::vector<IValue> wrong = {Tensor(), "x"};
  EXPECT_EQ(errorOf([&] { resolveValues("aten::add", overloads.candidates(), wrong, std::span(keywords, 2)); }),
            "no overload of aten::add takes (Tensor, str)\n"
            "  aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor: argument 'other' must be "
            "Tensor, not str\n"
            "  aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor: argument 'other' must be Scalar, "
            "not str");
}

TEST(Overload, ADtypeAmongValuesIsAnInt) {
  Overloads to{"aten::to.dtype(Tensor self, ScalarType dtype) -> Tensor"};
  EXPECT_EQ(to.choose("Tensor, int", TypesFrom::kValues), "dtype");
  EXPECT_NE(to.choose("Tensor, int", TypesFrom::kProgram), "dtype");
  EXPECT_NE(to.choose("Tensor, int", TypesFrom::kTypedValues), "dtype");
  EXPECT_EQ(to.choose("Tensor, ScalarType", TypesFrom::kTypedValues), "dtype");
}

}  // namespace
}  // namespace boxcar::interp
