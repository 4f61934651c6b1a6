#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/cuda/available.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/bytecode/disassembler.h>
#include <boxcar/interpreter/cli/argument_keys.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/explain_text.h>
#include <boxcar/interpreter/cli/find_operator.h>
#include <boxcar/interpreter/cli/handler_options.h>
#include <boxcar/interpreter/cli/operator_docstrings.h>
#include <boxcar/interpreter/cli/repl/commands.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/cli/table_text.h>
#include <boxcar/interpreter/cli/value_summary.h>
#include <boxcar/interpreter/service/text.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace boxcar::cli {
namespace {

constexpr std::string_view kSeparators = " \t\r";
constexpr std::chrono::milliseconds kTimingLength(300);
constexpr size_t kShownText = 60;

bool isOperatorName(std::string_view text) {
  const auto isPart = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           c == '.';
  };
  return !text.empty() && std::ranges::all_of(text, isPart) && !(text[0] >= '0' && text[0] <= '9');
}

// Returns the qualified name: `relu` means `aten::relu` at the prompt, too.
std::string wholeName(std::string_view name) {
  if (name.find("::") != std::string_view::npos) return std::string(name);
  const std::string_view base = name.substr(0, name.find('.'));
  for (const std::string_view space : {"aten", "prim"}) {
    if (!Dispatcher::singleton().findOverloads(fmt::format("{}::{}", space, base)).empty())
      return fmt::format("{}::{}", space, name);
  }
  return std::string(name);
}

void need(std::string_view argument, std::string_view form) {
  BOXCAR_CHECK(!argument.empty(), "it is called {}", form);
}

// Prints a schema and below it what the operator or function does, as editors show it.
void printDescribed(const FunctionSchema& schema, std::string_view text) {
  std::string shown = toString(schema) + "\n";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    shown += fmt::format("    {}\n", line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  print(shown);
}

void printOperator(const Prompt& prompt, const FunctionSchema& schema) {
  Span place;
  const interp::CodeUnit* unit = prompt.session.codeOf(schema.operator_name(), place);
  printDescribed(schema, unit != nullptr ? service::commentAbove(*unit->source, place.begin)
                                         : std::string(operatorDocstrings().find(toString(schema.operator_name()))));
}

void printFunction(const Prompt& prompt, const FunctionSchema& schema) {
  size_t index = 0;
  const interp::CodeUnit* unit = prompt.session.codeOf(schema.name(), index);
  const auto declared = std::ranges::find(
      unit->exports, schema.name(), [](const auto& exported) -> const std::string& { return exported.schema.name(); });
  printDescribed(schema, service::commentAbove(*unit->source, declared->span.begin));
}

void showSchema(Prompt& prompt, std::string_view argument) {
  need(argument, ":schema NAME or :schema EXPRESSION");
  static_cast<void>(cuda::isAvailable());  // asking registers its operators
  if (isOperatorName(argument)) {
    for (const FunctionSchema& schema : prompt.session.functions()) {
      if (schema.name() == argument) return printFunction(prompt, schema);
    }
    const std::string name = wholeName(argument);
    const auto overloads = Dispatcher::singleton().findOverloads(name);
    if (overloads.empty()) return printOperator(prompt, findOperator(name).schema());
    for (const OperatorHandle& op : overloads) printOperator(prompt, op.schema());
    return;
  }
  const interp::CodeUnit unit = prompt.session.compile(std::string(argument));
  for (const interp::OperatorSite& site : unit.operator_sites) {
    printOperator(
        prompt,
        Dispatcher::singleton().findSchemaOrThrow(site.name.name.c_str(), site.name.overload_name.c_str()).schema());
  }
  for (const interp::DynamicSite& site : unit.dynamic_sites)
    print(fmt::format("{}: the overload is selected at the call\n", site.name));
  if (unit.operator_sites.empty() && unit.dynamic_sites.empty()) print("it calls no operator\n");
}

void showTable(Prompt&, std::string_view argument) {
  need(argument, ":table OPERATOR");
  static_cast<void>(cuda::isAvailable());
  print(tableText(findOperator(wholeName(argument)), false));
}

// Explains the last operator call that [text] itself makes, with its arguments; runs [text] to find them.
void explainCall(Prompt& prompt, std::string_view text) {
  std::optional<std::pair<OperatorHandle, Stack>> last;
  {
    const ModeGuard watch([&last](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
      const size_t count = op.schema().arguments().size();
      last.emplace(op, Stack(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end()));
      op.redispatchBoxed(keys, stack);
    });
    reportDiagnostics(prompt.session.evaluate(std::string(text)).warnings);
  }
  BOXCAR_CHECK(last.has_value(), "no operator was called: the compiler computed the constant expression");
  const std::string gradient = autograd::describeGradient(last->first);
  print(explanationText(explainDispatch(last->first, last->second), gradient, autocast::describeCast(last->first)));
}

void explain(Prompt& prompt, std::string_view argument) {
  need(argument, ":explain OPERATOR or :explain CALL");
  static_cast<void>(cuda::isAvailable());
  if (!isOperatorName(argument)) return explainCall(prompt, argument);
  const OperatorHandle op = findOperator(wholeName(argument));
  const std::string gradient = autograd::describeGradient(op);  // this comes first: it registers kernels
  print(explanationText(explainDispatch(op, readArguments(op.schema(), {})), gradient, autocast::describeCast(op)));
}

void showCode(Prompt& prompt, std::string_view argument) {
  need(argument, ":dis FUNCTION or :dis INPUT");
  size_t index = 0;
  if (const interp::CodeUnit* unit = prompt.session.codeOf(argument, index))
    return print(interp::disassembleFunction(*unit, index));
  print(interp::disassembleFunction(prompt.session.compile(std::string(argument)), 0));
}

std::string shownTime(std::chrono::nanoseconds time) {
  const double count = static_cast<double>(time.count());
  if (count < 1e3) return fmt::format("{:.0f} ns", count);
  if (count < 1e6) return fmt::format("{:.2f} us", count / 1e3);
  if (count < 1e9) return fmt::format("{:.2f} ms", count / 1e6);
  return fmt::format("{:.2f} s", count / 1e9);
}

void timeExpression(Prompt& prompt, std::string_view argument) {
  need(argument, ":time EXPRESSION");
  auto times = prompt.session.time(std::string(argument), kTimingLength);
  std::ranges::sort(times);
  print(fmt::format("{} median of {} run{}, {} to {}\n", shownTime(times[times.size() / 2]), times.size(),
                    times.size() == 1 ? "" : "s", shownTime(times.front()), shownTime(times.back())));
}

void switchMode(Prompt& prompt, std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find_first_of(kSeparators));
  const std::string_view rest = utf8::withoutSpaces(argument.substr(name.size()));
  if (name.empty()) {
    const auto on = prompt.session.switchedOn();
    print(on.empty() ? "nothing is switched on\n" : fmt::format("on, the innermost last: {}\n", fmt::join(on, ", ")));
    return;
  }
  if (name == "off") {
    BOXCAR_CHECK(rest.empty(), "`:mode off` switches the innermost off, and takes no name");
    printError(prompt.session.switchOff());
    return;
  }
  if (const HandlerKind* kind = findHandlerKind(name)) {
    prompt.session.switchOn(makeHandler(*kind, rest), std::string(argument));
    return;
  }
  const std::vector<std::string> modes = prompt.session.modes();
  std::vector<std::string_view> known(modes.begin(), modes.end());
  for (const HandlerKind* kind : handlerKinds()) known.push_back(kind->name());
  BOXCAR_CHECK(std::ranges::find(modes, name) != modes.end(), "there is no handler or mode '{}'.{}", name,
               didYouMean(name, known));
  BOXCAR_CHECK(rest.empty(), "{} is a mode of the session, which takes no arguments", name);
  prompt.session.switchOnMode(std::string(name));
}

