#include <boxcar/backends/transforms/autocast_state.h>
#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/parse_schema.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

// `with autocast("cpu", bfloat16)` and the operators of it that scripts call.

namespace boxcar::autocast {
namespace {

struct Region {
  DeviceType device;
  std::optional<ScalarType> dtype;
  bool enabled;
  std::optional<bool> cache_enabled;
};

// AutocastGuard with values that are known late.
class AutocastScope final : public Scope {
 public:
  explicit AutocastScope(const Region& region) noexcept : region_(region) {}
  void enter() override { guard_.emplace(region_.device, region_.dtype, region_.enabled, region_.cache_enabled); }
  void leave() override { guard_.reset(); }

 private:
  Region region_;
  std::optional<AutocastGuard> guard_;
};

std::unique_ptr<Scope> makeAutocast(std::span<const IValue> arguments) {
  return std::make_unique<AutocastScope>(Region{autocastDevice("autocast()", arguments[0].to<std::string_view>()),
                                                arguments[1].to<std::optional<ScalarType>>(), arguments[2].toBool(),
                                                arguments[3].to<std::optional<bool>>()});
}

constexpr ScopeKind kAutocastKinds[] = {
    {"autocast(str device_type, ScalarType? dtype=None, bool enabled=True, bool? cache_enabled=None) -> ()",
     "Products and convolutions in the block run in a dtype of lower precision, and what needs the range in float32.",
     &makeAutocast},
};
const RegisterScopeKinds kAutocastRegistered(kAutocastKinds);

FunctionPtr registerAutocastOf(std::string_view op, std::string_view device_type, ScalarType cast_inputs) {
  // Registrations stay when nobody keeps the function that removes them.
  struct Kept {
    std::mutex mutex;
    uint64_t next = 0;  // no number comes twice: a function may remove what was removed
    std::map<uint64_t, RegistrationHandleRAII> handles;
  };
  static auto& kept = *new Kept;  // never destroyed: a function may outlive static objects
  RegistrationHandleRAII handle =
      register_autocast(op, autocastDevice("autocast::register_autocast", device_type), cast_inputs);
  const std::lock_guard lock(kept.mutex);
  const uint64_t number = kept.next++;
  kept.handles.emplace(number, std::move(handle));
  static const FunctionSchema remove = parseSchema("remove() -> ()");
  return makeFunction(remove, [number](Stack&) {
    const std::lock_guard removing(kept.mutex);
    kept.handles.erase(number);
  });
}

bool isEnabledOn(std::string_view device_type) {
  return is_autocast_enabled(autocastDevice("autocast::is_autocast_enabled", device_type));
}

ScalarType dtypeOn(std::string_view device_type) {
  return get_autocast_dtype(autocastDevice("autocast::get_autocast_dtype", device_type));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(autocast, CompositeImplicitAutograd, m) {
  m.impl("register_autocast", BOXCAR_FN(registerAutocastOf));
  m.impl("is_autocast_enabled", BOXCAR_FN(isEnabledOn));
  m.impl("get_autocast_dtype", BOXCAR_FN(dtypeOn));
}

}  // namespace boxcar::autocast
