#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/python/error.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/scopes.h>
#include <boxcar/python/served_call.h>
#include <boxcar/python/values.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace boxcar::python {
namespace {

// What `with` switches on for a block.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  virtual ~Block() = default;
  virtual void enter() = 0;
  // Returns text for the user.
  virtual std::string leave(bool failed) = 0;
  // What it holds of Python's; null for nothing.
  virtual PyObject* held() const noexcept { return nullptr; }
};

// A scope of a backend's, such as no_grad().
class ScopeBlock final : public Block {
 public:
  explicit ScopeBlock(std::unique_ptr<Scope> scope) : scope_(std::move(scope)) {}
  void enter() override { scope_->enter(); }
  std::string leave(bool /*failed*/) override {
    scope_->leave();
    return {};
  }

 private:
  const std::unique_ptr<Scope> scope_;
};

// A handler of the library's, such as trace("out.ops").
class HandlerBlock final : public Block {
 public:
  explicit HandlerBlock(std::unique_ptr<Handler> handler) : handler_(std::move(handler)) {}
  void enter() override { guard_.emplace(*handler_); }
  std::string leave(bool failed) override {
    guard_.reset();
    return handler_->finish(failed);
  }

 private:
  const std::unique_ptr<Handler> handler_;
  std::optional<HandlerGuard> guard_;
};

// inference_mode(), which the language has itself and no backend registers.
constexpr std::string_view kInferenceSchema = "inference_mode(bool mode=True) -> ()";

class InferenceBlock final : public Block {
 public:
  explicit InferenceBlock(bool mode) : mode_(mode) {}
  void enter() override { guard_.emplace(mode_); }
  std::string leave(bool /*failed*/) override {
    guard_.reset();
    return {};
  }

 private:
  const bool mode_;
  std::optional<InferenceMode> guard_;
};

// A handler in Python: handler(op, args) answers each call of an operator.
class PythonHandler final : public Block {
 public:
  PythonHandler(PyObject* handler, ModeOptions options) : handler_(Reference::share(handler)), options_(options) {}
  void enter() override {
    PyObject* const handler = handler_.get();
    guard_.emplace([handler](const OperatorHandle& op, DispatchKeySet keys,
                             Stack& stack) { serveCall(handler, CallForm::kHandler, op, keys, stack); },
                   options_);
  }
  std::string leave(bool /*failed*/) override {
    guard_.reset();
    return {};
  }
  PyObject* held() const noexcept override { return handler_.get(); }

 private:
  const Reference handler_;
  const ModeOptions options_;
  std::optional<ModeGuard> guard_;
};

// The number of the calling thread, which no later thread gets.
uint64_t threadNumber() noexcept { return PyThreadState_GetID(PyThreadState_Get()); }

// What Python's `with` takes.
class ScopeOfWith final {
 public:
  explicit ScopeOfWith(std::unique_ptr<Block> block) : block_(std::move(block)) {}
  ScopeOfWith(const ScopeOfWith&) = delete;
  ScopeOfWith& operator=(const ScopeOfWith&) = delete;
  ~ScopeOfWith() {
    if (!is_on_ || thread_ == threadNumber()) return;
    // The other thread's calls still go through it.
    static_cast<void>(block_.release());
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (PyErr_WarnEx(PyExc_RuntimeWarning,
                     "a scope of boxcar's was dropped on a thread other than the one that entered it, where it stays "
                     "on; leave its `with` block on the thread that entered it",
                     1) < 0)
      PyErr_WriteUnraisable(nullptr);
    PyErr_Restore(type, value, trace);
  }

  void enter() {
    BOXCAR_CHECK(block_ != nullptr, "this scope was garbage: nothing is left of it");
    BOXCAR_CHECK(!is_on_, "this scope is on already; make another one for a block inside its own");
    block_->enter();
    thread_ = threadNumber();
    is_on_ = true;
  }
  void leave(bool failed) {
    BOXCAR_CHECK(is_on_, "this scope is not on");
    BOXCAR_CHECK(thread_ == threadNumber(),
                 "this scope was entered on another thread, and only that thread can end it: leave the `with` block on "
                 "the thread that entered it (a generator with one must be closed there)");
    is_on_ = false;
    report_ = block_->leave(failed);
  }
  const std::optional<std::string>& report() const noexcept { return report_; }

  // For the collector of garbage. While it is on, the thread's modes hold it, too.
  PyObject* held() const noexcept { return block_ == nullptr || is_on_ ? nullptr : block_->held(); }
  void drop() noexcept {
    if (!is_on_) block_.reset();
  }

 private:
  std::unique_ptr<Block> block_;
  std::optional<std::string> report_;
  uint64_t thread_ = 0;  // that entered it
  bool is_on_ = false;
};

