#include <boxcar/dispatcher/registry/intercepted_levels.h>
#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/dispatcher/registry/registration_lock.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/infer_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <bitset>

namespace boxcar {
namespace {

using Key = DispatchKey;

// Returns the autograd key for the tensors of a backend key.
DispatchKey autogradKeyOf(DispatchKey backend_key) {
  const DispatchKey functionality = toFunctionalityKey(backend_key);
  if (functionality == Key::NestedTensor) return Key::AutogradNestedTensor;
  if (functionality == Key::Dense) {
    return toRuntimePerBackendFunctionalityKey(Key::AutogradFunctionality, toBackendComponent(backend_key));
  }
  return autogradother_backends.has(backend_key) ? Key::AutogradOther : Key::Undefined;
}

}  // namespace

OperatorEntry::OperatorEntry(OperatorName name) : name_(std::move(name)) {
  for (auto& table_entry : table_) table_entry.store(&detail::kUndefinedOperatorKernel, std::memory_order_relaxed);
}

std::pair<const Kernel*, DispatchKeySet> OperatorEntry::lookupBelowFallthroughs(DispatchKeySet keys) const noexcept {
  const Kernel* kernel = lookup(keys);
  while (kernel->isFallthrough() && keys.highestFunctionalityKey() != Key::Undefined) {
    keys = keys.remove(keys.highestFunctionalityKey());
    kernel = lookup(keys);
  }
  return {kernel, keys};
}

const FunctionSchema& OperatorEntry::schema() const {
  if (const Definition* current = definition_.load(std::memory_order_acquire)) return current->schema;
  const detail::RegistrationLock lock(detail::registrationMutex());
  BOXCAR_FAIL("operator {} is not defined{}", name_,
              newest_definition_ == nullptr
                  ? std::string(kernels_.empty() ? "" : ": it has kernels, but nobody called def() for it")
                  : fmt::format(" any more: its definition at {} was removed", newest_definition_->site));
}

bool OperatorEntry::isEmpty() const { return defAndImplCount() == 0 && put_off_ == nullptr; }

size_t OperatorEntry::defAndImplCount() const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  return defCount() + kernels_.size();
}

RegistrationSite OperatorEntry::schemaSite() const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  return newest_definition_ == nullptr ? RegistrationSite() : newest_definition_->site;
}

std::vector<Tag> OperatorEntry::tags() const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  return hasSchema() ? definition()->tags : std::vector<Tag>();
}

const CppSignature* OperatorEntry::findSignature() const noexcept {
  for (const AnnotatedKernel& kernel : kernels_) {
    if (kernel.kernel.signature() != nullptr) return kernel.kernel.signature();
  }
  return nullptr;
}

const CppSignature* OperatorEntry::cppSignature() const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  return findSignature();
}

void OperatorEntry::checkSignature(const CppSignature& signature, const RegistrationSite& where) const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  if (hasSchema() && findSignature() == nullptr) {
    const auto differences = findSchemaDifferences(definition()->schema, signature.schema());
    BOXCAR_CHECK(
        !differences.has_value(),
        "operator {} was accessed at {} with C++ signature\n    {}\nwhich does not match its schema, defined at {}: "
        "{}\n    schema: {}",
        name_, where, signature, definition()->site, *differences, definition()->schema);
  }
  for (const AnnotatedKernel& kernel : kernels_) {
    const CppSignature* other = kernel.kernel.signature();
    if (other == nullptr || *other == signature) continue;
    BOXCAR_FAIL(
        "operator {} was accessed at {} with C++ signature\n    {}\nbut its kernel for key {}, registered at {}, has "
        "signature\n    {}\nwrite typed<>() with the kernel's function type",
        name_, where, signature, kernel.key, kernel.site, *other);
  }
  if (typed_signature_ == nullptr) typed_signature_ = &signature;
  has_handles_of_other_types_ |= !(*typed_signature_ == signature);
  checked_signature_.store(&signature, std::memory_order_relaxed);
}

OperatorEntry::Extras& OperatorEntry::extras() const {
  if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
  return *extras_;
}

