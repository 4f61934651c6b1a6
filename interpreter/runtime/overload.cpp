#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/syntax/named_dimensions.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace boxcar::interp {
namespace {

using Arguments = std::span<const CallArgument>;

size_t positionalCount(Arguments arguments) {
  return static_cast<size_t>(std::ranges::count_if(arguments, [](auto& a) { return a.keyword.empty(); }));
}

bool isTensorLike(TypePtr type) {
  return type->kind() == TypeKind::Tensor || type->kind() == TypeKind::Any ||
         (type->isOptional() && type->element()->kind() == TypeKind::Tensor);
}

// Fits the arguments of one call to one schema. reason() says why the last attempt failed.
class Fitter {
 public:
  // [candidates]: the call's candidates, for error messages about a keyword that none of them has.
  Fitter(std::span<const FunctionSchema* const> candidates, Arguments arguments, TypesFrom types)
      : candidates_(candidates), arguments_(arguments), positional_(positionalCount(arguments)), types_(types) {}

  std::optional<Fit> fit(const FunctionSchema& schema) {
    schema_ = &schema;
    culprit_.reset();
    fit_ = Fit();
    fit_.parameters.resize(schema.arguments().size());
    fit_.costs.resize(arguments_.size(), ConversionCost::Same);
    if (schema.is_vararg()) return fail("scripts cannot call operators that take `...`");
    if (!placePositional() || !placeKeywords() || !checkMissing()) return std::nullopt;
    return std::move(fit_);
  }

  // Why the last attempt failed, without the candidate's number.
  Rejection rejection() const { return {0, reason_, culprit_}; }

 private:
  const std::vector<Argument>& parameters() const { return schema_->arguments(); }

  // Returns the parameter that several separate values may stand for: an int list that is the only positional one
  // besides self, or a list of anything after functions alone, which are the arguments of one of them.
  std::optional<size_t> loneList() const {
    const size_t count = positionalParameters();
    if (takesFunctionArguments()) return count - 1;
    const size_t index = count == 2 && parameters()[0].name() == "self" ? 1 : 0;
    if (count != index + 1) return std::nullopt;
    const TypePtr type = parameters()[index].type();
    if (!type->isList() || type->element()->underlying() != Type::integer()) return std::nullopt;
    return index;
  }

  bool takesFunctionArguments() const {
    const size_t count = positionalParameters();
    const auto is_function = [](const Argument& parameter) { return parameter.type()->kind() == TypeKind::Function; };
    return count > 1 && parameters()[count - 1].type() == Type::listOf(Type::any()) &&
           std::all_of(parameters().begin(), parameters().begin() + static_cast<ptrdiff_t>(count - 1), is_function);
  }

  // Whether the only value in the place of [list] is an element of the list, and not the list.
  bool isElement(size_t list) const {
    if (positional_ != list + 1 || !takesFunctionArguments()) return false;
    const TypeKind kind = arguments_[list].type->kind();
    return kind != TypeKind::List && kind != TypeKind::Tuple && kind != TypeKind::Any;
  }

  size_t positionalParameters() const {
    return static_cast<size_t>(std::ranges::count_if(parameters(), [](auto& p) { return !p.kwarg_only(); }));
  }

  bool placePositional() {
    const size_t accepted = positionalParameters();
    const std::optional<size_t> lone = loneList();
    if (lone && (positional_ > accepted || isElement(*lone))) return placeSinglyStanding(*lone);
    if (positional_ > accepted) {
      fail(fmt::format("it takes {}{} positional argument{}, not {}", hasOptional() ? "at most " : "", accepted,
                       accepted == 1 ? "" : "s", positional_));
      return false;
    }
    for (size_t i = 0; i < positional_; ++i) {
      if (!place(i, i, i == lone && !takesFunctionArguments())) return false;
    }
    return true;
  }

  bool hasOptional() const {
    return std::ranges::any_of(parameters(), [](auto& p) { return !p.kwarg_only() && p.default_value().has_value(); });
  }

