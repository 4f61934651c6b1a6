#include <boxcar/interpreter/syntax/lexer.h>
#include <gtest/gtest.h>

#include "syntax_helpers.h"

namespace boxcar::syntax {
namespace {

// Returns the tokens as in the text, with `\n` for the end of a statement and kinds where a text is ambiguous,
// followed by the errors.
std::string tokens(std::string text) {
  const SourcePtr source = Source::create("t.ops", std::move(text));
  Diagnostics diagnostics;
  const TokenStream stream = lex(source, diagnostics);
  EXPECT_EQ(stream.tokens.back().kind, TokenKind::EndOfFile);
  std::string out;
  for (const Token& token : stream.tokens) {
    std::string shown(source->text(token.span));
    switch (token.kind) {
      case TokenKind::EndOfFile: continue;
      case TokenKind::Newline: shown = "\\n"; break;
      case TokenKind::Bad: shown = "BAD"; break;
      case TokenKind::DictOpen: shown = "D{"; break;
      case TokenKind::DictClose: shown = token.reported ? "+D}" : "D}"; break;
      case TokenKind::BlockClose: shown = token.reported ? "+}" : "}"; break;
      case TokenKind::RightParen: shown = token.reported ? "+)" : ")"; break;
      case TokenKind::RightBracket: shown = token.reported ? "+]" : "]"; break;
      case TokenKind::FieldEnd: shown = token.reported ? "+F}" : "F}"; break;
      case TokenKind::FStringEnd: shown = token.reported ? "+END" : "END"; break;
      case TokenKind::FieldBegin: shown = "F{"; break;
      case TokenKind::FStringText: shown = "[" + stream.strings[token.index] + "]"; break;
      case TokenKind::String: shown = "'" + stream.strings[token.index] + "'"; break;
      default: break;
    }
    out += (out.empty() ? "" : " ") + shown;
  }
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    out += fmt::format("\n{}: {}", diagnostic.span.begin, diagnostic.message);
    for (const Diagnostic::Note& note : diagnostic.notes) {
      out += fmt::format(" | {}", note.text);
      if (note.place.source) out += fmt::format(" at {}", note.place.span.begin);
    }
  }
  return out;
}

TEST(Lexer, NewlinesEndStatementsOnce) {
  EXPECT_EQ(tokens("\n\na\n\n  # comment\n\r\nb # c\n"), "a \\n b \\n");
  EXPECT_EQ(tokens("a; b;\nc"), "a ; b ; c");
  EXPECT_EQ(tokens(";;a;;"), "a ;");
}

TEST(Lexer, AShebangAndAByteOrderMarkAreSkipped) {
  EXPECT_EQ(tokens("\xEF\xBB\xBF#!/usr/bin/env -S boxcar run\na"), "a");
}

TEST(Lexer, NewlinesInsideOfBracketsEndNothing) {
  EXPECT_EQ(tokens("f(a,\n b)\n[1,\n2]"), "f ( a , b ) \\n [ 1 , 2 ]");
  EXPECT_EQ(tokens("x = {\n'a':\n1\n}\ny"), "x = D{ 'a' : 1 D} \\n y");
}

TEST(Lexer, NewlinesInsideOfBlocksEndStatements) {
  EXPECT_EQ(tokens("if a {\nb\nc\n}\nd"), "if a { b \\n c \\n } \\n d");
}

TEST(Lexer, ElifAndElseMayBeginTheNextLine) {
  EXPECT_EQ(tokens("if a { }\n# c\nelif b { }\n\nelse { }\nc"), "if a { } elif b { } else { } \\n c");
}

TEST(Lexer, ABraceOpensADictOnlyAfterCertainTokens) {
  EXPECT_EQ(tokens("= { }"), "= D{ D}");
  EXPECT_EQ(tokens("( { } )"), "( D{ D} )");
  EXPECT_EQ(tokens("f ( a , { } )"), "f ( a , D{ D} )");
  EXPECT_EQ(tokens("[ { } ]"), "[ D{ D} ]");
  EXPECT_EQ(tokens("= {a: { }}"), "= D{ a : D{ D} D}");
  EXPECT_EQ(tokens("return { }"), "return D{ D}");
  EXPECT_EQ(tokens("(\n{ })"), "( D{ D} )");
  for (const char* before : {"", "a", ")", "else", "==", "+=", "in", "or", "\n", "1", "return\n"}) {
    EXPECT_EQ(tokens(std::string(before) + " {}").find("D{"), std::string::npos) << before;
  }
}

TEST(Lexer, KeywordsAndNames) {
  EXPECT_EQ(tokens("a _b c9 True op"), "a _b c9 True op");
  EXPECT_EQ(tokens("ns::name.over"), "ns :: name . over");
}

TEST(Lexer, TakesTheLongestSign) {
  EXPECT_EQ(tokens("a**=b**c*d"), "a **= b ** c * d");
  EXPECT_EQ(tokens("a//=b//c/d"), "a //= b // c / d");
  EXPECT_EQ(tokens("a<<=b<<c<=d<e"), "a <<= b << c <= d < e");
  EXPECT_EQ(tokens("a->b...c.d"), "a -> b ... c . d");
  EXPECT_EQ(tokens("!=?!~"), "!= ? ! ~");
}

TEST(Lexer, TwoColonsJoinNamesOrPartASlice) {
  EXPECT_EQ(tokens("a::b"), "a :: b");
  EXPECT_EQ(tokens("x[::2]"), "x [ : : 2 ]");
  EXPECT_EQ(tokens("x[a::2]"), "x [ a : : 2 ]");
  EXPECT_EQ(tokens("x[a::b]"), "x [ a : : b ]");
  EXPECT_EQ(tokens("x[a::b.c]"), "x [ a : : b . c ]");
  EXPECT_EQ(tokens("x[a::b(1)]"), "x [ a :: b ( 1 ) ]");
  EXPECT_EQ(tokens("x[a::b.c(1)]"), "x [ a :: b . c ( 1 ) ]");
  EXPECT_EQ(tokens("x[f(a::b)]"), "x [ f ( a :: b ) ]");
  EXPECT_EQ(tokens("[a::b]"), "[ a :: b ]");  // a list
  EXPECT_EQ(tokens("x[[a::b]]"), "x [ [ a :: b ] ]");
  EXPECT_EQ(tokens("f\"{a::b}{a::>5}\""), "f\" F{ a :: b F} F{ a :>5 F} END");
}

TEST(Lexer, Strings) {
  EXPECT_EQ(tokens(R"("a'b" 'c"d' "\n" '')"), "'a'b' 'c\"d' '\n' ''");
  EXPECT_EQ(tokens("\"a\\\nb\""), "'ab'");
  EXPECT_EQ(tokens("\"é€\""), "'é€'");
}

TEST(Lexer, FStringsNestExpressions) {
  EXPECT_EQ(tokens("f\"a{b}c\""), "f\" [a] F{ b F} [c] END");
  EXPECT_EQ(tokens("f'{x:>6.2f}{y}'"), "f' F{ x >6.2f F} F{ y F} END");
  EXPECT_EQ(tokens("f'{{}}\\n'"), "f' [{}\n] END");
  EXPECT_EQ(tokens("f''"), "f' END");
  EXPECT_EQ(tokens("f\"{d[\"k\"]}\""), "f\" F{ d [ 'k' ] F} END");
  EXPECT_EQ(tokens("f\"{f\"{a}\"}\""), "f\" F{ f\" F{ a F} END F} END");
  EXPECT_EQ(tokens("f\"{ {1: 2}[1] }\""), "f\" F{ D{ 1 : 2 D} [ 1 ] F} END");
  EXPECT_EQ(tokens("f\"{x[1:2]}\""), "f\" F{ x [ 1 : 2 ] F} END");
  EXPECT_EQ(tokens("f\"{x:}\""), "f\" F{ x  F} END");
}

TEST(Lexer, BracketsKnowWhatClosesThem) {
  const SourcePtr source = Source::create("t.ops", "f([a], {}) { f'{x}' }");
  Diagnostics diagnostics;
  const TokenStream stream = lex(source, diagnostics);
  std::string pairs;
  for (const Token& token : stream.tokens) {
    const bool opens = token.kind == TokenKind::LeftParen || token.kind == TokenKind::LeftBracket ||
                       token.kind == TokenKind::DictOpen || token.kind == TokenKind::BlockOpen ||
                       token.kind == TokenKind::FStringBegin || token.kind == TokenKind::FieldBegin;
    if (opens) pairs += fmt::format("{}-{} ", token.span.begin, stream.tokens[token.index].span.begin);
  }
  // `(` begins at byte 1; the dict's brace follows a comma.
  EXPECT_EQ(pairs, "1-9 2-4 7-8 11-20 13-18 15-17 ");
}

TEST(Lexer, TheLeastIntegerNeedsItsMinus) {
  EXPECT_EQ(tokens("-9223372036854775808"), "- 9223372036854775808");
  EXPECT_EQ(tokens("(-9223372036854775808)"), "( - 9223372036854775808 )");
  const std::string large =
      "this integer does not fit in 64 bits (the largest is 9223372036854775807); write a float, as in 1e20";
  EXPECT_EQ(tokens("9223372036854775808"), "9223372036854775808\n0: " + large);
  EXPECT_EQ(tokens("x-9223372036854775808"), "x - 9223372036854775808\n2: " + large);
}

// ---- What is wrong ----

TEST(Lexer, BadCharactersAreNamedOnceARun) {
  EXPECT_EQ(tokens("a $$$ b"), "a BAD b\n2: `$` means nothing here");
  EXPECT_EQ(tokens("é"), "BAD\n0: the character `é` (U+00E9) means nothing here");
  EXPECT_EQ(tokens("a\xC2\xA0 b"), "a BAD b\n1: the character `\xC2\xA0` (U+00A0) means nothing here");
  EXPECT_EQ(tokens("\x01"), "BAD\n0: the character U+0001 means nothing here");
  EXPECT_EQ(tokens(std::string("a\0\0b", 4)), "a BAD b\n1: the character U+0000 means nothing here");
  EXPECT_EQ(tokens("a \\\nb"),
            "a BAD \\n b\n2: `\\` means nothing here | a line continues in the next one inside `()`, `[]` or the `{}` "
            "of a dict");
}

TEST(Lexer, BytesThatAreNotUtf8AreNamedOnceARun) {
  EXPECT_EQ(tokens("a \xFF\xFE b"), "a BAD b\n2: the byte 0xff is not UTF-8; a script is UTF-8 text");
  EXPECT_EQ(tokens("'\xC3'"), "''\n1: the byte 0xc3 is not UTF-8; a script is UTF-8 text");
  EXPECT_EQ(tokens("a # \x80\nb"), "a \\n b\n4: the byte 0x80 is not UTF-8; a script is UTF-8 text");
}

TEST(Lexer, AStringEndsOnItsLine) {
  EXPECT_EQ(tokens("\"abc\nb"), "'abc' \\n b\n0: the string is not closed with `\"` on its line");
  EXPECT_EQ(tokens("'"), "''\n0: the string is not closed with `'` on its line");
  // The closing bracket is probably part of the string.
  EXPECT_EQ(tokens("print(\"abc)\nb"), "print ( 'abc)' +) \\n b\n6: the string is not closed with `\"` on its line");
}

TEST(Lexer, AnFStringEndsOnItsLine) {
  EXPECT_EQ(tokens("f\"ab\nc"), "f\" [ab] +END \\n c\n0: the f-string is not closed with `\"` on its line");
  EXPECT_EQ(tokens("f'{a\nc"), "f' F{ a +F} +END \\n c\n0: the f-string is not closed with `'` on its line");
  EXPECT_EQ(tokens("f'{a:>3\nc"), "f' F{ a >3 +F} +END \\n c\n0: the f-string is not closed with `'` on its line");
  EXPECT_EQ(tokens("g(f'{h(f\"{a\nc"),
            "g ( f' F{ h ( f\" F{ a +F} +END +) +F} +END +) \\n c\n2: the f-string is not closed with `'` on its line");
  EXPECT_EQ(tokens("{ f'{"), "{ f' F{ +F} +END +}\n2: the f-string is not closed with `'` on its line");
}

TEST(Lexer, FieldsAndFormatsAreChecked) {
  EXPECT_EQ(tokens("f'a}b'"), "f' [a] [b] END\n3: `}` closes no field of the f-string; write a literal one as `}}`");
  EXPECT_EQ(tokens("f'{a:{w}}'"),
            "f' F{ a {w F} END\n5: `{w` is not a format; a format is [[fill]<>^][+][0][width][,][.n][dfegxs%]\n8: `}` "
            "closes no field of the f-string; write a literal one as `}}`");
}

TEST(Lexer, StringsHaveNoPrefixButF) {
  EXPECT_EQ(tokens("r'a'"), "'a'\n0: strings have no prefix `r`; there are \"text\" and f\"text {value}\"");
  EXPECT_EQ(tokens("Rb'a'"), "'a'\n0: strings have no prefix `Rb`; there are \"text\" and f\"text {value}\"");
  EXPECT_EQ(tokens("x'a'"), "x 'a'");
}

TEST(Lexer, StringsHaveOneQuote) {
  EXPECT_EQ(tokens("'''a\nb''' c"), "'' c\n0: a string is written between single `'`; a line break in it is `\\n`");
  EXPECT_EQ(tokens("f\"\"\"a"), "''\n1: a string is written between single `\"`; a line break in it is `\\n`");
}

TEST(Lexer, BadEscapesAreReportedWhereTheyStand) {
  EXPECT_EQ(tokens("'a\\qb'"), "'ab'\n2: `\\q` is not an escape; write a backslash as `\\\\`");
}

TEST(Lexer, AClosingBracketMustFit) {
  EXPECT_EQ(tokens("(a]\nb"), "( a +) \\n b\n2: `]` does not close `(` | `(` opens here at 0");
  EXPECT_EQ(tokens("([a)\nb"), "( [ a +] ) \\n b\n3: `)` does not close `[` | `[` opens here at 1");
  EXPECT_EQ(tokens("{ (a }\nb"), "{ ( a +) } \\n b\n5: `}` does not close `(` | `(` opens here at 2");
  EXPECT_EQ(tokens("a)\nb"), "a BAD \\n b\n1: `)` closes nothing");
  EXPECT_EQ(tokens("}"), "BAD\n0: `}` closes nothing");
  EXPECT_EQ(tokens("{ a) }"), "{ a BAD }\n3: `)` closes nothing");
  EXPECT_EQ(tokens("(f'{a)}')"), "( f' F{ a BAD F} END )\n5: `)` closes nothing");
  EXPECT_EQ(tokens("f'{(a}'"), "f' F{ ( a +) F} END\n5: `}` does not close `(` | `(` opens here at 3");
}

TEST(Lexer, WhatIsOpenAtTheEndIsClosed) {
  EXPECT_EQ(tokens("fn f { g(["),
            "fn f { g ( [ +] +) +}\n10: the file ends before `[` is closed | `[` opens here at 9");
  EXPECT_EQ(tokens("if a {\n"), "if a { +}\n7: the file ends before `{` is closed | `{` opens here at 5");
}

TEST(Lexer, AStatementShowsThatABracketWasLeftOpen) {
  EXPECT_EQ(tokens("a = f(1,\nreturn b"),
            "a = f ( 1 , +) \\n return b\n9: a statement begins before `(` is closed | `(` opens here at 5");
  // Keywords that can be argument names, and those of comprehensions, do not indicate a new statement.
  EXPECT_EQ(tokens("f(1,\nwith=b)"), "f ( 1 , with = b )");
  EXPECT_EQ(tokens("[a\nfor a in b\nif c]"), "[ a for a in b if c ]");
}

}  // namespace
}  // namespace boxcar::syntax
