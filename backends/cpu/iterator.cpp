#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/promotion.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace boxcar::cpu {
namespace {

// Room for one element of any type: where numbers, and tensors without dimensions that need converting, are put.
struct alignas(16) Element {
  std::byte bytes[16];
};

ScalarType commonType(const Pointwise& op, Inputs inputs) {
  if (op.result == Result::kTruth) return ScalarType::Bool;
  shape::TypePromotion types;
  for (const Input& input : inputs) {
    if (op.has_condition && &input == inputs.begin()) continue;
    if (input.number() != nullptr) {
      types.add(*input.number());
    } else {
      types.add(*input.tensor());
    }
  }
  const ScalarType common = types.result();
  return op.result == Result::kFloat ? shape::toFloatingType(common) : common;
}

ScalarType resultType(const Pointwise& op, ScalarType common) {
  if (op.result == Result::kBool) return ScalarType::Bool;
  return op.result == Result::kReal ? toRealValueType(common) : common;
}

// The element type that [input], one of [inputs], is read as.
ScalarType typeOf(const Pointwise& op, const Inputs& inputs, const Input& input, ScalarType common) {
  return op.has_condition && &input == inputs.begin() ? ScalarType::Bool : common;
}

Loop loopFor(const Pointwise& op, ScalarType type) {
  const Loop loop = op.loops[static_cast<size_t>(type)];
  if (loop == nullptr) [[unlikely]] {
    std::array<ScalarType, kScalarTypes> supported;
    size_t count = 0;
    for (size_t i = 0; i < kScalarTypes; ++i) {
      if (op.loops[i] != nullptr) supported[count++] = static_cast<ScalarType>(i);
    }
    boxcar::detail::failUnsupportedScalarType(op.name, type, {supported.data(), count});
  }
  return loop;
}

// The address of the one element of [input], in an element of [type]: its own or [scratch].
void* oneElement(const Input& input, ScalarType type, Element& scratch) {
  if (input.number() != nullptr) {
    storeNumber(&scratch, type, *input.number());
    return &scratch;
  }
  const Tensor& tensor = *input.tensor();
  if (tensor.scalar_type() == type) return tensor.data_ptr();
  storeNumber(&scratch, type, loadNumber(tensor.data_ptr(), tensor.scalar_type()));
  return &scratch;
}

bool isOneElement(const Input& input) { return input.number() != nullptr || input.tensor()->dim() == 0; }

// Addresses and steps of a loop without nesting: all tensors are contiguous and of one shape.
struct FlatCall {
  char* data[kMaxOperands];
  int64_t steps[2 * kMaxOperands] = {};
  Element scratch[kMaxOperands - 1];
  const Tensor* shaped = nullptr;

  // False when an operand needs more than that.
  bool take(const Pointwise& op, Inputs inputs, ScalarType common) {
    for (const Input& input : inputs) {
      if (isOneElement(input)) continue;
      const Tensor& tensor = *input.tensor();
      if (!tensor.is_contiguous() || tensor.scalar_type() != typeOf(op, inputs, input, common)) return false;
      if (shaped == nullptr) {
        shaped = &tensor;
      } else if (!std::ranges::equal(tensor.sizes(), shaped->sizes())) {
        return false;
      }
    }
    size_t i = 1;
    for (const Input& input : inputs) {
      const ScalarType type = typeOf(op, inputs, input, common);
      if (isOneElement(input)) {
        data[i] = static_cast<char*>(oneElement(input, type, scratch[i - 1]));
      } else {
        data[i] = static_cast<char*>(input.tensor()->data_ptr());
        steps[i] = static_cast<int64_t>(elementSize(type));
      }
      ++i;
    }
    return true;
  }

  std::span<const int64_t> sizes() const { return shaped != nullptr ? shaped->sizes() : std::span<const int64_t>(); }

  void run(Loop loop, const Tensor& out, const Scalar* params) {
    data[0] = static_cast<char*>(out.data_ptr());
    steps[0] = static_cast<int64_t>(out.itemsize());
    if (out.numel() > 0) loop(data, steps, out.numel(), 1, params);
  }
};

// Any other call.
struct NestedCall {
  DimVector sizes;
  Tensor converted[kMaxOperands - 1];
  const Tensor* tensors[kMaxOperands - 1] = {};
  Element scratch[kMaxOperands - 1];
  void* numbers[kMaxOperands - 1] = {};
  ScalarType types[kMaxOperands - 1];
  size_t count = 0;

  NestedCall(const Pointwise& op, Inputs inputs, ScalarType common) {
    for (const Input& input : inputs) {
      types[count] = typeOf(op, inputs, input, common);
      if (isOneElement(input)) {
        numbers[count] = oneElement(input, types[count], scratch[count]);
      } else {
        const Tensor& tensor = *input.tensor();
        sizes = count == 0 ? toDimVector(tensor.sizes()) : shape::broadcast(sizes, tensor.sizes());
        tensors[count] = &tensor;
      }
      ++count;
    }
  }

