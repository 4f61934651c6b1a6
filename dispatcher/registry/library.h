#pragma once

#include <boxcar/dispatcher/registry/dispatcher.h>  // IWYU pragma: export
#include <boxcar/dispatcher/registry/library_list.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace boxcar {

namespace detail {

template <class F>
inline constexpr bool kIsCompileTimeFunction = false;
template <auto* function>
inline constexpr bool kIsCompileTimeFunction<CompileTimeFunction<function>> = true;

template <class F>
concept HasCallOperator = requires {
  &F::operator();
};

// A function that takes the operator and the stack.
template <class Function>
inline constexpr bool kIsBoxedFunction = false;
template <class R, class... Args>
inline constexpr bool kIsBoxedFunction<R(const OperatorHandle&, Args...)> = true;

}  // namespace detail

// A kernel to be registered with a Library, made from anything callable:
//
//   m.impl("add.Tensor", BOXCAR_FN(add));                              // a function, called directly
//   m.impl("relu", [](const Tensor& x) { return clamp_min(x, 0); });   // a lambda
//   m.impl("foo", boxcar::dispatch(DispatchKey::CPU, &foo));           // with a key of its own
//   m.fallback(boxcar::CppFunction::makeFromBoxedFunction<&show>());
class CppFunction final {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, CppFunction> && !std::same_as<std::remove_cvref_t<F>, Tag>)
      CppFunction(F&& function)
      : kernel_(makeKernel(std::forward<F>(function))) {}

  // Does the same as the constructor.
  template <class F>
  static CppFunction makeFromUnboxedFunction(F&& function) {
    return CppFunction(std::forward<F>(function));
  }
  template <auto* function>
  static CppFunction makeFromBoxedFunction() {
    return CppFunction(KernelFunction::makeFromBoxedFunction<function>());
  }
  // Takes the functor, or a std::unique_ptr to it.
  template <class Functor>
  static CppFunction makeFromBoxedFunctor(Functor functor) {
    return CppFunction(KernelFunction::makeFromBoxedFunctor(std::move(functor)));
  }
  static CppFunction makeFallthrough() { return CppFunction(KernelFunction::makeFallthrough()); }
  static CppFunction makeNamedNotSupported() { return CppFunction(KernelFunction::makeNamedNotSupported()); }

  const KernelFunction& kernel() const noexcept { return kernel_; }
  std::optional<DispatchKey> dispatch_key() const noexcept { return dispatch_key_; }
  void set_dispatch_key(DispatchKey key) noexcept { dispatch_key_ = key; }

 private:
  friend class Library;
  template <class F>
  static KernelFunction makeKernel(F&& function) {
    using Given = std::remove_cvref_t<F>;
    if constexpr (std::same_as<Given, KernelFunction>) {
      return std::forward<F>(function);
    } else if constexpr (detail::kIsCompileTimeFunction<Given>) {
      if constexpr (hasOperatorTypes<typename Given::Type>()) return KernelFunction::makeFromUnboxedFunction(Given());
    } else if constexpr (std::is_function_v<std::remove_pointer_t<std::decay_t<F>>>) {
      using Function = detail::FunctionType<std::remove_pointer_t<std::decay_t<F>>>;
      if constexpr (std::same_as<Function, CppFunction()> || std::same_as<Function, KernelFunction()>) {
        static_assert(detail::kAlwaysFalse<F>,
                      "a pair of parentheses is missing: it is makeFromBoxedFunction<&function>(), and "
                      "makeFallthrough() and makeNamedNotSupported() are called, too");
      } else if constexpr (hasOperatorTypes<Function>()) {
        return KernelFunction::makeFromUnboxedRuntimeFunction(function);
      }
    } else if constexpr (!detail::HasCallOperator<Given>) {
      static_assert(detail::kAlwaysFalse<F>,
                    "a kernel is a function, BOXCAR_FN(function), a lambda or a functor with one operator(); boxed "
                    "kernels come from CppFunction::makeFromBoxedFunction<&function>()");
    } else if constexpr (hasOperatorTypes<detail::FunctionType<Given>>()) {
      return KernelFunction::makeFromUnboxedLambda(std::forward<F>(function));
    }
  }

  // Nothing else is instantiated for a function with unsupported types, so that this is the only compile error.
  template <class Function>
  static constexpr bool hasOperatorTypes() {
    static_assert(!detail::kIsBoxedFunction<Function>,
                  "this is a boxed kernel: register it with CppFunction::makeFromBoxedFunction<&function>(), or "
                  "makeFromBoxedFunctor where it has state");
    static_assert(detail::kIsBoxedFunction<Function> || detail::kIsOperatorFunction<Function>,
                  "a kernel takes and returns what schemas have types for (Tensor, int64_t, double, bool, "
                  "std::complex<double>, Scalar, std::string_view, Device, ScalarType, lists, optionals … of them), by "
                  "value, by const& or as Tensor&; float, int and pointers are none. It returns what it owns: "
                  "std::string and std::vector, no std::string_view or std::span");
    return !detail::kIsBoxedFunction<Function> && detail::kIsOperatorFunction<Function>;
  }

  KernelFunction kernel_;
  std::optional<DispatchKey> dispatch_key_;
};

