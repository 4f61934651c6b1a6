// Properties of the layout of every script.

#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/interpreter/syntax/lexer.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "syntax_helpers.h"
#include "tests/interpreter/all_scripts.h"
#include "tests/interpreter/bytecode/unit_equality.h"
#include "without_places.h"

namespace boxcar {
namespace {

std::string format(const std::string& text, Diagnostics& diagnostics) {
  return formatSource(Source::create("t.ops", text), diagnostics);
}

// Returns what is wrong with the formatting of a text; "" if it is right, or if a wrong text comes back unchanged.
std::string faultOf(const std::string& text) {
  Diagnostics diagnostics;
  const std::string once = format(text, diagnostics);
  if (diagnostics.hasErrors()) return once == text ? "" : "it is wrong, but changed";
  const std::string twice = format(once, diagnostics);
  if (once != twice) return "formatted once:\n" + once + "twice:\n" + twice;
  if (syntax::parsedWithoutBlanks(once) != syntax::parsedWithoutBlanks(text)) return "another tree:\n" + once;
  return "";
}

std::string construct() { return interp::readFile(BOXCAR_TEST_DATA "/../scripts/bytecode/every_construct.ops"); }

TEST(FormatterProperty, TheBytecodeOfEveryScriptStays) {
  size_t compiled = 0;
  for (const std::string& path : allScripts(BOXCAR_TEST_DATA)) {
    const std::string text = interp::readFile(path);
    EXPECT_EQ(faultOf(text), "") << path;
    Diagnostics diagnostics;
    const std::string layout = format(text, diagnostics);
    try {
      const auto before = withoutPlaces(interp::compileText(text, path, diagnostics));
      const auto after = withoutPlaces(interp::compileText(layout, path, diagnostics));
      EXPECT_EQ(differenceOf(before, after), "") << path;
      ++compiled;
    } catch (const CompileError&) {
      // A script that tests errors or needs a plugin.
    }
  }
  EXPECT_GT(compiled, 300U);
}

// ---- Texts that are cut or damaged ----

TEST(FormatterProperty, EveryBeginningOfAScriptIsFormattedOrReported) {
  const std::string text = construct();
  for (size_t size = 0; size < text.size(); ++size) {
    ASSERT_EQ(faultOf(text.substr(0, size)), "") << text.substr(0, size);
  }
}

// The text between the tokens, before the first and after the last one.
struct Pieces {
  explicit Pieces(const std::string& text) {
    const SourcePtr source = Source::create("t.ops", text);
    Diagnostics none;
    stream = syntax::lex(source, none);
    uint32_t end = 0;
    for (const syntax::Token& token : stream.tokens) {
      gaps.emplace_back(source->text({end, token.span.begin}));
      texts.emplace_back(source->text(token.span));
      end = token.span.end;
    }
  }

  syntax::TokenKind kind(size_t i) const { return stream.tokens[i].kind; }