  // Inputs of other types are read through converted copies.
  void convertInputs() {
    for (size_t i = 0; i < count; ++i) {
      if (tensors[i] == nullptr || tensors[i]->scalar_type() == types[i]) continue;
      converted[i] = convertTo(*tensors[i], types[i]);
      tensors[i] = &converted[i];
    }
  }

  Tensor allocateResult(ScalarType type) const {
    const Tensor* like[kMaxOperands - 1];
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
      if (tensors[i] != nullptr) like[found++] = tensors[i];
    }
    const DimVector strides = shape::stridesLike(sizes, {like, found});
    return shape::allocateStrided(sizes, strides, type, Device(DeviceType::CPU));
  }

  void run(Loop loop, const Tensor& out, const Scalar* params) const {
    StridedLoop nest(sizes);
    nest.add(out.data_ptr(), out.sizes(), out.strides(), out.itemsize());
    for (size_t i = 0; i < count; ++i) {
      if (tensors[i] == nullptr) {
        nest.add(numbers[i], {}, {}, 0);
      } else {
        nest.add(tensors[i]->data_ptr(), tensors[i]->sizes(), tensors[i]->strides(), tensors[i]->itemsize());
      }
    }
    nest.run(loop, params);
  }
};

void checkInputs(Inputs inputs) {
  for (const Input& input : inputs) {
    if (input.tensor() != nullptr) checkOnCpu(*input.tensor());
  }
}

[[gnu::noinline]] Tensor nestedPointwise(const Pointwise& op, Loop loop, ScalarType common, ScalarType type,
                                         Inputs inputs, const Scalar* params) {
  NestedCall call(op, inputs, common);
  const Tensor result = call.allocateResult(type);
  call.convertInputs();
  call.run(loop, result, params);
  return result;
}

// An output that is given other sizes cannot be an input.
void checkNotShared(const Tensor& out, const Tensor& input) {
  BOXCAR_CHECK(out.storage() != input.storage(),
               "output with shape [{}] cannot be resized, for it shares memory with an input of shape [{}]",
               fmt::join(out.sizes(), ", "), fmt::join(input.sizes(), ", "));
}

Tensor& pointwiseInto(const Pointwise& op, Tensor& out, Inputs inputs, const Scalar* params, bool resizes) {
  checkInputs(inputs);
  checkOnCpu(out);
  const ScalarType common = commonType(op, inputs);
  const ScalarType type = resultType(op, common);
  const Loop loop = loopFor(op, common);
  BOXCAR_CHECK(type == out.scalar_type() || canCast(type, out.scalar_type()),
               "result type {} can't be cast to the desired output type {}", type, out.scalar_type());

  FlatCall flat;
  if (type == out.scalar_type() && out.is_contiguous() && flat.take(op, inputs, common) &&
      std::ranges::equal(flat.sizes(), out.sizes())) {
    for (const Input& input : inputs) {
      if (input.tensor() != nullptr) checkNoPartialOverlap(out, *input.tensor());
    }
    flat.run(loop, out, params);
    out.storage()->bumpVersion();
    return out;
  }

  NestedCall call(op, inputs, common);
  if (!std::ranges::equal(call.sizes, out.sizes())) {
    if (resizes) {
      for (const Input& input : inputs) {
        if (input.tensor() != nullptr && !isOneElement(input)) checkNotShared(out, *input.tensor());
      }
      resizeOutput(out, call.sizes);
    } else {
      const DimVector both = shape::broadcast(out.sizes(), call.sizes);
      BOXCAR_CHECK(std::ranges::equal(both, out.sizes()),
                   "output with shape [{}] doesn't match the broadcast shape [{}]", fmt::join(out.sizes(), ", "),
                   fmt::join(both, ", "));
      call.sizes = both;
    }
  }
  checkNoInternalOverlap(out);
  for (const Input& input : inputs) {
    if (input.tensor() != nullptr) checkNoPartialOverlap(out, *input.tensor());
  }
  call.convertInputs();
  if (type == out.scalar_type()) {
    call.run(loop, out, params);
  } else {
    const Tensor result = call.allocateResult(type);
    call.run(loop, result, params);
    copyElements(out, result);
  }
  out.storage()->bumpVersion();
  return out;
}

}  // namespace

Tensor pointwise(const Pointwise& op, Inputs inputs, const Scalar* params) {
  checkInputs(inputs);
  const ScalarType common = commonType(op, inputs);
  const ScalarType type = resultType(op, common);
  const Loop loop = loopFor(op, common);
  FlatCall flat;
  if (!flat.take(op, inputs, common)) return nestedPointwise(op, loop, common, type, inputs, params);
  Tensor result = Tensor::allocate(flat.sizes(), type);
  flat.run(loop, result, params);
  return result;
}

Tensor& pointwiseOut(const Pointwise& op, Tensor& out, Inputs inputs, const Scalar* params) {
  return pointwiseInto(op, out, inputs, params, /*resizes=*/true);
}

Tensor& pointwiseInPlace(const Pointwise& op, Tensor& self, Inputs inputs, const Scalar* params) {
  return pointwiseInto(op, self, inputs, params, /*resizes=*/false);
}

}  // namespace boxcar::cpu
