#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/backends/transforms/functional_view.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace boxcar::transforms {
namespace {

// A view's values are the ways to be made: as a view, or as a copy.
Tensor stridedView(const Tensor& tensor, const Placement& where, bool copies) {
  return copies ? boxcar::as_strided_copy(tensor, where.sizes, where.strides, where.offset)
                : boxcar::as_strided(tensor, where.sizes, where.strides, where.offset);
}
Tensor reshaped(const Tensor& tensor, const std::vector<int64_t>& sizes, bool copies) {
  if (std::ranges::equal(tensor.sizes(), sizes)) return tensor;
  if (copies) return boxcar::view_copy(tensor, sizes);
  // A value need not be contiguous.
  return boxcar::view(tensor.is_contiguous() ? tensor : boxcar::clone(tensor, MemoryFormat::Contiguous), sizes);
}
Tensor ofType(const Tensor& tensor, ScalarType dtype, bool copies) {
  return copies ? boxcar::view_copy(tensor, dtype) : boxcar::view(tensor, dtype);
}

// All elements of a base in one row.
Placement rowOf(const Placement& base) {
  Placement row = base;
  row.sizes = {numelOf(base.sizes)};
  row.strides = {1};
  row.offset = 0;
  return row;
}

// Returns the dimensions of [where], that of the smallest steps first, as pointwise operators order those of their
// results.
std::vector<size_t> orderOf(const Placement& where) {
  std::vector<size_t> order(where.sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moved = i;
    for (size_t k = i; k-- > 0;) {
      const size_t inner = order[k];
      const size_t outer = order[moved];
      // Steps of 0 say nothing.
      if (where.strides[inner] == 0 || where.strides[outer] == 0) continue;
      if (where.strides[inner] < where.strides[outer]) break;
      if (where.strides[inner] == where.strides[outer] && where.sizes[inner] <= where.sizes[outer]) continue;
      std::swap(order[k], order[moved]);
      moved = k;
    }
  }
  return order;
}

// Returns [copy] with its elements in the order of those of [where]: what operators return depends on it.
Tensor inOrderOf(const Placement& where, const Tensor& copy) {
  std::vector<int64_t> strides(where.sizes.size());
  int64_t next = 1;
  for (const size_t dim : orderOf(where)) {
    strides[dim] = next;
    next *= std::max<int64_t>(where.sizes[dim], 1);
  }
  if (std::ranges::equal(strides, copy.strides())) return copy;
  return withStrides(copy, strides);
}

// The dimension in which an element of a list of views, such as those of split(), is a part.
std::optional<int64_t> dimOfParts(std::string_view name, const ViewStep& step, const Placement& whole) {
  if (name == "aten::unbind" || name == "aten::split" || name == "aten::split_with_sizes") {
    return wrapDimension(step.arguments.back().toInt(), static_cast<int64_t>(whole.sizes.size()));
  }
  return std::nullopt;
}

}  // namespace

Tensor withStrides(const Tensor& tensor, std::span<const int64_t> strides) {
  return boxcar::copy(boxcar::new_empty_strided(tensor, tensor.sizes(), strides), tensor);
}

// ---- Placement ----

Placement::Placement(const Tensor& tensor)
    : sizes(tensor.sizes().begin(), tensor.sizes().end()),
      strides(tensor.strides().begin(), tensor.strides().end()),
      offset(tensor.storage_offset()),
      dtype(tensor.scalar_type()) {}

bool Placement::isOf(const Tensor& tensor) const {
  return offset == tensor.storage_offset() && dtype == tensor.scalar_type() &&
         std::ranges::equal(sizes, tensor.sizes()) && std::ranges::equal(strides, tensor.strides());
}

bool Placement::isWhole(const StorageImpl& storage) const {
  const int64_t numel = numelOf(sizes);
  if (offset != 0 || static_cast<size_t>(numel) * elementSize(dtype) != storage.nbytes()) return false;
  if (numel == 0) return true;
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(strides[i], sizes[i]); });
  int64_t expected = 1;
  for (const size_t i : order) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

