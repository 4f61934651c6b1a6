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
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/value_type.h>

#include <vector>

namespace boxcar {
namespace {

constexpr const HandlerKind* kKinds[] = {
    &kTraceKind,     &kProfileKind, &kCheckNanKind, &kRecordKind, &kCheckSchemaKind,
    &kCheckMetaKind, &kMemoryKind,  &kCostKind,     &kDenyKind,   &kInjectKind,
};

}  // namespace

std::unique_ptr<Handler> HandlerKind::make(std::span<const IValue> arguments) const {
  const FunctionSchema parsed = parseSchema(schema);
  const std::vector<Argument>& declared = parsed.arguments();
  BOXCAR_CHECK(arguments.size() == declared.size(), "{} is made with {} value{}, not {}: {}", name(), declared.size(),
               declared.size() == 1 ? "" : "s", arguments.size(), schema);
  for (size_t i = 0; i < declared.size(); ++i) {
    BOXCAR_CHECK(matches(arguments[i], declared[i].type()), "{}: `{}` must be {}, not {}: {}", name(),
                 declared[i].name(), *declared[i].type(), *typeOf(arguments[i]), schema);
  }
  return create(arguments);
}

std::span<const HandlerKind* const> handlerKinds() noexcept { return kKinds; }

const HandlerKind* findHandlerKind(std::string_view name) noexcept {
  for (const HandlerKind* kind : kKinds) {
    if (kind->name() == name) return kind;
  }
  return nullptr;
}

}  // namespace boxcar
