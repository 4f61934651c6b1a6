#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_error.h>
#include <boxcar/python/error.h>
#include <boxcar/python/functions.h>
#include <boxcar/python/program.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/wait.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace boxcar::python {
namespace {

// ---- Ctrl-C ----

struct sigaction python_handler = {};

// Ends the runs of scripts, and does what Python does: it notes the signal, and raises KeyboardInterrupt later.
void interrupt(int number, siginfo_t* info, void* context) {
  interruptScripts();
  if ((python_handler.sa_flags & SA_SIGINFO) != 0) {
    python_handler.sa_sigaction(number, info, context);
  } else if (python_handler.sa_handler != SIG_DFL && python_handler.sa_handler != SIG_IGN) {
    python_handler.sa_handler(number);
  }
}

// Puts interrupt() before Python's handler of SIGINT, if Python has one now. signal.signal() takes it away again, so
// each run asks.
void catchInterrupts() noexcept {
  struct sigaction current = {};
  if (sigaction(SIGINT, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0) {
    if (current.sa_sigaction == &interrupt) return;
  } else if (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN) {
    return;
  }
  python_handler = current;
  struct sigaction own = current;
  own.sa_flags |= SA_SIGINFO;
  own.sa_sigaction = &interrupt;
  sigaction(SIGINT, &own, nullptr);
}

// catchInterrupts() for calls that may be short: asks the system at most once in a tick of its coarse clock, some
// milliseconds, unless Python's handler is another one than it was. Needs the GIL.
void catchInterruptsAgain() noexcept {
  static PyObject* const get_signal = [] {
    PyObject* const module = PyImport_ImportModule("_signal");
    return module == nullptr ? nullptr : PyObject_GetAttrString(module, "getsignal");
  }();
  static PyObject* const number = PyLong_FromLong(SIGINT);
  static PyObject* handler = nullptr;
  static timespec checked_at = {};
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  PyObject* const current = get_signal == nullptr ? nullptr : PyObject_CallOneArg(get_signal, number);
  if (current == nullptr) PyErr_Clear();
  const bool is_known =
      current != nullptr && current == handler && now.tv_sec == checked_at.tv_sec && now.tv_nsec == checked_at.tv_nsec;
  Py_XSETREF(handler, current);
  if (is_known) return;
  checked_at = now;
  catchInterrupts();
}

// ---- Programs ----

// A script or a model, as Python's class Program.
class LoadedProgram final {
 public:
  // [weights]: what must live as long as the program for it to load its weights again; null if they are in a file.
  explicit LoadedProgram(Program program, nb::object weights = {})
      : program_(std::move(program)), weights_(std::move(weights)) {}

  void run(const nb::args& args) {
    std::vector<std::string> words;
    for (const nb::handle word : args) words.push_back(nb::str(word).c_str());
    const WithoutGil without_gil;
    catchInterrupts();
    program_.run(words);
  }
  void prepare(const std::vector<std::string>& rules) {
    functions_.clear();
    const WithoutGil without_gil;
    program_.prepare(rules);
    program_.run();
  }
  // The function called [name]: the same object each time.
  nb::object function(const std::string& name);
  std::vector<std::string> functions() const {
    std::vector<std::string> names;
    for (const FunctionSchema& schema : program_.functions()) names.push_back(toString(schema.operator_name()));
    return names;
  }

 private:
  Program program_;
  std::map<std::string, nb::object> functions_;
  nb::object weights_;
};

// ---- Functions ----

class ScriptFunction final : public Target {
 public:
  explicit ScriptFunction(Program::Function function)
      : function_(std::move(function)), schema_(&function_.schema()), name_(toString(schema_->operator_name())) {}

  const std::string& name() const override { return name_; }
  std::span<const FunctionSchema* const> candidates() override { return {&schema_, 1}; }
  const void* pick(size_t /*index*/) const noexcept override {
    catchInterruptsAgain();
    return nullptr;
  }
  void call(size_t /*index*/, const void* /*picked*/, Stack& stack) override { function_.call(stack); }
  bool isShort(size_t /*index*/, int64_t /*elements*/) const noexcept override { return false; }

 private:
  const Program::Function function_;
  const FunctionSchema* const schema_;
  const std::string name_;
};

nb::object LoadedProgram::function(const std::string& name) {
  const auto found = functions_.find(name);
  if (found != functions_.end()) return found->second;
  nb::object made = nb::steal(newFunction(std::make_unique<ScriptFunction>(program_.function(name))));
  return functions_[name] = made;
}

std::string pathOf(const nb::object& path) {
  return nb::cast<std::string>(nb::steal(checked(PyOS_FSPath(path.ptr()))));
}

void readyToCall(Program& program, bool prepares, bool runs) {
  catchInterrupts();
  if (prepares) program.prepare();
  if (runs) program.run();
}

// Throws Python's error of a file: FileNotFoundError, IsADirectoryError and so on, with `filename`.
[[noreturn]] void throwFileErrorOf(const std::string& path, int code) {
  const std::string text = std::generic_category().message(code);
  const Reference arguments = Reference::steal(checked(Py_BuildValue("(iss)", code, text.c_str(), path.c_str())));
  PyErr_SetObject(PyExc_OSError, arguments.get());
  throwPythonError();
}

// Throws where a file is no script by what it holds.
void checkIsScript(const std::string& path) {
  constexpr std::string_view kPython = ".py";
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  if (path.ends_with(kPython)) {
    throwPython(PyExc_ValueError,
                fmt::format("'{}' is a program of Python's, which `import` reads; load() takes boxcar's "
                            "scripts (.ops) and models (.pt2, .pt, .onnx)",
                            path));
  }
  std::string begin(4096, ' ');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  if (begin.find('\0') != std::string::npos) {
    throwPython(PyExc_ValueError,
                fmt::format("'{}' holds no program, but binary data; boxcar.io.load() reads tensors from "
                            "safetensors, checkpoints and the like",
                            path));
  }
}

// A model is there to be called with fixed weights, and so it is prepared unless [prepare] says otherwise.
LoadedProgram* load(const nb::object& path, std::optional<bool> prepare, bool runs) {
  const std::string name = pathOf(path);
  const bool is_model = interp::isModelPath(name);
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) throwFileErrorOf(name, EISDIR);
  if (!is_model && std::filesystem::is_regular_file(name, ignored)) checkIsScript(name);
  std::optional<Program> program;
  try {
    const WithoutGil without_gil;
    program = is_model ? Program::compile(interp::importModel(name), name + ".ops") : Program::load(name);
    readyToCall(*program, prepare.value_or(is_model), runs);
  } catch (const FileError& error) {
    // Another file that the program reads is named by the error's own text.
    if (program.has_value() || error.message().find(name) == std::string::npos) throw;
    throwFileErrorOf(name, error.code());
  }
  return new LoadedProgram(*std::move(program));
}

// The program of the archive that is in the memory of the open file [file], which messages call [name].
LoadedProgram* loadMemory(const nb::object& file, const std::string& name, bool prepares) {
  const std::string path = fmt::format("/proc/self/fd/{}", nb::cast<int>(file.attr("fileno")()));
  std::optional<Program> program;
  {
    const WithoutGil without_gil;
    program = Program::compile(interp::importModel(path, {.weights = path}), name + ".ops");
    readyToCall(*program, prepares, true);
  }
  return new LoadedProgram(*std::move(program), file);
}

LoadedProgram* compile(const std::string& text, const std::string& name, bool prepares, bool runs) {
  std::optional<Program> program;
  {
    const WithoutGil without_gil;
    program = Program::compile(text, name);
    readyToCall(*program, prepares, runs);
  }
  return new LoadedProgram(*std::move(program));
}

}  // namespace