  syntax::TokenStream stream;
  std::vector<std::string> gaps;  // before each token
  std::vector<std::string> texts;
};

TEST(FormatterProperty, ScriptsWithoutSomeOfTheirTokensAreFormattedOrReported) {
  std::mt19937 random(1);
  size_t right = 0;
  const Pieces pieces(construct());
  for (int round = 0; round < 3000; ++round) {
    // Takes a run of tokens, so that the rest is often right.
    const size_t first = random() % pieces.texts.size(), count = 300 + random() % 100;
    std::string text;
    for (size_t i = first; i < std::min(first + count, pieces.texts.size()); ++i) {
      text += pieces.gaps[i];
      if (random() % 100 != 0) text += pieces.texts[i];
    }
    Diagnostics diagnostics;
    format(text, diagnostics);
    right += diagnostics.hasErrors() ? 0 : 1;
    ASSERT_EQ(faultOf(text), "") << text;
  }
  EXPECT_GT(right, 0U);
}

// ---- Layouts of one program ----

// Returns the tokens with other blanks and line breaks and without their comments. [comment] is placed at some of the
// line breaks.
std::string shaken(const Pieces& pieces, std::mt19937& random, const std::string& comment = "") {
  using Kind = syntax::TokenKind;
  const auto oneOf = [&](std::initializer_list<const char*> texts) { return texts.begin()[random() % texts.size()]; };
  const auto lineBreak = [&](std::initializer_list<const char*> texts) {
    const char* text = oneOf(texts);
    if (comment.empty() || random() % 2 == 0) return std::string(text);
    return (random() % 2 == 0 ? " " : "\n") + comment + "\n" + (random() % 4 == 0 ? comment + "\n" : "") + text;
  };
  std::string out;
  size_t brackets = 0, strings = 0;
  for (size_t i = 0; i + 1 < pieces.texts.size(); ++i) {
    const Kind kind = pieces.kind(i), next = pieces.kind(i + 1);
    if (kind == Kind::Newline || kind == Kind::Semicolon) {
      const bool goes_on = next == Kind::Name && pieces.texts[i + 1] == "exit";
      out += goes_on ? "\n" : lineBreak({"\n", ";", " ; \n\t", "\r\n"});
      continue;
    }
    const bool in_string = strings > 0;
    if (kind == Kind::FStringBegin) ++strings;
    if (kind == Kind::FStringEnd) --strings;
    const bool opens = kind == Kind::LeftParen || kind == Kind::LeftBracket || kind == Kind::DictOpen;
    const bool closes = kind == Kind::RightParen || kind == Kind::RightBracket || kind == Kind::DictClose;
    const bool is_joined = kind == Kind::Dot || kind == Kind::Scope || i == 0 || pieces.kind(i - 1) == Kind::Dot ||
                           pieces.kind(i - 1) == Kind::Scope;
    const bool has_comment = pieces.gaps[i].find('#') != std::string::npos;
    if (in_string) {
      out += pieces.gaps[i];
    } else if (brackets > 0 && !is_joined && !syntax::isKeyword(kind) && random() % 3 == 0) {
      out += lineBreak({"\n", " \n\n  ", "\r\n\t"});
    } else if (has_comment || pieces.gaps[i].find('\n') != std::string::npos || random() % 2 == 0) {
      out += oneOf({" ", "  ", "\t"});
    } else {
      out += pieces.gaps[i];
    }
    if (opens) ++brackets;
    if (closes) --brackets;
    out += pieces.texts[i];
    if (kind == Kind::BlockOpen) out += lineBreak({"", "\n", "\n\n"});
  }
  return out;
}

TEST(FormatterProperty, TheLayoutDoesNotDependOnTheOneBefore) {
  std::mt19937 random(2);
  size_t compared = 0;
  for (const std::string& path : allScripts(BOXCAR_TEST_DATA)) {
    const std::string text = interp::readFile(path);
    Diagnostics errors;
    format(text, errors);
    if (errors.hasErrors() || text.size() > 5000) continue;  // long ones only repeat themselves
    const Pieces pieces(text);
    std::string layout;
    for (int round = 0; round < 4; ++round) {
      const std::string other = shaken(pieces, random);
      Diagnostics diagnostics;
      const std::string found = format(other, diagnostics);
      ASSERT_EQ(toString(diagnostics.all()), "") << path << "\n" << other;
      if (round == 0) layout = found;
      ASSERT_EQ(found, layout) << path << "\n" << other;
    }
    ++compared;
  }
  EXPECT_GT(compared, 400U);
}

TEST(FormatterProperty, CommentsMayStandEverywhere) {
  std::mt19937 random(3);
  const Pieces pieces(construct());
  for (int round = 0; round < 200; ++round) {
    const std::string text = shaken(pieces, random, "# why");
    Diagnostics diagnostics;
    const std::string once = format(text, diagnostics);
    ASSERT_EQ(toString(diagnostics.all()), "") << text;
    ASSERT_EQ(format(once, diagnostics), once) << text;
    const auto count = [](const std::string& where) {
      size_t found = 0;
      for (size_t at = 0; (at = where.find("# why", at)) != std::string::npos; ++at) ++found;
      return found;
    };
    ASSERT_GT(count(text), 10U);
    ASSERT_EQ(count(once), count(text)) << text;
  }
}

}  // namespace
}  // namespace boxcar
