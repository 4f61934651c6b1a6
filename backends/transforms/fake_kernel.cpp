#include <boxcar/backends/transforms/deferred_tape.h>
#include <boxcar/backends/transforms/fake_kernel.h>
#include <boxcar/backends/transforms/fake_rules.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/backends/transforms/meta_twins.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/ivalue/stopped_error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

// Calls on fake tensors, at DispatchKey::Fake. An operator with a Meta kernel of its own is run on meta tensors, and
// its results get the device. One that is made of others runs as it is, and those come here.

namespace boxcar::transforms {
namespace {

// An operator made of others that is running on fake tensors.
struct Frame {
  const OperatorHandle& op;
  const Frame* outer;
};
constinit thread_local const Frame* innermost = nullptr;

class FrameGuard final {
 public:
  explicit FrameGuard(const OperatorHandle& op) noexcept : frame_{op, innermost} { innermost = &frame_; }
  ~FrameGuard() { innermost = frame_.outer; }
  FrameGuard(const FrameGuard&) = delete;
  FrameGuard& operator=(const FrameGuard&) = delete;

 private:
  Frame frame_;
};

// The operator for messages, with the one that the program called.
std::string messageName(const OperatorHandle& op) {
  const Frame* outermost = innermost;
  while (outermost != nullptr && outermost->outer != nullptr) outermost = outermost->outer;
  if (outermost == nullptr) return toString(op);
  return fmt::format("{} calls {}", toString(outermost->op), toString(op));
}

// While it lives, calls are on meta tensors or real ones.
class WithoutFakes final {
  const ExcludeDispatchKeyGuard keys_{autograd_dispatch_keyset_with_ADInplaceOrView.add(DispatchKey::Fake)};
};

// One call with fake tensors among its arguments, or inside fake().
class FakeCall final {
 public:
  FakeCall(const OperatorHandle& op, Stack& stack)
      : op_(op), schema_(op.schema()), stack_(stack), below_(stack.size() - schema_.arguments().size()) {
    const auto given = last(stack, schema_.arguments().size());
    arguments_.assign(given.begin(), given.end());
    if (innermost == nullptr) takeDefaultDevice(schema_, arguments_);
    tensors_ = tensorsOfArguments(schema_, arguments_);
  }

  // Makes the call, and records it where func::deferred_init() wants so. One that is made of others is not recorded:
  // those are.
  void runRecorded(DispatchKeySet keys) {
    tape_ = DeferredTape::of(tensors_);
    if (!tape_) return run(keys);
    for (const PlacedTensor& placed : tensors_) {
      if (!placed.isWritten()) continue;
      BOXCAR_CHECK(isFake(placed.tensor) || placed.tensor.is_meta(),
                   "{}: {} is a real tensor, which cannot be written inside deferred_init(); write a clone() of it",
                   toString(op_), placed.place);
      BOXCAR_CHECK(
          !tape_->isOutside(*placed.tensor.storage()),
          "{}: {} is a view of a real tensor, which cannot be written inside deferred_init(); write to one of a "
          "clone()",
          toString(op_), placed.place);
    }
    const std::vector<IValue> before = DeferredTape::placeholders(arguments_);
    run(keys);
    if (is_composite_) return;
    const auto results = last(stack_, stack_.size() - below_);
    for (const IValue& result : results) {
      visitTensors(result, [&](const Tensor& tensor) {
        if (!isFake(tensor)) return;
        tape_->attachTo(tensor);
        if (std::ranges::find(converted_, tensor.storage()) != converted_.end()) tape_->noteOutside(tensor.storage());
      });
    }
    tape_->record(op_, before, results);
  }

