// Hover, definition, signatures, outline and problems.

#include <boxcar/interpreter/service/definition.h>
#include <boxcar/interpreter/service/hover.h>
#include <boxcar/interpreter/service/outline.h>
#include <boxcar/interpreter/service/problems.h>
#include <boxcar/interpreter/service/signature.h>
#include <gtest/gtest.h>

#include "tests/interpreter/service/marked_text.h"
#include "tests/temporary_folder.h"

namespace boxcar::service {
namespace {

// Returns "code | text" for the marked place; "nothing" if there is no information.
std::string hovered(const std::string& marked, const std::string& name = "<input>") {
  const MarkedText at(marked);
  Docstrings docstrings;
  docstrings.add("# == Section ==\n# The larger of 0 and self\naten::relu(Tensor self) -> Tensor [pointwise]\n");
  const Workspace workspace{{}, &docstrings};
  const auto found = hover(at.text, at.offset, name, workspace);
  if (!found) return "nothing";
  return found->code + (found->text.empty() ? "" : " | " + found->text);
}

// Returns "file:line:column" of each definition.
std::string defined(const std::string& marked, const std::string& name = "t.ops") {
  const MarkedText at(marked);
  std::string all;
  for (const Location& place : definitions(at.text, at.offset, name)) {
    all += (all.empty() ? "" : " ") + toString(place).substr(toString(place).rfind('/') + 1);
  }
  return all;
}

TEST(HoverTest, showsTheOverloadThatACallMeans) {
  EXPECT_EQ(hovered("x = ones(2)\ny = re|lu(x)"),
            "aten::relu(Tensor self) -> Tensor | The larger of 0 and self\n\naten::relu has 1 other overload.");
  EXPECT_EQ(hovered("x = ones(2)\ny = x.relu|()").substr(0, 33), "aten::relu(Tensor self) -> Tensor");
  EXPECT_EQ(hovered("y = aten::|add(ones(2), 1)").substr(0, 26), "aten::add.Scalar(Tensor se");
  EXPECT_EQ(hovered("y = aten::add.Tens|or(ones(2), ones(2))").substr(0, 26), "aten::add.Tensor(Tensor se");
}

TEST(HoverTest, showsAllOverloadsWhereTheCallIsNotUnderstood) {
  const std::string text = hovered("y = relu|(");
  EXPECT_EQ(text.substr(0, 34), "aten::relu(Tensor self) -> Tensor\n") << text;
}

TEST(HoverTest, showsVariablesWithTheirTypes) {
  EXPECT_EQ(hovered("x| = 1\nx = 2.5"), "x: int");
  EXPECT_EQ(hovered("x = 1\nx| = 2.5"), "x: float");
  EXPECT_EQ(hovered("x = 1\nx = 2.5\nprint(x|)"), "x: float");
  EXPECT_EQ(hovered("fn f(Tensor? y) -> int { if y is None { return 0 }\n return y|.dim() }"), "y: Tensor");
  EXPECT_EQ(hovered("# How many.\nconst n = 3\nprint(n|)"), "const n: int | How many.");
}

TEST(HoverTest, showsFunctionsWithTheCommentAboveThem) {
  EXPECT_EQ(hovered("#!/usr/bin/env boxcar\n# Adds one.\n# Twice.\nfn f(int x) -> int { return x + 2 }\ny = f|(1)"),
            "f(int x) -> int | Adds one.\nTwice.");
  EXPECT_EQ(hovered("# Half.\nop my::half(Tensor x) -> Tensor { return x / 2 }\ny = my::half|(ones(2))"),
            "my::half(Tensor x) -> Tensor | Half.");
  EXPECT_EQ(hovered("# Counts.\nmode count| { return redispatch(op, args) }"), "mode count | Counts.");
  EXPECT_EQ(hovered("x = ones(2)\nfn twice(Tensor x) -> Tensor { return 2 * x }\ny = x.twi|ce()"),
            "twice(Tensor x) -> Tensor");
}

TEST(HoverTest, showsBuiltinsAttributesAndFields) {
  EXPECT_EQ(hovered("print(le|n([1]))"), "len(Any value) -> int");
  EXPECT_EQ(hovered("x = [1]\nx.app|end(2)"), "list.append(t[] self, t item) -> ()");
  EXPECT_EQ(hovered("x = ones(2)\nprint(x.sha|pe)"), "tensor.shape: int[]");
  EXPECT_EQ(hovered("x = ones(2, 2)\nprint(x.topk(1).indic|es)"), "indices: Tensor");
  EXPECT_EQ(hovered("x = math::sqrt|(2)"), "math::sqrt(float x) -> float");
}

TEST(HoverTest, showsModesAndDeclarations) {
  const std::string mode = "# Changes nothing.\nmode plain { return redispatch(op, args) }\n";
  EXPECT_EQ(hovered(mode + "with plain| { x = ones(2).relu() }"), "mode plain | Changes nothing.");
  EXPECT_EQ(hovered("print(isin|stance(1, int))"), "isinstance(value, T) -> bool");
  EXPECT_EQ(hovered("# Adds one.\nfn f|(int x) -> int { return x + 1 }"), "f(int x) -> int | Adds one.");
}

TEST(HoverTest, explainsKeywords) {
  EXPECT_EQ(hovered("wh|ile True { }"), " | `while c { }`: repeats while the condition is true.");
  EXPECT_EQ(hovered("o|p a::b(Tensor x) -> Tensor { return x }").substr(0, 9), " | `op ns");
}

TEST(HoverTest, saysNothingOfText) {
  for (const char* marked : {"# rel|u", "x = \"rel|u\"", "x = 1|2", "|", "x = unkn|own(1)", "(|)"}) {
    EXPECT_EQ(hovered(marked), "nothing") << marked;
  }
}

TEST(DefinitionTest, findsWhatIsDefinedInTheFile) {
  EXPECT_EQ(defined("fn f(int x) -> int { return x }\ny = f|(1)"), "t.ops:1:4");
  EXPECT_EQ(defined("y = f|(1)\nfn f(int x) -> int { return x }\n"), "t.ops:2:4");
  EXPECT_EQ(defined("fn f(int int_x, str s=\"x\") -> int { return int|_x }\n"), "t.ops:1:10");
  EXPECT_EQ(defined("x = 1\nx = 2\nprint(x|)"), "t.ops:1:1");
  EXPECT_EQ(defined("const n = 1\nfn f() -> int { return n| }"), "t.ops:1:7");
  EXPECT_EQ(defined("mode m { return redispatch(op, args) }\nwith m| { }"), "t.ops:1:6");
  EXPECT_EQ(defined("op a::b.x(int i) -> int { return i }\nop a::b.y(str s) -> int { return 1 }\nz = a::b|(\"s\")"),
            "t.ops:2:4");
  EXPECT_EQ(defined("op a::b.x(int i) -> int { return i }\nop a::b.y(str s) -> int { return 1 }\nz = a::b|("),
            "t.ops:1:4 t.ops:2:4");
}

TEST(HoverTest, showsStructsFieldsAndMethods) {
  const std::string point =
      "# A place.\nstruct Point { int x; \n# Goes.\nfn move(self, int by) -> Point { return self } }\n";
  EXPECT_EQ(hovered(point + "p = Poin|t(1)"), "Point(int x) -> Point | A place.");
  EXPECT_EQ(hovered(point + "fn f(Poin|t p) -> () { }"), "Point(int x) -> Point | A place.");
  EXPECT_EQ(hovered(point + "p = Point(1)\nprint(p.x|)"), "x: int");
  EXPECT_EQ(hovered(point + "p = Point(1)\np.mov|e(1)"), "Point.move(Point self, int by) -> Point | Goes.");
}

TEST(DefinitionTest, findsStructsFieldsAndMethods) {
  const std::string point = "struct Point { int x\nfn move(self, int by) -> Point { return self } }\np = Point(1)\n";
  EXPECT_EQ(defined(point + "q = Poin|t(2)"), "t.ops:1:8");
  EXPECT_EQ(defined(point + "print(p.x|)"), "t.ops:1:20");
  EXPECT_EQ(defined(point + "p.mov|e(1)"), "t.ops:2:4");
  const TemporaryFolder folder;
  folder.write("f.ops", "\nstruct Point { int x\nfn move(self) -> Point { return self } }\n");
  const std::string main = folder / "main.ops";
  EXPECT_EQ(defined("import \"f.ops\"\np = Poin|t(1)", main), "f.ops:2:8");
  EXPECT_EQ(defined("import \"f.ops\"\np = Point(1)\nprint(p.x|)", main), "f.ops:2:8");
  EXPECT_EQ(defined("import \"f.ops\"\np = Point(1)\np.mo|ve()", main), "f.ops:3:4");
}

TEST(DefinitionTest, findsNothingForWhatIsWrittenInCpp) {
  EXPECT_EQ(defined("x = relu|(ones(2))"), "");
  EXPECT_EQ(defined("x = len|([])"), "");
}

TEST(DefinitionTest, followsImports) {
  const TemporaryFolder folder;
  folder.write("lib.ops",
               "# Helps.\nfn helper(int x) -> int { return x }\nop lib::go(Tensor x) -> Tensor { return x }\n"
               "mode quiet { return redispatch(op, args) }\n");
  const std::string main = folder / "main.ops";
  EXPECT_EQ(defined("import \"lib.ops\"\nhelper|(1)", main), "lib.ops:2:4");
  EXPECT_EQ(defined("import \"lib.ops\"\nlib::go|(ones(2))", main), "lib.ops:3:4");
  EXPECT_EQ(defined("import \"lib.ops\"\nwith quiet| { }", main), "lib.ops:4:6");
  EXPECT_EQ(defined("import \"li|b.ops\"\n", main), "lib.ops:1:1");
  EXPECT_EQ(defined("import \"no|ne.ops\"\n", main), "");
  EXPECT_EQ(hovered("import \"lib.ops\"\nhelper|(1)", main), "helper(int x) -> int | Helps.");
}

TEST(SignatureTest, tellsWhichParameterIsWritten) {
  const auto at = [](const std::string& marked) {
    const MarkedText text(marked);
    const Signatures found = signatures(text.text, text.offset);
    if (found.all.empty()) return std::string("nothing");
    const auto& best = found.all[found.best];
    std::string parameter = "none";
    if (found.parameter < best.parameters.size()) {
      const auto [begin, end] = best.parameters[found.parameter];
      parameter = best.text.substr(begin, end - begin);
    }
    return best.text + " @ " + parameter;
  };
  const std::string f = "fn f(int width, int height) -> int { return 1 }\n";
  EXPECT_EQ(at(f + "f(|"), "f(int width, int height) -> int @ int width");
  EXPECT_EQ(at(f + "f(g(1, 2), |)"), "f(int width, int height) -> int @ int height");
  EXPECT_EQ(at(f + "f(height=|"), "f(int width, int height) -> int @ int height");
  EXPECT_EQ(at("x = ones(2)\nx.relu|()"), "nothing");
  const std::string p = "struct P { int x\nfn move(self, int by) -> () { } }\n";
  EXPECT_EQ(at(p + "P(|"), "P(int x) -> P @ int x");
  EXPECT_EQ(at(p + "p = P(1)\np.move(|"), "P.move(P self, int by) -> () @ int by");
  EXPECT_EQ(at("x = [1]\nx.insert(1, |"), "list.insert(t[] self, int index, t item) -> () @ t item");
}

TEST(OutlineTest, listsDeclarationsAndVariables) {
  std::string all;
  for (const Symbol& symbol :
       outline("const n = 1\nfn f(int x) -> int { y = x\n return y }\nx = 1\nx = 2\na, b = 1, 2\n"
               "op my::o(Tensor x) -> Tensor { return x }\nimpl my::o @ CPU { return x }\n"
               "fallback @ Meta { return redispatch(op, args) }\nmode m { } exit { }\nz = = 1\n"
               "struct P { int x; fn f(self) -> () { } }\n")) {
    all += fmt::format("{}{}\n", symbol.name, symbol.detail.empty() ? "" : " " + symbol.detail);
  }
  EXPECT_EQ(all,
            "n\nf (int x) -> int\nx\na\nb\nmy::o (Tensor x) -> Tensor\nimpl my::o @ CPU\nfallback @ Meta\nm\n"
            "P\nP.x int\nP.f (self) -> ()\n");
}

std::string problemsOf(const std::string& text, const std::string& name = "t.ops", const Workspace& workspace = {}) {
  constexpr std::string_view kLevels[] = {"error", "warning", "information"};
  std::string all;
  for (const Problem& problem : problems(text, name, workspace)) {
    const LineColumn at = problem.what.source->position(problem.what.span.begin);
    all += fmt::format("{}:{}: {}: {}\n", at.line, at.column, kLevels[static_cast<size_t>(problem.level)],
                       problem.what.message);
  }
  return all;
}

TEST(ProblemsTest, areThoseOfTheCompiler) {
  EXPECT_EQ(problemsOf("x = 1\n"), "");
  EXPECT_EQ(problemsOf("x = y\nz = (\n"), "3:1: error: the file ends before `(` is closed\n");
  EXPECT_EQ(problemsOf("x = y\n"), "1:5: error: there is no variable or constant called `y`\n");
}

TEST(ProblemsTest, ofImportedFilesStandAtTheImport) {
  const TemporaryFolder folder;
  folder.write("lib.ops", "x = (\n");
  EXPECT_EQ(problemsOf("import \"lib.ops\"\ny = nothing_there\n", folder / "main.ops"),
            fmt::format("1:8: error: {}/lib.ops, which is imported here, has errors\n", folder.path()));
  // The text open in an editor counts, not the file on disk.
  Workspace workspace;
  workspace.open_text = [&](const std::string& path) -> std::optional<std::string> {
    if (path == folder / "lib.ops") return "fn good(int x) -> int { return x }\n";
    return std::nullopt;
  };
  EXPECT_EQ(problemsOf("import \"lib.ops\"\ny = good(1)\n", folder / "main.ops", workspace), "");
}

TEST(ProblemsTest, tellThatAPluginIsNotLoaded) {
  const TemporaryFolder folder;
  folder.write("libmine.so", "no library at all");
  folder.write("lib.ops", "import \"libmine.so\"\n");
  EXPECT_EQ(problemsOf("import \"libmine.so\"\ny = mine::unknown(1)\n", folder / "main.ops"),
            fmt::format("1:8: information: {0}/libmine.so is a plugin, which is not loaded for a file in an editor; "
                        "names are not checked without its operators. `boxcar --plugin {0}/libmine.so lsp` loads "
                        "it\n",
                        folder.path()));
  EXPECT_EQ(
      problemsOf("import \"lib.ops\"\ny = mine::unknown(1)\n", folder / "main.ops"),
      fmt::format("1:8: information: {}/lib.ops imports a plugin that is not loaded; names are not checked without "
                  "its operators\n",
                  folder.path()));
}

TEST(ProblemsTest, tellOfFilesThatImportOneAnother) {
  const TemporaryFolder folder;
  folder.write("lib.ops", "import \"main.ops\"\n");
  EXPECT_EQ(problemsOf("import \"lib.ops\"\n", folder / "main.ops"),
            fmt::format("1:8: error: {}/lib.ops, which is imported here, has errors\n", folder.path()));
}

TEST(MeaningTest, survivesEveryPlaceOfABrokenText) {
  const std::string text = "fn f(int x -> { x.y(a::b.c(, \"\n mode m @ { } exit x[1:].z { op a::b(é) \xff x = x.";
  for (uint32_t offset = 0; offset <= text.size(); ++offset) {
    hover(text, offset);
    signatures(text, offset);
    for (const Location& place : definitions(text, offset)) EXPECT_LE(place.span.end, text.size());
  }
}

}  // namespace
}  // namespace boxcar::service
