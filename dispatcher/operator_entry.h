#pragma once

#include <boxcar/dispatcher/dispatch_key_extractor.h>
#include <boxcar/dispatcher/kernel.h>
#include <boxcar/dispatcher/kernel_function.h>
#include <boxcar/dispatcher/registration_site.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace boxcar {

// A kernel as somebody registered it for a key, which may be an alias key.
struct AnnotatedKernel {
  KernelFunction kernel;
  RegistrationSite site;
  DispatchKey key;
  uint64_t id;
};

// Why a cell of an operator's table holds what it holds.
enum class CellCause : uint8_t { Undefined, Exact, Alias, Fallback, Default, Missing, Ambiguous };

// A cell with its reason: [key] is the key that the kernel was registered for, Undefined where there is none.
struct TableCell {
  const Kernel* kernel;
  CellCause cause;
  DispatchKey key = DispatchKey::Undefined;
  const AnnotatedKernel* source = nullptr;
};

// The kernels that serve all operators at a key where they have none of their own, by the key's table index.
using BackendFallbacks = std::array<std::optional<AnnotatedKernel>, num_runtime_entries>;

// What a key does where neither an operator has a kernel nor somebody registered a fallback: most functionalities let
// the call through, the others explain.
BOXCAR_API const Kernel* defaultKernelOf(DispatchKey key) noexcept;

// All that the dispatcher knows of one operator. Made when its name is first registered, never freed. What calls read
// stands first: the extractor and the table, one record pointer for each runtime key. Everything else changes under the
// dispatcher's lock; a call sees each cell before or after a change, never between.
class BOXCAR_API OperatorEntry final {
 public:
  explicit OperatorEntry(OperatorName name);
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  const DispatchKeyExtractor& dispatchKeyExtractor() const noexcept { return extractor_; }
  const Kernel* lookup(DispatchKeySet keys) const noexcept {
    return table_[keys.getDispatchTableIndex()].load(std::memory_order_acquire);
  }
  // The first record that is no fallthrough, and the keys that are left there. The last one is a fallthrough all the
  // same when that is what Undefined holds.
  std::pair<const Kernel*, DispatchKeySet> lookupBelowFallthroughs(DispatchKeySet keys) const noexcept;
  // How many bytes of values a boxed call needs on the stack; more than any stack has while there is no schema.
  size_t argumentBytes() const noexcept { return argument_bytes_; }

  const OperatorName& operator_name() const noexcept { return name_; }
  bool hasSchema() const noexcept { return schema_ != nullptr; }
  // Neither defined nor implemented (any more).
  bool isEmpty() const noexcept { return schema_ == nullptr && kernels_.empty(); }
  // An Error that names the last definer when the operator is not defined (any more).
  const FunctionSchema& schema() const;
  RegistrationSite schemaSite() const noexcept { return schema_site_; }

  // The C++ type of the operator's unboxed kernels; null while it has none.
  const CppSignature* cppSignature() const noexcept;
  // An Error with both types and the kernel's site when the unboxed kernels have another type than [signature]; while
  // there are none, when the schema has.
  void assertSignatureIsCorrect(const CppSignature& signature) const;

  // Registered for exactly this key, alias keys included.
  bool hasKernelForDispatchKey(DispatchKey key) const noexcept;
  bool hasKernelForAnyDispatchKey(DispatchKeySet keys) const noexcept;
  // What a call reaches that is dispatched to [key], and why.
  TableCell computeCell(const BackendFallbacks& fallbacks, DispatchKey key) const;
  // The keys that have kernels, newest registration first, as errors list them: "CPU, Autograd".
  std::string listKernelKeys() const;

  // The following are the Dispatcher's, under its lock.

  void registerSchema(const BackendFallbacks& fallbacks, FunctionSchema schema, RegistrationSite site);
  void deregisterSchema();
  // The newest kernel of a key wins; removing it restores the one before. Errors name both signatures and both sites.
  uint64_t registerKernel(const BackendFallbacks& fallbacks, DispatchKey key, KernelFunction kernel,
                          RegistrationSite site);
  void deregisterKernel(const BackendFallbacks& fallbacks, uint64_t id);
  // The fallback of [key], a runtime key, has changed.
  void updateFallback(const BackendFallbacks& fallbacks, DispatchKey key);

 private:
  const AnnotatedKernel* findKernel(DispatchKey key) const noexcept;
  bool hasKernelForKeysOf(DispatchKey autograd_key) const noexcept;
  void updateTouchedCells(const BackendFallbacks& fallbacks, DispatchKey registered);
  void updateAllCells(const BackendFallbacks& fallbacks);
  // Whether the fallthrough mask has to follow.
  bool updateCell(const BackendFallbacks& fallbacks, DispatchKey key);
  void updateFallthroughMask();
  void checkKernelAgainstSchema(const AnnotatedKernel& kernel) const;

  DispatchKeyExtractor extractor_;
  size_t argument_bytes_;
  std::array<std::atomic<const Kernel*>, num_runtime_entries> table_;

  OperatorName name_;
  std::unique_ptr<FunctionSchema> schema_;
  RegistrationSite schema_site_;
  std::vector<AnnotatedKernel> kernels_;  // oldest first
};

}  // namespace boxcar
