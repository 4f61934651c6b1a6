#include <boxcar/interpreter/syntax/grammar.h>
#include <boxcar/interpreter/syntax/unfinished_input.h>

namespace boxcar {

bool UnfinishedInput::add(std::string_view line) {
  text_ += line;
  const std::optional<Span> settled = syntax::settledPartOfUnfinished(Source::create("<input>", text_));
  if (!settled) return false;
  text_.erase(settled->begin, settled->end - settled->begin);
  return true;
}

}  // namespace boxcar
