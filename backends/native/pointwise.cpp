#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/meta/overlap.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace boxcar::native {

constinit DeviceStub<FlatPointwise> runFlat("this operator");
constinit DeviceStub<StridedPointwise> runPointwise("this operator");

namespace {

// Storage for one element of any type: for numbers, and for zero-dimensional tensors that need conversion.
struct alignas(16) Element {
  std::byte bytes[16];
};

bool isOneElement(const Input& input) { return input.number() != nullptr || input.tensor()->dim() == 0; }

// Returns the dtype of all inputs if all are tensors with dimensions and have the same dtype, else Undefined.
ScalarType typeOfAll(Inputs inputs) {
  ScalarType type = ScalarType::Undefined;
  for (const Input& input : inputs) {
    if (isOneElement(input)) return ScalarType::Undefined;
    if (&input == inputs.begin()) type = input.tensor()->scalar_type();
    if (input.tensor()->scalar_type() != type) return ScalarType::Undefined;
  }
  return type;
}

ScalarType commonType(const Pointwise& op, Inputs inputs) {
  if (op.result == Result::kTruth) return ScalarType::Bool;
  const bool floating = op.result == Result::kFloat || op.result == Result::kFloatReal;
  const ScalarType same = typeOfAll(inputs);  // the fast path for nearly all calls
  if (same != ScalarType::Undefined && !op.has_condition) return floating ? meta::toFloatingType(same) : same;
  meta::TypePromotion types;
  for (const Input& input : inputs) {
    if (op.has_condition && &input == inputs.begin()) continue;
    if (input.number() != nullptr) {
      types.add(*input.number());
    } else {
      types.add(*input.tensor());
    }
  }
  const ScalarType common = types.result();
  return floating ? meta::toFloatingType(common) : common;
}

ScalarType resultType(const Pointwise& op, ScalarType common) {
  switch (op.result) {
    case Result::kBool: return ScalarType::Bool;
    case Result::kReal:
    case Result::kFloatReal: return toRealValueType(common);
    case Result::kComplex: return toComplexType(common);
    default: return common;
  }
}

// Returns the element type that [input], one of [inputs], is read as.
ScalarType typeOf(const Pointwise& op, const Inputs& inputs, const Input& input, ScalarType common) {
  return op.has_condition && &input == inputs.begin() ? ScalarType::Bool : common;
}

void checkTaken(const Pointwise& op, ScalarType type) {
  if ((op.types & maskOf(type)) != 0) [[likely]]
    return;
  BOXCAR_CHECK(type != ScalarType::Bool || op.bool_refusal.empty(), "{}", op.bool_refusal);
  failUnsupportedType(op.name, type, op.types);
}

// Whether the only element of [input] is in host memory, or is put there.
bool isOnHost(const Input& input) { return input.number() != nullptr || !input.tensor()->is_cuda(); }

// Returns the host address of the only element of [input] as an element of [type]: its own, or [scratch].
void* oneElement(const Input& input, ScalarType type, Element& scratch) {
  if (input.number() != nullptr) {
    storeNumber(&scratch, type, *input.number());
    return &scratch;
  }
  const Tensor& tensor = *input.tensor();
  if (tensor.is_meta()) return &scratch;  // never read
  if (tensor.scalar_type() == type) return tensor.data_ptr();
  storeNumber(&scratch, type, loadNumber(tensor.data_ptr(), tensor.scalar_type()));
  return &scratch;
}

PointwiseWork workOf(const Pointwise& op, ScalarType type, const Scalar* params, size_t inputs) {
  return {op.functor, type, params, static_cast<int>(inputs) + 1};
}

// A call whose tensors are all contiguous and of one shape.
struct FlatCall {
  FlatOperands operands;
  Element scratch[kMaxOperands - 1];
  const Tensor* shaped = nullptr;

  // Returns false if an operand is not contiguous, needs conversion on a device or has another shape.
  bool take(const Pointwise& op, Inputs inputs, ScalarType common) {
    for (const Input& input : inputs) {
      if (isOneElement(input)) {
        if (isOnHost(input) || input.tensor()->scalar_type() == typeOf(op, inputs, input, common)) continue;
        return false;
      }
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
      if (!isOneElement(input)) {
        operands.data[i] = static_cast<char*>(input.tensor()->data_ptr());
        operands.steps[i] = static_cast<int64_t>(elementSize(type));
      } else if (isOnHost(input)) {
        operands.data[i] = static_cast<char*>(oneElement(input, type, scratch[i - 1]));
        operands.on_host |= 1U << i;
      } else {
        operands.data[i] = static_cast<char*>(input.tensor()->data_ptr());
      }
      ++i;
    }
    return true;
  }

  std::span<const int64_t> sizes() const { return shaped != nullptr ? shaped->sizes() : std::span<const int64_t>(); }