  void run(DispatchKeySet keys) {
    if (isLift()) return finish({lifted()});
    if (isAllMeta()) return runBelow(DispatchKeySet(DispatchKey::Meta));
    const TableEntry entry = Dispatcher::singleton().computeTableEntry(op_, DispatchKey::Meta);
    const bool is_there = entry.cause == EntryCause::Alias || entry.cause == EntryCause::Exact;
    const bool is_made_of_others = entry.cause == EntryCause::Alias &&
                                   entry.key == DispatchKey::CompositeImplicitAutograd && !writesMemoryItself(op_);
    const bool needs_elements = needsElements(op_, arguments_);
    const bool is_composite = is_made_of_others && !needs_elements && !leadsToMeta();
    // What is recorded of those must say where its tensors come from.
    if (!is_composite || !tape_) takeRealTensors();
    if (needs_elements) return runOnConstants();
    if (leadsToMeta()) return runOnMetaOrSayWhy();
    if (is_composite) return runComposite(entry.site.is_script);
    if (is_there && !entry.kernel->isFallthrough()) return runOnMetaOrSayWhy();
    if (tensors_.empty()) return runBelow(keys.remove(DispatchKey::Fake));
    BOXCAR_FAIL(
        "{} cannot run on fake tensors, such as {}: it has no kernel for Meta, which would say what its results are. "
        "Register one, or call it outside of fake()",
        toString(op_), tensors_.front().place);
  }

 private:
  bool isLift() const {
    return tensors_.size() == 1 && !isFake(tensors_[0].tensor) && op_.operator_name().name == "aten::lift_fresh";
  }

  // A tensor that was just made of a program's numbers: they are remembered.
  IValue lifted() const {
    const Tensor& real = tensors_[0].tensor;
    Tensor fake = FakeConverter().convert(real);
    rememberIfSmall(fake, real);
    return fake;
  }

  static void rememberIfSmall(const Tensor& fake, const Tensor& real) {
    if (!isFake(fake) || !real.is_cpu() || real.numel() > kMostConstantElements) return;
    setConstant(fake, real);
  }

  bool isAllMeta() const {
    const auto isFakeHere = [](const PlacedTensor& placed) { return isFake(placed.tensor); };
    if (std::ranges::any_of(tensors_, isFakeHere)) return false;
    const std::optional<Device> named = deviceArgument(schema_, arguments_);
    if (named) return named->is_meta();
    return !tensors_.empty() &&
           std::ranges::all_of(tensors_, [](const PlacedTensor& placed) { return placed.tensor.is_meta(); });
  }

  // Whether fake tensors are to become meta tensors.
  bool leadsToMeta() const {
    const std::optional<Device> named = deviceArgument(schema_, arguments_);
    return named && named->is_meta();
  }

  void finish(std::vector<IValue> results) {
    drop(stack_, stack_.size() - below_);
    for (IValue& result : results) stack_.push_back(std::move(result));
  }

  void takeResults(Stack& results) { finish(std::vector<IValue>(results.begin(), results.end())); }

  Stack stackOf(const std::vector<IValue>& values) const {
    Stack stack;
    for (const IValue& value : values) stack.push_back(value);
    return stack;
  }

  // Runs the operator as if nothing were fake, and takes its tensors as fake ones.
  void runBelow(DispatchKeySet keys) {
    Stack stack = stackOf(arguments_);
    {
      const WithoutFakes without;
      op_.redispatchBoxed(keys, stack);
    }
    if (keys.has(DispatchKey::Meta)) return takeResults(stack);
    FakeConverter converter;
    std::vector<IValue> results;
    for (const IValue& value : last(stack, stack.size())) results.push_back(converter.convert(value));
    finish(std::move(results));
  }

