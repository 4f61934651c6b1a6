#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace boxcar {

// How the writes of a kernel are counted (Tensor::version()): those of the tensors that it takes as Tensor&.
enum class WriteCount : uint8_t {
  kUnlessCounted,  // once, unless the kernel called one that counted them: a composite kernel's writes are those of the
                   // operators that it calls, and what these saved for backward must not look stale
  kAlways,         // once: the kernel writes the memory itself
  kNever,          // not here: the kernel calls one that counts them, or changes no element
};

namespace detail {

// A functor says so with `static constexpr WriteCount kWriteCount`.
template <class Functor>
inline constexpr WriteCount kWriteCountOf = WriteCount::kUnlessCounted;
template <class Functor>
requires requires { Functor::kWriteCount; }
inline constexpr WriteCount kWriteCountOf<Functor> = Functor::kWriteCount;

template <class... Args>
inline constexpr size_t kWrittenTensors = (size_t{0} + ... + (std::is_same_v<Args, Tensor&> ? 1 : 0));

template <class Arg, class Given>
[[gnu::always_inline]] inline uint32_t versionBefore(const Given& given) noexcept {
  if constexpr (std::is_same_v<Arg, Tensor&>) {
    return given.version();
  } else {
    return 0;
  }
}

template <class Arg, WriteCount count, class Given>
[[gnu::always_inline]] inline void countWrite([[maybe_unused]] const Given& given,
                                              [[maybe_unused]] uint32_t before) noexcept {
  if constexpr (std::is_same_v<Arg, Tensor&>) {
    if (given.defined() && (count == WriteCount::kAlways || given.version() == before)) given.storage()->bumpVersion();
  }
}

// Calls [run], which passes [args] to the kernel of [Callee], which takes [Args], and counts the kernel's writes. One
// that throws has written nothing.
template <class Callee, class R, class... Args, class Run, class... Given>
[[gnu::always_inline]] inline R runCountingWrites(const Run& run, const Given&... args) {
  constexpr WriteCount kCount = kWriteCountOf<Callee>;
  if constexpr (kWrittenTensors<Args...> == 0 || kCount == WriteCount::kNever) {
    return run();
  } else if constexpr (kWrittenTensors<Args...> == 1 && kCount == WriteCount::kAlways && std::is_same_v<R, Tensor&>) {
    Tensor& written = run();
    written.storage()->bumpVersion();  // such a kernel refuses the undefined tensor
    return written;
  } else {
    const uint32_t before[] = {kCount == WriteCount::kAlways ? 0 : versionBefore<Args>(args)...};
    size_t i = 0;
    if constexpr (std::is_void_v<R>) {
      run();
      (countWrite<Args, kCount>(args, before[i++]), ...);
    } else {
      R result = run();
      (countWrite<Args, kCount>(args, before[i++]), ...);
      return static_cast<R>(result);
    }
  }
}

}  // namespace detail
}  // namespace boxcar
