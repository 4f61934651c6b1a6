#include <boxcar/ivalue/open_beneath.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

namespace boxcar {
namespace {

std::atomic<bool> pretends_to_lack_openat2 = false;

bool isLink(int folder, const std::string& name) {
  struct stat status {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

FileDescriptor openBeneath(int folder, const std::string& name, int flags) {
  if (!pretends_to_lack_openat2.load(std::memory_order_relaxed)) {
    open_how how{};
    how.flags = static_cast<unsigned>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const long number = ::syscall(SYS_openat2, folder, name.empty() ? "." : name.c_str(), &how, sizeof(how));
    // EPERM may come from a system call filter. If it comes from the file itself, the walk fails with it again.
    if (number >= 0 || (errno != ENOSYS && errno != EPERM)) return FileDescriptor(static_cast<int>(number));
  }
  return detail::walkBeneath(folder, name, flags);
}

namespace detail {

FileDescriptor walkBeneath(int folder, const std::string& name, int flags) {
  if (name.empty()) return FileDescriptor(::openat(folder, ".", flags | O_NOFOLLOW));
  FileDescriptor at;
  for (size_t begin = 0;;) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const bool last = end == name.size();
    const std::string component = name.substr(begin, end - begin);
    const int in = at.isOpen() ? at.get() : folder;
    const int how = (last ? flags : kFlagsForFolders) | O_NOFOLLOW;
    FileDescriptor next(::openat(in, component.c_str(), how));
    // A link is not a folder either, but needs its own error.
    if (!next.isOpen() && errno == ENOTDIR) errno = isLink(in, component) ? ELOOP : ENOTDIR;
    if (last || !next.isOpen()) return next;
    at = std::move(next);
    begin = end + 1;
  }
}

void pretendToLackOpenat2(bool lacking) { pretends_to_lack_openat2.store(lacking, std::memory_order_relaxed); }

}  // namespace detail
}  // namespace boxcar
