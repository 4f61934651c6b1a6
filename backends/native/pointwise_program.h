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

// Expressions of float32 as programs for blocks of elements: each instruction is the loop of a pointwise functor.

namespace boxcar::native {

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
    uint16_t result = 0;  // a register; unused by the last instruction
    std::array<Operand, 3> operands = {};
    std::array<Scalar, 3> params = {};
  };

  std::vector<Instruction> instructions;
  std::vector<float> constants;
  // Constants of functors that are quicker if they read them from a row of equal elements.
  std::vector<float> rows;
  size_t registers = 0;
  // The inputs that it reads, as indices of the call's, and their dtypes: Float, or Bool for a condition.
  struct Input {
    uint8_t index;
    ScalarType type;
  };
  std::vector<Input> inputs;

  // Returns nothing if the expression takes other dtypes than float32, or bool where it is no condition.
  static std::optional<PointwiseProgram> of(const PointwiseExpression& expression);

  // Returns the result of a call; an undefined tensor if these inputs need the general form, which may fail.
  Tensor run(TensorList tensors) const;

 private:
  // Calculates the sizes and strides of the result. Returns false if the inputs do not broadcast.
  bool arrange(TensorList tensors, DimVector& sizes, DimVector& strides) const;
};

// Runs [program] on a device. The first operand is the result, the others are the program's inputs, whose sizes
// broadcast to those of the result. The result is dense.
using ProgramBlocks = void(const PointwiseProgram& program, std::span<const StridedOperand> operands);
extern DeviceStub<ProgramBlocks> runProgram;

}  // namespace boxcar::native
