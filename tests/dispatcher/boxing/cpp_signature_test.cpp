#include <boxcar/dispatcher/boxing/cpp_signature.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace boxcar {
namespace {

TEST(CppSignature, IsEqualForTheSameTypeAlone) {
  EXPECT_EQ(CppSignature::make<void()>(), CppSignature::make<void()>());
  EXPECT_EQ((CppSignature::make<Tensor(const Tensor&, double)>()),
            (CppSignature::make<Tensor(const Tensor&, double)>()));
  EXPECT_NE(CppSignature::make<void()>(), CppSignature::make<bool()>());
  EXPECT_NE(CppSignature::make<bool(int64_t)>(), (CppSignature::make<bool(int64_t, int64_t)>()));
  EXPECT_NE(CppSignature::make<bool(int64_t)>(), CppSignature::make<double(int64_t)>());
  EXPECT_NE(CppSignature::make<bool(int64_t)>(), CppSignature::make<bool(const int64_t&)>());
  EXPECT_NE(CppSignature::make<bool(Tensor)>(), CppSignature::make<bool(Tensor&)>());
}

TEST(CppSignature, OfAFunctorALambdaAndAPointerIsThatOfTheFunction) {
  struct Functor {
    double operator()(const Tensor&, int64_t) const { return 0; }
  };
  const auto lambda = [](const Tensor&, int64_t) noexcept { return 0.5; };
  const CppSignature& function = CppSignature::make<double(const Tensor&, int64_t)>();
  EXPECT_EQ(CppSignature::make<Functor>(), function);
  EXPECT_EQ(CppSignature::make<decltype(lambda)>(), function);
  EXPECT_EQ((CppSignature::make<double (*)(const Tensor&, int64_t)>()), function);
  EXPECT_NE(CppSignature::make<Functor>(), CppSignature::make<double(const Tensor&)>());
}

TEST(CppSignature, KeySetIsNoArgumentAndSymIntIsInt) {
  EXPECT_EQ(CppSignature::make<bool(DispatchKeySet, double)>(), CppSignature::make<bool(double)>());
  EXPECT_EQ((CppSignature::make<SymInt(std::span<const SymInt>, SymInt)>()),
            (CppSignature::make<int64_t(std::span<const int64_t>, int64_t)>()));
  EXPECT_EQ((CppSignature::make<std::tuple<Tensor, std::vector<SymInt>>()>()),
            (CppSignature::make<std::tuple<Tensor, std::vector<int64_t>>()>()));
}

TEST(CppSignature, ASymIntByReferenceIsIntAndAnArrayRefIsASpan) {
  EXPECT_EQ((CppSignature::make<const SymInt&(const SymInt&, const std::optional<SymInt>&)>()),
            (CppSignature::make<int64_t(int64_t, std::optional<int64_t>)>()));
  EXPECT_EQ((CppSignature::make<void(SymIntArrayRef, const IntArrayRef&, std::optional<SymIntArrayRef>)>()),
            (CppSignature::make<void(std::span<const int64_t>, std::span<const int64_t>,
                                     std::optional<std::span<const int64_t>>)>()));
  EXPECT_EQ((CppSignature::make<void(const std::vector<SymInt>&, ArrayRef<Tensor>)>()),
            (CppSignature::make<void(std::vector<int64_t>, TensorList)>()));
  EXPECT_EQ(toString(CppSignature::make<SymInt(const SymInt&, ArrayRef<double>)>().schema()),
            "inferred(int _0, float[] _1) -> int");
  EXPECT_EQ(toString(inferSchema<SymInt(const SymInt&, const std::optional<SymIntArrayRef>&)>()),
            "inferred(SymInt _0, SymInt[]? _1) -> SymInt");
}

TEST(CppSignature, TellsItsNameItsArgumentsAndItsSchema) {
  const CppSignature& signature = CppSignature::make<void(DispatchKeySet, int64_t, const Tensor&)>();
  EXPECT_EQ(signature.name(), "void (long, boxcar::Tensor const&)");
  EXPECT_EQ(toString(signature), signature.name());
  EXPECT_EQ(signature.argumentCount(), 2U);
  EXPECT_EQ(toString(signature.schema()), "inferred(int _0, Tensor _1) -> ()");
  EXPECT_EQ(CppSignature::make<void()>().argumentCount(), 0U);
}

}  // namespace
}  // namespace boxcar
