#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/backends/transforms/remembered.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/tag.h>
#include <boxcar/schema/function_schema.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace boxcar::transforms {
namespace {

struct NamedForm {
  std::string_view name;
  std::string_view form;
};

// Those whose functional form does not have their name without `_`.
constexpr NamedForm kOtherNames[] = {
    {"aten::normal_", "aten::normal_functional"},
    {"aten::native_batch_norm", "aten::_native_batch_norm_legit_functional"},
};

// What makes its first argument another view of its memory.
constexpr std::string_view kShapes[] = {"aten::as_strided_", "aten::squeeze_",   "aten::swapaxes_", "aten::swapdims_",
                                        "aten::t_",          "aten::transpose_", "aten::unsqueeze_"};

// Batch norm writes its running statistics in training, and only some of its schemas say so.
constexpr std::string_view kStatistics[] = {"aten::native_batch_norm"};
constexpr uint8_t kRunningMean = 3;
constexpr uint8_t kRunningVar = 4;

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string nameOfForm(const std::string& name, bool is_out) {
  if (is_out) return name;
  for (const NamedForm& other : kOtherNames) {
    if (other.name == name) return std::string(other.form);
  }
  const size_t start = name.rfind("::") + 2;
  if (name.ends_with("__") && name.compare(start, 3, "__i") == 0)
    return name.substr(0, start) + "__" + name.substr(start + 3);
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name + "_functional";
}

// Whether [form] takes the arguments of [schema] at [taken], writes nothing and returns [count] values.
bool isFormOf(const FunctionSchema& form, const FunctionSchema& schema, std::span<const uint8_t> taken, size_t count) {
  if (form.returns().size() != count || form.arguments().size() < taken.size()) return false;
  if (form.arguments().size() > taken.size()) {
    constexpr std::string_view kOptions[] = {"dtype", "layout", "device", "pin_memory"};
    const auto names = std::span(form.arguments()).subspan(taken.size());
    if (!std::ranges::equal(names, kOptions, {}, &Argument::name)) return false;
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    const Argument& own = schema.arguments()[taken[i]];
    const Argument& other = form.arguments()[i];
    // What has no default in one may be optional in the other, as the statistics of batch norm are.
    TypePtr type = own.type();
    if (type->isOptional() && !other.type()->isOptional()) type = type->element();
    if (type != other.type() || own.name() != other.name() || other.is_write()) return false;
  }
  return true;
}

std::optional<OperatorHandle> findForm(const std::string& name, const FunctionSchema& schema,
                                       std::span<const uint8_t> taken, size_t count) {
  std::optional<OperatorHandle> found;
  for (const OperatorHandle& op : Dispatcher::singleton().findOverloads(name)) {
    if (!isFormOf(op.schema(), schema, taken, count) || contains(kStatistics, op.operator_name().name)) continue;
    if (!found || op.schema().overload_name() == schema.overload_name()) found = op;
  }
  return found;
}

// The argument among [positions] whose alias set [result] has; none if it is a value of its own.
std::optional<uint8_t> aliasOf(const Argument& result, const FunctionSchema& schema,
                               std::span<const uint8_t> positions) {
  const AliasInfoPtr alias = result.alias_info();
  if (alias == nullptr) return std::nullopt;
  const auto setsOf = [](AliasInfoPtr info) {
    return info->beforeSets().empty() && info->containedAt(0) != nullptr ? info->containedAt(0)->beforeSets()
                                                                         : info->beforeSets();
  };
  for (const uint8_t position : positions) {
    const AliasInfoPtr own = schema.arguments()[position].alias_info();
    if (own != nullptr && setsOf(own) == setsOf(alias)) return position;
  }
  return std::nullopt;
}

void planWrite(const FunctionSchema& schema, OperatorPlan& plan) {
  const bool is_out = std::ranges::any_of(schema.arguments(), &Argument::is_out);
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    if (!schema.arguments()[i].is_out()) plan.taken.push_back(static_cast<uint8_t>(i));
  }
  uint8_t own = 0;
  for (const Argument& result : schema.returns()) {
    const std::optional<uint8_t> argument = aliasOf(result, schema, plan.written);
    plan.results.push_back({argument.has_value(), argument.value_or(own)});
    if (!argument) ++own;
  }
  const auto hasOther = [&](uint8_t position) { return !schema.arguments()[position].is_out(); };
  // A form of out= that writes besides cannot be.
  if (is_out && std::ranges::any_of(plan.written, hasOther)) return;
  // The results of the form are in the order of the operator's own results, then of what is written.
  const bool has_out_order = is_out && schema.returns().size() == plan.written.size();
  for (size_t i = 0; i < plan.written.size(); ++i) {
    size_t made = own + i;
    if (has_out_order) {
      const auto at = std::ranges::find_if(plan.results, [&](const OperatorPlan::Result& result) {
        return result.is_argument && result.position == plan.written[i];
      });
      if (at != plan.results.end()) made = static_cast<size_t>(at - plan.results.begin());
    }
    plan.made.push_back(static_cast<uint8_t>(made));
  }
  const std::string& name = schema.operator_name().name;
  const size_t count = own + plan.written.size();
  plan.form = findForm(nameOfForm(name, is_out), schema, plan.taken, count);
  plan.takes_options = plan.form && plan.form->schema().arguments().size() > plan.taken.size();
  if (!plan.form && !is_out) plan.form = findForm(name + "functional", schema, plan.taken, count);
}

