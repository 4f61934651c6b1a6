#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/call/script_view.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/bytecode/verifier.h>
#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

namespace boxcar::interp {
namespace {

// A slot starts as 0, 0.0, False or None: its first word is zero, the second is the tag.
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
    : unit_(std::move(unit)), globals_(std::make_unique<GlobalValue[]>(unit_.globals.size())) {
  const std::vector<FunctionBounds> bounds = verify(unit_);
  folder_ = std::filesystem::path(unit_.source->name()).parent_path();
  is_in_library_ = unit_.source->name().starts_with(kLibraryFolder);
  size_t slot_count = 0;
  for (const CodeFunction& function : unit_.functions) slot_count += function.slots.size();
  // Functions point into these, so they must not be reallocated.
  values_.reserve(slot_count);
  tags_.reserve(slot_count);
  for (size_t i = 0; i < unit_.functions.size(); ++i) {
    const CodeFunction& source = unit_.functions[i];
    ExecutableFunction function{};
    function.program = this;
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

// Code that is loaded next may get the same address.
Executable::~Executable() { detail::script_code_generation.fetch_add(1, std::memory_order_relaxed); }

void Executable::link(std::vector<std::shared_ptr<Executable>> modules) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  const std::string& name = unit_.source->name();
  sites_.clear();
  for (const OperatorSite& site : unit_.operator_sites) {
    const OperatorHandle op = dispatcher.findSchemaOrThrow(site.name.name.c_str(), site.name.overload_name.c_str());
    BOXCAR_CHECK(op.schema().arguments().size() == site.arguments && op.schema().returns().size() == site.results,
                 "{}: the script was compiled for {} arguments and {} results, but the operator is {}", name,
                 site.arguments, site.results, op.schema());
    sites_.push_back({op, site.arguments, site.results, factoryDevice(op.schema()).has_value()});
  }
  dynamic_sites_.clear();
  for (const DynamicSite& site : unit_.dynamic_sites) {
    LinkedDynamicSite& linked = dynamic_sites_.emplace_back(LinkedDynamicSite{&site, {}});
    for (const OperatorHandle& op : dispatcher.findOverloads(site.name)) {
      if (!site.overload || op.operator_name().overload_name == *site.overload) linked.candidates.push_back(op);
    }
    BOXCAR_CHECK(!linked.candidates.empty(), "{}: the operator {} is not defined", name, site.name);
  }
  BOXCAR_CHECK(modules.size() == unit_.modules.size(), "{}: it imports {} files, but {} are there", name,
               unit_.modules.size(), modules.size());
  modules_ = std::move(modules);
  imports_.clear();
  for (const CodeImport& import : unit_.imports) imports_.push_back(findImport(import));
  for (const CodeStruct& each : unit_.structs) {
    if (each.origin == CodeStruct::Origin::Imported) checkStruct(each);
  }
  for (const CodeScope& scope : unit_.scopes) {
    if (scope.kind != CodeScopeKind::ImportedMode) continue;
    BOXCAR_CHECK(modules_[scope.index] != nullptr, "{}: {} is a plugin, which has no modes", name,
                 unit_.modules[scope.index].path);
    modules_[scope.index]->modeNamed(scope.name);
  }
}

void Executable::checkStruct(const CodeStruct& imported) const {
  const Executable* const module = modules_[imported.module].get();
  const auto isIt = [&imported](const CodeStruct& each) {
    return each.origin == CodeStruct::Origin::Declared && each.type == imported.type;
  };
  const bool is_there = module != nullptr && std::ranges::any_of(module->unit().structs, isIt);
  BOXCAR_CHECK(is_there, "{}: the script was compiled for another struct {} of {}; compile it again",
               unit_.source->name(), *imported.type, unit_.modules[imported.module].path);
}

const ExecutableFunction* Executable::findImport(const CodeImport& import) const {
  const std::string& name = unit_.source->name();
  const Executable* module = modules_[import.module].get();
  const std::string& path = unit_.modules[import.module].path;
  BOXCAR_CHECK(module != nullptr, "{}: {} is a plugin, which has no function {}", name, path, import.name);
  std::optional<uint32_t> index;
  if (import.name == kScriptName) index = 0;
  for (const CodeExport& exported : module->unit().exports) {
    if (exportedName(exported) == import.name) index = exported.function;
  }
  BOXCAR_CHECK(index.has_value(), "{}: {} has no function {}", name, path, import.name);
  const CodeFunction& function = module->unit().functions[*index];
  const auto arguments = std::span(function.slots).first(function.argument_count);
  BOXCAR_CHECK(std::ranges::equal(arguments, import.arguments) && function.result == import.result,
               "{}: the script was compiled for another function {} of {}; compile it again", name, import.name, path);
  return &module->function(*index);
}

uint32_t Executable::modeNamed(std::string_view name) const {
  for (size_t i = 0; i < unit_.handlers.size(); ++i) {
    if (unit_.handlers[i].kind == HandlerKind::Mode && unit_.handlers[i].name == name) return static_cast<uint32_t>(i);
  }
  BOXCAR_FAIL("{} has no mode {}", unit_.source->name(), name);
}

}  // namespace boxcar::interp
