#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/failure.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace boxcar::cuda {
namespace {

using functors::Refusal;

std::array<std::atomic<Failure*>, kMaxDevices> failures;
std::mutex allocating;

Failure* allocateFailure(std::atomic<Failure*>& place) {
  const std::lock_guard lock(allocating);
  if (Failure* const there = place.load(std::memory_order_acquire)) return there;
  void* memory = nullptr;
  check(driver().allocate_pinned(&memory, sizeof(Failure)), "allocating memory for reports of kernels");
  Failure* const failure = new (memory) Failure{};
  place.store(failure, std::memory_order_release);
  return failure;
}

std::string describe(const Failure& failure) {
  switch (failure.kind) {
    case Refusal::kZeroDivision: return "ZeroDivisionError: an integer was divided by zero";
    case Refusal::kIndex:
      return fmt::format("index {} is out of bounds for a dimension of size {}", failure.value, failure.bound);
    case Refusal::kNotProbability: return "all elements of input should be between 0 and 1, but one is not";
    case Refusal::kClass:
      return fmt::format("Target {} is out of bounds: there are {} classes", failure.value, failure.bound);
    case Refusal::kWeight:
      return fmt::format(
          "invalid multinomial distribution: the probability of category {} is negative, infinite or not a number",
          failure.value);
    case Refusal::kNoWeight:
      return fmt::format("invalid multinomial distribution (sum of probabilities <= 0): it is that of row {}",
                         failure.value);
    default: return "a kernel failed";
  }
}

}  // namespace

Failure* currentFailure() {
  std::atomic<Failure*>& place = failures[static_cast<size_t>(currentDevice())];
  Failure* const failure = place.load(std::memory_order_acquire);
  return failure != nullptr ? failure : allocateFailure(place);
}

void throwFailure() {
  const int device = currentDevice();
  Failure* const noted = failures[static_cast<size_t>(device)].load(std::memory_order_acquire);
  if (noted == nullptr || noted->kind == Refusal::kNone) [[likely]]
    return;
  const Failure failure = *noted;
  noted->kind = Refusal::kNone;
  const std::string text = describe(failure);
  if (waitsForEachLaunch()) BOXCAR_FAIL("{} (on cuda:{})", text, device);
  BOXCAR_FAIL(
      "{}. An earlier operator on cuda:{} found it, because kernels run asynchronously; with BOXCAR_CUDA_SYNC=1 "
      "in the environment that operator reports it",
      text, device);
}

}  // namespace boxcar::cuda
