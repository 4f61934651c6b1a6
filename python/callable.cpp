#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/python/callable.h>
#include <boxcar/python/constants.h>
#include <boxcar/python/error.h>
#include <boxcar/python/reference.h>
#include <boxcar/python/results.h>
#include <boxcar/python/tensor_object.h>
#include <boxcar/python/values.h>
#include <boxcar/python/wait.h>
#include <boxcar/schema/value_type.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::python {
namespace {

// A call whose overload was chosen before, by what its arguments are.
struct KnownCall {
  uint64_t codes;      // a byte for each argument, the first one lowest
  Reference keywords;  // the tuple that the calling code passes, which is the same one each time; or null
  uint32_t arguments;  // their number
  uint32_t candidate;
  // Whether the arguments are the first parameters, in order and as they are. [fit] tells how to arrange others.
  bool is_direct;
  interp::Fit fit;
};

constexpr size_t kMostCodes = sizeof(uint64_t);
constexpr size_t kMostKnown = 32;

struct CallableObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  std::unique_ptr<Target> target;
  std::vector<KnownCall> known;
  uint64_t edition;
  PyObject* weak_references;
};

// The classes that callableType() made.
std::vector<PyTypeObject*>& callableTypes() {
  static auto* const all = new std::vector<PyTypeObject*>();
  return *all;
}

// A stack for one call. It is kept for the next one, so that calls do not allocate; calls inside a call take another.
class CallStack final {
 public:
  CallStack() noexcept { stack_.swap(spare()); }
  ~CallStack() {
    stack_.clear();
    if (stack_.capacity() > spare().capacity() && stack_.capacity() <= kMostKept) stack_.swap(spare());
  }
  CallStack(const CallStack&) = delete;
  CallStack& operator=(const CallStack&) = delete;
  Stack& get() noexcept { return stack_; }

 private:
  static constexpr size_t kMostKept = 256;
  static Stack& spare() noexcept {
    static auto* const kept = new Stack();  // under the GIL
    return *kept;
  }
  Stack stack_;
};

bool isDirect(const FunctionSchema& schema, const interp::Fit& fit, std::span<const TypePtr> types) {
  for (size_t i = 0; i < fit.parameters.size(); ++i) {
    const interp::ParameterPlan& plan = fit.parameters[i];
    if (i < types.size()) {
      if (plan.from != interp::ParameterPlan::From::Argument || plan.first != i) return false;
      if (!interp::isSameRepresentation(types[i], plan.target.type)) return false;
    } else if (plan.from != interp::ParameterPlan::From::Default || schema.arguments()[i].default_value()->isList()) {
      return false;
    }
  }
  return types.size() <= fit.parameters.size();
}

// Puts the parameters of the chosen candidate in place of the call's arguments.
void arrange(const FunctionSchema& schema, const KnownCall& call, Stack& stack) {
  if (call.is_direct) {
    const std::vector<Argument>& parameters = schema.arguments();
    for (size_t i = call.arguments; i < parameters.size(); ++i) stack.push_back(*parameters[i].default_value());
    return;
  }
  std::vector<IValue> arranged;
  try {
    arranged = interp::arrangeValues(schema, call.fit, {stack.data(), stack.size()});
  } catch (const Error& error) {  // an element of a list
    throwPython(PyExc_TypeError, error.message());
  }
  stack.clear();
  for (IValue& value : arranged) stack.push_back(std::move(value));
}

// The names that PyTorch's functions accept for parameters that schemas call otherwise.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"input", "self"}, {"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "self"},
    {"a", "self"},     {"x1", "self"},  {"x2", "other"}};

bool hasParameter(std::span<const FunctionSchema* const> candidates, std::string_view name) {
  return std::ranges::any_of(candidates, [name](const FunctionSchema* schema) {
    return std::ranges::any_of(schema->arguments(), [name](const Argument& each) { return each.name() == name; });
  });
}

// Replaces such names in a call of PyTorch's operators by those of the schemas. A name that an overload has means
// itself.
void takeSchemaNames(const Target& target, std::span<const FunctionSchema* const> candidates,
                     std::span<std::string_view> names) {
  if (!target.name().starts_with("aten::")) return;
  for (std::string_view& name : names) {
    for (const auto& [other, own] : kOtherNames) {
      if (name != other || hasParameter(candidates, other) || std::ranges::find(names, own) != names.end()) continue;
      name = own;
      break;
    }
  }
}

