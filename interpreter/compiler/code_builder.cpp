#include <boxcar/interpreter/compiler/code_builder.h>
#include <boxcar/ivalue/error.h>

#include <cstring>
#include <limits>
#include <utility>

namespace boxcar::interp {
namespace {

constexpr uint32_t kUnbound = std::numeric_limits<uint32_t>::max();
constexpr size_t kMaxSlots = 65'000;

// A short jump keeps its offset in the last field; a far jump fills the last two.
bool hasFarTarget(Opcode op) { return info(op).operands[1] == Operand::FarTarget; }

bool fitsShort(int64_t offset) { return offset == static_cast<int16_t>(offset); }

// Returns a text that is equal exactly for constants that may be stored once; empty for values with an identity.
std::string constantKey(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::None: return "n";
    case IValue::Tag::Bool: return value.toBool() ? "b1" : "b0";
    case IValue::Tag::Int: return "i" + std::to_string(value.toInt());
    case IValue::Tag::Double: {
      const double number = value.toDouble();
      std::string key = "f        ";
      std::memcpy(key.data() + 1, &number, sizeof(number));
      return key;
    }
    case IValue::Tag::String: return "s" + value.toStringRef();
    default: return {};
  }
}

}  // namespace

UnitBuilder::UnitBuilder(SourcePtr source) { unit_.source = std::move(source); }

uint32_t UnitBuilder::constant(const IValue& value) {
  const auto next = static_cast<uint32_t>(unit_.constants.size());
  if (std::string key = constantKey(value); !key.empty()) {
    const auto [found, inserted] = constants_.emplace(std::move(key), next);
    if (!inserted) return found->second;
  }
  unit_.constants.push_back(value);
  return next;
}

uint16_t UnitBuilder::type(TypePtr type) {
  const auto [found, inserted] = types_.emplace(type, static_cast<uint16_t>(unit_.types.size()));
  if (inserted) {
    BOXCAR_CHECK(unit_.types.size() < std::numeric_limits<uint16_t>::max(), "{}: the script uses more than {} types",
                 unit_.source->name(), unit_.types.size());
    unit_.types.push_back(type);
  }
  return found->second;
}

uint16_t UnitBuilder::field(const CodeField& field) {
  const auto found = std::ranges::find(unit_.fields, field);
  const auto index = static_cast<size_t>(found - unit_.fields.begin());
  BOXCAR_CHECK(index <= UINT16_MAX, "the script uses more than {} fields of structs", UINT16_MAX);
  if (found == unit_.fields.end()) unit_.fields.push_back(field);
  return static_cast<uint16_t>(index);
}

uint32_t UnitBuilder::operatorSite(const OperatorName& name, size_t arguments, size_t results) {
  const auto next = static_cast<uint32_t>(unit_.operator_sites.size());
  const auto [found, inserted] =
      operator_sites_.emplace(fmt::format("{} {} {}", toString(name), arguments, results), next);
  if (inserted) {
    unit_.operator_sites.push_back({name, static_cast<uint16_t>(arguments), static_cast<uint16_t>(results)});
  }
  return found->second;
}

uint32_t UnitBuilder::dynamicSite(DynamicSite site) {
  unit_.dynamic_sites.push_back(std::move(site));
  return static_cast<uint32_t>(unit_.dynamic_sites.size() - 1);
}

uint32_t UnitBuilder::global(std::string name, TypePtr type) {
  unit_.globals.push_back({std::move(name), type});
  return static_cast<uint32_t>(unit_.globals.size() - 1);
}

uint32_t UnitBuilder::scope(CodeScope scope) {
  unit_.scopes.push_back(std::move(scope));
  return static_cast<uint32_t>(unit_.scopes.size() - 1);
}

uint32_t UnitBuilder::declareFunction() {
  unit_.functions.emplace_back();
  return static_cast<uint32_t>(unit_.functions.size() - 1);
}

CodeBuilder::CodeBuilder(std::string name, SourcePtr source, Span span) : span_(span) {
  function_.name = std::move(name);
  function_.source = std::move(source);
  function_.span = span;
}

uint16_t CodeBuilder::argument(SlotKind kind, std::string_view name) {
  BOXCAR_INTERNAL_ASSERT(function_.argument_count == function_.slots.size());
  ++function_.argument_count;
  return slot(kind, name);
}

