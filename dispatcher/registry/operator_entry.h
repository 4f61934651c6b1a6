#pragma once

#include <boxcar/dispatcher/boxing/kernel.h>
#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/call/dispatch_key_extractor.h>
#include <boxcar/dispatcher/registry/backend_fallbacks.h>
#include <boxcar/dispatcher/registry/registration_site.h>
#include <boxcar/dispatcher/registry/schema_text.h>
#include <boxcar/dispatcher/registry/tag.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace boxcar {

// Why a table entry holds what it holds.
enum class EntryCause : uint8_t { Undefined, Exact, Alias, Fallback, Default, Missing, Ambiguous };

// A table entry with its reason: [key] is the key that the kernel was registered for, and [site] the place; Undefined
// and line 0 if it was not registered.
struct TableEntry {
  const Kernel* kernel;
  EntryCause cause;
  DispatchKey key = DispatchKey::Undefined;
  RegistrationSite site = {};
};

// All that the dispatcher knows about one operator. Made when its name is first registered, and never freed. The
// members that calls read come first: the extractor and the table, with one kernel pointer for each runtime key.
// Everything else is read and changed under the dispatcher's lock. A call sees each table entry as it is before or
// after a change, never in between.
class BOXCAR_API OperatorEntry final {
 public:
  explicit OperatorEntry(OperatorName name);
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  [[gnu::always_inline]] const DispatchKeyExtractor& dispatchKeyExtractor() const noexcept { return extractor_; }
  [[gnu::always_inline]] const Kernel* lookup(DispatchKeySet keys) const noexcept {
    return table_[keys.getDispatchTableIndex()].load(std::memory_order_acquire);
  }
  // Returns the first kernel that is not a fallthrough, and the keys that remain at that point. The kernel is a
  // fallthrough only if the table entry of Undefined holds one.
  std::pair<const Kernel*, DispatchKeySet> lookupBelowFallthroughs(DispatchKeySet keys) const noexcept;
  // The size of a boxed call's arguments on the stack, in bytes; larger than any stack while there is no schema.
  size_t argumentBytes() const noexcept { return extractor_.arguments().bytes; }

  const OperatorName& operator_name() const noexcept { return name_; }
  bool hasSchema() const noexcept { return definition_.load(std::memory_order_acquire) != nullptr; }
  // Throws an Error that names the last definition if the operator is not defined (any more). The schema stays in
  // memory when the definition is removed.
  const FunctionSchema& schema() const;
  // Whether observers are told of calls: true for all operators except those with Tag::not_observed.
  bool isObserved() const noexcept { return is_observed_.load(std::memory_order_relaxed); }

  // The following take the dispatcher's lock where they need it.

  // Whether it has no definition, not even a deferred one, and no kernels (any more).
  bool isEmpty() const;
  // Where it was defined, even if that definition has been removed since.
  RegistrationSite schemaSite() const;
  // The tags of the definition; empty while there is none.
  std::vector<Tag> tags() const;
  // The number of definitions (0 or 1), and the number of definitions and kernels together.
  size_t defCount() const noexcept { return hasSchema() ? 1 : 0; }
  size_t defAndImplCount() const;

  // The C++ type of the operator's unboxed kernels; null while it has none.
  const CppSignature* cppSignature() const;
  // Throws an Error with both types and both sites, the kernel's and [where], if the unboxed kernels' type differs from
  // [signature]; if there are none, if the schema's type does. From then on typed callers rely on [signature]: kernels
  // of another type that are registered later are called boxed.
  void assertSignatureIsCorrect(const CppSignature& signature,
                                const std::source_location& where = std::source_location::current()) const {
    assertSignatureIsCorrect(signature, RegistrationSite{where.file_name(), where.line()});
  }
  void assertSignatureIsCorrect(const CppSignature& signature, const RegistrationSite& where) const {
    if (checked_signature_.load(std::memory_order_relaxed) != &signature) [[unlikely]]
      checkSignature(signature, where);
  }

  // Whether a kernel is registered for exactly this key, which may be an alias key.
  bool hasKernelForDispatchKey(DispatchKey key) const;
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const;
  // Returns the kernel that was registered last for exactly this key; invalid if there is none. Its state lives as long
  // as the copy.
  KernelFunction kernelForDispatchKey(DispatchKey key) const;
  // Returns the keys that have kernels, newest registration first, as errors list them: "CPU, Autograd".
  std::string listKernelKeys() const;

  // Attaches an object to the operator: one for each [owner], made on first use, such as a Python binding's function
  // object. [make] runs without the lock; if two threads make one, the first counts.
  std::shared_ptr<void> binding(const void* owner, const std::function<std::shared_ptr<void>()>& make) const;
  // Called before an Error is thrown because no kernel answers for a key. May throw its own error.
  using ReportErrorCallback = std::function<void(const OperatorHandle&, DispatchKey)>;
  void setReportErrorCallback(ReportErrorCallback callback) const;
  ReportErrorCallback reportErrorCallback() const;