// Returns [function] with its own key, which overrides the block's.
template <class F>
CppFunction dispatch(DispatchKey key, F&& function) {
  CppFunction result(std::forward<F>(function));
  result.set_dispatch_key(key);
  return result;
}

// As above, with the key of a device's dense tensors.
template <class F>
CppFunction dispatch(DeviceType type, F&& function) {
  return dispatch(toDispatchKey(type), std::forward<F>(function));
}

// Returns a schema with what an optimiser may assume about the operator: `m.def(schema("f(Tensor x) -> Tensor",
// AliasAnalysisKind::PURE_FUNCTION))`. By default, the annotations in the text decide.
BOXCAR_API FunctionSchema schema(std::string_view text, AliasAnalysisKind kind = AliasAnalysisKind::FROM_SCHEMA);

// What a BOXCAR_LIBRARY block registers through. Registrations last as long as the Library, which for the macros'
// blocks is forever. Leave out the last parameters: they default to the caller's place. A Library made by hand
// registers everything at the place where it was made.
class BOXCAR_API Library final {
 public:
  enum Kind { DEF, FRAGMENT, IMPL };

  // For operators of namespace [ns] ("_": all namespaces, for fallbacks). Kernels are registered for [key], if given.
  Library(Kind kind, std::string ns, std::optional<DispatchKey> key, const char* file, uint32_t line);
  // For a macro's block, whose registrations know their own lines.
  explicit Library(const detail::LibraryBlock& block);
  Library(Library&&) = default;
  Library& operator=(Library&&) = default;

  // Defines an operator: `m.def("add(Tensor a, Tensor b) -> Tensor")`, `m.def("rand() -> Tensor",
  // {Tag::nondeterministic_seeded})`.
  Library& def(std::string_view schema, std::vector<Tag> tags = {},
               std::source_location where = std::source_location::current()) &;
  Library& def(FunctionSchema schema, std::vector<Tag> tags = {},
               std::source_location where = std::source_location::current()) &;
  // Defines the operators of generated code. [texts] must stay where they are.
  Library& def(std::span<const detail::SchemaText> texts) &;
  // Defines an operator and registers its kernel for all keys that have no kernel of their own. With a bare name, the
  // schema is inferred from the kernel's C++ type, and nothing is promised about aliasing.
  Library& def(std::string_view schema_or_name, CppFunction function, std::vector<Tag> tags = {},
               std::source_location where = std::source_location::current()) &;
  Library& def(FunctionSchema schema, CppFunction function, std::vector<Tag> tags = {},
               std::source_location where = std::source_location::current()) &;
  // Registers a kernel for an operator that this or another library defines, before or after.
  Library& impl(std::string_view name, CppFunction function,
                std::source_location where = std::source_location::current()) &;
  // As above, for BOXCAR_FN(function), with less code.
  template <auto* function>
  Library& impl(std::string_view name, CompileTimeFunction<function>,
                std::source_location where = std::source_location::current()) & {
    if constexpr (CppFunction::hasOperatorTypes<typename CompileTimeFunction<function>::Type>()) {
      return impl(name, detail::kStatelessKernelOf<function>, where);
    } else {
      return *this;  // the error was reported already
    }
  }
  Library& impl(std::string_view name, const detail::StatelessKernel& kernel, std::source_location where) &;
  // As above, for another key or a device's key: impl(name, dispatch(key, function)).
  Library& impl(std::string_view name, DispatchKey key, CppFunction function,
                std::source_location where = std::source_location::current()) & {
    return impl(name, dispatch(key, std::move(function)), where);
  }
  Library& impl(std::string_view name, DeviceType type, CppFunction function,
                std::source_location where = std::source_location::current()) & {
    return impl(name, dispatch(type, std::move(function)), where);
  }
  // Registers a kernel for every operator that has no kernel of its own at the block's key.
  Library& fallback(CppFunction function, std::source_location where = std::source_location::current()) &;

