#pragma once

#include <boxcar/backends/transforms/functional_values.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>

#include <optional>
#include <span>
#include <vector>

namespace boxcar::transforms {

// While it lives, this thread's calls are functionalised. A scope inside another one does nothing: the outer one
// serves its calls.
class FunctionalScope final {
 public:
  explicit FunctionalScope(bool copies_views);
  ~FunctionalScope();
  FunctionalScope(const FunctionalScope&) = delete;
  FunctionalScope& operator=(const FunctionalScope&) = delete;

  // The one that serves this thread's calls; null if there is none.
  static FunctionalScope* current() noexcept;

  FunctionalValues& values() noexcept { return values_; }
  Tensor valueOf(const Tensor& tensor);
  // Ends the scope: traces and modes below it see what was written as a copy_() to each tensor that is still there.
  void leave();
  // As above, for a function that returns [results]; of what was made in the scope they are all that is left. Returns
  // their values.
  std::vector<IValue> leaveWith(std::span<const IValue> results);

 private:
  bool isServing() const noexcept { return current() == this; }
  void stop() noexcept;
  void writeBack(std::span<const FunctionalValues::Written> written) const;

  FunctionalValues values_;
  std::optional<IncludeDispatchKeyGuard> included_;
};

}  // namespace boxcar::transforms