  // The following are called by the Dispatcher, under its lock.

  // Returns what a call that is dispatched to [key] reaches, and why.
  TableEntry computeTableEntry(const BackendFallbacks& fallbacks, DispatchKey key) const;

  struct EntryPlan;
  // Computes the table entries from one of [plans] if these are given, and not at all while [fallbacks] holds table
  // entries.
  void registerSchema(const BackendFallbacks& fallbacks, FunctionSchema schema, RegistrationSite site,
                      std::vector<Tag> tags, std::vector<EntryPlan>* plans = nullptr);
  void deregisterSchema();
  // A definition whose schema has yet to be parsed and registered; null if there is none.
  const detail::SchemaText* putOffSchema() const noexcept { return put_off_; }
  void putOffSchema(const detail::SchemaText* text) noexcept { put_off_ = text; }
  // The newest kernel of a key wins; removing it restores the previous one. Errors name both signatures and both sites.
  uint64_t registerKernel(const BackendFallbacks& fallbacks, DispatchKey key, KernelFunction kernel,
                          RegistrationSite site);
  // Returns the removed kernel. Retire it after the lock is released: that may run the destructor of its state.
  AnnotatedKernel deregisterKernel(const BackendFallbacks& fallbacks, uint64_t id);
  // The source of each table entry, for operators that have kernels for the same keys in the same order.
  struct EntryPlan {
    std::vector<DispatchKey> keys;
    // For each table entry the index of a kernel, or one of these.
    static constexpr uint8_t kFallback = 255;
    static constexpr uint8_t kAmbiguous = 254;
    std::array<uint8_t, num_runtime_entries> sources;
  };
  // Computes the table entries that were deferred while [fallbacks] held table entries, from one of [plans] if one
  // fits; otherwise makes a plan and adds it there.
  void computeTableEntries(const BackendFallbacks& fallbacks, std::vector<EntryPlan>& plans);
  // Updates the table entries after the fallback of [key], a runtime key, has changed.
  void updateFallback(const BackendFallbacks& fallbacks, DispatchKey key);

 private:
  // One for each schema that the operator ever had, because callers may still be reading it. A definition that comes
  // again reuses its old object.
  struct Definition {
    FunctionSchema schema;
    RegistrationSite site;
    std::vector<Tag> tags;
    std::unique_ptr<Definition> older;
  };
  // Data that few operators have.
  struct Extras {
    std::vector<std::pair<const void*, std::shared_ptr<void>>> bindings;
    ReportErrorCallback report_error;
  };

  const Definition* definition() const noexcept { return definition_.load(std::memory_order_relaxed); }
  const Definition& keepDefinition(std::unique_ptr<Definition> given);
  void checkSignature(const CppSignature& signature, const RegistrationSite& where) const;
  const AnnotatedKernel* findKernel(DispatchKey key) const noexcept;
  bool hasKernelForAny(DispatchKeySet keys) const noexcept;
  bool withdrawsImplicit(DispatchKey key) const noexcept;
  const CppSignature* findSignature() const noexcept;
  void putIntoSlot(AnnotatedKernel& kernel);
  void updateTouchedEntries(const BackendFallbacks& fallbacks, DispatchKey registered);
  void updateAllEntries(const BackendFallbacks& fallbacks);
  EntryPlan planEntries(const BackendFallbacks& fallbacks) const;
  bool hasKernelsOf(const EntryPlan& plan) const noexcept;
  // Returns the table entry of an operator that is defined.
  TableEntry chooseEntry(const BackendFallbacks& fallbacks, DispatchKey key) const;
  // Returns whether the fallthrough mask must be updated.
  bool updateEntry(const BackendFallbacks& fallbacks, DispatchKey key);
  void updateFallthroughMask();
  void checkKernelAgainstSchema(const AnnotatedKernel& kernel, const Definition& definition) const;
  Extras& extras() const;

  DispatchKeyExtractor extractor_;
  std::array<std::atomic<const Kernel*>, num_runtime_entries> table_;

  OperatorName name_;
  std::atomic<const Definition*> definition_{nullptr};
  std::unique_ptr<Definition> newest_definition_;
  const detail::SchemaText* put_off_ = nullptr;
  std::atomic<bool> is_observed_{true};
  // The type that typed handles rely on, once there is one, and whether there are also handles of other types. Under
  // the lock.
  mutable const CppSignature* typed_signature_ = nullptr;
  mutable bool has_handles_of_other_types_ = false;
  // The signature that passed the check since the last change of kernels and schema.
  mutable std::atomic<const CppSignature*> checked_signature_{nullptr};
  std::vector<AnnotatedKernel> kernels_;  // oldest first
  detail::KernelSlot* slots_ = nullptr;   // never freed
  mutable std::unique_ptr<Extras> extras_;
};

}  // namespace boxcar
