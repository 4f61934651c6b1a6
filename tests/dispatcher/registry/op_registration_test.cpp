#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using Keys = std::vector<Key>;

// Returns a kernel of `op(Tensor x) -> str` that returns [text].
CppFunction says(std::string text) {
  return [text = std::move(text)](const Tensor&) { return text; };
}
CppFunction boxedSays(std::string text) {
  return CppFunction::makeFromBoxedFunctor([text = std::move(text)](const OperatorHandle&, Stack* stack) {
    drop(*stack, 1);
    push(*stack, text);
  });
}

Tensor tensorWithAll(const Keys& keys) {
  Tensor tensor = cpuTensor();
  DispatchKeySet set;
  for (const Key key : keys) set = set.add(key);
  tensor.unsafeGetTensorImpl()->set_key_set(set);
  return tensor;
}

// Returns which kernel of `test::op` answers for [x], typed and boxed.
std::string answer(const Tensor& x) {
  const std::string typed = find("test::op").typed<std::string(const Tensor&)>().call(x);
  const Stack boxed = callOp(find("test::op"), x);
  EXPECT_EQ(boxed.size(), 1U);
  EXPECT_EQ(boxed[0].toStringRef(), typed);
  return typed;
}
std::string answer(const Keys& keys) { return answer(tensorWithAll(keys)); }

void expectMissing(Key key) {
  const std::string error = errorOf([&] { answer(Keys{key}); });
  EXPECT_EQ(error.find("could not run test::op for dispatch key " + std::string(toString(key))), 0U) << error;
}

class OpRegistration : public ::testing::Test {
 protected:
  static Library composite(std::string text) {
    Library m = implementations(Key::CatchAll);
    m.impl("op", says(std::move(text)));
    return m;
  }
  static Library kernel(Key key, std::string text) {
    Library m = implementations(key);
    m.impl("op", says(std::move(text)));
    return m;
  }
  static Library define() {
    Library m = definitions();
    m.def("op(Tensor x) -> str");
    return m;
  }
};

TEST_F(OpRegistration, DefinitionComesBeforeTheKernelOrBehindItBySchemaOrByName) {
  {
    const Library m = define();
    const Library all = composite("all");
    EXPECT_EQ(answer(Keys{Key::CUDA}), "all");
  }
  {
    const Library all = composite("all");
    const Library m = define();
    EXPECT_EQ(answer(Keys{Key::CUDA}), "all");
  }
  for (const char* text : {"op", "op(Tensor x) -> str"}) {
    Library m = definitions();
    m.def(text, says("both"));
    EXPECT_EQ(answer(Keys{Key::CUDA}), "both");
  }
}

TEST_F(OpRegistration, NeedsASchemaOrAKernelThatImpliesOne) {
  Library m = definitions();
  EXPECT_NE(errorOf([&] { m.def(""); }), "no error");
  EXPECT_NE(errorOf([&] { m.def("", says("all")); }), "no error");
  EXPECT_NE(errorOf([&] { m.def("op"); }), "no error");
  EXPECT_FALSE(Dispatcher::singleton().findSchema({"test::op", ""}).has_value());
}

TEST_F(OpRegistration, SchemaAloneIsDefinedButNotCalled) {
  {
    const Library m = define();
    EXPECT_TRUE(find("test::op").hasSchema());
    expectMissing(Key::CPU);
    {
      const Library cpu = kernel(Key::CPU, "cpu");
      EXPECT_EQ(answer(Keys{Key::CPU}), "cpu");
    }
    EXPECT_TRUE(find("test::op").hasSchema());
    expectMissing(Key::CPU);
    const Library other = [] {
      Library without_tensors = definitions();
      without_tensors.def("nothing() -> ()");
      return without_tensors;
    }();
    EXPECT_TRUE(find("test::nothing").hasSchema());
  }
  EXPECT_FALSE(Dispatcher::singleton().findSchema({"test::op", ""}).has_value());
}

