#include <boxcar/interpreter/import/torchscript/syntax.h>
#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace boxcar::interp::torchscript {
namespace {

Unit parse(std::string_view text) { return parseUnit(text, "'net.pt', code/__torch__.py"); }

std::string faultIn(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.message();
  }
  return "none";
}

constexpr std::string_view kNet = R"(class Net(Module):
  __parameters__ = ["weight", ]
  weight : Tensor
  eps : Final[float] = 1.0000000000000001e-05
  __annotations__["0"] = __torch__.Inner
  def forward(self: __torch__.Net,
    x: Tensor,
    n: int=-3) -> Tuple[Tensor, int]:
    a, b, = torch.size(x)
    if torch.gt(n, 0):
      y : Optional[Tensor] = (getattr(self, "0")).forward(x, )
    else:
      pass
    return (x, torch.add(n, a, alpha=2))
class Color(Enum):
  RED = 1
def twice(x: Tensor) -> Tensor:
  return torch.mul(x, 2)
)";

TEST(TorchScriptSyntax, ReadsClassesAndFunctions) {
  const Unit unit = parse(kNet);
  ASSERT_EQ(unit.classes.size(), 2u);
  const Class& net = unit.classes[0];
  EXPECT_EQ(net.name, "Net");
  EXPECT_EQ(net.base, "Module");
  ASSERT_EQ(net.fields.size(), 3u);
  EXPECT_EQ(net.fields[0].name, "weight");
  EXPECT_EQ(net.fields[1].default_value->number, 1e-05);
  EXPECT_EQ(net.fields[2].name, "0");
  EXPECT_EQ(dottedName(*net.fields[2].type), "__torch__.Inner");
  EXPECT_EQ(unit.classes[1].fields[0].default_value->integer, 1);
  ASSERT_EQ(unit.functions.size(), 1u);
  EXPECT_EQ(unit.functions[0].name, "twice");
}

TEST(TorchScriptSyntax, ReadsStatements) {
  const Unit unit = parse(kNet);
  const Function& forward = unit.classes[0].methods[0];
  ASSERT_EQ(forward.parameters.size(), 3u);
  EXPECT_EQ(forward.parameters[2].default_value->integer, -3);
  EXPECT_EQ(dottedName(*forward.result->items[0]), "Tuple");
  ASSERT_EQ(forward.body.size(), 3u);
  EXPECT_EQ(forward.body[0]->kind, Stmt::Kind::Assign);
  EXPECT_TRUE(forward.body[0]->unpacks);
  EXPECT_EQ(forward.body[0]->targets.size(), 2u);
  EXPECT_EQ(forward.body[1]->kind, Stmt::Kind::If);
  ASSERT_NE(forward.body[1]->body[0]->type, nullptr);
  const Expr& result = *forward.body[2]->values[0];
  ASSERT_EQ(result.kind, Expr::Kind::Tuple);
  EXPECT_EQ(result.items[1]->keywords[0].name, "alpha");
  EXPECT_EQ(result.line, 14u);
}

TEST(TorchScriptSyntax, ReadsLiterals) {
  const Unit unit = parse("def f():\n  return [\"a\\'b\\x41\\n\", 2.+4.j, -inf, {1: 2.5}, (1,), ()]\n");
  const Expr& list = *unit.functions[0].body[0]->values[0];
  ASSERT_EQ(list.items.size(), 6u);
  EXPECT_EQ(list.items[0]->text, "a'bA\n");
  EXPECT_EQ(list.items[1]->kind, Expr::Kind::Sum);
  EXPECT_LT(list.items[2]->number, 0);
  EXPECT_EQ(list.items[3]->items[1]->number, 2.5);
  EXPECT_EQ(list.items[4]->kind, Expr::Kind::Tuple);
  EXPECT_EQ(list.items[5]->items.size(), 0u);
}

TEST(TorchScriptSyntax, AFaultNamesTheFileAndTheLine) {
  const std::string place = "'net.pt', code/__torch__.py, line ";
  EXPECT_EQ(faultIn("def f(:\n  return 1\n"), place + "1: a name is missing");
  EXPECT_EQ(faultIn("def f():\n  return (1\n"), place + "3: ')' is missing");
  EXPECT_EQ(faultIn("def f():\n  x = 1 2\n"), place + "2: '2' was not expected here");
  EXPECT_EQ(faultIn("def f():\n  return \"a\n"), place + "2: a string has no end");
  EXPECT_EQ(faultIn("def f():\n"), place + "2: a block is empty");
  EXPECT_EQ(faultIn("  x = 1\n"), place + "1: a line is indented where a class or a function should begin");
  EXPECT_EQ(faultIn("def f():\n  return 99999999999999999999\n"), place + "2: '99999999999999999999' is no number");
}

TEST(TorchScriptSyntax, DeepNestingIsRefused) {
  const std::string brackets(10000, '(');
  EXPECT_EQ(faultIn("def f():\n  return " + brackets),
            "'net.pt', code/__torch__.py, line 2: it is nested more than 200 deep");
  std::string calls = "def f():\n  return x";
  for (int i = 0; i < 10000; ++i) calls += ".a";
  EXPECT_EQ(faultIn(calls + "\n"), "'net.pt', code/__torch__.py, line 2: it is nested more than 200 deep");
  std::string blocks = "def f():\n";
  for (int i = 1; i < 300; ++i) blocks += std::string(static_cast<size_t>(i), ' ') + "if x:\n";
  EXPECT_EQ(faultIn(blocks), "'net.pt', code/__torch__.py, line 201: it is nested more than 200 deep");
}

}  // namespace
}  // namespace boxcar::interp::torchscript
