#include <boxcar/dispatcher/library.h>
#include <boxcar/interpreter/compile_unit.h>
#include <boxcar/interpreter/executable.h>
#include <boxcar/interpreter/grammar.h>
#include <boxcar/interpreter/machine.h>
#include <boxcar/interpreter/program.h>
#include <boxcar/interpreter/script_operator.h>
#include <boxcar/interpreter/source.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace boxcar {

struct Program::State {
  State(interp::CodeUnit unit, std::vector<Diagnostic> given_warnings)
      : executable(std::make_shared<interp::Executable>(std::move(unit))), warnings(std::move(given_warnings)) {
    operators = interp::registerOperators(executable);
    executable->link();
  }

  // Kernels share it: one that still runs when the program goes keeps its code.
  std::shared_ptr<interp::Executable> executable;
  std::vector<RegistrationHandleRAII> operators;
  std::vector<Diagnostic> warnings;
};

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Program Program::compile(std::string text, std::string name) {
  Diagnostics diagnostics;
  interp::CodeUnit unit = interp::compileText(std::move(text), std::move(name), diagnostics);
  return Program(std::make_unique<State>(std::move(unit), diagnostics.all()));
}

Program Program::load(const std::string& path) { return compile(interp::readFile(path), path); }

const std::vector<Diagnostic>& Program::warnings() const noexcept { return state_->warnings; }

void Program::run() {
  const FileAccessGuard files(FileAccess{.folder = state_->executable->folder()});
  Stack stack;
  interp::Machine::current().call(*state_->executable, 0, stack);
}

namespace interp {

CodeUnit compileText(std::string text, std::string name, Diagnostics& diagnostics) {
  const syntax::SyntaxTree tree = syntax::parse(Source::create(std::move(name), std::move(text)), diagnostics);
  diagnostics.throwIfErrors();
  CodeUnit unit = compileUnit(tree, diagnostics);
  diagnostics.throwIfErrors();
  return unit;
}

std::string readFile(const std::string& path) {
  std::error_code error;
  BOXCAR_CHECK(!std::filesystem::is_directory(path, error), "{}: cannot be read: it is a directory", path);
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  BOXCAR_CHECK(file != nullptr, "{}: cannot be opened: {}", path, std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  while (const size_t size = std::fread(buffer, 1, sizeof(buffer), file.get())) text.append(buffer, size);
  BOXCAR_CHECK(std::ferror(file.get()) == 0, "{}: cannot be read: {}", path, std::strerror(errno));
  return text;
}

}  // namespace interp
}  // namespace boxcar
