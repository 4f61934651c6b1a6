#include <boxcar/dispatcher/cpp_signature.h>
#include <gtest/gtest.h>

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
