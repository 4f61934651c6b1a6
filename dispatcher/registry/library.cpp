#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/words.h>

#include <algorithm>

namespace boxcar {
namespace {

const char* macroOf(Library::Kind kind) {
  switch (kind) {
    case Library::DEF: return "BOXCAR_LIBRARY";
    case Library::FRAGMENT: return "BOXCAR_LIBRARY_FRAGMENT";
    case Library::IMPL: return "BOXCAR_LIBRARY_IMPL";
  }
  return "";
}

Library::Kind kindOf(detail::LibraryKind kind) {
  switch (kind) {
    case detail::LibraryKind::Definition: return Library::DEF;
    case detail::LibraryKind::Fragment: return Library::FRAGMENT;
    case detail::LibraryKind::Implementation: break;
  }
  return Library::IMPL;
}

}  // namespace

Library::Library(const detail::LibraryBlock& block)
    : Library(kindOf(block.kind), block.ns, block.key, block.file, block.line) {
  is_block_ = true;
  allowed_operators_ = block.allowed_operators;
}

void Library::moveTo(const std::source_location& where) noexcept {
  if (is_block_) site_ = {where.file_name(), where.line()};
}

Library::Library(Kind kind, std::string ns, std::optional<DispatchKey> key, const char* file, uint32_t line)
    : kind_(kind), ns_(std::move(ns)), key_(key == DispatchKey::CatchAll ? std::nullopt : key), site_{file, line} {
  BOXCAR_CHECK(kind_ == IMPL || !key_.has_value(),
               "{}({}, m) at {} cannot have the dispatch key {}: definitions are "
               "for all keys; use BOXCAR_LIBRARY_IMPL for kernels",
               macroOf(kind_), ns_, site_, *key_);
  BOXCAR_CHECK(kind_ == IMPL || ns_ != "_",
               "{}(_, m) at {} has no namespace: operators must have one; `_` is for "
               "fallbacks in BOXCAR_LIBRARY_IMPL(_, KEY, m)",
               macroOf(kind_), site_);
  BOXCAR_CHECK(detail::isName(ns_),
               "{}({}, m) at {} has no namespace that operators can have: it is letters, digits and _, and does not "
               "begin with a digit",
               macroOf(kind_), ns_, site_);
  if (kind_ == DEF) handles_.push_back(Dispatcher::singleton().registerLibrary(ns_, site_));
}

void Library::checkNamespace(const OperatorName& name) const {
  const auto ns = name.getNamespace();
  BOXCAR_CHECK(ns == ns_,
               "operator {} cannot be registered in {}({}, …) at {}: the namespaces differ. Leave the operator's "
               "out, or use a block for namespace {}",
               name, macroOf(kind_), ns_, site_, ns.value_or("_"));
}

OperatorName Library::nameInLibrary(std::string_view text) const {
  // Thousands of kernels are registered at start, nearly all as `name` or `name.overload`. The parser reads the others,
  // and has the errors of those that are no names.
  const size_t dot = std::min(text.find('.'), text.size());
  const std::string_view base = text.substr(0, dot);
  const std::string_view overload = text.substr(std::min(dot + 1, text.size()));
  if (detail::isName(base) && (dot == text.size() || (detail::isName(overload) && overload != "default"))) {
    std::string full_name;
    full_name.reserve(ns_.size() + 2 + base.size());
    full_name.append(ns_).append("::").append(base);
    return {std::move(full_name), std::string(overload)};
  }
  OperatorName name = parseName(text);
  name.setNamespaceIfNotSet(ns_);
  checkNamespace(name);
  return name;
}

FunctionSchema Library::schemaInLibrary(FunctionSchema schema) const {
  BOXCAR_CHECK(kind_ != IMPL,
               "operator {} cannot be defined in BOXCAR_LIBRARY_IMPL({}, …) at {}: define it in "
               "BOXCAR_LIBRARY or BOXCAR_LIBRARY_FRAGMENT",
               schema.operator_name(), ns_, site_);
  schema.setNamespaceIfNotSet(ns_);
  checkNamespace(schema.operator_name());
  return schema;
}

FunctionSchema schema(std::string_view text, AliasAnalysisKind kind) {
  FunctionSchema parsed = parseSchema(text);
  parsed.setAliasAnalysis(kind);
  return parsed;
}

bool Library::isAllowed(const OperatorName& name) const {
  if (allowed_operators_ == nullptr) return true;
  const std::string wanted = toString(name);
  std::string_view rest = allowed_operators_;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(';'), rest.size());
    if (rest.substr(0, end) == wanted) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

Library& Library::def(std::string_view schema_text, std::vector<Tag> tags, std::source_location where) & {
  moveTo(where);
  return def(schema(schema_text), std::move(tags), where);
}

Library& Library::def(FunctionSchema schema, std::vector<Tag> tags, std::source_location where) & {
  moveTo(where);
  schema = schemaInLibrary(std::move(schema));
  if (!isAllowed(schema.operator_name())) return *this;
  handles_.push_back(Dispatcher::singleton().registerDef(std::move(schema), site_, std::move(tags)));
  return *this;
}

Library& Library::def(std::span<const detail::SchemaText> texts) & {
  // During the loop, errors name the site of the text; after it, registrations use the previous site again.
  const RegistrationSite before = site_;
  for (const detail::SchemaText& text : texts) {
    site_ = text.site;
    if (allowed_operators_ != nullptr && !isAllowed({text.name, text.overload_name})) continue;
    handles_.push_back(Dispatcher::singleton().registerDef(text));
  }
  site_ = before;
  return *this;
}

Library& Library::def(std::string_view schema_or_name, CppFunction function, std::vector<Tag> tags,
                      std::source_location where) & {
  moveTo(where);
  auto parsed = parseSchemaOrName(schema_or_name);
  if (const auto* name = std::get_if<OperatorName>(&parsed)) {
    const CppSignature* signature = function.kernel().signature();
    BOXCAR_CHECK(signature != nullptr,
                 "operator {} at {} is defined by its name alone, but its kernel is a boxed function, "
                 "whose type says nothing of arguments and returns: write the schema",
                 *name, site_);
    parsed = signature->schema().cloneWithName(name->name, name->overload_name);
  } else {
    std::get<FunctionSchema>(parsed).setAliasAnalysis(AliasAnalysisKind::FROM_SCHEMA);
  }
  defineAndImplement(std::get<FunctionSchema>(std::move(parsed)), function, std::move(tags));
  return *this;
}

Library& Library::def(FunctionSchema schema, CppFunction function, std::vector<Tag> tags,
                      std::source_location where) & {
  moveTo(where);
  defineAndImplement(std::move(schema), function, std::move(tags));
  return *this;
}

void Library::defineAndImplement(FunctionSchema schema, const CppFunction& function, std::vector<Tag> tags) {
  schema = schemaInLibrary(std::move(schema));
  const OperatorName name = schema.operator_name();
  if (!isAllowed(name)) return;
  RegistrationHandleRAII definition = Dispatcher::singleton().registerDef(std::move(schema), site_, std::move(tags));
  handles_.push_back(Dispatcher::singleton().registerImpl(name, function.dispatch_key(), function.kernel(), site_));
  handles_.push_back(std::move(definition));
}

Library& Library::impl(std::string_view name, CppFunction function, std::source_location where) & {
  moveTo(where);
  const std::optional<DispatchKey> key = function.dispatch_key().has_value() ? function.dispatch_key() : key_;
  BOXCAR_CHECK(ns_ != "_",
               "a kernel of '{}' cannot be registered for namespace _ at {}: `_` is for fallbacks, which serve every "
               "operator; use the operator's namespace",
               name, site_);
  OperatorName full_name = nameInLibrary(name);
  if (!isAllowed(full_name)) return *this;
  // Blocks have up to hundreds of kernels, so room grows in large steps, which move few handles.
  if (handles_.size() == handles_.capacity()) handles_.reserve(4 * handles_.size() + 16);
  handles_.push_back(Dispatcher::singleton().registerImpl(std::move(full_name), key, function.kernel(), site_));
  return *this;
}

Library& Library::impl(std::string_view name, const detail::StatelessKernel& kernel, std::source_location where) & {
  return impl(name, CppFunction(KernelFunction(kernel)), where);
}

Library& Library::fallback(CppFunction function, std::source_location where) & {
  moveTo(where);
  BOXCAR_CHECK(kind_ == IMPL, "a fallback cannot be registered in {}({}, m) at {}: use BOXCAR_LIBRARY_IMPL(_, KEY, m)",
               macroOf(kind_), ns_, site_);
  BOXCAR_CHECK(ns_ == "_",
               "a fallback serves every operator, so it cannot be registered for namespace {} at {}: use "
               "BOXCAR_LIBRARY_IMPL(_, KEY, m)",
               ns_, site_);
  const std::optional<DispatchKey> key = function.dispatch_key().has_value() ? function.dispatch_key() : key_;
  BOXCAR_CHECK(key.has_value(), "a fallback needs a dispatch key: use BOXCAR_LIBRARY_IMPL(_, KEY, m) at {}", site_);
  handles_.push_back(Dispatcher::singleton().registerFallback(*key, function.kernel(), site_));
  return *this;
}

}  // namespace boxcar