// The type of a call's argument: of dtypes and the like, which are ints in boxcar, their own.
TypePtr typeOfArgument(PyObject* argument, const IValue& value) {
  if (dtypeOfClass(argument).has_value()) return Type::scalarType();
  if (!isConstant(argument)) return typeOf(value);
  switch (kindOf(argument)) {
    case ConstantKind::kDtype: return Type::scalarType();
    case ConstantKind::kLayout: return Type::layout();
    default: return Type::memoryFormat();
  }
}

// Whether they are a function, and no operator, that takes `...`.
bool takesAnyNumber(std::span<const FunctionSchema* const> candidates) {
  return candidates.size() == 1 && candidates[0]->is_vararg() &&
         !candidates[0]->operator_name().getNamespace().has_value();
}

KnownCall choose(Target& target, uint64_t codes, std::span<PyObject* const> arguments, PyObject* keywords,
                 const Stack& stack) {
  std::vector<std::string_view> names(stack.size());
  const size_t count = keywords == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(keywords));
  for (size_t i = 0; i < count; ++i) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(i)), &size);
    if (text == nullptr) throwPythonError();
    names[names.size() - count + i] = {text, static_cast<size_t>(size)};
  }
  const auto candidates = target.candidates();
  if (candidates.empty()) {
    throwPython(PyExc_RuntimeError,
                target.name() + " is not defined any more: its library was unloaded or its script is gone");
  }
  if (takesAnyNumber(candidates)) {  // a callable of Python, which sees for itself what fits
    if (count != 0) {
      throwPython(PyExc_TypeError,
                  fmt::format("{}() takes its arguments by position, not by name (`{}`)", target.name(), names.back()));
    }
    return {codes, Reference(), static_cast<uint32_t>(stack.size()), 0, /*is_direct=*/true, {}};
  }
  takeSchemaNames(target, candidates, names);
  std::vector<interp::CallArgument> typed;
  std::vector<TypePtr> types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    types.push_back(typeOfArgument(arguments[i], stack[i]));
    typed.push_back({types.back(), names[i]});
  }
  interp::ValueResolution resolution;
  try {
    resolution = interp::resolveTyped(target.name(), candidates, typed, interp::TypesFrom::kTypedValues);
  } catch (const Error& error) {
    throwPython(PyExc_TypeError, error.message());
  }
  KnownCall call{codes,
                 Reference::share(keywords),
                 static_cast<uint32_t>(stack.size()),
                 static_cast<uint32_t>(resolution.candidate),
                 isDirect(*candidates[resolution.candidate], resolution.fit, types),
                 std::move(resolution.fit)};
  return call;
}

// Calls an operator of PyTorch's that takes no such arguments in the form that boxcar._forms has for them, such as
// einsum("ij", x); returns null where it has none.
PyObject* callOtherForm(CallableObject& callable, PyObject* const* arguments, size_t count, PyObject* keywords) {
  const std::string& name = callable.target->name();
  if (!name.starts_with("aten::") && !name.starts_with("autograd::")) return nullptr;
  const auto named = keywords == nullptr ? size_t{0} : static_cast<size_t>(PyTuple_GET_SIZE(keywords));
  Reference positional = Reference::steal(checked(PyTuple_New(static_cast<Py_ssize_t>(count - named))));
  for (size_t i = 0; i < count - named; ++i)
    PyTuple_SET_ITEM(positional.get(), static_cast<Py_ssize_t>(i), Py_NewRef(arguments[i]));
  const Reference by_name = Reference::steal(checked(PyDict_New()));
  for (size_t i = 0; i < named; ++i) {
    checkStatus(PyDict_SetItem(by_name.get(), PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(i)),
                               arguments[count - named + i]));
  }
  const Reference forms = Reference::steal(checked(PyImport_ImportModule("boxcar._forms")));
  Reference result =
      Reference::steal(checked(PyObject_CallMethod(forms.get(), "call", "OsOO", reinterpret_cast<PyObject*>(&callable),
                                                   name.c_str(), positional.get(), by_name.get())));
  return result.get() == Py_NotImplemented ? nullptr : result.release();
}

