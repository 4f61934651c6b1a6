#include <boxcar/dispatcher/handlers/check/meta_checker.h>
#include <boxcar/dispatcher/handlers/check/nan_checker.h>
#include <boxcar/dispatcher/handlers/check/schema_checker.h>
#include <boxcar/dispatcher/handlers/cost/cost_counter.h>
#include <boxcar/dispatcher/handlers/fault/denier.h>
#include <boxcar/dispatcher/handlers/fault/fault_injector.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/memory/memory_tracker.h>
#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <boxcar/dispatcher/handlers/record/recorder.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/value_type.h>
#include <fmt/format.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace boxcar {
namespace {

constexpr const HandlerKind* kKinds[] = {
    &kTraceKind,     &kProfileKind, &kCheckNanKind, &kRecordKind, &kCheckSchemaKind,
    &kCheckMetaKind, &kMemoryKind,  &kCostKind,     &kDenyKind,   &kInjectKind,
};

}  // namespace

const FunctionSchema& HandlerKind::parsedSchema() const {
  static std::mutex mutex;
  static std::map<std::string, FunctionSchema, std::less<>> parsed;
  const std::lock_guard lock(mutex);
  auto found = parsed.find(schema);
  if (found == parsed.end()) found = parsed.emplace(schema, parseSchema(schema)).first;
  return found->second;
}

std::string HandlerKind::faultOf(std::span<const IValue> arguments) const {
  const std::vector<Argument>& declared = parsedSchema().arguments();
  if (arguments.size() != declared.size()) {
    return fmt::format("it is made with {} value{}, not {}: {}", declared.size(), declared.size() == 1 ? "" : "s",
                       arguments.size(), schema);
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    if (matches(arguments[i], declared[i].type())) continue;
    return fmt::format("`{}` must be {}, not {}: {}", declared[i].name(), *declared[i].type(), *typeOf(arguments[i]),
                       schema);
  }
  return fault == nullptr ? std::string() : fault(arguments);
}

std::unique_ptr<Handler> HandlerKind::make(std::span<const IValue> arguments) const {
  const std::string wrong = faultOf(arguments);
  BOXCAR_CHECK(wrong.empty(), "{}: {}", name(), wrong);
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
