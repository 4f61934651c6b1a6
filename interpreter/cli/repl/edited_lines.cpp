#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/repl/edited_lines.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/append_utf8.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <string_view>
#include <utility>

namespace boxcar::cli {
namespace {

constexpr int kMostHistory = 1000;
constexpr size_t kMostListed = 100;   // more are shown only if the user agrees
constexpr size_t kUsualColumns = 80;  // for a terminal that does not report its width
constexpr int kReplacement = 0xFFFD;
constexpr size_t kIndent = 4;
// Asks the terminal to mark what is pasted.
constexpr const char* kMarkPastes = "\x1b[?2004h";
constexpr const char* kMarkNoPastes = "\x1b[?2004l";
constexpr std::string_view kPasteEnd = "\x1b[201~";

// libedit's C interface. It is loaded when a prompt needs it, so that no other command pays for it and building needs
// no header. Its readline-compatible interface is not used: in 3.1 that writes past the end of a line of 1024 bytes.
struct Libedit {
  struct Line {  // LineInfo
    const char* buffer;
    const char* cursor;
    const char* end;
  };
  struct HistoryEvent {  // HistEvent
    int number;
    const char* text;
  };
  enum Setting {
    Prompt = 0,
    Editor = 2,
    Bind = 4,
    AddFunction = 9,
    Hist = 10,
    GetChar = 13,
    ClientData = 14,
    Raw = 16
  };
  enum HistoryAction { SetSize = 1, Enter = 10, Load = 17, Save = 18, Clear = 19, SetUnique = 20 };
  enum Answer { Refresh = 4, Redisplay = 8, RefreshBeep = 9 };  // CC_…, what a key's function returns

  void* (*begin)(const char*, FILE*, FILE*, FILE*);
  void (*end)(void*);
  int (*set)(void*, int, ...);
  int (*get)(void*, int, ...);
  const char* (*read)(void*, int*);
  const Line* (*line)(void*);
  int (*insert)(void*, const char*);
  void (*resize)(void*);
  int (*source)(void*, const char*);
  void* (*beginHistory)();
  int (*history)(void*, HistoryEvent*, int, ...);
  void (*endHistory)(void*);

