#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/handlers/fault/bit_flip.h>
#include <boxcar/dispatcher/handlers/fault/fault_injector.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <boxcar/dispatcher/registry/name_pattern.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace boxcar {
namespace {

constexpr size_t kMostNotes = 20;

// Returns a pseudorandom number that depends only on the seed, the call and the purpose (splitmix64).
uint64_t randomOf(int64_t seed, uint64_t number, uint64_t purpose) {
  uint64_t x = static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15U + number * 0xd1b54a32d192ed03U + purpose;
  for (const uint64_t factor : {0xbf58476d1ce4e5b9U, 0x94d049bb133111ebU}) x = (x ^ (x >> 30)) * factor;
  return x ^ (x >> 31);
}

std::string placeOf(const OperatorHandle& op) {
  const std::optional<CallSite> site = currentCallSite();
  return site ? fmt::format("{} at {}", op, toString(*site)) : toString(op);
}

FaultOptions optionsOf(std::span<const IValue> arguments) {
  return {.pattern = std::string(arguments[0].toStringView()),
          .n = arguments[1].toInt(),
          .corrupt = arguments[2].toBool(),
          .seed = arguments[3].toInt(),
          .probability = arguments[4].toDouble()};
}

}  // namespace

std::string faultOf(const FaultOptions& options) {
  const auto& [n, probability] = std::tie(options.n, options.probability);
  if (n < 1) return fmt::format("n={} is not a call; calls are counted from 1", n);
  // Written so that NaN fails too.
  if (!(probability >= 0 && probability <= 1)) return fmt::format("probability={} is not from 0.0 to 1.0", probability);
  if (n == 1 || probability == 0) return {};
  return fmt::format("n={} and probability={} contradict each other; give one of them", n, probability);
}

FaultInjector::FaultInjector(FaultOptions options) : options_(std::move(options)) {
  const std::string fault = faultOf(options_);
  BOXCAR_CHECK(fault.empty(), "inject: {}", fault);
}

bool FaultInjector::chooses(uint64_t number) const {
  if (options_.probability == 0) return number == static_cast<uint64_t>(options_.n);
  // 53 bits give a uniform number in [0, 1).
  return static_cast<double>(randomOf(options_.seed, number, 0) >> 11) * 0x1p-53 < options_.probability;
}

void FaultInjector::note(uint64_t number, const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++noted_;
  if (notes_.size() < kMostNotes) notes_.push_back(fmt::format("  call {}: {}\n", number, what));
}

void FaultInjector::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  if (!matchesPattern(op.operator_name(), options_.pattern)) return op.redispatchBoxed(keys, stack);
  const uint64_t number = ++matched_;
  if (!chooses(number)) return op.redispatchBoxed(keys, stack);
  if (!options_.corrupt) {
    ++injected_;
    note(number, "an Error in " + placeOf(op));
    BOXCAR_FAIL("{} was made to fail: inject '{}' chose call {} of those that match", op, options_.pattern, number);
  }
  op.redispatchBoxed(keys, stack);
  const size_t results = std::min(op.schema().returns().size(), stack.size());
  const std::string flipped = flipBit(last(std::as_const(stack), results), randomOf(options_.seed, number, 1));
  if (flipped.empty()) return note(number, placeOf(op) + " gave no tensor that could be corrupted");
  ++injected_;
  note(number, fmt::format("flipped {} that {} gave", flipped, placeOf(op)));
}

std::string FaultInjector::finish(bool) {
  const uint64_t matched = matched_.load();
  const uint64_t injected = injected_.load();
  if (matched == 0 && !matchesSomeOperator(options_.pattern))
    return fmt::format("inject '{}': no operator has such a name, nothing was injected\n", options_.pattern);
  std::string text =
      fmt::format("inject '{}': {}", options_.pattern, matched == 0 ? "no call" : plural(matched, "call"));
  text += fmt::format(" matched, {}\n", injected == 0   ? "nothing was injected"
                                        : injected == 1 ? std::string("1 fault was injected")
                                                        : fmt::format("{} faults were injected", injected));
  const std::lock_guard lock(mutex_);
  for (const std::string& note : notes_) text += note;
  if (noted_ > notes_.size()) text += fmt::format("  and {} more\n", noted_ - notes_.size());
  return text;
}

constinit const HandlerKind kInjectKind = {
    "inject(str pattern, *, int n=1, bool corrupt=False, int seed=0, float probability=0.0) -> ()",
    "Make the n-th call of matching operators fail, or flip a bit of its result",
    [](std::span<const IValue> arguments) -> std::unique_ptr<Handler> {
      return std::make_unique<FaultInjector>(optionsOf(arguments));
    },
    [](std::span<const IValue> arguments) { return faultOf(optionsOf(arguments)); }};

}  // namespace boxcar