  // Numbers may be real, and so may what operators make that are made of others, and rules of vmap. Other real tensors
  // are refused.
  void takeRealTensors() {
    std::vector<const PlacedTensor*> real;
    for (const PlacedTensor& placed : tensors_) {
      if (!isFake(placed.tensor) && !placed.tensor.is_meta()) real.push_back(&placed);
    }
    if (real.empty()) return;
    for (const PlacedTensor* placed : real) {
      const Tensor& tensor = placed->tensor;
      const bool is_number = tensor.is_cpu() && tensor.dim() == 0;
      BOXCAR_CHECK(tape_ || innermost != nullptr || ((is_number || isInsideVmap()) && !placed->isWritten()),
                   "{}: {} is a real tensor of sizes [{}], among fake ones; convert it with func::fake_like(x), or "
                   "make it inside fake()",
                   toString(op_), placed->place, fmt::join(tensor.sizes(), ", "));
    }
    FakeConverter converter;
    const auto convert = [&](const Tensor& tensor) {
      if (!tensor.defined() || isFake(tensor) || tensor.is_meta()) return tensor;
      Tensor fake = converter.convert(tensor);
      rememberIfSmall(fake, tensor);
      if (tape_) converted_.push_back(fake.storage());
      return fake;
    };
    for (IValue& argument : arguments_) argument = mapTensors(argument, convert);
    tensors_ = tensorsOfArguments(schema_, arguments_);
  }

  bool everyTensorIsConstant() const {
    return !tensors_.empty() && std::ranges::all_of(tensors_, [](const PlacedTensor& placed) {
      return !placed.isWritten() && constantOf(placed.tensor).defined();
    });
  }

  // Calls the operator on the remembered elements; returns its results.
  Stack callOnConstants() const {
    Stack stack;
    for (const IValue& argument : arguments_) {
      if (argument.isDevice()) {
        stack.push_back(Device(DeviceType::CPU));
      } else {
        stack.push_back(mapTensors(argument, [](const Tensor& tensor) {
          return tensor.defined() ? constantOf(tensor).shallowCopy() : tensor;
        }));
      }
    }
    const HiddenCalls hidden;
    const WithoutFakes without;
    op_.callBoxed(stack);
    return stack;
  }

  // For what depends on elements.
  void runOnConstants() {
    if (!everyTensorIsConstant()) failWithoutElements(op_, messageName(op_), tensors_);
    const Device device = deviceOfResults(op_, arguments_, tensors_);
    Stack stack = callOnConstants();
    FakeConverter converter(device);
    std::vector<IValue> results;
    for (const IValue& value : last(stack, stack.size())) {
      results.push_back(mapTensors(value, [&](const Tensor& real) {
        Tensor fake = converter.convert(real);
        if (real.defined()) rememberIfSmall(fake, real);
        return fake;
      }));
    }
    finish(std::move(results));
  }