TEST_F(OpRegistration, KernelsThatAreGoneLeaveRoomForCompositeOnesAndTheOtherWayRound) {
  const Library m = define();
  { const Library cpu = kernel(Key::CPU, "cpu"); }
  {
    const Library all = composite("all");
    EXPECT_EQ(answer(Keys{Key::CPU}), "all");
    EXPECT_EQ(answer(Keys{Key::CUDA}), "all");
  }
  const Library cpu = kernel(Key::CPU, "cpu");
  EXPECT_EQ(answer(Keys{Key::CPU}), "cpu");
  expectMissing(Key::CUDA);
}

// Removes two kernels of one key in either order, for a backend key and for CatchAll.
TEST_F(OpRegistration, NewerKernelAnswersUntilItGoesAndNobodyWhenBothHaveGone) {
  const Library m = define();
  for (const Key key : {Key::CPU, Key::CatchAll}) {
    for (const bool newer_goes_first : {true, false}) {
      std::optional<Library> older = kernel(key, "older");
      EXPECT_EQ(answer(Keys{Key::CPU}), "older");
      std::optional<Library> newer = kernel(key, "newer");
      EXPECT_EQ(answer(Keys{Key::CPU}), "newer");
      (newer_goes_first ? newer : older).reset();
      EXPECT_EQ(answer(Keys{Key::CPU}), newer_goes_first ? "older" : "newer");
      (newer_goes_first ? older : newer).reset();
      expectMissing(Key::CPU);
    }
  }
}

TEST_F(OpRegistration, KernelsOfOneBlockAnswerForTheirKeysAndTheErrorNamesThem) {
  const Library m = define();
  {
    Library kernels = definitions();
    kernels.impl("op", Key::CPU, says("cpu")).impl("op", DeviceType::CUDA, says("cuda"));
    EXPECT_EQ(answer(Keys{Key::CPU}), "cpu");
    EXPECT_EQ(answer(Keys{Key::CUDA}), "cuda");
    expectMissing(Key::XLA);
    EXPECT_NE(errorOf([] { answer(Keys{Key::XLA}); }).find("The operator has kernels for: CUDA, CPU"),
              std::string::npos);
  }
  for (const Key key : {Key::CPU, Key::CUDA, Key::XLA}) expectMissing(key);
}

TEST_F(OpRegistration, CallForGivenKeysDoesNotLookAtTheTensors) {
  const Library m = define();
  const Library cpu = kernel(Key::CPU, "cpu");
  const auto op = find("test::op").typed<std::string(const Tensor&)>();
  EXPECT_EQ(op.redispatch(DispatchKeySet(Key::CPU), tensorWith({Key::CUDA})), "cpu");
  EXPECT_NE(errorOf([&] { op.redispatch(DispatchKeySet(Key::CUDA), tensorWith({Key::CPU})); }), "no error");
}

TEST_F(OpRegistration, BoxedAndUnboxedKernelsStandSideBySideWithOneSchema) {
  for (const bool by_name : {true, false}) {
    Library m = definitions();
    m.def(by_name ? "op" : "op(Tensor x) -> str", dispatch(Key::CUDA, says("unboxed")));
    m.impl("op", Key::CPU, boxedSays("boxed")).impl("op", Key::XLA, boxedSays("boxed"));
    EXPECT_EQ(answer(Keys{Key::CPU}), "boxed");
    EXPECT_EQ(answer(Keys{Key::CUDA}), "unboxed");
    EXPECT_EQ(answer(Keys{Key::XLA}), "boxed");
  }
  Library m = define();
  for (const Key key : {Key::CPU, Key::CUDA, Key::XLA}) m.impl("op", key, boxedSays(std::string(toString(key))));
  for (const Key key : {Key::CPU, Key::CUDA, Key::XLA}) EXPECT_EQ(answer(Keys{key}), toString(key));
}

