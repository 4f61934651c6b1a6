#include <boxcar/backends/functors/activation_constants.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/last_reference.h>
#include <boxcar/backends/native/pointwise_program.h>
#include <boxcar/ivalue/half.h>

#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace boxcar::native {

constinit DeviceStub<ProgramBlocks> runProgram("fused::pointwise");
constinit DeviceStub<ProgramReduction> reduceProgram("fused::pointwise_reduce");

namespace {

using Node = PointwiseExpression::Node;
using Operand = PointwiseProgram::Operand;
using Instruction = PointwiseProgram::Instruction;
using Place = PointwiseProgram::Place;
using Order = PointwiseProgram::Order;

float greatestOf(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half: return std::numeric_limits<Half>::max();
    case ScalarType::BFloat16: return std::numeric_limits<BFloat16>::max();
    default: return std::numeric_limits<float>::max();
  }
}

// Whether the results of a functor are among its operands, or integers near them, so that elements of any float type
// have them. Parameters are not operands.
bool isExact(Functor functor) {
  switch (functor) {
    case Functor::kNeg:
    case Functor::kAbs:
    case Functor::kSgn:
    case Functor::kRelu:
    case Functor::kFloor:
    case Functor::kCeil:
    case Functor::kRound:
    case Functor::kTrunc:
    case Functor::kMaximum:
    case Functor::kMinimum:
    case Functor::kClamp:
    case Functor::kClampMin:
    case Functor::kClampMax:
    case Functor::kSelect: return true;
    default: return false;
  }
}

// Makes the program of an expression, as long as all values have the dtype or are conditions.
class ProgramCompiler final {
 public:
  ProgramCompiler(const PointwiseExpression& expression, ScalarType dtype)
      : nodes_(expression.nodes()), values_(nodes_.size()) {
    program_.dtype = dtype;
  }

