#pragma once

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/cli/bench/arguments.h>
#include <boxcar/interpreter/cli/bench/calls.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace boxcar::cli {

// One way that a call goes, a row of the table.
struct BenchPath {
  std::string name;
  CallLoop run;
  // What is taken off, as the loop of a script around the calls. Empty where there is nothing.
  CallLoop overhead = {};
  // Runs what it is given in the scope that the path needs; empty where it needs none.
  std::function<void(const std::function<void()>&)> within = {};
  // How many calls one scope may see.
  long most_calls = std::numeric_limits<long>::max();
};

// A way that is not measured, and why.
struct SkippedPath {
  std::string name;
  std::string reason;
};

// The ways of one call.
struct BenchGroup {
  std::string title;
  BenchCall call;
  std::vector<BenchPath> paths;
  std::vector<SkippedPath> skipped;
};

// The name of the path that the others are compared with.
inline constexpr const char* kTypedCall = "typed call";
inline constexpr const char* kBoxedCall = "boxed call";

// Makes the ways of calls, and holds what is registered for them while it lives: fallthroughs, a fallback, an operator
// whose kernel does nothing.
class BenchPaths final {
 public:
  // [folder] takes the files that handlers write.
  explicit BenchPaths(std::string folder);

  // bench::no_op, and a call of it with two tensors.
  BenchGroup noOp();
  // The ways that every call has: direct, typed, boxed, from a script.
  BenchGroup plain(BenchCall call) const;
  // The ways around them: fallthroughs, a fallback, a mode, the handlers.
  void addDetours(BenchGroup& group);

 private:
  void addFallthroughs(BenchGroup& group);
  void addFallback(BenchGroup& group);
  void addHandlers(BenchGroup& group) const;

  std::string folder_;
  std::vector<Library> libraries_;
  // Those where nothing answers for every operator but a fallthrough that is registered here.
  std::vector<DispatchKey> fallthrough_keys_;
  bool has_fallback_ = false;
};

}  // namespace boxcar::cli
