#include <boxcar/dispatcher/handlers/record/rebuilt_values.h>
#include <boxcar/dispatcher/handlers/record/recorded_text.h>
#include <boxcar/dispatcher/handlers/record/recording_diff.h>
#include <boxcar/dispatcher/values/content_hash.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar {
namespace {

constexpr size_t kCallsBefore = 3;

// The tensors of a call at one moment, in one of the recordings.
class Side final {
 public:
  Side(const Recording& recording, const RecordedMoment& moment) : recording_(recording), moment_(moment) {}

  const RecordedTensor& recorded(uint32_t tensor) const { return moment_.tensors[tensor]; }
  const RecordedStorage& storageOf(uint32_t tensor) const { return moment_.storages[recorded(tensor).storage]; }
  // Returns the checksum of the recorded bytes of the tensor's storage.
  std::optional<uint64_t> checksumOf(uint32_t tensor) const {
    const auto block = storageOf(tensor).block;
    return block ? std::optional(recording_.checksumOf(*block)) : std::nullopt;
  }
  // Returns the tensor on the CPU; the first call reads all tensors.
  const Tensor& onHost(uint32_t tensor) {
    if (tensors_.empty()) tensors_ = rebuild(recording_, moment_, {}, Device(DeviceType::CPU)).tensors;
    return tensors_[tensor];
  }
  uint64_t hashOf(uint32_t tensor) {
    if (recording_.content() == RecordedContent::Hashes) return recorded(tensor).hash;
    return hashOfBytes(ElementBytes(onHost(tensor)).bytes()).low;
  }

 private:
  const Recording& recording_;
  const RecordedMoment& moment_;
  std::vector<Tensor> tensors_;
};

class CallComparison final {
 public:
  CallComparison(const Recording& a, const Recording& b, size_t index, const Tolerance& tolerance)
      : a_(a),
        b_(b),
        call_a_(a.calls()[index]),
        call_b_(b.calls()[index]),
        op_(a.operatorOf(call_a_)),
        names_{"in " + a.path(), "in " + b.path()},
        tolerance_(tolerance) {}

  std::optional<std::string> run() {
    const FunctionSchema& schema = op_.schema;
    if (const FunctionSchema& other = b_.operatorOf(call_b_).schema; !(schema == other))
      return fmt::format("{} {}, {} {}", schema, names_.expected, other, names_.found);
    if (auto difference = compareArguments()) return difference;
    if (auto difference = compareFailures()) return difference;
    if (call_a_.failure) return std::nullopt;
    return compareOutcome();
  }

 private:
  bool comparesElements() const {
    return a_.content() != RecordedContent::Shapes && b_.content() != RecordedContent::Shapes;
  }

  std::optional<std::string> compareArguments() {
    // Printed text shows values that were already compared.
    if (op_.is_io && op_.schema.returns().empty() && !tolerance_.isExact()) return std::nullopt;
    Side a(a_, call_a_.before);
    Side b(b_, call_b_.before);
    const size_t count = std::min(call_a_.arguments.size(), op_.schema.arguments().size());
    for (size_t i = 0; i < count && i < call_b_.arguments.size(); ++i) {
      const Argument& argument = op_.schema.arguments()[i];
      const bool elements = comparesElements() && argument.alias_info() == nullptr;
      if (auto difference = compare(call_a_.arguments[i], call_b_.arguments[i], a, b, elements))
        return fmt::format("`{}`: {}", argument.name(), *difference);
    }
    if (devicesDiffer() || !call_a_.generator || !call_b_.generator) return std::nullopt;
    return compareStates(call_a_.generator->state, call_b_.generator->state);
  }

  std::optional<std::string> compareFailures() const {
    const auto message = [](const RecordedCall& call) { return call.failure ? firstLine(*call.failure) : "no error"; };
    if (message(call_a_) == message(call_b_)) return std::nullopt;
    return fmt::format("{} {}, {} {}", message(call_a_), names_.expected, message(call_b_), names_.found);
  }