// Adds what the call was to the message of the error that is being handled, and throws it again.
[[noreturn]] void rethrowDescribed(const Target& target, const void* picked, const Stack& stack, size_t height) {
  try {
    throw;
  } catch (PythonError&) {
    throw;
  } catch (Error& error) {
    const std::string call = target.describe(picked, stack, height, error.what());
    if (!call.empty()) error.addContext("  " + call);
    throw;
  }
}

PyObject* callWith(CallableObject& callable, PyObject* const* arguments, size_t count, PyObject* keywords) {
  Target& target = *callable.target;
  CallStack call_stack;
  Stack& stack = call_stack.get();
  uint64_t codes = 0;
  int64_t elements = 0;
  bool has_codes = count <= kMostCodes;
  for (size_t i = 0; i < count; ++i) {
    if (Py_TYPE(arguments[i]) == detail::tensor_type) {  // most arguments
      const Tensor& tensor = tensorOf(arguments[i]);
      elements += tensor.numel();
      stack.emplace_back(tensor);
      codes = codes << 8 | kTensorCode;
      continue;
    }
    TypeCode code = 0;
    stack.push_back(toValue(arguments[i], code));
    has_codes = has_codes && code != 0;
    codes = codes << 8 | code;
    const IValue& value = stack.back();
    if (value.isTensor()) {
      elements += value.unsafeGet<IValue::Tag::Tensor>().numel();
    } else if (value.isTensorList()) {
      elements += INT32_MAX;  // not worth counting
    }
  }
  if (callable.edition != target.edition()) {
    callable.known.clear();
    callable.edition = target.edition();
  }
  std::optional<KnownCall> made;
  const KnownCall* known = nullptr;
  if (has_codes) {
    for (const KnownCall& each : callable.known) {
      if (each.codes == codes && each.arguments == count && each.keywords.get() == keywords) {
        known = &each;
        break;
      }
    }
  }
  if (known == nullptr) {
    try {
      made = choose(target, codes, {arguments, count}, keywords, stack);
    } catch (const PythonError&) {
      if (PyObject* const result = callOtherForm(callable, arguments, count, keywords)) return result;
      throw;
    }
    if (has_codes) {
      if (callable.known.size() == kMostKnown) callable.known.clear();
      callable.known.push_back(*made);
    }
    known = &*made;
  }
  // The schema outlives the call, and the call may add to what is known.
  const size_t candidate = known->candidate;
  const FunctionSchema& schema = *target.candidates()[candidate];
  arrange(schema, *known, stack);
  if (DefaultDevice::get().has_value()) [[unlikely]]
    takeDefaultDevice(schema, {stack.data(), stack.size()});
  const size_t height = stack.size();
  const void* const picked = target.pick(candidate);
  const Reference self = Reference::share(reinterpret_cast<PyObject*>(&callable));  // the call may drop the last other
  {
    const WithoutGil without_gil(!target.isShort(candidate, elements));
    try {
      target.call(candidate, picked, stack);
    } catch (...) {
      rethrowDescribed(target, picked, stack, height);
    }
  }
  return resultsToPython(schema, stack);
}

PyObject* callObject(PyObject* object, PyObject* const* arguments, size_t flagged, PyObject* keywords) {
  try {
    size_t count = static_cast<size_t>(PyVectorcall_NARGS(flagged));
    if (keywords != nullptr) {
      const auto named = static_cast<size_t>(PyTuple_GET_SIZE(keywords));
      if (named == 0) keywords = nullptr;
      count += named;
    }
    return callWith(*reinterpret_cast<CallableObject*>(object), arguments, count, keywords);
  } catch (...) {
    return setPythonException();
  }
}

