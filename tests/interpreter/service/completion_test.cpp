#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/service/completion.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/interpreter/service/marked_text.h"
#include "tests/temporary_folder.h"

namespace boxcar::service {
namespace {

CompletionList completionsOf(const std::string& marked, std::span<const KnownVariable> known = {}) {
  const MarkedText at(marked);
  return complete(at.text, at.offset, known);
}

// Returns "kind text: detail", or "" if [text] is not proposed.
std::string proposal(const CompletionList& list, std::string_view text) {
  const auto found = std::ranges::find(list.items, text, &Completion::text);
  if (found == list.items.end()) return "";
  return fmt::format("{} {}{}{}", toString(found->kind), found->text, found->detail.empty() ? "" : ": ", found->detail);
}

std::string proposal(const std::string& marked, std::string_view text) { return proposal(completionsOf(marked), text); }

std::string textsOf(const CompletionList& list) {
  std::string all;
  for (const Completion& item : list.items) all += (all.empty() ? "" : " ") + item.text;
  return all;
}

std::string texts(const std::string& marked) { return textsOf(completionsOf(marked)); }

TEST(CompletionTest, proposesOperatorsOfANamespace) {
  EXPECT_EQ(texts("aten::leaky_rel|"), "leaky_relu leaky_relu_ leaky_relu_backward");
  EXPECT_EQ(proposal("y = aten::relu|", "relu"),
            "operator relu: aten::relu(Tensor self) -> Tensor  (and 1 more overload)");
  EXPECT_EQ(texts("io::l|"), "load load_checkpoint load_npy load_torchscript load_zip");
  EXPECT_EQ(texts("math::co|"), "copysign cos cosh");
  EXPECT_EQ(texts("y = io::|\nz = 1\n"),
            "exists load load_checkpoint load_npy load_torchscript load_zip read_text save save_npy save_npz "
            "torchscript_lines "
            "write_text");
}

TEST(CompletionTest, proposesOverloads) {
  EXPECT_EQ(proposal("aten::add.Ten|", "Tensor"),
            "overload Tensor: aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(texts("mul.S|"), "Scalar");
}

TEST(CompletionTest, proposesMethodsThatTheValueHas) {
  EXPECT_EQ(texts("x = \"a\"\nx.s|"), "split splitlines startswith strip swapcase");
  EXPECT_EQ(texts("x = [1]\nx.in|"), "index insert");
  EXPECT_EQ(texts("d = {\"a\": 1}\nd.k|"), "keys");
  EXPECT_EQ(proposal("x = ones(2)\nx.tol|", "tolist"), "method tolist: tensor.tolist(Tensor self) -> Any");
  EXPECT_EQ(proposal("x = ones(2)\nx.rel|", "relu"),
            "method relu: aten::relu(Tensor self) -> Tensor  (and 1 more overload)");
  EXPECT_EQ(proposal("x = ones(2)\nx.sh|", "shape"), "attribute shape: int[]");
  // An operator whose first argument is not a tensor is no tensor method.
  EXPECT_EQ(proposal("x = ones(2)\nx.on|", "ones"), "");
  EXPECT_EQ(proposal("x = ones(2)\nx.ca|", "cat"), "");
  EXPECT_EQ(proposal("x = [ones(2)]\nx.ca|", "cat").substr(0, 10), "method cat");
}

TEST(CompletionTest, knowsTheTypesOfUnfinishedExpressions) {
  EXPECT_EQ(texts("x = ones(2)\nprint(x.shape.in|"), "index insert");
  EXPECT_EQ(texts("x = ones(2)\nif x.tolist| {\n}\n"), "tolist");
  EXPECT_EQ(texts("x = \"a\"\nif True { y = 1 } elif x.start|"), "startswith");
  EXPECT_EQ(texts("x = \"a,b\"\ny = x.split(\",\")[0].up|"), "upper");
  EXPECT_EQ(texts("x = ones(2, 3)\ny = x.topk(1).val|"), "values");
  EXPECT_EQ(texts("fn f(str s) -> str {\n  return s.low|\n}\n"), "lower");
  EXPECT_EQ(texts("fn f(str s) -> str {\n  t = foo(s.low|\n"), "lower");
  EXPECT_EQ(texts("xs = [\"a\"]\ny = [x.upp| for x in xs]"), "upper");
  EXPECT_EQ(texts("x = 1\nprint(f\"{x} {'a'.upp|}\")"), "upper");
  // A value of unknown type gets all methods.
  EXPECT_EQ(texts("x = unknown_thing\nx.appe|"), "append");
}

TEST(CompletionTest, proposesVariablesWithTheirTypes) {
  EXPECT_EQ(proposal("width = 3\nheight = 1.5\nw|", "width"), "variable width: int");
  EXPECT_EQ(proposal("width = 3\nwidth = \"s\"\nprint(wi|", "width"), "variable width: str");
  // A variable that is set later is not proposed yet.
  EXPECT_EQ(proposal("print(wi|)\nwidth = 3\n", "width"), "");
  EXPECT_EQ(proposal("fn f(Tensor weight) -> Tensor {\n  y = wei|\n}", "weight"), "variable weight: Tensor");
  // A function does not see the script's variables, only its constants.
  EXPECT_EQ(proposal("const kSize = 3\nkind = 1\nfn f(Tensor x) -> Tensor {\n  y = k|\n}", "kind"), "");
  EXPECT_EQ(proposal("const kSize = 3\nfn f(Tensor x) -> Tensor {\n  y = k|\n}", "kSize"), "constant kSize: int");
  EXPECT_EQ(proposal("fallback @ Meta {\n  print(op.na|)\n}", "name"), "attribute name: str");
  EXPECT_EQ(proposal("ys = [it| for item in [1]]", "item"), "variable item");
}

TEST(CompletionTest, knowsVariablesFromBefore) {
  const std::vector<KnownVariable> known = {{"image", "Tensor"}, {"words", "str[]"}, {"strange", "no such type"}};
  EXPECT_EQ(proposal(completionsOf("im|", known), "image"), "variable image: Tensor");
  EXPECT_EQ(textsOf(completionsOf("image.rel|", known)), "relu relu6 relu6_ relu_");
  EXPECT_EQ(textsOf(completionsOf("words[0].upp|", known)), "upper");
  EXPECT_EQ(textsOf(completionsOf("strange.appe|", known)), "append");
}

TEST(CompletionTest, proposesFunctionsWithTheirComments) {
  const CompletionList list = completionsOf("# Twice a number.\nfn double_of(int x) -> int { return 2 * x }\ny = dou|");
  EXPECT_EQ(proposal(list, "double_of"), "function double_of: double_of(int x) -> int");
  EXPECT_EQ(list.items.at(0).documentation, "Twice a number.");
  EXPECT_EQ(proposal("x = 1\nfn twice(int x) -> int { return 2 * x }\nx.tw|", "twice"),
            "function twice: twice(int x) -> int");
  EXPECT_EQ(proposal("op my::half(Tensor x) -> Tensor { return x / 2 }\ny = my::ha|", "half"),
            "operator half: my::half(Tensor x) -> Tensor");
}

TEST(CompletionTest, proposesNamedArguments) {
  EXPECT_EQ(texts("x = ones(2)\nx.softmax(0, dty|)"), "dtype=");
  EXPECT_EQ(proposal("x = add(ones(2), ones(2), al|)", "alpha="), "argument alpha=: Scalar alpha=1");
  EXPECT_EQ(proposal("fn f(int width, int height) -> int { return 1 }\nf(1, hei|)", "height="),
            "argument height=: int height");
  EXPECT_EQ(proposal("fn f(int width, int height) -> int { return 1 }\nf(1, wid|)", "width="), "");
  EXPECT_EQ(proposal("fn f(int width, int height) -> int { return 1 }\nf(height=1, hei|)", "height="), "");
  EXPECT_EQ(proposal("print(1, se|)", "sep="), "argument sep=: str sep=' '");
}

TEST(CompletionTest, proposesWhatANamedArgumentTakesFirst) {
  const CompletionList dtypes = completionsOf("float_width = 1\ny = ones(2, dtype=|)");
  ASSERT_GE(dtypes.items.size(), 13u);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(toString(dtypes.items[i].kind), "dtype") << dtypes.items[i].text;
  EXPECT_EQ(proposal(dtypes, "bool"), "dtype bool: ScalarType");
  EXPECT_EQ(texts("float_width = 1\ny = ones(2, dtype=float|)").substr(0, 35), "float16 float32 float64 float_width");
  // Outside of such an argument, a variable is likelier.
  EXPECT_EQ(texts("float_width = 1\ny = float|").substr(0, 11), "float_width");
  EXPECT_EQ(texts("y = ones(2, device=|)").substr(0, 29), "\"cpu\" \"cuda\" \"cuda:0\" \"meta\" ");
  EXPECT_EQ(texts("y = ones(2, dtype=torch.comp|)"), "complex128 complex64");
  EXPECT_EQ(texts("torch = [1]\ny = torch.comp|"), "");
}

TEST(CompletionTest, proposesKeysOfDictsFromBefore) {
  const std::vector<KnownVariable> known = {{"d", "Dict(str, int)", {"layer1.0.weight", "layer1.0.bias", "other"}}};
  EXPECT_EQ(textsOf(completionsOf("d[\"lay|", known)), "layer1.0.bias layer1.0.weight");
  EXPECT_EQ(textsOf(completionsOf("print(d['layer1.0.w|'])", known)), "layer1.0.weight");
  EXPECT_EQ(proposal(completionsOf("x = d[\"|\"]", known), "other"), "key other");
  EXPECT_EQ(textsOf(completionsOf("e[\"|", known)), "");
  EXPECT_EQ(textsOf(completionsOf("x.d[\"|", known)), "");
  EXPECT_EQ(textsOf(completionsOf("x = [\"|", known)), "");
}

TEST(CompletionTest, proposesFilesWherePathsStand) {
  const TemporaryFolder folder;
  for (const char* name : {"net.safetensors", "net.npz", "net.npy", "net.ops", "net.txt"}) folder.write(name, "");
  std::filesystem::create_directory(folder / "nets");
  const auto files = [&folder](const std::string& marked) {
    const MarkedText at(marked);
    return textsOf(complete(at.text, at.offset, {}, folder / "script.ops"));
  };
  EXPECT_EQ(files("d = io::load(\"n|"), "net.npz net.safetensors nets/");
  EXPECT_EQ(files("d = io::load_npy('|')"), "net.npy nets/");
  EXPECT_EQ(files("t = io::read_text(\"net.t|\")"), "net.txt");
  EXPECT_EQ(files("io::save({\"a\": ones(1)}, \"net.s|\")"), "net.safetensors");
  EXPECT_EQ(files("with trace(path=\"net.o|\") { }"), "net.ops");
  EXPECT_EQ(files("import \"n|"), "net.ops nets/");
  EXPECT_EQ(files("x = \"n|"), "");
  EXPECT_EQ(files("d = io::load(\"nets/|"), "");
}

TEST(CompletionTest, proposesKeywordsWhereTheyMayStand) {
  EXPECT_EQ(proposal("fall|", "fallback"), "keyword fallback");
  EXPECT_EQ(proposal("if True {\n  cons|\n}", "const"), "");
  EXPECT_EQ(proposal("y = fall|", "fallback"), "");
  EXPECT_EQ(proposal("x = 1\ny = x i|", "is"), "keyword is");
  EXPECT_EQ(texts("for x i|"), "in");
}

TEST(CompletionTest, proposesWhatDeclarationsWant) {
  EXPECT_EQ(texts("use ate|"), "aten");
  EXPECT_EQ(texts("fn f(Ten|"), "Tensor");
  EXPECT_EQ(texts("fn f(Tensor x, ScalarT|"), "ScalarType");
  EXPECT_EQ(texts("fn f(Tensor x) -> Ten|"), "Tensor");
  EXPECT_EQ(texts("fn f(Tensor na|"), "");
  EXPECT_EQ(texts("x: Ten|"), "Tensor");
  EXPECT_EQ(texts("impl aten::relu @ AutogradC|").substr(0, 11), "AutogradCPU");
  EXPECT_EQ(texts("fallback @ Functionali|"), "Functionalize");
  EXPECT_EQ(texts("mode count { }\nwith cou|"), "count");
  EXPECT_EQ(texts("with check_n|"), "check_nan");
  EXPECT_EQ(texts("with exclude(Trac|"), "Tracer");
  EXPECT_EQ(texts("fn my|"), "");
}

TEST(CompletionTest, proposesDtypesAndDevices) {
  EXPECT_EQ(texts("x = ones(2, dtype=float3|)"), "float32");
  EXPECT_EQ(texts("x = ones(2, device=\"cu|\")"), "cuda cuda:0");
  EXPECT_EQ(texts("x = ones(2)\ny = x.to(\"cp|\")"), "cpu");
  EXPECT_EQ(texts("print(\"cp|\")"), "");
}

TEST(CompletionTest, proposesNothingInTextAndNumbers) {
  for (const char* marked : {"# rel|", "x = 1 # rel|", "x = 12|", "x = \"rel|\"", "x = f\"rel|\"", "x = f\"{1}rel|\"",
                             "x = \"rel|", "x = 0xf|"}) {
    EXPECT_EQ(texts(marked), "") << marked;
  }
}

TEST(CompletionTest, saysWhatIsReplaced) {
  EXPECT_EQ(completionsOf("y = aten::rel|u").replaced, (Span{10, 13}));
  EXPECT_EQ(completionsOf("|").replaced, (Span{0, 0}));
  EXPECT_EQ(completionsOf("use |").replaced, (Span{4, 4}));
}

TEST(CompletionTest, proposesFilesToImport) {
  const TemporaryFolder folder;
  for (const char* name : {"layers.ops", "layers.txt", "libmine.so", "main.ops", "lab/x.ops"}) folder.write(name, "");
  const auto at = [&](const std::string& marked) {
    const MarkedText text(marked);
    return complete(text.text, text.offset, {}, folder / "main.ops");
  };
  EXPECT_EQ(textsOf(at("import \"l|\"")), "lab/ layers.ops libmine.so");
  EXPECT_EQ(at("import \"lay|").replaced, (Span{8, 11}));
  EXPECT_EQ(textsOf(at("import \"m|\"")), "");
}

TEST(CompletionTest, seesWhatIsImported) {
  const TemporaryFolder folder;
  folder.write("lib.ops", "fn helper(int x) -> int { return x }\nop lib::go(Tensor x) -> Tensor { return x }\n");
  const auto at = [&](const std::string& marked) {
    const MarkedText text(marked);
    return complete(text.text, text.offset, {}, folder / "main.ops");
  };
  EXPECT_EQ(proposal(at("import \"lib.ops\"\nhel|"), "helper"), "function helper: helper(int x) -> int");
  EXPECT_EQ(textsOf(at("import \"lib.ops\"\nlib::|")), "go");
  EXPECT_EQ(textsOf(at("hel|\nimport \"lib.ops\"\n")), "");
}

TEST(CompletionTest, proposesFunctionsOfAnAlias) {
  const TemporaryFolder folder;
  folder.write("lib.ops", "fn helper(int x) -> int { return x }\nfn other() -> () { }\n");
  const auto at = [&](const std::string& marked) {
    const MarkedText text(marked);
    return complete(text.text, text.offset, {}, folder / "main.ops");
  };
  EXPECT_EQ(textsOf(at("import \"lib.ops\" as lib\nlib.|")), "helper other");
  EXPECT_EQ(proposal(at("import \"lib.ops\" as lib\nx = lib.h|"), "helper"), "function helper: helper(int x) -> int");
  EXPECT_EQ(textsOf(at("import \"lib.ops\" as lib\nhelp|")), "");
}

TEST(CompletionTest, proposesStructsTheirFieldsAndMethods) {
  const std::string point = "# A place.\nstruct Point { int across; fn move(self, int by) -> Point { return self } }\n";
  EXPECT_EQ(proposal(point + "p = Point(1)\np.|", "across"), "attribute across: int");
  EXPECT_EQ(proposal(point + "p = Point(1)\np.mo|", "move"), "method move: Point.move(Point self, int by) -> Point");
  EXPECT_EQ(proposal(point + "p = Poi|", "Point"), "type Point: Point(int across) -> Point");
  EXPECT_EQ(proposal(point + "fn f(Poi|", "Point"), "type Point: Point(int across) -> Point");
  const KnownVariable known{"q", "Point", {}};
  EXPECT_EQ(proposal(completionsOf(point + "q.a|", {&known, 1}), "across"), "attribute across: int");
  EXPECT_EQ(proposal("stru|", "struct").substr(0, 14), "keyword struct");
}

TEST(CompletionTest, survivesEveryPlaceOfABrokenText) {
  const std::string text =
      "use aten\nimport \"nothing.ops\"\nop a::b.c(Tensor x, int[2] y=1) -> (Tensor, int) { return x.relu(, [1, {\n"
      "mode m @ Python { f\"{x.y:>3} {\" } exit { )\nwith m, trace(\"o\") { x = [y for y in \"ab\" if y.\n}\n"
      "fn f(int \xc3\xa4) { é } elif x. { aten:: } impl q::r. @ C { op.n } x[a::b] '\n\xff\xfe ((((.";
  for (uint32_t offset = 0; offset <= text.size(); ++offset) {
    const CompletionList list = complete(text, offset);
    EXPECT_EQ(list.replaced.end, offset);
    EXPECT_LE(list.replaced.begin, offset);
  }
}

}  // namespace
}  // namespace boxcar::service