  std::optional<std::string> compareOutcome() {
    if (call_a_.results.size() != call_b_.results.size())
      return fmt::format("{} results {}, {} {}", call_a_.results.size(), names_.expected, call_b_.results.size(),
                         names_.found);
    Side a(a_, call_a_.after);
    Side b(b_, call_b_.after);
    for (size_t i = 0; i < call_a_.results.size(); ++i) {
      const bool is_view = i < op_.schema.returns().size() && op_.schema.returns()[i].alias_info() != nullptr &&
                           !op_.schema.returns()[i].is_write();
      const bool elements = comparesElements() && !is_view && !op_.is_uninitialised;
      if (auto difference = compare(call_a_.results[i], call_b_.results[i], a, b, elements))
        return fmt::format("{}: {}", nameOfResult(op_.schema, i), *difference);
    }
    const std::vector<uint32_t> written_b = writtenTensors(call_b_, op_.schema);
    for (const uint32_t i : writtenTensors(call_a_, op_.schema)) {
      if (std::ranges::find(written_b, i) == written_b.end()) continue;
      if (auto difference = compareTensors(i, i, a, b, comparesElements() && !op_.is_uninitialised))
        return fmt::format("{}: {}", nameOfWritten(call_a_, op_.schema, i), *difference);
    }
    return std::nullopt;
  }

  std::optional<std::string> compare(const RecordedValue& x, const RecordedValue& y, Side& a, Side& b, bool elements) {
    using Kind = RecordedValue::Kind;
    if (x.kind != y.kind) return fmt::format("{} {}, {} {}", nameOf(x), names_.expected, nameOf(y), names_.found);
    switch (x.kind) {
      case Kind::Undefined: return std::nullopt;
      case Kind::Plain:
        // None as a device means the CPU, or the device of another argument.
        if (x.plain.isDevice() || y.plain.isDevice()) return std::nullopt;
        return differenceOf(x.plain, y.plain, tolerance_, names_);
      case Kind::Opaque: return differenceOf(x.plain, y.plain, tolerance_, names_);
      case Kind::Tensor: return compareTensors(x.index, y.index, a, b, elements);
      case Kind::Storage: return std::nullopt;
      case Kind::Generator:
        if (devicesDiffer() || !x.state || !y.state) return std::nullopt;
        return compareStates(*x.state, *y.state);
      default: break;
    }
    if (x.elements.size() != y.elements.size())
      return fmt::format("{} values {}, {} {}", x.elements.size(), names_.expected, y.elements.size(), names_.found);
    for (size_t i = 0; i < x.elements.size(); ++i) {
      auto difference = compare(x.elements[i], y.elements[i], a, b, elements);
      if (!difference) continue;
      if (x.kind != Kind::Dict) return fmt::format("[{}]: {}", i, *difference);
      if (i % 2 == 0) return fmt::format("key {}: {}", i / 2, *difference);
      return fmt::format("[{}]: {}", repr(x.elements[i - 1].plain), *difference);
    }
    return std::nullopt;
  }

  std::optional<std::string> compareTensors(uint32_t x, uint32_t y, Side& a, Side& b, bool elements) {
    const RecordedTensor& left = a.recorded(x);
    const RecordedTensor& right = b.recorded(y);
    if (left.dtype != right.dtype || left.sizes != right.sizes)
      return fmt::format("{} {}, {} {}", shapeOf(left), names_.expected, shapeOf(right), names_.found);
    if (!elements || a.storageOf(x).device.is_meta() || b.storageOf(y).device.is_meta()) return std::nullopt;
    if (a_.content() == RecordedContent::Full && b_.content() == RecordedContent::Full) {
      const bool have_same_layout = left.strides == right.strides && left.offset == right.offset &&
                                    left.is_conj == right.is_conj && left.is_neg == right.is_neg &&
                                    a.storageOf(x).first == b.storageOf(y).first;
      if (have_same_layout && a.checksumOf(x) == b.checksumOf(y)) return std::nullopt;
      return differenceOf(a.onHost(x), b.onHost(y), tolerance_, names_);
    }
    if (a.hashOf(x) == b.hashOf(y)) return std::nullopt;
    return fmt::format("{} with other elements, as their hashes say", shapeOf(left));
  }