std::shared_ptr<void> OperatorEntry::binding(const void* owner,
                                             const std::function<std::shared_ptr<void>()>& make) const {
  const auto find = [&]() -> std::shared_ptr<void> {
    for (const auto& [of, object] : extras().bindings) {
      if (of == owner) return object;
    }
    return nullptr;
  };
  {
    const detail::RegistrationLock lock(detail::registrationMutex());
    if (auto found = find()) return found;
  }
  // Without the lock, because [make] may wait for another language's lock.
  std::shared_ptr<void> made = make();
  const detail::RegistrationLock lock(detail::registrationMutex());
  if (auto found = find()) return found;
  extras().bindings.emplace_back(owner, made);
  return made;
}

void OperatorEntry::setReportErrorCallback(ReportErrorCallback callback) const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  extras().report_error = std::move(callback);
}

OperatorEntry::ReportErrorCallback OperatorEntry::reportErrorCallback() const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  return extras_ == nullptr ? nullptr : extras_->report_error;
}

const AnnotatedKernel* OperatorEntry::findKernel(DispatchKey key) const noexcept {
  for (size_t i = kernels_.size(); i-- > 0;) {
    if (kernels_[i].key == key) return &kernels_[i];
  }
  return nullptr;
}

bool OperatorEntry::hasKernelForAny(DispatchKeySet keys) const noexcept {
  return std::ranges::any_of(
      kernels_, [&](const AnnotatedKernel& kernel) { return !isAliasDispatchKey(kernel.key) && keys.has(kernel.key); });
}

bool OperatorEntry::hasKernelForDispatchKey(DispatchKey key) const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  return findKernel(key) != nullptr;
}

bool OperatorEntry::hasKernelForAnyDispatchKey(DispatchKeySet keys) const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  return hasKernelForAny(keys);
}

KernelFunction OperatorEntry::kernelForDispatchKey(DispatchKey key) const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  const AnnotatedKernel* found = findKernel(key);
  return found == nullptr ? KernelFunction() : found->kernel;
}

