#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/batching_table.h>
#include <boxcar/backends/transforms/element_use.h>
#include <boxcar/backends/transforms/fake_rules.h>
#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/backends/transforms/functional_scope.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/backends/transforms/math_bits.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::transforms {
namespace {

constexpr std::string_view kPassesOn = "passes the call on";

uint64_t innermostLevelOf(const ArgumentKeys& argument) {
  if (!argument.value.has_value()) return argument.wrapped.empty() ? 0 : argument.wrapped.back().level;
  uint64_t level = 0;
  visitTensors(*argument.value, [&](const Tensor& tensor) { level = std::max(level, levelOf(tensor)); });
  return level;
}

bool bringsTensors(const ArgumentKeys& argument) {
  return !(argument.keys & backend_bitset_mask).empty() || !argument.wrapped.empty();
}

void takeOff(ArgumentKeys& argument, uint64_t level) {
  if (innermostLevelOf(argument) != level) return;
  if (!argument.value.has_value()) {
    argument.keys = argument.wrapped.back().inside;
    argument.wrapped.pop_back();
    return;
  }
  setValue(argument, mapTensors(*argument.value, [&](const Tensor& tensor) {
             return tensor.defined() && levelOf(tensor) == level ? innerOf(tensor) : tensor;
           }));
}

// Makes [call] that on the tensors inside the level, and says which those are.
std::string textOfTakenLevel(LevelCall& call, uint64_t level) {
  const std::span<const VmapLevelInfo> levels = vmapLevels();
  const auto place = std::ranges::find(levels, level, &VmapLevelInfo::level);
  const auto outer = static_cast<size_t>(place - levels.begin());
  std::vector<std::string> batched;
  std::vector<std::string> same;
  for (ArgumentKeys& argument : call.arguments) {
    if (innermostLevelOf(argument) == level) {
      batched.push_back(argument.name);
      takeOff(argument, level);
    } else if (bringsTensors(argument)) {
      same.push_back(argument.name);
    }
  }
  // The kernel's calls are outside of this level.
  call.excluded = outer == 0 ? DispatchKeySet(DispatchKey::FuncTorchVmapMode) : DispatchKeySet();
  call.next = LevelCall::Next::kAnew;
  const int64_t slices = place == levels.end() ? 0 : place->batch;
  std::string text = fmt::format("takes level {} off", outer + 1);
  if (!batched.empty()) text += fmt::format(" {}", enumerated(batched));
  if (!batched.empty() && slices != 0) text += fmt::format(" ({} slices)", slices);
  if (!same.empty()) {
    text += fmt::format(", and takes {} for {} slice", enumerated(same), slices == 0 ? "every" : "each");
  }
  return text;
}

// The values of a call, as far as they are among the arguments that it is dispatched on.
std::vector<IValue> knownValues(const LevelCall& call) {
  std::vector<IValue> values(call.op.schema().arguments().size());
  for (const ArgumentKeys& argument : call.arguments) {
    if (argument.value.has_value()) values[argument.index] = *argument.value;
  }
  return values;
}

std::vector<std::string> namesAt(const FunctionSchema& schema, const std::vector<uint8_t>& positions) {
  std::vector<std::string> names;
  for (const uint8_t position : positions) names.push_back(schema.arguments()[position].name());
  return names;
}

// The names of the arguments that bring [key].
std::vector<std::string> namesWith(const LevelCall& call, DispatchKey key) {
  std::vector<std::string> names;
  for (const ArgumentKeys& argument : call.arguments) {
    if (argument.keys.has(key)) names.push_back(argument.name);
  }
  return names;
}

std::string functionalEffect(LevelCall& call, const OperatorPlan& plan) {
  using Kind = OperatorPlan::Kind;
  const FunctionSchema& schema = call.op.schema();
  switch (plan.kind) {
    case Kind::kPass: return std::string(kPassesOn);
    case Kind::kRead:
      return std::ranges::any_of(call.arguments, bringsTensors)
                 ? "gives the operator the values of its tensors, which are never written"
                 : "takes the result as a value, which is never written";
    case Kind::kView:
      return fmt::format("makes the view of the value of {}, and remembers how",
                         schema.arguments()[plan.viewed].name());
    case Kind::kShape:
    case Kind::kWrite: {
      const std::string written =
          plan.kind == Kind::kShape ? schema.arguments()[0].name() : enumerated(namesAt(schema, plan.written));
      if (!plan.form.has_value()) {
        return fmt::format("calls the operator on copies, which become the values of {}", written);
      }
      std::string text =
          fmt::format("calls {} instead, whose result becomes the value of {}", toString(*plan.form), written);
      call.goOnAs(*plan.form);
      return text;
    }
    case Kind::kResize: call.next = LevelCall::Next::kEnd; return "gives the value other sizes";
    case Kind::kSet:
      call.next = LevelCall::Next::kEnd;
      return "refuses the call, as two tensors would share one memory";
  }
  return {};
}

void takeKeysOff(LevelCall& call, DispatchKeySet keys) {
  for (ArgumentKeys& argument : call.arguments) argument.keys = argument.keys - keys;
}

// Whether the call takes tensors that are lazily something as they are, and says so: views, and what calls other
// operators.
bool passesBits(LevelCall& call) {
  if (readsNoElements(call.op)) {
    call.effect = fmt::format("{}, as the operator reads no elements", kPassesOn);
  } else if (isMadeOfOthers(call.op, call.below)) {
    call.effect = fmt::format("{} to the operators that it is made of", kPassesOn);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void describeBatchedLevel(LevelCall& call) {
  if (call.entry.cause != EntryCause::Fallback) return;
  uint64_t level = 0;
  for (const ArgumentKeys& argument : call.arguments) level = std::max(level, innermostLevelOf(argument));
  if (level == 0) {
    call.effect = fmt::format("{}, as no argument is batched", kPassesOn);
    return;
  }
  const BatchingPlan& plan = batchingPlan(call.op);
  if (plan.kind == BatchingPlan::Kind::kRefuse) {
    call.effect = fmt::format("refuses the call: {}", plan.reason);
    call.next = LevelCall::Next::kEnd;
    return;
  }
  for (const ArgumentKeys& argument : call.arguments) {
    const bool is_written = call.op.schema().arguments()[argument.index].is_write();
    if (!is_written || innermostLevelOf(argument) == level) continue;
    call.effect = fmt::format("refuses to write {}, which is not vmapped over, for each slice", argument.name);
    call.next = LevelCall::Next::kEnd;
    return;
  }
  if (plan.kind == BatchingPlan::Kind::kDecompose && !hasOwnGradient(call.op)) {
    call.effect = "calls the operators that it is made of, on the batched tensors";
    call.next = LevelCall::Next::kParts;
    return;
  }
  const std::string off = textOfTakenLevel(call, level);
  call.effect = plan.rule == nullptr ? fmt::format("{}; calls the operator for each slice", off)
                                     : fmt::format("{}; calls by the rule '{}'", off, plan.family);
}

void describeRandomLevel(LevelCall& call) {
  const std::span<const VmapLevelInfo> levels = vmapLevels();
  if (levels.empty() || !call.op.hasTag(Tag::nondeterministic_seeded)) return;
  const bool is_running = std::ranges::any_of(call.arguments, [](const auto& each) { return each.value.has_value(); });
  const Randomness randomness = levels.back().randomness;
  const std::string off = textOfTakenLevel(call, levels.back().level);
  if (!is_running && !call.arguments.empty()) {
    call.effect = fmt::format("{}; draws as the randomness of func::vmap() says", off);
  } else if (randomness == Randomness::kError) {
    call.effect = "refuses to draw, as the randomness of func::vmap() is 'error'";
    call.next = LevelCall::Next::kEnd;
  } else {
    call.effect =
        fmt::format("{}; draws {}", off, randomness == Randomness::kSame ? "once for all slices" : "for each slice");
  }
}

void describeFunctionalizeLevel(LevelCall& call) {
  if (call.entry.cause != EntryCause::Fallback) return;
  call.excluded = DispatchKeySet(DispatchKeySet::FULL) - after_func_keyset;
  call.effect =
      FunctionalScope::current() == nullptr ? std::string(kPassesOn) : functionalEffect(call, planOf(call.op));
}

void describeFakeLevel(LevelCall& call) {
  if (call.entry.cause != EntryCause::Fallback) return;
  if (passesFakes(call.op)) {
    call.effect = kPassesOn;
    return;
  }
  const TableEntry entry = Dispatcher::singleton().computeTableEntry(call.op, DispatchKey::Meta);
  const bool is_there = entry.cause == EntryCause::Alias || entry.cause == EntryCause::Exact;
  if (needsElements(call.op, knownValues(call))) {
    call.effect = "needs elements, and fake tensors have none, unless they are numbers of the program";
    call.next = LevelCall::Next::kEnd;
  } else if (entry.cause == EntryCause::Alias && entry.key == DispatchKey::CompositeImplicitAutograd &&
             !writesMemoryItself(call.op)) {
    call.effect = "calls the operators that it is made of, on the fake tensors";
    call.next = LevelCall::Next::kParts;
  } else if (is_there && !entry.kernel->isFallthrough()) {
    call.effect = "calls the kernel for Meta on tensors of the same sizes, and gives its results the device";
    call.below = DispatchKeySet(DispatchKey::Meta);
  } else {
    call.effect = "refuses fake tensors, as no kernel for Meta says what the results are";
    call.next = LevelCall::Next::kEnd;
  }
}

void describeDeferredLevel(LevelCall& call) {
  if (call.entry.cause != EntryCause::Fallback) return;
  call.effect = "has what reaches fake tensors below written down, to make it later";
  call.below = call.keys.remove(DispatchKey::DeferredInit);
  call.excluded = DispatchKeySet(DispatchKey::DeferredInit);
}

void describeMathBitsLevel(LevelCall& call) {
  if (call.entry.cause != EntryCause::Fallback) return;
  // One kernel does the work of both keys.
  call.below = call.keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Conjugate);
  const BitsWay way = bitsWayOf(call.op);
  if (way == BitsWay::kTakeMemory) {
    call.effect = fmt::format("{} if both tensors are lazily the same, and refuses it otherwise", kPassesOn);
    return;
  }
  if ((way == BitsWay::kPass || way == BitsWay::kResolve) && passesBits(call)) return;
  const std::vector<std::string> conjugate = namesWith(call, DispatchKey::Conjugate);
  const std::vector<std::string> negative = namesWith(call, DispatchKey::Negative);
  std::string text;
  if (!conjugate.empty()) text = fmt::format("conjugates {}", enumerated(conjugate));
  if (!negative.empty()) text += fmt::format("{}negates {}", text.empty() ? "" : " and ", enumerated(negative));
  if (way == BitsWay::kProduct && negative.empty() && call.below.has_backend(BackendComponent::CPUBit)) {
    call.effect = fmt::format("{} with the conjugates of {}, which the product takes as they are", kPassesOn,
                              enumerated(conjugate));
    return;
  }
  if (way == BitsWay::kCopy) {
    call.effect = "copies memory, and changes it in place where only one of the two tensors is lazy";
    takeKeysOff(call, DispatchKeySet({DispatchKey::Conjugate, DispatchKey::Negative}));
    return;
  }
  const bool writes = planOf(call.op).kind == OperatorPlan::Kind::kWrite;
  call.effect = text.empty()
                    ? std::string(kPassesOn)
                    : fmt::format("{} in copies{}", text, writes ? ", and writes back what is written to copies" : "");
  takeKeysOff(call, DispatchKeySet({DispatchKey::Conjugate, DispatchKey::Negative}));
}

void describeZeroLevel(LevelCall& call) {
  const std::vector<std::string> zeros = namesWith(call, DispatchKey::ZeroTensor);
  if (zeros.empty()) {
    call.effect = kPassesOn;
    return;
  }
  const std::string_view is = zeros.size() == 1 ? "is" : "are";
  if (call.entry.cause != EntryCause::Fallback) {
    call.effect = fmt::format("computes the result without elements of {}, which {} zero", enumerated(zeros), is);
    call.next = LevelCall::Next::kEnd;
    return;
  }
  const OperatorPlan& plan = planOf(call.op);
  std::vector<std::string> written;
  if (plan.kind != OperatorPlan::Kind::kShape) written = namesAt(call.op.schema(), plan.written);
  const auto is_zero = [&](const std::string& name) { return std::ranges::find(zeros, name) != zeros.end(); };
  if (const auto refused = std::ranges::find_if(written, is_zero); refused != written.end()) {
    call.effect = fmt::format("refuses to write {}, which is zero and has no memory", *refused);
    call.next = LevelCall::Next::kEnd;
    return;
  }
  if (passesBits(call)) return;
  call.effect =
      fmt::format("gives {}, which {} zero, memory, if the operator reads the elements", enumerated(zeros), is);
  takeKeysOff(call, DispatchKeySet(DispatchKey::ZeroTensor));
}

}  // namespace boxcar::transforms
