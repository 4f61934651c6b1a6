#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/transforms/element_use.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/backends/transforms/zero_tensor.h>
#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/dispatcher/registry/tag.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Calls on zero tensors, at DispatchKey::ZeroTensor. Views stay zero tensors, sums and products are known without a
// loop, and all other operators get zeros with memory.

namespace boxcar::transforms {
namespace {

DispatchKeySet belowZeros(DispatchKeySet keys) {
  return keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::ZeroTensor);
}

// Other calls come here only if the thread includes the key.
bool isOfZeros(const Tensor& a, const Tensor& b) { return isZeroTensor(a) || isZeroTensor(b); }

bool holdsZeros(const IValue& value) {
  bool found = false;
  visitTensors(value, [&](const Tensor& tensor) { found |= isZeroTensor(tensor); });
  return found;
}

bool isContiguous(const IValue& value) {
  bool found = true;
  visitTensors(value, [&](const Tensor& tensor) { found &= tensor.is_contiguous(); });
  return found;
}

// ---- Operators with results that are known ----

// What two operands give: sizes, dtype and device of the result.
struct Shape {
  DimVector sizes;
  ScalarType dtype;
  Device device;
};

// Nothing if neither is a zero tensor, or if the operator's own kernel has an Error to tell.
std::optional<Shape> shapeOfBoth(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined() || !isOfZeros(a, b)) return std::nullopt;
  Shape shape{DimVector(a.sizes().begin(), a.sizes().end()), ScalarType::Undefined, a.device()};
  if (a.device() != b.device()) {
    const auto isNumber = [](const Tensor& tensor) { return tensor.dim() == 0 && tensor.is_cpu(); };
    if (!isNumber(a) && !isNumber(b)) return std::nullopt;
    if (isNumber(a)) shape.device = b.device();
  }
  if (!meta::tryBroadcast(shape.sizes, b.sizes())) return std::nullopt;
  meta::TypePromotion types;
  types.add(a);
  types.add(b);
  shape.dtype = types.result();
  return shape;
}

// Zeros without memory; fake ones if [like] are fake.
Tensor zerosOf(const Shape& shape, const Tensor& like, const Tensor& other) {
  Tensor made = makeZeroTensor(shape.sizes, shape.dtype, shape.device);
  if (!isFake(like) && !isFake(other)) return made;
  return makeFake(made.storage(), made);
}

Tensor materialized(const Tensor& tensor) { return isZeroTensor(tensor) ? boxcar::zeros_like(tensor) : tensor; }

Tensor mulZeros(DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  const std::optional<Shape> shape = shapeOfBoth(self, other);
  if (shape) return zerosOf(*shape, self, other);
  return boxcar::redispatch::mul(belowZeros(keys), materialized(self), materialized(other));
}

Tensor divZeros(DispatchKeySet keys, const Tensor& self, const Tensor& other) {
  std::optional<Shape> shape = shapeOfBoth(self, other);
  if (shape && !isZeroTensor(other)) {
    shape->dtype = meta::toFloatingType(shape->dtype);
    return zerosOf(*shape, self, other);
  }
  return boxcar::redispatch::div(belowZeros(keys), materialized(self), materialized(other));
}

// The dtype of the product with a number.
ScalarType typeWith(const Tensor& self, const Scalar& number) {
  meta::TypePromotion types;
  types.add(self);
  types.add(number);
  return types.result();
}

Tensor mulZerosByNumber(DispatchKeySet keys, const Tensor& self, const Scalar& other) {
  if (!isZeroTensor(self)) return boxcar::redispatch::mul(belowZeros(keys), self, other);
  const Shape shape{DimVector(self.sizes().begin(), self.sizes().end()), typeWith(self, other), self.device()};
  return zerosOf(shape, self, self);
}

Tensor divZerosByNumber(DispatchKeySet keys, const Tensor& self, const Scalar& other) {
  if (!isZeroTensor(self)) return boxcar::redispatch::div(belowZeros(keys), self, other);
  const Shape shape{DimVector(self.sizes().begin(), self.sizes().end()), meta::toFloatingType(typeWith(self, other)),
                    self.device()};
  return zerosOf(shape, self, self);
}

// Returns [tensor] as the sum with zeros: in memory of its own, with their sizes and dtype.
Tensor copyAs(const Tensor& tensor, const Shape& shape) {
  const bool has_sizes = std::ranges::equal(tensor.sizes(), shape.sizes);
  if (has_sizes && tensor.scalar_type() == shape.dtype && tensor.device() == shape.device) {
    return boxcar::clone(tensor);
  }
  const Tensor whole = has_sizes ? tensor : boxcar::expand(tensor, shape.sizes);
  return boxcar::_to_copy(whole, shape.dtype, std::nullopt, shape.device);
}

