#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/handlers/trace/trace_program.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/tag.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boxcar::detail {
namespace {

OperatorHandle operatorCalled(const char* name, const char* overload = "") {
  return Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

// "float32 [2, 3]".
std::string kindText(const Tensor& tensor) {
  return fmt::format("{} {}", dtypeName(tensor.scalar_type()), sizesText(tensor.sizes()));
}

bool isContainer(const IValue& value) { return value.isList() || value.isTuple() || value.isGenericDict(); }

// Whether an operator gives numbers or texts alone.
bool givesNoTensor(const FunctionSchema& schema) {
  return !schema.returns().empty() && std::ranges::none_of(schema.returns(), [](const Argument& result) {
    TypePtr type = result.type();
    while (type->isOptional() || type->isList()) type = type->element();
    return type->kind() == TypeKind::Tensor || type->kind() == TypeKind::Any;
  });
}

// Whether an operator changes something that its results do not hold.
bool changesSomething(const OperatorHandle& op) {
  return op.hasTag(boxcar::Tag::maybe_aliasing_or_mutating) ||
         std::ranges::any_of(op.schema().arguments(), &Argument::is_write);
}

// Whether an operator's result may share memory with its arguments.
bool givesView(const FunctionSchema& schema) {
  return schema.returns().size() == 1 && schema.returns()[0].alias_info() != nullptr;
}

// Returns a key as an index: in double quotes if it needs no escapes.
std::string keyText(const std::string& key) {
  const bool is_plain = std::ranges::all_of(key, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  return is_plain ? fmt::format("\"{}\"", key) : constantText(key);
}

// Returns the call that makes a tensor whose elements do not matter.
std::string emptyText(const Tensor& tensor) {
  const auto sizes = tensor.sizes();
  std::vector<int64_t> strides(sizes.size());
  contiguousStrides(sizes, strides);
  const std::string device = tensor.is_cpu() ? "" : fmt::format(", device={}", constantText(tensor.device()));
  return fmt::format("{}({}, {}, dtype={}{})", calleeText(operatorCalled("aten::empty_strided")), sizesText(sizes),
                     sizesText(strides), dtypeName(tensor.scalar_type()), device);
}

}  // namespace

TraceProgram::TraceProgram(bool has_graph, bool keeps_backward) : keeps_backward_(keeps_backward) {
  if (has_graph) graph_.emplace();
}

const TraceProgram::OperatorFacts& TraceProgram::factsOf(const OperatorHandle& op) {
  const auto found = facts_.find(op);
  if (found != facts_.end()) return found->second;
  OperatorFacts facts{calleeText(op), op.hasTag(boxcar::Tag::nondeterministic_seeded), op.hasTag(boxcar::Tag::io)};
  return facts_.emplace(op, std::move(facts)).first->second;
}

bool TraceProgram::tells(const OperatorHandle& op) {
  // What only asks leaves nothing that the program could use.
  if (keeps_backward_ && op.hasTag(boxcar::Tag::differentiation) && givesNoTensor(op.schema()) &&
      !changesSomething(op)) {
    return false;
  }
  return !factsOf(op).acts_outside || op.schema().returns().empty();
}

void TraceProgram::noteRead(std::span<const IValue> results, std::string_view path) {
  for (const IValue& result : results) keys_.note(result, path);
}

// ---- Before the call ----

TraceProgram::Call TraceProgram::begin(const OperatorHandle& op, DispatchKeySet keys,
                                       std::span<const IValue> arguments) {
  const OperatorFacts& facts = factsOf(op);
  Call call{
      op,
      callText(op, facts.callee, arguments, [this](const Tensor& tensor) { return names_.find(tensor) != nullptr; }),
      {},
      {},
      {},
      facts.is_random,
      {},
      {},
      !keeps_backward_ || GradMode::is_enabled(),
      {},
      {},
      {}};
  if (graph_ || kept_) call.path = currentCallPath();
  needs_.addCall(op, keys);
  for (const Tensor& tensor : call.text.tensors) {
    look(tensor, call);
    if (graph_) call.edge_labels.push_back(kindText(tensor));
  }
  lookAtRandomState(arguments, call);
  if (kept_) {
    const auto has_name = [this](const Tensor& tensor) { return names_.find(tensor) != nullptr; };
    call.arguments = writtenArguments(op.schema(), arguments, has_name);
    for (IValue& argument : call.arguments) argument = withOwnContainers(argument);
  }
  if (graph_ && facts.acts_outside) {
    call.effect = op.operator_name().name;
    for (const IValue& argument : arguments) {
      if (argument.isString()) call.effect += fmt::format("\n{}", argument.toStringView());
    }
    if (call.effect.ends_with('\n')) call.effect.pop_back();
  }
  return call;
}

void TraceProgram::look(const Tensor& tensor, Call& call) {
  needs_.addDevice(tensor.device());
  const Storage& storage = tensor.storage();
  const TraceNames::Base* base = names_.findBase(storage);
  const auto isOn = [&storage](const Outside& other) { return other.tensor.storage() == storage; };
  if (base != nullptr && base->version != storage->version() && !tensor.is_meta() &&
      std::ranges::none_of(call.rewritten, isOn)) {
    call.rewritten.push_back(lookAt(flatTensor(storage, base->dtype), true));
  }
  if (names_.find(tensor) != nullptr) return;
  bool has_elements = base != nullptr;
  for (const Outside& other : call.outside) {
    if (other.given().is_same(tensor)) return;
    has_elements |= isOn(other);
  }
  call.outside.push_back(lookAt(tensor, !has_elements));
  if (base == nullptr || kept_) call.outside.back().key = keys_.find(tensor);
}

void TraceProgram::lookAtRandomState(std::span<const IValue> arguments, Call& call) {
  const auto given = std::ranges::find_if(arguments, &IValue::isGenerator);
  const bool is_given = given != arguments.end() && given->toGenerator().defined();
  call.generator = is_given ? given->toGenerator() : usualGeneratorOf(arguments);
  call.is_random |= is_given;
  const Device device = call.generator.device();
  BOXCAR_CHECK(
      !is_given || (hasGenerators(device.type()) && call.generator.key_set() == defaultGenerator(device).key_set()),
      "the tracer cannot write down {}, which draws from a generator of device '{}' with kernels of its own: "
      "draw from one that makeGenerator() gives, or call the operator outside of the trace",
      call.op, device);
  try {
    call.drawn_from = standOf(call.generator).state;
  } catch (Error& error) {
    error.addContext(
        fmt::format("the tracer needs it to write down {}: call the operator outside of the trace, or "
                    "draw from a generator that can tell",
                    call.op));
    throw;
  }
}

// ---- After the call ----

void TraceProgram::writeLine(const std::string& line) {
  if (function_) body_ += "    ";
  if (is_in_no_grad_) body_ += "    ";
  body_ += line;
  body_ += '\n';
}

void TraceProgram::writeGradMode(bool is_recorded) {
  if (is_recorded != is_in_no_grad_) return;
  if (!is_recorded) writeLine("with no_grad() {");
  is_in_no_grad_ = !is_recorded;
  if (is_recorded) writeLine("}");
}

// Returns the name of a saved tensor, at its first use. [key] is "" if it has none.
std::string TraceProgram::writeSaved(const Tensor& copy, const std::string& key, const Storage& storage) {
  // A tensor that is written as a constant is not read from a file when the trace runs, so it has no key there.
  const bool has_key = !key.empty() && copy.scalar_type() != ScalarType::ComplexDouble;
  const bool is_kept = has_key || (function_ && copy.scalar_type() != ScalarType::ComplexDouble);
  const TraceKeys::Name taken =
      is_kept ? keys_.take(has_key ? key : fmt::format("w{}", unnamed_weights_++)) : TraceKeys::Name();
  const std::string name = is_kept ? taken.variable : names_.make('t');
  if (copy.scalar_type() == ScalarType::ComplexDouble) {
    // Brackets without elements do not show all sizes.
    writeLine(fmt::format("{} = {}", name, copy.numel() == 0 ? emptyText(copy) : complexTensorText(copy)));
  } else {
    const std::string& saved_as = is_kept ? taken.key : name;
    saved_.insert_or_assign(saved_as, copy);
    const std::string element = fmt::format("{}[{}]", function_ ? function_->dict() : "tensors", keyText(saved_as));
    writeLine(fmt::format("{} = {}", name, element));
    // What has no key was made by this call, which makes it anew each time.
    if (function_ && !has_key) function_->addSaved(storage, body_.size() - 1 - element.size(), element.size());
  }
  if (graph_) graph_->addOutside(name, is_kept ? taken.key : name);
  return name;
}

void TraceProgram::writeRoot(const Outside& outside, const std::vector<CallFrame>& path) {
  const Tensor& root = outside.root;
  std::string name;
  if (root.is_meta()) {
    name = names_.make('t');
    writeLine(fmt::format("{} = {}", name, emptyText(root)));
    if (graph_) graph_->addOutside(name, name);
  } else {
    name = writeSaved(outside.copy, outside.key, root.storage());
    if (!root.is_cpu()) {
      const std::string on_host = std::exchange(name, names_.make('t'));
      const OperatorHandle to = operatorCalled("aten::to", "dtype_layout");
      writeLine(fmt::format("{} = {}({}, device={})", name, calleeText(to), on_host, constantText(root.device())));
      const TraceGraph::Use use{on_host, kindText(root)};
      if (graph_) graph_->addCall({to.operator_name().name, path, true}, {&use, 1}, {&name, 1});
    }
  }
  names_.set(root, name);
}

void TraceProgram::writeOutside(const Outside& outside, const std::vector<CallFrame>& path) {
  if (names_.find(outside.given()) != nullptr) return;
  writeStored(outside, path);
  if (!outside.lazy.defined()) return;
  writeBits(outside.tensor, outside.lazy, path);
}

void TraceProgram::writeBits(const Tensor& from, const Tensor& to, const std::vector<CallFrame>& path) {
  const DispatchKeySet differing = from.key_set() ^ to.key_set();
  Tensor shown = from;
  for (const auto& [key, op] :
       {std::pair(DispatchKey::Conjugate, "aten::_conj"), {DispatchKey::Negative, "aten::_neg_view"}}) {
    if (!differing.has(key)) continue;
    const bool is_last = key == DispatchKey::Negative || !differing.has(DispatchKey::Negative);
    const Tensor view = is_last ? to : withOtherBit(shown, key);
    const std::string source = *names_.find(shown);
    const std::string name = names_.make('t');
    writeLine(fmt::format("{} = {}({})", name, calleeText(operatorCalled(op)), source));
    const TraceGraph::Use use{source, kindText(shown)};
    if (graph_) graph_->addCall({op, path, true}, {&use, 1}, {&name, 1});
    if (kept_) kept_->calls.push_back({operatorCalled(op), {IValue(shown)}, {IValue(view)}, {}});
    names_.set(view, name);
    shown = view;
  }
}

std::string TraceProgram::writeAs(ScalarType dtype, const Storage& storage, const std::vector<CallFrame>& path) {
  const TraceNames::Base base = *names_.findBase(storage);
  const size_t bytes = storage->nbytes() - storage->nbytes() % std::max(elementSize(dtype), elementSize(base.dtype));
  const std::string flat = names_.make('t');
  const OperatorHandle as_strided = operatorCalled("aten::as_strided");
  writeLine(fmt::format("{} = {}({}, [{}], [1], 0)", flat, calleeText(as_strided), base.name,
                        bytes / elementSize(base.dtype)));
  const std::string name = names_.make('t');
  const OperatorHandle view = operatorCalled("aten::view", "dtype");
  writeLine(fmt::format("{} = {}({}, {})", name, calleeText(view), flat, dtypeName(dtype)));
  if (graph_) {
    const TraceGraph::Use uses[] = {{base.name, std::string(dtypeName(base.dtype))},
                                    {flat, std::string(dtypeName(base.dtype))}};
    graph_->addCall({as_strided.operator_name().name, path, true}, {&uses[0], 1}, {&flat, 1});
    graph_->addCall({view.operator_name().name, path, true}, {&uses[1], 1}, {&name, 1});
  }
  return name;
}

void TraceProgram::writeStored(const Outside& outside, const std::vector<CallFrame>& path) {
  if (names_.find(outside.tensor) != nullptr) return;
  const Storage& storage = outside.tensor.storage();
  if (names_.findBase(storage) == nullptr) {
    // An input that is conjugated or negated lazily, whose memory is asked for.
    if (const Tensor lazy = names_.findOn(storage); lazy.defined()) writeBits(lazy, withoutMathBits(lazy), path);
  }
  // Differentiation makes such tensors of a function's inputs, whose storages may be others when the trace runs.
  const bool is_known = function_ && names_.findBase(storage) != nullptr;
  if (const Tensor alias = is_known ? names_.findAlias(outside.tensor) : Tensor(); alias.defined()) {
    if (kept_) kept_->calls.push_back({operatorCalled("aten::alias"), {IValue(alias)}, {IValue(outside.tensor)}, {}});
    return names_.set(outside.tensor, std::string(*names_.find(alias)));
  }
  if (kept_) keepWeight(outside);
  if (names_.findBase(storage) == nullptr) {
    writeRoot(outside, path);
    if (outside.isRoot()) return;
  }
  // What is on a memory that the trace knows is a view of it, also as elements of another type: as a constant, it would
  // have the elements of this run.
  const TraceNames::Base& base = *names_.findBase(storage);
  const ScalarType dtype = outside.tensor.scalar_type();
  const std::string from = base.dtype == dtype ? base.name : writeAs(dtype, storage, path);
  const std::string name = names_.make('t');
  const OperatorHandle as_strided = operatorCalled("aten::as_strided");
  writeLine(fmt::format("{} = {}({}, {}, {}, {})", name, calleeText(as_strided), from, sizesText(outside.sizes),
                        sizesText(outside.strides), outside.offset));
  const TraceGraph::Use use{from, kindText(outside.root)};
  if (graph_) graph_->addCall({as_strided.operator_name().name, path, true}, {&use, 1}, {&name, 1});
  names_.set(outside.tensor, name);
}

void TraceProgram::writeRewritten(const Outside& outside, const Call& call) {
  const TraceNames::Base* base = names_.findBase(outside.tensor.storage());
  if (base == nullptr) return;
  const std::string from = base->name;
  const std::string flat = names_.make('t');
  const OperatorHandle as_strided = operatorCalled("aten::as_strided");
  writeLine(fmt::format("{} = {}({}, {}, [1], 0)", flat, calleeText(as_strided), from, sizesText(outside.sizes)));
  const std::string elements = writeSaved(outside.copy, "", outside.copy.storage());
  const OperatorHandle copy = operatorCalled("aten::copy_");
  writeLine(fmt::format("{}({}, {})", calleeText(copy), flat, elements));
  if (graph_) {
    const std::string label = kindText(outside.root);
    const TraceGraph::Use viewed{from, label};
    graph_->addCall({as_strided.operator_name().name, call.path, true}, {&viewed, 1}, {&flat, 1});
    const TraceGraph::Use uses[] = {{flat, label, true}, {elements, label}};
    graph_->addCall({copy.operator_name().name, call.path}, uses, {&from, 1});
  }
}

void TraceProgram::writeRandomState(const Call& call) {
  const DrawnFrom now = standOf(call.generator);
  // An operator without the tag may have a kernel that calls one with it.
  const bool drew = now.state != call.drawn_from;
  if (!call.is_random && !drew) return;
  const GeneratorState& state = call.drawn_from;
  const auto known = std::ranges::find(random_states_, now.device, &DrawnFrom::device);
  if (known == random_states_.end() || known->state != state) {
    std::string line = fmt::format("manual_seed({}", static_cast<int64_t>(state.seed));
    if (state.drawn != 0) line += fmt::format(", drawn={}", state.drawn);
    if (state.next_normal) line += fmt::format(", next_normal={}", constantText(*state.next_normal));
    if (!now.device.is_cpu()) line += fmt::format(", device={}", constantText(now.device));
    writeLine(line + ")");
    // Without a device, the line seeds all generators.
    if (now.device.is_cpu()) random_states_.clear();
  }
  std::erase_if(random_states_, [&](const DrawnFrom& other) { return other.device == now.device; });
  // Another thread may have drawn, so the next draw must not rely on this state.
  if (call.is_random) random_states_.push_back(now);
}

bool TraceProgram::hasNew(const IValue& value, int depth) const {
  if (value.isTensor()) return value.toTensor().defined() && names_.find(value.toTensor()) == nullptr;
  if (!isContainer(value) || depth > kMostNested) return false;
  if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    for (size_t i = 0; i < dict.size(); ++i) {
      if (hasNew(dict.entryAt(i).second, depth + 1)) return true;
    }
    return false;
  }
  for (size_t i = 0; i < value.length(); ++i) {
    if (hasNew(value.elementAt(i), depth + 1)) return true;
  }
  return false;
}

// Names the new tensors in [value] by expressions that start from [name]. [type] is the type that scripts know for the
// value.
void TraceProgram::nameInside(const IValue& value, TypePtr type, std::string name, Named& named) {
  if (!hasNew(value)) return;
  if (type->isOptional()) {
    type = type->element();
    // In scripts, a variable that is known not to be None can be used as its content; an element cannot.
    if (name.ends_with(']')) {
      const std::string element = std::exchange(name, names_.make(value.isTensor() ? 't' : 'l'));
      named.checks.push_back(fmt::format("{} = {}", name, element));
    }
    named.checks.push_back(fmt::format("assert {} is not None", name));
  }
  if (value.isTensor()) {
    needs_.addDevice(value.toTensor().device());
    names_.set(value.toTensor(), name);
    named.tensors.push_back(name);
  } else if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    const TypePtr inner = type->kind() == TypeKind::Dict ? type->contained()[1] : Type::any();
    for (size_t i = 0; i < dict.size(); ++i) {
      const auto [key, mapped] = dict.entryAt(i);
      if (hasNew(mapped)) nameInside(mapped, inner, fmt::format("{}[{}]", name, constantText(key)), named);
    }
  } else {
    const bool is_tuple = type->kind() == TypeKind::Tuple && type->contained().size() == value.length();
    for (size_t i = 0; i < value.length(); ++i) {
      const TypePtr inner = type->isList() ? type->element() : is_tuple ? type->contained()[i] : Type::any();
      nameInside(value.elementAt(i), inner, fmt::format("{}[{}]", name, i), named);
    }
  }
}

