#include <boxcar/dispatcher/registry/declared_operator.h>
#include <boxcar/dispatcher/registry/dispatcher.h>

namespace boxcar::detail {

OperatorEntry* OperatorReference::find(const CppSignature& signature) {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow(name_, overload_);
  op.entry_->assertSignatureIsCorrect(signature, RegistrationSite{file_, line_});
  entry_.store(op.entry_, std::memory_order_release);
  return op.entry_;
}

}  // namespace boxcar::detail
