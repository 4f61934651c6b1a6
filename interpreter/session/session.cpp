#include <boxcar/interpreter/compiler/compile_unit.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/open_scope.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/runtime/script_handler.h>
#include <boxcar/interpreter/session/module_files.h>
#include <boxcar/interpreter/session/session.h>
#include <boxcar/interpreter/session/session_names.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace boxcar {

using namespace interp;

namespace {

// Stands for a variable that is not set. The compiler makes sure that nothing reads it.
class UnsetObject final : public CustomClassHolder {
 public:
  std::string className() const override { return "Unset"; }
};

const IValue& unset() {
  static const IValue value(IntrusivePtr<CustomClassHolder>(makeIntrusive<UnsetObject>()));
  return value;
}

bool isUnset(const IValue& value) {
  return value.isObject() && dynamic_cast<const UnsetObject*>(value.toObject().get()) != nullptr;
}

bool isDeclaration(const syntax::Stmt& statement) {
  using boost::variant2::holds_alternative;
  const syntax::Stmt::Node& node = statement.node;
  return holds_alternative<syntax::Use>(node) || holds_alternative<syntax::Import>(node) ||
         holds_alternative<syntax::Function>(node) || holds_alternative<syntax::Operator>(node) ||
         holds_alternative<syntax::Struct>(node) || holds_alternative<syntax::Mode>(node);
}

// Returns what is known about the variables if the statements failed at [failed]: the state where the innermost
// statement there begins.
const Environment* environmentAt(const InputOutline& outline, Span failed) {
  const InputOutline::Place* innermost = nullptr;
  for (const InputOutline::Place& place : outline.places) {
    if (place.span.begin > failed.begin || place.span.end < failed.end) continue;
    const auto length = [](Span span) { return span.end - span.begin; };
    if (innermost == nullptr || length(place.span) < length(innermost->span)) innermost = &place;
  }
  return innermost == nullptr ? nullptr : &innermost->environment;
}

}  // namespace

struct Session::State {
  struct KnownVariable {
    IValue value;
    TypePtr type;
    typed::FieldNames fields;
  };
  struct Switched {
    std::string title;
    std::unique_ptr<Handler> handler;      // or
    std::shared_ptr<LoadedScript> script;  // the script of the mode
    uint32_t mode = 0;
  };
  // A compiled input.
  struct Input {
    syntax::SyntaxTree tree;
    CodeUnit unit;
    InputOutline outline;
    std::vector<std::shared_ptr<LoadedScript>> earlier;  // the unit's first modules
  };

  Input compile(ModuleFiles& files, std::string text, std::string name, Diagnostics& diagnostics) const {
    Input input;
    input.tree = syntax::parse(Source::create(std::move(name), std::move(text)), diagnostics);
    diagnostics.throwIfErrors();
    EarlierInputs earlier;
    const std::set<std::string> words = wordsOf(input.tree.source->text());
    for (const std::string& word : words) {
      const auto variable = variables.find(word);
      if (variable != variables.end())
        earlier.variables.push_back({word, variable->second.type, variable->second.fields});
      const auto constant = constants.find(word);
      if (constant != constants.end()) earlier.constants.push_back({word, constant->second.type});
    }
    earlier.uses = uses;
    input.earlier = names.modulesFor(words, earlier.modules);
    earlier.defined = [this](const OperatorName& op) { return names.hasOperator(op); };
    earlier.fault_of = [this](const FunctionSchema& schema) { return names.faultOf(schema); };
    input.unit = compileInput(input.tree, diagnostics, &files, earlier, input.outline);
    diagnostics.throwIfErrors();
    return input;
  }

  std::shared_ptr<LoadedScript> load(ModuleFiles& files, Input& input) {
    auto modules = files.modulesOf(input.unit, input.earlier);
    // Scripts that are only mentioned, such as by a function that is declared again, need not be kept.
    for (uint32_t i = 0; i < input.earlier.size(); ++i) {
      const auto calls = [i](const CodeImport& import) { return import.module == i; };
      const auto opens = [i](const CodeScope& scope) {
        return scope.kind == CodeScopeKind::ImportedMode && scope.index == i;
      };
      const auto makes = [i](const CodeStruct& each) {
        return each.origin == CodeStruct::Origin::Imported && each.module == i;
      };
      if (!std::ranges::any_of(input.unit.imports, calls) && !std::ranges::any_of(input.unit.scopes, opens) &&
          !std::ranges::any_of(input.unit.structs, makes))
        modules[i] = nullptr;
    }
    const std::vector<CodeOperator> operators = input.unit.operators;
    for (const CodeOperator& op : operators) names.withdraw(op.schema.operator_name());
    std::shared_ptr<LoadedScript> script;
    try {
      script = std::make_shared<LoadedScript>(std::move(input.unit), std::move(modules));
    } catch (...) {
      for (const CodeOperator& op : operators) names.restore(op.schema.operator_name());
      throw;
    }
    script->registrations().on_first = [this](const CodeHandler& handler) { names.replaceHandler(handler); };
    const Executable& program = script->executable();
    for (size_t i = input.outline.own_constants; i < program.unit().globals.size(); ++i) {
      GlobalValue& global = program.global(static_cast<uint32_t>(i));
      if (!global.once.begin()) continue;
      global.value = constants.at(program.unit().globals[i].name).value;
      global.once.finish();
    }
    return script;
  }

