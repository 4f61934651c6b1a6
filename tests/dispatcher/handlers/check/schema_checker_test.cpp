#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/handlers/check/schema_checker.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/stopped_error.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tests/dispatcher/handlers/check/checker_helpers.h"

namespace boxcar {
namespace {

Tensor same(const Tensor& x) { return x; }
Tensor viewOf(const Tensor& x) { return x.view(x.sizes(), x.strides(), x.storage_offset()); }
Tensor copyOf(const Tensor& x) { return clone(x); }

class SchemaCheckerTest : public ::testing::Test {
 protected:
  // Returns the Error of a call of an operator defined for it.
  template <class Kernel, class... Args>
  std::string errorOfOperator(const std::string& schema, Kernel kernel, const Args&... args) {
    Library library = definitions("promise");
    library.def(schema, CppFunction(kernel));
    return errorUnder(checker_, find(("promise::" + schema.substr(0, schema.find('('))).c_str()), args...);
  }

  SchemaChecker checker_;
  Tensor x_ = floats({1, 2});
};

void leaveTwo(const OperatorHandle&, DispatchKeySet, Stack* stack) { push(stack, 1); }
void leaveAnInt(const OperatorHandle&, DispatchKeySet, Stack* stack) {
  drop(stack, 1);
  push(stack, 1);
}
void takeTwo(const OperatorHandle&, DispatchKeySet, Stack* stack) { drop(stack, 2); }

TEST_F(SchemaCheckerTest, CountsResultsAndLooksAtTheirTypes) {
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> Tensor", CppFunction::makeFromBoxedFunction<&leaveTwo>(), x_),
            "promise::f left 2 results, but promise::f(Tensor x) -> Tensor promises 1: its kernel must pop all "
            "arguments and push exactly the results");
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> Tensor", CppFunction::makeFromBoxedFunction<&leaveAnInt>(), x_),
            "promise::f returned int as its result, but promise::f(Tensor x) -> Tensor promises Tensor");
  Library library = definitions("promise");
  library.def("g(Tensor x) -> Tensor", CppFunction::makeFromBoxedFunction<&takeTwo>());
  EXPECT_EQ(errorOf([&] {
              const HandlerGuard guard(checker_);
              Stack stack{IValue(1), IValue(x_)};
              find("promise::g").callBoxed(stack);
            }),
            "promise::g took 1 values more off the stack than it has arguments: promise::g(Tensor x) -> Tensor");
}

TEST_F(SchemaCheckerTest, FindsWritesThatAreNotMarked) {
  const auto write = [](const Tensor& x, const Tensor& y) {
    y.data_ptr<float>()[1] = 7;
    return neg(x);
  };
  EXPECT_EQ(errorOfOperator("f(Tensor x, Tensor y) -> Tensor", write, x_, floats({1, 2})),
            "promise::f changed elements of argument 'y', but promise::f(Tensor x, Tensor y) -> Tensor does not mark "
            "it as written: write to a copy, or mark it (a!)");
  const auto write_element = [](const List<Tensor>& xs) { xs[1].data_ptr<float>()[0] = 7; };
  EXPECT_EQ(errorOfOperator("f(Tensor[] xs) -> ()", write_element, List<Tensor>{x_, floats({1})}),
            "promise::f changed elements of argument 'xs'[1], but promise::f(Tensor[] xs) -> () does not mark it as "
            "written: write to a copy, or mark it (a!)");
}

TEST_F(SchemaCheckerTest, FindsShapesAndListsThatChange) {
  const auto reshape = [](const Tensor& x) {
    x.unsafeGetTensorImpl()->setShape(std::vector<int64_t>{1}, std::vector<int64_t>{1}, 0);
  };
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> ()", reshape, floats({1, 2})),
            "promise::f made argument 'x' float32[1] with strides [1], which was float32[2] with strides [1], but "
            "promise::f(Tensor x) -> () does not mark it as written: work on a view, or mark it (a!)");
  EXPECT_EQ(
      errorOfOperator(
          "f(str[] names) -> ()", [](const List<std::string>& names) { names.push_back("x"); }, List<std::string>{"a"}),
      "promise::f changed the contents of argument 'names', but promise::f(str[] names) -> () does not mark it as "
      "written: work on a copy, or mark it (a!)");
}