// "weight_to" for a view or a conversion of the tensor `weight`; "" for tensors with a numbered name.
std::string TraceProgram::derivedName(const Call& call) {
  if (!givesView(call.op.schema()) || call.text.tensors.size() != 1 || call.text.written[0]) return {};
  return keys_.derive(*names_.find(call.text.tensors[0]), call.op.operator_name().name);
}

std::string TraceProgram::nameResults(const Call& call, std::span<const IValue> results, Named& named) {
  const FunctionSchema& schema = call.op.schema();
  if (std::ranges::none_of(results, [this](const IValue& result) { return hasNew(result); })) return {};
  std::string targets;
  for (size_t i = 0; i < results.size(); ++i) {
    const IValue& result = results[i];
    // A result that occurred earlier among the results has its name by now.
    std::string name = "_";
    if (hasNew(result)) {
      name = result.isTensor() ? derivedName(call) : std::string();
      if (name.empty()) name = names_.make(result.isTensor() ? 't' : 'l');
      nameInside(result, i < schema.returns().size() ? schema.returns()[i].type() : Type::any(), name, named);
    }
    targets += fmt::format("{}{}", targets.empty() ? "" : ", ", name);
  }
  return targets + " = ";
}

void TraceProgram::update(const IValue& value, int depth) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) names_.update(value.toTensor().storage());
  } else if (isContainer(value) && !value.isGenericDict() && depth <= kMostNested) {
    for (size_t i = 0; i < value.length(); ++i) update(value.elementAt(i), depth + 1);
  }
}