void deallocate(PyObject* object) {
  auto* const callable = reinterpret_cast<CallableObject*>(object);
  if (callable->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  callable->known.~vector();
  callable->target.~unique_ptr();
  PyTypeObject* const type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* show(PyObject* object) {
  try {
    return PyUnicode_FromFormat("<%s %s>", Py_TYPE(object)->tp_name, targetOf(object)->name().c_str());
  } catch (...) {
    return setPythonException();
  }
}

PyObject* nameOf(PyObject* object, void* /*unused*/) {
  const std::string& name = targetOf(object)->name();
  const size_t colon = name.rfind(':');
  return PyUnicode_FromString(name.substr(colon == std::string::npos ? 0 : colon + 1).c_str());
}
PyObject* fullNameOf(PyObject* object, void* /*unused*/) {
  return PyUnicode_FromString(targetOf(object)->name().c_str());
}

PyObject* schemasOf(PyObject* object, void* /*unused*/) {
  try {
    Reference list = Reference::steal(checked(PyList_New(0)));
    for (const FunctionSchema* schema : targetOf(object)->candidates()) {
      const Reference text = Reference::steal(checked(PyUnicode_FromString(toString(*schema).c_str())));
      checkStatus(PyList_Append(list.get(), text.get()));
    }
    return list.release();
  } catch (...) {
    return setPythonException();
  }
}

PyObject* documentationOf(PyObject* object, void* /*unused*/) {
  try {
    std::string text;
    for (const FunctionSchema* schema : targetOf(object)->candidates()) text += toString(*schema) + "\n";
    const std::string more = targetOf(object)->docstring();
    if (!more.empty()) text += "\n" + more + "\n";
    return PyUnicode_FromString(text.c_str());
  } catch (...) {
    return setPythonException();
  }
}

PyObject* bind(PyObject* object, PyObject* instance, PyObject* /*owner*/) {
  return instance == nullptr || instance == Py_None ? Py_NewRef(object) : PyMethod_New(object, instance);
}

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallableObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CallableObject, weak_references), READONLY, nullptr},
    {}};

const PyGetSetDef kFields[] = {
    {"__name__", nameOf, nullptr, nullptr, nullptr},
    {"__qualname__", fullNameOf, nullptr, nullptr, nullptr},
    {"__doc__", documentationOf, nullptr, nullptr, nullptr},
    {"name", fullNameOf, nullptr, "The name, with the namespace of an operator.", nullptr},
    {"schemas", schemasOf, nullptr, "The schemas that a call chooses from, as text.", nullptr},
};

}  // namespace

PyObject* newCallable(PyTypeObject* type, std::unique_ptr<Target> target) {
  PyObject* const object = checked(type->tp_alloc(type, 0));
  auto* const callable = reinterpret_cast<CallableObject*>(object);
  callable->vectorcall = &callObject;
  new (&callable->target) std::unique_ptr<Target>(std::move(target));
  new (&callable->known) std::vector<KnownCall>();
  callable->edition = callable->target->edition();
  callable->weak_references = nullptr;
  return object;
}

Target* targetOf(PyObject* object) noexcept {
  const auto& types = callableTypes();
  if (std::find(types.begin(), types.end(), Py_TYPE(object)) == types.end()) return nullptr;
  return reinterpret_cast<CallableObject*>(object)->target.get();
}

size_t chooseCandidate(Target& target, std::span<PyObject* const> arguments, PyObject* keywords, Stack& stack) {
  for (PyObject* const argument : arguments) stack.push_back(toValue(argument));
  const KnownCall call = choose(target, 0, arguments, keywords, stack);
  arrange(*target.candidates()[call.candidate], call, stack);
  return call.candidate;
}

PyObject* callTarget(PyObject* object, std::span<PyObject* const> arguments) {
  return callWith(*reinterpret_cast<CallableObject*>(object), arguments.data(), arguments.size(), nullptr);
}

PyTypeObject* callableType(PyObject* module, const char* name, bool binds, PyGetSetDef* fields,
                           getattrofunc attribute) {
  auto* const all_fields =
      new std::vector<PyGetSetDef>(std::begin(kFields), std::end(kFields));  // as long as the class
  for (PyGetSetDef* field = fields; field != nullptr && field->name != nullptr; ++field) all_fields->push_back(*field);
  all_fields->push_back({});
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
                                    {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                    {Py_tp_repr, reinterpret_cast<void*>(&show)},
                                    {Py_tp_members, kMembers},
                                    {Py_tp_getset, all_fields->data()}};
  unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  if (binds) {
    slots.push_back({Py_tp_descr_get, reinterpret_cast<void*>(&bind)});
    flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  }
  if (attribute != nullptr) slots.push_back({Py_tp_getattro, reinterpret_cast<void*>(attribute)});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, sizeof(CallableObject), 0, flags, slots.data()};
  auto* const type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checkStatus(PyModule_AddType(module, type));
  callableTypes().push_back(type);
  return type;
}

}  // namespace boxcar::python
