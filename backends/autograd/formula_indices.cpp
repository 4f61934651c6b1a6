#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/autograd/node.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// Functions of formulas of operators that move elements by indices, masks and strides.

namespace boxcar::autograd {
namespace {

using IndexSpan = std::span<const int64_t>;

// The elements of [x] from the first ones on that [sizes] has.
Tensor beginOf(Tensor x, IndexSpan sizes) {
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (x.sizes()[dim] != sizes[dim]) x = boxcar::narrow(x, static_cast<int64_t>(dim), 0, sizes[dim]);
  }
  return x;
}

// What a gradient that has no derivative goes through.
class NoSecondDerivative final : public Node {
 public:
  explicit NoSecondDerivative(std::string_view op) : op_(op) {}
  std::string name() const override { return "NoSecondDerivative"; }
  Gradients apply(Gradients) override {
    BOXCAR_FAIL(
        "{}: the derivative of the gradient is not known where more than one zero of the source goes to one place. "
        "Leave such elements out",
        op_);
  }

 private:
  std::string_view op_;
};

Tensor refusingDerivative(const Tensor& gradient, std::string_view op) {
  if (!gradient.requires_grad()) return gradient;
  auto node = makeIntrusive<NoSecondDerivative>(op);
  node->addEdge(gradientEdge(gradient));
  Tensor result = boxcar::detach(gradient);
  setHistory(result, node);
  return result;
}

// Where a reduction writes, and the derivatives that do not depend on whether these are places or whole slices.
class ReducedPlaces final {
 public:
  ReducedPlaces(int64_t dim, const Tensor& index, bool is_scatter)
      : dim_(dim), index_(index), is_scatter_(is_scatter) {}

  std::tuple<Tensor, Tensor> gradients(const Tensor& grad, const Tensor& self, const Tensor& src,
                                       std::string_view reduce, bool include_self, const Tensor& result) const {
    if (src.numel() == 0) return {grad, boxcar::zeros_like(src)};
    auto [of_self, of_src] = reduce == "sum"    ? std::tuple(grad, taken(grad, src))
                             : reduce == "prod" ? ofProduct(grad, self, src, include_self, result)
                             : reduce == "mean" ? ofMean(grad, src, include_self)
                                                : ofExtremes(grad, self, src, result);
    if (!include_self) of_self = cleared(of_self);
    return {std::move(of_self), std::move(of_src)};
  }

 private:
  using Pair = std::tuple<Tensor, Tensor>;

  Tensor taken(const Tensor& from, const Tensor& src) const {
    return is_scatter_ ? boxcar::gather(from, dim_, index_) : at_index(from, src.sizes(), dim_, index_);
  }
  Tensor added(const Tensor& to, const Tensor& x) const {
    return is_scatter_ ? boxcar::scatter_add(to, dim_, index_, x) : boxcar::index_add(to, dim_, index_, x);
  }
  Tensor cleared(const Tensor& x) const {
    return is_scatter_ ? boxcar::scatter(x, dim_, index_, 0) : boxcar::index_fill(x, dim_, index_, 0);
  }
  Tensor product(const Tensor& to, const Tensor& x, bool include_self) const {
    return is_scatter_ ? boxcar::scatter_reduce(to, dim_, index_, x, "prod", include_self)
                       : boxcar::index_reduce(to, dim_, index_, x, "prod", include_self);
  }

  // The product of the others is the result over the element itself, or, if that is the only zero, the product with 1
  // in its place.
  Pair ofProduct(const Tensor& grad, const Tensor& self, const Tensor& src, bool include_self,
                 const Tensor& result) const {
    const Tensor nonzero_self = boxcar::masked_fill(self, boxcar::eq(self, 0), 1);
    const Tensor of_self = grad * product(nonzero_self, src, include_self) / nonzero_self;
    const Tensor is_zero = boxcar::eq(src, 0);
    const Tensor zeros = taken(added(boxcar::zeros_like(self), boxcar::to(is_zero, self.scalar_type())), src);
    const Tensor is_only_zero = boxcar::logical_and(is_zero, boxcar::eq(zeros, 1));
    const Tensor without = product(self, boxcar::masked_fill(src, is_only_zero, 1), include_self);
    const Tensor quotient = taken(grad * result, src) / boxcar::masked_fill(src, is_zero, 1);
    Tensor of_src = boxcar::where(is_only_zero, taken(grad * without, src), quotient);
    if (isDifferentiated() && !lacksElements(self) && boxcar::item(boxcar::any(zeros > 1)).toBool()) {
      of_src = refusingDerivative(of_src, is_scatter_ ? "scatter_reduce" : "index_reduce");
    }
    return {of_self, std::move(of_src)};
  }