void TraceProgram::end(const Call& call, std::span<const IValue> results) {
  writeGradMode(call.is_recorded);
  for (const Outside& outside : call.rewritten) writeRewritten(outside, call);
  for (const Outside& outside : call.outside) writeOutside(outside, call.path);
  writeRandomState(call);
  const auto nameOf = [this](const Tensor& tensor) { return *names_.find(tensor); };
  const std::string text = call.text.filled(nameOf);
  std::vector<TraceGraph::Use> uses;
  for (size_t i = 0; i < call.edge_labels.size(); ++i) {
    uses.push_back({nameOf(call.text.tensors[i]), call.edge_labels[i], call.text.written[i]});
  }
  Named named;
  const std::string targets = nameResults(call, results, named);
  writeLine(targets + text);
  for (const std::string& check : named.checks) writeLine(check);
  for (const IValue& result : results) update(result);
  for (size_t i = 0; i < call.text.tensors.size(); ++i) {
    const Storage& storage = call.text.tensors[i].storage();
    names_.update(storage);
    if (function_ && call.text.written[i]) function_->noteWrite(storage);
  }
  if (kept_) keepCall(call, results);
  if (!graph_) return;
  if (call.effect.empty()) {
    graph_->addCall({call.op.operator_name().name, call.path, givesView(call.op.schema())}, uses, named.tensors);
  } else {
    graph_->addEffect({call.effect, call.path}, uses);
  }
}

