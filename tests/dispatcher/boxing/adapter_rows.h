#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {

// Converts an argument to the result of a kernel that returns its argument: a span or view becomes a type that owns its
// elements.
template <class Result, class Arg>
Result asResult(const Arg& argument) {
  if constexpr (requires { argument.subspan(0); }) {
    return Result(argument.begin(), argument.end());
  } else if constexpr (requires { argument->subspan(0); }) {
    if (!argument.has_value()) return std::nullopt;
    return Result(std::in_place, argument->begin(), argument->end());
  } else {
    return Result(argument);
  }
}

inline void expectSame(const IValue& found, const IValue& expected, const char* path) {
  EXPECT_EQ(found.tag(), expected.tag()) << path;
  EXPECT_TRUE(found == expected) << path << ": " << repr(found) << ", not " << repr(expected);
}

// A row of the type table. Calls an operator `echo(TYPE x) -> TYPE` with [value] as an Arg and with the equal [boxed],
// and pairs each caller with each kind of kernel.
template <class Arg, class Result = std::remove_cvref_t<Arg>>
class Row {
 public:
  using Value = std::remove_cvref_t<Arg>;

  Row(std::string type, Value value, IValue boxed)
      : type_(std::move(type)), value_(std::move(value)), boxed_(std::move(boxed)) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, type_);
    checkKernel("unboxed", [](Arg x) -> Result { return asResult<Result>(x); });
    checkKernel("unboxed with keys", [](DispatchKeySet, Arg x) -> Result { return asResult<Result>(x); });
    int state = 0;
    checkKernel("with state", [&state](Arg x) -> Result { return ++state, asResult<Result>(x); });
    EXPECT_EQ(state, 2);
    checkKernel("boxed", CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack* stack) {
                  IValue x = pop(*stack);
                  push(*stack, std::move(x));
                }));
    checkKernel("boxed with keys",
                CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, DispatchKeySet, Stack&) {}));
    checkShortStack();
  }

  // Checks that [wrong] is refused as an argument of unboxed kernels and as a result of boxed ones. [found] is its
  // description in the error.
  const Row& refuses(const IValue& wrong, const char* found) const {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, type_);
    Library m = define();
    m.impl("echo", [](Arg x) -> Result { return asResult<Result>(x); });
    Stack stack{IValue(1), wrong};
    EXPECT_EQ(errorOf([&] { find("row::echo").callBoxed(stack); }),
              fmt::format("row::echo() expected a value of type {} for argument 'x' (position 1 of 1), but found {}. "
                          "Schema: {}",
                          type_, found, schema()));
    EXPECT_EQ(stack.size(), 2U);
    EXPECT_TRUE(stack.back().is(wrong) || stack.back() == wrong);

    Library boxed(Library::IMPL, "row", std::nullopt, "row.cpp", 1);
    boxed.impl("echo", CppFunction::makeFromBoxedFunctor(
                           [&wrong](const OperatorHandle&, Stack& results) { results.back() = wrong; }));
    EXPECT_EQ(
        errorOf([&] { find("row::echo").typed<Result(Arg)>().call(value_); }),
        fmt::format(
            "a boxed kernel or handler of row::echo left {} on the stack as result 1 of 1, but the operator returns "
            "{}: {}",
            found, type_, schema()));
    return *this;
  }

 private:
  std::string schema() const { return fmt::format("row::echo({} x) -> {}", type_, type_); }
  Library define() const {
    Library m = definitions("row");
    m.def(schema());
    return m;
  }

  void checkKernel(const char* kind, CppFunction kernel) {
    Library m = define();
    m.impl("echo", std::move(kernel));
    const OperatorHandle op = find("row::echo");
    expectSame(IValue(op.typed<Result(Arg)>().call(value_)), boxed_, kind);
    Stack stack{IValue("below"), boxed_};
    op.callBoxed(stack);
    ASSERT_EQ(stack.size(), 2U) << kind;
    EXPECT_EQ(stack[0].toStringRef(), "below") << kind;
    expectSame(stack[1], boxed_, kind);
  }

  void checkShortStack() const {
    const Library m = define();
    Stack stack;
    EXPECT_EQ(errorOf([&] { find("row::echo").callBoxed(stack); }),
              "row::echo() takes 1 arguments, but the stack holds 0 values; push all arguments, those with defaults "
              "too. Schema: " +
                  schema());
  }

  std::string type_;
  Value value_;
  IValue boxed_;
};

// Checks a row.
template <class Arg, class Result = std::remove_cvref_t<Arg>>
Row<Arg, Result> argumentRow(std::string type, std::remove_cvref_t<Arg> value, IValue boxed) {
  return {std::move(type), std::move(value), std::move(boxed)};
}

}  // namespace boxcar
