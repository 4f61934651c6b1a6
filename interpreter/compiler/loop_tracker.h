#pragma once

// What is known where loops begin and end.

#include <boxcar/interpreter/compiler/environment.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/source.h>

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar::interp {

// Joins what is known on all paths to the begin of a loop and to its end, and tells whether another pass is needed.
class LoopTracker {
 public:
  // A loop whose body is being inferred.
  struct Loop {
    const void* key;
    size_t first_assigned;  // in the context's assigned: the loop's assignments begin here
    // The exits: what is known there, and the statement that receives the recasts for the point where the exits meet.
    std::vector<std::pair<Environment, typed::Stmt*>> exits;
  };

  explicit LoopTracker(InferenceContext& context) : context_(context) {}

  void beginPass();
  // Whether this pass found out something about the begin of a loop that it did not know when it was there.
  bool hasChanged() const noexcept { return has_changed_; }

  // Starts the loop called [key]: moves the variables to the slots that they have in every iteration.
  Loop open(const void* key, Span span, typed::Block& out);
  // [loop] is the innermost one from here to the end of its body; it must live as long.
  void beginBody(Loop& loop) { open_.push_back(&loop); }
  void endBody() { open_.pop_back(); }
  // Returns the innermost loop, or null.
  Loop* innermost() const noexcept { return open_.empty() ? nullptr : open_.back(); }
  // Jumps back to the begin of the loop.
  void repeat(const Loop& loop, Span span, typed::Block& out);
  // Continues after the loop; [out] ends here.
  void leave(Loop& loop, Span span, typed::Block& out);
  void close(Loop& loop);

 private:
  // Limits the number of passes: makes variables Any whose types might keep changing. [head] is what was known so far
  // where the loop begins, [joined] what is known now.
  void takeForAny(Environment& joined, const Environment& head, const Loop& loop) const;

  InferenceContext& context_;
  std::unordered_map<const void*, Environment> heads_;  // by loop
  int pass_ = 0;

  // Reset by each pass.
  std::vector<Loop*> open_;
  bool has_changed_ = false;
};

}  // namespace boxcar::interp