  bool compile() {
    findInputs();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].operation > Operation::kNone && !compileNode(i)) return false;
    }
    allocate();
    return program_.registers + program_.rows.size() + program_.inputs.size() <= PointwiseProgram::kMostSlots &&
           program_.constants.size() <= std::numeric_limits<uint16_t>::max() &&
           program_.instructions.size() <= std::numeric_limits<uint16_t>::max();
  }
  PointwiseProgram take() { return std::move(program_); }

 private:
  struct Value {
    Operand operand;
    ScalarType type = ScalarType::Undefined;
  };

  // Inputs that are only conditions are read as bools.
  void findInputs() {
    std::array<bool, PointwiseExpression::kMostInputs> is_condition{};
    for (const Node& node : nodes_) {
      if (node.operation == Operation::kWhere) noteCondition(node.operands[0], is_condition);
      if (node.operation == Operation::kMaskedFill) noteCondition(node.operands[1], is_condition);
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].operation != Operation::kInput) continue;
      const auto index = static_cast<uint8_t>(nodes_[i].operands[0]);
      values_[i].operand = {Place::kInput, static_cast<uint16_t>(program_.inputs.size())};
      values_[i].type = is_condition[index] ? ScalarType::Bool : ScalarType::Float;
      program_.inputs.push_back({index, is_condition[index] ? ScalarType::Bool : program_.dtype});
    }
  }
  void noteCondition(uint32_t node, std::span<bool> is_condition) const {
    if (nodes_[node].operation == Operation::kInput) is_condition[nodes_[node].operands[0]] = true;
  }

  const Scalar& numberOf(uint32_t node) const { return nodes_[node].number; }
  bool isTensor(uint32_t node) const { return nodes_[node].isTensor(); }
  bool isAbsent(uint32_t node) const { return nodes_[node].operation == Operation::kNone; }

  // Whether the dtype has the number, or one near it: the operators refuse some that are out of its range.
  bool fits(const Scalar& number) const {
    const double value = number.toDouble();
    return !std::isfinite(value) || std::abs(value) <= static_cast<double>(greatestOf(program_.dtype));
  }
  // The element that the operators make of a number.
  float elementOf(const Scalar& number) const {
    std::array<std::byte, sizeof(float)> element;
    storeNumber(element.data(), program_.dtype, number);
    return static_cast<float>(loadNumber(element.data(), program_.dtype).toDouble());
  }

  // Appends an instruction for the node that is compiled; false if an operand does not have its type.
  bool emit(Functor functor, std::initializer_list<uint32_t> operands, std::initializer_list<Scalar> params = {},
            ScalarType type = ScalarType::Float, Order order = Order::kLikeInputs) {
    Instruction instruction{functor, type, static_cast<uint8_t>(operands.size()), order};
    size_t k = 0;
    for (const uint32_t operand : operands) {
      const ScalarType wanted = functor == Functor::kSelect && k == 0 ? ScalarType::Bool : ScalarType::Float;
      if (nodes_[operand].operation == Operation::kNumber) {
        if (!fits(numberOf(operand))) return false;
        instruction.operands[k++] = constant(numberOf(operand), functor);
      } else {
        if (values_[operand].type != wanted) return false;
        instruction.operands[k++] = values_[operand].operand;
      }
    }
    k = 0;
    for (const Scalar& param : params) {
      if (!fits(param)) return false;
      instruction.params[k++] = param;
    }
    instruction.rounds = program_.hasSmallFloats() && type != ScalarType::Bool && !isExact(functor);
    values_[current_] = {{Place::kResult, static_cast<uint16_t>(program_.instructions.size())}, type};
    program_.instructions.push_back(instruction);
    return true;
  }

  // Whether the functor's loop on CPUs takes a number as quickly as a row.
  static bool takesNumbers(Functor functor) {
    switch (functor) {
      case Functor::kAdd:
      case Functor::kSub:
      case Functor::kMul:
      case Functor::kDiv:
      case Functor::kMaximum:
      case Functor::kMinimum:
      case Functor::kClampMin:
      case Functor::kClampMax: return true;
      default: return false;
    }
  }

  Operand constant(const Scalar& number, Functor functor) {
    // Programs with many numbers have no room for rows.
    constexpr size_t kMostRows = 8;
    const float value = elementOf(number);
    const auto same = [&](float kept) { return std::bit_cast<uint32_t>(kept) == std::bit_cast<uint32_t>(value); };
    const auto indexIn = [&](std::vector<float>& kept) {
      const auto found = std::ranges::find_if(kept, same);
      const auto index = static_cast<uint16_t>(found - kept.begin());
      if (found == kept.end()) kept.push_back(value);
      return index;
    };
    if (!takesNumbers(functor)) {
      if (std::ranges::any_of(program_.rows, same) || program_.rows.size() < kMostRows)
        return {Place::kRow, indexIn(program_.rows)};
    }
    return {Place::kConstant, indexIn(program_.constants)};
  }

  // As native/pointwise_power.cpp chooses.
  bool power(uint32_t base, uint32_t exponent) {
    if (!isTensor(base)) return emit(Functor::kPow, {base, exponent}, {}, ScalarType::Float, Order::kContiguous);
    if (!isTensor(exponent)) {
      const double value = numberOf(exponent).toDouble();
      if (value == 2) return emit(Functor::kSquare, {base});
      if (value == 3) return emit(Functor::kCube, {base});
      if (value == 0.5) return emit(Functor::kRoot, {base});
      if (value == -0.5) return emit(Functor::kInverseRoot, {base});
      if (value == -1) return emit(Functor::kInverse, {base});
      if (value == -2) return emit(Functor::kInverseSquare, {base});
    }
    return emit(Functor::kPow, {base, exponent});
  }

  bool clamp(uint32_t self, uint32_t low, uint32_t high) {
    if (isAbsent(low) && isAbsent(high)) return false;
    if (isAbsent(high)) return emit(Functor::kClampMin, {self, low});
    if (isAbsent(low)) return emit(Functor::kClampMax, {self, high});
    if (isTensor(low)) return emit(Functor::kClamp, {self, low, high});
    return emit(Functor::kClampScalar, {self}, {numberOf(low), numberOf(high)});
  }

  bool compileNode(size_t index) {
    current_ = index;
    const Node& node = nodes_[index];
    const auto& [a, b, c, d] = node.operands;
    switch (node.operation) {
      case Operation::kInput:
      case Operation::kNumber:
      case Operation::kNone: return true;
      case Operation::kAdd: return isTensor(a) ? emit(Functor::kAdd, {a, b}) : emit(Functor::kAdd, {b, a});
      case Operation::kSub: return emit(Functor::kSub, {a, b});
      case Operation::kMul: return isTensor(a) ? emit(Functor::kMul, {a, b}) : emit(Functor::kMul, {b, a});
      case Operation::kDiv: return emit(Functor::kDiv, {a, b});
      case Operation::kPow: return power(a, b);
#define BOXCAR_COMPARISON_NODE(name, functor, swapped) \
  case Operation::k_##name: return emit(Functor::k##functor, {a, b}, {}, ScalarType::Bool);
        BOXCAR_EXPRESSION_COMPARISONS(BOXCAR_COMPARISON_NODE)
#undef BOXCAR_COMPARISON_NODE
#define BOXCAR_UNARY_NODE(name, functor) \
  case Operation::k_##name: return emit(Functor::k##functor, {a});
        BOXCAR_EXPRESSION_UNARY(BOXCAR_UNARY_NODE)
#undef BOXCAR_UNARY_NODE
      case Operation::kRelu6: return emit(Functor::kHardtanh, {a}, {0, 6});
      case Operation::kSelu: return emit(Functor::kElu, {a}, {functors::kSeluAlpha, functors::kSeluScale, 1});
      case Operation::kGelu: return emit(Functor::kGelu, {a});
      case Operation::kGeluTanh: return emit(Functor::kGeluTanh, {a});
      case Operation::kElu: return emit(Functor::kElu, {a}, {numberOf(b), numberOf(c), numberOf(d)});
      case Operation::kLeakyRelu: return emit(Functor::kLeakyRelu, {a}, {numberOf(b)});
      case Operation::kHardtanh: return emit(Functor::kHardtanh, {a}, {numberOf(b), numberOf(c)});
      case Operation::kSoftplus: return emit(Functor::kSoftplus, {a}, {numberOf(b), numberOf(c)});
      case Operation::kClamp: return clamp(a, b, c);
      case Operation::kClampMin: return emit(Functor::kClampMin, {a, b});
      case Operation::kClampMax: return emit(Functor::kClampMax, {a, b});
      case Operation::kMinimum: return emit(Functor::kMinimum, {a, b});
      case Operation::kMaximum: return emit(Functor::kMaximum, {a, b});
      case Operation::kWhere:
        // Two numbers give float32, or int64 if they are ints.
        if (!isTensor(b) && !isTensor(c) &&
            (program_.hasSmallFloats() || !(numberOf(b).isFloatingPoint() || numberOf(c).isFloatingPoint())))
          return false;
        return emit(Functor::kSelect, {a, b, c});
      case Operation::kMaskedFill:
        // A tensor as value must have no dimensions, which the operator checks.
        if (isTensor(c)) return false;
        return emit(Functor::kSelect, {b, c, a}, {}, ScalarType::Float, Order::kContiguousUnlessAllAre);
    }
    return false;
  }

  // Assigns registers: a result takes the place of an operand that is not needed any more and has the same type.
  void allocate() {
    auto& instructions = program_.instructions;
    std::vector<size_t> last_use(instructions.size(), 0);
    for (size_t i = 0; i < instructions.size(); ++i) {
      for (size_t k = 0; k < instructions[i].count; ++k) {
        if (instructions[i].operands[k].place == Place::kResult) last_use[instructions[i].operands[k].index] = i;
      }
    }
    std::vector<uint16_t> free;
    const size_t end = program_.narrowsResult() ? instructions.size() : instructions.size() - 1;
    for (size_t i = 0; i < end; ++i) {
      std::vector<uint16_t> released;
      Instruction& instruction = instructions[i];
      for (size_t k = 0; k < instruction.count; ++k) {
        const Operand operand = instruction.operands[k];
        if (operand.place != Place::kResult || last_use[operand.index] != i) continue;
        last_use[operand.index] = instructions.size();  // only once
        const Instruction& source = instructions[operand.index];
        (source.type == instruction.type ? free : released).push_back(source.result);
      }
      if (free.empty()) free.push_back(static_cast<uint16_t>(program_.registers++));
      instruction.result = free.back();
      free.pop_back();
      free.insert(free.end(), released.begin(), released.end());
    }
  }

  std::span<const Node> nodes_;
  std::vector<Value> values_;
  size_t current_ = 0;
  PointwiseProgram program_;
};

