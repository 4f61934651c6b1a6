#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/python/dispatch_keys.h>
#include <boxcar/python/error.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/registration.h>
#include <boxcar/python/served_call.h>
#include <boxcar/python/wait.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace boxcar::python {
namespace {

// A registration lasts for the process unless it is undone by name: an object that is dropped leaves it, as those of
// decorators are.
class Registration final {
 public:
  explicit Registration(RegistrationHandleRAII handle) : handle_(std::move(handle)) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() { static_cast<void>(new RegistrationHandleRAII(std::move(handle_))); }

  void remove() {
    const WithoutGil without_gil;  // it may wait for a thread that wants the GIL
    const RegistrationHandleRAII undone(std::move(handle_));
  }

 private:
  RegistrationHandleRAII handle_;
};

// The place of Python's code that registers: [depth] frames out.
RegistrationSite siteOf(int depth) {
  static auto* const files = new std::set<std::string>();  // sites point to their names
  PyFrameObject* frame = PyEval_GetFrame();
  Reference held;
  for (int i = 0; frame != nullptr && i < depth; ++i) {
    held = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame)));
    frame = reinterpret_cast<PyFrameObject*>(held.get());
  }
  if (frame == nullptr) return {};
  const Reference code = Reference::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const Reference name = Reference::steal(PyObject_GetAttrString(code.get(), "co_filename"));
  const char* const text = name.get() == nullptr ? nullptr : PyUnicode_AsUTF8(name.get());
  PyErr_Clear();
  if (text == nullptr) return {};
  return {files->emplace(text).first->c_str(), static_cast<uint32_t>(PyFrame_GetLineNumber(frame))};
}

// A function of Python as a kernel, for as long as it is registered and calls of it run.
class PythonKernel final {
 public:
  PythonKernel(PyObject* function, CallForm form, DispatchKeySet below)
      : function_(Py_NewRef(function), &releaseAnywhere), form_(form), below_(below) {}
  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const {
    serveCall(function_.get(), form_, op, keys & below_, stack);
  }

 private:
  std::shared_ptr<PyObject> function_;
  CallForm form_;
  DispatchKeySet below_;
};

std::vector<Tag> tagsOf(const std::vector<std::string>& names) {
  std::vector<Tag> tags;
  for (const std::string& name : names) {
    const size_t before = tags.size();
    std::string known;
#define BOXCAR_TAG(tag)                       \
  if (name == #tag) tags.push_back(Tag::tag); \
  known += std::string(known.empty() ? "" : ", ") + #tag;
    BOXCAR_FORALL_TAGS(BOXCAR_TAG)
#undef BOXCAR_TAG
    if (tags.size() == before)
      throwPython(PyExc_ValueError, fmt::format("there is no tag '{}'; the tags are {}", name, known));
  }
  return tags;
}

// Defines an operator. [depth]: how many frames out the code is that defines it.
Registration* define(const std::string& text, const std::vector<std::string>& tags, int depth) {
  FunctionSchema schema = parseSchema(text);
  if (!schema.operator_name().getNamespace().has_value()) {
    throwPython(PyExc_ValueError,
                fmt::format("the schema '{}' has no namespace; write one of your own before the name, as in "
                            "'my::{}'",
                            text, schema.name()));
  }
  const RegistrationSite site = siteOf(depth);
  const std::vector<Tag> known = tagsOf(tags);
  const WithoutGil without_gil;
  return new Registration(Dispatcher::singleton().registerDef(std::move(schema), site, known));
}

// Returns the operator called [text], with its overload after a dot.
OperatorName nameOf(const std::string& text) {
  const size_t dot = text.find('.');
  OperatorName name{text.substr(0, dot), dot == std::string::npos ? "" : text.substr(dot + 1)};
  if (!name.getNamespace().has_value()) {
    throwPython(PyExc_ValueError, fmt::format("'{}' has no namespace: write my::name or my::name.overload", text));
  }
  return name;
}

// What lies below a key. An alias stands for many keys: a kernel there cannot go on.
DispatchKeySet below(std::optional<DispatchKey> key) {
  return !key.has_value() || isAliasDispatchKey(*key) ? DispatchKeySet()
                                                      : DispatchKeySet(DispatchKeySet::FULL_AFTER, *key);
}

// Registers a kernel at a key, or for all keys without a kernel.
Registration* implement(const std::string& name, const std::optional<std::string>& key, const nb::callable& function,
                        int depth) {
  const OperatorName op = nameOf(name);
  std::optional<DispatchKey> place;
  if (key.has_value()) place = keyNamed(*key);
  const RegistrationSite site = siteOf(depth);
  auto kernel = KernelFunction::makeFromBoxedFunctor(PythonKernel(function.ptr(), CallForm::kKernel, below(place)));
  const WithoutGil without_gil;
  return new Registration(Dispatcher::singleton().registerImpl(op, place, std::move(kernel), site));
}

Registration* registerFallback(const std::string& key, const nb::callable& function) {
  const DispatchKey place = keyNamed(key);
  const RegistrationSite site = siteOf(0);
  auto kernel = KernelFunction::makeFromBoxedFunctor(PythonKernel(function.ptr(), CallForm::kHandler, below(place)));
  const WithoutGil without_gil;
  return new Registration(Dispatcher::singleton().registerFallback(place, std::move(kernel), site));
}

}  // namespace

void addRegistration(nb::module_& module) {
  nb::class_<Registration>(
      module, "Registration",
      "A registration. It lasts for the process, unless remove() or the end of a `with` block undoes it.")
      .def("remove", &Registration::remove, "Undoes the registration; nothing if it is undone.")
      .def("__enter__", [](const nb::object& self) { return self; })
      .def("__exit__", [](Registration& self, const nb::args& /*error*/) { self.remove(); });
  module.def("_define", &define);
  module.def("_implement", &implement, nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  module.def(
      "fallback", &registerFallback, "key"_a, "function"_a,
      "Lets [function](op, args) serve the calls of all operators that have no kernel of their own at a dispatch key; "
      "redispatch(op, args) goes on below the key. Returns the registration.");
}

}  // namespace boxcar::python
