#include <boxcar/dispatcher/call/script_view.h>

namespace boxcar {
namespace {

constexpr detail::ScriptReader kNoScript = {[] { return std::vector<CallFrame>(); },
                                            [](const Tensor&) { return std::string(); },
                                            [](const void**, size_t) noexcept { return size_t{0}; }};
constinit std::atomic<const detail::ScriptReader*> script_reader = &kNoScript;

}  // namespace

std::vector<CallFrame> currentCallPath() { return detail::scriptReader().path(); }

std::string keyInScript(const Tensor& tensor) { return detail::scriptReader().key(tensor); }

void detail::setScriptReader(const ScriptReader& next) noexcept {
  script_reader.store(&next, std::memory_order_release);
}

const detail::ScriptReader& detail::scriptReader() noexcept { return *script_reader.load(std::memory_order_acquire); }

constinit thread_local bool detail::has_run_script = false;

constinit std::atomic<uint64_t> detail::script_code_generation = 0;

}  // namespace boxcar
