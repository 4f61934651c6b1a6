#include <boxcar/dispatcher/call/dispatch_trace.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;

// Returns what [body] writes to stderr while the trace is on.
std::string traceOf(auto&& body) {
  testing::internal::CaptureStderr();
  setDispatchTraceEnabled(true);
  body();
  setDispatchTraceEnabled(false);
  return testing::internal::GetCapturedStderr();
}

Tensor withKeys(std::initializer_list<Key> keys) {
  Tensor tensor = cpuTensor();
  tensor.unsafeGetTensorImpl()->set_key_set(DispatchKeySet(keys).add(Key::ADInplaceOrView));
  return tensor;
}

using Add = Tensor(const Tensor&, const Tensor&);

// An operator `traced::add` with the kernels of the scenarios: each functionality redispatches below itself.
class DispatchTrace : public ::testing::Test {
 protected:
  DispatchTrace() {
    m_.def("add(Tensor a, Tensor b) -> Tensor");
    for (const Key key : {Key::CPU, Key::CUDA}) {
      kernels_.push_back(implementations(key, "traced"));
      kernels_.back().impl("add", [](const Tensor& a, const Tensor&) { return a; });
    }
    kernels_.push_back(implementations(Key::Autograd, "traced"));
    kernels_.back().impl("add", [](DispatchKeySet keys, const Tensor& a, const Tensor& b) {
      const AutoDispatchBelowAutograd guard;
      return find("traced::add").typed<Add>().redispatch(keys & after_autograd_keyset, a, b);
    });
    kernels_.push_back(implementations(Key::AutocastCUDA, "traced"));
    kernels_.back().impl("add", [](DispatchKeySet keys, const Tensor& a, const Tensor& b) {
      const ExcludeDispatchKeyGuard guard(Key::AutocastCUDA);
      return find("traced::add")
          .typed<Add>()
          .redispatch(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, Key::AutocastCUDA), a, b);
    });
  }
  static std::string traceOfAdd(const Tensor& a) {
    return traceOf([&] { find("traced::add").typed<Add>().call(a, a); });
  }

 private:
  Library m_ = definitions("traced");
  std::vector<Library> kernels_;
};

TEST_F(DispatchTrace, TensorThatNeedsNoGradientGoesToTheBackend) {
  EXPECT_EQ(traceOfAdd(withKeys({Key::CPU})), "[call] op=[traced::add], key=[CPU]\n");
}

TEST_F(DispatchTrace, TensorThatNeedsAGradientGoesThroughAutograd) {
  EXPECT_EQ(traceOfAdd(withKeys({Key::CPU, Key::AutogradCPU})),
            "[call] op=[traced::add], key=[AutogradCPU]\n"
            " [redispatch] op=[traced::add], key=[CPU]\n");
}

TEST_F(DispatchTrace, CudaTensorGoesThroughAutogradToCuda) {
  EXPECT_EQ(traceOfAdd(withKeys({Key::CUDA, Key::AutogradCUDA})),
            "[call] op=[traced::add], key=[AutogradCUDA]\n"
            " [redispatch] op=[traced::add], key=[CUDA]\n");
}

TEST_F(DispatchTrace, InferenceModeLeavesAutogradOut) {
  const InferenceMode inference;
  EXPECT_EQ(traceOfAdd(withKeys({Key::CPU, Key::AutogradCPU})), "[call] op=[traced::add], key=[CPU]\n");
}

TEST_F(DispatchTrace, AutocastComesBeforeAutograd) {
  const Tensor tensor = withKeys({Key::CUDA, Key::AutogradCUDA, Key::AutocastCUDA});
  const ForceDispatchKeyGuard autocast(tls_local_dispatch_key_set().included_,
                                       tls_local_dispatch_key_set().excluded_.remove(Key::AutocastCUDA));
  EXPECT_EQ(traceOfAdd(tensor),
            "[call] op=[traced::add], key=[AutocastCUDA]\n"
            " [redispatch] op=[traced::add], key=[AutogradCUDA]\n"
            "  [redispatch] op=[traced::add], key=[CUDA]\n");
}

TEST_F(DispatchTrace, MarksBoxedCalls) {
  const Tensor tensor = withKeys({Key::CPU});
  EXPECT_EQ(traceOf([&] {
              Stack stack{IValue(tensor), IValue(tensor)};
              find("traced::add").callBoxed(stack);
            }),
            "[callBoxed] op=[traced::add], key=[CPU]\n");
  Library fallback = fallbacks(Key::Tracer);
  fallback.fallback(CppFunction::makeFromBoxedFunctor([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    op.redispatchBoxed(keys.remove(Key::Tracer), stack);
  }));
  const IncludeDispatchKeyGuard include(Key::Tracer);
  EXPECT_EQ(traceOfAdd(tensor),
            "[call] op=[traced::add], key=[Tracer]\n"
            " [redispatchBoxed] op=[traced::add], key=[CPU]\n");
}

TEST_F(DispatchTrace, NamesTheKeyOfTheKernelThatRunsNotOfThoseThatLetTheCallThrough) {
  Library through = implementations(Key::AutogradCPU, "traced");
  through.impl("add", CppFunction::makeFallthrough());
  EXPECT_EQ(traceOfAdd(withKeys({Key::CPU, Key::AutogradCPU})), "[call] op=[traced::add], key=[CPU]\n");
}

