#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/session/program.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/captured_output.h"
#include "tests/handler_arguments.h"
#include "tests/temporary_folder.h"
#include "tests/test_support.h"

// Every handler around every transform, and inside of it.

namespace boxcar {
namespace {

// Where HANDLER stands, a handler is opened.
const std::map<std::string, std::string> kPrograms = {
    {"vmap", R"(
op ht::twice(Tensor x) -> Tensor { return x + x }
fn f(Tensor x, Tensor w) -> Tensor {
    HANDLER {
        y = (w @ x).relu().clone()
        y[0].mul_(2)
        y += ht::twice(x).sort(descending=True)[0][:2]
        return linear(y, w.T) + x.cumsum(0)
    }
}
each = func::vmap(f, [0, None])
print(each(arange(12, dtype=float32).view(4, 3) / 7, arange(6, dtype=float32).view(2, 3) / 5))
)"},
    {"vmap of random numbers", R"(
manual_seed(3)
fn f(Tensor x) -> Tensor { HANDLER { return dropout(x, 0.5, True) + rand(3) } }
for how in ["same", "different"] {
    each = func::vmap(f, randomness="different")
    print(each(ones([2, 3])))
}
)"},
    {"vmap within vmap", R"(
fn f(Tensor a, Tensor b) -> Tensor { HANDLER { return (a * b).sum() + a.max() } }
pairs = func::vmap(func::vmap(f, [None, 0]), [0, None])
print(pairs(arange(6, dtype=float32).view(2, 3), arange(12, dtype=float32).view(4, 3)))
)"},
    {"grad", R"(
fn f(Tensor w, Tensor x) -> Tensor { HANDLER { return (conv2d(x, w, padding=1).relu() ** 2).mean() } }
g = func::grad(f)
print(g(arange(9, dtype=float32).view(1, 1, 3, 3) / 9, arange(25, dtype=float32).view(1, 1, 5, 5) / 25))
)"},
    {"vjp", R"(
fn f(Tensor x) -> Tensor { HANDLER { return x.sin() * x.flip([0]) } }
(y, pull) = func::vjp(f, [arange(3, dtype=float32)])
HANDLER { print(y, pull(ones(3))) }
)"},
    {"jvp", R"(
fn f(Tensor x) -> Tensor { HANDLER { return softmax(x.tanh() @ x.T, 1) } }
x = arange(6, dtype=float32).view(2, 3) / 6
print(func::jvp(f, [x], [x.cos()]))
)"},
    {"hessian", R"(
fn f(Tensor x) -> Tensor { HANDLER { return (x.exp() * x.roll(1)).sum() } }
h = func::hessian(f)
j = func::jacrev(func::jacrev(f))
print(h(arange(3, dtype=float32) / 3), j(arange(3, dtype=float32) / 3))
)"},
    {"vmap of grad", R"(
fn f(Tensor w, Tensor x) -> Tensor { HANDLER { return cross_entropy_loss(linear(x, w).unsqueeze(0), tensor([1])) } }
each = func::vmap(func::grad(f), [None, 0])
print(each(arange(6, dtype=float32).view(2, 3) / 6, arange(12, dtype=float32).view(4, 3) / 12))
)"},
    {"autocast", R"(
w = (arange(9, dtype=float32).view(3, 3) / 9).requires_grad_()
with autocast("cpu", bfloat16) {
    HANDLER {
        y = (w @ w).softmax(0)
        loss = (y @ w).float().sum()
    }
}
HANDLER { loss.backward() }
print(y.dtype, loss, w.grad)
)"},
    {"functionalize", R"(
x = zeros(3, 4)
with functionalize() {
    HANDLER {
        x[1].add_(2)
        x.t()[0].mul_(3).sub_(1)
        a, b = x.split(2)
        b.fill_(7)
        out = empty(0)
        add(a, 1, out=out)
    }
    print(x.sum())
}
print(x, out)
)"},
    {"functionalize with copies of views", R"(
x = arange(6, dtype=float32)
with functionalize(views="copy") {
    HANDLER {
        rows = x.view(2, 3)
        rows.diagonal().zero_()
        rows.unsqueeze_(0)
        y = rows * 2
    }
}
print(x, y)
)"},
    {"func::functionalize", R"(
fn f(Tensor x) -> Tensor { HANDLER { x[0].mul_(2); y = x.exp(); y.sub_(x); return y } }
g = func::functionalize(f)
x = ones(3)
print(g(x), x)
)"},
    {"fake", R"(
with fake() {
    HANDLER {
        x = rand(100, 200)
        y = (x @ x.T).relu_()
        y[0] = 1
        print(y.shape, y.device, y[3:].T.shape)
    }
}
)"},
    {"deferred_init", R"(
fn make() -> Dict(str, Tensor) { HANDLER { w = ones(2, 3); w[0].mul_(4); return {"w": w, "b": w.sum(1) + rand(2)} } }
manual_seed(5)
made = func::deferred_init(make)
HANDLER { print(func::materialize(made)) }
)"},
    {"all together", R"(
fn f(Tensor x) -> Tensor { HANDLER { y = x.clone(); y[0].mul_(2); return (y.sin() @ y).sum() } }
slopes = func::vmap(func::grad(func::functionalize(f)))
with autocast("cpu", bfloat16) { print(slopes(arange(6, dtype=float32).view(2, 3) / 6)) }
)"},
};

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// The `with` that opens a handler; its file is another one each time.
std::string scopeOf(const HandlerKind& kind, const std::string& folder) {
  std::string values;
  for (const Argument& argument : kind.parsedSchema().arguments()) {
    if (argument.name() == "path") values = "\"" + folder + "/inner_" + std::string(kind.name()) + "\"";
    if (argument.name() == "pattern") values = "\"no::such_operator\"";
  }
  return fmt::format("with {}({})", kind.name(), values);
}

struct Outcome {
  std::string output;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

Outcome outcomeOf(const std::string& text) {
  Outcome outcome;
  outcome.output = outputOf([&] { outcome.error = errorOf([&] { Program::compile(text, "transforms.ops").run(); }); });
  return outcome;
}

class HandlerTransforms : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(modeCount(), 0U);
    EXPECT_TRUE(tls_local_dispatch_key_set().included_ == before_.included_);
    EXPECT_TRUE(tls_local_dispatch_key_set().excluded_ == before_.excluded_);
  }

