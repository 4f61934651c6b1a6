#include <boxcar/interpreter/bytecode/opcodes.h>
#include <boxcar/interpreter/session/session_names.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace boxcar::interp {
namespace {

// Returns the names that [unit] exports to importers.
std::vector<std::string> namesIn(const CodeUnit& unit) {
  std::vector<std::string> names;
  for (const CodeExport& exported : unit.exports) {
    if (!isMethod(exported)) names.push_back(exported.schema.name());
  }
  for (const CodeStruct& each : unit.structs) {
    if (each.origin == CodeStruct::Origin::Declared) names.emplace_back(each.type->text());
  }
  for (const CodeHandler& handler : unit.handlers) {
    if (handler.kind == HandlerKind::Mode) names.push_back(handler.name);
  }
  return names;
}

bool isSamePlace(const CodeHandler& a, const CodeHandler& b) {
  return a.kind == b.kind && a.key == b.key && a.op == b.op;
}

// Returns what in [unit], besides its statements, was compiled for the operator's current schema: "fn f"; empty if
// nothing was.
std::string userOf(const CodeUnit& unit, const OperatorName& name) {
  for (const CodeHandler& handler : unit.handlers) {
    if (handler.kind == HandlerKind::Impl && handler.op == name) return unit.functions[handler.function].name;
  }
  for (size_t i = 1; i < unit.functions.size(); ++i) {
    const CodeFunction& function = unit.functions[i];
    // An operator that calls itself is replaced anyway.
    if (function.name == fmt::format("op {}", name)) continue;
    for (const Instruction& instruction : function.code) {
      const bool calls =
          instruction.op == Opcode::CallOperator
              ? unit.operator_sites[instruction.index()].name == name
              : instruction.op == Opcode::CallDynamic && unit.dynamic_sites[instruction.index()].name == name.name;
      if (calls) return function.name;
    }
  }
  return {};
}

// Whether the byte belongs to a name; bytes past ASCII count as letters.
bool isWordByte(char byte) {
  const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return is_letter || (byte >= '0' && byte <= '9') || byte == '_' || static_cast<unsigned char>(byte) >= 0x80;
}

}  // namespace

std::set<std::string> wordsOf(std::string_view text) {
  std::set<std::string> words;
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if(begin, text.end(), isWordByte);
    const auto end = std::find_if_not(begin, text.end(), isWordByte);
    if (begin != end) words.emplace(begin, end);
    begin = end;
  }
  return words;
}

std::vector<std::string> SessionNames::add(const std::shared_ptr<LoadedScript>& script, size_t earlier) {
  std::vector<std::string> added;
  const auto addNames = [&](const std::shared_ptr<LoadedScript>& owner) {
    for (std::string& name : namesIn(owner->executable().unit())) {
      scripts_[name] = owner;
      aliases_.erase(name);
      added.push_back(std::move(name));
    }
  };
  const CodeUnit& unit = script->executable().unit();
  std::erase_if(loaded_, [](const auto& each) { return each.expired(); });
  for (size_t i = earlier; i < script->modules().size(); ++i) {
    if (script->modules()[i] == nullptr) continue;
    if (const std::string& alias = unit.modules[i].alias; !alias.empty()) {
      scripts_[alias] = script->modules()[i];
      aliases_.insert(alias);
      added.push_back(alias);
    } else {
      addNames(script->modules()[i]);
    }
    addLoaded(script->modules()[i]);
  }
  addNames(script);
  keepLoaded(script);
  for (const CodeOperator& op : unit.operators) operators_[toString(op.schema.operator_name())] = script;
  // Operators of imported files live as long as the session's import has any known name.
  const bool registers =
      std::ranges::any_of(unit.handlers, [](const CodeHandler& handler) { return handler.kind != HandlerKind::Mode; });
  if (registers || script->modules().size() > earlier) registered_.push_back(script);
  return added;
}

void SessionNames::keepLoaded(const std::shared_ptr<LoadedScript>& script) {
  script->setOwnLimits(limits_);
  loaded_.push_back(script);
}

void SessionNames::setLimits(const RunLimits& limits) noexcept {
  limits_ = limits;
  for (const std::weak_ptr<LoadedScript>& each : loaded_) {
    if (const std::shared_ptr<LoadedScript> script = each.lock()) script->setOwnLimits(limits);
  }
}

// The imports of a file are also called through it.
void SessionNames::addLoaded(const std::shared_ptr<LoadedScript>& script) {
  const auto isIt = [&script](const auto& each) { return each.lock() == script; };
  if (std::ranges::any_of(loaded_, isIt)) return;
  keepLoaded(script);
  for (const std::shared_ptr<LoadedScript>& module : script->modules()) {
    if (module != nullptr) addLoaded(module);
  }
}