TEST_F(OpRegistration, KernelsAndCallersOfAnotherCppTypeAreRefusedWhicheverComesFirst) {
  const std::pair<Key, Key> orders[] = {
      {Key::CPU, Key::CPU}, {Key::CatchAll, Key::CPU}, {Key::CPU, Key::CatchAll}, {Key::CPU, Key::CUDA}};
  for (const auto& [older, newer] : orders) {
    Library m = definitions();
    m.def("mixed(int n) -> ()");
    Library first = implementations(older);
    first.impl("mixed", [](int64_t) {});
    Library second = implementations(newer);
    const std::string error = errorOf([&] { second.impl("mixed", [](const int64_t&) {}); });
    EXPECT_EQ(error.find("two kernels of test::mixed have different C++ signatures\n    void (long) for key "), 0U)
        << error;
    EXPECT_NE(error.find("void (long const&)"), std::string::npos) << error;
    const std::string access = errorOf([] { find("test::mixed").typed<void(const int64_t&)>(); });
    EXPECT_EQ(access.find("operator test::mixed was accessed at tests/dispatcher/registry/op_registration_test.cpp:"),
              0U)
        << access;
    EXPECT_NE(access.find(" with C++ signature\n    void (long const&)\n"), std::string::npos) << access;
    EXPECT_EQ(errorOf([] { find("test::mixed").typed<void(int64_t)>(); }), "no error");
  }
  Library m = definitions();
  m.def("inferred", dispatch(Key::CPU, [](const Tensor&, int64_t) {}));
  EXPECT_NE(errorOf([&] { m.impl("inferred", Key::CUDA, [](const Tensor&) {}); }), "no error");
}

// The fallback appends the operator's name to its text.
TEST_F(OpRegistration, FallbackServesItsBackendWhereTheOperatorHasNoKernel) {
  Library fallback = fallbacks(Key::CPU);
  fallback.fallback(CppFunction::makeFromBoxedFunctor([](const OperatorHandle& op, Stack* stack) {
    const std::string text = pop(*stack).toStringRef() + op.schema().name();
    drop(*stack, 1);
    push(*stack, text);
  }));
  Library m = definitions();
  m.def("greet(Tensor x, str text) -> str");
  const auto greet = [](Key key) { return callOp(find("test::greet"), tensorWith({key}), "hello ")[0].toStringRef(); };
  const auto regular = [](const Tensor&, std::string_view) { return std::string("regular"); };
  EXPECT_EQ(greet(Key::CPU), "hello test::greet");
  EXPECT_EQ(errorOf([&] { greet(Key::CUDA); }).find("could not run test::greet for dispatch key CUDA"), 0U);
  {
    Library cuda = implementations(Key::CUDA);
    cuda.impl("greet", regular);
    EXPECT_EQ(greet(Key::CUDA), "regular");
    EXPECT_EQ(greet(Key::CPU), "hello test::greet");
  }
  {
    Library cpu = implementations(Key::CPU);
    cpu.impl("greet", regular);
    EXPECT_EQ(greet(Key::CPU), "regular");
  }
  // A composite kernel also counts as a kernel of the operator.
  Library all = implementations(Key::CatchAll);
  all.impl("greet", regular);
  EXPECT_EQ(greet(Key::CPU), "regular");
}

const Keys kCpuGrad{Key::CPU, Key::AutogradCPU};
const Keys kCudaGrad{Key::CUDA, Key::AutogradCUDA};
const Keys kXlaGrad{Key::XLA, Key::AutogradXLA};
const Keys kSparseGrad{Key::SparseCPU, Key::AutogradOther};