  static std::string plain(const std::string& text) {
    return replaced(text, "HANDLER", "with exclude(TESTING_ONLY_GenericMode)");
  }

  const TemporaryFolder folder_;
  const LocalDispatchKeySet before_ = tls_local_dispatch_key_set();
};

TEST_F(HandlerTransforms, AroundATransformChangeNothing) {
  for (const auto& [name, text] : kPrograms) {
    const Outcome expected = outcomeOf(plain(text));
    EXPECT_EQ(expected.error, "no error") << name;
    for (const HandlerKind* kind : handlerKinds()) {
      const auto handler = makeHarmless(*kind, folder_.path());
      Outcome found;
      {
        const HandlerGuard on(*handler);
        found = outcomeOf(plain(text));
      }
      EXPECT_EQ(found.output, expected.output) << kind->name() << " around " << name;
      EXPECT_EQ(found.error, expected.error) << kind->name() << " around " << name;
      EXPECT_EQ(errorOf([&] { handler->finish(false); }), "no error") << kind->name() << " around " << name;
    }
  }
}

TEST_F(HandlerTransforms, InsideOfATransformChangeNothing) {
  for (const auto& [name, text] : kPrograms) {
    const Outcome expected = outcomeOf(plain(text));
    for (const HandlerKind* kind : handlerKinds()) {
      const Outcome found = outcomeOf(replaced(text, "HANDLER", scopeOf(*kind, folder_.path())));
      EXPECT_EQ(found.output, expected.output) << kind->name() << " inside of " << name;
      EXPECT_EQ(found.error, expected.error) << kind->name() << " inside of " << name;
    }
  }
}

// A trace has what a transform calls on plain tensors, and does the same without it.
TEST_F(HandlerTransforms, ATraceOfATransformRunsWithoutIt) {
  const HandlerKind* trace = nullptr;
  for (const HandlerKind* kind : handlerKinds()) {
    if (kind->name() == "trace") trace = kind;
  }
  ASSERT_NE(trace, nullptr);
  for (const auto& [name, text] : kPrograms) {
    // What has no elements, or draws numbers by the slice, is not repeated.
    if (name == "fake" || name == "deferred_init") continue;
    const Outcome expected = outcomeOf(plain(text));
    const std::string path = folder_.path() + "/traced.ops";
    const auto handler = trace->make(harmlessArguments(*trace, path));
    {
      const HandlerGuard on(*handler);
      outcomeOf(plain(text));
    }
    handler->finish(false);
    const std::string program = folder_.read("traced.ops");
    for (const char* transform : {"func::", "functionalize", "autocast"}) {
      EXPECT_EQ(program.find(transform), std::string::npos) << name << ":\n" << program;
    }
    Outcome found;
    found.output = outputOf([&] { found.error = errorOf([&] { Program::load(path).run(); }); });
    EXPECT_EQ(found.output, expected.output) << name << ":\n" << program;
    EXPECT_EQ(found.error, "no error") << name << ":\n" << program;
  }
}

// What the handler reports of a run of [text], which must not fail.
std::string reportOf(std::string_view name, const std::string& path, const std::string& text) {
  for (const HandlerKind* kind : handlerKinds()) {
    if (kind->name() != name) continue;
    const auto handler = kind->make(harmlessArguments(*kind, path));
    {
      const HandlerGuard on(*handler);
      EXPECT_EQ(outcomeOf(text).error, "no error");
    }
    return handler->finish(false);
  }
  return "";
}

TEST_F(HandlerTransforms, SeeTheWorkOnAllSlices) {
  const std::string text = R"(
fn f(Tensor w, Tensor x) -> Tensor { return w @ x }
each = func::vmap(f, [None, 0])
y = each(ones(8, 16), ones(4, 16))
)";
  const std::string cost = reportOf("cost", "", text);
  // Twice 8 * 16 * 4.
  EXPECT_NE(cost.find("1.02 k"), std::string::npos) << cost;
  const std::string memory = reportOf("memory", "", text);
  // 4 slices of 8 numbers.
  EXPECT_NE(memory.find("aten::bmm                      1      128 B"), std::string::npos) << memory;
  const std::string profile = reportOf("profile", "", text);
  for (const char* op : {"aten::matmul", "aten::bmm"}) EXPECT_NE(profile.find(op), std::string::npos) << profile;
}

