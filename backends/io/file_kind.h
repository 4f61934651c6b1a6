#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Detects what kind of file this is by its contents, for the error message to a user who passes a file of another kind.
// The table of signatures is in file_kind.cpp.

namespace boxcar::io {

// A kind of file that holds no tensors that boxcar can read.
struct ForeignKind {
  std::string_view what;    // "a PyTorch checkpoint (a zip with data.pkl)"
  std::string_view remedy;  // what to do instead
};

// Returns whether [file] begins with the length of a header that it contains, and that header begins like JSON.
bool isSafetensors(std::span<const std::byte> file) noexcept;

// Returns whether [file] begins like a zip archive and is not a safetensors file, whose length may look like one.
bool isZip(std::span<const std::byte> file) noexcept;

// Returns whether [file] is the index of a large model in several files, model.safetensors.index.json.
bool isShardIndex(std::span<const std::byte> file) noexcept;

// Returns null if the kind is unknown, and for safetensors files, zip archives and .npy files.
const ForeignKind* findForeignKind(std::span<const std::byte> file) noexcept;

// Returns the kind of a zip archive with members of these names; null if the names are consistent with a NumPy archive.
const ForeignKind* findForeignKind(const std::vector<std::string_view>& members) noexcept;

// Throws Error "'x.pth' is a …, not a file that io::load reads: …". [path] has no quotes around it; [reader] is the
// operator.
[[noreturn]] void failForeign(const ForeignKind& kind, const std::string& path, std::string_view reader);

}  // namespace boxcar::io
