#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/repl/edited_lines.h>
#include <boxcar/interpreter/cli/repl/line_editor.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace boxcar::cli {
namespace {

volatile std::sig_atomic_t is_running = 0;
volatile std::sig_atomic_t presses = 0;

void onCtrlC(int) {
  presses = presses + 1;
  if (is_running == 0) return;
  interruptScripts();
  if (presses < 2) return;
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

// Reads lines as they come; if [is_terminal], after printing a prompt.
class PlainLines final : public LineEditor {
 public:
  explicit PlainLines(bool is_terminal) : is_terminal_(is_terminal) {}

  Outcome read(const std::string& prompt, std::string& line) override {
    if (is_terminal_) {
      print(prompt);
      std::fflush(stdout);
    }
    line.clear();
    presses = 0;
    for (;;) {
      char byte;
      const ssize_t count = take(byte);
      if (count < 0) {
        if (errno == EINTR && presses == 0) continue;
        if (is_terminal_ && presses != 0) print("\n");
        return presses != 0 ? Outcome::Interrupted : Outcome::End;
      }
      if (count == 0) return line.empty() ? Outcome::End : Outcome::Line;
      if (byte == '\n') return Outcome::Line;
      line += byte;
    }
  }

 private:
  ssize_t take(char& byte) {
    if (at_ == size_) {
      const ssize_t count = ::read(STDIN_FILENO, buffer_, sizeof(buffer_));
      if (count <= 0) return count;
      at_ = 0;
      size_ = static_cast<size_t>(count);
    }
    byte = buffer_[at_++];
    return 1;
  }

  const bool is_terminal_;
  char buffer_[1 << 12];
  size_t at_ = 0;
  size_t size_ = 0;
};

}  // namespace

std::unique_ptr<LineEditor> makeLineEditor(bool on_terminal, const std::string& history) {
  if (auto edited = on_terminal ? makeEditedLines(history, presses) : nullptr) return edited;
  return std::make_unique<PlainLines>(on_terminal);
}

std::string historyFile() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state != nullptr && state[0] == '/') {
    folder = state;
  } else if (home != nullptr && home[0] == '/') {
    folder = std::filesystem::path(home) / ".local" / "state";
  } else {
    return {};
  }
  std::error_code error;
  std::filesystem::create_directories(folder / "boxcar", error);
  return error ? std::string() : (folder / "boxcar" / "history").string();
}

void beginInterruptible() {
  presses = 0;
  is_running = 1;
}

void endInterruptible() { is_running = 0; }

void catchCtrlC() {
  struct sigaction action {};
  action.sa_handler = onCtrlC;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: it interrupts reading a line
}

}  // namespace boxcar::cli