  std::optional<std::string> compareStates(const GeneratorState& x, const GeneratorState& y) const {
    if (x == y) return std::nullopt;
    return fmt::format("the generator has the seed {} and has drawn {} numbers {}, {} and {} {}", x.seed, x.drawn,
                       names_.expected, y.seed, y.drawn, names_.found);
  }

  // Another device has its own generator and draws other numbers.
  bool devicesDiffer() const {
    const auto devices = [](const RecordedCall& call) {
      std::vector<DeviceType> types;
      for (const RecordedStorage& storage : call.after.storages) types.push_back(storage.device.type());
      return types;
    };
    return devices(call_a_) != devices(call_b_);
  }

  static std::string shapeOf(const RecordedTensor& tensor) {
    return fmt::format("{}[{}]", dtypeName(tensor.dtype), fmt::join(tensor.sizes, ", "));
  }

  static std::string nameOf(const RecordedValue& value) {
    constexpr std::string_view kNames[] = {"",
                                           "an undefined tensor",
                                           "a tensor",
                                           "a storage",
                                           "a generator",
                                           "a list of tensors",
                                           "a list",
                                           "a tuple",
                                           "a dict",
                                           ""};
    if (value.kind == RecordedValue::Kind::Plain) return repr(value.plain);
    if (value.kind == RecordedValue::Kind::Opaque) return value.plain.toStringRef();
    return std::string(kNames[static_cast<size_t>(value.kind)]);
  }

  const Recording& a_;
  const Recording& b_;
  const RecordedCall& call_a_;
  const RecordedCall& call_b_;
  const RecordedOperator& op_;
  const SideNames names_;
  const Tolerance tolerance_;
};

}  // namespace

std::optional<RecordingDifference> findDifference(const Recording& a, const Recording& b, const Tolerance& tolerance) {
  // Elements are compared by their checksums first, which would miss changes made to the file since.
  a.checkBlocks();
  b.checkBlocks();
  const size_t common = std::min(a.calls().size(), b.calls().size());
  for (size_t i = 0; i < common; ++i) {
    if (auto what = CallComparison(a, b, i, tolerance).run()) return RecordingDifference{i, *std::move(what)};
  }
  if (a.calls().size() == b.calls().size()) return std::nullopt;
  const bool a_ends = a.calls().size() == common;
  return RecordingDifference{common, fmt::format("{} ends before it, and {} goes on", a_ends ? a.path() : b.path(),
                                                 a_ends ? b.path() : a.path())};
}

std::string describeDifference(const Recording& a, const Recording& b,
                               const std::optional<RecordingDifference>& difference) {
  if (!difference) {
    const bool by_shapes = a.content() == RecordedContent::Shapes || b.content() == RecordedContent::Shapes;
    std::string text = fmt::format("{} and {} are alike: {}{}\n", a.path(), b.path(), callsText(a.calls().size()),
                                   by_shapes ? ", by their shapes" : "");
    if (a.failed() != b.failed())
      text += fmt::format("but the program of {} failed after them\n", a.failed() ? a.path() : b.path());
    return text;
  }
  const size_t at = difference->call;
  std::string text = fmt::format("the runs differ at call {}: {}\n", at, difference->what);
  for (const Recording* run : {&a, &b}) {
    text += fmt::format("  {}: {}\n", run->path(), at < run->calls().size() ? lineOf(*run, at) : "no more calls");
  }
  if (at != 0) text += "alike before it:\n";
  for (size_t i = at - std::min(at, kCallsBefore); i < at; ++i) text += fmt::format("  call {}: {}\n", i, lineOf(a, i));
  return text;
}

}  // namespace boxcar