  bool placeSinglyStanding(size_t list) {
    for (size_t i = 0; i < list; ++i) {
      if (!place(i, i, false)) return false;
    }
    const TypePtr element = parameters()[list].type()->element();
    for (size_t i = list; i < positional_; ++i) {
      const auto cost = conversionCost(arguments_[i].type, {element}, {false, types_});
      if (!cost) {
        culprit_ = i;
        const bool is_name = isTextOrTexts(arguments_[i].type) && takesDimensions(parameters()[list].name());
        fail(fmt::format("argument '{}' accepts separate ints, but {} is no int{}", parameters()[list].name(),
                         *arguments_[i].type, is_name ? fmt::format("; {}", kNoNames) : ""));
        return false;
      }
      fit_.costs[i] = std::max(*cost, ConversionCost::IntToList);
    }
    fit_.parameters[list] = {ParameterPlan::From::Rest,
                             static_cast<uint32_t>(list),
                             static_cast<uint32_t>(positional_ - list),
                             {parameters()[list].type()}};
    return true;
  }

  bool placeKeywords() {
    for (size_t i = positional_; i < arguments_.size(); ++i) {
      const std::string_view name = arguments_[i].keyword;
      const std::optional<int> index = schema_->argumentIndexWithName(name);
      culprit_ = i;
      if (!index) {
        const std::string suggestion = suggestFor(name);
        const std::string no_names = name == "names" && suggestion.empty() ? fmt::format("; {}", kNoNames) : "";
        fail(fmt::format("it has no argument '{}'{}{}{}", name, suggestion.empty() ? "" : ".", suggestion, no_names));
        return false;
      }
      if (fit_.parameters[static_cast<size_t>(*index)].from != ParameterPlan::From::Default) {
        fail(fmt::format("argument '{}' is given twice, by position and by keyword", name));
        return false;
      }
      if (!place(i, static_cast<size_t>(*index), loneList() == static_cast<size_t>(*index))) return false;
    }
    return true;
  }

  // Suggests from the names of all overloads, so that all give the same hint, unless one of them has this very name.
  std::string suggestFor(std::string_view name) const {
    std::vector<std::string_view> names;
    const auto add = [&names](const FunctionSchema& schema) {
      for (const Argument& parameter : schema.arguments()) {
        if (std::ranges::find(names, parameter.name()) == names.end()) names.push_back(parameter.name());
      }
    };
    for (const FunctionSchema* candidate : candidates_) add(*candidate);
    if (std::ranges::find(names, name) != names.end()) {
      names.clear();
      add(*schema_);
    }
    return didYouMeanArgument(name, names);
  }

  bool checkMissing() {
    std::vector<std::string_view> missing;
    for (size_t i = 0; i < parameters().size(); ++i) {
      if (fit_.parameters[i].from != ParameterPlan::From::Default) continue;
      if (!parameters()[i].default_value()) missing.push_back(parameters()[i].name());
      ++fit_.default_count;
    }
    if (missing.empty()) return true;
    culprit_.reset();
    std::string names;
    for (size_t i = 0; i < missing.size(); ++i) {
      if (i != 0) names += i + 1 == missing.size() ? " and " : ", ";
      names += fmt::format("'{}'", missing[i]);
    }
    fail(fmt::format("argument{} {} {} missing", missing.size() == 1 ? "" : "s", names,
                     missing.size() == 1 ? "is" : "are"));
    return false;
  }

  bool place(size_t argument, size_t parameter, bool is_lone_list) {
    const Argument& wanted = parameters()[parameter];
    const TypePtr given = arguments_[argument].type;
    culprit_ = argument;
    ConversionTarget target = targetOf(wanted);
    if (is_lone_list && target.list_size == 0) target.list_size = 1;
    if (wanted.type()->hasVariables()) {
      if (!bind(wanted.type(), given)) return wrongType(wanted, given);
      target.type = substituteVariables(target.type, fit_);
    }
    target.beside_tensor = besideTensor(argument);
    const auto cost = conversionCost(given, target, {target.beside_tensor, types_});
    if (!cost) return wrongType(wanted, given);
    fit_.costs[argument] = *cost;
    fit_.parameters[parameter] = {ParameterPlan::From::Argument, static_cast<uint32_t>(argument), 1, target};
    return true;
  }