TEST_F(HandlerTransforms, SeeTheWorkOfFakeTensorsAsIfTheyWereReal) {
  const std::string text = "with fake() { y = ones(1000, 1000) @ ones(1000, 1000) }\n";
  const std::string cost = reportOf("cost", "", text);
  EXPECT_NE(cost.find("2.00 G"), std::string::npos) << cost;
  const std::string memory = reportOf("memory", "", text);
  EXPECT_NE(memory.find("memory: at most 11.4 MiB at once"), std::string::npos) << memory;
}

TEST_F(HandlerTransforms, RecordWhatATransformCallsOnPlainTensors) {
  const std::string text = R"(
fn f(Tensor x) -> Tensor { return (x * 2).relu() }
each = func::vmap(f)
y = each(ones([2, 3]))
)";
  const std::string recorded = reportOf("record", folder_.path() + "/recorded", text);
  EXPECT_NE(recorded.find("3 calls are recorded"), std::string::npos) << recorded;
}

TEST_F(HandlerTransforms, StopCallsInsideOfTransforms) {
  // Each ends with the error that its handler gives, at the line of the function.
  const std::vector<std::pair<std::string, std::string>> programs = {
      {R"(fn f(Tensor x) -> Tensor { return (x * 2).relu() }
each = func::vmap(f)
with deny("aten::relu") { y = each(ones([2, 3])) }
)",
       "aten::relu is denied by the pattern 'aten::relu'"},
      {R"(fn f(Tensor x) -> Tensor { return x.relu().sum() }
g = func::grad(f)
with deny("aten::threshold_backward") { y = g(ones(3)) }
)",
       "aten::threshold_backward is denied by the pattern 'aten::threshold_backward'"},
      {R"(fn f(Tensor x) -> Tensor { return x.sin() }
with deny("aten::cos") { (y, dy) = func::jvp(f, [ones(3)], [ones(3)]) }
)",
       "aten::cos is denied by the pattern 'aten::cos'"},
      {R"(fn f(Tensor x) -> Tensor { return (x - 1).log().sum() }
each = func::vmap(func::grad(f))
with check_nan() { y = each(tensor([[2.0, 1.0], [0.5, 3.0]])) }
)",
       "aten::log made 1 NaN and 1 Inf in the 4 elements of its result"},
      {R"(x = ones(2)
with functionalize() { with deny("aten::add_") { x.add_(1) } }
)",
       "aten::add_.Scalar is denied by the pattern 'aten::add_'"},
      {R"(with autocast("cpu", bfloat16) { with deny("aten::_to_copy") { y = ones(2, 2) @ ones(2, 2) } }
)",
       "aten::_to_copy is denied by the pattern 'aten::_to_copy'"},
      {R"(fn f(Tensor x) -> Tensor { return x.exp() }
each = func::vmap(f)
with inject("aten::exp") { y = each(ones([2, 3])) }
)",
       "aten::exp"},
      {R"(with fake() { with deny("aten::mm") { y = ones(2, 2) @ ones(2, 2) } }
)",
       "aten::mm is denied by the pattern 'aten::mm'"},
  };
  for (const auto& [text, error] : programs) {
    const Outcome found = outcomeOf(text);
    EXPECT_EQ(found.error.substr(0, error.size()), error) << text;
    EXPECT_EQ(modeCount(), 0U) << text;
  }
}

}  // namespace
}  // namespace boxcar
