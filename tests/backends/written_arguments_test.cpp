#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/sample_arguments.h"

// Calls every operator that writes to an argument with arguments that share memory and with unsuitable outputs. It must
// fail and change nothing, or give the result that it gives without sharing.

namespace boxcar {
namespace {

using Sizes = std::vector<int64_t>;

// The place of a tensor among the arguments of a call, perhaps within a list.
struct Place {
  size_t argument;
  std::optional<size_t> element;
};

// Returns the element of a list; an undefined tensor if it is no tensor.
Tensor elementOf(const IValue& list, size_t i) {
  const IValue element = list.elementAt(i);
  return element.isTensor() ? element.toTensor() : Tensor();
}

Tensor tensorAt(const Stack& stack, const Place& place) {
  const IValue& value = stack[place.argument];
  return place.element.has_value() ? elementOf(value, *place.element) : value.toTensor();
}

void put(Stack& stack, const Place& place, const Tensor& tensor) {
  IValue& value = stack[place.argument];
  if (!place.element.has_value()) {
    value = tensor;
  } else if (value.isTensorList()) {
    const List<Tensor> list = value.toTensorList().copy();  // copies of a stack share their lists
    list.set(*place.element, tensor);
    value = list;
  } else {
    const GenericList list = value.toList().copy();
    list.set(*place.element, tensor);
    value = list;
  }
}

// Returns the places of written tensors, or of those that are only read.
std::vector<Place> placesOf(const OperatorHandle& op, const Stack& stack, bool written) {
  std::vector<Place> places;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (op.schema().arguments()[i].is_write() != written) continue;
    if (stack[i].isTensor()) places.push_back({i, std::nullopt});
    if (!stack[i].isList()) continue;
    for (size_t j = 0; j < stack[i].length(); ++j) places.push_back({i, j});
  }
  std::erase_if(places, [&](const Place& place) { return !tensorAt(stack, place).defined(); });
  return places;
}

GeneratorState drawn() { return defaultCpuGenerator().unsafeGetGeneratorImpl()->state(); }

std::string call(const OperatorHandle& op, Stack stack) {
  const HiddenCalls hidden;
  try {
    op.callBoxed(stack);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Copies the arguments so that none shares memory with another.
Stack apart(const OperatorHandle& op, const Stack& stack) {
  Stack result;
  for (const IValue& value : stack) result.push_back(copyValues(std::span(&value, 1))[0]);
  for (const Place& place : placesOf(op, stack, false)) {
    if (place.element.has_value()) put(result, place, ValueCopier().copy(tensorAt(stack, place)));
  }
  return result;
}

bool hasSameShape(const Tensor& a, const Tensor& b) {
  return sizesOf(a) == sizesOf(b) && stridesOf(a) == stridesOf(b) && a.storage_offset() == b.storage_offset();
}

// Returns whether all memory and all shapes equal those of [copy].
bool isUnchanged(const Stack& stack, const Stack& copy, const std::vector<Place>& places) {
  for (const Place& place : places) {
    const Tensor now = tensorAt(stack, place);
    const Tensor before = tensorAt(copy, place);
    if (!hasSameShape(now, before) || now.storage()->nbytes() != before.storage()->nbytes()) return false;
    if (now.is_meta() || now.storage()->nbytes() == 0) continue;
    if (std::memcmp(now.storage()->data(), before.storage()->data(), now.storage()->nbytes()) != 0) return false;
  }
  return true;
}

bool isClose(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || sizesOf(a) != sizesOf(b)) return false;
  if (a.is_meta() || b.is_meta()) return a.is_meta() == b.is_meta();
  const auto wide_a = elements<std::complex<double>>(to(a, ScalarType::ComplexDouble));
  const auto wide_b = elements<std::complex<double>>(to(b, ScalarType::ComplexDouble));
  for (size_t i = 0; i < wide_a.size(); ++i) {
    const auto close = [](double x, double y) {
      return x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= 1e-2 * (1 + std::abs(x));
    };
    if (!close(wide_a[i].real(), wide_b[i].real()) || !close(wide_a[i].imag(), wide_b[i].imag())) return false;
  }
  return true;
}

// Counts the calls and collects the faults by operator and kind of call.
class Findings {
 public:
  void check(const OperatorHandle& op, const Stack& stack, const std::string& what) {
    const std::vector<Place> read = placesOf(op, stack, false);
    const std::vector<Place> written = placesOf(op, stack, true);
    std::vector<Place> all = read;
    all.insert(all.end(), written.begin(), written.end());
    const GeneratorState state = drawn();
    const auto rewind = [&] {
      if (drawn() != state) defaultCpuGenerator().unsafeGetGeneratorImpl()->set_state(state);
    };
    const Stack alone = apart(op, stack);
    const std::string expected = call(op, alone);
    rewind();
    const Stack before = copyValues(stack);
    const std::string error = call(op, stack);
    const bool drew = drawn() != state;
    rewind();
    ++tried_;
    if (!error.empty()) {
      ++refused_;
      if (!isUnchanged(stack, before, all)) note(op, what, "changed before it was refused: " + error);
      if (drew) note(op, what, "drew numbers before it was refused: " + error);
      return;
    }
    if (!expected.empty()) return note(op, what, "accepted, but not alone: " + expected);
    for (const Place& place : written) {
      if (!isClose(tensorAt(stack, place), tensorAt(alone, place))) {
        note(op, what, "wrote " + toString(tensorAt(stack, place)) + " and not " + toString(tensorAt(alone, place)));
      }
    }
  }

  std::string text() const {
    std::string result;
    for (const auto& [where, found] : found_) result += where + ": " + found + "\n";
    return result;
  }
  size_t tried() const { return tried_; }
  size_t refused() const { return refused_; }

 private:
  void note(const OperatorHandle& op, const std::string& what, const std::string& found) {
    found_.emplace(toString(op) + ", " + what, found);
  }

  std::map<std::string, std::string> found_;
  size_t tried_ = 0;
  size_t refused_ = 0;
};

// Moves [tensor] into memory with room before and behind it.
Tensor inRoom(const Tensor& tensor) {
  const int64_t bytes = static_cast<int64_t>(tensor.storage()->nbytes());
  const int64_t items = bytes / static_cast<int64_t>(tensor.itemsize());
  const Tensor room = Tensor::allocate(Sizes{3 * items + 64}, tensor.scalar_type());
  std::memset(room.data_ptr(), 0, room.nbytes());
  std::memcpy(static_cast<char*>(room.data_ptr()) + (items + 16) * static_cast<int64_t>(tensor.itemsize()),
              tensor.storage()->data(), static_cast<size_t>(items) * tensor.itemsize());
  return room.view(tensor.sizes(), tensor.strides(), items + 16 + tensor.storage_offset());
}

// Returns a view of [sizes] whose elements are [step] apart and which begins [by] elements after [tensor]; nullopt if
// it exceeds the memory.
std::optional<Tensor> shifted(const Tensor& tensor, const Sizes& sizes, int64_t by, int64_t step) {
  Sizes strides(sizes.size());
  int64_t stride = step;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  const int64_t offset = tensor.storage_offset() + by;
  const auto bytes = static_cast<size_t>(offset + stride) * tensor.itemsize();
  if (bytes > tensor.storage()->nbytes()) return std::nullopt;
  return tensor.view(sizes, strides, offset);
}

void shareWithInputs(Findings& findings, const OperatorHandle& op, const Stack& sample) {
  // Run the operator to learn the shapes of its results.
  const Stack done = apart(op, sample);
  const GeneratorState state = drawn();
  if (!call(op, done).empty()) return;
  if (drawn() != state) defaultCpuGenerator().unsafeGetGeneratorImpl()->set_state(state);
  for (const Place& out : placesOf(op, sample, true)) {
    const bool is_out = op.schema().arguments()[out.argument].is_out();
    const Sizes sizes = sizesOf(tensorAt(done, out));
    for (const Place& in : placesOf(op, sample, false)) {
      const auto with = [&](const std::string& what, const auto& make) {
        Stack stack = apart(op, sample);
        const Tensor input = inRoom(tensorAt(stack, in));
        put(stack, in, input);
        const std::optional<Tensor> output = make(input);
        if (!output.has_value()) return;
        put(stack, out, *output);
        findings.check(op, stack, what);
      };
      with("an input is written", [](const Tensor& input) { return std::optional(input); });
      for (const auto& [by, step] : {std::pair(-1, 1), std::pair(1, 1), std::pair(0, 2), std::pair(1, 2)}) {
        with(fmt::format("a view {} behind in steps of {}", by, step),
             [&](const Tensor& input) { return shifted(input, sizes, by, step); });
      }
      if (!is_out) continue;
      for (const int64_t by : {0, 1, 40}) {
        with(fmt::format("an empty view {} behind", by),
             [&](const Tensor& input) { return shifted(input, {0}, by, 1); });
      }
      with("an empty tensor is read and written", [&](const Tensor& input) {
        input.unsafeGetTensorImpl()->setShape(Sizes{0}, Sizes{1}, input.storage_offset());
        return std::optional(input);
      });
      with("a view without sizes", [&](const Tensor& input) { return shifted(input, {}, 0, 1); });
    }
  }
}

void shareOutputs(Findings& findings, const OperatorHandle& op, const Stack& sample) {
  const Stack done = apart(op, sample);
  if (!call(op, done).empty()) return;
  const std::vector<Place> outs = placesOf(op, sample, true);
  for (size_t i = 0; i < outs.size(); ++i) {
    for (size_t j = 0; j < outs.size(); ++j) {
      if (i == j) continue;
      const Tensor first = tensorAt(done, outs[i]);
      for (const int64_t by : {0, 1, 2}) {
        Stack stack = apart(op, sample);
        const Tensor room = inRoom(first);
        put(stack, outs[i], room);
        const std::optional<Tensor> other =
            by == 0 ? std::optional(room) : shifted(room, sizesOf(tensorAt(done, outs[j])), by, 1);
        if (other.has_value()) {
          put(stack, outs[j], *other);
          findings.check(op, stack, by == 0 ? "one tensor twice" : "two views that overlap");
        }
        const Tensor empty = Tensor::allocate(Sizes{0}, first.scalar_type());
        put(stack, outs[i], empty);
        put(stack, outs[j], by == 0 ? empty : empty.view(Sizes{0}, Sizes{1}, 0));
        findings.check(op, stack, by == 0 ? "one empty tensor twice" : "two empty views of one storage");
      }
    }
  }
}

void giveWrongOutputs(Findings& findings, const OperatorHandle& op, const Stack& sample) {
  const Stack done = apart(op, sample);
  const GeneratorState state = drawn();
  if (!call(op, done).empty()) return;
  if (drawn() != state) defaultCpuGenerator().unsafeGetGeneratorImpl()->set_state(state);
  for (const Place& out : placesOf(op, sample, true)) {
    if (!op.schema().arguments()[out.argument].is_out()) continue;
    const Tensor result = tensorAt(done, out);
    const auto with = [&](const std::string& what, const Tensor& output) {
      Stack stack = apart(op, sample);
      put(stack, out, output);
      findings.check(op, stack, what);
    };
    for (const Sizes& sizes : {sizesOf(result), Sizes{0}}) {
      for (const ScalarType dtype :
           {ScalarType::Bool, ScalarType::Long, ScalarType::Double, ScalarType::ComplexFloat}) {
        const Tensor output = Tensor::allocate(sizes, dtype);
        if (output.nbytes() > 0) std::memset(output.data_ptr(), 0, output.nbytes());
        with("an output of another dtype", output);
      }
      with("an output on another device", Tensor::allocate(sizes, result.scalar_type(), Device("meta")));
      const Tensor one = Tensor::allocate(Sizes{1}, result.scalar_type());
      std::memset(one.data_ptr(), 0, one.nbytes());
      with("an output whose elements are one", one.view(sizes, Sizes(sizes.size(), 0), 0));
    }
  }
}

// Replaces each number argument by numbers that most dtypes cannot hold.
void giveWrongNumbers(Findings& findings, const OperatorHandle& op, const Stack& sample) {
  for (size_t i = 0; i < sample.size(); ++i) {
    if (op.schema().arguments()[i].type()->kind() != TypeKind::Scalar) continue;
    for (const IValue& number : {IValue(std::nan("")), IValue(1e300), IValue(std::complex<double>(1, 2))}) {
      Stack stack = apart(op, sample);
      stack[i] = number;
      findings.check(op, stack, "a number that does not fit");
    }
  }
}

// Calls [body] for each operator that writes to arguments and each of its sets of arguments; skips aten::empty, which
// writes nothing.
template <class Body>
void forEachWriter(const Body& body) {
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    if (name.getNamespace() != "aten" || name.name == "aten::empty") continue;
    const OperatorHandle op = *Dispatcher::singleton().findSchema(name);
    if (!op.schema().is_mutable() || needsHistory(op)) continue;
    const std::vector<Stack> samples = sampleArguments(op);
    EXPECT_FALSE(samples.empty()) << op.operator_name();
    for (const Stack& sample : samples) body(op, sample);
  }
}

TEST(WrittenArguments, ThatShareMemoryWithInputsAreRefusedOrWrittenRight) {
  Findings findings;
  forEachWriter([&](const OperatorHandle& op, const Stack& sample) { shareWithInputs(findings, op, sample); });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(findings.refused(), 1000u);
  EXPECT_GT(findings.tried() - findings.refused(), 1000u);
}

TEST(WrittenArguments, ThatShareMemoryWithEachOtherAreRefused) {
  Findings findings;
  forEachWriter([&](const OperatorHandle& op, const Stack& sample) { shareOutputs(findings, op, sample); });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(findings.refused(), 50u);
}

TEST(WrittenArguments, AreAllLookedAtBeforeTheFirstIsWritten) {
  Findings findings;
  forEachWriter([&](const OperatorHandle& op, const Stack& sample) { giveWrongOutputs(findings, op, sample); });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(findings.refused(), 1000u);
}

TEST(WrittenArguments, AreLeftAloneWhereANumberDoesNotFit) {
  Findings findings;
  forEachWriter([&](const OperatorHandle& op, const Stack& sample) { giveWrongNumbers(findings, op, sample); });
  EXPECT_EQ(findings.text(), "");
  EXPECT_GT(findings.refused(), 100u);
}

}  // namespace
}  // namespace boxcar
