#pragma once

#include <boxcar/ivalue/file_descriptor.h>
#include <fcntl.h>

#include <string>

namespace boxcar {

// Opening a pipe must not wait for a writer, and a terminal must not become the controlling terminal of this process.
inline constexpr int kFlagsForReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
// For a folder that is only opened to find what is in it; it need not be readable.
inline constexpr int kFlagsForFolders = O_PATH | O_DIRECTORY | O_CLOEXEC;

// The number of links that Linux follows in one path.
inline constexpr int kMostLinks = 40;

// Opens [name] in the open folder [folder], with the [flags] of open(2). The name is a path of plain names, without "."
// and ".."; "" is the folder itself. It follows no symbolic link, so whatever happens to the folder meanwhile, the
// opened file lies beneath it. On failure the result is not open and errno says why: ELOOP where there is a link.
FileDescriptor openBeneath(int folder, const std::string& name, int flags);

namespace detail {

// Like openBeneath(), one name at a time: for kernels before Linux 5.6, and containers that forbid openat2(2).
FileDescriptor walkBeneath(int folder, const std::string& name, int flags);

// For tests: makes openBeneath() walk, as on a kernel without openat2(2).
void pretendToLackOpenat2(bool lacking);

}  // namespace detail
}  // namespace boxcar
