// An input read line by line stays unfinished as long as its whole text is, although not all text is read again.

#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/session/session.h>
#include <boxcar/interpreter/syntax/lexer.h>
#include <boxcar/interpreter/syntax/unfinished_input.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/interpreter/all_scripts.h"

namespace boxcar {
namespace {

// Returns the lines with their line ends.
std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

TEST(UnfinishedInput, GoesOnAsItsWholeTextDoes) {
  constexpr std::string_view kTexts[] = {
      "fn f(int x) -> int {\n  y = [1,\n (2,\n 3),\n 4]\n  if x > 1 {\n    y.pop()\n  }\n  elif x > 2 {\n  } else {\n  "
      "  'a'\n"
      "    return 1; return 2\n  }\n  'b'\n  # nothing\n\n  return x\n}\n",
      "d = {\n'a': {\n'b': [\n1,\n2\n],\n},\n'c': f(\n1,\nx=2\n,)}\n",
      "fn f(\n  int x,\n  *,\n  int y=1\n) -> int\n",
      "x = [[\n1],\n[\n2\n]\n]\n",
      "struct P {\n  int x\n  Dict(str,\n    P) all = {\n'a': 1,\n}\n  fn f(self,\n    int y) -> () {\n    raise "
      "'a'\n  }\n\n  int z\n}\n",
      // Commas that do not only separate elements.
      "fn f(Dict(str, int) d) -> str[] {\n  return [k for k, v in d.items()\n    if v > 1]\n}\n",
      "if x {\n  isinstance(x,\n    int)\n}\n",
      "if x {\n  y = x[\n    0,\n    1:3,\n  ]\n}\n",
      "x = [a for a,\n b, c in y for d,\n e in z]\n",
      "x = {{\n1: 2,\n3: 4}: 1,\n{\n1: 2}: 3}\n",
      "fn f(Dict(str,\n Tensor) x,\n (int,\n int,\n int) y) -> (Tensor a,\n Tensor b)\n{\n a,b = 1,2;\n c = "
      "(1,\n)\n}\n",
      "mode m {\n  x = 1\n  return redispatch(op,\n args)\n} exit {\n  x = 1\n}\n",
      // An error ends the input.
      "if x {\n  y = 1\n  y = )\n",
      "if x {\n  y = 1\n  else {\n",
      "x = [1,\n2,\nwhile x {\n",
      "f(1,\n  f\"{x\n",
      "if x {\n  a = 1\n  b = 2 3\n",
  };
  for (const std::string_view text : kTexts) {
    UnfinishedInput input;
    std::string whole;
    for (const std::string_view line : linesOf(text)) {
      whole += line;
      EXPECT_EQ(input.add(line), Session::isUnfinished(whole)) << whole;
    }
  }
}

// Puts each element in brackets on its own line.
std::string brokenInBrackets(const std::string& text) {
  Diagnostics unused;
  std::string broken = text;
  std::vector<syntax::TokenKind> open;
  std::vector<uint32_t> breaks;
  for (const syntax::Token& token : syntax::lex(Source::create("t.ops", text), unused).tokens) {
    using Kind = syntax::TokenKind;
    switch (token.kind) {
      case Kind::LeftParen:
      case Kind::LeftBracket:
      case Kind::DictOpen:
      case Kind::BlockOpen:
      case Kind::FStringBegin:
      case Kind::FieldBegin: open.push_back(token.kind); break;
      case Kind::RightParen:
      case Kind::RightBracket:
      case Kind::DictClose:
      case Kind::BlockClose:
      case Kind::FStringEnd:
      case Kind::FieldEnd: open.pop_back(); break;
      case Kind::Comma:
      case Kind::KwIf:
      case Kind::KwFor:
      case Kind::Assign: break;
      default: continue;
    }
    // An f-string cannot break over lines.
    if (std::ranges::find(open, Kind::FStringBegin) != open.end()) continue;
    if (!open.empty() && open.back() != Kind::BlockOpen && !token.reported) breaks.push_back(token.span.end);
  }
  for (auto at = breaks.rbegin(); at != breaks.rend(); ++at) broken.insert(*at, "\n");
  return broken;
}

// Checks each line and returns how many lines leave the text unfinished.
size_t expectGoesOnAsItsWholeTextDoes(const std::string& path, const std::string& text) {
  size_t unfinished = 0;
  UnfinishedInput input;
  std::string whole;
  for (const std::string_view line : linesOf(text)) {
    whole += line;
    const bool goes_on = input.add(line);
    EXPECT_EQ(goes_on, Session::isUnfinished(whole)) << path << ":\n" << whole;
    if (goes_on) {
      ++unfinished;
    } else {
      input = {};
      whole.clear();
    }
  }
  return unfinished;
}

TEST(UnfinishedInput, GoesOnAsItsWholeTextDoesInAllScripts) {
  size_t unfinished = 0;
  size_t unfinished_in_brackets = 0;
  for (const std::string& path : allScripts(BOXCAR_TEST_DATA)) {
    const std::string text = interp::readFile(path);
    if (text.size() > 20000) continue;  // too long to read again with each line
    unfinished += expectGoesOnAsItsWholeTextDoes(path, text);
    unfinished_in_brackets += expectGoesOnAsItsWholeTextDoes(path, brokenInBrackets(text));
  }
  EXPECT_GT(unfinished, 1000U);
  EXPECT_GT(unfinished_in_brackets, 5000U);
}

TEST(UnfinishedInput, TellsLaterWhatIsWrongBesideAnEarlierPart) {
  UnfinishedInput input;
  EXPECT_TRUE(input.add("f(1,\n"));
  EXPECT_TRUE(input.add("x=2,\n"));
  EXPECT_TRUE(input.add("3,\n"));  // not allowed after x=2
  EXPECT_FALSE(input.add("4)\n"));
}

}  // namespace
}  // namespace boxcar