  bool besideTensor(size_t argument) const {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (i != argument && isTensorLike(arguments_[i].type)) return true;
    }
    return false;
  }

  // Binds the variables in [type] to the matching parts of [given]; returns false if one is already bound to something
  // else.
  bool bind(TypePtr type, TypePtr given) {
    if (type->kind() == TypeKind::Variable) {
      for (const auto& [variable, stands_for] : fit_.variables) {
        if (variable == type) return conversionCost(given, {stands_for}, {false, types_}).has_value();
      }
      fit_.variables.emplace_back(type, given);
      return true;
    }
    if (!type->hasVariables()) return true;
    if (type->isOptional()) {
      return given->kind() == TypeKind::None || bind(type->element(), given->isOptional() ? given->element() : given);
    }
    if (given->kind() == TypeKind::Any) {
      for (const TypePtr inner : type->contained()) bind(inner, given);
      return true;
    }
    if (given->kind() != type->kind() || given->contained().size() != type->contained().size()) return false;
    for (size_t i = 0; i < type->contained().size(); ++i) {
      if (!bind(type->contained()[i], given->contained()[i])) return false;
    }
    return true;
  }

  static bool isDtype(TypePtr type) {
    return type->kind() == TypeKind::ScalarType || (type->isOptional() && isDtype(type->element()));
  }

  static bool holdsInts(TypePtr type) {
    if (type->isOptional() || type->kind() == TypeKind::List) return holdsInts(type->element());
    return type->underlying()->kind() == TypeKind::Int;
  }

  static bool holdsDimnames(TypePtr type) {
    if (type->isOptional() || type->kind() == TypeKind::List) return holdsDimnames(type->element());
    return type->kind() == TypeKind::Dimname;
  }

  static bool isTextOrTexts(TypePtr type) {
    const auto is_text = [](TypePtr each) { return each->kind() == TypeKind::String; };
    if (type->kind() == TypeKind::List) return is_text(type->element());
    if (type->kind() != TypeKind::Tuple) return is_text(type);
    return !type->contained().empty() && std::ranges::all_of(type->contained(), is_text);
  }

  bool wrongType(const Argument& wanted, TypePtr given) {
    reason_ = fmt::format("argument '{}' must be {}, not {}", wanted.name(), *substituteVariables(wanted.type(), fit_),
                          *given) +
              namesakeNote(wanted.type(), given);
    if (given->isOptional() && conversionCost(given->element(), targetOf(wanted), {true, types_})) {
      reason_ += "; check `is None` first";
    } else if (wanted.type()->kind() == TypeKind::Tensor && conversionCost(given, {Type::scalar()}, {false, types_})) {
      reason_ += "; a number can replace a Tensor only next to a Tensor argument";
    } else if (given->kind() == TypeKind::String && isDtype(wanted.type())) {
      reason_ += "; write a dtype without quotes, such as float32";
    } else if (holdsDimnames(wanted.type())) {
      reason_ += fmt::format("; {}", kNoDimname);
    } else if (isTextOrTexts(given) && takesDimensions(wanted.name()) && holdsInts(wanted.type())) {
      reason_ += fmt::format("; {}", kNoNames);
    } else if (types_ != TypesFrom::kProgram && given->kind() == TypeKind::None &&
               wanted.type()->kind() == TypeKind::Tensor) {
      reason_ += kRemedyForNone;
    }
    return false;
  }

  std::nullopt_t fail(std::string reason) {
    reason_ = std::move(reason);
    return std::nullopt;
  }

  std::span<const FunctionSchema* const> candidates_;
  Arguments arguments_;
  size_t positional_;
  TypesFrom types_;
  const FunctionSchema* schema_ = nullptr;
  Fit fit_;
  std::string reason_;
  std::optional<size_t> culprit_;
};

