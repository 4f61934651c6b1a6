#include "tests/numerics/case_functional.h"

#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/backends/transforms/functionalize.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/value_difference.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/numerics/name_lists.h"

namespace boxcar::numerics {
namespace {

using Kind = transforms::OperatorPlan::Kind;

constexpr uint64_t kSeed = 7;

// What a call left: its results, or the text of its Error.
struct Outcome {
  CaseArguments arguments;
  Stack results;
  std::string error;
};

std::vector<Tensor> tensorsOf(const Stack& values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values) visitTensors(value, [&](const Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

// Says where a tensor lies: as which argument, in whose memory, with which strides.
std::string placeOf(const Tensor& tensor, const CaseArguments& arguments, bool tells_strides) {
  if (!tensor.defined()) return "undefined";
  std::string text(dtypeName(tensor.dtype()));
  text += fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
  const auto is_same = std::ranges::find_if(arguments.tensors, [&](const Tensor& t) { return t.is_same(tensor); });
  if (is_same != arguments.tensors.end())
    text += fmt::format(", argument tensor {}", is_same - arguments.tensors.begin());
  if (tensor.layout() != Layout::Strided) return text;
  // Strides say nothing where no step is made.
  std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  for (size_t i = 0; i < strides.size(); ++i) {
    if (tensor.sizes()[i] <= 1 || tensor.numel() == 0) strides[i] = 0;
  }
  if (tells_strides) text += fmt::format(", strides [{}]", fmt::join(strides, ", "));
  const auto owner =
      std::ranges::find_if(arguments.storages, [&](const Tensor& t) { return t.storage() == tensor.storage(); });
  if (owner != arguments.storages.end()) {
    text += fmt::format(", at {} of storage {}", tensor.storage_offset(), owner - arguments.storages.begin());
  }
  return text;
}

class FunctionalCase final {
 public:
  FunctionalCase(const Case& expected, const OperatorHandle& op, FunctionalViews views)
      : expected_(expected), op_(op), views_(views) {
    // A copy may have its elements in another order, in which sums round otherwise.
    const ScalarType dtype = parseDtype(expected.dtype()).value_or(ScalarType::Float);
    if (views == FunctionalViews::kCopy || namesIn("functional_reasons.txt").contains(expected.op())) {
      const bool is_small = dtype == ScalarType::Half || dtype == ScalarType::BFloat16;
      tolerance_.rtol = tolerance_.atol = is_small ? 2e-2 : 1e-5;
    }
    tolerance_.compares_elements = expected.comparesValues() || op.hasTag(Tag::nondeterministic_seeded);
  }

  std::optional<std::string> difference() {
    Outcome plain{expected_.makeArguments(op_.schema()), {}, {}};
    call(plain);
    Outcome functional{expected_.makeArguments(op_.schema()), {}, {}};
    std::optional<std::string> found = callFunctional(functional);
    if (found) return found;
    if (transforms::planOf(op_).kind == Kind::kSet) {
      if (functional.error.find("cannot be called inside functionalize()") != std::string::npos) return std::nullopt;
      return functional.error.empty() ? "it should be refused" : functional.error;
    }
    if (plain.error != functional.error) {
      if (functional.error.empty()) return "it should be refused: " + plain.error;
      return fmt::format("it is refused: {}, and plainly: {}", functional.error, plain.error);
    }
    if (plain.error.empty()) found = differenceOfResults(plain, functional);
    return found ? found : differenceOfArguments(plain, functional);
  }

 private:
  void call(Outcome& outcome) const {
    manualSeed(kSeed);
    outcome.results = outcome.arguments.values;
    try {
      op_.callBoxed(outcome.results);
    } catch (const Error& error) {
      outcome.error = error.message();
      if (outcome.error.empty()) outcome.error = "without a word";
    }
  }

  // Returns what is wrong below the scope.
  std::optional<std::string> callFunctional(Outcome& outcome) const {
    const bool has_form = transforms::planOf(op_).kind != Kind::kWrite || transforms::planOf(op_).form.has_value();
    std::string writing;
    bool is_leaving = false;
    const ModeGuard watch(
        [&](const OperatorHandle& called, DispatchKeySet keys, Stack& stack) {
          // What is not made of forms runs as it is, on copies.
          if (called.schema().is_mutable() && !is_leaving && writing.empty()) {
            const transforms::OperatorPlan& plan = transforms::planOf(called);
            const bool is_left = plan.kind == Kind::kPass || (plan.kind == Kind::kWrite && !plan.form);
            if (!is_left) writing = toString(called.operator_name());
          }
          called.redispatchBoxed(keys, stack);
        },
        {.key = DispatchKey::Python});
    FunctionalizeGuard guard(views_);
    call(outcome);
    if (!writing.empty() && has_form) return fmt::format("a call of {} writes below the scope", writing);
    if (!outcome.error.empty()) return std::nullopt;
    for (const Tensor& tensor : tensorsOf(outcome.results)) {
      if (!tensor.defined()) continue;
      const Tensor value = guard.valueOf(tensor);
      // Another value is a copy.
      if (auto found = differenceOf(tensor, value, tolerance_, {"in memory", "in the value"})) {
        return "what calls below would get: " + *found;
      }
    }
    is_leaving = true;
    guard.leave();
    return std::nullopt;
  }

  std::optional<std::string> differenceOfResults(const Outcome& plain, const Outcome& functional) const {
    if (plain.results.size() != functional.results.size()) return "another number of results";
    for (size_t i = 0; i < plain.results.size(); ++i) {
      const std::vector<Tensor> wanted = tensorsOf({plain.results[i]});
      const std::vector<Tensor> found = tensorsOf({functional.results[i]});
      if (wanted.size() != found.size()) return fmt::format("result {} has another number of tensors", i);
      for (size_t k = 0; k < wanted.size(); ++k) {
        const std::string wanted_place = placeOf(wanted[k], plain.arguments, expected_.comparesStrides());
        const std::string place = placeOf(found[k], functional.arguments, expected_.comparesStrides());
        if (wanted_place != place) return fmt::format("result {} is {}, and plainly {}", i, place, wanted_place);
      }
      if (auto other = differenceOf(plain.results[i], functional.results[i], tolerance_, {"plainly", "functionally"})) {
        return fmt::format("result {}: {}", i, *other);
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> differenceOfArguments(const Outcome& plain, const Outcome& functional) const {
    for (size_t i = 0; i < plain.arguments.tensors.size(); ++i) {
      const std::string wanted = placeOf(plain.arguments.tensors[i], plain.arguments, true);
      const std::string found = placeOf(functional.arguments.tensors[i], functional.arguments, true);
      if (wanted != found) return fmt::format("argument tensor {} is then {}, and plainly {}", i, found, wanted);
      if (!plain.arguments.tensors[i].defined()) continue;
      if (auto other = differenceOf(plain.arguments.tensors[i], functional.arguments.tensors[i], tolerance_,
                                    {"plainly", "functionally"})) {
        return fmt::format("argument tensor {} afterwards: {}", i, *other);
      }
    }
    for (size_t i = 0; i < plain.arguments.storages.size(); ++i) {
      if (auto other = differenceOf(plain.arguments.storages[i], functional.arguments.storages[i], tolerance_,
                                    {"plainly", "functionally"})) {
        return fmt::format("storage {} afterwards: {}", i, *other);
      }
    }
    return std::nullopt;
  }

  const Case& expected_;
  const OperatorHandle& op_;
  const FunctionalViews views_;
  Tolerance tolerance_;
};

bool isMadeOfOthers(const OperatorHandle& op) {
  return Dispatcher::singleton().computeTableEntry(op, DispatchKey::Functionalize).cause == EntryCause::Alias;
}

}  // namespace

std::optional<std::string> functionalDifference(const Case& expected, const OperatorHandle& op) {
  for (const FunctionalViews views : {FunctionalViews::kKeep, FunctionalViews::kCopy}) {
    if (auto found = FunctionalCase(expected, op, views).difference()) {
      return fmt::format("{}: {}", views == FunctionalViews::kKeep ? "views kept" : "views copied", *found);
    }
  }
  return std::nullopt;
}

std::string functionalWord(const OperatorHandle& op) {
  if (isMadeOfOthers(op)) return "others";
  const transforms::OperatorPlan& plan = transforms::planOf(op);
  switch (plan.kind) {
    case Kind::kRead: return "reads";
    case Kind::kView: return "view";
    case Kind::kWrite: return plan.form ? "form" : "copies";
    case Kind::kShape:
    case Kind::kResize: return "shape";
    case Kind::kSet:
    case Kind::kPass: break;
  }
  return "";
}

}  // namespace boxcar::numerics