void addPrograms(nb::module_& module) {
  nb::class_<LoadedProgram>(
      module, "Program",
      "A script, or a model. Its functions are attributes; a model is called as its function forward.")
      .def("run", &LoadedProgram::run, "args"_a, "Runs the script's statements, with [args] in argv.")
      .def(
          "prepare",
          [](LoadedProgram& self, const nb::args& rules) {
            std::vector<std::string> paths;
            for (const nb::handle path : rules) paths.push_back(pathOf(nb::borrow(path)));
            self.prepare(paths);
          },
          "rules"_a,
          "Makes the program one that does the same in fewer passes over memory. [rules]: paths of scripts with "
          "rewrites "
          "of your own.")
      .def_prop_ro("functions", &LoadedProgram::functions, "The names of the functions.")
      .def("__getattr__",
           [](LoadedProgram& self, const std::string& name) {
             try {
               return self.function(name);
             } catch (const PythonError&) {
               throw;
             } catch (const Error& error) {
               throwPython(PyExc_AttributeError, error.message());
             }
           })
      .def("__dir__",
           [](LoadedProgram& self) {
             std::vector<std::string> names = self.functions();
             for (const char* own : {"run", "prepare", "functions"}) names.emplace_back(own);
             return names;
           })
      .def("__repr__",
           [](LoadedProgram& self) {
             const std::vector<std::string> names = self.functions();
             if (names.empty()) return std::string("<boxcar.Program without functions>");
             return fmt::format("<boxcar.Program with the functions {}>", fmt::join(names, ", "));
           })
      .def("__call__", [](LoadedProgram& self, const nb::args& args, const nb::kwargs& keywords) {
        return self.function("forward")(*args, **keywords);
      });
  module.def(
      "load", &load, "path"_a, nb::kw_only(), "prepare"_a = nb::none(), "run"_a = true,
      "The program in a script (.ops), or a model: what torch.export wrote (.pt2) or TorchScript (.pt). A model is "
      "prepared (see Program.prepare) unless [prepare] says otherwise. With [run], its statements are run once, which "
      "sets its constants.");
  module.def("_load_memory", &loadMemory, "file"_a, "name"_a, "prepare"_a);
  module.def(
      "compile", &compile, "text"_a, "name"_a = "<string>", nb::kw_only(), "prepare"_a = false, "run"_a = true,
      "The program of a script's text, which messages call [name]; relative paths in it start from the folder in "
      "[name].");
}

}  // namespace boxcar::python
