#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a file is, told by what it holds: for the message to who hands over one of another kind. file_kind.cpp has the
// table of signatures.

namespace boxcar::io {

// A kind of file without tensors that boxcar reads.
struct ForeignKind {
  std::string_view what;    // "a PyTorch checkpoint (a zip with data.pkl)"
  std::string_view remedy;  // what to do instead
};

// Whether [file] begins with the length of a header that is there, and begins as JSON does.
bool isSafetensors(std::span<const std::byte> file) noexcept;

// Whether [file] begins as a zip archive does, and not as a safetensors file, whose length may look like that.
bool isZip(std::span<const std::byte> file) noexcept;

// Null where the kind is not known, and for safetensors, zip archives and .npy files.
const ForeignKind* findForeignKind(std::span<const std::byte> file) noexcept;

// The kind of a zip archive with members of these names; null where nothing speaks against one of NumPy's.
const ForeignKind* findForeignKind(const std::vector<std::string_view>& members) noexcept;

// The name of a zip archive's first member, where it can be read without its directory.
std::string_view firstZipMember(std::span<const std::byte> file) noexcept;

// Throws "'x.pth' is a …, not a file that io::load reads: …". [path] has no quotes around it; [reader] is the operator.
[[noreturn]] void failForeign(const ForeignKind& kind, const std::string& path, std::string_view reader);

}  // namespace boxcar::io
