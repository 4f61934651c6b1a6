#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/cpu/vector_small_floats.h>
#include <boxcar/backends/native/pointwise_program.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

// Programs of pointwise functors: each instruction's loop runs over a block of elements whose intermediate results stay
// in the first cache. Inputs of small floats are widened for the block, and its result is narrowed.

namespace boxcar::cpu {
namespace {

using native::PointwiseProgram;
using native::StridedOperand;
using Place = PointwiseProgram::Place;

// Registers and packed inputs of a block, and with them all that a block touches, fill about this many bytes.
constexpr size_t kBlockBytes = 24576;
constexpr int64_t kLongestBlock = 2048;
constexpr size_t kMostPlaces = 1 + PointwiseExpression::kMostInputs;

// The dimensions of a call, innermost first: the result's order in memory, in which it has no gaps. Dimensions that are
// contiguous with each other in all operands are merged.
struct ProgramNest {
  int rank = 0;
  int64_t sizes[kMaxDims + 2];
  // In bytes, of the operands: the result is operand 0.
  int64_t steps[kMaxDims + 2][kMostPlaces];
  int last_rank = 0;  // how many are made of the last dimensions, if these are the innermost

  // [last]: how many of the result's last dimensions stay apart from the others.
  explicit ProgramNest(std::span<const StridedOperand> operands, size_t last = 0) {
    const StridedOperand& result = operands[0];
    const size_t dims = result.sizes.size();
    size_t order[kMaxDims];
    int count = 0;
    for (size_t i = dims; i-- > 0;) {
      if (result.sizes[i] == 1) continue;
      int place = count++;
      for (; place > 0 && result.strides[i] < result.strides[order[place - 1]]; --place)
        order[place] = order[place - 1];
      order[place] = i;
    }
    for (int i = 0; i < count; ++i) {
      const bool is_last = order[i] >= dims - last;
      append(operands, order[i], i == 0 || is_last == (order[i - 1] >= dims - last));
      if (is_last) last_rank = rank;
    }
    for (; rank < 2; ++rank) {
      sizes[rank] = 1;
      std::fill_n(steps[rank], operands.size(), 0);
    }
  }

 private:
  void append(std::span<const StridedOperand> operands, size_t dim, bool may_follow) {
    int64_t* const step = steps[rank];
    bool follows = rank > 0 && may_follow;
    for (size_t k = 0; k < operands.size(); ++k) {
      const StridedOperand& operand = operands[k];
      const size_t missing = operands[0].sizes.size() - operand.sizes.size();
      const bool stays = dim < missing || operand.sizes[dim - missing] == 1;
      step[k] = stays ? 0 : operand.strides[dim - missing] * static_cast<int64_t>(operand.itemsize);
      if (rank > 0) follows &= step[k] == steps[rank - 1][k] * sizes[rank - 1];
    }
    if (follows) {
      sizes[rank - 1] *= operands[0].sizes[dim];
      return;
    }
    sizes[rank++] = operands[0].sizes[dim];
  }
};

// Returns how many elements a block may have.
int64_t longestBlock(const PointwiseProgram& program, size_t operands) {
  const auto places = static_cast<uint32_t>(program.registers + program.rows.size() + operands);
  return std::min<int64_t>(kLongestBlock, uint32_t{kBlockBytes / sizeof(float)} / places & ~15U);
}

// Whether operand [k], an input, has elements that are computed in float32.
bool isWidened(const PointwiseProgram& program, size_t k) {
  return program.hasSmallFloats() && program.inputs[k - 1].type == program.dtype;
}

void widenRow(ScalarType type, float* to, const char* from, int64_t step, int64_t n) {
  convertRow(conversionLoop(ScalarType::Float, type), to, sizeof(float), from, step, n);
}

// One block of a program: where its operands and registers lie.
struct ProgramBlock {
  // Registers, rows of constants, then packed inputs.
  alignas(64) char scratch[kBlockBytes + 64 * (PointwiseProgram::kMostSlots + 1)];
  int64_t room;  // bytes of a register
  // Of the result and the inputs, and the steps in bytes.
  char* data[kMostPlaces];
  int64_t steps[kMostPlaces];

