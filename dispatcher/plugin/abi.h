#pragma once

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor_impl.h>

#include <boost/version.hpp>
#include <cstddef>
#include <string_view>

namespace boxcar::detail {

// A string of fixed capacity. It needs no relocation, so it can be read straight from a file.
template <size_t capacity>
struct FixedText {
  char characters[capacity] = {};

  constexpr std::string_view view() const noexcept {
    size_t length = 0;
    while (length < capacity && characters[length] != '\0') ++length;
    return {characters, length};
  }
  // Text that does not fit is a compile error.
  consteval void append(std::string_view text) {
    size_t end = view().size();
    for (const char character : text) {
      if (end + 1 == capacity) throw "the text is too long";
      characters[end++] = character;
    }
  }
  consteval void append(size_t number) {
    if (number >= 10) append(number / 10);
    const char digit = static_cast<char>('0' + number % 10);
    append(std::string_view(&digit, 1));
  }
};

using AbiText = FixedText<160>;

// Raise it when an object's layout changes in a way that none of the sizes below shows. 2: Object knows whether it had
// weak references, and exceptions derive from Error in addition to std::exception.
inline constexpr size_t kObjectLayout = 2;

// What separately compiled code must agree on to share objects: the standard library and the form of its strings and
// containers, the versions of the libraries that boxcar's headers use, and the sizes of the types that inline functions
// reach into. The compiler does not matter: GCC and Clang agree on the rest.
consteval AbiText makeAbiText() {
  AbiText text;
#if defined(__GLIBCXX__)
  text.append("libstdc++");
  if (_GLIBCXX_USE_CXX11_ABI == 0) text.append(" with old strings");
#if defined(_GLIBCXX_DEBUG)
  text.append(" in debug mode");
#endif
#elif defined(_LIBCPP_VERSION)
  text.append("libc++ ABI ");
  text.append(size_t{_LIBCPP_ABI_VERSION});
#else
  text.append("an unknown standard library");
#endif
  text.append(", Boost ");
  text.append(size_t{BOOST_VERSION / 100000});
  text.append(".");
  text.append(size_t{BOOST_VERSION / 100 % 1000});
  text.append(", fmt ");
  text.append(size_t{FMT_VERSION / 10000});
  text.append(", objects ");
  text.append(kObjectLayout);
  text.append(", sizes");
  for (const size_t size :
       {sizeof(void*), sizeof(IValue), sizeof(TensorImpl), sizeof(StorageImpl), sizeof(Kernel), sizeof(OperatorEntry),
        sizeof(FunctionSchema), sizeof(CppSignature), sizeof(Library), sizeof(CppFunction)}) {
    text.append(" ");
    text.append(size);
  }
  return text;
}

}  // namespace boxcar::detail
