#pragma once

#include <boxcar/dispatcher/kernel_function.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/dispatcher/registration_handle.h>
#include <boxcar/dispatcher/registration_site.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/operator_name.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace boxcar {

// All operators of the process. Calls do not come here: they go from an OperatorHandle straight to its table. What is
// registered through the BOXCAR_LIBRARY macros is read in when the Dispatcher is first used.
class BOXCAR_API Dispatcher final {
 public:
  static Dispatcher& singleton();

  // The operator of that name, defined or only implemented so far.
  std::optional<OperatorHandle> findOp(const OperatorName& name) const;
  // The operator of that name, if it is defined.
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const;
  // The same; an Error that suggests the nearest names, or says that only an implementation was found.
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const;
  // The defined operators called [name], in the order of their definition: "aten::add" gives Tensor, Scalar, out.
  std::vector<OperatorHandle> findOverloads(const std::string& name) const;
  // The names of all defined operators, in the order of their definition.
  std::vector<OperatorName> getAllOpNames() const;

  // Each registers until the handle is destroyed, and throws an Error when it contradicts what is registered already.
  // The first definition of a name counts; a second one is an error that names both places.
  RegistrationHandleRAII registerDef(FunctionSchema schema, RegistrationSite site);
  // Without a key the kernel is a CompositeImplicitAutograd one. The operator need not be defined yet.
  RegistrationHandleRAII registerImpl(OperatorName name, std::optional<DispatchKey> key, KernelFunction kernel,
                                      RegistrationSite site);
  // A kernel at [key], which must be a runtime key, for every operator that has none of its own there.
  RegistrationHandleRAII registerFallback(DispatchKey key, KernelFunction kernel, RegistrationSite site);
  // Claims a namespace for one library.
  RegistrationHandleRAII registerLibrary(std::string ns, RegistrationSite site);

  // What a call of [op] that is dispatched to [key] reaches, and why.
  TableCell computeCell(const OperatorHandle& op, DispatchKey key) const;

  // What went wrong in BOXCAR_LIBRARY blocks, a sentence each; a static constructor has nobody to throw to.
  std::vector<std::string> registrationErrors() const;

 private:
  struct State;
  friend class OperatorHandle;

  Dispatcher();
  ~Dispatcher() = delete;

  std::unique_ptr<State> state_;
};

}  // namespace boxcar
