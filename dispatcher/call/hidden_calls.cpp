#include <boxcar/dispatcher/call/hidden_calls.h>

namespace boxcar {
namespace {

constinit thread_local int alive = 0;

}  // namespace

HiddenCalls::HiddenCalls() noexcept : keys_(kOnlookerKeys) { ++alive; }

HiddenCalls::~HiddenCalls() { --alive; }

bool HiddenCalls::areOn() noexcept { return alive > 0; }

}  // namespace boxcar
