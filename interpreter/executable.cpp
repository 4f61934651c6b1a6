#include <boxcar/dispatcher/dispatcher.h>
#include <boxcar/interpreter/executable.h>
#include <boxcar/interpreter/verifier.h>
#include <boxcar/ivalue/error.h>

#include <cstring>
#include <filesystem>
#include <utility>

namespace boxcar::interp {
namespace {

// A slot starts as 0, 0.0, False or None: its first word is zero, the second says which.
uint64_t tagWord(SlotKind kind) {
  IValue value;
  switch (kind) {
    case SlotKind::Int: value = IValue(int64_t{0}); break;
    case SlotKind::Float: value = IValue(0.0); break;
    case SlotKind::Bool: value = IValue(false); break;
    case SlotKind::Value: break;
  }
  uint32_t tag;
  std::memcpy(&tag, reinterpret_cast<const char*>(&value) + 8, sizeof(tag));
  return tag;
}

}  // namespace

Executable::Executable(CodeUnit unit)
    : unit_(std::move(unit)), globals_(std::make_unique<IValue[]>(unit_.globals.size())) {
  const std::vector<FunctionBounds> bounds = verify(unit_);
  if (unit_.source != nullptr) folder_ = std::filesystem::path(unit_.source->name()).parent_path();
  size_t slot_count = 0;
  for (const CodeFunction& function : unit_.functions) slot_count += function.slots.size();
  // What functions point into does not move.
  values_.reserve(slot_count);
  tags_.reserve(slot_count);
  for (size_t i = 0; i < unit_.functions.size(); ++i) {
    const CodeFunction& source = unit_.functions[i];
    ExecutableFunction function{};
    function.code = source.code.data();
    function.slots = static_cast<uint32_t>(source.slots.size());
    function.frame = function.slots + bounds[i].max_passed;
    function.arguments = source.argument_count;
    function.values = values_.data() + values_.size();
    function.tags = tags_.data() + tags_.size();
    function.source = &source;
    for (size_t slot = 0; slot < source.slots.size(); ++slot) {
      if (source.slots[slot] == SlotKind::Value) {
        values_.push_back(static_cast<uint16_t>(slot));
        ++function.value_count;
      }
      tags_.push_back(tagWord(source.slots[slot]));
    }
    functions_.push_back(function);
  }
}

void Executable::link() {
  Dispatcher& dispatcher = Dispatcher::singleton();
  for (OperatorSite& site : unit_.operator_sites) {
    const OperatorHandle op = dispatcher.findSchemaOrThrow(site.name.name.c_str(), site.name.overload_name.c_str());
    BOXCAR_CHECK(op.schema().arguments().size() == site.arguments && op.schema().returns().size() == site.results,
                 "{}: the script was compiled for {} arguments and {} results, but the operator is {}",
                 unit_.source->name(), site.arguments, site.results, op.schema());
    site.op = op;
  }
  for (DynamicSite& site : unit_.dynamic_sites) {
    site.candidates.clear();
    for (const OperatorHandle& op : dispatcher.findOverloads(site.name)) {
      if (!site.overload || op.operator_name().overload_name == *site.overload) site.candidates.push_back(op);
    }
    BOXCAR_CHECK(!site.candidates.empty(), "{}: the operator {} is not defined", unit_.source->name(), site.name);
  }
}

}  // namespace boxcar::interp
