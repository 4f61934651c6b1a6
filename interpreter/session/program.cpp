#include <boxcar/interpreter/bytecode/verifier.h>
#include <boxcar/interpreter/compiler/compile_unit.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/script_function.h>
#include <boxcar/interpreter/session/loaded_script.h>
#include <boxcar/interpreter/session/module_files.h>
#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_error.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace boxcar {

using interp::CodeExport;
using interp::LoadedScript;
using interp::Machine;
using interp::ModuleFiles;

namespace {

interp::CodeUnit compileWith(ModuleFiles& files, std::string text, std::string name, Diagnostics& diagnostics) {
  const syntax::SyntaxTree tree = syntax::parse(Source::create(std::move(name), std::move(text)), diagnostics);
  diagnostics.throwIfErrors();
  interp::CodeUnit unit = interp::compileUnit(tree, diagnostics, &files);
  diagnostics.throwIfErrors();
  return unit;
}

}  // namespace

Program::Program(std::shared_ptr<LoadedScript> script) : script_(std::move(script)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Program Program::compile(std::string text, std::string name) {
  Diagnostics diagnostics;
  ModuleFiles files(name);
  interp::CodeUnit unit = compileWith(files, std::move(text), std::move(name), diagnostics);
  auto modules = files.modulesOf(unit);
  Program program(std::make_shared<LoadedScript>(std::move(unit), std::move(modules)));
  program.script_->warnings = diagnostics.all();
  return program;
}

Program Program::load(const std::string& path) { return compile(interp::readFile(path), interp::nameOfFile(path)); }

Program Program::fromUnit(interp::CodeUnit unit) {
  interp::verify(unit);  // before its imports are read
  ModuleFiles files(unit.source->name());
  auto modules = files.modulesOf(unit);
  return Program(std::make_shared<LoadedScript>(std::move(unit), std::move(modules)));
}

namespace {

// Withdraws a script's operators, which another text of it defines, until it is destroyed.
class WithdrawnOperators final {
 public:
  explicit WithdrawnOperators(std::shared_ptr<LoadedScript> script) : script_(std::move(script)) {
    for (const interp::CodeOperator& each : operators()) script_->withdrawOperator(each.schema.operator_name());
  }
  WithdrawnOperators(const WithdrawnOperators&) = delete;
  WithdrawnOperators& operator=(const WithdrawnOperators&) = delete;
  ~WithdrawnOperators() {
    if (script_ == nullptr) return;
    for (const interp::CodeOperator& each : operators()) script_->restoreOperator(each.schema.operator_name());
  }

  void leave() noexcept { script_ = nullptr; }

 private:
  const std::vector<interp::CodeOperator>& operators() const { return script_->executable().unit().operators; }

  std::shared_ptr<LoadedScript> script_;
};

}  // namespace

void Program::prepare(const std::vector<std::string>& rules) {
  const std::shared_ptr<LoadedScript> old = script_;
  const interp::CodeUnit& unit = old->executable().unit();
  const std::string name = unit.source->name();
  WithdrawnOperators withdrawn(old);
  interp::PreparedScript script = interp::prepareScript(std::string(unit.source->text()), name, rules);
  if (script.imports.empty() && script.text == unit.source->text()) return;
  Diagnostics diagnostics;
  ModuleFiles files(name, std::move(script.imports));
  interp::CodeUnit prepared = compileWith(files, std::move(script.text), name, diagnostics);
  auto modules = files.modulesOf(prepared);
  script_ = std::make_shared<LoadedScript>(std::move(prepared), std::move(modules));
  withdrawn.leave();
  script_->warnings = diagnostics.all();
  script_->setLimits(old->executable().limits());
}

const std::vector<Diagnostic>& Program::warnings() const noexcept { return script_->warnings; }

void Program::setLimits(const RunLimits& limits) { script_->setLimits(limits); }

void Program::run(const std::vector<std::string>& args) const {
  Stack stack;
  // It keeps running even if its code destroys the Program.
  const std::shared_ptr<const LoadedScript> script = script_;
  const interp::Executable& program = script->executable();
  if (program.unit().functions[0].argument_count != 0) {
    const GenericList argv;
    for (const std::string& arg : args) argv.push_back(IValue(arg));
    stack.push_back(argv);
  }
  Machine::current().run(program, 0, stack, program.limits());
}

// ---- Functions ----

Program::Function::Function(std::shared_ptr<const LoadedScript> script, size_t index) noexcept
    : script_(std::move(script)), index_(index) {}

const FunctionSchema& Program::Function::schema() const noexcept {
  return script_->executable().unit().exports[index_].schema;
}

void Program::Function::call(Stack& stack) const {
  // A running function keeps its script even if its code destroys the last Program.
  const std::shared_ptr<const LoadedScript> script = script_;
  const interp::Executable& program = script->executable();
  interp::callExported(program, program.unit().exports[index_], stack);
}

Program::Function Program::function(std::string_view name) const {
  const std::vector<CodeExport>& exports = script_->executable().unit().exports;
  std::vector<std::string> names;
  for (size_t i = 0; i < exports.size(); ++i) {
    names.push_back(interp::exportedName(exports[i]));
    if (names.back() == name) return Function(script_, i);
  }
  throw RuntimeError(interp::withSuggestion(
      fmt::format("{} has no function called `{}`", script_->executable().unit().source->name(), name), name,
      std::vector<std::string_view>(names.begin(), names.end())));
}

std::vector<FunctionSchema> Program::functions() const {
  std::vector<FunctionSchema> schemas;
  for (const CodeExport& exported : script_->executable().unit().exports) {
    if (!interp::isMethod(exported)) schemas.push_back(exported.schema);
  }
  return schemas;
}

namespace interp {

CodeUnit compileText(std::string text, std::string name, Diagnostics& diagnostics) {
  ModuleFiles files(name);
  return compileWith(files, std::move(text), std::move(name), diagnostics);
}

std::string nameOfFile(const std::string& path) { return path == "-" ? "<stdin>" : path; }

std::string readFile(const std::string& path) {
  std::error_code error;
  BOXCAR_CHECK(!std::filesystem::is_directory(path, error), "{}: cannot be read: it is a directory", path);
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) throwFileError(errno, fmt::format("{}: cannot be opened", path));
  std::string text;
  char buffer[1 << 16];
  while (const size_t size = std::fread(buffer, 1, sizeof(buffer), file.get())) text.append(buffer, size);
  BOXCAR_CHECK(std::ferror(file.get()) == 0, "{}: cannot be read: {}", nameOfFile(path), std::strerror(errno));
  return text;
}

}  // namespace interp
}  // namespace boxcar
