#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <optional>
#include <vector>

// How functionalize() serves the calls of an operator, from its schema and those of its relatives.

namespace boxcar::transforms {

struct OperatorPlan {
  enum class Kind : uint8_t {
    kRead,    // writes nothing; its results may share memory with arguments all the same
    kView,    // returns views of the argument [viewed]; [form] is the operator that returns copies
    kWrite,   // writes arguments; [form] returns new values instead
    kShape,   // makes its first argument another view of its memory, as t_() does; [form] is the view
    kResize,  // resize_()
    kSet,     // set_()
    kPass,    // runs as it is: it is about gradients alone, or is a script, whose calls are served
  };
  // Where a result of the operator comes from.
  struct Result {
    bool is_argument;
    uint8_t position;  // of the argument, or among the results of [form]
  };

  Kind kind = Kind::kRead;
  // Without one, the operator itself is called on copies of what it writes.
  std::optional<OperatorHandle> form;
  std::vector<uint8_t> taken;  // the positions of the arguments that [form] takes
  // Whether [form] takes dtype, layout, device and pin_memory besides, which are those of what is written.
  bool takes_options = false;
  std::vector<uint8_t> written;  // the positions of the arguments that are written
  std::vector<uint8_t> made;     // for each of them, which result of [form] is its new value
  std::vector<Result> results;
  uint8_t viewed = 0;
  // Whether the operator writes only if its argument `training` is true and it has running statistics: its schema does
  // not say so.
  bool writes_statistics = false;
  bool is_random = false;
};

// Returns the plan of [op]; it is made once in a thread.
BOXCAR_API const OperatorPlan& planOf(const OperatorHandle& op);

}  // namespace boxcar::transforms
