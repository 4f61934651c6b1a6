#include <boxcar/dispatcher/call/call_site.h>
#include <fmt/format.h>

#include <atomic>
#include <utility>

namespace boxcar {
namespace {

constinit std::atomic<detail::CallSiteReader> call_site_reader = nullptr;
constinit thread_local const std::optional<CallSite>* assumed = nullptr;

}  // namespace

std::string toString(const CallSite& site) { return fmt::format("{}:{}", site.file, site.line); }

std::optional<CallSite> currentCallSite() {
  const detail::CallSiteReader read = call_site_reader.load(std::memory_order_acquire);
  if (std::optional<CallSite> site = read == nullptr ? std::nullopt : read()) return site;
  return assumed == nullptr ? std::nullopt : *assumed;
}

CallSiteGuard::CallSiteGuard(const std::optional<CallSite>& site) noexcept : outer_(std::exchange(assumed, &site)) {}

CallSiteGuard::~CallSiteGuard() { assumed = outer_; }

void detail::setCallSiteReader(CallSiteReader next) noexcept {
  call_site_reader.store(next, std::memory_order_release);
}

}  // namespace boxcar