TEST_F(SchemaCheckerTest, AllowsWritesToWhatIsMarkedWhereverItIsSeen) {
  const auto write = [](Tensor& x, const Tensor& y) -> Tensor& { return add_(x, y); };
  const std::string schema = "f(Tensor(a!) x, Tensor y) -> Tensor(a!)";
  EXPECT_EQ(errorOfOperator(schema, write, floats({1, 2}), x_), "no error");
  const Tensor both = floats({1, 2});
  EXPECT_EQ(errorOfOperator(schema, write, both, both), "no error");
  const Tensor base = floats({1, 2, 3, 4}, {2, 2});
  const auto overwrite = [](Tensor& x, const Tensor&) -> Tensor& { return fill_(x, 9); };
  EXPECT_EQ(errorOfOperator(schema, overwrite, select(base, 0, 0), transpose(base, 0, 1)), "no error");
}

// Elements outside the marked argument must not be written.
TEST_F(SchemaCheckerTest, FindsWritesBesideWhatIsMarked) {
  const auto write_far = [](Tensor& x, const Tensor&) { x.data_ptr<float>()[2] = 7; };
  const Tensor base = floats({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(errorOfOperator("f(Tensor(a!) x, Tensor y) -> ()", write_far, select(base, 0, 0), base),
            "promise::f changed elements of argument 'y', but promise::f(Tensor(a!) x, Tensor y) -> () does not mark "
            "it as written: write to a copy, or mark it (a!)");
}

TEST_F(SchemaCheckerTest, FindsMemoryThatIsSharedUnannounced) {
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> Tensor", &same, x_),
            "promise::f returned argument 'x' as its result, but promise::f(Tensor x) -> Tensor does not say that they "
            "share it: return a copy, or annotate both with (a)");
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> Tensor", &viewOf, x_),
            "promise::f returned memory of argument 'x' as its result, but promise::f(Tensor x) -> Tensor does not say "
            "that they share it: return a copy, or annotate both with (a)");
  const auto twins = [](const Tensor& x) {
    const Tensor y = clone(x);
    return std::tuple(y, viewOf(y));
  };
  EXPECT_EQ(
      errorOfOperator("f(Tensor x) -> (Tensor a, Tensor b)", twins, x_),
      "promise::f returned the same memory as its result 0 ('a') and as its result 1 ('b'), but promise::f(Tensor x) "
      "-> (Tensor a, Tensor b) does not say that they share it: return copies, or annotate both with (a)");
  const auto other = [](const Tensor&, const Tensor& y) { return viewOf(y); };
  EXPECT_EQ(errorOfOperator("f(Tensor(a) x, Tensor y) -> Tensor(a)", other, x_, floats({1})),
            "promise::f returned new memory as its result, but promise::f(Tensor(a) x, Tensor y) -> Tensor(a) promises "
            "a view of argument 'x': return a view, or remove the annotation (or tag it maybe_aliasing_or_mutating if "
            "it may be either)");
}

TEST_F(SchemaCheckerTest, FindsCopiesWhereAViewWasPromised) {
  EXPECT_EQ(errorOfOperator("f(Tensor(a) x) -> Tensor(a)", &copyOf, x_),
            "promise::f returned new memory as its result, but promise::f(Tensor(a) x) -> Tensor(a) promises a view of "
            "argument 'x': return a view, or remove the annotation (or tag it maybe_aliasing_or_mutating if it may be "
            "either)");
  EXPECT_EQ(errorOfOperator("f(Tensor(a) x) -> Tensor(a)", &viewOf, x_), "no error");
  Library library = definitions("promise");
  library.def("either(Tensor(a) x) -> Tensor(a)", CppFunction(&copyOf), {Tag::maybe_aliasing_or_mutating});
  EXPECT_EQ(errorUnder(checker_, find("promise::either"), x_), "no error");
}

void giveACopy(const OperatorHandle&, DispatchKeySet, Stack* stack) {
  const Tensor x = pop(stack).toTensor();
  push(stack, clone(x));
}

TEST_F(SchemaCheckerTest, WantsTheWrittenArgumentItself) {
  EXPECT_EQ(errorOfOperator("f(Tensor(a!) x) -> Tensor(a!)", CppFunction::makeFromBoxedFunction<&giveACopy>(), x_),
            "promise::f returned another tensor than argument 'x' as its result, but promise::f(Tensor(a!) x) -> "
            "Tensor(a!) promises that very tensor: return the argument itself");
}

