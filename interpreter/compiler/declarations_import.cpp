// What a script imports from other files: functions, operators and modes.

#include <boxcar/interpreter/compiler/declarations.h>

#include <fmt/format.h>

#include <algorithm>

namespace boxcar::interp {

void Declarations::loadImports(const syntax::SyntaxTree& tree, ModuleLoader* loader, Diagnostics& diagnostics) {
  for (const syntax::StmtPtr& statement : tree.statements) {
    const auto* import = boost::variant2::get_if<syntax::Import>(&statement->node);
    if (import == nullptr) continue;
    if (loader == nullptr) {
      diagnostics.error(source_, statement->span, "nothing can be imported here");
      continue;
    }
    const size_t errors_before = diagnostics.error_count();
    loaded_[import] = loader->load(source_, import->path, import->path_span, diagnostics);
    lacks_module_ = lacks_module_ || diagnostics.error_count() != errors_before;
  }
}

void Declarations::add(const syntax::Stmt& statement, const syntax::Import& import, Diagnostics& diagnostics) {
  const auto loaded = loaded_.find(&import);
  if (loaded == loaded_.end()) return;
  const CodeUnit* const unit = loaded->second;
  const bool is_own = static_cast<bool>(import.alias);
  const auto known = is_own ? units_.end() : findShared(unit);
  if (unit != nullptr && known != units_.end()) {
    modules_by_statement_.emplace(&import, static_cast<uint32_t>(known - units_.begin()));
    return;
  }
  const auto index = static_cast<uint32_t>(modules_.size());
  modules_.push_back({import.path, import.path_span, std::string(import.alias.text)});
  units_.push_back(unit);
  if (unit == nullptr) return;
  modules_by_statement_.emplace(&import, index);
  if (is_own) {
    addAliasOf(index, import, statement.span.end, diagnostics);
  } else {
    addNamesOf(index, import, statement.span.end, diagnostics);
  }
}

std::vector<const CodeUnit*>::const_iterator Declarations::findShared(const CodeUnit* unit) const {
  for (auto it = units_.begin(); it != units_.end(); ++it) {
    if (*it == unit && modules_[static_cast<size_t>(it - units_.begin())].alias.empty()) return it;
  }
  return units_.end();
}

void Declarations::addAliasOf(uint32_t index, const syntax::Import& import, uint32_t visible_from,
                              Diagnostics& diagnostics) {
  const CodeUnit& unit = *units_[index];
  if (!unit.operators.empty() || !unit.handlers.empty()) {
    const bool has_operators = !unit.operators.empty();
    diagnostics
        .error(source_, import.path_span,
               fmt::format("{} defines {}, of which the process has one only: import it without `as`", import.path,
                           has_operators ? "operators" : "handlers"))
        .note("the first of them", unit.source, has_operators ? unit.operators[0].span : unit.handlers[0].span);
    return;
  }
  const std::string_view alias = import.alias.text;
  if (!claimName(alias, source_, import.alias.span, source_, import.alias.span, diagnostics)) return;
  addFunctionsOf(index, alias, import.path_span, visible_from);
}

void Declarations::addFunctionsOf(uint32_t index, std::string_view alias, Span span, uint32_t visible_from) {
  const CodeUnit& unit = *units_[index];
  Alias& added = aliases_[alias];
  added.visible_from = visible_from;
  for (const CodeStruct& each : unit.structs) {
    if (each.origin != CodeStruct::Origin::Declared) continue;
    names_of_aliases_.push_back(fmt::format("{}.{}", alias, each.type->text()));
    addStructOf(index, each, names_of_aliases_.back(), span, visible_from);
  }
  for (const CodeExport& exported : unit.exports) {
    if (isMethod(exported)) continue;
    ScriptFunction& function = addImport(index, unit, exported, span, visible_from);
    function.has_alias = true;
    added.functions.push_back(exported.schema.name());
    names_of_aliases_.push_back(fmt::format("{}.{}", alias, exported.schema.name()));
    functions_by_name_.emplace(names_of_aliases_.back(), &function);
  }
}

const std::vector<std::string_view>* Declarations::functionsOfAlias(std::string_view alias, uint32_t position) const {
  const auto found = aliases_.find(alias);
  return found != aliases_.end() && found->second.visible_from <= position ? &found->second.functions : nullptr;
}

void Declarations::addNamesOf(uint32_t index, const syntax::Import& import, uint32_t visible_from,
                              Diagnostics& diagnostics) {
  const CodeUnit& unit = *units_[index];
  addOperatorsOf(index, import, visible_from, diagnostics);
  for (const CodeStruct& each : unit.structs) {
    if (each.origin != CodeStruct::Origin::Declared) continue;
    const std::string_view name = each.type->text();
    if (!claimName(name, unit.source, each.span, source_, import.path_span, diagnostics)) continue;
    addStructOf(index, each, name, import.path_span, visible_from);
  }
  for (const CodeExport& exported : unit.exports) {
    if (isMethod(exported)) continue;
    const std::string_view name = exported.schema.name();
    if (!claimName(name, unit.source, exported.span, source_, import.path_span, diagnostics)) continue;
    functions_by_name_.emplace(name, &addImport(index, unit, exported, import.path_span, visible_from));
  }
  for (const CodeHandler& handler : unit.handlers) {
    if (handler.kind != HandlerKind::Mode) continue;
    if (!claimName(handler.name, unit.source, handler.span, source_, import.path_span, diagnostics)) continue;
    modes_.push_back(
        {handler.name, import.path_span, {CodeScopeKind::ImportedMode, index, handler.name, {}}, visible_from});
  }
}

ScriptFunction& Declarations::addImport(uint32_t index, const CodeUnit& unit, const CodeExport& exported, Span span,
                                        uint32_t visible_from) {
  const CodeFunction& function = unit.functions[exported.function];
  imports_.push_back({index,
                      exportedName(exported),
                      {function.slots.begin(), function.slots.begin() + function.argument_count},
                      function.result});
  functions_.push_back(std::make_unique<ScriptFunction>(
      ScriptFunction{BodyKind::Function, exported.schema, function.name, span, span, nullptr, 0, visible_from,
                     static_cast<uint32_t>(imports_.size() - 1)}));
  return *functions_.back();
}

void Declarations::addModulesOf(const EarlierInputs& earlier) {
  for (const EarlierInputs::Module& module : earlier.modules) {
    modules_.push_back({module.unit->source->name(), {}, {}});
    units_.push_back(module.unit);
  }
  for (const std::string& space : earlier.uses) uses_.push_back({space, {}, true});
}

void Declarations::addNamesOf(const EarlierInputs& earlier) {
  const auto isFree = [this](std::string_view name) { return mentions(name) && !names_.contains(name); };
  for (uint32_t index = 0; index < earlier.modules.size(); ++index) {
    const auto& [unit, names, aliases] = earlier.modules[index];
    for (const std::string& alias : aliases) {
      if (isFree(alias)) addFunctionsOf(index, alias, {}, 0);
    }
    const auto isMeant = [&](std::string_view name) {
      return std::ranges::find(names, name) != names.end() && isFree(name);
    };
    for (const CodeStruct& each : unit->structs) {
      const std::string_view name = each.type->text();
      const bool is_declared = each.origin == CodeStruct::Origin::Declared;
      if (is_declared && isMeant(name)) addStructOf(index, each, name, {}, 0);
    }
    for (const CodeExport& exported : unit->exports) {
      const std::string_view name = exported.schema.name();
      if (!isMethod(exported) && isMeant(name))
        functions_by_name_.emplace(name, &addImport(index, *unit, exported, {}, 0));
    }
    for (const CodeHandler& handler : unit->handlers) {
      if (handler.kind != HandlerKind::Mode || !isMeant(handler.name)) continue;
      modes_.push_back({handler.name, {}, {CodeScopeKind::ImportedMode, index, handler.name, {}}, 0});
    }
  }
  for (const EarlierInputs::Constant& constant : earlier.constants) {
    if (!isFree(constant.name)) continue;
    constants_by_name_.emplace(constant.name, constants_.size());
    constants_.push_back({constant.name, {}, static_cast<uint32_t>(constants_.size()), constant.type, true});
  }
}

void Declarations::addOperatorsOf(uint32_t index, const syntax::Import& import, uint32_t visible_from,
                                  Diagnostics& diagnostics) {
  const CodeUnit& unit = *units_[index];
  for (const CodeOperator& op : unit.operators) {
    std::vector<ImportedOperator>& overloads = imported_operators_[op.schema.name()];
    const auto other = std::ranges::find_if(overloads, [&op](const ImportedOperator& imported) {
      return imported.op->schema.operator_name() == op.schema.operator_name();
    });
    if (other == overloads.end()) {
      overloads.push_back({&op, &unit, visible_from});
      continue;
    }
    diagnostics.error(source_, import.path_span, fmt::format("`{}` is defined twice", op.schema.operator_name()))
        .note("the first definition", other->unit->source, other->op->span)
        .note("the second definition", unit.source, op.span);
  }
}

void Declarations::compareWithImports(Diagnostics& diagnostics) const {
  for (const auto& function : functions_) {
    if (function->kind != BodyKind::Operator) continue;
    const auto imported = imported_operators_.find(function->schema.name());
    if (imported == imported_operators_.end()) continue;
    for (const ImportedOperator& other : imported->second) {
      if (!(other.op->schema.operator_name() == function->schema.operator_name())) continue;
      diagnostics
          .error(source_, function->name_span, fmt::format("`{}` is defined twice", function->schema.operator_name()))
          .note("the first definition", other.unit->source, other.op->span);
    }
  }
}

std::optional<uint32_t> Declarations::moduleOf(const syntax::Import* statement) const {
  const auto found = modules_by_statement_.find(statement);
  if (found == modules_by_statement_.end()) return std::nullopt;
  return found->second;
}

uint32_t Declarations::importOfStatements(uint32_t module) {
  const CodeFunction& statements = units_[module]->functions[0];
  imports_.push_back({module,
                      kScriptName,
                      {statements.slots.begin(), statements.slots.begin() + statements.argument_count},
                      statements.result});
  return static_cast<uint32_t>(imports_.size() - 1);
}

}  // namespace boxcar::interp
