#include <boxcar/dispatcher/fallbacks/cost_counter.h>
#include <boxcar/dispatcher/fallbacks/denier.h>
#include <boxcar/dispatcher/fallbacks/fault_injector.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/dispatcher/fallbacks/memory_tracker.h>
#include <boxcar/dispatcher/fallbacks/meta_checker.h>
#include <boxcar/dispatcher/fallbacks/nan_checker.h>
#include <boxcar/dispatcher/fallbacks/profiler.h>
#include <boxcar/dispatcher/fallbacks/recorder.h>
#include <boxcar/dispatcher/fallbacks/schema_checker.h>
#include <boxcar/dispatcher/fallbacks/tracer.h>

namespace boxcar {
namespace {

constexpr const HandlerKind* kKinds[] = {
    &kTraceKind,     &kProfileKind, &kCheckNanKind, &kRecordKind, &kCheckSchemaKind,
    &kCheckMetaKind, &kMemoryKind,  &kCostKind,     &kDenyKind,   &kInjectKind,
};

}  // namespace

std::span<const HandlerKind* const> handlerKinds() noexcept { return kKinds; }

const HandlerKind* findHandlerKind(std::string_view name) noexcept {
  for (const HandlerKind* kind : kKinds) {
    if (kind->name() == name) return kind;
  }
  return nullptr;
}

}  // namespace boxcar
