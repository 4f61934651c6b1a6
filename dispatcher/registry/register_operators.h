#pragma once

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/macros.h>

#include <concepts>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace boxcar {

// Defines operators and registers their kernels by a chain of calls. Its registrations end when it is destroyed. This
// is the style of c10's older code; new code uses Library and the BOXCAR_LIBRARY macros.
//
//   static auto registry = RegisterOperators()
//       .op("my::scale(Tensor x, float by) -> Tensor", RegisterOperators::options()
//           .kernel<decltype(scale), &scale>(DispatchKey::CPU)
//           .catchAllKernel([](const Tensor& x, double by) { return mul(x, by); }))
//       .op("my::twice", &twice);  // the schema is that of the function's type
class BOXCAR_API RegisterOperators final {
 public:
  class Options;
  static Options options();

  RegisterOperators() = default;
  // Registers an operator with one kernel for all keys, like op(schema_or_name, kernel).
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Options>) explicit RegisterOperators(
      std::string_view schema_or_name, F&& kernel,
      const std::source_location& where = std::source_location::current()) {
    op(schema_or_name, std::forward<F>(kernel), where);
  }
  RegisterOperators(std::string_view schema_or_name, Options options,
                    const std::source_location& where = std::source_location::current());
  RegisterOperators(RegisterOperators&&) = default;
  RegisterOperators& operator=(RegisterOperators&&) = default;

  // Defines the operator that [options] describe. Throws Error, with nothing registered, if the options are incomplete
  // or contradictory, or if the operator is already defined.
  RegisterOperators& op(Options options, const std::source_location& where = std::source_location::current()) &;
  RegisterOperators&& op(Options options, const std::source_location& where = std::source_location::current()) &&;
  // As above, with the schema or the name given here.
  RegisterOperators& op(std::string_view schema_or_name, Options options,
                        const std::source_location& where = std::source_location::current()) &;
  RegisterOperators&& op(std::string_view schema_or_name, Options options,
                         const std::source_location& where = std::source_location::current()) &&;
  // Defines a schema alone; others register its kernels.
  RegisterOperators& op(std::string_view schema, const std::source_location& where = std::source_location::current()) &;
  RegisterOperators&& op(std::string_view schema,
                         const std::source_location& where = std::source_location::current()) &&;
  // Defines an operator with one kernel for all keys: a function, a lambda or a functor.
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Options> &&
           !std::same_as<std::remove_cvref_t<F>, std::source_location>)
      RegisterOperators& op(std::string_view schema_or_name, F&& kernel,
                            const std::source_location& where = std::source_location::current()) &;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Options> &&
           !std::same_as<std::remove_cvref_t<F>, std::source_location>) RegisterOperators &&
      op(std::string_view schema_or_name, F&& kernel,
         const std::source_location& where = std::source_location::current()) && {
    return std::move(op(schema_or_name, std::forward<F>(kernel), where));
  }

 private:
  std::vector<RegistrationHandleRAII> handles_;
};

// The description of one operator: its schema or name, its kernels, and what an optimiser may assume.
class BOXCAR_API RegisterOperators::Options final {
 public:
  // Sets the schema, or just the name, in which case the schema is that of the first kernel that has a C++ type. Call
  // it once.
  Options&& schema(std::string_view schema_or_name) &&;
  // Call it once.
  Options&& aliasAnalysis(AliasAnalysisKind kind) &&;

  // Adds a kernel for [key], at most one per key: a function known at compile time, `kernel<decltype(f), &f>(key)` …
  template <class Function, Function* function>
  Options&& kernel(DispatchKey key) && {
    return std::move(*this).add(key, CppFunction(CompileTimeFunction<function>()));
  }
  // … a boxed function, `kernel<&f>(key)` …
  template <auto* function>
  Options&& kernel(DispatchKey key) && {
    return std::move(*this).add(key, CppFunction::makeFromBoxedFunction<function>());
  }
  // … a functor made from the arguments that follow, `kernel<Functor>(key, 5)` …
  template <std::derived_from<OperatorKernel> Functor, class... Args>
  Options&& kernel(DispatchKey key, Args&&... args) && {
    return std::move(*this).add(key, makeFunctor<Functor>(std::forward<Args>(args)...));
  }
  // … an existing function, lambda or functor.
  template <class F>
  requires(!std::derived_from<std::remove_cvref_t<F>, OperatorKernel>) Options &&
      kernel(DispatchKey key, F&& callable) && {
    return std::move(*this).add(key, CppFunction(std::forward<F>(callable)));
  }

  // As above: adds one kernel for all keys that have no kernel of their own.
  template <class Function, Function* function>
  Options&& catchAllKernel() && {
    return std::move(*this).add(std::nullopt, CppFunction(CompileTimeFunction<function>()));
  }
  template <auto* function>
  Options&& catchAllKernel() && {
    return std::move(*this).add(std::nullopt, CppFunction::makeFromBoxedFunction<function>());
  }
  template <std::derived_from<OperatorKernel> Functor, class... Args>
  Options&& catchAllKernel(Args&&... args) && {
    return std::move(*this).add(std::nullopt, makeFunctor<Functor>(std::forward<Args>(args)...));
  }
  template <class F>
  requires(!std::derived_from<std::remove_cvref_t<F>, OperatorKernel>) Options && catchAllKernel(F&& callable) && {
    return std::move(*this).add(std::nullopt, CppFunction(std::forward<F>(callable)));
  }

 private:
  friend class RegisterOperators;
  struct KernelForKey {
    std::optional<DispatchKey> key;
    KernelFunction kernel;
  };

  template <class Functor, class... Args>
  static CppFunction makeFunctor(Args&&... args) {
    return CppFunction(
        KernelFunction::makeFromUnboxedFunctor<Functor>(std::make_unique<Functor>(std::forward<Args>(args)...)));
  }
  Options&& add(std::optional<DispatchKey> key, CppFunction kernel) &&;
  FunctionSchema schemaOf(const RegistrationSite& site) const;
  void checkKernels(const OperatorName& name, const RegistrationSite& site) const;

  std::string schema_or_name_;
  std::vector<KernelForKey> kernels_;
  std::optional<AliasAnalysisKind> alias_analysis_;
};

inline RegisterOperators::Options RegisterOperators::options() { return {}; }

template <class F>
requires(!std::same_as<std::remove_cvref_t<F>, RegisterOperators::Options> &&
         !std::same_as<std::remove_cvref_t<F>, std::source_location>)
    RegisterOperators& RegisterOperators::op(std::string_view schema_or_name, F&& kernel,
                                             const std::source_location& where) & {
  return op(schema_or_name, options().catchAllKernel(std::forward<F>(kernel)), where);
}

}  // namespace boxcar