// The sum, or the difference if [sign] is -1; nothing if the operator's own kernel is to say what they are.
std::optional<Tensor> added(const Tensor& self, const Tensor& other, const Scalar& alpha, int sign) {
  const std::optional<Shape> shape = shapeOfBoth(self, other);
  // Integers have rules for alpha.
  if (!shape || isIntegralType(shape->dtype, /*includeBool=*/true) || alpha.isComplex()) return std::nullopt;
  if (isZeroTensor(self) && isZeroTensor(other)) return zerosOf(*shape, self, other);
  if (isZeroTensor(other)) return copyAs(self, *shape);
  const double factor = sign * alpha.toDouble();
  if (factor == 1) return copyAs(other, *shape);
  Tensor copy = copyAs(other, *shape);
  return factor == -1 ? boxcar::neg_(copy) : boxcar::mul_(copy, factor);
}

Tensor addZeros(DispatchKeySet keys, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (std::optional<Tensor> sum = added(self, other, alpha, 1)) return *std::move(sum);
  return boxcar::redispatch::add(belowZeros(keys), materialized(self), materialized(other), alpha);
}

Tensor subZeros(DispatchKeySet keys, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (std::optional<Tensor> difference = added(self, other, alpha, -1)) return *std::move(difference);
  return boxcar::redispatch::sub(belowZeros(keys), materialized(self), materialized(other), alpha);
}

Tensor cloneZeros(DispatchKeySet keys, const Tensor& self, std::optional<MemoryFormat> memory_format) {
  if (!isZeroTensor(self)) return boxcar::redispatch::clone(belowZeros(keys), self, memory_format);
  return boxcar::zeros_like(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt, memory_format);
}

[[noreturn, gnu::cold]] void failOnWrite(const std::string& name, const std::string& place) {
  BOXCAR_FAIL("{}: {} is a zero tensor, which has no memory and cannot be written; write x.clone()", name, place);
}

// A copy of zeros is a fill.
struct CopiesZeros {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;  // zero_() counts it

  Tensor& operator()(DispatchKeySet keys, Tensor& self, const Tensor& src, bool non_blocking) const {
    if (isZeroTensor(self)) failOnWrite("aten::copy_", "argument 'self'");
    if (!isZeroTensor(src) || !meta::isExpandable(src.sizes(), self.sizes())) {
      return boxcar::redispatch::copy_(belowZeros(keys), self, materialized(src), non_blocking);
    }
    return boxcar::zero_(self);
  }
};

// ---- Any other operator ----

// A call with zero tensors among its arguments.
class ZeroCall final {
 public:
  ZeroCall(const OperatorHandle& op, DispatchKeySet keys, Stack& stack)
      : op_(op),
        keys_(belowZeros(keys)),
        stack_(stack),
        given_(last(stack, op.schema().arguments().size())),
        plan_(planOf(op)) {}

  void run() {
    if (std::ranges::none_of(given_, holdsZeros)) return op_.redispatchBoxed(keys_, stack_);
    checkWrites();
    if (readsNoElements(op_) || isMadeOfOthers(op_, keys_)) return op_.redispatchBoxed(keys_, stack_);
    if (isLinear() && takeShapes()) return;
    // The strides of the results are those of the arguments; one element in all places has none.
    const bool takes_one = op_.hasTag(Tag::pointwise) && std::ranges::all_of(given_, isContiguous);
    for (IValue& argument : given_) {
      if (!holdsZeros(argument)) continue;
      argument = mapTensors(argument, [&](const Tensor& tensor) {
        return takes_one && isZeroTensor(tensor) && !isFake(tensor) ? expandedZero(tensor) : materialized(tensor);
      });
    }
    op_.redispatchBoxed(keys_, stack_);
  }

 private:
  void checkWrites() const {
    if (plan_.kind == OperatorPlan::Kind::kShape) return;
    // Batch norm writes its statistics in training alone.
    if (plan_.writes_statistics && given_.size() > 5 && given_[5].isBool() && !given_[5].toBool()) return;
    for (const uint8_t position : plan_.written) {
      if (!holdsZeros(given_[position])) continue;
      failOnWrite(toString(op_), argumentPlace(op_.schema(), position));
    }
  }

