#pragma once

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/cli/bench/arguments.h>
#include <boxcar/interpreter/cli/bench/calls.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace boxcar::cli {

// One way to make a call: a row of the table.
struct BenchPath {
  std::string name;
  CallLoop run;
  // Its time is subtracted, such as that of a script's loop around the calls. Empty if there is nothing to subtract.
  CallLoop overhead = {};
  // Runs its argument in the scope that the path needs; empty if it needs none.
  std::function<void(const std::function<void()>&)> within = {};
  // The maximum number of calls in one scope.
  long most_calls = std::numeric_limits<long>::max();
};

// A path that is not measured, and why.
struct SkippedPath {
  std::string name;
  std::string reason;
};

// The paths of one call.
struct BenchGroup {
  std::string title;
  BenchCall call;
  std::vector<BenchPath> paths;
  std::vector<SkippedPath> skipped;
};

// The other paths are compared with the typed call, or with the boxed call if there is no typed one.
inline constexpr const char* kTypedCall = "typed call";
inline constexpr const char* kBoxedCall = "boxed call";

// Makes the paths of calls. While it lives, it holds what is registered for them: fallthroughs, a fallback, an operator
// whose kernel does nothing.
class BenchPaths final {
 public:
  // Handlers write their files to [folder].
  explicit BenchPaths(std::string folder);

  // Registers bench::no_op and returns the paths of a call of it with two tensors.
  BenchGroup noOp();
  // Returns the paths that every call has: direct, typed, boxed, from a script.
  BenchGroup plain(BenchCall call) const;
  // Adds the detours: fallthroughs, a fallback, a mode, the handlers.
  void addDetours(BenchGroup& group);

 private:
  void addFallthroughs(BenchGroup& group);
  void addFallback(BenchGroup& group);
  void addHandlers(BenchGroup& group) const;

  std::string folder_;
  std::vector<Library> libraries_;
  // The keys whose only fallback is a fallthrough registered here.
  std::vector<DispatchKey> fallthrough_keys_;
  bool has_fallback_ = false;
};

}  // namespace boxcar::cli