  // Where the library was declared; in a macro's block, the place of the latest registration.
  RegistrationSite site() const noexcept { return site_; }

 private:
  OperatorName nameInLibrary(std::string_view name) const;
  FunctionSchema schemaInLibrary(FunctionSchema schema) const;
  void checkNamespace(const OperatorName& name) const;
  void moveTo(const std::source_location& where) noexcept;
  // Whether the build's allow-list contains the operator.
  bool isAllowed(const OperatorName& name) const;
  void defineAndImplement(FunctionSchema schema, const CppFunction& function, std::vector<Tag> tags);

  Kind kind_;
  std::string ns_;
  std::optional<DispatchKey> key_;
  RegistrationSite site_;
  bool is_block_ = false;
  const char* allowed_operators_ = nullptr;
  std::vector<RegistrationHandleRAII> handles_;
};

}  // namespace boxcar

// The operators that a build keeps, "aten::add.Tensor;aten::mm;…", if it is given a list (see the CMake option
// BOXCAR_OPERATORS). Definitions and kernels of other operators are ignored.
#ifndef BOXCAR_ALLOWED_OPERATORS
#define BOXCAR_ALLOWED_OPERATORS nullptr
#endif

#define BOXCAR_LIBRARY_BLOCK(kind, ns, key, m, name)                                                            \
  static void BOXCAR_CONCATENATE(name, _init)(::boxcar::Library&);                                              \
  static constinit ::boxcar::detail::LibraryBlock BOXCAR_CONCATENATE(name, _block) = {                          \
      ::boxcar::detail::LibraryKind::kind,                                                                      \
      ::boxcar::DispatchKey::key,                                                                               \
      #ns,                                                                                                      \
      &BOXCAR_CONCATENATE(name, _init),                                                                         \
      __FILE__,                                                                                                 \
      __LINE__,                                                                                                 \
      BOXCAR_ALLOWED_OPERATORS};                                                                                \
  static const ::boxcar::detail::LibraryLink BOXCAR_CONCATENATE(name, _link)(BOXCAR_CONCATENATE(name, _block)); \
  void BOXCAR_CONCATENATE(name, _init)([[maybe_unused]] ::boxcar::Library & m)

// BOXCAR_LIBRARY(ns, m) { m.def("…"); }: defines the operators of a namespace, which no other BOXCAR_LIBRARY may claim.
#define BOXCAR_LIBRARY(ns, m) BOXCAR_LIBRARY_BLOCK(Definition, ns, CatchAll, m, boxcar_library_##ns)

// As above, for a namespace that another library owns.
#define BOXCAR_LIBRARY_FRAGMENT(ns, m) \
  BOXCAR_LIBRARY_BLOCK(Fragment, ns, CatchAll, m, BOXCAR_CONCATENATE(boxcar_fragment_##ns##_, BOXCAR_UID))

// BOXCAR_LIBRARY_IMPL(ns, CPU, m) { m.impl("…", kernel); }: registers kernels for a key. With `_` as the namespace,
// m.fallback(kernel) serves every operator.
#define BOXCAR_LIBRARY_IMPL(ns, key, m) \
  BOXCAR_LIBRARY_BLOCK(Implementation, ns, key, m, BOXCAR_CONCATENATE(boxcar_impl_##ns##_##key##_, BOXCAR_UID))

// A Library made by hand, for the duration of a scope: `auto m = MAKE_BOXCAR_LIBRARY(my); m.def("…");`.
#define MAKE_BOXCAR_LIBRARY(ns) ::boxcar::Library(::boxcar::Library::DEF, #ns, std::nullopt, __FILE__, __LINE__)
#define MAKE_BOXCAR_LIBRARY_IMPL(ns, key) \
  ::boxcar::Library(::boxcar::Library::IMPL, #ns, ::boxcar::DispatchKey::key, __FILE__, __LINE__)