  void run(const PointwiseWork& work, const Tensor& out) {
    const int64_t n = out.numel();
    if (n == 0 || out.is_meta()) return;
    operands.data[0] = static_cast<char*>(out.data_ptr());
    operands.steps[0] = static_cast<int64_t>(out.itemsize());
    runFlat(out.device(), work, operands, n);
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
      if (isOneElement(input) && isOnHost(input)) {
        numbers[count] = oneElement(input, types[count], scratch[count]);
      } else {
        const Tensor& tensor = *input.tensor();
        if (tensor.dim() > 0) sizes = count == 0 ? toDimVector(tensor.sizes()) : meta::broadcast(sizes, tensor.sizes());
        tensors[count] = &tensor;
      }
      ++count;
    }
  }

  // Replaces inputs of other types with converted copies.
  void convertInputs() {
    for (size_t i = 0; i < count; ++i) {
      if (tensors[i] == nullptr || tensors[i]->scalar_type() == types[i]) continue;
      converted[i] = convertTo(*tensors[i], types[i]);
      tensors[i] = &converted[i];
    }
  }

  DimVector resultStrides() const {
    const Tensor* like[kMaxOperands - 1];
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
      if (tensors[i] != nullptr && tensors[i]->dim() > 0) like[found++] = tensors[i];
    }
    return meta::stridesLike(sizes, {like, found});
  }

  Tensor allocateResult(ScalarType type, Device device) const {
    return meta::allocateStrided(sizes, resultStrides(), type, device);
  }

  void run(const PointwiseWork& work, const Tensor& out) const {
    if (out.is_meta() || out.numel() == 0) return;
    StridedOperand operands[kMaxOperands];
    operands[0] = {out.data_ptr(), out.sizes(), out.strides(), out.itemsize()};
    for (size_t i = 0; i < count; ++i) {
      if (tensors[i] == nullptr) {
        operands[i + 1] = {numbers[i], {}, {}, 0};
      } else {
        operands[i + 1] = {tensors[i]->data_ptr(), tensors[i]->sizes(), tensors[i]->strides(), tensors[i]->itemsize()};
      }
    }
    runPointwise(out.device(), work, operands);
  }
};

// Returns the device of the inputs; numbers and zero-dimensional CPU tensors may be combined with any device.
Device deviceOf(Inputs inputs) {
  const Tensor* first = nullptr;
  for (const Input& input : inputs) {
    if (input.tensor() == nullptr) continue;
    if (!input.tensor()->key_set().has_all(DispatchKeySet(DispatchKey::CPU))) checkDense(*input.tensor());
    if (isOneElement(input) && input.tensor()->is_cpu()) continue;
    if (first == nullptr) first = input.tensor();
    if (input.tensor()->device() != first->device()) [[unlikely]]
      commonDevice({first, input.tensor()});
  }
  return first != nullptr ? first->device() : Device(DeviceType::CPU);
}

[[gnu::noinline]] Tensor nestedPointwise(const Pointwise& op, ScalarType common, ScalarType type, Inputs inputs,
                                         const Scalar* params, Device device) {
  NestedCall call(op, inputs, common);
  const Tensor result = call.allocateResult(type, device);
  call.convertInputs();
  call.run(workOf(op, common, params, inputs.size()), result);
  return result;
}

bool allAreNumbers(Inputs inputs) {
  return std::ranges::all_of(inputs, [](const Input& input) { return isOneElement(input) && isOnHost(input); });
}

// Throws Error if [out], which keeps its sizes, overlaps [inputs] in a way that is not allowed. Returns whether the
// inputs must be read before [out] is written.
bool checkOverlaps(const Tensor& out, Inputs inputs) {
  checkNoInternalOverlap(out);
  bool reads_first = false;
  for (const Input& input : inputs) {
    if (input.tensor() != nullptr) reads_first |= checkNoPartialOverlap(out, *input.tensor());
  }
  return reads_first;
}

// Like above for an output that is resized and so must not share elements with an input. Returns true if they share
// storage, as growing it moves the memory of the input too.
bool checkOverlaps(const meta::Output& output, Inputs inputs) {
  bool reads_first = false;
  for (const Input& input : inputs) {
    if (input.tensor() == nullptr || input.tensor()->storage() != output.tensor.storage()) continue;
    BOXCAR_CHECK(meta::sharedWith(output, *input.tensor()) == meta::Shared::kNothing,
                 "output with shape [{}] cannot be resized, for it shares memory with an input of shape [{}]",
                 fmt::join(output.tensor.sizes(), ", "), fmt::join(input.tensor()->sizes(), ", "));
    reads_first = true;
  }
  return reads_first;
}