// The values of a kind's schema: positional and keyword arguments, with defaults.
std::vector<IValue> argumentsOf(const FunctionSchema& schema, PyObject* args, PyObject* keywords) {
  std::vector<IValue> values;
  const auto given = static_cast<size_t>(PyTuple_GET_SIZE(args));
  size_t used = 0;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument& argument = schema.arguments()[i];
    PyObject* value =
        i < given && !argument.kwarg_only() ? PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)) : nullptr;
    if (PyObject* const named =
            keywords == nullptr ? nullptr : PyDict_GetItemString(keywords, argument.name().c_str())) {
      if (value != nullptr)
        throwPython(PyExc_TypeError, fmt::format("{}(): argument '{}' is given twice", schema.name(), argument.name()));
      value = named;
      ++used;
    }
    Reference path;
    if (value != nullptr && argument.name() == "path") path = Reference::steal(checked(PyOS_FSPath(value)));
    if (path.get() != nullptr) value = path.get();
    if (value == nullptr && !argument.default_value()) {
      throwPython(PyExc_TypeError,
                  fmt::format("{}() needs the argument '{}': {}", schema.name(), argument.name(), schema));
    }
    try {
      values.push_back(value == nullptr ? *argument.default_value()
                                        : interp::convertValue(toValue(value), {argument.type()}));
    } catch (const PythonError&) {
      throw;
    } catch (const Error& error) {
      throwPython(PyExc_TypeError,
                  fmt::format("{}(): argument '{}': {}", schema.name(), argument.name(), error.message()));
    }
  }
  const size_t positional = static_cast<size_t>(std::count_if(schema.arguments().begin(), schema.arguments().end(),
                                                              [](const Argument& a) { return !a.kwarg_only(); }));
  if (given > positional || (keywords != nullptr && used < static_cast<size_t>(PyDict_Size(keywords)))) {
    throwPython(PyExc_TypeError, fmt::format("{}() has other arguments: {}", schema.name(), schema));
  }
  return values;
}

// A scope or a handler by name.
ScopeOfWith* makeScope(const std::string& name, const nb::args& args, const nb::kwargs& keywords) {
  if (const HandlerKind* kind = findHandlerKind(name)) {
    const std::vector<IValue> arguments = argumentsOf(kind->parsedSchema(), args.ptr(), keywords.ptr());
    const std::string fault = kind->faultOf(arguments);
    if (!fault.empty()) throwPython(PyExc_ValueError, fmt::format("{}: {}", name, fault));
    return new ScopeOfWith(std::make_unique<HandlerBlock>(kind->make(arguments)));
  }
  if (name == "inference_mode") {
    const std::vector<IValue> arguments =
        argumentsOf(parseSchema(std::string(kInferenceSchema)), args.ptr(), keywords.ptr());
    return new ScopeOfWith(std::make_unique<InferenceBlock>(arguments[0].toBool()));
  }
  const ScopeKind* const kind = findScopeKind(name);
  BOXCAR_CHECK(kind != nullptr, "there is no scope or handler called {}", name);
  const FunctionSchema schema = parseSchema(kind->schema);
  return new ScopeOfWith(std::make_unique<ScopeBlock>(kind->make(argumentsOf(schema, args.ptr(), keywords.ptr()))));
}

// Schema and help of all scopes and handlers, and whether it is a handler.
std::vector<std::tuple<std::string, std::string, bool>> listScopes() {
  std::vector<std::tuple<std::string, std::string, bool>> all;
  for (const ScopeKind* kind : scopeKinds()) all.emplace_back(kind->schema, kind->help, false);
  all.emplace_back(kInferenceSchema,
                   "Nothing is differentiated in the block; enable_grad() inside does not turn it on.", false);
  for (const HandlerKind* kind : handlerKinds()) all.emplace_back(kind->schema, kind->help, true);
  return all;
}

ScopeOfWith* makeHandler(const nb::callable& function, const std::string& key, bool sees_calls_below) {
  if (key != "PreDispatch" && key != "Python") {
    throwPython(PyExc_ValueError, "handler(): `key` is 'PreDispatch', above everything, or 'Python', below autograd");
  }
  ModeOptions options;
  options.key = key == "Python" ? DispatchKey::Python : DispatchKey::PreDispatch;
  options.sees_calls_below = sees_calls_below;
  return new ScopeOfWith(std::make_unique<PythonHandler>(function.ptr(), options));
}

int traverseScope(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<ScopeOfWith>(self)->held());
  return 0;
}

int clearScope(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<ScopeOfWith>(self)->drop();
  return 0;
}

PyType_Slot kScopeSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverseScope)},
                             {Py_tp_clear, reinterpret_cast<void*>(&clearScope)},
                             {0, nullptr}};

}  // namespace

void addScopes(nb::module_& module) {
  nb::class_<ScopeOfWith>(module, "Scope", nb::type_slots(kScopeSlots),
                          "What `with` switches on for a block, on this thread.")
      .def("__enter__",
           [](const nb::object& self) {
             nb::cast<ScopeOfWith&>(self).enter();
             return self;
           })
      .def("__exit__",
           [](ScopeOfWith& self, const nb::args& error) { self.leave(error.size() > 0 && !error[0].is_none()); })
      .def_prop_ro("report", &ScopeOfWith::report, "What a handler says when it is switched off; None before.");
  module.def("_scope", &makeScope);
  module.def("_scopes", &listScopes);
  module.def("is_grad_enabled", &GradMode::is_enabled, "Whether this thread records calls for differentiation.");
  module.def("is_inference_mode_enabled", &InferenceMode::is_enabled, "Whether this thread is in inference_mode().");
  module.def("_set_grad_enabled", &GradMode::set_enabled);
  module.def(
      "handler", &makeHandler, "function"_a, nb::kw_only(), "key"_a = "PreDispatch", "sees_calls_below"_a = false,
      "A scope in which [function](op, args) answers the calls of operators, on this thread: [args] is the list of all "
      "arguments, in the order of the schema. redispatch(op, args) goes on to what lies below.");
}

}  // namespace boxcar::python