void showVariables(Prompt& prompt, std::string_view) {
  std::vector<std::vector<std::string>> lines;
  for (const Session::Variable& variable : prompt.session.variables()) {
    std::string text;
    if (variable.value.isTensor() && variable.value.toTensor().defined()) {
      text = sizeAndDtype(variable.value.toTensor());
    } else {
      text = variable.value.isString() ? pythonStringRepr(variable.value.toStringRef()) : summaryOf(variable.value);
      size_t end = std::min(text.find('\n'), kShownText);
      if (end < text.size()) {
        while (utf8::isContinuation(text[end])) --end;
        text.resize(end);
        text += " ...";
      }
    }
    lines.push_back({variable.name, fmt::format("{}", *variable.type), std::move(text)});
  }
  if (!lines.empty()) print(reportTable(lines, "<"));
  for (const FunctionSchema& schema : prompt.session.functions()) print("fn " + toString(schema) + "\n");
  for (const std::string& mode : prompt.session.modes()) print("mode " + mode + "\n");
}

void reset(Prompt& prompt, std::string_view) { prompt.session.reset(); }

void load(Prompt& prompt, std::string_view argument) {
  need(argument, ":load FILE");
  const std::string path(argument);
  BOXCAR_CHECK(path != "-", "`:load` reads a file, and - is none");
  // The sandbox applies to inputs, and this file is one.
  protectFile(path);
  std::string text = fileAccess().restricted() ? readWholeFile(path) : interp::readFile(path);
  const Session::Result result = prompt.session.evaluate(std::move(text), interp::nameOfFile(path));
  reportDiagnostics(result.warnings);
}

void quit(Prompt& prompt, std::string_view) { prompt.is_done = true; }

void help(Prompt& prompt, std::string_view argument);

struct PromptCommand {
  std::string_view name;
  std::string_view argument;
  std::string_view line;
  std::string_view more;
  void (*run)(Prompt&, std::string_view);
};

