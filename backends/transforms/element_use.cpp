#include <boxcar/backends/transforms/element_use.h>
#include <boxcar/backends/transforms/fake_rules.h>
#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/dispatcher/registry/dispatcher.h>

#include <algorithm>
#include <string_view>

namespace boxcar::transforms {
namespace {

constexpr std::string_view kOfShapes[] = {"aten::is_same_size", "aten::_version", "aten::result_type"};

// Operators made of others whose kernels also read elements themselves.
constexpr std::string_view kReadingThemselves[] = {"aten::ctc_loss", "aten::_pack_padded_sequence",
                                                   "aten::_pad_packed_sequence"};

}  // namespace

bool readsNoElements(const OperatorHandle& op) {
  using Kind = OperatorPlan::Kind;
  const std::string_view name = op.operator_name().name;
  switch (planOf(op).kind) {
    case Kind::kView:
    case Kind::kShape:
    case Kind::kResize:
    case Kind::kPass: return true;
    case Kind::kSet:
    case Kind::kWrite: return false;
    case Kind::kRead: break;
  }
  if (!name.starts_with("aten::")) return name.starts_with("prim::") || op.schema().is_vararg();
  return name.ends_with("_like") || name.starts_with("aten::new_") || name.starts_with("aten::sym_") ||
         std::ranges::find(kOfShapes, name) != std::end(kOfShapes);
}

bool isMadeOfOthers(const OperatorHandle& op, DispatchKeySet keys) {
  if (!op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) || writesMemoryItself(op)) return false;
  const std::string& name = op.operator_name().name;
  if (std::ranges::find(kReadingThemselves, name) != std::end(kReadingThemselves)) return false;
  const DispatchKey backend = highestPriorityBackendTypeId(keys);
  if (backend == DispatchKey::Undefined) return false;
  const TableEntry entry = Dispatcher::singleton().computeTableEntry(op, backend);
  return entry.cause == EntryCause::Alias && entry.key == DispatchKey::CompositeImplicitAutograd;
}

}  // namespace boxcar::transforms
