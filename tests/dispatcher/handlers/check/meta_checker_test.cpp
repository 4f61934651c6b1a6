#include <boxcar/dispatcher/handlers/check/meta_checker.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/dispatcher/handlers/check/checker_helpers.h"

namespace boxcar {
namespace {

Tensor meta(std::vector<int64_t> sizes, ScalarType dtype = ScalarType::Float) {
  return Tensor::allocate(sizes, dtype, Device(DeviceType::Meta));
}

class MetaCheckerTest : public ::testing::Test {
 protected:
  // Returns the Error of a call of an operator with these kernels, the second one at Meta.
  template <class Kernel, class MetaKernel, class... Args>
  std::string errorOfKernels(const std::string& schema, std::vector<Tag> tags, Kernel kernel, MetaKernel meta_kernel,
                             const Args&... args) {
    Library library = definitions("meta_test");
    Library cpu = implementations(DispatchKey::CPU, "meta_test");
    Library on_meta = implementations(DispatchKey::Meta, "meta_test");
    library.def(schema, std::move(tags));
    cpu.impl("f", CppFunction(kernel));
    on_meta.impl("f", CppFunction(meta_kernel));
    return errorUnder(checker_, find("meta_test::f"), args...);
  }
  template <class MetaKernel>
  std::string errorOfNeg(MetaKernel meta_kernel) {
    return errorOfKernels(
        "f(Tensor x) -> Tensor", {}, [](const Tensor& x) { return neg(x); }, meta_kernel, floats({1, 2, 3}));
  }