  Pair ofMean(const Tensor& grad, const Tensor& src, bool include_self) const {
    const Tensor own = include_self ? boxcar::ones_like(grad) : boxcar::zeros_like(grad);
    const Tensor count = added(own, boxcar::ones_like(src));
    const Tensor each = grad / boxcar::masked_fill(count, boxcar::eq(count, 0), 1);
    return {each, taken(each, src)};
  }

  // In equal parts at all that are the maximum or minimum.
  Pair ofExtremes(const Tensor& grad, const Tensor& self, const Tensor& src, const Tensor& result) const {
    const Tensor is_self = boxcar::to(self == result, self.scalar_type());
    const Tensor is_src = boxcar::to(src == taken(result, src), self.scalar_type());
    const Tensor each = grad / added(is_self, is_src);
    return {is_self * each, is_src * taken(each, src)};
  }

  int64_t dim_;
  const Tensor& index_;
  bool is_scatter_;
};

// Whether no two elements of this layout can share memory.
bool isInjective(IndexSpan sizes, IndexSpan strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::ranges::sort(dims);
  int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

int64_t lastPlace(IndexSpan sizes, IndexSpan strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) last += strides[i] * (sizes[i] - 1);
  return last;
}

// The place of each element, in order.
Tensor placesOf(const Tensor& all, IndexSpan sizes, IndexSpan strides, int64_t offset) {
  return boxcar::reshape(boxcar::as_strided(all, sizes, strides, offset), {-1});
}

// as_strided_scatter(), also inside func::vmap(), which refuses it: a slice of a batch is not all of its memory.
Tensor scattered(const Tensor& memory, const Tensor& part, IndexSpan sizes, IndexSpan strides, int64_t offset) {
  if (!memory.key_set().has(DispatchKey::FuncTorchBatched)) {
    return boxcar::as_strided_scatter(memory, part, sizes, strides, offset);
  }
  const Tensor written = boxcar::clone(memory);
  Tensor place = boxcar::as_strided(written, sizes, strides, offset);
  boxcar::copy_(place, part);
  return written;
}

// A copy of [grad] in memory with the layout of an argument, beginning at [offset].
Tensor laidOut(const Tensor& grad, IndexSpan strides, int64_t offset) {
  const int64_t length = offset + lastPlace(grad.sizes(), strides) + 1;
  return scattered(boxcar::new_zeros(grad, {length}), grad, grad.sizes(), strides, offset);
}

}  // namespace

Tensor zero_of(const Tensor& grad) { return boxcar::new_zeros(grad, IndexSpan()); }

Tensor at_index(const Tensor& grad, IndexSpan sizes, int64_t dim, const Tensor& index) {
  if (grad.dim() == 0) return boxcar::expand(grad, sizes);
  return boxcar::reshape(boxcar::index_select(grad, dim, index), sizes);
}

Tensor filled_value(const Tensor& grad, int64_t dim, const Tensor& index) {
  return boxcar::sum(boxcar::index_select(grad, dim, std::get<0>(boxcar::_unique(index))));
}

Tensor gathered(const Tensor& grad, IndexSpan sizes, int64_t dim, const Tensor& index) {
  Tensor read = boxcar::gather(grad, dim, index);
  if (std::ranges::equal(read.sizes(), sizes) || sizes.empty()) return read;
  std::vector<int64_t> padding;
  for (size_t i = sizes.size(); i-- > 0;) {
    padding.push_back(0);
    padding.push_back(sizes[i] - read.sizes()[i]);
  }
  return boxcar::constant_pad_nd(read, padding, 0);
}

Tensor masked_select_self(const Tensor& grad, IndexSpan sizes, const Tensor& mask) {
  // Of the shape of both; what is broadcast is summed later.
  const Tensor zeros = boxcar::expand(zero_of(grad), sizes);
  const Tensor both = boxcar::broadcast_tensors({{zeros, mask}})[0];
  return boxcar::masked_scatter(boxcar::zeros_like(both), mask, grad);
}