// ---- A function ----

void TraceProgram::beginFunction(const FunctionSchema& schema, std::span<const IValue> arguments, bool keeps_calls) {
  function_.emplace(schema, arguments);
  if (keeps_calls) {
    kept_.emplace(TracedFunction{schema, {}, {}, {}, {}, {}});
    for (const IValue& argument : arguments) kept_->arguments.push_back(withOwnContainers(argument));
  }
  for (const Argument& parameter : schema.arguments()) {
    names_.reserve(parameter.name());
    keys_.reserve(parameter.name());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& parameter = schema.arguments()[i];
    Named named;
    nameInside(arguments[i], parameter.type(), parameter.name(), named);
    BOXCAR_CHECK(
        named.tensors.size() == tensorsIn(arguments[i]),
        "{}: argument '{}' has a tensor that was passed before it: pass a clone(), because the traced function "
        "could not tell the two apart",
        schema.name(), parameter.name());
    for (const std::string& check : named.checks) writeLine(check);
    for (const std::string& check : function_->checksOf(i)) writeLine(check);
  }
}

void TraceProgram::endFunction(std::span<const IValue> results) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < results.size(); ++i) {
    TraceText text;
    try {
      text = valueText(results[i], function_->schema().returns()[i].type());
    } catch (const Error& error) {
      BOXCAR_FAIL(
          "{} returns {}, which a trace cannot return: let it return tensors, numbers and texts, alone or in "
          "lists, tuples and dicts",
          function_->schema().name(), error.message());
    }
    // Weights may be results.
    for (const Tensor& tensor : text.tensors) {
      if (names_.find(tensor) != nullptr) continue;
      Outside outside = lookAt(tensor, names_.findBase(tensor.storage()) == nullptr);
      outside.key = keys_.find(tensor);
      writeOutside(outside, {});
    }
    texts.push_back(text.filled([this](const Tensor& tensor) { return *names_.find(tensor); }));
  }
  if (texts.size() == 1) writeLine("return " + texts[0]);
  if (texts.size() > 1) writeLine(fmt::format("return ({})", fmt::join(texts, ", ")));
  if (!kept_) return;
  for (const IValue& result : results) kept_->results.push_back(withOwnContainers(result));
}