// What is known about a value while the result's layout is computed.
struct Arranged {
  DimVector sizes;
  DimVector strides;
  bool is_contiguous = true;

  meta::Strided strided() const { return {sizes, strides}; }
};

bool areContiguous(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return true;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

void makeContiguous(Arranged& value) {
  value.strides.resize(value.sizes.size(), boost::container::default_init);
  contiguousStrides(value.sizes, value.strides);
  value.is_contiguous = true;
}

// Computes the sizes and strides of an instruction's result from those of its operands that have dimensions, as
// pointwise() does. Returns false if they do not broadcast.
bool arrangeResult(Order order, std::span<const Arranged* const> operands, Arranged& result) {
  bool all_contiguous = true;
  bool same_sizes = true;
  for (const Arranged* operand : operands) {
    all_contiguous &= operand->is_contiguous;
    same_sizes &= std::ranges::equal(operand->sizes, operands[0]->sizes);
    if (!meta::tryBroadcast(result.sizes, operand->sizes)) return false;
  }
  if ((all_contiguous && same_sizes) || order == Order::kContiguous ||
      (order == Order::kContiguousUnlessAllAre && !all_contiguous)) {
    makeContiguous(result);
    return true;
  }
  std::array<meta::Strided, 3> like;
  for (size_t k = 0; k < operands.size(); ++k) like[k] = operands[k]->strided();
  result.strides = meta::stridesLike(result.sizes, std::span<const meta::Strided>(like.data(), operands.size()));
  result.is_contiguous = areContiguous(result.sizes, result.strides);
  return true;
}

// Whether a program's input may be [tensor].
bool isReadable(const Tensor& tensor, ScalarType type) {
  return tensor.defined() && tensor.scalar_type() == type && tensor.is_cpu() && tensor.layout() == Layout::Strided &&
         tensor.dim() <= kMaxDims;
}

// Returns how many dimensions at the end [dim] numbers, all of [count] if it is empty; 0 if it numbers others.
size_t lastDims(std::span<const int64_t> dim, size_t count) {
  if (dim.empty()) return count;
  const auto dims = static_cast<int64_t>(count);
  const auto first = dims - static_cast<int64_t>(dim.size());
  if (first < 0) return 0;
  std::bitset<kMaxDims> is_named;
  for (const int64_t each : dim) {
    const int64_t place = each < 0 ? each + dims : each;
    if (place < first || place >= dims) return 0;
    is_named.set(static_cast<size_t>(place));
  }
  return is_named.count() == dim.size() ? dim.size() : 0;
}

}  // namespace

