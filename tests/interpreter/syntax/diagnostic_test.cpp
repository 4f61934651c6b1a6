#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace boxcar {
namespace {

Diagnostic errorAt(const SourcePtr& source, Span span) { return {Severity::Error, source, span, "wrong", {}}; }

TEST(Diagnostic, ShowsTheLineAndUnderlinesTheSpan) {
  EXPECT_EQ(toString(errorAt(Source::create("a.ops", "x = relu(y)\nz"), {4, 8})),
            "a.ops:1:5: error: wrong\n"
            "x = relu(y)\n"
            "    ^~~~\n");
}

TEST(Diagnostic, OneCharacterOrNoneIsACaret) {
  const SourcePtr source = Source::create("a.ops", "ab");
  EXPECT_EQ(toString(errorAt(source, {1, 2})), "a.ops:1:2: error: wrong\nab\n ^\n");
  EXPECT_EQ(toString(errorAt(source, {2, 2})), "a.ops:1:3: error: wrong\nab\n  ^\n");
}

TEST(Diagnostic, TabsAreKeptAndCodePointsCounted) {
  EXPECT_EQ(toString(errorAt(Source::create("a.ops", "\té = \"€€\""), {6, 14})),
            "a.ops:1:6: error: wrong\n"
            "\té = \"€€\"\n"
            "\t    ^~~~\n");
}

TEST(Diagnostic, ASpanOverSeveralLinesIsUnderlinedOnItsFirst) {
  EXPECT_EQ(toString(errorAt(Source::create("a.ops", "f(1,\n  2)\n"), {1, 9})),
            "a.ops:1:2: error: wrong\n"
            "f(1,\n"
            " ^~~\n");
}

TEST(Diagnostic, NotesFollowWithTheirOwnPlaces) {
  const SourcePtr source = Source::create("a.ops", "first\nsecond");
  const SourcePtr other = Source::create("b.ops", "  there");
  Diagnostic diagnostic = errorAt(source, {6, 12});
  diagnostic.note("also here", other, {2, 7}).note("and this");
  diagnostic.severity = Severity::Warning;
  EXPECT_EQ(toString(diagnostic),
            "a.ops:2:1: warning: wrong\n"
            "second\n"
            "^~~~~~\n"
            "b.ops:1:3: note: also here\n"
            "  there\n"
            "  ^~~~~\n"
            "note: and this\n");
}

TEST(Diagnostic, ColoursMarkItsPartsAndChangeNoText) {
  const SourcePtr source = Source::create("a.ops", "first");
  Diagnostic diagnostic = errorAt(source, {0, 2});
  EXPECT_EQ(toString(diagnostic, TextColours::Ansi),
            "\033[1ma.ops:1:1:\033[0m \033[1;31merror:\033[0m wrong\n"
            "first\n"
            "\033[1;32m^~\033[0m\n");
  EXPECT_EQ(toString(diagnostic, TextColours::None), toString(diagnostic));
  diagnostic.severity = Severity::Warning;
  diagnostic.note("here", source, {4, 5}).note("and this");
  EXPECT_EQ(toString(std::vector{diagnostic}, TextColours::Ansi),
            "\033[1ma.ops:1:1:\033[0m \033[1;35mwarning:\033[0m wrong\n"
            "first\n"
            "\033[1;32m^~\033[0m\n"
            "\033[1ma.ops:1:5:\033[0m \033[1;36mnote:\033[0m here\n"
            "first\n"
            "    \033[1;32m^\033[0m\n"
            "\033[1;36mnote:\033[0m and this\n");
}

TEST(ScriptError, ColoursMarkItsPlacesAndLinesThatWereAddedStay) {
  const SourcePtr source = Source::create("a.ops", "  f(0)");
  ScriptError error("no", {{"fn f", {source, {2, 6}}}});
  error.addContext("outside");
  EXPECT_EQ(toString(error), "error: " + error.message() + "\n");
  EXPECT_EQ(toString(error, TextColours::Ansi),
            "\033[1;31merror:\033[0m no\n"
            "  \033[1ma.ops:1:3\033[0m in fn f\n"
            "    f(0)\n"
            "    \033[1;32m^~~~\033[0m\n"
            "outside\n");
}

TEST(Diagnostic, ALongLineIsShownAroundItsSpan) {
  const SourcePtr source = Source::create("a.ops", std::string(1000, 'a') + "XY" + std::string(1000, 'b'));
  EXPECT_EQ(toString(errorAt(source, {1000, 1002})),
            fmt::format("a.ops:1:1001: error: wrong\n"
                        "...{}XY{}...\n"
                        "{}^~\n",
                        std::string(100, 'a'), std::string(298, 'b'), std::string(103, ' ')));
}

TEST(Diagnostics, CollectsAndThrowsAllThatWasWrong) {
  const SourcePtr source = Source::create("a.ops", "one two");
  Diagnostics diagnostics;
  diagnostics.warning(source, {0, 3}, "odd");
  EXPECT_FALSE(diagnostics.hasErrors());
  diagnostics.throwIfErrors();
  diagnostics.error(source, {4, 7}, "bad").note("very");
  EXPECT_TRUE(diagnostics.hasErrors());
  try {
    diagnostics.throwIfErrors();
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_STREQ(error.what(),
                 "a.ops:1:1: warning: odd\none two\n^~~\n"
                 "a.ops:1:5: error: bad\none two\n    ^~~\nnote: very\n");
    ASSERT_EQ(error.diagnostics().size(), 2u);
    EXPECT_EQ(error.diagnostics()[1].message, "bad");
    EXPECT_EQ(error.diagnostics()[1].notes[0].text, "very");
  }
}

TEST(Diagnostics, SortsByPlaceFromANumberOn) {
  const SourcePtr source = Source::create("a.ops", "abcdef");
  Diagnostics diagnostics;
  for (const uint32_t at : {5u, 3u, 1u, 2u}) diagnostics.error(source, {at, at + 1}, fmt::format("{}", at));
  diagnostics.sortFrom(1);
  std::string order;
  for (const Diagnostic& diagnostic : diagnostics.all()) order += diagnostic.message;
  EXPECT_EQ(order, "5123");
}

TEST(Diagnostics, CountsErrorsPastTheHundredth) {
  const SourcePtr source = Source::create("a.ops", "x");
  Diagnostics diagnostics;
  for (int i = 0; i < 250; ++i) diagnostics.error(source, {0, 1}, "bad").note("note");
  EXPECT_EQ(diagnostics.size(), 100u);
  EXPECT_EQ(diagnostics.error_count(), 250u);
  try {
    diagnostics.throwIfErrors();
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.diagnostics().back().notes.back().text, "150 more errors");
  }
}

}  // namespace
}  // namespace boxcar
