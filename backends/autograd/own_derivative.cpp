#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/autograd/function.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/autograd/own_derivative.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/operator_name.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <set>
#include <string>
#include <utility>

namespace boxcar::autograd {
namespace {

constexpr std::string_view kRegister = "autograd::register_derivative";

bool isTensorType(TypePtr type) {
  if (type->isOptional()) type = type->element();
  return type->kind() == TypeKind::Tensor || (type->isList() && type->element()->kind() == TypeKind::Tensor);
}

// Whether a result of [type] may be a gradient, or several.
bool mayBeGradient(TypePtr type) {
  if (type->kind() == TypeKind::Tuple) return std::ranges::all_of(type->contained(), mayBeGradient);
  return type->kind() == TypeKind::None || mayTake(type, Type::tensor()) ||
         mayTake(type, Type::listOf(Type::optionalOf(Type::tensor())));
}

// A derivative of one's own, and what each of its parameters gets.
struct OwnDerivative {
  struct Part {
    enum { kGrad, kGrads, kArgument, kResult } what;
    size_t index;
  };

  // [count]: how many arguments calls have.
  OwnDerivative(std::string_view label, const FunctionSchema& forward, FunctionPtr backward, size_t count)
      : label(label), forward(forward), backward(std::move(backward)) {
    const size_t most = forward.arguments().size();
    BOXCAR_CHECK(count <= most, "{}: {} takes {} argument{}, not {}\n  {}", label, forward.name(), most,
                 most == 1 ? "" : "s", count, forward);
    const FunctionSchema& own = this->backward->schema();
    for (const Argument& parameter : own.arguments()) {
      parts.push_back(partOf(parameter, count));
      const TypePtr given = typeOf(parts.back());
      BOXCAR_CHECK(mayTake(parameter.type(), given), "{}: '{}' of the derivative {} must be {}, not {}\n  {}", label,
                   parameter.name(), this->backward->text(), *given, *parameter.type(), own);
    }
    for (const Argument& result : own.returns()) {
      BOXCAR_CHECK(mayBeGradient(result.type()),
                   "{}: the derivative {} must return a Tensor or None for each Tensor that {} takes, not {}\n  {}",
                   label, this->backward->text(), forward.name(), *result.type(), own);
    }
  }

  // Whether argument [index] of the call may have a gradient.
  bool isDifferentiated(size_t index) const { return isTensorType(forward.arguments()[index].type()); }

  // The type of what a parameter gets.
  TypePtr typeOf(const Part& part) const {
    switch (part.what) {
      case Part::kGrad: return Type::tensor();
      case Part::kGrads: return Type::listOf(Type::tensor());
      case Part::kArgument: return forward.arguments()[part.index].type();
      case Part::kResult: break;
    }
    return forward.returns()[part.index].type();
  }

  Part partOf(const Argument& parameter, size_t count) const {
    const std::string_view name = parameter.name();
    if (name == "grad") return {Part::kGrad, 0};
    if (name == "grads") return {Part::kGrads, 0};
    for (size_t i = 0; i < forward.returns().size(); ++i) {
      if (forward.returns()[i].name() == name) return {Part::kResult, i};
    }
    if (const auto index = forward.argumentIndexWithName(name)) {
      BOXCAR_CHECK(static_cast<size_t>(*index) < count,
                   "{}: the derivative {} takes '{}', but the call has no such argument\n  {}", label, backward->text(),
                   name, forward);
      return {Part::kArgument, static_cast<size_t>(*index)};
    }
    BOXCAR_CHECK(name == "result" && !forward.returns().empty(),
                 "{}: the derivative {} takes '{}', which is neither 'grad', 'grads', 'result', nor an "
                 "argument or a named result of {}\n  {}",
                 label, backward->text(), name, forward.name(), forward);
    return {Part::kResult, 0};
  }

  const std::string label;  // with which errors begin
  const FunctionSchema forward;
  const FunctionPtr backward;
  std::vector<Part> parts;
};

using OwnDerivativePtr = std::shared_ptr<const OwnDerivative>;

// A call that has such a derivative.
class DerivedCall final {
 public:
  DerivedCall(OwnDerivativePtr derivative, std::vector<IValue> args)
      : own_(std::move(derivative)), args_(std::move(args)) {
    for (size_t i = 0; i < args_.size(); ++i) {
      if (own_->isDifferentiated(i)) continue;
      for (const Tensor& tensor : tensorsIn({&args_[i], 1})) {
        BOXCAR_CHECK(!tensor.defined() || !tensor.requires_grad(),
                     "{}: argument '{}' of {} holds a tensor that requires grad; pass it as Tensor or "
                     "Tensor[], or detach() it\n  {}",
                     own_->label, own_->forward.arguments()[i].name(), own_->forward.name(), own_->forward);
      }
    }
  }

