#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar {

class Library;

namespace detail {

enum class LibraryKind : uint8_t { Definition, Fragment, Implementation };

// A block of registrations, as a BOXCAR_LIBRARY macro declares it: constants only. Before the Dispatcher is first used,
// the block is only linked into the list.
struct LibraryBlock {
  LibraryKind kind;
  DispatchKey key;  // CatchAll: none
  const char* ns;
  void (*init)(Library&);
  const char* file;
  uint32_t line;
  // The operators that the build keeps, separated by semicolons; null: all of them.
  const char* allowed_operators = nullptr;
  LibraryBlock* next = nullptr;
};

class BOXCAR_API LibraryLink final {
 public:
  explicit LibraryLink(LibraryBlock& block) noexcept;
};

// Returns the blocks linked since the last call, in the order of linking.
LibraryBlock* takeLinkedBlocks() noexcept;

// While it lives, the blocks that this thread links are set aside: they belong to a plugin that is being opened, and
// wait until it has been checked.
class LibraryCapture final {
 public:
  LibraryCapture() noexcept;
  LibraryCapture(const LibraryCapture&) = delete;
  LibraryCapture& operator=(const LibraryCapture&) = delete;
  ~LibraryCapture();

  // Returns the blocks linked so far, in the order of linking.
  LibraryBlock* take() noexcept;

 private:
  LibraryBlock* newest_ = nullptr;
  LibraryBlock** const outer_;
};

}  // namespace detail
}  // namespace boxcar