std::string OperatorEntry::listKernelKeys() const {
  const detail::RegistrationLock lock(detail::registrationMutex());
  std::vector<std::string> names;
  for (size_t i = kernels_.size(); i-- > 0;) {
    std::string name(toString(kernels_[i].key));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

TableEntry OperatorEntry::computeTableEntry(const BackendFallbacks& fallbacks, DispatchKey key) const {
  return hasSchema() ? chooseEntry(fallbacks, key)
                     : TableEntry{&detail::kUndefinedOperatorKernel, EntryCause::Undefined};
}

TableEntry OperatorEntry::chooseEntry(const BackendFallbacks& fallbacks, DispatchKey key) const {
  const auto entryOf = [](const AnnotatedKernel& kernel, EntryCause cause) {
    return TableEntry{kernel.table_kernel, cause, kernel.key, kernel.site};
  };
  if (const AnnotatedKernel* exact = findKernel(key)) return entryOf(*exact, EntryCause::Exact);

  const bool undefined = key == Key::Undefined;
  const auto alias = [&](DispatchKey alias_key, bool serves_undefined) -> const AnnotatedKernel* {
    const bool serves = undefined ? serves_undefined : isIncludedInAlias(key, alias_key);
    return serves ? findKernel(alias_key) : nullptr;
  };
  for (const DispatchKey explicit_key : {Key::CompositeExplicitAutogradNonFunctional, Key::CompositeExplicitAutograd}) {
    if (const AnnotatedKernel* kernel = alias(explicit_key, true)) return entryOf(*kernel, EntryCause::Alias);
  }
  if (const AnnotatedKernel* kernel = alias(Key::CompositeImplicitAutogradNestedTensor, false)) {
    return entryOf(*kernel, EntryCause::Alias);
  }
  if (const AnnotatedKernel* kernel = alias(Key::CompositeImplicitAutograd, true)) {
    if (key == Key::AutogradOther && hasKernelForAny(autogradother_backends)) {
      return {&detail::kAmbiguousAutogradKernel, EntryCause::Ambiguous};
    }
    if (!withdrawsImplicit(key)) return entryOf(*kernel, EntryCause::Alias);
  }
  for (const DispatchKey last_key : {Key::Autograd, Key::FuncTorchBatchedDecomposition}) {
    if (const AnnotatedKernel* kernel = alias(last_key, false)) return entryOf(*kernel, EntryCause::Alias);
  }
  if (const AnnotatedKernel* fallback = fallbacks.find(key)) return entryOf(*fallback, EntryCause::Fallback);
  const Kernel* kernel = defaultKernelOf(key);
  return {kernel, kernel->kind == KernelKind::Missing ? EntryCause::Missing : EntryCause::Default};
}

// CompositeExplicitAutograd is the operator's kernel for every backend, so it disables CompositeImplicitAutograd
// wherever it does not serve itself. On an autograd key, a kernel of the key's backend does the same: the composite
// must not hide the derivative.
bool OperatorEntry::withdrawsImplicit(DispatchKey key) const noexcept {
  return findKernel(Key::CompositeExplicitAutograd) != nullptr || hasKernelForAny(getBackendKeySetFromAutograd(key));
}

bool OperatorEntry::updateEntry(const BackendFallbacks& fallbacks, DispatchKey key) {
  std::atomic<const Kernel*>& table_entry = table_[detail::tableIndexOf(key)];
  const bool was_fallthrough = table_entry.load(std::memory_order_relaxed)->isFallthrough();
  const Kernel* kernel = chooseEntry(fallbacks, key).kernel;
  if (detail::areLevelsIntercepted()) kernel = detail::inFrontOf(*this, detail::tableIndexOf(key), kernel);
  table_entry.store(kernel, std::memory_order_release);
  return kernel->isFallthrough() != was_fallthrough;
}

namespace {

// Calls [function] for each table entry that a kernel for [registered] can change; some table entries come twice.
template <class Function>
void forEachTouchedKey(DispatchKey registered, Function&& function) {
  if (registered == Key::Undefined) return function(registered);
  for (const DispatchKey key : getRuntimeDispatchKeySet(registered)) function(key);
  if (registered == Key::CompositeImplicitAutograd || registered == Key::CompositeExplicitAutograd ||
      registered == Key::CompositeExplicitAutogradNonFunctional) {
    function(Key::Undefined);
  }
  // A kernel for all backends disables the implicit composite everywhere; a kernel of one backend disables it at the
  // autograd key above it.
  if (registered == Key::CompositeExplicitAutograd) {
    for (const DispatchKey key : math_dispatch_keyset - backend_dispatch_keyset) function(key);
  } else if (!isAliasDispatchKey(registered)) {
    if (const DispatchKey autograd = autogradKeyOf(registered); autograd != Key::Undefined) function(autograd);
  }
}

}  // namespace

void OperatorEntry::updateTouchedEntries(const BackendFallbacks& fallbacks, DispatchKey registered) {
  if (!hasSchema() || fallbacks.holdsEntries()) return;
  bool mask_changes = false;
  forEachTouchedKey(registered, [&](DispatchKey key) { mask_changes |= updateEntry(fallbacks, key); });
  if (mask_changes) updateFallthroughMask();
}

void OperatorEntry::updateAllEntries(const BackendFallbacks& fallbacks) {
  std::array<const Kernel*, num_runtime_entries> kernels = fallbacks.kernels();
  std::bitset<num_runtime_entries> computed;
  for (const AnnotatedKernel& kernel : kernels_) {
    forEachTouchedKey(kernel.key, [&](DispatchKey key) {
      const size_t index = detail::tableIndexOf(key);
      if (computed[index]) return;
      computed.set(index);
      kernels[index] = chooseEntry(fallbacks, key).kernel;
    });
  }
  const bool are_intercepted = detail::areLevelsIntercepted();
  for (size_t i = 0; are_intercepted && i < num_runtime_entries; ++i) {
    kernels[i] = detail::inFrontOf(*this, i, kernels[i]);
  }
  for (size_t i = 0; i < num_runtime_entries; ++i) table_[i].store(kernels[i], std::memory_order_release);
  if (kernels_.empty() && !are_intercepted) {
    extractor_.setNonFallthroughKeys({DispatchKeySet::RAW, fallbacks.nonFallthroughKeys()});
  } else {
    updateFallthroughMask();
  }
}

void OperatorEntry::updateFallback(const BackendFallbacks& fallbacks, DispatchKey key) {
  if (!hasSchema() || fallbacks.holdsEntries()) return;
  if (updateEntry(fallbacks, key)) updateFallthroughMask();
}

void OperatorEntry::updateFallthroughMask() {
  const auto kernelAt = [this](size_t index) { return table_[index].load(std::memory_order_relaxed); };
  extractor_.setNonFallthroughKeys({DispatchKeySet::RAW, detail::nonFallthroughKeysOf(kernelAt)});
}

void OperatorEntry::checkKernelAgainstSchema(const AnnotatedKernel& kernel, const Definition& definition) const {
  const CppSignature* signature = kernel.kernel.signature();
  if (signature == nullptr) return;
  const auto differences = findSchemaDifferences(definition.schema, signature->schema());
  BOXCAR_CHECK(
      !differences.has_value(),
      "the kernel of {} for key {}, registered at {}, does not match the operator's schema, defined at {}: {}\n"
      "    schema: {}\n    kernel: {}",
      name_, kernel.key, kernel.site, definition.site, *differences, definition.schema, *signature);
}

const OperatorEntry::Definition& OperatorEntry::keepDefinition(std::unique_ptr<Definition> given) {
  const auto isGiven = [&](const Definition& kept) {
    return kept.site == given->site && kept.tags == given->tags &&
           kept.schema.isDefaultAliasAnalysisKind() == given->schema.isDefaultAliasAnalysisKind() &&
           kept.schema.aliasAnalysis() == given->schema.aliasAnalysis() &&
           toString(kept.schema) == toString(given->schema);
  };
  std::unique_ptr<Definition>* place = &newest_definition_;
  while (*place != nullptr && !isGiven(**place)) place = &(*place)->older;
  if (*place != nullptr) {
    given = std::move(*place);
    *place = std::move(given->older);
  }
  // At the front, where errors look for the last definition.
  given->older = std::move(newest_definition_);
  newest_definition_ = std::move(given);
  return *newest_definition_;
}

void OperatorEntry::registerSchema(const BackendFallbacks& fallbacks, FunctionSchema schema, RegistrationSite site,
                                   std::vector<Tag> tags, std::vector<EntryPlan>* plans) {
  BOXCAR_INTERNAL_ASSERT(!hasSchema());
  auto given = std::make_unique<Definition>(Definition{std::move(schema), site, std::move(tags), nullptr});
  for (const AnnotatedKernel& kernel : kernels_) checkKernelAgainstSchema(kernel, *given);
  const Definition& kept = keepDefinition(std::move(given));
  is_observed_.store(std::ranges::find(kept.tags, Tag::not_observed) == kept.tags.end(), std::memory_order_relaxed);
  checked_signature_.store(nullptr, std::memory_order_relaxed);
  try {
    extractor_.registerSchema(kept.schema);
    if (plans != nullptr) {
      computeTableEntries(fallbacks, *plans);
    } else if (!fallbacks.holdsEntries()) {
      updateAllEntries(fallbacks);
    }
  } catch (...) {
    deregisterSchema();  // out of memory
    throw;
  }
  // Last, because whoever sees the definition may call the operator.
  definition_.store(&kept, std::memory_order_release);
}

OperatorEntry::EntryPlan OperatorEntry::planEntries(const BackendFallbacks& fallbacks) const {
  EntryPlan plan;
  for (const AnnotatedKernel& kernel : kernels_) plan.keys.push_back(kernel.key);
  plan.sources.fill(EntryPlan::kFallback);
  for (const AnnotatedKernel& kernel : kernels_) {
    forEachTouchedKey(kernel.key, [&](DispatchKey key) {
      const TableEntry table_entry = chooseEntry(fallbacks, key);
      uint8_t& source = plan.sources[detail::tableIndexOf(key)];
      if (table_entry.cause == EntryCause::Exact || table_entry.cause == EntryCause::Alias) {
        source = static_cast<uint8_t>(findKernel(table_entry.key) - kernels_.data());
      } else if (table_entry.cause == EntryCause::Ambiguous) {
        source = EntryPlan::kAmbiguous;
      }
    });
  }
  return plan;
}

bool OperatorEntry::hasKernelsOf(const EntryPlan& plan) const noexcept {
  return std::ranges::equal(kernels_, plan.keys, {}, &AnnotatedKernel::key);
}

void OperatorEntry::computeTableEntries(const BackendFallbacks& fallbacks, std::vector<EntryPlan>& plans) {
  if (kernels_.empty() || kernels_.size() >= EntryPlan::kAmbiguous) return updateAllEntries(fallbacks);
  auto plan = std::ranges::find_if(plans, [this](const EntryPlan& other) { return hasKernelsOf(other); });
  if (plan == plans.end()) plan = plans.insert(plans.end(), planEntries(fallbacks));
  for (size_t i = 0; i < num_runtime_entries; ++i) {
    const uint8_t source = plan->sources[i];
    const Kernel* kernel = source == EntryPlan::kFallback    ? fallbacks.kernels()[i]
                           : source == EntryPlan::kAmbiguous ? &detail::kAmbiguousAutogradKernel
                                                             : kernels_[source].table_kernel;
    table_[i].store(kernel, std::memory_order_release);
  }
  for (size_t i = 0; detail::areLevelsIntercepted() && i < num_runtime_entries; ++i) {
    table_[i].store(detail::inFrontOf(*this, i, table_[i].load(std::memory_order_relaxed)), std::memory_order_release);
  }
  updateFallthroughMask();
}

void OperatorEntry::deregisterSchema() {
  for (auto& table_entry : table_) table_entry.store(&detail::kUndefinedOperatorKernel, std::memory_order_release);
  extractor_.deregisterSchema();
  definition_.store(nullptr, std::memory_order_release);
}

void OperatorEntry::putIntoSlot(AnnotatedKernel& kernel) {
  const CppSignature* signature = kernel.kernel.signature();
  // A typed caller assumes that an unboxed kernel has the caller's type.
  if (signature != nullptr && typed_signature_ != nullptr &&
      (has_handles_of_other_types_ || !(*typed_signature_ == *signature))) {
    kernel.kernel = KernelFunction::makeBoxedOnly(kernel.kernel);
  }
  detail::fillSlot(kernel, slots_, this);
}

uint64_t OperatorEntry::registerKernel(const BackendFallbacks& fallbacks, DispatchKey key, KernelFunction kernel,
                                       RegistrationSite site) {
  static std::atomic<uint64_t> next_id{1};
  AnnotatedKernel annotated{std::move(kernel), site, key, next_id++};
  if (hasSchema()) checkKernelAgainstSchema(annotated, *definition());
  if (const CppSignature* signature = annotated.kernel.signature()) {
    for (const AnnotatedKernel& other : kernels_) {
      const CppSignature* other_signature = other.kernel.signature();
      BOXCAR_CHECK(
          other_signature == nullptr || *other_signature == *signature,
          "two kernels of {} have different C++ signatures\n    {} for key {}, registered at {}\n    {} for key "
          "{}, registered at {}",
          name_, *other_signature, other.key, other.site, *signature, key, site);
    }
  }
  checked_signature_.store(nullptr, std::memory_order_relaxed);
  // Reserve first: nothing may fail once the slot is filled.
  if (kernels_.size() == kernels_.capacity()) kernels_.reserve(kernels_.empty() ? 1 : 2 * kernels_.size());
  putIntoSlot(annotated);
  kernels_.push_back(std::move(annotated));
  updateTouchedEntries(fallbacks, key);
  return kernels_.back().id;
}

AnnotatedKernel OperatorEntry::deregisterKernel(const BackendFallbacks& fallbacks, uint64_t id) {
  const auto found = std::ranges::find(kernels_, id, &AnnotatedKernel::id);
  BOXCAR_INTERNAL_ASSERT(found != kernels_.end());
  AnnotatedKernel removed = std::move(*found);
  kernels_.erase(found);
  updateTouchedEntries(fallbacks, removed.key);
  return removed;
}

namespace detail {

void fillSlot(AnnotatedKernel& kernel, KernelSlot*& slots, const OperatorEntry* entry) {
  kernel.table_kernel = kernel.kernel.kernel();
  if (kernel.kernel.makeSlot() == nullptr) return;
  const CppSignature* signature = kernel.kernel.kernel()->has_unboxed ? kernel.kernel.signature() : nullptr;
  const auto suits = [signature](const KernelSlot& slot) {
    if (!slot.isFree() || (slot.signature() == nullptr) != (signature == nullptr)) return false;
    return signature == nullptr || *slot.signature() == *signature;
  };
  KernelSlot* slot = slots;
  while (slot != nullptr && !suits(*slot)) slot = slot->next;
  if (slot == nullptr) {
    slot = kernel.kernel.makeSlot()(entry);
    slot->next = slots;
    slots = slot;
  }
  slot->fill(kernel.kernel.owner());
  kernel.slot = slot;
  kernel.table_kernel = slot->kernel();
}

}  // namespace detail
}  // namespace boxcar
