#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/line_editor.h>
#include <boxcar/interpreter/interrupt.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace boxcar::cli {
namespace {

constexpr int kMostHistory = 1000;

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

// A line as it comes; where [is_terminal], behind a prompt.
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

// What libedit has of readline's interface. It is opened when a prompt needs it, so that no other command pays for it,
// and building needs no header of it.
struct Libedit {
  using Complete = char**(const char*, int, int);
  using Generate = char*(const char*, int);

  void (*install)(const char*, void (*)(char*));
  void (*readChar)();
  void (*remove)();
  void (*addHistory)(const char*);
  int (*readHistory)(const char*);
  int (*writeHistory)(const char*);
  void (*stifleHistory)(int);
  void (*usingHistory)();
  char** (*matches)(const char*, Generate*);
  char** line;
  Complete** completion;
  const char** breaks;
  int* is_over;
  int* appended;
  int* catches_signals;

  // Null where the machine has no libedit, or another one.
  static const Libedit* find() {
    static Libedit found;
    static const bool is_there = found.open();
    return is_there ? &found : nullptr;
  }

 private:
  bool open() {
    void* library = nullptr;
    for (const char* name : {"libedit.so.2", "libedit.so.0"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) return false;
    const auto take = [library](auto& place, const char* name) {
      void* const symbol = dlsym(library, name);
      std::memcpy(&place, &symbol, sizeof(place));
      return symbol != nullptr;
    };
    return take(install, "rl_callback_handler_install") && take(readChar, "rl_callback_read_char") &&
           take(remove, "rl_callback_handler_remove") && take(addHistory, "add_history") &&
           take(readHistory, "read_history") && take(writeHistory, "write_history") &&
           take(stifleHistory, "stifle_history") && take(usingHistory, "using_history") &&
           take(matches, "rl_completion_matches") && take(line, "rl_line_buffer") &&
           take(completion, "rl_attempted_completion_function") && take(breaks, "rl_completer_word_break_characters") &&
           take(is_over, "rl_attempted_completion_over") && take(appended, "rl_completion_append_character") &&
           take(catches_signals, "rl_catch_signals");
  }
};

class EditedLines final : public LineEditor {
 public:
  EditedLines(const Libedit& libedit, std::string history) : libedit_(libedit), history_(std::move(history)) {
    only_ = this;
    libedit_.usingHistory();
    libedit_.stifleHistory(kMostHistory);
    // Lines may hold what is nobody else's business.
    const int file = history_.empty() ? -1 : ::open(history_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) {
      history_.clear();
    } else {
      static_cast<void>(::fchmod(file, 0600));
      ::close(file);
      libedit_.readHistory(history_.c_str());
    }
    *libedit_.catches_signals = 0;
    *libedit_.completion = [](const char*, int start, int end) { return only_->complete(start, end); };
    // Words of the language: `::` and `.` stand in the names of operators.
    *libedit_.breaks = " \t\n\"'`@$><=;|&{}()[],+-*/%^~!#?";
  }
  ~EditedLines() override { only_ = nullptr; }

  bool edits() const override { return true; }
  void setCompletion(Completion completion) override { completion_ = std::move(completion); }

  Outcome read(const std::string& prompt, std::string& line) override {
    std::fflush(stdout);
    presses = 0;
    is_done_ = false;
    libedit_.install(prompt.c_str(), [](char* text) { only_->finish(text); });
    while (!is_done_) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&input, 1, -1);
      if (presses != 0) {
        libedit_.remove();
        std::fputs("\n", stdout);
        return Outcome::Interrupted;
      }
      if (ready < 0) continue;
      if ((input.revents & POLLIN) == 0) {  // the terminal is gone
        libedit_.remove();
        return Outcome::End;
      }
      libedit_.readChar();
    }
    if (is_end_) {
      std::fputs("\n", stdout);
      return Outcome::End;
    }
    line = line_;
    if (line.find_first_not_of(" \t") != std::string::npos && line != last_) {
      libedit_.addHistory(line.c_str());
      if (!history_.empty()) libedit_.writeHistory(history_.c_str());
      last_ = line;
    }
    return Outcome::Line;
  }

 private:
  void finish(char* text) {
    libedit_.remove();
    is_done_ = true;
    is_end_ = text == nullptr;
    line_ = text == nullptr ? "" : text;
    std::free(text);
  }

  // The editor's word begins at [start], behind a blank or a sign.
  char** complete(int start, int end) {
    *libedit_.is_over = 1;  // file names are not meant
    *libedit_.appended = 0;
    if (!completion_) return nullptr;
    const std::string_view line = *libedit_.line;
    size_t begin = 0;
    candidates_ = completion_(line, static_cast<size_t>(end), begin);
    next_ = 0;
    if (candidates_.empty()) return nullptr;
    const auto word_begin = static_cast<size_t>(start);
    for (std::string& candidate : candidates_) {
      if (begin > word_begin) candidate.insert(0, line.substr(word_begin, begin - word_begin));
      if (begin < word_begin) candidate.erase(0, word_begin - begin);
    }
    const std::string word(line.substr(word_begin, static_cast<size_t>(end) - word_begin));
    return libedit_.matches(word.c_str(), [](const char*, int state) -> char* {
      EditedLines& self = *only_;
      if (state == 0) self.next_ = 0;
      return self.next_ == self.candidates_.size() ? nullptr : strdup(self.candidates_[self.next_++].c_str());
    });
  }

  static EditedLines* only_;  // libedit's interface has one line at a time

  const Libedit& libedit_;
  std::string history_;
  Completion completion_;
  std::string line_;
  std::string last_;
  std::vector<std::string> candidates_;
  size_t next_ = 0;
  bool is_done_ = false;
  bool is_end_ = false;
};

EditedLines* EditedLines::only_ = nullptr;

}  // namespace

std::unique_ptr<LineEditor> makeLineEditor(bool on_terminal, const std::string& history) {
  const Libedit* const libedit = on_terminal ? Libedit::find() : nullptr;
  if (libedit != nullptr) return std::make_unique<EditedLines>(*libedit, history);
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
  sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: reading a line ends
}

}  // namespace boxcar::cli