struct FittedCandidate {
  size_t candidate;
  Fit fit;
};

bool convertsBetter(const Fit& a, const Fit& b) {
  bool better = false;
  for (size_t i = 0; i < a.costs.size(); ++i) {
    if (a.costs[i] > b.costs[i]) return false;
    better = better || a.costs[i] < b.costs[i];
  }
  return better;
}

// Returns the index in [fitted] of the candidate that the rules prefer. Conversions decide first; candidates that they
// do not rule out are compared by defaults, then by order.
size_t best(std::span<const FittedCandidate> fitted) {
  std::optional<size_t> chosen;
  for (size_t i = 0; i < fitted.size(); ++i) {
    const bool beaten =
        std::ranges::any_of(fitted, [&](auto& other) { return convertsBetter(other.fit, fitted[i].fit); });
    if (!beaten && (!chosen || fitted[i].fit.default_count < fitted[*chosen].fit.default_count)) chosen = i;
  }
  return *chosen;
}

std::vector<FittedCandidate> fitAll(std::span<const FunctionSchema* const> candidates, Arguments arguments,
                                    TypesFrom types, std::vector<Rejection>* rejections) {
  std::vector<FittedCandidate> fitted;
  Fitter fitter(candidates, arguments, types);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (auto fit = fitter.fit(*candidates[i])) {
      fitted.push_back({i, *std::move(fit)});
    } else if (rejections != nullptr) {
      rejections->push_back(fitter.rejection());
      rejections->back().candidate = i;
    }
  }
  return fitted;
}

bool holdsAny(TypePtr type) {
  return type->kind() == TypeKind::Any || std::ranges::any_of(type->contained(), holdsAny);
}

// Whether a candidate depends on the kind of an argument that is Any or contains Any.
bool dependsOnAny(std::span<const FittedCandidate> fitted, Arguments arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!holdsAny(arguments[i].type)) continue;
    for (const FittedCandidate& candidate : fitted) {
      if (candidate.fit.costs[i] == ConversionCost::FromAny || candidate.fit.costs[i] >= ConversionCost::CheckedList) {
        return true;
      }
    }
  }
  return false;
}

// Returns the candidate that is chosen for all kinds of numbers in the Scalar arguments; nothing if it depends on them.
std::optional<size_t> chosenForAllScalars(std::span<const FunctionSchema* const> candidates, Arguments arguments) {
  const std::array<TypePtr, 4> numbers = {Type::integer(), Type::floating(), Type::boolean(), Type::complex()};
  constexpr size_t kMaxScalars = 3;

  std::vector<CallArgument> tried(arguments.begin(), arguments.end());
  std::vector<size_t> scalars;
  for (size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].type->kind() == TypeKind::Scalar) scalars.push_back(i);
  }
  if (scalars.size() > kMaxScalars) return std::nullopt;
  std::optional<size_t> chosen;
  for (size_t code = 0; code < (size_t{1} << (2 * scalars.size())); ++code) {
    for (size_t i = 0; i < scalars.size(); ++i) tried[scalars[i]].type = numbers[code >> (2 * i) & 3];
    const auto fitted = fitAll(candidates, tried, TypesFrom::kProgram, nullptr);
    if (fitted.empty()) continue;
    const size_t candidate = fitted[best(fitted)].candidate;
    if (chosen && *chosen != candidate) return std::nullopt;
    chosen = candidate;
  }
  return chosen;
}

// `x.to("cuda:0", copy=True)`: the only positional argument besides self may be the device, which the schemas take by
// keyword or together with a dtype.
std::vector<CallArgument> withDeviceKeyword(std::span<const FunctionSchema* const> candidates, Arguments arguments) {
  if (candidates.empty() || candidates[0]->name() != "aten::to" || arguments.size() < 2) return {};
  if (!arguments[0].keyword.empty() || !arguments[1].keyword.empty()) return {};
  if (std::ranges::any_of(arguments.subspan(2), [](const CallArgument& rest) { return rest.keyword.empty(); }))
    return {};
  const TypeKind kind = arguments[1].type->kind();
  if (kind != TypeKind::String && kind != TypeKind::Device) return {};
  std::vector<CallArgument> named(arguments.begin(), arguments.end());
  named[1].keyword = "device";
  return named;
}

}  // namespace

