#include <boxcar/dispatcher/registry/register_operators.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>

#include <iterator>
#include <variant>

namespace boxcar {

using Options = RegisterOperators::Options;

Options&& Options::schema(std::string_view schema_or_name) && {
  BOXCAR_CHECK(schema_or_name_.empty(),
               "the options of an operator have two schemas, '{}' and '{}': give one, in op() or in options()",
               schema_or_name_, schema_or_name);
  schema_or_name_ = schema_or_name;
  return std::move(*this);
}

Options&& Options::aliasAnalysis(AliasAnalysisKind kind) && {
  BOXCAR_CHECK(!alias_analysis_.has_value(),
               "the options of an operator have two kinds of alias analysis, {} and {}: give one", *alias_analysis_,
               kind);
  alias_analysis_ = kind;
  return std::move(*this);
}

Options&& Options::add(std::optional<DispatchKey> key, CppFunction kernel) && {
  kernels_.push_back({key, kernel.kernel()});
  return std::move(*this);
}

FunctionSchema Options::schemaOf(const RegistrationSite& site) const {
  BOXCAR_CHECK(!schema_or_name_.empty(),
               "an operator at {} has neither a schema nor a name: give op() one, or options() by schema()", site);
  auto parsed = parseSchemaOrName(schema_or_name_);
  const auto* name = std::get_if<OperatorName>(&parsed);
  FunctionSchema schema = [&] {
    if (name == nullptr) return std::get<FunctionSchema>(std::move(parsed));
    BOXCAR_CHECK(!kernels_.empty(),
                 "operator {} at {} is defined by its name alone, and has no kernel: write the schema", *name, site);
    for (const KernelForKey& each : kernels_) {
      if (const CppSignature* signature = each.kernel.signature()) {
        return signature->schema().cloneWithName(name->name, name->overload_name);
      }
    }
    BOXCAR_FAIL(
        "operator {} at {} is defined by its name alone, but its kernels are boxed functions, whose type says nothing "
        "of arguments and returns: write the schema",
        *name, site);
  }();
  BOXCAR_CHECK(schema.operator_name().getNamespace().has_value(),
               "operator {} at {} has no namespace: its name is 'namespace::name'", schema.operator_name(), site);
  if (!alias_analysis_.has_value()) return schema;
  BOXCAR_CHECK(
      name == nullptr || *alias_analysis_ != AliasAnalysisKind::FROM_SCHEMA,
      "operator {} at {} is defined by its name alone, so FROM_SCHEMA finds no aliases in its schema: write the schema",
      schema.operator_name(), site);
  schema.setAliasAnalysis(*alias_analysis_);
  return schema;
}

void Options::checkKernels(const OperatorName& name, const RegistrationSite& site) const {
  for (auto each = kernels_.begin(); each != kernels_.end(); ++each) {
    for (auto other = std::next(each); other != kernels_.end(); ++other) {
      if (each->key != other->key) continue;
      BOXCAR_CHECK(each->key.has_value(), "operator {} at {} is given two kernels for all keys: keep one", name, site);
      BOXCAR_FAIL("operator {} at {} is given two kernels for {}: keep one", name, site, *each->key);
    }
  }
}

RegisterOperators::RegisterOperators(std::string_view schema_or_name, Options options,
                                     const std::source_location& where) {
  op(schema_or_name, std::move(options), where);
}

RegisterOperators& RegisterOperators::op(Options options, const std::source_location& where) & {
  const RegistrationSite site{where.file_name(), where.line()};
  FunctionSchema schema = options.schemaOf(site);
  const OperatorName name = schema.operator_name();
  options.checkKernels(name, site);
  std::vector<RegistrationHandleRAII> registered;
  registered.reserve(options.kernels_.size() + 1);
  registered.push_back(Dispatcher::singleton().registerDef(std::move(schema), site));
  for (Options::KernelForKey& each : options.kernels_) {
    registered.push_back(Dispatcher::singleton().registerImpl(name, each.key, std::move(each.kernel), site));
  }
  handles_.insert(handles_.end(), std::move_iterator(registered.begin()), std::move_iterator(registered.end()));
  return *this;
}

RegisterOperators&& RegisterOperators::op(Options options, const std::source_location& where) && {
  return std::move(op(std::move(options), where));
}

RegisterOperators& RegisterOperators::op(std::string_view schema_or_name, Options options,
                                         const std::source_location& where) & {
  return op(std::move(options).schema(schema_or_name), where);
}

RegisterOperators&& RegisterOperators::op(std::string_view schema_or_name, Options options,
                                          const std::source_location& where) && {
  return std::move(op(schema_or_name, std::move(options), where));
}

RegisterOperators& RegisterOperators::op(std::string_view schema, const std::source_location& where) & {
  return op(schema, options(), where);
}

RegisterOperators&& RegisterOperators::op(std::string_view schema, const std::source_location& where) && {
  return std::move(op(schema, where));
}

}  // namespace boxcar
