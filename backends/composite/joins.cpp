#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

// Joining tensors under NumPy's names, and grids of their elements.

namespace boxcar::composite {
namespace {

Tensor concat(TensorList tensors, int64_t dim) { return boxcar::cat(tensors, dim); }
Tensor& concatOut(TensorList tensors, int64_t dim, Tensor& out) { return boxcar::cat_out(out, tensors, dim); }

// Pads and reshapes each tensor to [sizes before dim, num_chunks, the elements of a chunk].
Tensor chunkCat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  BOXCAR_CHECK(num_chunks >= 1, "_chunk_cat expects at least one chunk, but num_chunks is {}", num_chunks);
  BOXCAR_CHECK(!tensors.empty(), "_chunk_cat expects a non-empty list of tensors");
  dim = wrapDimension(dim, tensors[0].dim());
  const auto along = static_cast<size_t>(dim);
  std::vector<Tensor> rows;
  for (const Tensor& tensor : tensors) {
    BOXCAR_CHECK(
        tensor.numel() > 0 && tensor.dim() > dim && tensor.scalar_type() == tensors[0].scalar_type() &&
            std::ranges::equal(tensor.sizes().first(along), tensors[0].sizes().first(along)),
        "_chunk_cat expects tensors of {}, with elements and the same sizes before dimension {}, but got {} of "
        "shape [{}] and of shape [{}]",
        dtypeName(tensors[0].scalar_type()), dim, dtypeName(tensor.scalar_type()), fmt::join(tensors[0].sizes(), ", "),
        fmt::join(tensor.sizes(), ", "));
    const int64_t size = tensor.sizes()[along];
    const int64_t length = (size - 1) / num_chunks + 1;
    DimVector pad(2 * (tensor.sizes().size() - along), 0);
    pad.back() = length * num_chunks - size;
    DimVector sizes = toDimVector(tensor.sizes().first(along));
    sizes.insert(sizes.end(), {num_chunks, -1});
    rows.push_back(boxcar::reshape(boxcar::constant_pad_nd(tensor, pad, 0), sizes));
  }
  return boxcar::cat(rows, dim + 1);
}

// The tensors to join along [dim], each reshaped for it.
struct Joint {
  std::vector<Tensor> tensors;
  int64_t dim;
};

Joint horizontally(TensorList tensors) {
  BOXCAR_CHECK(!tensors.empty(), "hstack expects a non-empty TensorList");
  std::vector<Tensor> rows = boxcar::atleast_1d(tensors);
  const int64_t dim = rows[0].dim() == 1 ? 0 : 1;
  return {std::move(rows), dim};
}

Joint vertically(TensorList tensors) {
  BOXCAR_CHECK(!tensors.empty(), "vstack expects a non-empty TensorList");
  return {boxcar::atleast_2d(tensors), 0};
}

Joint inDepth(TensorList tensors) {
  BOXCAR_CHECK(!tensors.empty(), "dstack expects a non-empty TensorList");
  return {boxcar::atleast_3d(tensors), 2};
}

Joint asColumns(TensorList tensors) {
  BOXCAR_CHECK(!tensors.empty(), "column_stack expects a non-empty TensorList");
  std::vector<Tensor> columns;
  columns.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    columns.push_back(tensor.dim() <= 1 ? boxcar::reshape(tensor, {tensor.numel(), 1}) : tensor);
  }
  return {std::move(columns), 1};
}

template <Joint (*arrange)(TensorList)>
Tensor join(TensorList tensors) {
  const Joint joint = arrange(tensors);
  return boxcar::cat(joint.tensors, joint.dim);
}

template <Joint (*arrange)(TensorList)>
Tensor& joinOut(TensorList tensors, Tensor& out) {
  const Joint joint = arrange(tensors);
  return boxcar::cat_out(out, joint.tensors, joint.dim);
}

