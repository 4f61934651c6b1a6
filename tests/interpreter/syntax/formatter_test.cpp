#include <boxcar/interpreter/syntax/formatter.h>
#include <gtest/gtest.h>

#include <string>

#include "syntax_helpers.h"

namespace boxcar {
namespace {

// Returns the layout of a script that must be right; formatting it again must change nothing.
std::string formatted(const std::string& text) {
  Diagnostics diagnostics;
  const std::string once = formatSource(Source::create("t.ops", text), diagnostics);
  EXPECT_EQ(toString(diagnostics.all()), "") << text;
  EXPECT_EQ(formatSource(Source::create("t.ops", once), diagnostics), once);
  EXPECT_EQ(syntax::parsedWithoutBlanks(once), syntax::parsedWithoutBlanks(text));
  return once;
}

// Text that is already formatted stays the same.
void expectStays(const std::string& text) { EXPECT_EQ(formatted(text), text); }

// ---- Blanks ----

TEST(Formatter, PutsBlanksAroundOperatorsAndAfterCommas) {
  EXPECT_EQ(formatted("x=1+2*3**4-  5//6"), "x = 1 + 2 * 3 ** 4 - 5 // 6\n");
  EXPECT_EQ(formatted("x  +=a<b<=c!=d"), "x += a < b <= c != d\n");
  EXPECT_EQ(formatted("a,b=b ,a"), "a, b = b, a\n");
  EXPECT_EQ(formatted("x=a if b else(c)"), "x = a if b else (c)\n");
  EXPECT_EQ(formatted("x=not(a)and b  not  in c or d is  not None"), "x = not (a) and b not in c or d is not None\n");
}

TEST(Formatter, PutsNoBlanksAroundSignsCallsAndIndices) {
  EXPECT_EQ(formatted("x = - a * + b - ( - ~ c ) ** - 2"), "x = -a * +b - (-~c) ** -2\n");
  EXPECT_EQ(formatted("f (a , b = c )"), "f(a, b=c)\n");
  EXPECT_EQ(formatted("x . f ( a ) . T . mode ( ) [ 0 ] = aten :: g ( )"), "x.f(a).T.mode()[0] = aten::g()\n");
  EXPECT_EQ(formatted("y = { 'a' :1 , \"b\": [ 2,( 3 , ) ] }"), "y = {'a': 1, \"b\": [2, (3,)]}\n");
}

TEST(Formatter, SlicesHaveNone) {
  EXPECT_EQ(formatted("y = x[ 1 : n+1 , : : 2 , ... , None, a:: b , -1 :]"),
            "y = x[1:n + 1, ::2, ..., None, a::b, -1:]\n");
  // If `a::f(` would name an operator, the colons stay apart.
  EXPECT_EQ(formatted("y = x[a : : f(i), b: :c.d(1)]"), "y = x[a: :f(i), b: :c.d(1)]\n");
}

TEST(Formatter, NumbersBeforeAPointStayNumbers) {
  EXPECT_EQ(formatted("x = 1 . f() + 1 .e5() + 2. .g() + 0x1 .h()"), "x = 1.f() + 1 .e5() + 2. .g() + 0x1.h()\n");
}

TEST(Formatter, LiteralsKeepTheirSpelling) {
  expectStays("x = [1_000, 0xFF, 1e-3, 1., .5, 2J, 'a\\x41', \"it's\", f\"{ 1+2 :>5}{{}}\", 'a \\\n b']\n");
}

TEST(Formatter, SpacesTypesAndSignatures) {
  EXPECT_EQ(formatted("a:int[ ]=[]"), "a: int[] = []\n");
  EXPECT_EQ(formatted("b :Dict( str,Tensor ? ) [ ]=c"), "b: Dict(str, Tensor?)[] = c\n");
  EXPECT_EQ(formatted("fn  f( int  x=-1,* ,str s = 'a' )->( Tensor a,int )  {}"),
            "fn f(int x=-1, *, str s='a') -> (Tensor a, int) {}\n");
  EXPECT_EQ(formatted("op  my :: f . out(Tensor( a ! ) x , int [ 2 ] k = [ 1,2 ])->Tensor( a! )"),
            "op my::f.out(Tensor(a!) x, int[2] k=[1, 2]) -> Tensor(a!)\n");
  EXPECT_EQ(formatted("x = isinstance( y,Tensor [ ] )"), "x = isinstance(y, Tensor[])\n");
}

TEST(Formatter, DeclarationsHaveOneBlankBetweenWords) {
  EXPECT_EQ(formatted("use   aten\nimport'a.ops'\nconst  k=1"), "use aten\nimport 'a.ops'\nconst k = 1\n");
  EXPECT_EQ(formatted("impl a::b . c@CPU{return x}"), "impl a::b.c @ CPU {\n    return x\n}\n");
  EXPECT_EQ(formatted("fallback@CPU{}"), "fallback @ CPU {}\n");
  EXPECT_EQ(formatted("mode m@Python{}exit{}"), "mode m @ Python {} exit {}\n");
}

// ---- Lines ----

TEST(Formatter, StatementsHaveLinesOfTheirOwn) {
  EXPECT_EQ(formatted(";a=1;;b=2 ; \n\t c=3;"), "a = 1\nb = 2\nc = 3\n");
  EXPECT_EQ(formatted("if a{b=1}elif c{\nd=1;e=2}\nelse{}"),
            "if a {\n    b = 1\n} elif c {\n    d = 1\n    e = 2\n} else {}\n");
}

TEST(Formatter, KeepsOneBlankLineButNotAtTheEndsOfBlocks) {
  EXPECT_EQ(formatted("\n\na = 1\n\n \t\n\nb = 2\nwhile c {\n\n  d = 1\n\n\n  e = 2\n\n}\n\n\n"),
            "a = 1\n\nb = 2\nwhile c {\n    d = 1\n\n    e = 2\n}\n");
  EXPECT_EQ(formatted("if a {\nb = 1\n}\n\n\nelse {\nc = 1\n}\n"), "if a {\n    b = 1\n} else {\n    c = 1\n}\n");
}

TEST(Formatter, ModesGoOnBehindTheirBlock) {
  EXPECT_EQ(formatted("mode m {\nreturn x\n}\nexit {\ny = 1\n}\nexit = 2"),
            "mode m {\n    return x\n} exit {\n    y = 1\n}\nexit = 2\n");
}

TEST(Formatter, TextsWithoutStatements) {
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted(" \r\n\t\n;"), "");
  EXPECT_EQ(formatted("\xEF\xBB\xBF"), "");
  EXPECT_EQ(formatted("# only\n\n\n#this"), "# only\n\n#this\n");
}

TEST(Formatter, ReadsOtherSystemsTexts) {
  EXPECT_EQ(formatted("\xEF\xBB\xBF# first\r\nif a {\r\n\tb = 1  # c\r\n}\r\n"),
            "# first\nif a {\n    b = 1  # c\n}\n");
  EXPECT_EQ(formatted("a = 1\r\n\r\n\r\nb = 2"), "a = 1\n\nb = 2\n");
}

TEST(Formatter, CommasThatSayNothingGo) {
  EXPECT_EQ(formatted("f(a, b,)"), "f(a, b)\n");
  EXPECT_EQ(formatted("a, b, = [1, 2,], (3, 4,), (5,), {6: 7,}, x[8, 9,], x[10,],"),
            "a, b = [1, 2], (3, 4), (5,), {6: 7}, x[8, 9], x[10,]\n");
  EXPECT_EQ(formatted("for a, in b {}\nfor a, b, in c {}\nreturn_ = d,"),
            "for a, in b {}\nfor a, b in c {}\nreturn_ = d,\n");
}

// ---- Lines that are too long ----

const std::string kLong(30, 'a');

TEST(Formatter, BreaksABracketThatDoesNotFitAtAllItsCommas) {
  const std::string& a = kLong;
  EXPECT_EQ(formatted("x = f(" + a + ", b=" + a + ", c=[" + a + "])"),
            "x = f(\n    " + a + ",\n    b=" + a + ",\n    c=[" + a + "],\n)\n");
  EXPECT_EQ(formatted("x = {1: " + a + ", 2: " + a + ", 3: " + a + "}"),
            "x = {\n    1: " + a + ",\n    2: " + a + ",\n    3: " + a + ",\n}\n");
  expectStays("x = f(" + a + ", " + a + ", " + std::string(29, 'b') + ")\n");  // 100 columns
  EXPECT_EQ(formatted("x = f(" + a + ", " + a + ", " + std::string(30, 'b') + ")"),
            "x = f(\n    " + a + ",\n    " + a + ",\n    " + std::string(30, 'b') + ",\n)\n");
}

TEST(Formatter, ColumnsAreCharacters) {
  std::string text;
  for (int i = 0; i < 45; ++i) text += "é";
  expectStays("f(\"" + text + "\", \"" + text + "\")\n");
}

TEST(Formatter, SignaturesAndTypeTestsTakeNoLastComma) {
  const std::string& a = kLong;
  EXPECT_EQ(formatted("fn f(Tensor " + a + ", Tensor " + a + "b, Tensor " + a + "c) -> Tensor {}"),
            "fn f(\n    Tensor " + a + ",\n    Tensor " + a + "b,\n    Tensor " + a + "c\n) -> Tensor {}\n");
  EXPECT_EQ(formatted("x = isinstance(" + a + a + a + a + ", Dict(str, int))"),
            "x = isinstance(\n    " + a + a + a + a + ",\n    Dict(str, int)\n)\n");
}

TEST(Formatter, BracketsInOneElementBreakInside) {
  const std::string& a = kLong;
  EXPECT_EQ(formatted("print(t::tensor([[" + a + ", " + a + "], [" + a + ", 1]]))"),
            "print(t::tensor([\n    [" + a + ", " + a + "],\n    [" + a + ", 1],\n]))\n");
}

TEST(Formatter, ATextAloneIsNotMoved) {
  expectStays("print(\"" + kLong + kLong + kLong + kLong + "\")\n");
  expectStays("print(f\"" + kLong + kLong + kLong + kLong + "{x}\")\n");
}

TEST(Formatter, BreaksBehindTheLoosestOperators) {
  const std::string& a = kLong;
  EXPECT_EQ(formatted("x = (" + a + " * b + " + a + " + " + a + "[i + 1])"),
            "x = (\n    " + a + " * b +\n    " + a + " +\n    " + a + "[i + 1]\n)\n");
  EXPECT_EQ(formatted("f(" + a + " and " + a + " is not " + a + " or not b, c)"),
            "f(\n    " + a + " and\n        " + a + " is not " + a + " or\n        not b,\n    c,\n)\n");
  // A line cannot break outside of brackets.
  expectStays("x = " + a + " + " + a + " + " + a + " + " + a + "\n");
}

TEST(Formatter, BreaksBeforeTheWordsOfConditionalsAndComprehensions) {
  const std::string& a = kLong;
  EXPECT_EQ(formatted("x = (" + a + " if " + a + " else b if c else " + a + ")"),
            "x = (\n    " + a + "\n    if " + a + "\n    else b\n    if c\n    else " + a + "\n)\n");
  EXPECT_EQ(formatted("x = [" + a + " if b else c for d, e in " + a + " if " + a + " for f in g]"),
            "x = [\n    " + a + " if b else c\n    for d, e in " + a + "\n    if " + a + "\n    for f in g\n]\n");
}

TEST(Formatter, TheLastOfSeveralBracketsBreaksFirst) {
  const std::string& a = kLong;
  expectStays("x = f(" + a + ").g(" + a + ", " + std::string(27, 'b') + ")\n");
  EXPECT_EQ(formatted("x = f(" + a + ").g(" + a + ", " + a + ", bbbb)"),
            "x = f(" + a + ").g(\n    " + a + ",\n    " + a + ",\n    bbbb,\n)\n");
}

TEST(Formatter, HeadersCountTheirBrace) {
  const std::string call = "f(" + kLong + ", " + kLong + ", " + std::string(26, 'b') + ")";
  expectStays("if " + call.substr(0, call.size() - 2) + ") {\n    c = 1\n}\n");
  EXPECT_EQ(formatted("while " + call + " {}"),
            "while f(\n    " + kLong + ",\n    " + kLong + ",\n    " + std::string(26, 'b') + ",\n) {}\n");
}

// ---- Comments ----

TEST(Formatter, CommentsKeepTheirPlaces) {
  EXPECT_EQ(formatted("#!x\na=1# b  \n  # c\n\n\n#d\nif e{ # f\n# g\n\nh=1;# i\n     # j\n}# k\n# l"),
            "#!x\na = 1  # b\n# c\n\n#d\nif e {  # f\n    # g\n\n    h = 1  # i\n    # j\n}  # k\n# l\n");
}

TEST(Formatter, BlocksOfCommentsAreBlocks) {
  EXPECT_EQ(formatted("if a { # b\n}\nif c {\n# d\n}\n"), "if a {  # b\n}\nif c {\n    # d\n}\n");
}

TEST(Formatter, CommentsBeforeElseStayThere) {
  EXPECT_EQ(formatted("if a {\n} # b\n# c\n\n# d\nelif e {\n}\n# f\nelse {\n}"),
            "if a {}  # b\n# c\n# d\nelif e {}\n# f\nelse {}\n");
  EXPECT_EQ(formatted("mode m { a = 1 } # b\nexit { c = 1 }"), "mode m {\n    a = 1\n}  # b\nexit {\n    c = 1\n}\n");
}

TEST(Formatter, CommentsInBracketsStayBetweenTheirElements) {
  EXPECT_EQ(formatted("f( # a\nb, # c\n# d\ng(e), h # i\n, # j\n# k\n)"),
            "f(  # a\n    b,  # c\n    # d\n    g(e),\n    h,  # i\n    # j\n    # k\n)\n");
  EXPECT_EQ(formatted("x = [ # a\n]"), "x = [  # a\n]\n");
  EXPECT_EQ(formatted("x = [\n# a\n]"), "x = [\n    # a\n]\n");
  EXPECT_EQ(formatted("fn f(int a, # b\n int c) -> () {}"), "fn f(\n    int a,  # b\n    int c\n) -> () {}\n");
}

TEST(Formatter, CommentsInExpressionsBreakThem) {
  EXPECT_EQ(formatted("x = (a # b\n + c * d # e\n)"), "x = (\n    a +  # b\n    c * d  # e\n)\n");
  EXPECT_EQ(formatted("x = (a +\n# b\nc)"), "x = (\n    a +\n    # b\n    c\n)\n");
  EXPECT_EQ(formatted("x = f(a if b # c\n else d)"), "x = f(\n    a\n    if b  # c\n    else d,\n)\n");
}

TEST(Formatter, CommentsWhereNoLineBreaksGoToTheNextPlace) {
  EXPECT_EQ(formatted("f(x # a\n.y # b\n, z)"), "f(\n    x.y,  # a\n    # b\n    z,\n)\n");
  EXPECT_EQ(formatted("f(x\n# a\n.y(z))"), "f(x.y(\n    # a\n    z,\n))\n");
  EXPECT_EQ(formatted("f(# a\ng(x))"), "f(  # a\n    g(x),\n)\n");
  EXPECT_EQ(formatted("f(x\n# a\n.y(''))"), "f(x.y(\n    # a\n    '',\n))\n");
  EXPECT_EQ(formatted("f(x # a\n.y())"), "f(\n    x.y(),  # a\n)\n");
  EXPECT_EQ(formatted("f(name # a\n= # b\n value)"), "f(\n    name=value,  # a\n    # b\n)\n");
}

TEST(Formatter, LongCommentsBreakNoLine) { expectStays("f(a, b)  # " + kLong + kLong + kLong + kLong + "\n"); }

// ---- Parts that are kept ----

TEST(Formatter, KeepsWhatStandsBetweenOffAndOn) {
  EXPECT_EQ(formatted("a=1\n  # fmt: off\nb  =  [1,0,\n      0,1] ;c=1\n\n\n# d\n    # fmt: on\ne=1"),
            "a = 1\n# fmt: off\nb  =  [1,0,\n      0,1] ;c=1\n\n\n# d\n# fmt: on\ne = 1\n");
}

TEST(Formatter, WhatIsKeptEndsWithItsBlock) {
  EXPECT_EQ(formatted("if a {\n# fmt: off\nb  =  1\n  if c { d=1 # fmt: on\n}\n\n} else { e=1 }\nf=1"),
            "if a {\n    # fmt: off\nb  =  1\n  if c { d=1 # fmt: on\n}\n} else {\n    e = 1\n}\nf = 1\n");
  EXPECT_EQ(formatted("# fmt: off\na  =  1"), "# fmt: off\na  =  1\n");
  EXPECT_EQ(formatted("# fmt: off"), "# fmt: off\n");
}

TEST(Formatter, OnInsideOfAnInnerBlockOrBeforeElseSwitchesNothing) {
  expectStays("# fmt: off\nif a {\n# fmt: on\n  b=1\n}\n# fmt: on\nelse { c=1 }\nd=[\n# fmt: on\n]\n");
}

// ---- Errors ----

TEST(Formatter, AWrongScriptIsLeftAsItIs) {
  Diagnostics diagnostics;
  EXPECT_EQ(formatSource(Source::create("t.ops", "x=1\ny = (2"), diagnostics), "x=1\ny = (2");
  EXPECT_EQ(diagnostics.error_count(), 1U);
  EXPECT_EQ(diagnostics.all()[0].message, "the file ends before `(` is closed");
}

TEST(Formatter, RefusesWhatNestsTooDeepAsTheCompilerDoes) {
  for (const size_t levels : {size_t{201}, size_t{40'000}, size_t{1'000'000}}) {
    const std::string script = "fn f(" + std::string(levels, '(') + "int" + std::string(levels, ')') + " x) -> () { }";
    Diagnostics diagnostics;
    EXPECT_EQ(formatSource(Source::create("t.ops", script), diagnostics), script);
    ASSERT_EQ(diagnostics.error_count(), 1U);
    EXPECT_EQ(diagnostics.all()[0].message, "this is nested more than 200 levels deep");
  }
}

TEST(Formatter, NamesThatAreUnknownDoNotMatter) { EXPECT_EQ(formatted("x=nothing::f( y )"), "x = nothing::f(y)\n"); }

TEST(Formatter, LaysOutStructs) {
  EXPECT_EQ(
      formatted("struct  A{int  x;Tensor?[ ] xs=[1,]# one\n\n\n(int,str)p=(1,'a')\nfn f(self,int y)->int{return y}}"),
      "struct A {\n    int x\n    Tensor?[] xs = [1]  # one\n\n    (int, str) p = (1, 'a')\n"
      "    fn f(self, int y) -> int {\n        return y\n    }\n}\n");
  EXPECT_EQ(formatted("struct A{}"), "struct A {}\n");
  EXPECT_EQ(formatted("struct A{str?mode=None}"), "struct A {\n    str? mode = None\n}\n");
  EXPECT_EQ(formatted("raise  f(x)+\"a\""), "raise f(x) + \"a\"\n");
  // A type that does not fit into its line gets no trailing comma, which it cannot have.
  const std::string name(60, 'a');
  EXPECT_EQ(formatted("struct A {\n    (Dict(str, Tensor), Dict(str, int[])) " + name + "\n}\n"),
            "struct A {\n    (\n        Dict(str, Tensor),\n        Dict(str, int[])\n    ) " + name + "\n}\n");
}

}  // namespace
}  // namespace boxcar
