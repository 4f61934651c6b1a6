// What the preparation of programs makes of tensors that are joined again and again.

#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/storage_observer.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/interpreter/prepare/prepared_script.h"
#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

// A program of two layers of attention whose first layer has [statement] between the join and its return.
std::string decoder(const std::string& statement, const std::string& in_step = "") {
  return "import \"nn.ops\"\n"
         "fn attend(Tensor q, Tensor past, Tensor k) -> (Tensor, Tensor) {\n    keys = cat([past, k], 2)\n" +
         statement +
         "    return scaled_dot_product_attention(q, keys, keys), keys\n}\n"
         "fn step(Tensor x, Tensor[] caches) -> (Tensor, Tensor[]) {\n    first, second = caches\n"
         "    y, a = attend(x, first, x)\n    z, b = attend(y, second, y)\n" +
         in_step + "    return z, [a, b]\n}\n";
}

bool grows(const std::string& script) {
  return preparedScript(script, "test.ops").find("fused::append(past, k, 2)") != std::string::npos;
}

TEST(GrowingTensors, ThatAreReturnedGrowInPlace) {
  EXPECT_TRUE(grows(decoder("")));
  EXPECT_TRUE(grows(decoder("    scores = q @ keys.transpose(2, 3)\n    length = keys.size(2)\n")));
}

TEST(GrowingTensors, ThatSomethingReadsByItsStridesStay) {
  EXPECT_FALSE(grows(decoder("    flat = keys.view(-1)\n")));
  EXPECT_FALSE(grows(decoder("    other = keys.transpose(2, 3)\n    flat = other.view(-1)\n")));
  EXPECT_FALSE(grows(decoder("    twice = keys * 2\n")));
  EXPECT_FALSE(grows(decoder("    if k.size(2) > 1 {\n        other = keys.view(-1)\n    }\n")));
  EXPECT_FALSE(grows(decoder("", "    flat = a.view(-1)\n")));
}

// The importing script may read it by its strides.
TEST(GrowingTensors, ThatAnImportedFileReturnsStay) {
  const TemporaryFolder folder;
  folder.write("layers.ops", decoder("") + "fn half(Tensor x) -> Tensor {\n    return x * 0.5 + x\n}\n");
  const std::string script = "import \"layers.ops\"\nprint(half(ones(2)))\n";
  const interp::PreparedScript prepared = interp::prepareScript(script, folder / "test.ops");
  ASSERT_EQ(prepared.imports.size(), 1);
  const std::string& text = prepared.imports.begin()->second.text;
  EXPECT_NE(text.find("fused::pointwise"), std::string::npos) << text;
  EXPECT_EQ(text.find("fused::append"), std::string::npos) << text;
}

TEST(GrowingTensors, ThatAreNotKeptStay) {
  const std::string script =
      "import \"nn.ops\"\nfn f(Tensor q, Tensor a, Tensor b) -> Tensor {\n"
      "    keys = cat([a, b], 2)\n    return scaled_dot_product_attention(q, keys, keys)\n}\n";
  EXPECT_EQ(preparedScript(script, "test.ops").find("append"), std::string::npos);
}

TEST(GrowingTensors, OfACallerThatGivesThemAwayAreNotCopied) {
  Program plain = Program::compile(decoder(""), "test.ops");
  Program program = Program::compile(decoder(""), "test.ops");
  program.prepare();
  const Tensor token = randn({1, 4, 1, 16});
  const Tensor past = randn({1, 4, 128, 16});
  const auto start = [&past] { return IValue(List<Tensor>({clone(past), clone(past)})); };
  const auto step = [&token](Program& of, IValue& caches) {
    Stack stack;
    push(stack, token, std::move(caches));
    of.function("step").call(stack);
    caches = pop(stack);
    return pop(stack).toTensor();
  };
  const auto at = [](const IValue& caches, size_t i) { return caches.elementAt(i).toTensor(); };
  IValue expected = start();
  IValue caches = start();
  step(plain, expected);
  step(program, caches);
  const void* const memory[] = {at(caches, 0).data_ptr(), at(caches, 1).data_ptr()};
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(allclose(step(plain, expected), step(program, caches)));
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(at(caches, k).data_ptr(), memory[k]);
      EXPECT_TRUE(allclose(at(caches, k), at(expected, k)));
    }
  }
  // A caller that keeps its list keeps what is in it.
  const IValue kept = caches;
  const Tensor before = clone(at(kept, 0));
  step(program, caches);
  EXPECT_NE(at(caches, 0).data_ptr(), at(kept, 0).data_ptr());
  EXPECT_TRUE(equal(at(kept, 0), before));
}

TEST(GrowingTensors, OfALoopInAScriptAreNotCopied) {
  Program program = Program::compile(decoder("") +
                                         "fn decode(int steps) -> () {\n"
                                         "    caches = [randn(1, 4, 128, 16), randn(1, 4, 128, 16)]\n"
                                         "    for i in range(steps) {\n"
                                         "        y, caches = step(randn(1, 4, 1, 16), caches)\n    }\n}\n",
                                     "test.ops");
  program.prepare();
  const auto allocatedBy = [&program](int64_t steps) {
    const uint64_t before = allocatedStorageBytes();
    Stack stack;
    push(stack, steps);
    program.function("decode").call(stack);
    return allocatedStorageBytes() - before;
  };
  constexpr uint64_t kCache = sizeof(float) * 4 * 128 * 16;
  EXPECT_LT(allocatedBy(40) - allocatedBy(20), kCache);
}

}  // namespace
}  // namespace boxcar