// Returns the tensors, each with a new dimension along which they are joined.
Joint sideBySide(TensorList tensors, int64_t dim) {
  BOXCAR_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  const int64_t along = wrapDimension(dim, tensors[0].dim() + 1);
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    BOXCAR_CHECK(std::ranges::equal(tensor.sizes(), tensors[0].sizes()),
                 "stack expects each tensor to be equal size, but got [{}] at entry 0 and [{}] at entry {}",
                 fmt::join(tensors[0].sizes(), ", "), fmt::join(tensor.sizes(), ", "), parts.size());
    parts.push_back(boxcar::unsqueeze(tensor, along));
  }
  return {std::move(parts), along};
}

Tensor stack(TensorList tensors, int64_t dim) {
  const Joint joint = sideBySide(tensors, dim);
  return boxcar::cat(joint.tensors, joint.dim);
}
Tensor& stackOut(TensorList tensors, int64_t dim, Tensor& out) {
  const Joint joint = sideBySide(tensors, dim);
  return boxcar::cat_out(out, joint.tensors, joint.dim);
}

std::vector<Tensor> grid(TensorList tensors) {
  BOXCAR_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  DimVector sizes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    BOXCAR_CHECK(tensor.dim() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got [{}] at {}",
                 fmt::join(tensor.sizes(), ", "), i);
    BOXCAR_CHECK(tensor.scalar_type() == tensors[0].scalar_type(),
                 "torch.meshgrid expects all tensors to have the same dtype, but got {} at 0 and {} at {}",
                 dtypeName(tensors[0].scalar_type()), dtypeName(tensor.scalar_type()), i);
    BOXCAR_CHECK(tensor.device() == tensors[0].device(),
                 "torch.meshgrid expects all tensors to have the same device, but got {} at 0 and {} at {}",
                 tensors[0].device(), tensor.device(), i);
    sizes.push_back(tensor.numel());
  }
  std::vector<Tensor> grids;
  grids.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    DimVector own(tensors.size(), 1);
    own[i] = tensors[i].numel();
    grids.push_back(boxcar::expand(boxcar::view(tensors[i], own), sizes));
  }
  return grids;
}

// "xy": the first tensor runs along the second dimension and the second along the first, as in graphics.
std::vector<Tensor> gridIndexing(TensorList tensors, std::string_view indexing) {
  BOXCAR_CHECK(indexing == "xy" || indexing == "ij",
               "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {}", indexing);
  if (indexing == "ij" || tensors.size() < 2) return grid(tensors);
  std::vector<Tensor> exchanged(tensors.begin(), tensors.end());
  std::swap(exchanged[0], exchanged[1]);
  std::vector<Tensor> grids = grid(exchanged);
  std::swap(grids[0], grids[1]);
  return grids;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_chunk_cat", BOXCAR_FN(chunkCat));
  m.impl("stack", BOXCAR_FN(stack));
  m.impl("stack.out", BOXCAR_FN(stackOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  for (const std::string name : {"concat", "concatenate"}) {
    m.impl(name, BOXCAR_FN(concat));
    m.impl(name + ".out", BOXCAR_FN(concatOut));
  }
  m.impl("hstack", BOXCAR_FN(join<horizontally>));
  m.impl("hstack.out", BOXCAR_FN(joinOut<horizontally>));
  for (const std::string name : {"vstack", "row_stack"}) {
    m.impl(name, BOXCAR_FN(join<vertically>));
    m.impl(name + ".out", BOXCAR_FN(joinOut<vertically>));
  }
  m.impl("dstack", BOXCAR_FN(join<inDepth>));
  m.impl("dstack.out", BOXCAR_FN(joinOut<inDepth>));
  m.impl("column_stack", BOXCAR_FN(join<asColumns>));
  m.impl("column_stack.out", BOXCAR_FN(joinOut<asColumns>));
  m.impl("meshgrid", BOXCAR_FN(grid));
  m.impl("meshgrid.indexing", BOXCAR_FN(gridIndexing));
}

}  // namespace boxcar::composite
