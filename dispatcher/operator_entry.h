#pragma once

#include <boxcar/dispatcher/backend_fallbacks.h>
#include <boxcar/dispatcher/dispatch_key_extractor.h>
#include <boxcar/dispatcher/kernel.h>
#include <boxcar/dispatcher/kernel_function.h>
#include <boxcar/dispatcher/registration_site.h>
#include <boxcar/dispatcher/schema_text.h>
#include <boxcar/dispatcher/tag.h>
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

// Why a cell of an operator's table holds what it holds.
enum class CellCause : uint8_t { Undefined, Exact, Alias, Fallback, Default, Missing, Ambiguous };

// A cell with its reason: [key] is the key that the kernel was registered for, and [site] the place; Undefined and
// line 0 where nobody registered it.
struct TableCell {
  const Kernel* kernel;
  CellCause cause;
  DispatchKey key = DispatchKey::Undefined;
  RegistrationSite site = {};
};

// All that the dispatcher knows of one operator. Made when its name is first registered, never freed. What calls read
// stands first: the extractor and the table, one record pointer for each runtime key. Everything else is read and
// changed under the dispatcher's lock; a call sees each cell before or after a change, never between.
class BOXCAR_API OperatorEntry final {
 public:
  explicit OperatorEntry(OperatorName name);
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  [[gnu::always_inline]] const DispatchKeyExtractor& dispatchKeyExtractor() const noexcept { return extractor_; }
  [[gnu::always_inline]] const Kernel* lookup(DispatchKeySet keys) const noexcept {
    return table_[keys.getDispatchTableIndex()].load(std::memory_order_acquire);
  }
  // The first record that is no fallthrough, and the keys that are left there. The last one is a fallthrough all the
  // same when that is what Undefined holds.
  std::pair<const Kernel*, DispatchKeySet> lookupBelowFallthroughs(DispatchKeySet keys) const noexcept;
  // How many bytes of values a boxed call needs on the stack; more than any stack has while there is no schema.
  size_t argumentBytes() const noexcept { return extractor_.arguments().bytes; }

  const OperatorName& operator_name() const noexcept { return name_; }
  bool hasSchema() const noexcept { return definition_.load(std::memory_order_acquire) != nullptr; }
  // An Error that names the last definer when the operator is not defined (any more). The schema stays where it is when
  // the definition is removed.
  const FunctionSchema& schema() const;
  // Whether observers are told of calls: all operators are but those with Tag::not_observed.
  bool isObserved() const noexcept { return is_observed_.load(std::memory_order_relaxed); }

  // The following take the dispatcher's lock, as far as they need it.

  // Neither defined, now or put off, nor implemented (any more).
  bool isEmpty() const;
  // Where it was defined, also when that definition was removed since.
  RegistrationSite schemaSite() const;
  // What the definition says of the operator beside its schema; nothing while there is none.
  std::vector<Tag> tags() const;
  // How many definitions (one or none), and how many of these and of kernels, are registered.
  size_t defCount() const noexcept { return hasSchema() ? 1 : 0; }
  size_t defAndImplCount() const;

  // The C++ type of the operator's unboxed kernels; null while it has none.
  const CppSignature* cppSignature() const;
  // An Error with both types and both sites, the kernel's and [where], when the unboxed kernels have another type than
  // [signature]; while there are none, when the schema has. From then on typed callers rely on [signature]: kernels of
  // another type that are registered later are called boxed.
  void assertSignatureIsCorrect(const CppSignature& signature,
                                const std::source_location& where = std::source_location::current()) const {
    assertSignatureIsCorrect(signature, RegistrationSite{where.file_name(), where.line()});
  }
  void assertSignatureIsCorrect(const CppSignature& signature, const RegistrationSite& where) const {
    if (checked_signature_.load(std::memory_order_relaxed) != &signature) [[unlikely]]
      checkSignature(signature, where);
  }

  // Registered for exactly this key, alias keys included.
  bool hasKernelForDispatchKey(DispatchKey key) const;
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const;
  // The kernel that was registered last for exactly this key; invalid when there is none. Its state lives as long as
  // the copy.
  KernelFunction kernelForDispatchKey(DispatchKey key) const;
  // The keys that have kernels, newest registration first, as errors list them: "CPU, Autograd".
  std::string listKernelKeys() const;