  // Leaves to the context what the derivative will take.
  void save(AutogradContext& context, const std::vector<IValue>& results) {
    variable_list to_save;
    for (const Part& part : own_->parts) {
      if (part.what == Part::kArgument) append(to_save, args_[part.index]);
      if (part.what == Part::kResult) append(to_save, results[part.index]);
    }
    context.save_for_backward(std::move(to_save));
    for (size_t i = 0; i < results.size(); ++i) results_.push_back(withoutTensors(results[i]));
    for (IValue& arg : args_) {
      counts_.push_back(own_->isDifferentiated(counts_.size()) ? tensorsIn({&arg, 1}).size() : 0);
      arg = withoutTensors(arg);
    }
  }

  variable_list operator()(AutogradContext* context, const variable_list& grads) const {
    const variable_list saved = context->get_saved_variables();
    size_t next = 0;
    const auto restored = [&](const IValue& value) {
      const size_t count = tensorsIn({&value, 1}).size();
      next += count;
      return withTensors({&value, 1}, std::span(saved).subspan(next - count, count))[0];
    };
    std::vector<IValue> given;
    for (const Part& part : own_->parts) {
      switch (part.what) {
        case Part::kGrad: given.emplace_back(grads[0]); break;
        case Part::kGrads: given.emplace_back(List<Tensor>(grads)); break;
        case Part::kArgument: given.push_back(restored(args_[part.index])); break;
        case Part::kResult: given.push_back(restored(results_[part.index])); break;
      }
    }
    return gradientsFrom(callFunction(own_->label, *own_->backward, given));
  }

 private:
  using Part = OwnDerivative::Part;

  static void append(variable_list& tensors, const IValue& value) {
    for (Tensor& tensor : tensorsIn({&value, 1})) tensors.push_back(std::move(tensor));
  }

  static IValue withoutTensors(const IValue& value) {
    const variable_list none(tensorsIn({&value, 1}).size());
    return withTensors({&value, 1}, none)[0];
  }

  // A gradient for each tensor of the arguments, in order.
  variable_list gradientsFrom(const IValue& returned) const {
    const auto wanted =
        static_cast<size_t>(std::ranges::count_if(std::span(own_->forward.arguments()).first(args_.size()),
                                                  [](const Argument& a) { return isTensorType(a.type()); }));
    const bool is_one = wanted == 1 && !returned.isTuple();
    const size_t found = is_one ? 1 : returned.isTuple() ? returned.length() : returned.isNone() ? 0 : 1;
    BOXCAR_CHECK(found == wanted,
                 "{}: the derivative {} must return {} gradient{}, one for each Tensor that {} takes, "
                 "not {}\n  {}",
                 own_->label, own_->backward->text(), wanted, wanted == 1 ? "" : "s as a tuple", own_->forward.name(),
                 returned.isList() ? "a list" : std::to_string(found), own_->forward);
    variable_list gradients;
    size_t next = 0;
    for (size_t i = 0; i < args_.size(); ++i) {
      if (!own_->isDifferentiated(i)) continue;
      const IValue gradient = is_one ? returned : returned.elementAt(next++);
      BOXCAR_CHECK(gradient.isNone() || gradient.isTensor() || gradient.isList(),
                   "{}: the derivative {} must return a Tensor or None for '{}', not {}", own_->label,
                   own_->backward->text(), own_->forward.arguments()[i].name(), gradient);
      variable_list each = gradient.isNone() ? variable_list(counts_[i]) : tensorsIn({&gradient, 1});
      BOXCAR_CHECK(each.size() == counts_[i],
                   "{}: the derivative {} returned {} gradients for '{}', which has {} tensors", own_->label,
                   own_->backward->text(), each.size(), own_->forward.arguments()[i].name(), counts_[i]);
      std::ranges::move(each, std::back_inserter(gradients));
    }
    return gradients;
  }