TEST_F(SchemaCheckerTest, LetsListsOfViewsShareWhatTheySay) {
  EXPECT_EQ(errorUnder(checker_, find("aten::split", "Tensor"), floats({1, 2, 3}), 1, 0), "no error");
  const Tensor x = floats({1, 2});
  EXPECT_EQ(errorUnder(checker_, find("aten::expand_as"), x, x), "no error");
}

TEST_F(SchemaCheckerTest, FindsResultsThatDiffer) {
  const auto counter = [count = std::make_shared<int>(0)](const Tensor& x) { return add(x, ++*count); };
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> Tensor", counter, x_),
            "promise::f returned other bits in its result when it was called again with the same inputs: tag it "
            "nondeterministic_seeded if it draws random numbers, nondeterministic_bitwise if its bits mean nothing, io "
            "if it depends on what lies outside");
  const auto number = [count = std::make_shared<int64_t>(0)](const Tensor&) { return ++*count; };
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> int", number, x_),
            "promise::f returned 1 as its result, but 2 when it was called again with the same inputs: tag it "
            "nondeterministic_seeded if it draws random numbers, nondeterministic_bitwise if its bits mean nothing, io "
            "if it depends on what lies outside");
  const auto random = [](Tensor& x) -> Tensor& { return uniform_(x); };
  EXPECT_EQ(errorOfOperator("f(Tensor(a!) x) -> Tensor(a!)", random, floats({1, 2})),
            "promise::f returned other bits in its result when it was called again with the same inputs: tag it "
            "nondeterministic_seeded if it draws random numbers, nondeterministic_bitwise if its bits mean nothing, io "
            "if it depends on what lies outside");
  const auto once = [count = std::make_shared<int>(0)](const Tensor& x) {
    BOXCAR_CHECK(++*count == 1, "only once");
    return neg(x);
  };
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> Tensor", once, x_),
            "promise::f failed when it was called again with the same inputs: only once");
}

TEST_F(SchemaCheckerTest, TakesTaggedOperatorsAtTheirWord) {
  const auto counter = [count = std::make_shared<int>(0)](const Tensor& x) { return add(x, ++*count); };
  for (const Tag tag : {Tag::nondeterministic_seeded, Tag::nondeterministic_bitwise, Tag::io}) {
    Library library = definitions("promise");
    library.def("f(Tensor x) -> Tensor", counter, {tag});
    EXPECT_EQ(errorUnder(checker_, find("promise::f"), x_), "no error") << toString(tag);
  }
}

TEST_F(SchemaCheckerTest, NaNsAreEqualByTheirBits) {
  EXPECT_EQ(errorUnder(checker_, find("aten::log"), floats({-1, 2})), "no error");
}

