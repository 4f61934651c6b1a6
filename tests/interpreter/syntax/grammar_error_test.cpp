#include <gtest/gtest.h>

#include "syntax_helpers.h"

namespace boxcar::syntax {
namespace {

TEST(GrammarErrors, SayWhatWasExpectedAndWhatWasFound) {
  EXPECT_EQ(parsed("y = 1\nprint(a b)\n"),
            "t.ops:2:9: error: expected `,` or `)`, found name `b`\n"
            "print(a b)\n"
            "        ^\n");
  EXPECT_EQ(errorsOf("x ="), "1:4: expected an expression, found end of file");
  EXPECT_EQ(errorsOf("x =\n"), "1:4: expected an expression, found end of line");
  EXPECT_EQ(errorsOf("x = 1 +"), "1:8: expected an expression, found end of file");
  EXPECT_EQ(errorsOf("x = -"), "1:6: expected an expression, found end of file");
  EXPECT_EQ(errorsOf("a b"), "1:3: expected end of line, found name `b`");
  EXPECT_EQ(errorsOf("a 'b'"), "1:3: expected end of line, found a string");
  EXPECT_EQ(errorsOf("a f'b'"), "1:3: expected end of line, found an f-string");
  EXPECT_EQ(errorsOf("if a { } b"), "1:10: expected end of line, found name `b`");
  EXPECT_EQ(errorsOf("= 1"), "1:1: expected a statement, found `=`");
  EXPECT_EQ(errorsOf("else { }"),
            "1:1: expected a statement, found keyword `else` | it must follow the `}` of its `if`, at a prompt on the "
            "same line");
  EXPECT_EQ(errorsOf("{\"a\": 1}"),
            "1:1: expected a statement, found `{` | put a dict that begins a statement in parentheses");
  EXPECT_EQ(errorsOf("x ? y"), "1:3: expected end of line, found `?`");
}

TEST(GrammarErrors, InContainersAndCalls) {
  EXPECT_EQ(errorsOf("[1, , 2]"), "1:5: expected an expression, found `,`");
  EXPECT_EQ(errorsOf("[1 2]"), "1:4: expected `,` or `]`, found number `2`");
  EXPECT_EQ(errorsOf("(1 2)"), "1:4: expected `,` or `)`, found number `2`");
  EXPECT_EQ(errorsOf("(*a)"), "1:2: expected an expression, found `*`");
  EXPECT_EQ(errorsOf("x = {1}"), "1:7: expected `:`, found `}`");
  EXPECT_EQ(errorsOf("x = {1: }"), "1:9: expected an expression, found `}`");
  EXPECT_EQ(errorsOf("x = {1: 2 3: 4}"), "1:11: expected `,` or `}`, found number `3`");
  EXPECT_EQ(errorsOf("f(a=)"), "1:5: expected an expression, found `)`");
  EXPECT_EQ(errorsOf("f(,)"), "1:3: expected an argument, found `,`");
  EXPECT_EQ(errorsOf("f(1,,)"), "1:5: expected an argument, found `,`");
  EXPECT_EQ(errorsOf("x[]"), "1:3: expected an index, found `]`");
  EXPECT_EQ(errorsOf("x[1 2]"), "1:5: expected `,` or `]`, found number `2`");
  EXPECT_EQ(errorsOf("x.1"), "1:2: expected end of line, found number `.1`");
  EXPECT_EQ(errorsOf("x."), "1:3: expected a name, found end of file");
  EXPECT_EQ(errorsOf("x = ..."), "1:5: expected an expression, found `...`");
  EXPECT_EQ(errorsOf("x = a::1"), "1:6: expected end of line, found `:`");
  EXPECT_EQ(errorsOf("[a for 1 in b]"),
            "1:8: cannot assign to a literal; a target is a name, an index or an attribute: `a`, `a[i]`, `a.b`");
  EXPECT_EQ(errorsOf("[a for b]"), "1:9: expected `in`, found `]`");
  EXPECT_EQ(errorsOf("a if b"), "1:7: expected `else`, found end of file");
  EXPECT_EQ(errorsOf("isinstance(x)"), "1:13: expected `,`, found `)`");
  EXPECT_EQ(errorsOf("isinstance(x, )"), "1:15: expected a type, found `)`");
}

TEST(GrammarErrors, InFStrings) {
  EXPECT_EQ(errorsOf("f'{}'"), "1:4: expected an expression, found `}`");
  EXPECT_EQ(errorsOf("f'{a b}'"), "1:6: expected `:` or `}`, found name `b`");
  EXPECT_EQ(errorsOf("f'{a=}'"), "1:5: expected `:` or `}`, found `=`");
  EXPECT_EQ(errorsOf("f'{a!r}'"), "1:5: expected `:` or `}`, found `!` | f-strings have no conversions such as `!r`");
}

TEST(GrammarErrors, OfArguments) {
  EXPECT_EQ(errorsOf("f(a=1, 2)"), "1:8: a positional argument follows a keyword argument | `a` is given here");
  EXPECT_EQ(errorsOf("f(a=1, b=2, a=3)"), "1:13: the argument `a` is given twice | it is given here");
  const std::string by_name =
      "only functions, operators and methods can be called, each by its name; give what stands before the parenthesis "
      "a "
      "name, as in `f = …`, and call `f(…)`";
  EXPECT_EQ(errorsOf("f(1)(2)"), "1:5: " + by_name);
  EXPECT_EQ(errorsOf("x[0](2)"), "1:5: " + by_name);
  EXPECT_EQ(errorsOf("(f)(2)"), "1:4: " + by_name);
  EXPECT_EQ(errorsOf("'a'(2)"), "1:4: " + by_name);
}

TEST(GrammarErrors, OfTargets) {
  const std::string tail = "; a target is a name, an index or an attribute: `a`, `a[i]`, `a.b`";
  EXPECT_EQ(errorsOf("1 = a"), "1:1: cannot assign to a literal" + tail);
  EXPECT_EQ(errorsOf("nan = a"), "1:1: cannot assign to a literal" + tail);
  EXPECT_EQ(errorsOf("f() = a"), "1:1: cannot assign to a call" + tail);
  EXPECT_EQ(errorsOf("x.f() = a"), "1:1: cannot assign to a call" + tail);
  EXPECT_EQ(errorsOf("x.y = a"), "");
  EXPECT_EQ(errorsOf("a + b = c"), "1:1: cannot assign to an operation" + tail);
  EXPECT_EQ(errorsOf("a < b = c"), "1:1: cannot assign to a comparison" + tail);
  EXPECT_EQ(errorsOf("a if b else c = d"), "1:1: cannot assign to a conditional" + tail);
  EXPECT_EQ(errorsOf("[a] = b"), "1:1: cannot assign to a list" + tail);
  EXPECT_EQ(errorsOf("[a for a in b] = b"), "1:1: cannot assign to a comprehension" + tail);
  EXPECT_EQ(errorsOf("({}) = b"), "1:1: cannot assign to a dict" + tail);
  EXPECT_EQ(errorsOf("math::pi = b"), "1:1: cannot assign to a name with a namespace" + tail);
  EXPECT_EQ(errorsOf("a, (b, c) = d"), "1:4: cannot assign to a tuple inside of targets" + tail);
  EXPECT_EQ(errorsOf("a, 1, f() = d"),
            "1:4: cannot assign to a literal" + tail + "\n1:7: cannot assign to a call" + tail);
  EXPECT_EQ(errorsOf("f() += 1"), "1:1: cannot assign to a call" + tail);
  EXPECT_EQ(errorsOf("a, b += 1"), "1:1: `+=` takes one target");
  EXPECT_EQ(errorsOf("for f() in x { }"), "1:5: cannot assign to a call" + tail);
}

TEST(GrammarErrors, OfStatements) {
  EXPECT_EQ(errorsOf("while { }"), "1:7: expected an expression, found `{`");
  EXPECT_EQ(errorsOf("if a\nb"), "1:5: expected `{`, found end of line");
  EXPECT_EQ(errorsOf("for x { }"), "1:7: expected `in`, found `{`");
  EXPECT_EQ(errorsOf("for in x { }"), "1:5: expected a target, found keyword `in`");
  EXPECT_EQ(errorsOf("with a b { }"), "1:8: expected `{`, found name `b`");
  EXPECT_EQ(errorsOf("assert"), "1:7: expected an expression, found end of file");
  EXPECT_EQ(errorsOf("x: = 1"), "1:4: expected a type, found `=`");
  EXPECT_EQ(errorsOf("x: int"), "1:7: expected `=`, found end of file");
  EXPECT_EQ(errorsOf("inf: int = 1"), "1:4: expected end of line, found `:`");
}

TEST(GrammarErrors, OfDeclarations) {
  EXPECT_EQ(errorsOf("use 3"), "1:5: expected a name, found number `3`");
  EXPECT_EQ(errorsOf("import a"),
            "1:8: expected a path in quotes, found name `a` | operators need no import: `relu(x)`, "
            "`aten::relu(x)`; `import \"file.ops\"` imports a script");
  EXPECT_EQ(errorsOf("import f'a'"), "1:8: expected a path in quotes, found an f-string");
  EXPECT_EQ(errorsOf("const = 3"), "1:7: expected a name, found `=`");
  EXPECT_EQ(errorsOf("const a"), "1:8: expected `=`, found end of file");
  EXPECT_EQ(errorsOf("fn (int x) -> int { }"), "1:4: expected a name, found `(`");
  EXPECT_EQ(errorsOf("fn f { }"), "1:6: expected `(`, found `{`");
  EXPECT_EQ(errorsOf("fn f(int x) -> int"), "1:19: expected `{`, found end of file");
  EXPECT_EQ(errorsOf("fn in() -> int { }"), "1:4: expected a name, found keyword `in`");
  EXPECT_EQ(errorsOf("op foo"), "1:7: expected `(`, found end of file");
  EXPECT_EQ(errorsOf("op a::() -> ()"), "1:5: expected `(`, found `:`");
  EXPECT_EQ(errorsOf("impl aten::add { }"), "1:16: expected `@`, found `{`");
  EXPECT_EQ(errorsOf("impl aten::add @ { }"), "1:18: expected a name, found `{`");
  EXPECT_EQ(errorsOf("fallback CPU { }"), "1:10: expected `@`, found name `CPU`");
  EXPECT_EQ(errorsOf("mode { }"), "1:6: expected a name, found `{`");
  EXPECT_EQ(errorsOf("mode m @ { }"), "1:10: expected a name, found `{`");
}

TEST(GrammarErrors, HabitsOfOtherLanguagesGetAHint) {
  EXPECT_EQ(errorsOf("if x: y"), "1:5: expected `{`, found `:` | write a block in braces: `{ ... }`");
  EXPECT_EQ(errorsOf("if x = 1 { }"), "1:6: expected `{`, found `=` | equality is written `==`");
  EXPECT_EQ(errorsOf("a = b = c"),
            "1:7: expected end of line, found `=` | a statement makes one assignment: write `b = e` and `a = b`");
  EXPECT_EQ(errorsOf("if a { } else if b { }"), "1:15: expected `{`, found keyword `if` | write `else if` as `elif`");
  EXPECT_EQ(errorsOf("x = a or {}"),
            "1:10: expected an expression, found `{` | `{` opens a dict only after `=`, `(`, `,`, `[`, `:` and "
            "`return`; put the dict in parentheses");
  const std::string logical = " | the logical operators are `and`, `or` and `not`";
  EXPECT_EQ(errorsOf("a && b"), "1:4: expected an expression, found `&`" + logical);
  EXPECT_EQ(errorsOf("a || b"), "1:4: expected an expression, found `|`" + logical);
  EXPECT_EQ(errorsOf("x = !a"), "1:5: expected an expression, found `!`" + logical);
  EXPECT_EQ(errorsOf("sum(x for x in y)"),
            "1:7: expected `,` or `)`, found keyword `for` | write a comprehension in brackets: `[e for x in xs]`");
  const std::string mode = " | `mode` is a keyword; the operator is called with its namespace: `aten::mode(...)`";
  EXPECT_EQ(errorsOf("y = mode(x)"), "1:5: expected an expression, found keyword `mode`" + mode);
  EXPECT_EQ(errorsOf("mode(x)"), "1:5: expected a name, found `(`" + mode);
  EXPECT_EQ(errorsOf("def f(x) { }"),
            "1:5: expected end of line, found name `f` | a function is declared with `fn name(int x) -> int { ... }`");
  EXPECT_EQ(errorsOf("f = lambda x: x"),
            "1:12: expected end of line, found name `x` | a function is declared with `fn name(int x) -> int { ... }`");
  EXPECT_EQ(errorsOf("let a = 1"),
            "1:5: expected end of line, found name `a` | set a variable without a keyword: `a = e`");
}

TEST(GrammarErrors, OneStatementsErrorLeavesTheOthers) {
  EXPECT_EQ(recovered("a = 1\nb = \nc = 3; d = (; e = 5\nf = 6"),
            "3 errors: (= a 1) (= c 3)");  // `(` consumes the rest of its line
  EXPECT_EQ(recovered("a b\nc d; e\nf"), "2 errors: e f");
  EXPECT_EQ(recovered("x = [1 2]; y = {1: 2 3: 4}\nz"), "2 errors: z");
}

TEST(GrammarErrors, InBlocksTheBlockGoesOn) {
  EXPECT_EQ(recovered("fn f() -> () {\n  a b\n  c\n  if d { e f; g }\n  return\n}\nh"),
            "2 errors: (fn f `f() -> ()` {c (if d {g}) (return _)}) h");
}

TEST(GrammarErrors, AWrongHeaderLeavesItsBlockToBeRead) {
  EXPECT_EQ(errorsOf("if a b {\n  c d\n}\nwhile {\n  e f\n}\nfn g {\n h i\n}\nfor 1 in x {\n j k\n}"),
            "1:6: expected `{`, found name `b`\n"
            "2:5: expected end of line, found name `d`\n"
            "4:7: expected an expression, found `{`\n"
            "5:5: expected end of line, found name `f`\n"
            "7:6: expected `(`, found `{`\n"
            "8:4: expected end of line, found name `i`\n"
            "10:5: cannot assign to a literal; a target is a name, an index or an attribute: `a`, `a[i]`, `a.b`\n"
            "11:4: expected end of line, found name `k`");
}

TEST(GrammarErrors, WhatTheLexerReportedIsNotReportedAgain) {
  EXPECT_EQ(errorsOf("x = 1 $ 2"), "1:7: `$` means nothing here");
  EXPECT_EQ(errorsOf("x = (1 +\nreturn y"), "2:1: a statement begins before `(` is closed | `(` opens here");
  EXPECT_EQ(errorsOf("print('abc)\ny = 1"), "1:7: the string is not closed with `'` on its line");
  EXPECT_EQ(errorsOf("fn f() -> () {\n  x = (1 + \n}\ny"), "3:1: `}` does not close `(` | `(` opens here");
  EXPECT_EQ(errorsOf("f'{a'"), "1:1: the f-string is not closed with `'` on its line");
}

TEST(GrammarErrors, ComeInTheOrderOfTheText) {
  EXPECT_EQ(errorsOf("a b\nc $\nd e\n'f"),
            "1:3: expected end of line, found name `b`\n"
            "2:3: `$` means nothing here\n"
            "3:3: expected end of line, found name `e`\n"
            "4:1: the string is not closed with `'` on its line");
}

// ---- Limits ----

std::string repeated(const char* text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

constexpr size_t kMany = 100'000;

TEST(GrammarLimits, NestingIsAnErrorAndNoOverflow) {
  struct Nest {
    const char* before;
    const char* middle;
    const char* after;
  };
  for (const Nest& nest :
       {Nest{"(", "1", ")"}, Nest{"[", "1", "]"}, Nest{"({1:", "1", "})"}, Nest{"a[", "1", "]"}, Nest{"f(", "1", ")"},
        Nest{"x.f(", "1", ")"}, Nest{"f(a=", "1", ")"}, Nest{"f\"{", "1", "}\""}, Nest{"(", "1", " if b else c)"},
        Nest{"-(", "1", ")"}, Nest{"[a for b in ", "c", "]"}}) {
    const std::string deep = repeated(nest.before, kMany) + nest.middle + repeated(nest.after, kMany);
    const std::string errors = errorsOf(deep);
    EXPECT_NE(errors.find("this is nested more than 200 levels deep"), std::string::npos) << nest.before << errors;
    const std::string fine = repeated(nest.before, 90) + nest.middle + repeated(nest.after, 90);
    EXPECT_EQ(errorsOf(fine), "") << nest.before;
  }
}

TEST(GrammarLimits, TypesNestTo200Brackets) {
  struct Nest {
    const char* before;
    const char* open;
    const char* close;
    const char* after;
  };
  for (const Nest& nest : {Nest{"fn f(", "(", ")", " x) -> () { }"}, Nest{"op a::f(", "(", ")", " x) -> ()"},
                           Nest{"fn f() -> ", "(", ")", " { }"}, Nest{"fn f(", "Dict(str, ", ")", " x) -> () { }"},
                           Nest{"fn f(", "int[", "]", " x) -> () { }"}, Nest{"fn f(int x=", "[", "]", ") -> () { }"},
                           Nest{"x: ", "(", ")", " = 1"}, Nest{"isinstance(x, ", "(", ")", ")"}}) {
    for (const size_t levels : {size_t{40'000}, kMany}) {
      const std::string deep =
          nest.before + repeated(nest.open, levels) + "int" + repeated(nest.close, levels) + nest.after;
      EXPECT_NE(errorsOf(deep).find("this is nested more than 200 levels deep"), std::string::npos) << nest.before;
    }
    EXPECT_EQ(errorsOf(nest.before + repeated(nest.open, 190) + "int" + repeated(nest.close, 190) + nest.after), "")
        << nest.before << nest.open;
  }
}

TEST(GrammarLimits, UnclosedNestingIsAnErrorAndNoOverflow) {
  for (const char* open : {"(", "[", "f(", "({", "if a {", "fn f() -> () {", "f\"{", "x[(", "with a {"}) {
    EXPECT_NE(errorsOf(repeated(open, kMany)), "") << open;
  }
  for (const char* close : {")", "]", "}", ")]}"}) EXPECT_NE(errorsOf(repeated(close, kMany)), "") << close;
  EXPECT_NE(errorsOf(repeated("(", kMany) + repeated("]", kMany)), "");
}

TEST(GrammarLimits, BlocksNestTo200Levels) {
  const auto blocks = [](const char* open, size_t depth) { return repeated(open, depth) + repeated("}", depth); };
  for (const char* open : {"if a {", "while a {", "for a in b {", "with a {", "if a { } else {", "if a { } elif b {"}) {
    EXPECT_EQ(errorsOf(blocks(open, 199)), "") << open;
    EXPECT_EQ(errorsOf(blocks(open, 201)).find("1:"), 0u) << open;
    EXPECT_NE(errorsOf(blocks(open, kMany)).find("this is nested more than 200 levels deep"), std::string::npos)
        << open;
  }
}

TEST(GrammarLimits, LongChainsEndInAnError) {
  const std::string expected =
      "1:5: this expression is more than 1000 operations deep; assign a part of it to a variable";
  EXPECT_EQ(errorsOf("x = " + repeated("a + ", kMany) + "a"), expected);
  EXPECT_EQ(errorsOf("x = a" + repeated(".b", kMany)), expected);
  EXPECT_EQ(errorsOf("x = a" + repeated(".b()", kMany)), expected);
  EXPECT_EQ(errorsOf("x = a" + repeated("[0]", kMany)), expected);
  EXPECT_EQ(errorsOf("x = [a" + repeated(" for a in b", kMany) + "]"), expected);
  for (const char* part : {"a ** ", "-", "not ", "a if b else "}) {
    EXPECT_NE(errorsOf("x = " + repeated(part, kMany) + "a").find("more than 1000 operations deep"), std::string::npos);
  }
  EXPECT_EQ(errorsOf("x = " + repeated("a + ", 999) + "a"), "");
}

TEST(GrammarLimits, LongListsOfOperandsAreFine) {
  EXPECT_EQ(errorsOf("x = " + repeated("a and ", kMany) + "a"), "");
  EXPECT_EQ(errorsOf("x = " + repeated("a < ", kMany) + "a"), "");
  EXPECT_EQ(errorsOf("x = [" + repeated("1,", kMany) + "]"), "");
  EXPECT_EQ(errorsOf("f(" + repeated("1,", kMany) + ")"), "");
  EXPECT_EQ(errorsOf("if a { } " + repeated("elif b { } ", kMany)), "");
  EXPECT_EQ(errorsOf(repeated("a\n", kMany)), "");
  EXPECT_EQ(errorsOf(repeated("a, ", kMany) + "= b"), "");
}

TEST(GrammarLimits, AnErrorInALongScriptIsFoundSoon) {
  EXPECT_EQ(errorsOf(repeated("(", 100) + "a b" + repeated(")", 100) + "\nc d"),
            "1:103: expected `,` or `)`, found name `b`\n2:3: expected end of line, found name `d`");
}

TEST(GrammarErrors, InStructs) {
  EXPECT_EQ(errorsOf("struct { }"), "1:8: expected a name, found `{`");
  EXPECT_EQ(errorsOf("struct A { x }"), "1:12: a field has a type and a name: `Tensor weight`, `int[] sizes = []`");
  EXPECT_EQ(errorsOf("struct A { int = 3 }"),
            "1:12: a field has a type and a name: `Tensor weight`, `int[] sizes = []`");
  EXPECT_EQ(errorsOf("struct A { int 1 }"), "1:12: a field has a type and a name: `Tensor weight`, `int[] sizes = []`");
  EXPECT_EQ(errorsOf("struct A { int x = }"), "1:20: expected an expression, found `}`");
  EXPECT_EQ(errorsOf("struct A { int x = 1 2 }"), "1:22: expected end of line, found number `2`");
  EXPECT_EQ(errorsOf("if a { struct A { } }"), "1:8: `struct` is only allowed at top level");
  EXPECT_EQ(errorsOf("class A { }"),
            "1:7: expected end of line, found name `A` | a class is written `struct name { ... }`, with fields and "
            "methods");
  EXPECT_EQ(
      errorsOf("struct A(B) { }"),
      "1:9: expected `{`, found `(` | a struct has no base class: write the fields and methods that it shares into "
      "it");
  EXPECT_EQ(errorsOf("raise"), "1:6: expected an expression, found end of file");
}

}  // namespace
}  // namespace boxcar::syntax