Resolution resolveOverload(std::span<const FunctionSchema* const> candidates, std::span<const CallArgument> arguments,
                           TypesFrom types) {
  Resolution resolution;
  auto fitted = fitAll(candidates, arguments, types, &resolution.rejections);
  if (fitted.empty()) {
    const auto with_device = withDeviceKeyword(candidates, arguments);
    if (with_device.empty()) return resolution;
    fitted = fitAll(candidates, with_device, types, nullptr);
    if (fitted.empty()) return resolution;
    arguments = with_device;
    const size_t chosen = best(fitted);
    resolution.kind = Resolution::Kind::Chosen;
    resolution.candidate = fitted[chosen].candidate;
    resolution.fit = std::move(fitted[chosen].fit);
    return resolution;
  }

  size_t chosen = 0;
  if (fitted.size() > 1) {
    bool is_dynamic = false;
    const auto is_scalar = [](const CallArgument& argument) { return argument.type->kind() == TypeKind::Scalar; };
    if (types != TypesFrom::kProgram) {
      chosen = best(fitted);
    } else if (dependsOnAny(fitted, arguments)) {
      is_dynamic = true;
    } else if (std::ranges::any_of(arguments, is_scalar)) {
      const auto candidate = chosenForAllScalars(candidates, arguments);
      const auto found = std::ranges::find_if(fitted, [&](auto& f) { return f.candidate == candidate; });
      is_dynamic = !candidate || found == fitted.end();
      if (!is_dynamic) chosen = static_cast<size_t>(found - fitted.begin());
    } else {
      chosen = best(fitted);
    }
    if (is_dynamic) {
      resolution.kind = Resolution::Kind::Dynamic;
      for (const FittedCandidate& candidate : fitted) resolution.viable.push_back(candidate.candidate);
      return resolution;
    }
  }
  resolution.kind = Resolution::Kind::Chosen;
  resolution.candidate = fitted[chosen].candidate;
  resolution.fit = std::move(fitted[chosen].fit);
  return resolution;
}

TypePtr substituteVariables(TypePtr type, const Fit& fit) {
  if (!type->hasVariables()) return type;
  const auto within = [&fit](TypePtr inner) { return substituteVariables(inner, fit); };
  switch (type->kind()) {
    case TypeKind::Variable:
      for (const auto& [variable, stands_for] : fit.variables) {
        if (variable == type) return stands_for;
      }
      return Type::any();
    case TypeKind::Optional: return Type::optionalOf(within(type->element()));
    case TypeKind::List: return Type::listOf(within(type->element()));
    case TypeKind::Dict: return Type::dictOf(within(type->contained()[0]), within(type->contained()[1]));
    case TypeKind::Tuple: {
      std::vector<TypePtr> elements;
      for (const TypePtr element : type->contained()) elements.push_back(within(element));
      return Type::tupleOf(elements);
    }
    default: return Type::any();
  }
}

TypePtr resultType(const FunctionSchema& schema, const Fit& fit) {
  if (schema.is_varret()) return Type::any();
  if (schema.returns().empty()) return Type::none();
  if (schema.returns().size() == 1) return substituteVariables(schema.returns()[0].type(), fit);
  std::vector<TypePtr> types;
  for (const Argument& result : schema.returns()) types.push_back(substituteVariables(result.type(), fit));
  return Type::tupleOf(types);
}

std::optional<size_t> findOverload(std::span<const OperatorName> operators, std::string_view overload) {
  auto found = std::ranges::find(operators, overload, &OperatorName::overload_name);
  if (found == operators.end() && overload == "default") {
    found = std::ranges::find(operators, std::string_view(), &OperatorName::overload_name);
  }
  if (found == operators.end()) return std::nullopt;
  return static_cast<size_t>(found - operators.begin());
}

