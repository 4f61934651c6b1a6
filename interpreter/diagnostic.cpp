#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/utf8.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar {
namespace {

// Longer lines are shown in part: a script may be one line of megabytes.
constexpr size_t kMaxShownLine = 400;
constexpr size_t kShownBefore = 100;

bool fits(std::string_view line) { return line.size() <= kMaxShownLine; }

// Moves [at] back to where a code point begins.
size_t codePointBegin(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && utf8::isContinuation(text[at])) --at;
  return at;
}

// What a terminal may be shown of a line: no control characters, which could do anything there.
std::string withoutControls(std::string_view line) {
  std::string shown(line);
  std::ranges::replace_if(
      shown, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; }, '?');
  return shown;
}

// What stands before a message, and how it is marked.
struct Label {
  std::string_view text;
  TextInk ink;
};

constexpr Label kNote = {"note:", TextInk::Note};

Label labelOf(Severity severity) {
  return severity == Severity::Error ? Label{"error:", TextInk::Error} : Label{"warning:", TextInk::Warning};
}

void renderPlace(std::string& out, const Source& source, Span span, const Label& label, std::string_view message,
                 TextColours colours) {
  const LineColumn position = source.position(span.begin);
  const std::string place = fmt::format("{}:{}:{}:", source.name(), position.line, position.column);
  out += fmt::format("{} {} {}\n", coloured(place, TextInk::Place, colours), coloured(label.text, label.ink, colours),
                     message);

  const Span line_span = source.lineSpan(position.line);
  std::string_view line = source.text(line_span);
  size_t begin = std::min<size_t>(span.begin - line_span.begin, line.size());
  size_t end = std::clamp<size_t>(span.end - line_span.begin, begin, line.size());
  std::string_view before, after;
  if (!fits(line)) {
    const size_t first = codePointBegin(line, begin > kShownBefore ? begin - kShownBefore : 0);
    const size_t last = codePointBegin(line, std::min(first + kMaxShownLine, line.size()));
    before = first > 0 ? "..." : "";
    after = last < line.size() ? "..." : "";
    line = line.substr(first, last - first);
    begin -= first;
    end = std::min(end - first, line.size());
  }

  out += fmt::format("{}{}{}\n", before, withoutControls(line), after);
  out.append(before.size(), ' ');
  for (const char byte : line.substr(0, begin)) {
    if (!utf8::isContinuation(byte)) out += byte == '\t' ? '\t' : ' ';
  }
  const size_t width = utf8::countCodePoints(line.substr(begin, end - begin));
  std::string mark = "^";
  if (width > 1) mark.append(width - 1, '~');
  out += coloured(mark, TextInk::Mark, colours) + '\n';
}

void render(std::string& out, const Diagnostic& diagnostic, TextColours colours) {
  renderPlace(out, *diagnostic.source, diagnostic.span, labelOf(diagnostic.severity), diagnostic.message, colours);
  for (const Diagnostic::Note& note : diagnostic.notes) {
    if (note.place.source) {
      renderPlace(out, *note.place.source, note.place.span, kNote, note.text, colours);
    } else {
      out += fmt::format("{} {}\n", coloured(kNote.text, kNote.ink, colours), note.text);
    }
  }
}

}  // namespace

std::string_view toString(Severity severity) { return severity == Severity::Error ? "error" : "warning"; }

Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back({std::move(text), {}});
  return *this;
}

Diagnostic& Diagnostic::note(std::string text, SourcePtr note_source, Span note_span) {
  notes.push_back({std::move(text), {std::move(note_source), note_span}});
  return *this;
}

std::string toString(const Diagnostic& diagnostic, TextColours colours) {
  std::string out;
  render(out, diagnostic, colours);
  return out;
}

std::string toString(const std::vector<Diagnostic>& diagnostics, TextColours colours) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) render(out, diagnostic, colours);
  return out;
}

CompileError::CompileError(std::vector<Diagnostic> diagnostics)
    : Error(toString(diagnostics)),
      diagnostics_(std::make_shared<const std::vector<Diagnostic>>(std::move(diagnostics))) {}

Diagnostic& Diagnostics::error(SourcePtr source, Span span, std::string message) {
  if (++error_count_ > kMaxErrors) {
    surplus_ = {};
    return surplus_;
  }
  return all_.emplace_back(Diagnostic{Severity::Error, std::move(source), span, std::move(message), {}});
}

Diagnostic& Diagnostics::warning(SourcePtr source, Span span, std::string message) {
  return all_.emplace_back(Diagnostic{Severity::Warning, std::move(source), span, std::move(message), {}});
}

void Diagnostics::append(const Diagnostics& other) {
  for (const Diagnostic& diagnostic : other.all_) {
    if (diagnostic.severity == Severity::Error && ++error_count_ > kMaxErrors) continue;
    all_.push_back(diagnostic);
  }
  error_count_ += other.error_count_ - std::min(other.error_count_, kMaxErrors);
}

void Diagnostics::sortFrom(size_t first) {
  std::stable_sort(all_.begin() + static_cast<std::ptrdiff_t>(first), all_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
}

void Diagnostics::throwIfErrors() const {
  if (!hasErrors()) return;
  std::vector<Diagnostic> shown = all_;
  if (error_count_ > kMaxErrors) shown.back().note(fmt::format("{} more errors", error_count_ - kMaxErrors));
  throw CompileError(std::move(shown));
}

}  // namespace boxcar
