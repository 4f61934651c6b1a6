#include <boxcar/dispatcher/call_site.h>
#include <fmt/format.h>

#include <atomic>

namespace boxcar {
namespace {

constinit std::atomic<detail::CallSiteReader> reader = nullptr;

}  // namespace

std::string toString(const CallSite& site) { return fmt::format("{}:{}", site.file, site.line); }

std::optional<CallSite> currentCallSite() {
  const detail::CallSiteReader read = reader.load(std::memory_order_acquire);
  return read == nullptr ? std::nullopt : read();
}

void detail::setCallSiteReader(CallSiteReader next) noexcept { reader.store(next, std::memory_order_release); }

}  // namespace boxcar