constexpr PromptCommand kPromptCommands[] = {
    {"schema", "NAME | EXPR", "the schemas of an operator or a function, or of what a call means",
     "Below each stands its docstring, or the comment above its declaration. Without a namespace an\n"
     "operator is one of aten's. An expression is compiled, not run: the overloads that its calls mean\n"
     "are shown, in order.",
     showSchema},
    {"table", "OPERATOR", "the kernel of each dispatch key, and who registered it", "As `boxcar table OPERATOR`.",
     showTable},
    {"explain", "OPERATOR | CALL", "how a call finds its kernel",
     "An operator is explained for tensors on the CPU, as by `boxcar explain OPERATOR`. A call is\n"
     "run, and its outermost operator explained for the tensors that it got.",
     explain},
    {"dis", "FUNCTION | INPUT", "the bytecode of a function, or of an input that is not run",
     "As `boxcar dis` shows it.", showCode},
    {"time", "EXPR", "how long an expression takes: the median of many runs",
     "It is run for about 0.3 s, at least once; what it prints is printed each time.", timeExpression},
    {"mode", "[NAME ARGS | off]", "switches a handler or a mode on for the following inputs",
     "NAME is a handler, such as `profile out.json` or `check_nan`, with what stands behind its option\n"
     "on the command line, or a mode of the session. `:mode off` ends the innermost one, writes its\n"
     "report or runs its `exit`; `:mode` tells what is on. What is on at the end is ended then.",
     switchMode},
    {"vars", "", "variables and constants, functions and modes", "", showVariables},
    {"load", "FILE", "runs a script as if it were typed here; what it declares stays", "", load},
    {"reset", "", "removes everything that inputs have defined", "What is switched on by :mode stays on.", reset},
    {"help", "[COMMAND]", "this, or more about a command", "", help},
    {"quit", "", "ends, as Ctrl-D does", "", quit},
};

const PromptCommand& findPromptCommand(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PromptCommand& command : kPromptCommands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  BOXCAR_FAIL("there is no command ':{}'.{} `:help` lists all", name, didYouMean(name, names));
}

void help(Prompt& prompt, std::string_view argument) {
  if (!argument.empty()) {
    const PromptCommand& command = findPromptCommand(argument.starts_with(':') ? argument.substr(1) : argument);
    print(fmt::format(":{}{}{}\n{}\n{}{}", command.name, command.argument.empty() ? "" : " ", command.argument,
                      command.line, command.more, command.more.empty() ? "" : "\n"));
    return;
  }
  print(
      "Statements run at once, and the value of an expression is shown. An open bracket or block continues\n"
      "on the next line. Ctrl-C discards a line or stops a run, Ctrl-D ends the prompt.\n");
  for (const PromptCommand& command : kPromptCommands)
    print(fmt::format("  {:<28}{}\n", fmt::format(":{} {}", command.name, command.argument), command.line));
  print("Large lists and dicts are abbreviated; print(x) shows everything.\n");
  print(prompt.edits ? "Arrow keys edit the line and recall previous ones, Tab completes.\n"
                     : "Lines cannot be edited here: that needs a terminal, and libedit (package libedit2).\n");
}

}  // namespace

bool isPromptCommand(std::string_view line) { return utf8::withoutSpaces(line).starts_with(':'); }

void runPromptCommand(Prompt& prompt, std::string_view line) {
  const std::string_view text = utf8::withoutSpaces(line).substr(1);
  const std::string_view name = text.substr(0, text.find_first_of(kSeparators));
  const PromptCommand& command = findPromptCommand(name);
  const std::string_view argument = utf8::withoutSpaces(text.substr(name.size()));
  BOXCAR_CHECK(argument.empty() || !command.argument.empty(), "`:{}` takes no argument; '{}' is too much", name,
               argument);
  command.run(prompt, argument);
}

std::vector<std::string> promptCommands() {
  std::vector<std::string> names;
  for (const PromptCommand& command : kPromptCommands) names.push_back(fmt::format(":{}", command.name));
  return names;
}

std::string commandMeantBy(const Session& session, std::string_view input) {
  const std::string_view word = utf8::withoutSpaces(input.substr(0, input.find_first_of("(\n")));
  const auto isWord = [word](const auto& each) { return each == word; };
  if (std::ranges::any_of(session.variables(), isWord, &Session::Variable::name)) return {};
  if (std::ranges::any_of(session.functions(), isWord, &FunctionSchema::name)) return {};
  if (word == "exit" || word == "quit") return "`:quit` ends the prompt";
  if (word == "help") return "`:help` lists the commands of the prompt";
  return {};
}

std::string shownResult(const Session::Result& result) {
  const IValue& value = *result.value;
  if (value.isString() && !result.is_name) return pythonStringRepr(value.toStringRef());
  return summaryOf(value);
}

}  // namespace boxcar::cli