  // Returns null if the machine has no libedit, or an incompatible one.
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
    return take(begin, "el_init") && take(end, "el_end") && take(set, "el_set") && take(get, "el_get") &&
           take(read, "el_gets") && take(line, "el_line") && take(insert, "el_insertstr") &&
           take(resize, "el_resize") && take(source, "el_source") && take(beginHistory, "history_init") &&
           take(history, "history") && take(endHistory, "history_end");
  }
};

// Scripts are UTF-8. libedit draws what the locale supports, and would silently lose the rest.
void needUtf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

// Returns the number of bytes of the UTF-8 character that begins with [first]; 0 if none does.
int lengthOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

// A terminal of type "dumb" would print the sequences that others understand.
bool understandsSequences() {
  const char* const type = std::getenv("TERM");
  return type != nullptr && std::string_view(type) != "dumb";
}

// Returns [pasted] as lines of text, since terminals send line ends as the Enter key does. Drops control characters and
// line ends at the end.
std::string linesOf(std::string_view pasted) {
  std::string text;
  for (size_t i = 0; i < pasted.size();) {
    const utf8::CodePoint point = utf8::decode(pasted.substr(i));
    if (point.length == 0) {
      appendUtf8(text, kReplacement);
    } else if (point.value == '\r') {
      text += '\n';
      if (pasted.substr(i + 1).starts_with('\n')) ++i;
    } else if (point.value == '\t' || point.value == '\n' ||
               (point.value >= ' ' && (point.value < 0x7F || point.value >= 0xA0))) {
      text += pasted.substr(i, point.length);
    }
    i += std::max<size_t>(point.length, 1);
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

winsize windowSize() {
  winsize size{};
  static_cast<void>(ioctl(STDOUT_FILENO, TIOCGWINSZ, &size));
  return size;
}

class EditedLines final : public LineEditor {
 public:
  EditedLines(const Libedit& libedit, std::string history, volatile std::sig_atomic_t& presses)
      : libedit_(libedit), presses_(presses), history_file_(std::move(history)) {
    needUtf8();
    editor_ = libedit_.begin("boxcar", stdin, stdout, stderr);
    history_ = libedit_.beginHistory();
    set(Libedit::ClientData, static_cast<void*>(this));
    set(
        Libedit::Prompt, +[](void* editor) { return of(editor).prompt_.data(); });
    set(
        Libedit::GetChar, +[](void* editor, wchar_t* key) { return of(editor).readKey(*key); });
    set(Libedit::Editor, "emacs");
    set(
        Libedit::AddFunction, "boxcar-complete", "completes a word",
        +[](void* editor, int) { return static_cast<unsigned char>(of(editor).complete()); });
    set(
        Libedit::AddFunction, "boxcar-paste", "takes what is pasted as text",
        +[](void* editor, int) { return static_cast<unsigned char>(of(editor).paste()); });
    for (const auto& [key, action] : kKeys) set(Libedit::Bind, key, action, nullptr);
    set(Libedit::Hist, libedit_.history, history_);
    change(Libedit::SetSize, kMostHistory);
    change(Libedit::SetUnique, 1);
    libedit_.source(editor_, nullptr);  // ~/.editrc
    // `bind -v` in that file drops all key bindings; in vi mode Escape is a key of its own and starts no sequence.
    const char* manner = nullptr;
    libedit_.get(editor_, Libedit::Editor, &manner);
    marks_pastes_ = understandsSequences() && manner != nullptr && std::string_view(manner) == "emacs";
    if (marks_pastes_) set(Libedit::Bind, "\\e[200~", "boxcar-paste", nullptr);
    openHistory();
  }
  ~EditedLines() override {
    libedit_.end(editor_);
    libedit_.endHistory(history_);
  }
  EditedLines(const EditedLines&) = delete;
  EditedLines& operator=(const EditedLines&) = delete;

  bool edits() const override { return true; }
  void setCompletion(Completion completion) override { completion_ = std::move(completion); }

  Outcome read(const std::string& prompt, std::string& line) override {
    std::fflush(stdout);
    presses_ = 0;
    prompt_ = prompt;
    fitWindow();
    set(Libedit::Raw, 1);  // before the prompt appears, so that no key comes too early
    mark(kMarkPastes);
    int count = 0;
    const char* const text = libedit_.read(editor_, &count);
    mark(kMarkNoPastes);
    if (text == nullptr || count <= 0) {
      std::fputs("\n", stdout);
      return presses_ != 0 ? Outcome::Interrupted : Outcome::End;
    }
    line.assign(text, static_cast<size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return Outcome::Line;
  }

  void remember(const std::string& input) override {
    const size_t end = input.find_last_not_of(" \t\n");
    if (end == std::string::npos) return;
    const std::string text = input.substr(0, end + 1);
    // Another prompt may have written to the file in the meantime.
    if (!history_file_.empty() && change(Libedit::Clear, 0) >= 0) change(Libedit::Load, history_file_.c_str());
    change(Libedit::Enter, text.c_str());
    if (!history_file_.empty()) change(Libedit::Save, history_file_.c_str());
  }

 private:
  static constexpr std::pair<const char*, const char*> kKeys[] = {
      {"^I", "boxcar-complete"},         {"^R", "em-inc-search-prev"}, {"^W", "ed-delete-prev-word"},
      {"\\e[1~", "ed-move-to-beg"},      {"\\e[4~", "ed-move-to-end"}, {"\\e[7~", "ed-move-to-beg"},
      {"\\e[8~", "ed-move-to-end"},      {"\\e[H", "ed-move-to-beg"},  {"\\e[F", "ed-move-to-end"},
      {"\\e[3~", "ed-delete-next-char"}, {"\\e[1;5C", "em-next-word"}, {"\\e[1;5D", "ed-prev-word"},
  };

  static EditedLines& of(void* editor) {
    void* self = nullptr;
    Libedit::find()->get(editor, Libedit::ClientData, &self);
    return *static_cast<EditedLines*>(self);
  }

  template <class... Values>
  void set(int setting, Values... values) {
    libedit_.set(editor_, setting, values...);
  }

  // Changes the history of inputs.
  template <class Value>
  int change(int action, Value value) {
    Libedit::HistoryEvent event{};
    return libedit_.history(history_, &event, action, value);
  }

  void openHistory() {
    // Inputs may be private.
    const int file = history_file_.empty() ? -1 : ::open(history_file_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) {
      history_file_.clear();
      return;
    }
    static_cast<void>(::fchmod(file, 0600));
    ::close(file);
    change(Libedit::Load, history_file_.c_str());
  }

  void mark(const char* sequence) const {
    if (!marks_pastes_) return;
    print(sequence);
    std::fflush(stdout);
  }

  bool fitWindow() {
    const winsize size = windowSize();
    if (size.ws_col == columns_ && size.ws_row == rows_) return false;
    columns_ = size.ws_col;
    rows_ = size.ws_row;
    libedit_.resize(editor_);
    return true;
  }

  // Returns 1, 0 at the end, or -1 if Ctrl-C was pressed.
  int readByte(unsigned char& byte) {
    for (;;) {
      if (presses_ != 0) return -1;
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&input, 1, -1);
      if (presses_ != 0) return -1;
      if (ready < 0) continue;
      if ((input.revents & POLLIN) == 0) return 0;  // the terminal is gone
      const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
      if (count >= 0) return static_cast<int>(count);
      if (errno != EINTR && errno != EAGAIN) return 0;
    }
  }

  int readKey(wchar_t& key) {
    unsigned char byte = 0;
    const int count = readByte(byte);
    if (count != 1) return count;
    fitWindow();
    const int length = lengthOf(byte);
    if (length == 1) {
      key = byte;
      return 1;
    }
    int code = length == 0 ? kReplacement : byte & (0x7F >> length);
    for (int i = 1; i < length; ++i) {
      const int more = readByte(byte);
      if (more != 1) return more;
      code = (byte & 0xC0) == 0x80 && code != kReplacement ? code << 6 | (byte & 0x3F) : kReplacement;
    }
    key = static_cast<wchar_t>(code);
    return 1;
  }

  // Inserts what the terminal sends up to the end of a paste; nothing in it acts as a key.
  int paste() {
    std::string pasted;
    while (!pasted.ends_with(kPasteEnd)) {
      unsigned char byte = 0;
      if (readByte(byte) != 1) return Libedit::RefreshBeep;  // the next key fails, too
      pasted += static_cast<char>(byte);
    }
    pasted.resize(pasted.size() - kPasteEnd.size());
    libedit_.insert(editor_, linesOf(pasted).c_str());
    return Libedit::Refresh;
  }

  // Completes the word before the cursor as far as its candidates agree; if they agree no further, lists them.
  int complete() {
    if (!completion_) return Libedit::RefreshBeep;
    const Libedit::Line* const info = libedit_.line(editor_);
    const std::string line(info->buffer, info->end);
    const auto at = static_cast<size_t>(info->cursor - info->buffer);
    // Where no word has begun, Tab indents. This also helps when a terminal that marks no pastes receives code with
    // tabs.
    const size_t column = at - (line.substr(0, at).rfind('\n') + 1);
    if (line.substr(at - column, column).find_first_not_of(" \t") == std::string::npos) {
      libedit_.insert(editor_, std::string(kIndent - column % kIndent, ' ').c_str());
      return Libedit::Refresh;
    }
    size_t begin = 0;
    std::vector<std::string> candidates = completion_(line, at, begin);
    if (candidates.empty()) return Libedit::RefreshBeep;
    std::string common = candidates.front();
    for (const std::string& candidate : candidates)
      common.resize(static_cast<size_t>(std::ranges::mismatch(common, candidate).in1 - common.begin()));
    const std::string word = line.substr(begin, at - begin);
    if (common.size() > word.size() && common.starts_with(word)) {
      libedit_.insert(editor_, common.c_str() + word.size());
      return candidates.size() == 1 ? Libedit::Refresh : Libedit::RefreshBeep;
    }
    if (candidates.size() == 1) return Libedit::Refresh;
    list(std::move(candidates));
    return Libedit::Redisplay;
  }

  void list(std::vector<std::string> words) {
    print("\n");
    if (words.size() > kMostListed) {
      print("Show all " + std::to_string(words.size()) + " possibilities? (y or n) ");
      std::fflush(stdout);
      unsigned char answer = 0;
      const bool is_wanted = readByte(answer) == 1 && (answer == 'y' || answer == 'Y');
      print("\n");
      if (!is_wanted) return;
    }
    size_t width = 0;
    for (const std::string& word : words) width = std::max(width, word.size() + 2);
    const size_t columns = std::max<size_t>((columns_ == 0 ? kUsualColumns : columns_) / width, 1);
    const size_t rows = (words.size() + columns - 1) / columns;
    std::string text;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t i = row; i < words.size(); i += rows)
        text += words[i] + (i + rows < words.size() ? std::string(width - words[i].size(), ' ') : "");
      text += "\n";
    }
    print(text);
    std::fflush(stdout);
  }

  const Libedit& libedit_;
  volatile std::sig_atomic_t& presses_;
  void* editor_ = nullptr;
  void* history_ = nullptr;
  std::string history_file_;
  Completion completion_;
  std::string prompt_;
  unsigned short columns_ = 0;
  unsigned short rows_ = 0;
  bool marks_pastes_ = false;
};

}  // namespace

std::unique_ptr<LineEditor> makeEditedLines(const std::string& history, volatile std::sig_atomic_t& presses) {
  const Libedit* const libedit = Libedit::find();
  if (libedit == nullptr) return nullptr;
  return std::make_unique<EditedLines>(*libedit, history, presses);
}

}  // namespace boxcar::cli
