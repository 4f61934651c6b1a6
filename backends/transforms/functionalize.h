#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <memory>

// Programs without writes.

namespace boxcar {

// What becomes of views.
enum class FunctionalViews : uint8_t {
  kKeep,  // they stay views, of tensors that are never written
  kCopy,  // operators that copy make them: `select_copy` instead of `select`
};

// While it lives, every call of this thread that writes is made as its functional form instead: `add` for `add_`, and
// `select_scatter` to write what `select` shows. What lies below, such as a trace or a mode at DispatchKey::Python,
// sees calls that write nothing. The program itself sees no difference: the memory of its tensors holds what it wrote.
//
//   {
//     const FunctionalizeGuard functional;
//     y.select(0, 1).add_(1);  // aten::select, aten::add.Tensor, aten::select_scatter
//   }
//
// At the end, traces and modes see a copy_() to each tensor that was written and is still there. A guard inside another
// one does nothing. It must be destroyed on the thread that made it.
class BOXCAR_API FunctionalizeGuard final {
 public:
  explicit FunctionalizeGuard(FunctionalViews views = FunctionalViews::kKeep);
  ~FunctionalizeGuard();
  FunctionalizeGuard(const FunctionalizeGuard&) = delete;
  FunctionalizeGuard& operator=(const FunctionalizeGuard&) = delete;

  // Returns what calls below get for [tensor].
  Tensor valueOf(const Tensor& tensor) const;
  // Does what the destructor does, but throws the Errors of the copies.
  void leave();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace boxcar
