#include <boxcar/interpreter/bytecode/bytecode.h>

namespace boxcar::interp {

SlotKind slotKindOf(TypePtr type) noexcept {
  switch (type->underlying()->kind()) {
    case TypeKind::Int: return SlotKind::Int;
    case TypeKind::Float: return SlotKind::Float;
    case TypeKind::Bool: return SlotKind::Bool;
    default: return SlotKind::Value;
  }
}

}  // namespace boxcar::interp