  // Whether the result is zeros if one argument is, whatever the others are.
  bool isLinear() const {
    if (op_.hasTag(Tag::dynamic_output_shape)) return false;
    const autograd::Formula* const formula = autograd::differentiatedOperator(op_).formula;
    if (formula == nullptr || formula->backward == nullptr || formula->forward != autograd::Forward::kLinear ||
        formula->inputs.size() != 1 || !plan_.written.empty()) {
      return false;
    }
    const std::vector<Argument>& returns = op_.schema().returns();
    const IValue& input = given_[formula->inputs[0]];
    // The operator's own kernel checks indices.
    for (size_t i = 0; i < given_.size(); ++i) {
      if (i != formula->inputs[0] && given_[i].isTensor() && given_[i].toTensor().defined()) return false;
    }
    return returns.size() == 1 && returns[0].type()->kind() == TypeKind::Tensor && input.isTensor() &&
           isZeroTensor(input.toTensor()) && input.toTensor().numel() >= kLeastElementsToSkip &&
           !lacksElements(input.toTensor());
  }

  // Gives zeros of the shape that a fake call has. False if that is not known without elements.
  bool takeShapes() {
    Tensor shape;
    try {
      const HiddenCalls hidden;
      FakeConverter converter;
      Stack fakes;
      for (const IValue& argument : given_) fakes.push_back(converter.convert(argument));
      op_.callBoxed(fakes);
      shape = fakes.back().toTensor();
    } catch (const Error&) {
      return false;  // the operator's own kernel says what is wrong, if anything is
    }
    Tensor zeros =
        boxcar::empty_strided(shape.sizes(), shape.strides(), shape.scalar_type(), std::nullopt, shape.device());
    boxcar::zero_(zeros);
    drop(stack_, given_.size());
    stack_.push_back(std::move(zeros));
    return true;
  }

  // Zeros that take the memory of one.
  static Tensor expandedZero(const Tensor& tensor) {
    return boxcar::expand(boxcar::new_zeros(tensor, IntArrayRef()), tensor.sizes());
  }

  // Fewer are computed sooner than the shape of the result is found.
  static constexpr int64_t kLeastElementsToSkip = 1 << 16;

  const OperatorHandle& op_;
  const DispatchKeySet keys_;  // without ZeroTensor
  Stack& stack_;
  const std::span<IValue> given_;
  const OperatorPlan& plan_;
};

void callOnZeros(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { ZeroCall(op, keys, stack).run(); }

// ---- Operators about zero tensors ----

bool isZeroTensorOperator(const Tensor& self) {
  meta::checkDefined(self);
  return isZeroTensor(self);
}

Tensor efficientZeroTensor(std::span<const int64_t> size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                           std::optional<Device> device, std::optional<bool> /*pin_memory*/) {
  BOXCAR_CHECK(layout.value_or(Layout::Strided) == Layout::Strided,
               "_efficientzerotensor(): zero tensors are strided, not of layout torch.{}; leave the layout out",
               layoutName(*layout));
  return makeZeroTensor(size, dtype.value_or(meta::kDefaultDtype), withIndex(device.value_or(DeviceType::CPU)));
}

[[maybe_unused]] const bool is_zero_hook_set = (boxcar::detail::setZeroTensorHook(&registerZeroTensorKernels), true);

}  // namespace

void registerZeroTensorKernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    const RegistrationSite site{__FILE__, __LINE__};
    Dispatcher& dispatcher = Dispatcher::singleton();
    // Never destroyed: calls may run when the process ends.
    static auto& kept = *new std::vector<RegistrationHandleRAII>;
    const auto add = [&](const char* name, const char* overload, KernelFunction kernel) {
      kept.push_back(dispatcher.registerImpl({name, overload}, DispatchKey::ZeroTensor, std::move(kernel), site));
    };
    kept.push_back(dispatcher.registerFallback(DispatchKey::ZeroTensor,
                                               KernelFunction::makeFromBoxedFunction<&callOnZeros>(), site));
    setLevelDescriber(DispatchKey::ZeroTensor, &describeZeroLevel);
    add("aten::mul", "Tensor", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(mulZeros)));
    add("aten::mul", "Scalar", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(mulZerosByNumber)));
    add("aten::div", "Tensor", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(divZeros)));
    add("aten::div", "Scalar", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(divZerosByNumber)));
    add("aten::add", "Tensor", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(addZeros)));
    add("aten::sub", "Tensor", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(subZeros)));
    add("aten::clone", "", KernelFunction::makeFromUnboxedFunction(BOXCAR_FN(cloneZeros)));
    add("aten::copy_", "", KernelFunction::makeFromUnboxedLambda(CopiesZeros()));
  });
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("_efficientzerotensor", DispatchKey::CompositeExplicitAutograd, BOXCAR_FN(efficientZeroTensor));
  m.impl("_is_zerotensor", BOXCAR_FN(isZeroTensorOperator));
}

}  // namespace boxcar::transforms