  void runComposite(bool is_script) {
    const bool is_constant = !is_script && mayRemember();
    Stack stack = stackOf(arguments_);
    is_composite_ = true;
    try {
      const IncludeDispatchKeyGuard fakes(DispatchKey::Fake);
      if (is_script) {
        op_.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), stack);
      } else {
        const FrameGuard frame(op_);
        op_.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), stack);
      }
    } catch (const NoElementsError& error) {
      if (is_script) throw;
      is_composite_ = false;
      takeRealTensors();
      // The kernel asks for elements to check them, or to choose a way; on meta tensors it does not.
      if (runsOnMeta()) return;
      if (everyTensorIsConstant()) return runOnConstants();
      if (error.message().find("::") != std::string::npos) throw;
      throw NoElementsError(fmt::format("{}: {}", messageName(op_), error.message()));
    }
    takeComposed(stack, is_constant);
  }

  // Whether every tensor's elements are known, and may be computed with beside the call.
  bool mayRemember() const {
    if (tensors_.empty()) return op_.operator_name().name == "aten::scalar_tensor";
    return everyTensorIsConstant() && !op_.hasTag(Tag::nondeterministic_seeded);
  }

  // What a kernel made by itself becomes fake. Where calls are recorded it stays real, as nothing else says how it was
  // made, and as it may be an argument.
  void takeComposed(Stack& stack, bool is_constant) {
    if (tape_) return takeResults(stack);
    FakeConverter converter;
    std::vector<IValue> results;
    for (const IValue& value : last(stack, stack.size())) {
      results.push_back(mapTensors(value, [&](const Tensor& tensor) {
        if (!tensor.defined() || isFake(tensor) || tensor.is_meta()) return tensor;
        Tensor fake = converter.convert(tensor);
        rememberIfSmall(fake, tensor);
        return fake;
      }));
    }
    if (is_constant) rememberResults(results);
    finish(std::move(results));
  }

  void runOnMetaOrSayWhy() {
    try {
      runOnMeta();
    } catch (const NoElementsError&) {
      if (tensors_.empty()) throw;
      if (everyTensorIsConstant()) return runOnConstants();
      throw NoElementsError(fmt::format(
          "{}: it needs elements of its arguments, and fake tensors have none; call it on real tensors, outside of "
          "fake()",
          messageName(op_)));
    }
  }

  bool runsOnMeta() {
    try {
      runOnMeta();
    } catch (const StoppedError&) {
      throw;
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  void runOnMeta() {
    const Device device = deviceOfResults(op_, arguments_, tensors_);
    MetaTwins twins;
    Stack meta;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      meta.push_back(onMeta(schema_.arguments()[i], arguments_[i], twins));
    }
    const bool is_constant = mayRemember();
    {
      const WithoutFakes without;
      op_.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), meta);
    }
    twins.update();
    std::vector<IValue> results;
    for (const IValue& value : last(meta, meta.size())) results.push_back(twins.outside(value, device));
    if (is_constant) rememberResults(results);
    finish(std::move(results));
  }

  static IValue onMeta(const Argument& argument, const IValue& value, MetaTwins& twins) {
    const TypePtr type = argument.type()->isOptional() ? argument.type()->element() : argument.type();
    switch (type->kind()) {
      case TypeKind::Device: return Device(DeviceType::Meta);
      case TypeKind::Generator: return argument.type()->isOptional() ? IValue() : value;
      case TypeKind::Bool:
        if (argument.name() == "pin_memory") return argument.type()->isOptional() ? IValue() : IValue(false);
        return value;
      default: return twins.twinOf(value);
    }
  }

  void rememberResults(const std::vector<IValue>& results) const {
    int64_t elements = 0;
    std::vector<Tensor> fakes;
    for (const IValue& value : results) {
      visitTensors(value, [&](const Tensor& tensor) {
        fakes.push_back(tensor);
        elements += tensor.numel();
      });
    }
    if (fakes.empty() || elements > kMostConstantElements) return;
    if (std::ranges::all_of(fakes, [](const Tensor& tensor) { return constantOf(tensor).defined(); })) return;
    const Stack real = callOnConstants();
    size_t next = 0;
    for (const IValue& value : real) {
      visitTensors(value, [&](const Tensor& tensor) {
        if (next < fakes.size()) rememberIfSmall(fakes[next++], tensor);
      });
    }
  }

  const OperatorHandle& op_;
  const FunctionSchema& schema_;
  Stack& stack_;
  const size_t below_;
  std::vector<IValue> arguments_;
  std::vector<PlacedTensor> tensors_;
  IntrusivePtr<DeferredTape> tape_;  // which records the call
  std::vector<Storage> converted_;   // those of fakes of real arguments that it has
  bool is_composite_ = false;        // it was made by calls of other operators
};

void runFake(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  if (passesFakes(op)) return op.redispatchBoxed(keys.remove(DispatchKey::Fake), stack);
  FakeCall(op, stack).runRecorded(keys);
}

}  // namespace

void registerFakeKernel() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Never destroyed: calls may run when the process ends.
    static auto& registration = *new RegistrationHandleRAII(Dispatcher::singleton().registerFallback(
        DispatchKey::Fake, KernelFunction::makeFromBoxedFunction<&runFake>(), {__FILE__, __LINE__}));
    (void)registration;
    setLevelDescriber(DispatchKey::Fake, &describeFakeLevel);
  });
}

}  // namespace boxcar::transforms