// The arguments of the second run have the memory layout of the real ones.
TEST_F(SchemaCheckerTest, TheSecondRunTouchesNothingAndSeesTheSame) {
  std::vector<std::string> runs;
  const auto note = [&runs](Tensor& x, const Tensor& y) {
    runs.push_back(fmt::format("{} {} {}", toString(y), fmt::join(y.strides(), ","), x.storage() == y.storage()));
    add_(x, 1);
  };
  const Tensor base = floats({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(errorOfOperator("f(Tensor(a!) x, Tensor y) -> ()", note, select(base, 0, 0), transpose(base, 0, 1)),
            "no error");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(runs[0], "tensor([[1., 3.],\n        [2., 4.]]) 1,2 true");
  EXPECT_EQ(toString(base), "tensor([[2., 3.],\n        [3., 4.]])");
}

TEST_F(SchemaCheckerTest, NobodySeesTheSecondRun) {
  std::vector<std::string> seen;
  const ModeGuard outer(
      [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        seen.push_back(op.operator_name().name);
        op.redispatchBoxed(keys, stack);
      },
      {.sees_calls_below = true});
  size_t observed = 0;
  addThreadLocalCallback(RecordFunctionCallback([&](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
    ++observed;
    return nullptr;
  }));
  EXPECT_EQ(errorUnder(checker_, find("aten::linear"), floats({1}, {1, 1}), floats({1}, {1, 1}), IValue()), "no error");
  clearThreadLocalCallbacks();
  EXPECT_EQ(seen, (std::vector<std::string>{"aten::linear", "aten::t", "aten::matmul", "aten::mm"}));
  EXPECT_EQ(observed, 4U);
}

TEST_F(SchemaCheckerTest, WhatGivesAndWritesNothingIsDoneOnce) {
  int done = 0;
  Library library = definitions("promise");
  library.def("tell(Tensor x) -> ()", [&](const Tensor&) { ++done; });
  library.def("outer(Tensor x) -> Tensor", [](const Tensor& x) {
    find("promise::tell").typed<void(const Tensor&)>().call(x);
    return neg(x);
  });
  EXPECT_EQ(errorUnder(checker_, find("promise::tell"), x_), "no error");
  EXPECT_EQ(done, 1);
  EXPECT_EQ(errorUnder(checker_, find("promise::outer"), x_), "no error");
  EXPECT_EQ(done, 2);
}

// As the manual says, an operator with side effects and a result must have a tag.
TEST_F(SchemaCheckerTest, OperatorsWithoutATagAreCalledAgain) {
  int done = 0;
  const auto note = [&](const Tensor& x) {
    ++done;
    return neg(x);
  };
  Library library = definitions("promise");
  library.def("f(Tensor x) -> Tensor", note);
  library.def("outer(Tensor x) -> Tensor",
              [](const Tensor& x) { return add(find("promise::f").typed<Tensor(const Tensor&)>().call(x), x); });
  EXPECT_EQ(errorUnder(checker_, find("promise::f"), x_), "no error");
  EXPECT_EQ(done, 2);
  EXPECT_EQ(errorUnder(checker_, find("promise::outer"), x_), "no error");
  EXPECT_EQ(done, 2 + 3);
}

TEST_F(SchemaCheckerTest, WhatIsStoppedInTheSecondRunIsNoFault) {
  const auto stops_later = [count = std::make_shared<int>(0)](const Tensor& x) {
    if (++*count == 2) throw StoppedError("stopped");
    return neg(x);
  };
  EXPECT_EQ(errorOfOperator("f(Tensor x) -> Tensor", stops_later, x_), "stopped");
}

TEST_F(SchemaCheckerTest, WhatActsOutsideIsDoneOnce) {
  int written = 0;
  Library library = definitions("promise");
  library.def("write(Tensor x) -> ()", [&](const Tensor&) { ++written; }, {Tag::io});
  library.def("outer(Tensor x) -> Tensor", [](const Tensor& x) {
    find("promise::write").typed<void(const Tensor&)>().call(x);
    return neg(x);
  });
  EXPECT_EQ(errorUnder(checker_, find("promise::outer"), x_), "no error");
  EXPECT_EQ(written, 1);
}

// A mode further out may change results; that is not the operator's fault.
TEST_F(SchemaCheckerTest, LetsOtherModesChangeResults) {
  const ModeGuard outer([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    op.redispatchBoxed(keys, stack);
    if (op.operator_name().name == "aten::neg") stack.back() = floats({7});
  });
  EXPECT_EQ(errorUnder(checker_, find("aten::neg"), x_), "no error");
}

TEST_F(SchemaCheckerTest, FindsTheOperatorBelow) {
  Library library = definitions("promise");
  library.def("inner(Tensor x) -> Tensor", CppFunction(&same));
  library.def("outer(Tensor x) -> Tensor",
              [](const Tensor& x) { return neg(find("promise::inner").typed<Tensor(const Tensor&)>().call(x)); });
  EXPECT_EQ(errorUnder(checker_, find("promise::outer"), x_),
            "promise::inner returned argument 'x' as its result, but promise::inner(Tensor x) -> Tensor does not say "
            "that they share it: return a copy, or annotate both with (a)");
}

TEST_F(SchemaCheckerTest, PassesErrorsFromBelowThrough) {
  EXPECT_EQ(errorUnder(checker_, find("aten::view"), x_, std::vector<int64_t>{7}),
            "shape '[7]' is invalid for input of size 2");
  EXPECT_EQ(modeCount(), 0U);
}

TEST_F(SchemaCheckerTest, NestsInItself) {
  const HandlerGuard outer(checker_);
  EXPECT_EQ(errorUnder(checker_, find("aten::softmax", "int"), x_, 0, IValue()), "no error");
}

}  // namespace
}  // namespace boxcar