  // Returns the values of the input's variables, followed by its value. Throws ScriptError.
  std::vector<IValue> run(const Input& input, const LoadedScript& script, std::vector<IValue>& left) const {
    Stack stack;
    for (const std::string& name : input.outline.variables) {
      const auto known = variables.find(name);
      stack.push_back(known == variables.end() ? unset() : known->second.value);
    }
    // Switched on only while an input runs: what the compiler computes ahead is not a call by the input.
    std::vector<std::unique_ptr<std::variant<std::monostate, HandlerGuard, OpenScope>>> guards;
    const auto leave = [&guards] {
      while (!guards.empty()) guards.pop_back();
    };
    for (const Switched& each : switched) {
      auto& guard = *guards.emplace_back(std::make_unique<std::variant<std::monostate, HandlerGuard, OpenScope>>());
      if (each.handler != nullptr) {
        guard.emplace<HandlerGuard>(*each.handler);
      } else {
        guard.emplace<OpenScope>(each.script->executable(), CodeScope{CodeScopeKind::Mode, each.mode, {}, {}}, nullptr);
      }
    }
    try {
      Machine::current().runInput(script.executable(), stack, names.limits(), left);
    } catch (...) {
      leave();
      throw;
    }
    leave();
    const IValue result = pop(stack);
    // Statements whose end is unreachable leave nothing.
    if (!result.isTuple()) return {};
    const auto elements = result.toTuple().elements();
    return {elements.begin(), elements.end()};
  }

  void keep(const InputOutline& outline, std::span<const IValue> values, const Environment* known, bool failed) {
    for (size_t i = 0; i < outline.variables.size() && i < values.size(); ++i) {
      const std::string& name = outline.variables[i];
      if (name.empty()) continue;
      if (isUnset(values[i])) {
        variables.erase(name);
        continue;
      }
      const Binding binding = known == nullptr ? Binding() : known->at(static_cast<typed::VariableId>(i));
      const bool fits = binding.type != nullptr && (!failed || matches(values[i], binding.type));
      variables[name] = {values[i], fits ? binding.type : typeOf(values[i]), fits ? binding.fields : nullptr};
    }
  }

  // Makes the input's declarations known to later inputs.
  void adopt(const Input& input, const std::shared_ptr<LoadedScript>& script) {
    const CodeUnit& unit = script->executable().unit();
    for (const std::string& name : names.add(script, input.earlier.size())) constants.erase(name);
    for (size_t i = 0; i < input.outline.own_constants; ++i) {
      const GlobalValue& global = script->executable().global(static_cast<uint32_t>(i));
      if (!global.once.isDone()) continue;
      const std::string& name = unit.globals[i].name;
      constants[name] = {global.value, unit.globals[i].type, nullptr};
      variables.erase(name);
      names.forget(name);
    }
    for (const syntax::StmtPtr& statement : input.tree.statements) {
      if (isDeclaration(*statement)) declarations.append(input.tree.source->text(statement->span)).append("\n");
      const auto* use = boost::variant2::get_if<syntax::Use>(&statement->node);
      if (use == nullptr) continue;
      std::erase(uses, use->space.text);
      uses.emplace_back(use->space.text);
    }
  }

  std::map<std::string, KnownVariable> variables;
  std::map<std::string, KnownVariable> constants;
  SessionNames names;
  std::vector<std::string> uses;
  std::string declarations;
  std::vector<Switched> switched;
  std::vector<std::string> args;
  size_t count = 0;
};

Session::Session(std::vector<std::string> args) : state_(std::make_unique<State>()) {
  state_->args = std::move(args);
  reset();
}

Session::~Session() = default;

Session::Result Session::evaluate(std::string text) {
  return evaluate(std::move(text), fmt::format("<input {}>", ++state_->count));
}

