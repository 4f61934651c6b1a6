#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// Where the lines of a prompt come from.
class LineEditor {
 public:
  enum class Outcome { Line, End, Interrupted };
  // Returns the completions of the word that ends at [at] in [line], each in full; sets [begin] to where that word
  // begins.
  using Completion = std::function<std::vector<std::string>(std::string_view line, size_t at, size_t& begin)>;

  virtual ~LineEditor() = default;
  // Reads the next line, without its end; several lines if they were pasted or recalled as one. Interrupted: Ctrl-C was
  // pressed instead.
  virtual Outcome read(const std::string& prompt, std::string& line) = 0;
  // Adds an input to the history, all its lines as one entry.
  virtual void remember(const std::string&) {}
  // Returns whether keys edit the line, recall earlier inputs and complete words.
  virtual bool edits() const { return false; }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that complete keep it
  virtual void setCompletion(Completion) {}
};

// Returns, on a terminal, an editor with libedit if the machine has it; earlier inputs are kept in the file [history],
// unless it is empty. Elsewhere standard input is read as it comes, and no prompt is written.
std::unique_ptr<LineEditor> makeLineEditor(bool on_terminal, const std::string& history);

// Returns ${XDG_STATE_HOME:-~/.local/state}/boxcar/history and creates its folder if it is missing. Empty if that is
// impossible.
std::string historyFile();

// Between these calls, Ctrl-C asks the running input to end; outside, it ends the line being edited.
void beginInterruptible();
void endInterruptible();
// Makes SIGINT do so for the rest of the program. The second Ctrl-C in one run ends the program, because an operator
// that does not return cannot be asked to end.
void catchCtrlC();

}  // namespace boxcar::cli