// Tests which of several kernels answers for a tensor.
TEST_F(OpRegistration, PrecedenceOfBackendsAutogradAndComposites) {
  constexpr Key kImplicit = Key::CompositeImplicitAutograd;
  constexpr Key kExplicit = Key::CompositeExplicitAutograd;
  const std::vector<Keys> all{{Key::CPU}, kCpuGrad, {Key::XLA}, kXlaGrad, {Key::SparseCPU}, kSparseGrad};
  struct Case {
    Keys kernels;
    std::map<Keys, Key> answers;
  };
  const auto everywhere = [&](Key key) {
    std::map<Keys, Key> answers;
    for (const Keys& keys : all) answers[keys] = key;
    return answers;
  };
  const Case cases[] = {
      {{kImplicit}, everywhere(kImplicit)},
      {{kImplicit, Key::Autograd}, {{{Key::CPU}, kImplicit}, {kCpuGrad, kImplicit}}},
      {{kImplicit, Key::AutogradCPU},
       {{{Key::CPU}, kImplicit}, {kCpuGrad, Key::AutogradCPU}, {{Key::CUDA}, kImplicit}, {kCudaGrad, kImplicit}}},
      {{kImplicit, Key::CPU},
       {{{Key::CPU}, Key::CPU}, {kCpuGrad, Key::CPU}, {{Key::CUDA}, kImplicit}, {kCudaGrad, kImplicit}}},
      {{kExplicit}, everywhere(kExplicit)},
      {{kExplicit, kImplicit}, everywhere(kExplicit)},
      {{kExplicit, Key::CPU},
       {{{Key::CPU}, Key::CPU}, {kCpuGrad, Key::CPU}, {{Key::CUDA}, kExplicit}, {kCudaGrad, kExplicit}}},
      {{Key::Autograd}, {{kCpuGrad, Key::Autograd}, {kXlaGrad, Key::Autograd}, {kSparseGrad, Key::Autograd}}},
      {{Key::CPU}, {{{Key::CPU}, Key::CPU}, {kCpuGrad, Key::CPU}}},
      {{Key::CPU, Key::Autograd}, {{{Key::CPU}, Key::CPU}, {kCpuGrad, Key::Autograd}}},
      {{Key::CPU, Key::Autograd, Key::AutogradCPU}, {{{Key::CPU}, Key::CPU}, {kCpuGrad, Key::AutogradCPU}}},
      {{Key::CPU, Key::CUDA, Key::Autograd},
       {{{Key::CPU}, Key::CPU}, {{Key::CUDA}, Key::CUDA}, {kCpuGrad, Key::Autograd}, {kCudaGrad, Key::Autograd}}},
  };
  for (const Case& one : cases) {
    Library m = define();
    std::string registered;
    for (const Key key : one.kernels) {
      m.impl("op", key, says(std::string(toString(key))));
      registered += std::string(toString(key)) + " ";
    }
    for (const auto& [keys, expected] : one.answers) {
      EXPECT_EQ(answer(keys), toString(expected)) << registered << toString(tensorWithAll(keys).key_set());
    }
  }
}

TEST_F(OpRegistration, KernelWithoutAKeyIsACompositeOneAndTheNewestOfThoseAnswers) {
  Library m = define();
  m.impl("op", Key::CompositeImplicitAutograd, says("older"));
  m.impl("op", says("newer"));
  EXPECT_EQ(answer(Keys{Key::CPU}), "newer");
  EXPECT_EQ(answer(kCpuGrad), "newer");
}

TEST_F(OpRegistration, BelowAutogradTheRegularKernelAnswers) {
  const Library m = define();
  const Library autograd = kernel(Key::Autograd, "autograd");
  {
    const Library cpu = kernel(Key::CPU, "cpu");
    EXPECT_EQ(answer(kCpuGrad), "autograd");
    const AutoDispatchBelowAutograd below;
    EXPECT_EQ(answer(kCpuGrad), "cpu");
  }
  const Library all = composite("all");
  const AutoDispatchBelowAutograd below;
  EXPECT_EQ(answer(kCpuGrad), "all");
}

