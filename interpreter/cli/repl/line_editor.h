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
  // What may stand for the word that ends at [at] in [line], each in full; [begin] is set to where that word begins.
  using Completion = std::function<std::vector<std::string>(std::string_view line, size_t at, size_t& begin)>;

  virtual ~LineEditor() = default;
  // The next line, without its end; several where they were pasted, or brought back, as one. Interrupted: Ctrl-C was
  // pressed instead.
  virtual Outcome read(const std::string& prompt, std::string& line) = 0;
  // Keeps an input among the former ones, all its lines as one.
  virtual void remember(const std::string&) {}
  // Whether keys edit the line, bring back former ones and complete words.
  virtual bool edits() const { return false; }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that complete keep it
  virtual void setCompletion(Completion) {}
};

// On a terminal, with libedit where the machine has it: former inputs are kept in [history], a file, unless it is
// empty. Elsewhere standard input is read as it comes, and no prompt is written.
std::unique_ptr<LineEditor> makeLineEditor(bool on_terminal, const std::string& history);

// ${XDG_STATE_HOME:-~/.local/state}/boxcar/history; its folder is made where it is missing. Empty where that cannot be.
std::string historyFile();

// Between these Ctrl-C asks for the end of what runs; outside it ends the line that is being written.
void beginInterruptible();
void endInterruptible();
// Has SIGINT do so, for the rest of the program. The second Ctrl-C in one run ends the program: an operator that does
// not return cannot be asked.
void catchCtrlC();

}  // namespace boxcar::cli