void TraceProgram::keepWeight(const Outside& outside) {
  kept_->weights.push_back({outside.tensor, outside.sizes, outside.strides, outside.offset, outside.key, outside.copy});
}

void TraceProgram::keepCall(const Call& call, std::span<const IValue> results) {
  TracedFunction::Call kept{call.op, call.arguments, {}, {}};
  for (const IValue& result : results) kept.results.push_back(withOwnContainers(result));
  if (!call.path.empty()) kept.place = call.path.back();
  if (!call.rewritten.empty()) kept_->rewritten_before.push_back(kept_->calls.size());
  kept_->calls.push_back(std::move(kept));
}

std::string TraceProgram::functionText(const std::string& tensors_file) const {
  std::string text = function_->comment();
  for (const std::string& file : needs_.files()) text += fmt::format("# needs: {}\n", file);
  if (!saved_.empty())
    text += fmt::format("const {} = io::load({})\n\n", function_->dict(), constantText(tensors_file));
  return text + function_->head() + function_->withCopies(body_) + "}\n";
}

// ---- The whole ----

std::string TraceProgram::text(const std::string& tensors_file) const {
  if (function_) return functionText(tensors_file);
  std::string head =
      "# A trace: the operator calls of one run, in their order. What that run computed without operators, such as\n"
      "# numbers from x.item(), its loops and its decisions, is constant here, whatever the tensors hold.\n";
  for (const std::string& file : needs_.files()) head += fmt::format("# needs: {}\n", file);
  if (!saved_.empty()) head += fmt::format("tensors = io::load({})\n", constantText(tensors_file));
  return head + body_ + (is_in_no_grad_ ? "}\n" : "");
}

std::string TraceProgram::dot(bool folds) const { return graph_ ? graph_->dot(folds) : TraceGraph().dot(folds); }

}  // namespace boxcar::detail
