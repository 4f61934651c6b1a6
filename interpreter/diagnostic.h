#pragma once

#include <boxcar/interpreter/source.h>
#include <boxcar/interpreter/text_colours.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace boxcar {

enum class Severity : uint8_t { Error, Warning };

BOXCAR_API std::string_view toString(Severity severity);

// What is wrong in a script, where, and what there is to say about it.
struct Diagnostic {
  // Stands below the message; its own place is optional (no source) and may lie in another source.
  struct Note {
    std::string text;
    Location place;
  };

  Severity severity = Severity::Error;
  SourcePtr source;
  Span span;
  std::string message;
  std::vector<Note> notes;

  // Each adds a note and returns the diagnostic, so that they chain.
  Diagnostic& note(std::string text);
  Diagnostic& note(std::string text, SourcePtr note_source, Span note_span);
};

// As people read it, ending in a newline:
//     file:line:col: error: message
//     the source line
//        ^~~~
//     file:line:col: note: text
// A span that goes over several lines is underlined on its first.
BOXCAR_API std::string toString(const Diagnostic& diagnostic, TextColours colours = TextColours::None);
BOXCAR_API std::string toString(const std::vector<Diagnostic>& diagnostics, TextColours colours = TextColours::None);

// What a compilation throws when its source is wrong; what() is the text of all diagnostics.
class BOXCAR_API CompileError : public RuntimeError {
 public:
  explicit CompileError(std::vector<Diagnostic> diagnostics);

  const std::vector<Diagnostic>& diagnostics() const noexcept { return *diagnostics_; }

 private:
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics_;  // copying an exception must not throw
};

// Collects what is found wrong, so that one pass reports as much as can be told apart. References that error() and
// warning() return stay valid until the next call.
class BOXCAR_API Diagnostics {
 public:
  // Errors past this many are only counted.
  static constexpr size_t kMaxErrors = 100;

  Diagnostic& error(SourcePtr source, Span span, std::string message);
  Diagnostic& warning(SourcePtr source, Span span, std::string message);

  // All of [other], also what it only counted.
  void append(const Diagnostics& other);

  bool hasErrors() const noexcept { return error_count_ != 0; }
  size_t error_count() const noexcept { return error_count_; }
  size_t size() const noexcept { return all_.size(); }
  const std::vector<Diagnostic>& all() const noexcept { return all_; }

  // Puts the diagnostics from number [first] on in the order of their places.
  void sortFrom(size_t first);

  // Throws CompileError when there is an error.
  void throwIfErrors() const;

 private:
  std::vector<Diagnostic> all_;
  Diagnostic surplus_;
  size_t error_count_ = 0;
};

}  // namespace boxcar