// Runs for each backend that has an autograd key of its own.
TEST_F(OpRegistration, AutogradKeyOfABackendOverridesAutogradAndIsLeftToItsKernel) {
  int backends = 0;
  for (uint8_t b = 1; b <= num_backends; ++b) {
    const auto backend = static_cast<BackendComponent>(b);
    const Key dense = toRuntimePerBackendFunctionalityKey(Key::Dense, backend);
    const Key grad = toRuntimePerBackendFunctionalityKey(Key::AutogradFunctionality, backend);
    const Key other = dense == Key::CPU ? Key::CUDA : Key::CPU;
    const Key other_grad = dense == Key::CPU ? Key::AutogradCUDA : Key::AutogradCPU;
    const Library m = define();
    {
      const Library own = kernel(grad, "own");
      const Library autograd = kernel(Key::Autograd, "autograd");
      EXPECT_EQ(answer(Keys{dense, grad}), "own") << toString(grad);
      EXPECT_EQ(answer(Keys{other, other_grad}), "autograd") << toString(grad);
    }
    const Library own = kernel(dense, "own");
    const Library all = composite("all");
    EXPECT_EQ(answer(Keys{dense, grad}), "own") << toString(grad);
    EXPECT_EQ(answer(Keys{dense}), "own") << toString(grad);
    EXPECT_EQ(answer(Keys{other, other_grad}), "all") << toString(grad);
    ++backends;
  }
  EXPECT_EQ(backends, 15);
}

TEST_F(OpRegistration, BackendUnderAutogradOtherMakesACompositeAmbiguousOnlyThere) {
  const Library m = define();
  const Library sparse = kernel(Key::SparseCPU, "sparse");
  const Library all = composite("all");
  EXPECT_EQ(answer(Keys{Key::SparseCPU}), "sparse");
  EXPECT_EQ(answer(Keys{Key::CPU}), "all");
  EXPECT_NE(errorOf([] {
              answer(kSparseGrad);
            }).find("has kernels for both CompositeImplicitAutograd and a backend that AutogradOther serves"),
            std::string::npos);
}

TEST_F(OpRegistration, TensorsOfTwoBackendsGoToTheHigherOne) {
  Library m = definitions();
  m.def("join(Tensor x, Tensor y) -> str");
  const auto kernel_of = [&m](const char* text, std::optional<Key> key) {
    CppFunction function = [text](const Tensor&, const Tensor&) { return std::string(text); };
    if (key.has_value()) function.set_dispatch_key(*key);
    m.impl("join", std::move(function));
  };
  Library through = fallbacks(Key::AutogradPrivateUse1);
  through.fallback(CppFunction::makeFallthrough());
  kernel_of("private", Key::PrivateUse1);
  kernel_of("all", std::nullopt);
  const auto join = [](const Keys& a, const Keys& b) {
    return callOp(find("test::join"), tensorWithAll(a), tensorWithAll(b))[0].toStringRef();
  };
  const Keys private_grad{Key::PrivateUse1, Key::AutogradPrivateUse1};
  EXPECT_EQ(join({Key::PrivateUse1}, {Key::CPU}), "private");
  EXPECT_EQ(join({Key::CPU}, {Key::CPU}), "all");
  EXPECT_EQ(join(kCpuGrad, kCpuGrad), "all");
  // The highest backend counts for each functionality: here Autograd and Dense belong to PrivateUse1.
  EXPECT_EQ(join(private_grad, kCpuGrad), "private");
  kernel_of("own", Key::AutogradPrivateUse1);
  EXPECT_EQ(join(private_grad, kCpuGrad), "own");
}

