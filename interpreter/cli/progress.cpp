#include <boxcar/interpreter/cli/progress.h>
#include <boxcar/interpreter/cli/report.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

// glibc has no name for this member before 2.38.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace boxcar::cli {
namespace {

constexpr time_t kSecondsBeforeProgress = 2;

constinit bool is_allowed = true;

// What the signal handler reads. Whoever holds [busy] may write to the terminal. The handler skips its turn if [busy]
// is taken, because the interrupted thread may hold it; writes to the streams wait for it.
struct Line {
  const char* command;
  ProgressCount count;
  timespec start;
  std::atomic<bool> busy;
  bool is_shown;
  // Whether the last output on the terminal ended its line.
  bool is_free;
};
constinit Line line{};
static_assert(std::atomic<bool>::is_always_lock_free);

// A text of limited length that allocates no memory, for a signal handler.
class ShortText final {
 public:
  void add(std::string_view text) noexcept {
    const size_t count = std::min(text.size(), sizeof(text_) - size_);
    std::copy_n(text.data(), count, text_ + size_);
    size_ += count;
  }
  void add(uint64_t number) noexcept {
    char digits[20];
    char* first = digits + sizeof(digits);
    do {
      *--first = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    add(std::string_view(first, static_cast<size_t>(digits + sizeof(digits) - first)));
  }
  void shorten(size_t size) noexcept { size_ = std::min(size_, size); }
  std::string_view text() const noexcept { return {text_, size_}; }

 private:
  char text_[160];
  size_t size_ = 0;
};

// Returns how much of [text] was written: all of it, unless there is an error.
size_t writeAll(int stream, std::string_view text) noexcept {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(stream, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) written += static_cast<size_t>(count);
  }
  return written;
}

void erase() noexcept {
  if (!line.is_shown) return;
  writeAll(STDERR_FILENO, "\r\033[K");
  line.is_shown = false;
}

// A program in the background does not write to the terminal, which may stop it for that. A terminal that is held
// (Ctrl-S) or hangs would block the task.
bool mayDraw() noexcept {
  if (!line.is_free || ::tcgetpgrp(STDERR_FILENO) != ::getpgrp()) return false;
  pollfd terminal{STDERR_FILENO, POLLOUT, 0};
  return ::poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLOUT) != 0;
}

void draw() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seconds = static_cast<uint64_t>(now.tv_sec - line.start.tv_sec - (now.tv_nsec < line.start.tv_nsec));
  ShortText text;
  text.add("boxcar ");
  text.add(line.command);
  text.add(": ");
  if (seconds >= 60) {
    text.add(seconds / 60);
    text.add(" min ");
  }
  text.add(seconds % 60);
  text.add(" s");
  if (line.count.done != nullptr) {
    text.add(", ");
    text.add(*line.count.done);
    if (line.count.total != 0) {
      text.add(" of ");
      text.add(line.count.total);
    }
    text.add(" ");
    text.add(line.count.what);
  }
  // A line that wraps could not be removed.
  winsize window{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1) text.shorten(window.ws_col - 1U);
  writeAll(STDERR_FILENO, "\r\033[K");
  writeAll(STDERR_FILENO, text.text());
  line.is_shown = true;
}

void onTimer(int) noexcept {
  const int error = errno;
  if (!line.busy.exchange(true, std::memory_order_acquire)) {
    if (mayDraw()) draw();
    line.busy.store(false, std::memory_order_release);
  }
  errno = error;
}

// Replaces stdout or stderr if it is the terminal: removes the line, then writes.
class WatchedStream final {
 public:
  WatchedStream(FILE*& stream, int number, int buffering) : stream_(stream), own_(stream), number_(number) {
    if (::isatty(number) != 1) return;
    std::fflush(own_);
    FILE* const watched = ::fopencookie(this, "w", {nullptr, &WatchedStream::write, nullptr, nullptr});
    if (watched == nullptr) return;
    std::setvbuf(watched, nullptr, buffering, BUFSIZ);
    stream_ = watched;
  }
  ~WatchedStream() {
    if (stream_ == own_) return;
    std::fclose(std::exchange(stream_, own_));
  }
  WatchedStream(const WatchedStream&) = delete;
  WatchedStream& operator=(const WatchedStream&) = delete;

 private:
  static ssize_t write(void* self, const char* data, size_t size) {
    while (line.busy.exchange(true, std::memory_order_acquire)) {
    }
    erase();
    const size_t count = writeAll(static_cast<WatchedStream*>(self)->number_, {data, size});
    if (count > 0) line.is_free = data[count - 1] == '\n';
    line.busy.store(false, std::memory_order_release);
    return static_cast<ssize_t>(count);
  }

  FILE*& stream_;
  FILE* const own_;
  const int number_;
};

}  // namespace

// The timer, its signal, and the streams.
class Progress::Watch final {
 public:
  Watch() : out_(stdout, STDOUT_FILENO, _IOLBF), err_(stderr, STDERR_FILENO, _IONBF) {
    ::clock_gettime(CLOCK_MONOTONIC, &line.start);
    struct sigaction action {};
    action.sa_handler = onTimer;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGRTMIN, &action, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN;
    event.sigev_notify_thread_id = static_cast<pid_t>(::syscall(SYS_gettid));
    // If the system has no timer left, there is no line.
    has_timer_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
    const itimerspec times{.it_interval = {1, 0}, .it_value = {kSecondsBeforeProgress, 0}};
    if (has_timer_) ::timer_settime(timer_, 0, &times, nullptr);
  }
  ~Watch() {
    if (has_timer_) ::timer_delete(timer_);
    ::sigaction(SIGRTMIN, &before_, nullptr);
    erase();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  WatchedStream out_;
  WatchedStream err_;
  struct sigaction before_ {};
  timer_t timer_{};
  bool has_timer_ = false;
};

void setProgressAllowed(bool allowed) { is_allowed = allowed; }

Progress::Progress(const char* command, ProgressCount count) {
  if (!is_allowed || !isCapableTerminal(STDERR_FILENO)) return;
  line.command = command;
  line.count = count;
  line.is_shown = false;
  line.is_free = true;
  watch_ = std::make_unique<Watch>();
}

Progress::~Progress() = default;

}  // namespace boxcar::cli