std::optional<PointwiseProgram> PointwiseProgram::of(const PointwiseExpression& expression, ScalarType dtype) {
  ProgramCompiler compiler(expression, dtype);
  if (!compiler.compile()) return std::nullopt;
  return compiler.take();
}

bool PointwiseProgram::arrange(TensorList tensors, DimVector& sizes, DimVector& strides) const {
  std::vector<Arranged> read(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = tensors[inputs[i].index];
    read[i] = {toDimVector(tensor.sizes()), toDimVector(tensor.strides()), tensor.is_contiguous()};
  }
  std::vector<Arranged> results(instructions.size());
  for (size_t i = 0; i < instructions.size(); ++i) {
    std::array<const Arranged*, 3> operands = {};
    size_t count = 0;
    for (size_t k = 0; k < instructions[i].count; ++k) {
      const Operand operand = instructions[i].operands[k];
      if (operand.place == Place::kConstant || operand.place == Place::kRow) continue;
      const Arranged& value = operand.place == Place::kInput ? read[operand.index] : results[operand.index];
      if (!value.sizes.empty()) operands[count++] = &value;
    }
    if (!arrangeResult(instructions[i].order, {operands.data(), count}, results[i])) return false;
  }
  sizes = std::move(results.back().sizes);
  strides = std::move(results.back().strides);
  return true;
}

// Each element of the result depends on elements of the inputs at the same place, and is written after they are read.
Tensor PointwiseProgram::overInput(TensorList tensors, std::span<const int64_t> sizes,
                                   std::span<const int64_t> strides) const {
  for (const auto& [index, type] : inputs) {
    const Tensor& tensor = tensors[index];
    if (type == resultType() && std::ranges::equal(tensor.sizes(), sizes) &&
        std::ranges::equal(tensor.strides(), strides) && isLastReference(tensor)) {
      return overMemoryOf(tensor, strides);
    }
  }
  return {};
}

