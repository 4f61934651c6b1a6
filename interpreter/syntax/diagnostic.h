#pragma once

#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/interpreter/syntax/text_colours.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace boxcar {

enum class Severity : uint8_t { Error, Warning };

BOXCAR_API std::string_view toString(Severity severity);

// One problem in a script: what is wrong, where, and notes about it.
struct Diagnostic {
  // Shown below the message; its place is optional (no source) and may be in another source.
  struct Note {
    std::string text;
    Location place;
  };

  Severity severity = Severity::Error;
  SourcePtr source;
  Span span;
  std::string message;
  std::vector<Note> notes;

  // Both add a note and return the diagnostic, so that calls can be chained.
  Diagnostic& note(std::string text);
  Diagnostic& note(std::string text, SourcePtr note_source, Span note_span);
};

// Returns the text for people to read, ending in a newline:
//     file:line:col: error: message
//     the source line
//        ^~~~
//     file:line:col: note: text
// A span over several lines is underlined on its first line.
BOXCAR_API std::string toString(const Diagnostic& diagnostic, TextColours colours = TextColours::None);
BOXCAR_API std::string toString(const std::vector<Diagnostic>& diagnostics, TextColours colours = TextColours::None);

// Thrown by a compilation if its source is wrong; what() is the text of all diagnostics.
class BOXCAR_API CompileError : public RuntimeError {
 public:
  explicit CompileError(std::vector<Diagnostic> diagnostics);

  const std::vector<Diagnostic>& diagnostics() const noexcept { return *diagnostics_; }

 private:
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics_;  // copying an exception must not throw
};

// Collects diagnostics, so that one pass reports as many errors as can be told apart. References that error() and
// warning() return stay valid until the next call.
class BOXCAR_API Diagnostics {
 public:
  // Further errors are only counted.
  static constexpr size_t kMaxErrors = 100;

  Diagnostic& error(SourcePtr source, Span span, std::string message);
  Diagnostic& warning(SourcePtr source, Span span, std::string message);

  // Adds all of [other], including the errors that it only counted.
  void append(const Diagnostics& other);

  bool hasErrors() const noexcept { return error_count_ != 0; }
  size_t error_count() const noexcept { return error_count_; }
  size_t size() const noexcept { return all_.size(); }
  const std::vector<Diagnostic>& all() const noexcept { return all_; }

  // Sorts the diagnostics from number [first] on by place.
  void sortFrom(size_t first);

  // Throws CompileError if there is an error.
  void throwIfErrors() const;

 private:
  std::vector<Diagnostic> all_;
  Diagnostic surplus_;
  size_t error_count_ = 0;
};

}  // namespace boxcar
