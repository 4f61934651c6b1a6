#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/syntax/source_excerpt.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace boxcar {
namespace {

// Longer call stacks show only the outermost and the innermost calls.
constexpr size_t kShownAtEachEnd = 10;

void append(std::string& text, const ScriptFrame& frame, TextColours colours) {
  if (frame.place.source == nullptr) return;
  text += "\n  " + coloured(toString(frame.place), TextInk::Place, colours);
  if (!frame.function.empty()) text += " in " + frame.function;
  const Source& source = *frame.place.source;
  if (source.line(source.position(frame.place.span.begin).line).find_first_not_of(" \t\r") == std::string_view::npos)
    return;
  text += '\n';
  appendExcerpt(text, source, frame.place.span, "    ", true, colours);
  text.pop_back();  // the newline, which separates frames
}

std::string describe(std::string text, const std::vector<ScriptFrame>& frames, TextColours colours) {
  const bool shortens = frames.size() > 2 * kShownAtEachEnd + 1;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (shortens && i == kShownAtEachEnd) {
      const size_t left_out = frames.size() - 2 * kShownAtEachEnd;
      text += fmt::format("\n  ... {} more calls ...", left_out);
      i += left_out;
    }
    append(text, frames[i], colours);
  }
  return text;
}

}  // namespace

ScriptError::ScriptError(std::string message, std::vector<ScriptFrame> frames, ScriptErrorCause cause)
    : RuntimeError(describe(message, frames, TextColours::None)),
      details_(std::make_shared<const Details>(Details{std::move(message), std::move(frames), cause})) {}

std::string toString(const ScriptError& error, TextColours colours) {
  // Lines that were added while the error propagated come after the calls.
  const size_t own = describe(error.reason(), error.frames(), TextColours::None).size();
  return coloured("error:", TextInk::Error, colours) + ' ' + describe(error.reason(), error.frames(), colours) +
         error.message().substr(own) + '\n';
}

}  // namespace boxcar