  ProgramBlock(const PointwiseProgram& program, int64_t longest)
      : room((longest * static_cast<int64_t>(sizeof(float)) + 63) & ~int64_t{63}) {
    for (size_t i = 0; i < program.rows.size(); ++i)
      std::fill_n(reinterpret_cast<float*>(registerAt(program.registers + i)), longest, program.rows[i]);
  }

  char* registerAt(size_t index) { return scratch + static_cast<int64_t>(index) * room; }
  // The place for the copy of operand [k].
  char* copyAt(const PointwiseProgram& program, size_t k) {
    return registerAt(program.registers + program.rows.size() + k - 1);
  }

  void run(const PointwiseProgram& program, int64_t count) {
    const auto& instructions = program.instructions;
    const SmallFloatRows* const small = program.hasSmallFloats() ? &smallFloatRows(program.dtype) : nullptr;
    const bool narrows = program.narrowsResult();
    for (size_t n = 0; n < instructions.size(); ++n) {
      const PointwiseProgram::Instruction& instruction = instructions[n];
      const bool is_last = n + 1 == instructions.size();
      char* operands[kMaxOperands] = {is_last && !narrows ? data[0] : registerAt(instruction.result)};
      int64_t moves[2 * kMaxOperands] = {stepOf(instruction)};
      for (size_t k = 0; k < instruction.count; ++k) {
        const PointwiseProgram::Operand operand = instruction.operands[k];
        switch (operand.place) {
          case Place::kInput:
            operands[k + 1] = data[operand.index + 1];
            moves[k + 1] = steps[operand.index + 1];
            break;
          case Place::kConstant:
            operands[k + 1] = reinterpret_cast<char*>(const_cast<float*>(&program.constants[operand.index]));
            break;
          case Place::kRow:
            operands[k + 1] = registerAt(program.registers + operand.index);
            moves[k + 1] = sizeof(float);
            break;
          case Place::kResult:
            operands[k + 1] = registerAt(instructions[operand.index].result);
            moves[k + 1] = stepOf(instructions[operand.index]);
            break;
        }
      }
      loopOf(instruction.functor, ScalarType::Float)(operands, moves, count, 1, instruction.params.data());
      auto* const result = reinterpret_cast<float*>(operands[0]);
      if (is_last && narrows) {
        small->narrow(result, data[0], static_cast<size_t>(count));
      } else if (instruction.rounds) {
        small->round(result, static_cast<size_t>(count));
      }
    }
  }

 private:
  static int64_t stepOf(const PointwiseProgram::Instruction& instruction) {
    return instruction.type == ScalarType::Bool ? 1 : int64_t{sizeof(float)};
  }
};

VectorReduction vectorReductionOf(native::GroupReduction reduction) {
  switch (reduction) {
    case native::GroupReduction::kSum:
    case native::GroupReduction::kMean: return VectorReduction::kSum;
    case native::GroupReduction::kAmax: return VectorReduction::kAmax;
    case native::GroupReduction::kAmin: return VectorReduction::kAmin;
  }
  BOXCAR_FAIL("there is no reduction of number {}", static_cast<int>(reduction));
}

// How a program's inputs are read in each block: where they lie, if their elements are contiguous or one element is for
// all; else from a copy.
class ProgramBlockLoop final {
 public:
  // [last]: as of ProgramNest.
  ProgramBlockLoop(const PointwiseProgram& program, std::span<const StridedOperand> operands, size_t last = 0)
      : program_(program), operands_(operands), nest_(operands, last) {
    const int64_t longest = longestBlock(program, operands.size());
    width_ = std::min(nest_.sizes[0], longest);
    height_ = std::clamp<int64_t>(longest / width_, 1, nest_.sizes[1]);
    block_ = width_ * height_;
    chunks_ = (nest_.sizes[0] + width_ - 1) / width_;
    groups_ = (nest_.sizes[1] + height_ - 1) / height_;
    outer_ = 1;
    for (int i = 2; i < nest_.rank; ++i) outer_ *= nest_.sizes[i];
    for (size_t k = 1; k < operands.size(); ++k) {
      const int64_t step = nest_.steps[0][k];
      const auto itemsize = static_cast<int64_t>(operands[k].itemsize);
      const bool is_row = step == itemsize || step == 0;
      const bool joins = height_ == 1 || nest_.steps[1][k] == nest_.sizes[0] * step;
      joined_[k] = is_row && joins;
      widened_[k] = isWidened(program, k);
      packed_[k] = !joined_[k] || widened_[k];
      step_[k] = joined_[k] && step == 0 ? 0 : widened_[k] ? int64_t{sizeof(float)} : itemsize;
    }
  }

