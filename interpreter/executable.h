#pragma once

#include <boxcar/interpreter/bytecode.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace boxcar::interp {

// A function as the machine wants it.
struct ExecutableFunction {
  const Instruction* code;
  uint32_t slots;  // its own
  uint32_t frame;  // with room behind them for the arguments that it passes on
  uint32_t arguments;
  uint32_t value_count;
  const uint16_t* values;  // its Value slots, arguments included
  const uint64_t* tags;    // what the second word of each slot is at the start
  const CodeFunction* source;
};

// Code that may run: verified, and linked to the operators that it calls.
class Executable final {
 public:
  // Throws an Error where the verifier refuses the unit.
  explicit Executable(CodeUnit unit);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Finds the operators of all sites; before it nothing runs. An Error when one is not defined or has another number of
  // arguments or results.
  void link();

  const CodeUnit& unit() const noexcept { return unit_; }
  const ExecutableFunction& function(uint32_t index) const noexcept { return functions_[index]; }
  const ExecutableFunction* functions() const noexcept { return functions_.data(); }
  // Where the script lies: what relative paths in it start from.
  const std::string& folder() const noexcept { return folder_; }
  // What the script's constants hold.
  IValue* globals() const noexcept { return globals_.get(); }

 private:
  CodeUnit unit_;
  std::string folder_;
  std::vector<ExecutableFunction> functions_;
  std::vector<uint16_t> values_;
  std::vector<uint64_t> tags_;
  std::unique_ptr<IValue[]> globals_;
};

}  // namespace boxcar::interp