uint16_t CodeBuilder::slot(SlotKind kind, std::string_view name) {
  BOXCAR_CHECK(function_.slots.size() < kMaxSlots,
               "{}: {} is too long: it needs more than {} variables and temporaries", function_.source->name(),
               function_.name, kMaxSlots);
  const auto slot = static_cast<uint16_t>(function_.slots.size());
  function_.slots.push_back(kind);
  if (!name.empty()) nameSlot(slot, name);
  return slot;
}

void CodeBuilder::nameSlot(uint16_t slot, std::string_view name) {
  function_.slot_names.push_back({std::string(name), slot});
}

void CodeBuilder::append(Instruction instruction) {
  function_.code.push_back(instruction);
  function_.spans.push_back(span_);
}

void CodeBuilder::emit(Opcode op, uint16_t a, uint16_t b, uint16_t c) { append({op, a, b, c}); }

void CodeBuilder::emitWide(Opcode op, uint16_t a, uint32_t number) {
  append(Instruction::wide(op, a, static_cast<int32_t>(number)));
}

void CodeBuilder::emitJump(Opcode op, Label target, uint16_t a, uint16_t b) {
  fixups_.push_back({static_cast<uint32_t>(function_.code.size()), target});
  append({op, a, b, 0});
}

Label CodeBuilder::newLabel() {
  labels_.push_back(kUnbound);
  return {static_cast<uint32_t>(labels_.size() - 1)};
}

void CodeBuilder::bind(Label label) {
  BOXCAR_INTERNAL_ASSERT(labels_[label.id] == kUnbound);
  labels_[label.id] = static_cast<uint32_t>(function_.code.size());
}

// Turns `if x jump far` into `if x jump +1; jump +1; jump far` until all short offsets fit.
void CodeBuilder::lengthenJumps() {
  const size_t old_size = function_.code.size();
  std::vector<bool> lengthened(old_size, false);
  std::vector<uint32_t> place(old_size + 1);  // new position of each old one
  for (bool changed = true; changed;) {
    uint32_t next = 0;
    for (size_t i = 0; i < old_size; ++i) {
      place[i] = next;
      next += lengthened[i] ? 3 : 1;
    }
    place[old_size] = next;
    changed = false;
    for (const Fixup& fixup : fixups_) {
      if (lengthened[fixup.instruction] || hasFarTarget(function_.code[fixup.instruction].op)) continue;
      const int64_t offset = static_cast<int64_t>(place[labels_[fixup.target.id]]) - place[fixup.instruction] - 1;
      if (!fitsShort(offset)) lengthened[fixup.instruction] = changed = true;
    }
  }
  if (place[old_size] != old_size) {
    std::vector<Instruction> code;
    std::vector<Span> spans;
    for (size_t i = 0; i < old_size; ++i) {
      code.push_back(function_.code[i]);
      if (lengthened[i]) {
        code.back().c = 1;
        code.push_back(Instruction::wide(Opcode::Jump, 0, 1));
        code.push_back({Opcode::Jump});
      }
      spans.resize(code.size(), function_.spans[i]);
    }
    function_.code = std::move(code);
    function_.spans = std::move(spans);
    for (Fixup& fixup : fixups_) {
      const bool longer = lengthened[fixup.instruction];
      fixup.instruction = place[fixup.instruction] + (longer ? 2 : 0);
    }
    for (uint32_t& label : labels_) {
      if (label != kUnbound) label = place[label];
    }
  }
}

CodeFunction CodeBuilder::finish(SlotKind result) && {
  for (const Fixup& fixup : fixups_) BOXCAR_INTERNAL_ASSERT(labels_[fixup.target.id] != kUnbound);
  BOXCAR_CHECK(function_.code.size() < std::numeric_limits<int32_t>::max() / 4, "{}: {} is too long",
               function_.source->name(), function_.name);
  lengthenJumps();
  for (const Fixup& fixup : fixups_) {
    Instruction& jump = function_.code[fixup.instruction];
    const auto offset = static_cast<int32_t>(labels_[fixup.target.id]) - static_cast<int32_t>(fixup.instruction) - 1;
    if (hasFarTarget(jump.op)) {
      jump = Instruction::wide(jump.op, jump.a, offset);
    } else {
      jump.c = static_cast<uint16_t>(offset);
    }
  }
  function_.result = result;
  return std::move(function_);
}

}  // namespace boxcar::interp