  // What somebody hangs on the operator: one object for each [owner], made when first asked for, such as a Python
  // binding's function object. [make] runs without the lock; of two threads that make one, the first counts.
  std::shared_ptr<void> binding(const void* owner, const std::function<std::shared_ptr<void>()>& make) const;
  // Called before an Error is thrown because no kernel answers for a key; may throw an error of its own.
  using ReportErrorCallback = std::function<void(const OperatorHandle&, DispatchKey)>;
  void setReportErrorCallback(ReportErrorCallback callback) const;
  ReportErrorCallback reportErrorCallback() const;

  // The following are the Dispatcher's, under its lock.

  // What a call reaches that is dispatched to [key], and why.
  TableCell computeCell(const BackendFallbacks& fallbacks, DispatchKey key) const;

  struct CellPlan;
  // Computes the cells by one of [plans] where these are given, and not at all while [fallbacks] holds them.
  void registerSchema(const BackendFallbacks& fallbacks, FunctionSchema schema, RegistrationSite site,
                      std::vector<Tag> tags, std::vector<CellPlan>* plans = nullptr);
  void deregisterSchema();
  // A definition whose schema is yet to be read and registered; null when there is none.
  const detail::SchemaText* putOffSchema() const noexcept { return put_off_; }
  void putOffSchema(const detail::SchemaText* text) noexcept { put_off_ = text; }
  // The newest kernel of a key wins; removing it restores the one before. Errors name both signatures and both sites.
  uint64_t registerKernel(const BackendFallbacks& fallbacks, DispatchKey key, KernelFunction kernel,
                          RegistrationSite site);
  // The kernel that was removed, to be retired when the lock is free: that may run the destructor of its state.
  AnnotatedKernel deregisterKernel(const BackendFallbacks& fallbacks, uint64_t id);
  // Where the cells of operators come from that have kernels for the same keys, in the same order.
  struct CellPlan {
    std::vector<DispatchKey> keys;
    // For each cell one of the kernels, counted from 0, or one of these.
    static constexpr uint8_t kFallback = 255;
    static constexpr uint8_t kAmbiguous = 254;
    std::array<uint8_t, num_runtime_entries> sources;
  };
  // Computes what was put off while [fallbacks] held the cells, by one of [plans] if there is one, else by one that is
  // added there.
  void computeCells(const BackendFallbacks& fallbacks, std::vector<CellPlan>& plans);
  // The fallback of [key], a runtime key, has changed.
  void updateFallback(const BackendFallbacks& fallbacks, DispatchKey key);

 private:
  // One for each schema that the operator ever had: somebody may be reading it. The same one serves again.
  struct Definition {
    FunctionSchema schema;
    RegistrationSite site;
    std::vector<Tag> tags;
    std::unique_ptr<Definition> older;
  };
  // What few operators have.
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
  void updateTouchedCells(const BackendFallbacks& fallbacks, DispatchKey registered);
  void updateAllCells(const BackendFallbacks& fallbacks);
  CellPlan planCells(const BackendFallbacks& fallbacks) const;
  bool hasKernelsOf(const CellPlan& plan) const noexcept;
  // The cell of an operator that is defined.
  TableCell chooseCell(const BackendFallbacks& fallbacks, DispatchKey key) const;
  // Whether the fallthrough mask has to follow.
  bool updateCell(const BackendFallbacks& fallbacks, DispatchKey key);
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
  // What typed handles rely on, once there is one, and whether there are handles of other types, too. Under the lock.
  mutable const CppSignature* typed_signature_ = nullptr;
  mutable bool has_handles_of_other_types_ = false;
  // What was found to be right since the last change of kernels and schema.
  mutable std::atomic<const CppSignature*> checked_signature_{nullptr};
  std::vector<AnnotatedKernel> kernels_;  // oldest first
  detail::KernelSlot* slots_ = nullptr;   // never freed
  mutable std::unique_ptr<Extras> extras_;
};

}  // namespace boxcar