// Tracer, then Autograd, then the CPU; some kernels take the key set and one does not.
TEST_F(OpRegistration, KernelsHandTheirKeySetDownTypedBoxedAndMixed) {
  static std::vector<std::string> log;
  static const auto redispatch = [](DispatchKeySet keys, const Tensor& x) {
    return find("test::op").typed<std::string(const Tensor&)>().redispatch(keys, x);
  };
  for (const bool autograd_takes_keys : {true, false}) {
    Library m = define();
    m.impl("op", Key::CPU, [](const Tensor&) { return log.push_back("CPU"), std::string("done"); });
    m.impl("op", Key::Tracer, [](DispatchKeySet keys, const Tensor& x) {
      log.push_back("Tracer");
      return redispatch(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, Key::Tracer), x);
    });
    if (autograd_takes_keys) {
      m.impl("op", Key::AutogradCPU, [](DispatchKeySet keys, const Tensor& x) {
        log.push_back("Autograd");
        return redispatch(keys & after_autograd_keyset, x);
      });
    } else {
      m.impl("op", Key::AutogradCPU, [](const Tensor& x) {
        log.push_back("Autograd");
        return redispatch(x.key_set() & after_autograd_keyset, x);
      });
    }
    log.clear();
    EXPECT_EQ(answer(Keys{Key::Tracer, Key::AutogradCPU, Key::CPU}), "done");
    EXPECT_EQ(log, (std::vector<std::string>{"Tracer", "Autograd", "CPU", "Tracer", "Autograd", "CPU"}));
  }
}

TEST_F(OpRegistration, BackendSelectGoesOnToTheTensorsBackend) {
  int calls = 0;
  Library m = define();
  m.impl("op", DeviceType::CPU, says("cpu"));
  m.impl("op", Key::BackendSelect, [&calls](DispatchKeySet keys, const Tensor& x) {
    ++calls;
    const auto op = find("test::op").typed<std::string(const Tensor&)>();
    const DispatchKeySet below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, Key::BackendSelect);
    return Dispatcher::singleton().redispatch<std::string, const Tensor&>(op, below, x);
  });
  EXPECT_EQ(answer(Keys{Key::CPU}), "cpu");
  EXPECT_EQ(calls, 2);
}

TEST_F(OpRegistration, BackendSelectPicksAFactorysKeyByItsDevice) {
  using Make = std::string(int64_t, std::optional<Device>);
  Library m = definitions();
  m.def("make(int n, Device? device=None) -> str");
  for (const Key key : {Key::CPU, Key::Meta})
    m.impl("make", key,
           [key](int64_t n, std::optional<Device>) { return std::to_string(n) + std::string(toString(key)); });
  m.impl("make", Key::BackendSelect, [](DispatchKeySet keys, int64_t n, std::optional<Device> device) {
    const Key key = toDispatchKey(device.value_or(Device(DeviceType::CPU)).type());
    const DispatchKeySet below = keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, Key::BackendSelect);
    return find("test::make").typed<Make>().redispatch(below.add(key), n, device);
  });
  const OperatorHandle op = find("test::make");
  const std::pair<std::optional<Device>, const char*> devices[] = {
      {std::nullopt, "1CPU"}, {Device(DeviceType::CPU), "1CPU"}, {Device(DeviceType::Meta), "1Meta"}};
  for (const auto& [device, expected] : devices) {
    EXPECT_EQ(op.typed<Make>().call(1, device), expected);
    EXPECT_TRUE(callOp(op, 1, device) == Stack{IValue(expected)}) << expected;
  }
  Stack stack{IValue(1), IValue(Device(DeviceType::CUDA))};
  EXPECT_EQ(errorOf([&] { op.callBoxed(stack); }).find("could not run test::make for dispatch key CUDA"), 0U);
  EXPECT_EQ(stack.size(), 2U);
}