bool haveSameReason(std::span<const Rejection> rejections) {
  return !rejections.empty() &&
         std::ranges::all_of(rejections, [&](const Rejection& r) { return r.reason == rejections[0].reason; });
}

std::string rejectionHeadline(std::string_view name, std::span<const CallArgument> arguments,
                              std::span<const Rejection> rejections) {
  if (haveSameReason(rejections)) return fmt::format("{}: {}", name, rejections[0].reason);
  std::string types;
  for (const CallArgument& argument : arguments) {
    if (!types.empty()) types += ", ";
    if (!argument.keyword.empty()) types += fmt::format("{}=", argument.keyword);
    types += argument.type->text();
  }
  return fmt::format("no overload of {} takes ({})", name, types);
}

std::vector<std::string> rejectionLines(std::span<const FunctionSchema* const> candidates,
                                        std::span<const Rejection> rejections) {
  std::vector<std::string> lines;
  for (const Rejection& rejection : rejections) {
    const FunctionSchema& schema = *candidates[rejection.candidate];
    if (haveSameReason(rejections)) {
      lines.push_back(toString(schema));
    } else {
      lines.push_back(fmt::format("{}: {}", schema, rejection.reason));
    }
  }
  return lines;
}

ValueResolution resolveValues(std::string_view name, std::span<const FunctionSchema* const> candidates,
                              std::span<const IValue> values, std::span<const std::string_view> keywords) {
  std::vector<CallArgument> arguments;
  arguments.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) arguments.push_back({typeOf(values[i]), keywords[i]});
  return resolveTyped(name, candidates, arguments, TypesFrom::kValues);
}

ValueResolution resolveTyped(std::string_view name, std::span<const FunctionSchema* const> candidates,
                             std::span<const CallArgument> arguments, TypesFrom types) {
  Resolution resolution = resolveOverload(candidates, arguments, types);
  if (resolution.kind == Resolution::Kind::Chosen) return {resolution.candidate, std::move(resolution.fit)};
  std::string message = haveSameReason(resolution.rejections)
                            ? fmt::format("{}(): {}", name, resolution.rejections[0].reason)
                            : rejectionHeadline(name, arguments, resolution.rejections);
  for (const std::string& line : rejectionLines(candidates, resolution.rejections)) message += "\n  " + line;
  throw RuntimeError(std::move(message));
}

std::vector<IValue> arrangeValues(const FunctionSchema& schema, const Fit& fit, std::span<IValue> values) {
  std::vector<IValue> arranged;
  arranged.reserve(fit.parameters.size());
  for (size_t i = 0; i < fit.parameters.size(); ++i) {
    const ParameterPlan& plan = fit.parameters[i];
    switch (plan.from) {
      case ParameterPlan::From::Default: {
        // The callee may change a list.
        const IValue& value = *schema.arguments()[i].default_value();
        arranged.push_back(value.isList() ? copyOfList(value) : value);
        break;
      }
      case ParameterPlan::From::Argument:
        try {
          arranged.push_back(convertValue(std::move(values[plan.first]), plan.target));
        } catch (const Error& error) {
          // An element of a list; other messages say enough.
          if (error.message().find("\nin element") == std::string::npos) throw;
          const Argument& argument = schema.arguments()[i];
          BOXCAR_FAIL("{}(): argument '{}' must be {}: {}", schema.operator_name(), argument.name(), *argument.type(),
                      error.message());
        }
        break;
      case ParameterPlan::From::Rest: {
        std::vector<IValue> items(std::make_move_iterator(values.begin() + plan.first),
                                  std::make_move_iterator(values.begin() + plan.first + plan.count));
        arranged.push_back(convertValue(IValue(std::move(items)), {plan.target.type}));
        break;
      }
    }
  }
  return arranged;
}

}  // namespace boxcar::interp
