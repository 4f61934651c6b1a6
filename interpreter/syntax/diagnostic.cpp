#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/interpreter/syntax/source_excerpt.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar {
namespace {

// The label before a message, and its colour.
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

  appendExcerpt(out, source, span, "", false, colours);
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
    : RuntimeError(toString(diagnostics)),
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
