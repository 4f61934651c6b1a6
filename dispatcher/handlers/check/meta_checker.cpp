#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/handlers/call_results.h>
#include <boxcar/dispatcher/handlers/check/effect_watch.h>
#include <boxcar/dispatcher/handlers/check/meta_checker.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stopped_error.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace boxcar {
namespace {

enum class MetaKernel { kNone, kComposite, kOwn };

MetaKernel metaKernelOf(const OperatorHandle& op) {
  // Copies on meta do not have what such an operator asks for.
  if (op.hasTag(Tag::differentiation)) return MetaKernel::kNone;
  const TableEntry table_entry = Dispatcher::singleton().computeTableEntry(op, DispatchKey::Meta);
  if (table_entry.kernel->isFallthrough()) return MetaKernel::kNone;
  if (table_entry.cause == EntryCause::Exact) return MetaKernel::kOwn;
  // A script's body is not run again, because its statements may affect more than their arguments.
  return table_entry.cause == EntryCause::Alias && !table_entry.site.is_script ? MetaKernel::kComposite
                                                                               : MetaKernel::kNone;
}

// Whether the call would be another one on meta tensors: autocast does not cast these, and func::vmap() would draw
// other random numbers.
bool isAnotherCallOnMeta(DispatchKeySet keys, MetaKernel kernel) {
  if (keys.has(DispatchKey::FuncTorchVmapMode)) return true;
  const LocalDispatchKeySet local = tls_local_dispatch_key_set();
  if (!(local.included_ - local.excluded_).has_any(autocast_dispatch_keyset)) return false;
  return keys.has_any(autocast_dispatch_keyset) || keys.has(DispatchKey::FuncTorchBatched) ||
         kernel == MetaKernel::kComposite;
}

bool isOnMetaAlready(const std::vector<PlacedTensor>& tensors) {
  return std::ranges::any_of(tensors, [](const PlacedTensor& placed) { return placed.tensor.is_meta(); });
}

// Returns [arguments] on the meta device. A missing device becomes meta, and an optional generator becomes None.
Stack copyToMeta(const FunctionSchema& schema, std::span<const IValue> arguments) {
  ValueCopier copier(ValueCopier::Target::kMeta);
  Stack copies;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TypePtr type = schema.arguments()[i].type();
    const TypeKind kind = (type->isOptional() ? type->element() : type)->kind();
    if (kind == TypeKind::Device) {
      copies.push_back(Device(DeviceType::Meta));
    } else if (kind == TypeKind::Generator && type->isOptional()) {
      copies.push_back(IValue());
    } else {
      copies.push_back(copier.copy(arguments[i]));
    }
  }
  return copies;
}

// Compares only the strides of dimensions whose size is not 1.
bool sameStrides(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0) return true;
  for (size_t i = 0; i < a.sizes().size(); ++i) {
    if (a.sizes()[i] != 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

std::string layoutText(const Tensor& tensor) {
  return fmt::format("{}[{}] with strides [{}]", dtypeName(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "),
                     fmt::join(tensor.strides(), ", "));
}

// Throws Error if [meta] does not match [real]; of sizes that depend on data only their number counts.
void compare(const OperatorHandle& op, const PlacedTensor& real, const Tensor& meta) {
  const bool sizes_count = !op.hasTag(Tag::dynamic_output_shape);
  const bool same_type = meta.scalar_type() == real.tensor.scalar_type();
  const bool same_layout =
      meta.dim() == real.tensor.dim() &&
      (!sizes_count || (std::ranges::equal(meta.sizes(), real.tensor.sizes()) && sameStrides(meta, real.tensor)));
  BOXCAR_CHECK(same_type && same_layout,
               "{} computes {} as {}, but on meta tensors it says {}: one of its two kernels is wrong", op, real.place,
               layoutText(real.tensor), layoutText(meta));
}

}  // namespace

void MetaChecker::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  EffectWatch watch(op);
  const MetaKernel kernel = schema.is_vararg() ? MetaKernel::kNone : metaKernelOf(op);
  if (kernel == MetaKernel::kNone) return op.redispatchBoxed(keys, stack);
  if (isAnotherCallOnMeta(keys, kernel)) return op.redispatchBoxed(keys, stack);
  const size_t count = schema.arguments().size();
  const size_t below = stack.size() - count;
  const std::vector<IValue> arguments(last(stack, count).begin(), last(stack, count).end());
  const std::vector<PlacedTensor> tensors = tensorsOfArguments(schema, arguments);
  if (isOnMetaAlready(tensors)) return op.redispatchBoxed(keys, stack);
  // Copied before the call, which may change shapes.
  Stack meta = copyToMeta(schema, arguments);
  const std::vector<IValue> meta_arguments(meta.begin(), meta.end());
  op.redispatchBoxed(keys, stack);
  if (watch.actedOutside() || stack.size() < below) return;

  const bool needs_data = op.hasTag(Tag::data_dependent_output) || op.hasTag(Tag::dynamic_output_shape);
  try {
    const HiddenCalls hidden;
    const ExcludeDispatchKeyGuard no_gradients(autograd_dispatch_keyset_with_ADInplaceOrView);
    op.callBoxed(meta);
  } catch (const StoppedError&) {
    throw;
  } catch (const Error& error) {
    if (needs_data || kernel == MetaKernel::kComposite) return;
    BOXCAR_FAIL("the Meta kernel of {} fails where the call itself did not: {}", op, error.what());
  }

  const std::span<const IValue> results = resultsAbove(stack, below);
  std::vector<PlacedTensor> real = tensorsOfResults(schema, results);
  std::vector<PlacedTensor> found = tensorsOfResults(schema, last(meta, meta.size()));
  BOXCAR_CHECK(real.size() == found.size(), "{} gave {} tensors, but on meta tensors it gives {}", op, real.size(),
               found.size());
  const std::vector<PlacedTensor> meta_tensors = tensorsOfArguments(schema, meta_arguments);
  for (size_t i = 0; i < tensors.size() && i < meta_tensors.size(); ++i) {
    if (!tensors[i].isWritten()) continue;
    real.push_back(tensors[i]);
    found.push_back(meta_tensors[i]);
  }
  for (size_t i = 0; i < real.size(); ++i) {
    BOXCAR_CHECK(found[i].tensor.is_meta() || kernel == MetaKernel::kComposite,
                 "the Meta kernel of {} gave {} on {}: its results must be on meta", op, found[i].place,
                 found[i].tensor.device());
    compare(op, real[i], found[i].tensor);
  }
}

constinit const HandlerKind kCheckMetaKind = {
    "check_meta() -> ()",
    "Stop where an operator's Meta kernel returns another dtype, shape or strides than its real kernel",
    [](std::span<const IValue>) -> std::unique_ptr<Handler> { return std::make_unique<MetaChecker>(); }};

}  // namespace boxcar