  MetaChecker checker_;
};

TEST_F(MetaCheckerTest, LetsKernelsThatAgreeThrough) {
  EXPECT_EQ(errorOfNeg([](const Tensor& x) { return meta({x.size(0)}); }), "no error");
}

TEST_F(MetaCheckerTest, TellsSizesTypesAndStridesThatDiffer) {
  EXPECT_EQ(errorOfNeg([](const Tensor&) { return meta({4}); }),
            "meta_test::f computes its result as float32[3] with strides [1], but on meta tensors it says float32[4] "
            "with strides [1]: one of its two kernels is wrong");
  EXPECT_EQ(errorOfNeg([](const Tensor&) { return meta({3}, ScalarType::Double); }),
            "meta_test::f computes its result as float32[3] with strides [1], but on meta tensors it says float64[3] "
            "with strides [1]: one of its two kernels is wrong");
  const auto spread = [](const Tensor&) { return meta({6}).view(std::vector<int64_t>{3}, std::vector<int64_t>{2}, 0); };
  EXPECT_EQ(errorOfNeg(spread),
            "meta_test::f computes its result as float32[3] with strides [1], but on meta tensors it says float32[3] "
            "with strides [2]: one of its two kernels is wrong");
}

TEST_F(MetaCheckerTest, TellsAKernelThatFailsOrLeavesMeta) {
  EXPECT_EQ(errorOfNeg([](const Tensor& x) { return floats({x.data_ptr<float>()[0]}); }),
            "the Meta kernel of meta_test::f fails where the call itself did not: " +
                errorOf([] { meta({3}).data_ptr<float>(); }));
  EXPECT_EQ(errorOfNeg([](const Tensor&) {
              return floats({1, 2, 3});
            }),
            "the Meta kernel of meta_test::f gave its result on cpu: its results must be on meta");
}

TEST_F(MetaCheckerTest, PassesOverWhatNeedsDataIfTagged) {
  const auto fails = [](const Tensor&) -> Tensor { BOXCAR_FAIL("no data"); };
  const auto copies = [](const Tensor& x) { return neg(x); };
  for (const Tag tag : {Tag::data_dependent_output, Tag::dynamic_output_shape}) {
    EXPECT_EQ(errorOfKernels("f(Tensor x) -> Tensor", {tag}, copies, fails, floats({1})), "no error");
  }
  EXPECT_NE(errorOfKernels("f(Tensor x) -> Tensor", {}, copies, fails, floats({1})), "no error");
}

// The sizes of a dynamic result cannot be predicted, but its type can.
TEST_F(MetaCheckerTest, ComparesTheTypesOfDynamicShapes) {
  const auto copies = [](const Tensor& x) { return neg(x); };
  const auto longer = [](const Tensor&) { return meta({9}); };
  const auto other = [](const Tensor&) { return meta({9}, ScalarType::Long); };
  EXPECT_EQ(errorOfKernels("f(Tensor x) -> Tensor", {Tag::dynamic_output_shape}, copies, longer, floats({1})),
            "no error");
  EXPECT_EQ(errorOfKernels("f(Tensor x) -> Tensor", {Tag::dynamic_output_shape}, copies, other, floats({1})),
            "meta_test::f computes its result as float32[1] with strides [1], but on meta tensors it says int64[9] "
            "with strides [1]: one of its two kernels is wrong");
}

TEST_F(MetaCheckerTest, ComparesWrittenArgumentsAndListsOfResults) {
  const auto resize = [](const Tensor& x, Tensor& out) -> Tensor& { return neg_out(out, x); };
  const auto stay = [](const Tensor&, Tensor& out) -> Tensor& { return out; };
  EXPECT_EQ(errorOfKernels("f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", {}, resize, stay, floats({1, 2}),
                           Tensor::allocate(std::vector<int64_t>{0}, ScalarType::Float)),
            "meta_test::f computes its result as float32[2] with strides [1], but on meta tensors it says float32[0] "
            "with strides [1]: one of its two kernels is wrong");
  const auto parts = [](const Tensor& x) { return std::vector<Tensor>{neg(x), neg(x)}; };
  const auto fewer = [](const Tensor& x) { return std::vector<Tensor>{meta({x.size(0)})}; };
  EXPECT_EQ(errorOfKernels("f(Tensor x) -> Tensor[]", {}, parts, fewer, floats({1})),
            "meta_test::f gave 2 tensors, but on meta tensors it gives 1");
}

TEST_F(MetaCheckerTest, MapsDevicesAndKeepsStridesAndSharing) {
  std::string seen;
  const auto real = [](const Tensor& x, const Tensor&, std::optional<Device>) { return neg(x); };
  const auto look = [&](const Tensor& x, const Tensor& y, std::optional<Device> device) {
    seen = fmt::format("{} {} {} {}", fmt::join(x.strides(), ","), x.storage() == y.storage(), toString(*device),
                       x.device());
    return meta({2, 2});
  };
  const Tensor base = floats({1, 2, 3, 4}, {2, 2});
  errorOfKernels("f(Tensor x, Tensor y, *, Device? device=None) -> Tensor", {}, real, look, transpose(base, 0, 1), base,
                 IValue());
  EXPECT_EQ(seen, "1,2 true meta meta");
}

TEST_F(MetaCheckerTest, CountsCompositesThatRunOnMeta) {
  Library library = definitions("meta_test");
  library.def("wrong(Tensor(a) x) -> Tensor(a)", [](const Tensor& x) { return x.is_meta() ? x : unsqueeze(x, 0); });
  library.def("reads(Tensor x) -> Tensor", [](const Tensor& x) { return floats({x.data_ptr<float>()[0]}); });
  EXPECT_EQ(errorUnder(checker_, find("meta_test::wrong"), floats({1, 2})),
            "meta_test::wrong computes its result as float32[1, 2] with strides [2, 1], but on meta tensors it says "
            "float32[2] with strides [1]: one of its two kernels is wrong");
  EXPECT_EQ(errorUnder(checker_, find("meta_test::reads"), floats({1, 2})), "no error");
}

TEST_F(MetaCheckerTest, DoesNotRepeatWhatActsOutside) {
  int written = 0;
  Library library = definitions("meta_test");
  library.def("write() -> ()", [&] { ++written; }, {Tag::io});
  library.def("outer(Tensor x) -> Tensor", [](const Tensor& x) {
    find("meta_test::write").typed<void()>().call();
    return neg(x);
  });
  EXPECT_EQ(errorUnder(checker_, find("meta_test::outer"), floats({1})), "no error");
  EXPECT_EQ(written, 1);
}

TEST_F(MetaCheckerTest, LeavesMetaTensorsAlone) {
  EXPECT_EQ(errorUnder(checker_, find("aten::t"), meta({2, 3})), "no error");
}

}  // namespace
}  // namespace boxcar