  const OwnDerivativePtr own_;
  std::vector<IValue> args_;     // without their tensors, once saved
  std::vector<IValue> results_;  // without their tensors
  std::vector<size_t> counts_;   // of the tensors of each argument that may have gradients
};

// Of each argument, the sum of the versions of its tensors.
std::vector<uint32_t> versionsOf(std::span<const IValue> args) {
  std::vector<uint32_t> versions;
  for (const IValue& arg : args) {
    uint32_t sum = 0;
    for (const Tensor& tensor : tensorsIn({&arg, 1})) sum += tensor.defined() ? tensor.version() : 0;
    versions.push_back(sum);
  }
  return versions;
}

std::vector<IValue> callDerived(const OwnDerivativePtr& own, const CallWithArguments& call, std::vector<IValue> args) {
  const auto derived = std::make_shared<DerivedCall>(own, args);
  const std::string& name = own->forward.name();
  const auto node = makeIntrusive<FunctionNode>(
      name.substr(name.rfind(':') + 1) + "Backward",
      [derived](AutogradContext* context, const variable_list& grads) { return (*derived)(context, grads); });
  for (size_t i = 0; i < args.size(); ++i) {
    if (own->isDifferentiated(i)) node->addArgument(tensorsIn({&args[i], 1}));
  }
  std::vector<IValue> results;
  const std::vector<uint32_t> versions = versionsOf(args);
  {
    const AutoGradMode mode(false);
    const OuterForwardLevels none(0);
    results = call(args);
  }
  const std::vector<uint32_t> versions_after = versionsOf(args);
  const auto [written, after] = std::ranges::mismatch(versions, versions_after);
  BOXCAR_CHECK(written == versions.end(),
               "{}: {} wrote its argument '{}', whose history would be wrong; let it write a clone() of that",
               own->label, name, own->forward.arguments()[static_cast<size_t>(written - versions.begin())].name());
  derived->save(node->context(), results);
  return withTensors(results, node->finish(tensorsIn(results)));
}

// The kernel of an operator that was given a derivative.
struct DerivativeKernel {
  OwnDerivativePtr own;

  void operator()(const OperatorHandle& op, DispatchKeySet, Stack& stack) const {
    const auto call = [&](const std::vector<IValue>& args) {
      Stack inner(args.begin(), args.end());
      op.callBoxed(inner);
      return std::vector<IValue>(inner.begin(), inner.end());
    };
    for (IValue& result : callDerived(own, call, pop(stack, op.schema().arguments().size()))) {
      stack.push_back(std::move(result));
    }
  }
};

// What may be meant by the name of an operator that there is not.
std::string adviceFor(const OperatorName& wanted) {
  const std::vector<OperatorHandle> overloads = Dispatcher::singleton().findOverloads(wanted.name);
  if (!overloads.empty()) {
    return fmt::format("; name one of the overloads {}",
                       fmt::join(overloads | std::views::transform([](const OperatorHandle& each) {
                                   return toString(each.operator_name());
                                 }),
                                 ", "));
  }
  if (!wanted.getNamespace().has_value()) return "; a name begins with its namespace, such as my::scale";
  const std::vector<OperatorName> defined = Dispatcher::singleton().getAllOpNames();
  std::set<std::string_view> names;
  for (const OperatorName& each : defined) names.insert(each.name);
  const std::string meant = didYouMean(wanted.name, std::vector(names.begin(), names.end()));
  return meant.empty() ? "; define it, or load its plugin, before" : "." + meant;
}

}  // namespace

std::vector<IValue> callWithDerivative(std::string_view label, const FunctionSchema& forward,
                                       const CallWithArguments& call, const FunctionPtr& backward,
                                       std::vector<IValue> args) {
  const auto own = std::make_shared<OwnDerivative>(label, forward, backward, args.size());
  return callDerived(own, call, std::move(args));
}

std::vector<RegistrationHandleRAII> registerDerivative(std::string_view op, FunctionPtr backward) {
  const OperatorName name = parseName(op);
  const std::optional<OperatorHandle> found = Dispatcher::singleton().findSchema(name);
  BOXCAR_CHECK(found.has_value(), "{}: there is no operator {}{}", kRegister, op, adviceFor(name));
  const FunctionSchema& schema = found->schema();
  const Formula* const formula = differentiatedOperator(*found).formula;
  BOXCAR_CHECK(formula == nullptr,
               "{}: {} has a derivative already. Write a function of its own for another one, and give it that by "
               "autograd::apply",
               kRegister, op);
  BOXCAR_CHECK(std::ranges::none_of(schema.arguments(), [](const Argument& a) { return a.alias_info() != nullptr; }),
               "{}: {} writes its arguments, or returns views of them; only an operator that does neither can be given "
               "a derivative\n  {}",
               kRegister, op, schema);
  // It looks at the parameters.
  [[maybe_unused]] const OwnDerivative fits(kRegister, schema, backward, schema.arguments().size());
  const auto own = std::make_shared<OwnDerivative>(name.name, schema, std::move(backward), schema.arguments().size());
  const RegistrationSite site{__FILE__, __LINE__};
  const auto registerAt = [&](DispatchKey key) {
    return Dispatcher::singleton().registerImpl(name, key, KernelFunction::makeFromBoxedFunctor(DerivativeKernel{own}),
                                                site);
  };
  std::vector<RegistrationHandleRAII> handles;
  if (!found->hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) {
    handles.push_back(registerAt(DispatchKey::Autograd));
    return handles;
  }
  // An operator that is made of others is differentiated as these are, unless a key has a kernel of its own.
  for (const DispatchKey key : getRuntimeDispatchKeySet(DispatchKey::Autograd)) handles.push_back(registerAt(key));
  return handles;
}

}  // namespace boxcar::autograd
