#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar {

// Data that a functionality attaches to a tensor. A tensor holds one of each kind at most, and owns it alone.
class BOXCAR_API TensorMetadata : public Object {
 public:
  enum class Kind : uint8_t {
    kBase,        // of a view: kept by TensorImpl itself
    kAutograd,    // history and gradient
    kTransform,   // the tensor inside a wrapper: batching, functionalisation
    kNames,       // names of dimensions
    kOpaque,      // elements in a layout of a kernel library's: copies share them
    kBinding,     // a language binding's object
    kThirdParty,  // a plugin's or a program's own
  };

  explicit TensorMetadata(Kind kind) noexcept : kind_(kind) {}

  Kind kind() const noexcept { return kind_; }
  // Returns what a copy of the tensor is given, as checkers make them; null if a copy has none of this kind.
  virtual IntrusivePtr<TensorMetadata> copy() const { return nullptr; }

 private:
  friend class TensorImpl;

  Kind kind_;
  IntrusivePtr<TensorMetadata> next_;
};

}  // namespace boxcar