bool Placement::mayOverlap() const {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::ranges::sort(dims);
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

bool Placement::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

// ---- FunctionalBase ----

FunctionalBase::FunctionalBase(const Tensor& tensor, Placement where)
    : placement(std::move(where)), origin(tensor), version(tensor.version()) {
  if (tensor.layout() != Layout::Strided || placement.isOf(tensor)) value = std::exchange(origin, Tensor());
}

const Tensor& FunctionalBase::current(bool copies) {
  if (!value.defined()) value = stridedView(std::exchange(origin, Tensor()), placement, copies);
  return value;
}

void FunctionalBase::set(const Tensor& given) {
  value = given;
  if (given.layout() == Layout::Strided && Placement(given) != placement) {
    if (placement.isContiguous()) {
      value = boxcar::clone(given, MemoryFormat::Contiguous);
    } else {
      value = withStrides(given, placement.strides);
    }
  }
  origin = Tensor();
  ++generation;
}

bool FunctionalBase::ByPlacement::operator()(const FunctionalView* left, const FunctionalView* right) const {
  const std::strong_ordering order = left->placement() <=> right->placement();
  return order != 0 ? order < 0 : left->number() < right->number();
}
bool FunctionalBase::ByPlacement::operator()(const FunctionalView* left, const Placement& right) const {
  return left->placement() < right;
}
bool FunctionalBase::ByPlacement::operator()(const Placement& left, const FunctionalView* right) const {
  return left < right->placement();
}

std::shared_ptr<FunctionalView> FunctionalBase::viewAt(const Tensor& tensor) const {
  if (tensor.layout() != Layout::Strided) return nullptr;
  const auto found = views.lower_bound(Placement(tensor));
  return found != views.end() && (*found)->placement().isOf(tensor) ? (*found)->shared_from_this() : nullptr;
}

// ---- FunctionalView ----

FunctionalView::FunctionalView(std::shared_ptr<FunctionalBase> base, std::shared_ptr<FunctionalView> parent,
                               std::optional<ViewStep> step, Placement placement)
    : base_(std::move(base)),
      parent_(std::move(parent)),
      step_(std::move(step)),
      placement_(std::move(placement)),
      number_(base_->next_view++),
      generation_(base_->generation) {
  base_->views.insert(this);
}

FunctionalView::~FunctionalView() { base_->views.erase(this); }

Tensor FunctionalView::current(bool copies) {
  if (generation_ == base_->generation) {
    if (value_.defined()) return value_;
    if (Tensor made(made_.lock()); made.defined()) return made;
  }
  value_ = step_ ? replay(copies) : takenFromBase(copies);
  generation_ = base_->generation;
  return value_;
}

Tensor FunctionalView::replay(bool copies) {
  const Tensor viewed = parentValue(copies);
  Stack stack;
  for (size_t i = 0, next = 0; i <= step_->arguments.size(); ++i) {
    if (i == step_->viewed) {
      stack.push_back(IValue(viewed));
    } else {
      stack.push_back(step_->arguments[next++]);
    }
  }
  (copies && step_->copy ? *step_->copy : step_->op).callBoxed(stack);
  const IValue result = pop(stack);
  Tensor value = step_->index < 0 ? result.toTensor() : result.elementAt(static_cast<size_t>(step_->index)).toTensor();
  if (!copies) return value;
  return inOrderOf(placement_, value.storage() == viewed.storage() ? boxcar::clone(value) : value);
}

Tensor FunctionalView::takenFromBase(bool copies) {
  const Tensor& base = base_->current(copies);
  if (placement_ == base_->placement) return base;
  const auto taken = [&](const Tensor& whole) {
    const Tensor value = stridedView(whole, placement_, copies);
    return copies ? inOrderOf(placement_, value) : value;
  };
  if (placement_.dtype == base_->placement.dtype) return taken(base);
  return taken(ofType(stridedView(base, rowOf(base_->placement), copies), placement_.dtype, copies));
}

Tensor FunctionalView::putIntoBase(const Tensor& value, bool copies) {
  if (placement_ == base_->placement) return value;
  const Tensor& base = base_->current(copies);
  const auto put = [&](const Tensor& whole) {
    return boxcar::as_strided_scatter(whole, value, placement_.sizes, placement_.strides, placement_.offset);
  };
  if (placement_.dtype == base_->placement.dtype) return put(base);
  const Tensor row = stridedView(base, rowOf(base_->placement), copies);
  const Tensor written = put(ofType(row, placement_.dtype, copies));
  return stridedView(ofType(written, base_->placement.dtype, copies), base_->placement, copies);
}

Tensor FunctionalView::undone(const Tensor& value, bool copies) {
  if (!step_) return {};
  const std::string_view name = step_->op.operator_name().name;
  const std::vector<IValue>& given = step_->arguments;
  const Placement& whole = parentPlacement();
  const auto parent = [&] { return parentValue(copies); };
  if (name == "aten::select") return boxcar::select_scatter(parent(), value, given[0].toInt(), given[1].toInt());
  if (name == "aten::slice") {
    const auto limit = [](const IValue& text) {
      return text.isNone() ? std::optional<int64_t>() : std::optional<int64_t>(text.toInt());
    };
    return boxcar::slice_scatter(parent(), value, given[0].toInt(), limit(given[1]), limit(given[2]), given[3].toInt());
  }
  if (name == "aten::diagonal") {
    return boxcar::diagonal_scatter(parent(), value, given[0].toInt(), given[1].toInt(), given[2].toInt());
  }
  if (const std::optional<int64_t> dim = dimOfParts(name, *step_, whole)) {
    const auto at = static_cast<size_t>(*dim);
    if (whole.strides[at] == 0 || numelOf(whole.sizes) == 0) return {};
    const int64_t start = (placement_.offset - whole.offset) / whole.strides[at];
    if (name == "aten::unbind") return boxcar::select_scatter(parent(), value, *dim, start);
    return boxcar::slice_scatter(parent(), value, *dim, start, start + placement_.sizes[at], 1);
  }
  if (name == "aten::t") return copies ? boxcar::t_copy(value) : boxcar::t(value);
  if (name == "aten::transpose") {
    return copies ? boxcar::transpose_copy(value, given[0].toInt(), given[1].toInt())
                  : boxcar::transpose(value, given[0].toInt(), given[1].toInt());
  }
  if (name == "aten::permute") {
    const std::vector<int64_t> dims = intsOf(given[0]);
    std::vector<int64_t> back(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      back[static_cast<size_t>(wrapDimension(dims[i], static_cast<int64_t>(dims.size())))] = static_cast<int64_t>(i);
    }
    return copies ? boxcar::permute_copy(value, back) : boxcar::permute(value, back);
  }
  if (name == "aten::view_as_real") {
    const Tensor pairs = value.is_contiguous() ? value : boxcar::clone(value, MemoryFormat::Contiguous);
    return copies ? boxcar::view_as_complex_copy(pairs) : boxcar::view_as_complex(pairs);
  }
  if (name == "aten::view_as_complex") return copies ? boxcar::view_as_real_copy(value) : boxcar::view_as_real(value);
  // All others that keep the elements and their order, such as view, unsqueeze and alias.
  constexpr std::string_view kReshapes[] = {"aten::view",         "aten::unsqueeze", "aten::squeeze",
                                            "aten::_unsafe_view", "aten::alias",     "aten::detach",
                                            "aten::lift_fresh",   "aten::positive",  "aten::_reshape_alias",
                                            "aten::reshape",      "aten::flatten",   "aten::contiguous"};
  if (placement_.dtype == whole.dtype && numelOf(placement_.sizes) == numelOf(whole.sizes) &&
      std::ranges::find(kReshapes, name) != std::end(kReshapes)) {
    return reshaped(value, whole.sizes, copies);
  }
  return {};
}

void FunctionalView::write(Tensor value, bool copies) {
  for (FunctionalView* view = this; view != nullptr; view = view->parent_.get()) {
    // In a copy of what shows an element twice, the two would differ.
    Tensor outer = view->parentPlacement().mayOverlap() ? Tensor() : view->undone(value, copies);
    if (!outer.defined()) {
      value = view->putIntoBase(value, copies);
      break;
    }
    value = std::move(outer);
  }
  base_->set(value);
  // Old values would keep their memory.
  for (FunctionalView* view = this; view != nullptr; view = view->parent_.get()) view->value_ = Tensor();
}

}  // namespace boxcar::transforms
