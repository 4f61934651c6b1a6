#pragma once

#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/dispatcher/registry/registration_handle.h>
#include <boxcar/dispatcher/registry/registration_listener.h>
#include <boxcar/dispatcher/registry/registration_site.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/operator_name.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace boxcar {

struct PluginInfo;  // <boxcar/dispatcher/plugin/plugin.h>

// All operators of the process. Calls do not go through it: they go from an OperatorHandle straight to its table.
// Registrations from the BOXCAR_LIBRARY macros are read in when the Dispatcher is first used.
class BOXCAR_API Dispatcher final {
 public:
  static Dispatcher& singleton();

  // Returns the operator of that name, whether it is defined or so far only has kernels.
  std::optional<OperatorHandle> findOp(const OperatorName& name) const;
  // Returns the operator of that name if it is defined.
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const;
  // As above; throws an Error that suggests the nearest names, or says that only an implementation was found.
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const;
  // Returns the defined operators called [name], in definition order: "aten::add" gives Tensor, Scalar, out.
  std::vector<OperatorHandle> findOverloads(const std::string& name) const;
  // Returns the names of all defined operators, in definition order.
  std::vector<OperatorName> getAllOpNames() const;

  // Returns the names of the operators that have a kernel registered for exactly [key], which may be an alias key;
  // without a key, of all operators that have a definition or a kernel. In the order of their first registration.
  std::vector<OperatorName> getRegistrationsForDispatchKey(std::optional<DispatchKey> key) const;

  // Reads the registration blocks linked since the last time. Look-ups of operators by name do this too.
  void readLibraries();

  // Returns the operators that have kernels but no definition: their library was not loaded, or a name is misspelt.
  std::vector<OperatorHandle> findDanglingImpls() const;

  // Ways to call an operator, as c10 spells them; each forwards to the handle.
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

  // Each registers until the returned handle is destroyed, and throws Error if it contradicts an earlier registration.
  // The first definition of a name counts; a second one is an Error that names both places.
  RegistrationHandleRAII registerDef(FunctionSchema schema, RegistrationSite site, std::vector<Tag> tags = {});
  // As above, for [text], which must stay where it is. It is parsed when the operator is first looked up.
  RegistrationHandleRAII registerDef(const detail::SchemaText& text);
  // Without a key the kernel is a CompositeImplicitAutograd kernel. The operator need not be defined yet.
  RegistrationHandleRAII registerImpl(OperatorName name, std::optional<DispatchKey> key, KernelFunction kernel,
                                      RegistrationSite site);
  // Registers a kernel at [key], which must be a runtime key, for every operator that has no kernel of its own there.
  RegistrationHandleRAII registerFallback(DispatchKey key, KernelFunction kernel, RegistrationSite site);
  // Claims a namespace for one library.
  RegistrationHandleRAII registerLibrary(std::string ns, RegistrationSite site);

  // Calls [listener] for every operator that is already defined, and then for each that is defined or whose definition
  // is removed, until the handle is destroyed.
  RegistrationHandleRAII addRegistrationListener(std::unique_ptr<OpRegistrationListener> listener);

  // Waits until another thread has defined [schema]'s operator, or registered a kernel of it for [key]
  // (CompositeImplicitAutograd without a key). Throws Error if that has not happened after [timeout].
  void waitForDef(const FunctionSchema& schema, std::chrono::milliseconds timeout = std::chrono::seconds(2)) const;
  void waitForImpl(const OperatorName& name, std::optional<DispatchKey> key,
                   std::chrono::milliseconds timeout = std::chrono::seconds(2)) const;

  // Returns the fallback of [key]; invalid if there is none. The fallback's state lives as long as the copy.
  KernelFunction fallbackForDispatchKey(DispatchKey key) const;
  bool hasBackendFallbackForDispatchKey(DispatchKey key) const { return fallbackForDispatchKey(key).isValid(); }

  // Returns what a call of [op] that is dispatched to [key] reaches, and why.
  TableEntry computeTableEntry(const OperatorHandle& op, DispatchKey key) const;

  // The errors in BOXCAR_LIBRARY blocks, one sentence each, because static constructors have no caller to throw to.
  // They are also written to stderr when the blocks are read.
  std::vector<std::string> registrationErrors() const;

  // Opens the plugin file at [path] and registers what its BOXCAR_LIBRARY blocks contain. Throws Error, with nothing
  // registered, if any of it fails. A path without a slash is a file of the current directory. No code of the plugin
  // runs before its stamp is checked. Throws Error if the plugin is already loaded.
  PluginInfo loadPlugin(const std::string& path);
  // Removes everything that the plugin of that name, or of that file, registered. Its code stays in memory, and so do
  // the allocators it set, because existing tensors and running calls need them. The plugin can be loaded again.
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