void planView(const FunctionSchema& schema, OperatorPlan& plan) {
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    plan.taken.push_back(static_cast<uint8_t>(i));
    if (schema.arguments()[i].alias_info() != nullptr) plan.viewed = static_cast<uint8_t>(i);
  }
  plan.form = findForm(schema.operator_name().name + "_copy", schema, plan.taken, schema.returns().size());
}

// Whether a script answers calls of [op]: its calls are then what is functionalised.
bool isOfScript(const OperatorHandle& op) {
  return op.entry().schemaSite().is_script ||
         Dispatcher::singleton().computeTableEntry(op, DispatchKey::CPU).site.is_script;
}

OperatorPlan planFor(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  const std::string& name = schema.operator_name().name;
  OperatorPlan plan;
  plan.is_random = op.hasTag(Tag::nondeterministic_seeded);
  if (op.hasTag(Tag::differentiation) || name == "aten::detach_" || isOfScript(op)) {
    plan.kind = OperatorPlan::Kind::kPass;
    return plan;
  }
  const bool is_empty_out = name == "aten::empty" && schema.overload_name() == "out";
  const auto isResized = [&] { return name == "aten::resize_" || name == "aten::resize_as_" || is_empty_out; };
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    if (schema.arguments()[i].is_write()) plan.written.push_back(static_cast<uint8_t>(i));
  }
  if (contains(kStatistics, name)) {
    plan.writes_statistics = true;
    plan.written.insert(plan.written.begin(), {kRunningMean, kRunningVar});
  }
  if (!plan.written.empty()) {
    if (contains(kShapes, name)) {
      plan.kind = OperatorPlan::Kind::kShape;
      for (size_t i = 0; i < schema.arguments().size(); ++i) plan.taken.push_back(static_cast<uint8_t>(i));
      plan.form = findForm(name.substr(0, name.size() - 1), schema, plan.taken, 1);
    } else if (isResized()) {
      plan.kind = OperatorPlan::Kind::kResize;
    } else if (name == "aten::set_") {
      plan.kind = OperatorPlan::Kind::kSet;
    } else {
      plan.kind = OperatorPlan::Kind::kWrite;
      planWrite(schema, plan);
    }
    return plan;
  }
  const auto isAlias = [](const Argument& argument) { return argument.alias_info() != nullptr; };
  if (std::ranges::count_if(schema.arguments(), isAlias) == 1 && schema.returns().size() == 1) {
    plan.kind = OperatorPlan::Kind::kView;
    planView(schema, plan);
  }
  return plan;
}

}  // namespace

const OperatorPlan& planOf(const OperatorHandle& op) { return remembered<&planFor>(op); }

}  // namespace boxcar::transforms