// Returns the sizes of an in-place computation: those of [out], to which [sizes] must broadcast.
DimVector sizesInPlace(const Tensor& out, std::span<const int64_t> sizes) {
  DimVector both = meta::broadcast(out.sizes(), sizes);
  BOXCAR_CHECK(std::ranges::equal(both, out.sizes()), "output with shape [{}] doesn't match the broadcast shape [{}]",
               fmt::join(out.sizes(), ", "), fmt::join(both, ", "));
  return both;
}

// Computes the result in a separate tensor, then writes it to [out].
Tensor& writeComputed(const Pointwise& op, const NestedCall& call, ScalarType common, ScalarType type, size_t inputs,
                      const Scalar* params, const meta::Output& output, Tensor& out) {
  const Tensor result = call.allocateResult(type, output.device);
  call.run(workOf(op, common, params, inputs), result);
  resizeOutput(output);
  copyElements(out, result);
  return out;
}

Tensor& pointwiseInto(const Pointwise& op, Tensor& out, Inputs inputs, const Scalar* params, bool resizes) {
  const Device device = deviceOf(inputs);
  checkDense(out);
  if (!device.is_cpu() || !allAreNumbers(inputs)) meta::checkSameDevice(device, out.device());
  const ScalarType common = commonType(op, inputs);
  const ScalarType type = resultType(op, common);
  checkTaken(op, common);
  BOXCAR_CHECK(type == out.scalar_type() || canCast(type, out.scalar_type()),
               "result type {} can't be cast to the desired output type {}", type, out.scalar_type());
  BOXCAR_CHECK(type == out.scalar_type() || !resizes || !op.exact_output,
               "{} writes to an output of dtype {} only, but this has {}", op.name, type, out.scalar_type());

  // If the loop may throw, compute everything before writing [out].
  const bool may_fail = op.may_fail && isIntegralType(common, /*includeBool=*/true);

  FlatCall flat;
  if (!may_fail && type == out.scalar_type() && out.is_contiguous() && flat.take(op, inputs, common) &&
      std::ranges::equal(flat.sizes(), out.sizes())) {
    for (const Input& input : inputs) {
      if (input.tensor() != nullptr) checkNoPartialOverlap(out, *input.tensor());
    }
    flat.run(workOf(op, common, params, inputs.size()), out);
    return out;
  }

  NestedCall call(op, inputs, common);
  bool computes_first = may_fail || type != out.scalar_type();
  if (!resizes && !std::ranges::equal(call.sizes, out.sizes())) call.sizes = sizesInPlace(out, call.sizes);
  if (std::ranges::equal(call.sizes, out.sizes())) {
    computes_first |= checkOverlaps(out, inputs);
    call.convertInputs();
    if (!computes_first) {
      call.run(workOf(op, common, params, inputs.size()), out);
      return out;
    }
    return writeComputed(op, call, common, type, inputs.size(), params, {out, out.sizes(), {}, type, out.device()},
                         out);
  }
  const meta::Output output{out, call.sizes, call.resultStrides(), type, out.device()};
  // Parameters may not fit the type, which only the loop detects.
  computes_first |= checkOverlaps(output, inputs) || (params != nullptr && params != op.function);
  call.convertInputs();
  if (computes_first) return writeComputed(op, call, common, type, inputs.size(), params, output, out);
  resizeOutput(output);
  call.run(workOf(op, common, params, inputs.size()), out);
  return out;
}

}  // namespace

void failUnsupportedType(std::string_view name, ScalarType type, TypeMask types) {
  std::array<ScalarType, kScalarTypes> supported;
  size_t count = 0;
  for (size_t i = 0; i < kScalarTypes; ++i) {
    if ((types >> i & 1) != 0) supported[count++] = static_cast<ScalarType>(i);
  }
  boxcar::detail::failUnsupportedScalarType(name, type, {supported.data(), count});
}

Tensor pointwise(const Pointwise& op, Inputs inputs, const Scalar* params) {
  const Device device = deviceOf(inputs);
  const ScalarType common = commonType(op, inputs);
  const ScalarType type = resultType(op, common);
  checkTaken(op, common);
  FlatCall flat;
  if (!flat.take(op, inputs, common)) return nestedPointwise(op, common, type, inputs, params, device);
  Tensor result = Tensor::allocate(flat.sizes(), type, device);
  flat.run(workOf(op, common, params, inputs.size()), result);
  return result;
}

Tensor& pointwiseOut(const Pointwise& op, Tensor& out, Inputs inputs, const Scalar* params) {
  return pointwiseInto(op, out, inputs, params, /*resizes=*/true);
}

Tensor& pointwiseInPlace(const Pointwise& op, Tensor& self, Inputs inputs, const Scalar* params) {
  BOXCAR_CHECK(op.result != Result::kReal || !self.is_complex(), "In-place {} is not supported for complex tensors.",
               op.name);
  return pointwiseInto(op, self, inputs, params, /*resizes=*/false);
}

}  // namespace boxcar::native