  // Reduces each row instead of writing it: [last] dimensions, which are one of the nest. Returns false if they are
  // not.
  bool reduce(native::GroupReduction reduction, float* results) {
    if (nest_.last_rank != 1) return false;
    const VectorReduction kind = vectorReductionOf(reduction);
    const int64_t rows = outer_ * nest_.sizes[1];
    std::vector<float> parts(static_cast<size_t>(chunks_ == 1 ? 0 : rows * chunks_));
    reduction_ = &vectorReduceRows<float>(kind);
    reduced_ = chunks_ == 1 ? results : parts.data();
    run();
    if (chunks_ != 1) {
      reduction_->rows(results, reinterpret_cast<const char*>(parts.data()),
                       chunks_ * static_cast<int64_t>(sizeof(float)), rows, static_cast<size_t>(chunks_));
    }
    if (reduction == native::GroupReduction::kMean) {
      const auto count = static_cast<float>(nest_.sizes[0]);
      for (int64_t i = 0; i < rows; ++i) results[i] /= count;
    }
    return true;
  }

  void run() const {
    double steps = 0;  // of an element
    for (const PointwiseProgram::Instruction& instruction : program_.instructions) {
      steps +=
          static_cast<double>(kParallelGrain) / static_cast<double>(grainOf(instruction.functor, ScalarType::Float));
    }
    const auto work = std::max<int64_t>(1, static_cast<int64_t>(steps * static_cast<double>(block_)));
    parallelFor(0, outer_ * groups_ * chunks_, std::max<int64_t>(1, kParallelGrain / work),
                [&](int64_t begin, int64_t end) { runUnits(begin, end); });
  }

 private:
  // What one thread keeps while it runs blocks.
  struct State {
    State(const PointwiseProgram& program, int64_t longest) : block(program, longest) {}
    ProgramBlock block;
    // What a packed input's copy was made from.
    const char* packed_from[kMostPlaces] = {};
    int64_t packed_rows[kMostPlaces] = {};
  };

  void runUnits(int64_t begin, int64_t end) const {
    State state(program_, block_);
    std::copy_n(step_, operands_.size(), state.block.steps);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t chunk = chunks_ == 1 ? 0 : unit % chunks_;
      const int64_t row = unit / chunks_;
      const int64_t group = outer_ == 1 ? row : row % groups_;
      const int64_t i = chunk * width_;
      const int64_t j = group * height_;
      const int64_t columns = std::min(width_, nest_.sizes[0] - i);
      const int64_t rows = std::min(height_, nest_.sizes[1] - j);
      for (size_t k = 0; k < operands_.size(); ++k)
        state.block.data[k] = static_cast<char*>(operands_[k].data) + i * nest_.steps[0][k] + j * nest_.steps[1][k];
      if (outer_ > 1) moveToOuter(row / groups_, state);
      for (size_t k = 1; k < operands_.size(); ++k) {
        if (packed_[k]) pack(k, columns, rows, state);
      }
      if (reduction_ != nullptr) state.block.data[0] = state.block.copyAt(program_, operands_.size());
      state.block.run(program_, columns * rows);
      if (reduction_ != nullptr) {
        const int64_t first = (outer_ == 1 ? 0 : row / groups_) * nest_.sizes[1] + j;
        reduction_->rows(reduced_ + first * chunks_ + chunk, state.block.data[0],
                         columns * static_cast<int64_t>(sizeof(float)), rows, static_cast<size_t>(columns));
      }
    }
  }

  void moveToOuter(int64_t index, State& state) const {
    for (int dim = 2; dim < nest_.rank; ++dim) {
      const int64_t at = index % nest_.sizes[dim];
      index /= nest_.sizes[dim];
      for (size_t k = 0; k < operands_.size(); ++k) state.block.data[k] += at * nest_.steps[dim][k];
    }
  }

  template <class T>
  static void packRow(T* to, const char* from, int64_t step, int64_t count) {
    if (step == 0) {
      std::fill_n(to, count, *reinterpret_cast<const T*>(from));
    } else if (step == sizeof(T)) {
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = *reinterpret_cast<const T*>(from + i * step);
    }
  }

