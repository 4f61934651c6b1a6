#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace boxcar {

// Returns the system's message for why the last call failed.
inline std::string lastSystemError() { return std::generic_category().message(errno); }

// An open file or folder, closed at the end of its scope.
class FileDescriptor final {
 public:
  FileDescriptor() noexcept = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { close(); }

  bool isOpen() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }
  // Returns false, with errno, when earlier writes did not reach the file.
  bool close() noexcept {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_ = -1;
};

}  // namespace boxcar