TEST_F(DispatchTrace, ShowsModes) {
  const ModeGuard mode(
      [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { op.redispatchBoxed(keys, stack); });
  EXPECT_EQ(traceOfAdd(withKeys({Key::CPU})),
            "[call] op=[traced::add], key=[PreDispatch]\n"
            " [redispatchBoxed] op=[traced::add], key=[PreDispatch]\n"
            "  [redispatchBoxed] op=[traced::add], key=[CPU]\n");
}

TEST_F(DispatchTrace, SaysWhatADescribedLevelDoesToTheArguments) {
  setLevelDescriber(Key::AutogradFunctionality, [](LevelCall& call) {
    ASSERT_EQ(call.arguments.size(), 2U);
    EXPECT_EQ(call.key, Key::AutogradCPU);
    EXPECT_TRUE(call.keys.has(Key::AutogradCPU));
    call.effect = "has a of " + std::string(dtypeName(call.arguments[0].dtypes.at(0)));
  });
  const Tensor a = withKeys({Key::CPU, Key::AutogradCPU});
  EXPECT_EQ(traceOfAdd(a),
            "[call] op=[traced::add], key=[AutogradCPU]: has a of float32\n"
            " [redispatch] op=[traced::add], key=[CPU]\n");
  EXPECT_EQ(traceOf([&] {
              Stack stack{IValue(a), IValue(a)};
              find("traced::add").callBoxed(stack);
            }),
            "[callBoxed] op=[traced::add], key=[AutogradCPU]: has a of float32\n"
            " [redispatch] op=[traced::add], key=[CPU]\n");
  EXPECT_EQ(traceOf([&] {
              Stack stack{IValue(a), IValue(a)};
              find("traced::add").redispatchBoxed(a.key_set(), stack);
              EXPECT_EQ(stack.size(), 1U);
            }),
            "[redispatchBoxed] op=[traced::add], key=[AutogradCPU]: has a of float32\n"
            " [redispatch] op=[traced::add], key=[CPU]\n");
  const uint32_t owners = useCount(a);
  setLevelDescriber(Key::AutogradFunctionality, [](LevelCall&) { BOXCAR_FAIL("not this call"); });
  EXPECT_EQ(traceOfAdd(a),
            "[call] op=[traced::add], key=[AutogradCPU]\n"
            " [redispatch] op=[traced::add], key=[CPU]\n");
  setLevelDescriber(Key::AutogradFunctionality, nullptr);
  EXPECT_EQ(useCount(a), owners);
}

TEST_F(DispatchTrace, IndentationIsRightAgainAfterAnError) {
  Library failing = implementations(Key::CPU, "traced");
  failing.impl("add", [](const Tensor&, const Tensor&) -> Tensor { throw std::runtime_error("no"); });
  const Tensor tensor = withKeys({Key::CPU});
  const auto fail = [&] { find("traced::add").typed<Add>().call(tensor, tensor); };
  const std::string line = "[call] op=[traced::add], key=[CPU]\n";
  EXPECT_EQ(traceOf([&] {
              EXPECT_EQ(errorOf(fail), "traced::add() failed: no");
              EXPECT_EQ(errorOf(fail), "traced::add() failed: no");
            }),
            line + line);
}

TEST_F(DispatchTrace, OffItWritesNothing) {
  testing::internal::CaptureStderr();
  const Tensor tensor = withKeys({Key::CPU});
  find("traced::add").typed<Add>().call(tensor, tensor);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(dispatchTraceIsEnabled());
}

// The steps of a linear layer with a gradient: each of its two operators is recorded, then computed.
TEST(DispatchTraceOfLinear, ShowsTheStepsOfALayerWithAGradient) {
  using Unary = Tensor(const Tensor&);
  Library m = definitions("layer");
  m.def("linear(Tensor x) -> Tensor");
  m.def("addmm(Tensor x) -> Tensor");
  Library autograd = implementations(Key::Autograd, "layer");
  for (const char* name : {"linear", "addmm"}) {
    autograd.impl(name, [name](DispatchKeySet keys, const Tensor& x) {
      return find((std::string("layer::") + name).c_str()).typed<Unary>().redispatch(keys & after_autograd_keyset, x);
    });
  }
  Library cuda = implementations(Key::CUDA, "layer");
  cuda.impl("linear", [](const Tensor& x) { return find("layer::addmm").typed<Unary>().call(x); });
  cuda.impl("addmm", [](const Tensor& x) { return x; });
  const Tensor x = withKeys({Key::CUDA, Key::AutogradCUDA});
  EXPECT_EQ(traceOf([&] { find("layer::linear").typed<Unary>().call(x); }),
            "[call] op=[layer::linear], key=[AutogradCUDA]\n"
            " [redispatch] op=[layer::linear], key=[CUDA]\n"
            "  [call] op=[layer::addmm], key=[AutogradCUDA]\n"
            "   [redispatch] op=[layer::addmm], key=[CUDA]\n");
}

// The operator itself and the product that it calls.
TEST(DispatchTraceOfLinear, ShowsWhatTheCompositeCalls) {
  const Tensor x = boxcar::ones(std::vector<int64_t>{2, 3});
  const Tensor weight = boxcar::ones(std::vector<int64_t>{4, 3});
  const Tensor bias = boxcar::ones(std::vector<int64_t>{4});
  const std::string trace = traceOf([&] { boxcar::linear(x, weight, bias); });
  EXPECT_EQ(trace.find("[call] op=[aten::linear], key=[CPU]\n"), 0U) << trace;
  EXPECT_NE(trace.find("\n [call] op=[aten::addmm], key=[CPU]\n"), std::string::npos) << trace;
}

}  // namespace
}  // namespace boxcar
