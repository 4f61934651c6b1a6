#include <boxcar/schema/infer_schema.h>
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <tuple>
#include <vector>

#include "tests/schema/schema_test_util.h"

namespace boxcar {
namespace {

template <class T>
std::string_view argumentType() {
  return inferSchema<void(T)>().arguments().at(0).type()->text();
}
template <class T>
std::string returnsOf() {
  const std::string text = toString(inferSchema<T()>());
  return text.substr(text.find("-> ") + 3);
}

struct Handle : CustomClassHolder {
  std::string className() const override { return "__torch__.torch.classes.test.Handle"; }
};

TEST(InferSchema, MapsEveryArgumentType) {
  EXPECT_EQ(argumentType<const Tensor&>(), "Tensor");
  EXPECT_EQ(argumentType<Tensor&>(), "Tensor");
  EXPECT_EQ(argumentType<Tensor>(), "Tensor");
  EXPECT_EQ(argumentType<const std::optional<Tensor>&>(), "Tensor?");
  EXPECT_EQ(argumentType<TensorList>(), "Tensor[]");
  EXPECT_EQ(argumentType<const List<std::optional<Tensor>>&>(), "Tensor?[]");
  EXPECT_EQ(argumentType<int64_t>(), "int");
  EXPECT_EQ(argumentType<SymInt>(), "SymInt");
  EXPECT_EQ(argumentType<double>(), "float");
  EXPECT_EQ(argumentType<bool>(), "bool");
  EXPECT_EQ(argumentType<std::complex<double>>(), "complex");
  EXPECT_EQ(argumentType<const Scalar&>(), "Scalar");
  EXPECT_EQ(argumentType<std::span<const int64_t>>(), "int[]");
  EXPECT_EQ(argumentType<std::span<const SymInt>>(), "SymInt[]");
  EXPECT_EQ(argumentType<std::span<const double>>(), "float[]");
  EXPECT_EQ(argumentType<std::span<const bool>>(), "bool[]");
  EXPECT_EQ(argumentType<std::optional<std::span<const int64_t>>>(), "int[]?");
  EXPECT_EQ(argumentType<std::string_view>(), "str");
  EXPECT_EQ(argumentType<std::optional<std::string_view>>(), "str?");
  EXPECT_EQ(argumentType<ScalarType>(), "ScalarType");
  EXPECT_EQ(argumentType<std::optional<ScalarType>>(), "ScalarType?");
  EXPECT_EQ(argumentType<Layout>(), "Layout");
  EXPECT_EQ(argumentType<MemoryFormat>(), "MemoryFormat");
  EXPECT_EQ(argumentType<Device>(), "Device");
  EXPECT_EQ(argumentType<const std::optional<Generator>&>(), "Generator?");
  EXPECT_EQ(argumentType<Stream>(), "Stream");
  EXPECT_EQ(argumentType<const Storage&>(), "Storage");
  EXPECT_EQ((argumentType<const Dict<std::string, Tensor>&>()), "Dict(str, Tensor)");
  EXPECT_EQ((argumentType<const std::tuple<int64_t, Tensor>&>()), "(int, Tensor)");
  EXPECT_EQ(argumentType<const List<std::string>&>(), "str[]");
  EXPECT_EQ(argumentType<const IValue&>(), "Any");
  EXPECT_EQ(argumentType<const IntrusivePtr<Handle>&>(), "AnyClassType");
}

TEST(InferSchema, MapsResults) {
  EXPECT_EQ(returnsOf<void>(), "()");
  EXPECT_EQ(returnsOf<std::tuple<>>(), "()");
  EXPECT_EQ(returnsOf<Tensor>(), "Tensor");
  EXPECT_EQ(returnsOf<Tensor&>(), "Tensor");
  EXPECT_EQ((returnsOf<std::tuple<Tensor, int64_t>>()), "(Tensor, int)");
  EXPECT_EQ((returnsOf<std::tuple<Tensor&, Tensor&>>()), "(Tensor, Tensor)");
  EXPECT_EQ(returnsOf<std::vector<Tensor>>(), "Tensor[]");
  EXPECT_EQ(returnsOf<std::vector<bool>>(), "bool[]");
  EXPECT_EQ(returnsOf<std::optional<Tensor>>(), "Tensor?");
  EXPECT_EQ(returnsOf<std::string>(), "str");
  EXPECT_EQ(returnsOf<IValue>(), "Any");
}

TEST(InferSchema, NumbersTheArgumentsAndDropsTheKeySet) {
  EXPECT_EQ(toString(inferSchema<Tensor(DispatchKeySet, const Tensor&, int64_t)>({"my::op", "x"})),
            "my::op.x(Tensor _0, int _1) -> Tensor");
  EXPECT_EQ(toString(inferSchema<void(bool) noexcept>({"f", ""})), "f(bool _0) -> ()");
  EXPECT_EQ(toString(inferSchema<int64_t (*)(double)>({"f", ""})), "f(float _0) -> int");
}

template <class Function>
std::string difference(std::string_view schema) {
  return findSchemaDifferences(parseSchema(schema), inferSchema<Function>()).value_or("none");
}

TEST(SchemaDifferences, NoneWhereTheCppTypesAreRight) {
  EXPECT_EQ((difference<Tensor(const Tensor&, const Tensor&, const Scalar&)>(
                "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")),
            "none");
  EXPECT_EQ((difference<Tensor&(Tensor&, std::span<const int64_t>)>("f(Tensor(a!) x, SymInt[2] s=1) -> Tensor(a!)")),
            "none");
  EXPECT_EQ((difference<SymInt(SymInt, std::optional<SymInt>)>("f(int x, int? y) -> int")), "none");
  EXPECT_EQ((difference<void(int64_t, std::string_view)>("f(ScalarType x, Dimname y) -> ()")), "none");
  EXPECT_EQ((difference<void(ScalarType)>("f(int x) -> ()")), "none");
  EXPECT_EQ((difference<IValue(const IValue&, const IValue&)>("f(t x, Future(int)? y) -> t")), "none");
  EXPECT_EQ((difference<void(const IntrusivePtr<Handle>&)>("f(__torch__.torch.classes.test.Handle x) -> ()")), "none");
  EXPECT_EQ((difference<void(const List<IValue>&)>("f(str[] x) -> ()")), "none");
  EXPECT_EQ((difference<void(const Dict<std::string, IValue>&)>("f(Dict(str, Tensor[]) x) -> ()")), "none");
}

TEST(SchemaDifferences, TellTheFirst) {
  EXPECT_EQ((difference<Tensor(const Tensor&)>("f(Tensor x, int y) -> Tensor")),
            "the schema has 2 arguments, the C++ function has 1");
  EXPECT_EQ((difference<void(const Tensor&)>("f(Tensor x) -> Tensor")),
            "the schema has 1 result, the C++ function has 0");
  EXPECT_EQ((difference<Tensor(const Tensor&, const Tensor&)>("f(Tensor x, Tensor? y) -> Tensor")),
            "argument 'y' (position 2 of 2) is of type Tensor? in the schema, but of type Tensor in the C++ function");
  EXPECT_EQ((difference<void(double)>("f(int x) -> ()")),
            "argument 'x' (position 1 of 1) is of type int in the schema, but of type float in the C++ function");
  EXPECT_EQ(
      (difference<void(Layout)>("f(ScalarType x) -> ()")),
      "argument 'x' (position 1 of 1) is of type ScalarType in the schema, but of type Layout in the C++ function");
  EXPECT_EQ((difference<void(std::span<const double>)>("f(int[2] x) -> ()")),
            "argument 'x' (position 1 of 1) is of type int[] in the schema, but of type float[] in the C++ function");
  EXPECT_EQ((difference<void(const List<IValue>&)>("f(int[] x) -> ()")),
            "argument 'x' (position 1 of 1) is of type int[] in the schema, but of type Any[] in the C++ function");
  EXPECT_EQ((difference<std::tuple<Tensor, int64_t>()>("f() -> (Tensor, Tensor)")),
            "result (position 2 of 2) is of type Tensor in the schema, but of type int in the C++ function");
  EXPECT_EQ((difference<std::tuple<Tensor, int64_t>()>("f() -> (Tensor a, float b)")),
            "result 'b' (position 2 of 2) is of type float in the schema, but of type int in the C++ function");
  EXPECT_EQ((difference<void(int64_t)>("f(Any x) -> ()")),
            "argument 'x' (position 1 of 1) is of type Any in the schema, but of type int in the C++ function");
  EXPECT_EQ((difference<void(int64_t)>("f(int x, ...) -> ()")),
            "the schema has any number of arguments, which only a boxed kernel can take");
  EXPECT_EQ((difference<void(int64_t)>("f(int x) -> ...")),
            "the schema has any number of results, which only a boxed kernel can give");
}

}  // namespace
}  // namespace boxcar