std::tuple<Tensor, Tensor> scatter_reduce_parts(const Tensor& grad, const Tensor& self, int64_t dim,
                                                const Tensor& index, const Tensor& src, std::string_view reduce,
                                                bool include_self, const Tensor& result) {
  const bool is_whole = std::ranges::equal(src.sizes(), index.sizes()) || src.dim() != index.dim();
  auto [of_self, of_src] =
      ReducedPlaces(dim, index, true)
          .gradients(grad, self, is_whole ? src : beginOf(src, index.sizes()), reduce, include_self, result);
  if (is_whole) return {std::move(of_self), std::move(of_src)};
  std::vector<int64_t> padding;
  for (size_t i = src.sizes().size(); i-- > 0;) {
    padding.push_back(0);
    padding.push_back(src.sizes()[i] - index.sizes()[i]);
  }
  return {std::move(of_self), boxcar::constant_pad_nd(of_src, padding, 0)};
}

std::tuple<Tensor, Tensor> index_reduce_parts(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                                              const Tensor& source, std::string_view reduce, bool include_self,
                                              const Tensor& result) {
  return ReducedPlaces(dim, index, false).gradients(grad, self, source, reduce, include_self, result);
}

Tensor as_strided_self(const Tensor& grad, IndexSpan sizes, IndexSpan strides, int64_t offset, IndexSpan view_sizes,
                       IndexSpan view_strides, std::optional<int64_t> view_offset) {
  if (numelOf(sizes) == 0 || grad.numel() == 0) return boxcar::new_zeros(grad, sizes);
  const int64_t start = view_offset.value_or(offset);
  const int64_t first = std::min(offset, start);
  const int64_t end = std::max(offset + lastPlace(sizes, strides), start + lastPlace(view_sizes, view_strides)) + 1;
  Tensor memory = boxcar::new_zeros(grad, {end - first});
  const bool is_injective = isInjective(sizes, strides);
  const bool is_view_injective = isInjective(view_sizes, view_strides);
  Tensor places;
  if (!is_injective || !is_view_injective) {
    places = boxcar::arange(end - first, ScalarType::Long, std::nullopt, grad.device());
  }
  if (is_view_injective) {
    memory = scattered(memory, grad, view_sizes, view_strides, start - first);
  } else {
    const Tensor of_view = placesOf(places, view_sizes, view_strides, start - first);
    memory = boxcar::index_add(memory, 0, of_view, boxcar::reshape(grad, {-1}));
  }
  if (!is_injective) {
    const Tensor of_self = placesOf(places, sizes, strides, offset - first);
    const Tensor sharers =
        boxcar::index_add(boxcar::zeros_like(memory), 0, of_self, boxcar::new_ones(memory, {numelOf(sizes)}));
    memory = memory / boxcar::masked_fill(sharers, boxcar::eq(sharers, 0), 1);
  }
  return boxcar::as_strided(memory, sizes, strides, offset - first);
}

Tensor strided_part(const Tensor& grad, IndexSpan strides, int64_t offset, IndexSpan view_sizes, IndexSpan view_strides,
                    std::optional<int64_t> view_offset) {
  if (grad.numel() == 0) return boxcar::new_zeros(grad, view_sizes);
  return boxcar::as_strided(laidOut(grad, strides, offset), view_sizes, view_strides, view_offset.value_or(offset));
}

Tensor as_strided_scatter_self(const Tensor& grad, IndexSpan strides, int64_t offset, IndexSpan view_sizes,
                               IndexSpan view_strides, std::optional<int64_t> view_offset) {
  if (grad.numel() == 0) return grad;
  const Tensor memory = laidOut(grad, strides, offset);
  const Tensor zeros = boxcar::new_zeros(grad, view_sizes);
  return boxcar::as_strided(
      boxcar::as_strided_scatter(memory, zeros, view_sizes, view_strides, view_offset.value_or(offset)), grad.sizes(),
      strides, offset);
}

Tensor split_sizes_whole(std::span<const Tensor> grads, IndexSpan sizes, IndexSpan split_sizes, int64_t dim) {
  const auto along = static_cast<size_t>(wrapDimension(dim, std::ssize(sizes)));
  const auto known = std::ranges::find_if(grads, &Tensor::defined);
  DimVector part = toDimVector(sizes);
  std::vector<Tensor> parts;
  for (size_t i = 0; i < grads.size(); ++i) {
    part[along] = split_sizes[i];
    parts.push_back(grads[i].defined() ? grads[i] : boxcar::new_zeros(*known, part));
  }
  return boxcar::cat(parts, dim);
}

}  // namespace boxcar::autograd
