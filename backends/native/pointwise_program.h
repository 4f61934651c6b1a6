#pragma once

#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/pointwise_expression.h>
#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Expressions as programs for blocks of elements: each instruction is the loop of a pointwise functor for float32. In
// programs for float16 and bfloat16, results are rounded to such elements where the operators round theirs.

namespace boxcar::native {

// What fused::pointwise_reduce does with an expression's elements.
enum class GroupReduction : uint8_t { kSum, kMean, kAmax, kAmin };

struct PointwiseProgram {
  // Programs with more registers and inputs would have blocks that are too short.
  static constexpr size_t kMostSlots = 64;

  enum class Place : uint8_t { kInput, kConstant, kRow, kResult };
  struct Operand {
    Place place = Place::kInput;
    // Of the input, of the constant, of the constant in `rows`, or of the instruction whose result it is.
    uint16_t index = 0;
  };
  // Where an instruction's result lies in memory if not as in the operator's usual result.
  enum class Order : uint8_t {
    kLikeInputs,
    kContiguous,
    kContiguousUnlessAllAre,  // masked_fill
  };
  struct Instruction {
    Functor functor;
    ScalarType type;  // of its result: Float or Bool
    uint8_t count;
    Order order = Order::kLikeInputs;
    bool rounds = false;  // the result may be a float that `dtype` does not have
    // A register. The last instruction of a program for float32, and one with bools as results, has none: it writes to
    // the call's result.
    uint16_t result = 0;
    std::array<Operand, 3> operands = {};
    std::array<Scalar, 3> params = {};
  };

  // Of the inputs: Float, Half or BFloat16.
  ScalarType dtype = ScalarType::Float;
  std::vector<Instruction> instructions;
  std::vector<float> constants;
  // Constants of functors that are quicker if they read them from a row of equal elements.
  std::vector<float> rows;
  size_t registers = 0;
  // The inputs that it reads, as indices of the call's, and their dtypes: that of all, or Bool for a condition.
  struct Input {
    uint8_t index;
    ScalarType type;
  };
  std::vector<Input> inputs;

  // Returns nothing if the expression takes other dtypes than [dtype], or bool where it is no condition.
  static std::optional<PointwiseProgram> of(const PointwiseExpression& expression, ScalarType dtype);

  // Returns the result of a call; an undefined tensor if these inputs need the general form, which may fail. Nobody
  // else sees the list if the call [owns_list]; the result may then lie in the memory of an input that nobody else
  // sees.
  Tensor run(TensorList tensors, bool owns_list = false) const;
  // Returns a reduction of that over the last dimensions, which [dim] numbers; over all if it is empty. As above.
  Tensor reduce(TensorList tensors, GroupReduction reduction, std::span<const int64_t> dim, bool keepdim) const;

  bool hasSmallFloats() const { return dtype != ScalarType::Float; }
  ScalarType resultType() const { return instructions.back().type == ScalarType::Bool ? ScalarType::Bool : dtype; }
  // Whether the last instruction's result is rounded and copied to the call's.
  bool narrowsResult() const { return hasSmallFloats() && instructions.back().type != ScalarType::Bool; }

 private:
  // Calculates the sizes and strides of the result. Returns false if the inputs do not broadcast.
  bool arrange(TensorList tensors, DimVector& sizes, DimVector& strides) const;
  // Returns a tensor on the memory of an input that has the dtype, sizes and strides of the result and that nobody else
  // sees; an undefined one if there is none.
  Tensor overInput(TensorList tensors, std::span<const int64_t> sizes, std::span<const int64_t> strides) const;
  // As above, for a contiguous result.
  Tensor overInput(TensorList tensors, std::span<const int64_t> sizes) const;
};

// Runs [program] on a device. The first operand is the result, the others are the program's inputs, whose sizes
// broadcast to those of the result. The result is dense.
using ProgramBlocks = void(const PointwiseProgram& program, std::span<const StridedOperand> operands);
extern DeviceStub<ProgramBlocks> runProgram;

// Reduces what a program for float32 computes, which has the first operand's sizes and is not written, over its last
// [dims] dimensions; writes the results one after the other. Returns false, and writes nothing, if the elements to
// reduce do not follow each other in all inputs.
using ProgramReduction = bool(const PointwiseProgram& program, std::span<const StridedOperand> operands, size_t dims,
                              GroupReduction reduction, float* results);
extern DeviceStub<ProgramReduction> reduceProgram;

}  // namespace boxcar::native
