#pragma once

#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <cstdint>

namespace boxcar {

namespace detail {

// How often runs were asked to end.
extern BOXCAR_API constinit std::atomic<uint32_t> interrupt_requests;

}  // namespace detail

// Ends the running scripts on every thread: each fails with a ScriptError whose cause is Interrupt, at its next jump or
// call, or within its current operator if that takes long; calls of libraries and plugins return first. Runs that begin
// later are not affected. May be called from a signal handler.
//
//   std::signal(SIGINT, [](int) { boxcar::interruptScripts(); });
inline void interruptScripts() noexcept { detail::interrupt_requests.fetch_add(1, std::memory_order_relaxed); }

}  // namespace boxcar