std::vector<std::shared_ptr<LoadedScript>> SessionNames::modulesFor(const std::set<std::string>& words,
                                                                    std::vector<EarlierInputs::Module>& told) const {
  std::vector<std::shared_ptr<LoadedScript>> modules;
  for (const std::string& name : words) {
    const std::shared_ptr<LoadedScript> script = scriptOf(name);
    if (script == nullptr) continue;
    const auto found = std::ranges::find(modules, script);
    const auto index = static_cast<size_t>(found - modules.begin());
    if (found == modules.end()) {
      modules.push_back(script);
      told.push_back({&script->executable().unit(), {}, {}});
    }
    (aliases_.contains(name) ? told[index].aliases : told[index].names).push_back(name);
  }
  return modules;
}

std::shared_ptr<LoadedScript> SessionNames::scriptOf(const std::string& name) const {
  const auto found = scripts_.find(name);
  return found == scripts_.end() ? nullptr : found->second;
}

std::vector<FunctionSchema> SessionNames::functions() const {
  std::vector<FunctionSchema> schemas;
  for (const auto& [name, script] : scripts_) {
    for (const CodeExport& exported : script->executable().unit().exports) {
      if (!isMethod(exported) && exported.schema.name() == name) schemas.push_back(exported.schema);
    }
  }
  return schemas;
}

std::vector<std::string> SessionNames::modes() const {
  std::vector<std::string> names;
  for (const auto& [name, script] : scripts_) {
    const auto& handlers = script->executable().unit().handlers;
    const auto isIt = [&name](const CodeHandler& handler) {
      return handler.kind == HandlerKind::Mode && handler.name == name;
    };
    if (std::ranges::any_of(handlers, isIt)) names.push_back(name);
  }
  return names;
}

const CodeUnit* SessionNames::codeOf(std::string_view function, size_t& index) const {
  const auto found = scripts_.find(std::string(function));
  if (found == scripts_.end()) return nullptr;
  const CodeUnit& unit = found->second->executable().unit();
  for (const CodeExport& exported : unit.exports) {
    if (exportedName(exported) != function) continue;
    index = exported.function;
    return &unit;
  }
  return nullptr;
}

const CodeUnit* SessionNames::codeOf(const OperatorName& op, Span& place) const {
  for (const std::weak_ptr<LoadedScript>& each : loaded_) {
    const std::shared_ptr<LoadedScript> script = each.lock();
    if (script == nullptr) continue;
    const CodeUnit& unit = script->executable().unit();
    for (const CodeOperator& declared : unit.operators) {
      if (declared.schema.operator_name() != op) continue;
      place = declared.span;
      return &unit;  // the owner of the operator keeps its script alive
    }
  }
  return nullptr;
}

std::string SessionNames::faultOf(const FunctionSchema& schema) const {
  const OperatorName& name = schema.operator_name();
  const auto& operators = operators_.at(toString(name))->executable().unit().operators;
  const auto former =
      std::ranges::find_if(operators, [&name](const CodeOperator& op) { return op.schema.operator_name() == name; });
  if (toString(former->schema) == toString(schema)) return {};
  for (const std::weak_ptr<LoadedScript>& each : loaded_) {
    const std::shared_ptr<LoadedScript> script = each.lock();
    if (script == nullptr) continue;
    const CodeUnit& unit = script->executable().unit();
    if (const std::string user = userOf(unit, name); !user.empty()) {
      return fmt::format(
          "`{}` keeps its schema, {}, as {} of {} was compiled for it; give this one another name or overload", name,
          former->schema, user, unit.source->name());
    }
  }
  return {};
}

void SessionNames::withdraw(const OperatorName& name) {
  const auto found = operators_.find(toString(name));
  if (found != operators_.end()) found->second->withdrawOperator(name);
}

void SessionNames::restore(const OperatorName& name) {
  const auto found = operators_.find(toString(name));
  if (found != operators_.end()) found->second->restoreOperator(name);
}

void SessionNames::replaceHandler(const CodeHandler& handler) {
  for (const std::shared_ptr<LoadedScript>& script : registered_) {
    const std::vector<CodeHandler>& handlers = script->executable().unit().handlers;
    // A function may register it in a later input; its script replaces its own handlers.
    if (std::ranges::any_of(handlers, [&handler](const CodeHandler& each) { return &each == &handler; })) continue;
    for (uint32_t i = 0; i < handlers.size(); ++i) {
      if (!isSamePlace(handlers[i], handler)) continue;
      Registrations& registrations = script->registrations();
      const std::lock_guard lock(registrations.mutex);
      registrations.by_handler.erase(i);
    }
  }
}

}  // namespace boxcar::interp