Session::Result Session::evaluate(std::string text, std::string name) {
  Diagnostics diagnostics;
  State::Input input;
  std::shared_ptr<LoadedScript> script;
  {
    ModuleFiles files(name);
    input = state_->compile(files, std::move(text), std::move(name), diagnostics);
    script = state_->load(files, input);
  }
  std::vector<IValue> left;
  std::vector<IValue> values;
  try {
    values = state_->run(input, *script, left);
  } catch (const ScriptError& error) {
    const Environment* known =
        error.frames().empty() ? nullptr : environmentAt(input.outline, error.frames()[0].place.span);
    state_->keep(input.outline, left, known, true);
    state_->adopt(input, script);
    throw;
  }
  Result result;
  result.warnings = diagnostics.all();
  const size_t count = input.outline.variables.size();
  if (input.outline.has_value && values.size() > count) {
    result.value = values.back();
    result.is_name = input.outline.value_is_name;
  }
  state_->keep(input.outline, values, &input.outline.at_end, false);
  state_->adopt(input, script);
  return result;
}

bool Session::isUnfinished(std::string text) {
  return syntax::isUnfinished(Source::create("<input>", std::move(text)));
}

CodeUnit Session::compile(std::string text) const {
  Diagnostics diagnostics;
  ModuleFiles files("<input>");
  return state_->compile(files, std::move(text), "<input>", diagnostics).unit;
}

std::vector<std::chrono::nanoseconds> Session::time(std::string text, std::chrono::nanoseconds length) {
  using Clock = std::chrono::steady_clock;
  Diagnostics diagnostics;
  State::Input input;
  std::shared_ptr<LoadedScript> script;
  {
    ModuleFiles files("<input>");
    input = state_->compile(files, std::move(text), "<input>", diagnostics);
    const auto isExpression = [](const syntax::StmtPtr& statement) {
      return boost::variant2::get_if<syntax::ExpressionStatement>(&statement->node) != nullptr;
    };
    BOXCAR_CHECK(input.tree.statements.size() == 1 && isExpression(input.tree.statements[0]),
                 "only an expression can be timed; put this into a function and time its call");
    script = state_->load(files, input);
  }
  std::vector<std::chrono::nanoseconds> times;
  std::vector<IValue> left;
  const Clock::time_point begin = Clock::now();
  Clock::time_point now = begin;
  do {
    state_->run(input, *script, left);
    const Clock::time_point end = Clock::now();
    times.push_back(end - now);
    now = end;
  } while (now - begin < length);
  return times;
}

std::vector<Session::Variable> Session::variables() const {
  std::vector<Variable> all;
  for (const auto* known : {&state_->variables, &state_->constants}) {
    for (const auto& [name, variable] : *known) all.push_back({name, variable.type, variable.value});
  }
  std::ranges::sort(all, {}, &Variable::name);
  return all;
}

std::vector<FunctionSchema> Session::functions() const { return state_->names.functions(); }

const CodeUnit* Session::codeOf(std::string_view function, size_t& index) const {
  return state_->names.codeOf(function, index);
}

const CodeUnit* Session::codeOf(const OperatorName& op, Span& place) const { return state_->names.codeOf(op, place); }

const std::string& Session::declarations() const noexcept { return state_->declarations; }

std::vector<std::string> Session::modes() const { return state_->names.modes(); }

void Session::switchOn(std::unique_ptr<Handler> handler, std::string title) {
  state_->switched.push_back({std::move(title), std::move(handler), nullptr, 0});
}

void Session::switchOnMode(const std::string& name) {
  const std::vector<std::string> known = modes();
  if (std::ranges::find(known, name) == known.end()) {
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    throw RuntimeError(withSuggestion(fmt::format("the session has no mode called `{}`", name), name, candidates));
  }
  std::shared_ptr<LoadedScript> script = state_->names.scriptOf(name);
  const uint32_t mode = script->executable().modeNamed(name);
  state_->switched.push_back({name, nullptr, std::move(script), mode});
}

std::vector<std::string> Session::switchedOn() const {
  std::vector<std::string> titles;
  for (const State::Switched& each : state_->switched) titles.push_back(each.title);
  return titles;
}

std::string Session::switchOff(bool failed) {
  BOXCAR_CHECK(!state_->switched.empty(), "nothing is switched on");
  const State::Switched last = std::move(state_->switched.back());
  state_->switched.pop_back();
  if (last.handler != nullptr) return last.handler->finish(failed);
  const Executable& program = last.script->executable();
  const std::optional<uint32_t> exit = program.unit().handlers[last.mode].exit;
  if (!exit) return {};
  const auto lock = lockHandlers();
  Stack stack;
  Machine::current().run(program, *exit, stack, state_->names.limits());
  return {};
}

void Session::reset() {
  state_->variables.clear();
  state_->constants.clear();
  state_->names = SessionNames(state_->names.limits());
  state_->uses.clear();
  state_->declarations.clear();
  const GenericList argv;
  for (const std::string& arg : state_->args) argv.push_back(IValue(arg));
  state_->variables["argv"] = {argv, Type::listOf(Type::string()), nullptr};
}

void Session::setLimits(const RunLimits& limits) noexcept { state_->names.setLimits(limits); }

}  // namespace boxcar