  template <class T>
  void packAs(size_t k, int64_t columns, int64_t rows, T* to, const char* from) const {
    for (int64_t j = 0; j < rows; ++j) {
      packRow(to + j * columns, from, nest_.steps[0][k], columns);
      from += nest_.steps[1][k];
    }
  }

  void packWidened(size_t k, int64_t columns, int64_t rows, float* to, const char* from) const {
    const int64_t step = nest_.steps[0][k];
    if (joined_[k]) return widenRow(program_.dtype, to, from, step, step == 0 ? 1 : columns * rows);
    for (int64_t j = 0; j < rows; ++j) {
      widenRow(program_.dtype, to, from, step, step == 0 ? 1 : columns);
      if (step == 0) std::fill_n(to + 1, columns - 1, to[0]);
      to += columns;
      from += nest_.steps[1][k];
    }
  }

  // Copies the input of a block, unless its copy is there from the block before.
  void pack(size_t k, int64_t columns, int64_t rows, State& state) const {
    char* const to = state.block.copyAt(program_, k);
    const char* const from = std::exchange(state.block.data[k], to);
    // With chunks, the number of columns differs between blocks at different places only.
    if (state.packed_from[k] == from && state.packed_rows[k] >= rows) return;
    state.packed_from[k] = from;
    state.packed_rows[k] = rows;
    if (widened_[k]) {
      packWidened(k, columns, rows, reinterpret_cast<float*>(to), from);
    } else if (operands_[k].itemsize == sizeof(float)) {
      packAs(k, columns, rows, reinterpret_cast<float*>(to), from);
    } else {
      packAs(k, columns, rows, reinterpret_cast<bool*>(to), from);
    }
  }

  const PointwiseProgram& program_;
  const std::span<const StridedOperand> operands_;
  const ProgramNest nest_;
  // A block is [height_] rows of [width_] elements; a long row is several chunks.
  int64_t width_;
  int64_t height_;
  int64_t block_;
  int64_t chunks_;
  int64_t groups_;
  int64_t outer_;
  bool joined_[kMostPlaces] = {};  // contiguous, or one element, throughout a block
  bool widened_[kMostPlaces] = {};
  bool packed_[kMostPlaces] = {};
  int64_t step_[kMostPlaces] = {};
  // Of a reduction, and where the outcome of each chunk of each row goes.
  const VectorReduceRows<float>* reduction_ = nullptr;
  float* reduced_ = nullptr;
};

// Runs a program on few elements in a row, which is one block. Returns false if there are more, or not in a row.
bool runShort(const PointwiseProgram& program, std::span<const StridedOperand> operands) {
  if (operands[0].sizes.size() != 1) return false;
  const int64_t count = operands[0].sizes[0];
  const int64_t longest = longestBlock(program, operands.size());
  if (count > longest) return false;
  ProgramBlock block(program, count);
  for (size_t k = 0; k < operands.size(); ++k) {
    const StridedOperand& operand = operands[k];
    const bool is_one = operand.sizes.empty();
    if (!is_one && (operand.sizes[0] != count || operand.strides[0] != 1)) return false;
    block.data[k] = static_cast<char*>(operand.data);
    block.steps[k] = is_one ? 0 : static_cast<int64_t>(operand.itemsize);
    if (k == 0 || !isWidened(program, k)) continue;
    char* const copy = block.copyAt(program, k);
    widenRow(program.dtype, reinterpret_cast<float*>(copy), block.data[k], int64_t{2}, is_one ? 1 : count);
    block.data[k] = copy;
    block.steps[k] *= 2;
  }
  block.run(program, count);
  return true;
}

void runProgramBlocks(const PointwiseProgram& program, std::span<const StridedOperand> operands) {
  if (!runShort(program, operands)) ProgramBlockLoop(program, operands).run();
}

bool reduceProgramBlocks(const PointwiseProgram& program, std::span<const StridedOperand> operands, size_t dims,
                         native::GroupReduction reduction, float* results) {
  return ProgramBlockLoop(program, operands, dims).reduce(reduction, results);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, runProgram, cpu::runProgramBlocks)
BOXCAR_REGISTER_STUB(CPU, reduceProgram, cpu::reduceProgramBlocks)

}  // namespace boxcar::native
