#pragma once

namespace boxcar::functors {

// A list of argument types: what a functor's `Parameters` are.
template <class... Ts>
struct Arguments {};

}  // namespace boxcar::functors
