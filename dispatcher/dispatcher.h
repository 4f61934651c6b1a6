#pragma once

#include <boxcar/dispatcher/kernel_function.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/dispatcher/registration_handle.h>
#include <boxcar/dispatcher/registration_listener.h>
#include <boxcar/dispatcher/registration_site.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/operator_name.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace boxcar {

struct PluginInfo;  // <boxcar/dispatcher/plugin.h>

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

  // The names of the operators that have a kernel registered for exactly [key], an alias perhaps; of all operators that
  // have a definition or a kernel, where no key is given. In the order of their first registration.
  std::vector<OperatorName> getRegistrationsForDispatchKey(std::optional<DispatchKey> key) const;

  // Reads the blocks of registrations that were linked since the last time; what looks up operators by name does so
  // too.
  void readLibraries();

  // The operators that have kernels but no definition: their library was not loaded, or a name is misspelt.
  std::vector<OperatorHandle> findDanglingImpls() const;

  // Ways to call an operator, as c10 spells them; each is the handle's own.
  template <class R, class... Args>
  R call(const TypedOperatorHandle<R(Args...)>& op, std::type_identity_t<Args>... args) const {
    return op.call(static_cast<Args&&>(args)...);
  }
  template <class R, class... Args>
  R redispatch(const TypedOperatorHandle<R(Args...)>& op, DispatchKeySet keys,
               std::type_identity_t<Args>... args) const {
    return op.redispatch(keys, static_cast<Args&&>(args)...);
  }
  void callBoxed(const OperatorHandle& op, Stack* stack) const { op.callBoxed(*stack); }
  void redispatchBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    op.redispatchBoxed(keys, *stack);
  }
  void callBoxedForDispatchKey(const OperatorHandle& op, DispatchKey key, Stack* stack) const {
    op.callBoxedForDispatchKey(key, *stack);
  }

  // Each registers until the handle is destroyed, and throws an Error when it contradicts what is registered already.
  // The first definition of a name counts; a second one is an error that names both places.
  RegistrationHandleRAII registerDef(FunctionSchema schema, RegistrationSite site, std::vector<Tag> tags = {});
  // The same of [text], which stays where it is, read when the operator is first asked for.
  RegistrationHandleRAII registerDef(const detail::SchemaText& text);
  // Without a key the kernel is a CompositeImplicitAutograd one. The operator need not be defined yet.
  RegistrationHandleRAII registerImpl(OperatorName name, std::optional<DispatchKey> key, KernelFunction kernel,
                                      RegistrationSite site);
  // A kernel at [key], which must be a runtime key, for every operator that has none of its own there.
  RegistrationHandleRAII registerFallback(DispatchKey key, KernelFunction kernel, RegistrationSite site);
  // Claims a namespace for one library.
  RegistrationHandleRAII registerLibrary(std::string ns, RegistrationSite site);

  // Calls [listener] for every operator that is defined already, and from now on for each that is defined or whose
  // definition goes, until the handle is destroyed.
  RegistrationHandleRAII addRegistrationListener(std::unique_ptr<OpRegistrationListener> listener);

  // Waits until another thread has defined [schema]'s operator, or registered a kernel of it for [key]
  // (CompositeImplicitAutograd when there is none). An Error when that has not happened after [timeout].
  void waitForDef(const FunctionSchema& schema, std::chrono::milliseconds timeout = std::chrono::seconds(2)) const;
  void waitForImpl(const OperatorName& name, std::optional<DispatchKey> key,
                   std::chrono::milliseconds timeout = std::chrono::seconds(2)) const;

  // The fallback of [key]; invalid where there is none. Its state lives as long as the copy.
  KernelFunction fallbackForDispatchKey(DispatchKey key) const;
  bool hasBackendFallbackForDispatchKey(DispatchKey key) const { return fallbackForDispatchKey(key).isValid(); }

  // What a call of [op] that is dispatched to [key] reaches, and why.
  TableCell computeCell(const OperatorHandle& op, DispatchKey key) const;

  // What went wrong in BOXCAR_LIBRARY blocks, a sentence each; a static constructor has nobody to throw to. They are
  // written to stderr, too, when they are read.
  std::vector<std::string> registrationErrors() const;

  // Opens the plugin in the file at [path] and registers what its BOXCAR_LIBRARY blocks do: all of it, or nothing and
  // an Error. A path without a slash is a file of the current directory. Nothing of the plugin runs before its stamp is
  // found to be right. Loading a plugin that is loaded is an Error.
  PluginInfo loadPlugin(const std::string& path);
  // Takes back all that the plugin of that name, or of that file, registered. Its code stays in memory, and so do the
  // allocators it set: tensors and calls that are still there need them. It can be loaded again.
  void unloadPlugin(const std::string& name_or_path);
  // The loaded plugins, in the order of loading.
  std::vector<PluginInfo> plugins() const;

 private:
  struct State;

  Dispatcher();
  ~Dispatcher() = delete;

  std::unique_ptr<State> state_;
};

}  // namespace boxcar
