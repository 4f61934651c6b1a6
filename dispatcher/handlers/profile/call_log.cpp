#include <boxcar/dispatcher/handlers/profile/call_log.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace boxcar::detail {

// The ring's pages are not touched, and so not allocated by the system, until a call reaches them.
CallLog::CallLog(uint32_t number, size_t capacity)
    : number_(number),
      thread_id_(static_cast<uint64_t>(::syscall(SYS_gettid))),
      capacity_(capacity),
      ring_(std::make_unique_for_overwrite<CallRecord[]>(capacity)),
      sums_(std::make_unique<OperatorSum[]>(kSums + 1)),
      first_tick_(TickClock::now()),
      last_tick_(first_tick_) {}

void CallLog::begin() noexcept {
  is_on_ = true;
  on_since_ = TickClock::now();
}

void CallLog::end() noexcept {
  is_on_ = false;
  last_tick_ = TickClock::now();
  ticks_on_ += last_tick_ - on_since_;
  if (clock_ != nullptr) clock_->finish();
}

void CallLog::beginSpan(CallRecord& call, uint32_t outer, const Stack& stack) noexcept {
  if (!has_asked_for_clock_) {
    has_asked_for_clock_ = true;
    clock_ = device_clocks.make(2 * capacity_);
  }
  if (clock_ == nullptr) return;
  const DispatchKeySet keys = device_clocks.keys;
  const size_t bytes = stack.holdsBytes(call.key.entry()->argumentBytes()) ? call.key.entry()->argumentBytes() : 0;
  const Tensor* found = nullptr;
  const auto consider = [&](const Tensor& tensor) {
    if (found == nullptr && tensor.defined() && tensor.key_set().has_any(keys)) found = &tensor;
  };
  for (const IValue& value : last(stack, bytes / sizeof(IValue))) {
    if (value.isTensor()) {
      consider(value.unsafeGet<IValue::Tag::Tensor>());
    } else if (value.isTensorList()) {
      for (const Tensor& tensor : value.unsafeGet<IValue::Tag::TensorList>()->values) consider(tensor);
    }
  }
  if (found != nullptr) call.device_span = clock_->begin(found->device().index(), outer);
}

OperatorSum& CallLog::findSumFrom(size_t place, OperatorOnPath key) noexcept {
  while (sums_[place].key != key) {
    if (sums_[place].key.entry() == nullptr) {
      // When the table is half full, new operators are counted without a path; when it is three quarters full, all
      // further ones share the last place.
      if (sums_used_ >= kSums / 2 && key.path() != CallPaths::kNone) return sumOf({key.entry(), CallPaths::kNone});
      if (sums_used_ >= kSums / 4 * 3) return sums_[kSums];
      ++sums_used_;
      sums_[place].key = key;
      break;
    }
    place = (place + 1) & (kSums - 1);
  }
  return sums_[place];
}

std::vector<const CallRecord*> CallLog::calls() const {
  std::vector<const CallRecord*> calls;
  for (uint64_t i = foldedCount(); i < count_; ++i) calls.push_back(&ring_[i & (capacity_ - 1)]);
  return calls;
}

std::vector<OperatorSum> CallLog::folded() const {
  std::vector<OperatorSum> sums;
  for (size_t i = 0; i <= kSums; ++i) {
    if (sums_[i].calls() != 0) sums.push_back(sums_[i]);
  }
  return sums;
}

void CallLog::endSpan(const CallRecord& call) noexcept { clock_->end(call.device_span); }

}  // namespace boxcar::detail