Tensor PointwiseProgram::overInput(TensorList tensors, std::span<const int64_t> sizes) const {
  DimVector strides(sizes.size(), boost::container::default_init);
  contiguousStrides(sizes, strides);
  return overInput(tensors, sizes, strides);
}

Tensor PointwiseProgram::run(TensorList tensors, bool owns_list) const {
  const Tensor* shaped = nullptr;
  bool is_flat = true;
  bool all_contiguous = true;
  for (const auto& [index, type] : inputs) {
    const Tensor& tensor = tensors[index];
    if (!isReadable(tensor, type)) return {};
    if (tensor.dim() == 0) continue;
    if (shaped == nullptr) shaped = &tensor;
    all_contiguous &= tensor.is_contiguous() && tensor.numel() != 0;
    is_flat &= std::ranges::equal(tensor.sizes(), shaped->sizes());
  }
  const ScalarType type = resultType();
  boost::container::static_vector<StridedOperand, 1 + PointwiseExpression::kMostInputs> operands;
  const auto add = [&](const Tensor& tensor, std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    operands.push_back({tensor.data_ptr(), sizes, strides, tensor.itemsize()});
  };
  if (is_flat && all_contiguous) {
    const std::span<const int64_t> sizes = shaped != nullptr ? shaped->sizes() : std::span<const int64_t>();
    Tensor result;
    if (owns_list) result = overInput(tensors, sizes);
    if (!result.defined()) result = Tensor::allocate(sizes, type);
    const int64_t count[] = {result.numel()};
    constexpr int64_t kStep[] = {1};
    add(result, count, kStep);
    for (const Input& input : inputs) {
      const Tensor& tensor = tensors[input.index];
      if (tensor.dim() == 0) {
        add(tensor, {}, {});
      } else {
        add(tensor, count, kStep);
      }
    }
    if (count[0] != 0) runProgram(DeviceType::CPU, *this, operands);
    return result;
  }
  DimVector sizes;
  Tensor result;
  if (all_contiguous) {
    // All operators keep that order.
    for (const Input& input : inputs) {
      if (!meta::tryBroadcast(sizes, tensors[input.index].sizes())) return {};
    }
    if (owns_list) result = overInput(tensors, sizes);
    if (!result.defined()) result = Tensor::allocate(sizes, type);
  } else {
    DimVector strides;
    if (!arrange(tensors, sizes, strides)) return {};
    if (owns_list) result = overInput(tensors, sizes, strides);
    if (!result.defined()) result = meta::allocateStrided(sizes, strides, type, DeviceType::CPU);
  }
  add(result, result.sizes(), result.strides());
  for (const Input& input : inputs) {
    const Tensor& tensor = tensors[input.index];
    add(tensor, tensor.sizes(), tensor.strides());
  }
  if (result.numel() != 0) runProgram(DeviceType::CPU, *this, operands);
  return result;
}

Tensor PointwiseProgram::reduce(TensorList tensors, GroupReduction reduction, std::span<const int64_t> dim,
                                bool keepdim) const {
  if (dtype != ScalarType::Float || resultType() != ScalarType::Float) return {};
  DimVector sizes;
  for (const auto& [index, type] : inputs) {
    const Tensor& tensor = tensors[index];
    if (!isReadable(tensor, type) || !tensor.is_contiguous() || tensor.numel() == 0) return {};
    if (!meta::tryBroadcast(sizes, tensor.sizes())) return {};
  }
  if (sizes.size() > kMaxDims) return {};
  const size_t reduced = lastDims(dim, sizes.size());
  if (reduced == 0) return {};
  DimVector strides(sizes.size(), boost::container::default_init);
  contiguousStrides(sizes, strides);
  boost::container::static_vector<StridedOperand, 1 + PointwiseExpression::kMostInputs> operands;
  operands.push_back({nullptr, sizes, strides, sizeof(float)});
  for (const Input& input : inputs) {
    const Tensor& tensor = tensors[input.index];
    operands.push_back({tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.itemsize()});
  }
  DimVector kept(sizes.begin(), sizes.end() - static_cast<ptrdiff_t>(reduced));
  if (keepdim) kept.resize(sizes.size(), 1);
  Tensor result = Tensor::allocate(kept, ScalarType::Float);
  const bool is_done =
      reduceProgram(DeviceType::CPU, *this, operands, reduced, reduction, result.mutable_data_ptr<float>());
  return is_done ? result : Tensor();
}

}  // namespace boxcar::native