TEST_F(OpRegistration, FindsWhatIsDefinedAndWhatIsOnlyImplemented) {
  Library m = definitions();
  m.def("schema_only(Tensor x) -> Tensor").def("with_kernel(Tensor x) -> str", says("")).def("by_name", says(""));
  m.def("fn(Tensor x) -> Tensor").def("fn.two(Tensor x, Tensor y) -> Tensor");
  m.def("fn.three(Tensor x, Tensor y, Tensor z) -> Tensor");
  Library kernels = implementations(Key::CatchAll);
  kernels.impl("kernel_only", says(""));
  const Dispatcher& dispatcher = Dispatcher::singleton();
  for (const char* name : {"test::schema_only", "test::with_kernel", "test::by_name", "test::fn"}) {
    EXPECT_TRUE(dispatcher.findSchema({name, ""}).has_value()) << name;
    EXPECT_TRUE(dispatcher.findOp({name, ""}).has_value()) << name;
  }
  EXPECT_TRUE(dispatcher.findSchema({"test::fn", "two"}).has_value());
  EXPECT_TRUE(dispatcher.findSchema({"test::fn", "three"}).has_value());
  EXPECT_FALSE(dispatcher.findSchema({"test::fn", "four"}).has_value());
  EXPECT_EQ(dispatcher.findOverloads("test::fn").size(), 3U);
  EXPECT_TRUE(dispatcher.findOp({"test::kernel_only", ""}).has_value());
  EXPECT_FALSE(dispatcher.findSchema({"test::kernel_only", ""}).has_value());
  EXPECT_NE(errorOf([&] { m.def("elsewhere::op(Tensor x) -> Tensor"); }), "no error");
}

TEST_F(OpRegistration, KeyOfItsOwnGoesWithTheDefinitionsKernel) {
  Library m = definitions();
  m.def("op", dispatch(Key::CPU, says("cpu")));
  m.def("for_device", dispatch(DeviceType::CUDA, says("cuda")));
  m.def("for_alias", dispatch(Key::Autograd, says("autograd")));
  EXPECT_EQ(answer(Keys{Key::CPU}), "cpu");
  expectMissing(Key::CUDA);
  EXPECT_EQ(callOp(find("test::for_device"), tensorWith({Key::CUDA}))[0].toStringRef(), "cuda");
  EXPECT_EQ(callOp(find("test::for_alias"), tensorWithAll(kCpuGrad))[0].toStringRef(), "autograd");
  EXPECT_EQ(callOp(find("test::for_alias"), tensorWithAll(kXlaGrad))[0].toStringRef(), "autograd");
}

std::string sayFunction(const Tensor&) { return "function"; }

TEST_F(OpRegistration, LibraryByHandClaimsItsNamespaceForItsScope) {
  {
    auto m = MAKE_BOXCAR_LIBRARY(by_hand);
    m.def("pointer", &sayFunction).def("function", sayFunction).def("lambda", [](const Tensor& x) { return x; });
    m.def("through(Tensor x) -> Tensor", CppFunction::makeFallthrough());
    m.def("unboxed(Tensor x) -> str", CppFunction::makeFromUnboxedFunction(sayFunction));
    m.def("boxed(Tensor x) -> str", boxedSays("boxed"));
    EXPECT_EQ(callOp(find("by_hand::pointer"), cpuTensor())[0].toStringRef(), "function");
    EXPECT_EQ(callOp(find("by_hand::function"), cpuTensor())[0].toStringRef(), "function");
    EXPECT_EQ(callOp(find("by_hand::unboxed"), cpuTensor())[0].toStringRef(), "function");
    auto cuda = MAKE_BOXCAR_LIBRARY_IMPL(by_hand, CUDA);
    cuda.impl("boxed", says("cuda"));
    EXPECT_EQ(callOp(find("by_hand::boxed"), tensorWith({Key::CUDA}))[0].toStringRef(), "cuda");
    EXPECT_EQ(errorOf([] { MAKE_BOXCAR_LIBRARY(by_hand); }).find("only one BOXCAR_LIBRARY can claim namespace by_hand"),
              0U);
  }
  EXPECT_EQ(errorOf([] { MAKE_BOXCAR_LIBRARY(by_hand); }), "no error");
}

}  // namespace
}  // namespace boxcar
