// Bytecode that the verifier accepts cannot crash the machine, even if no compiler would write it: it ends normally or
// with an error.

#include <boxcar/interpreter/bytecode/assembler.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/session/program.h>
#include <gtest/gtest.h>

#include "tests/interpreter/compiler/code_helpers.h"
#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

// Returns the error of the script with this [code] and these [slots]; "no error" if there is none.
std::string failureOf(const std::string& slots, const std::string& code, const std::string& shared = "") {
  const std::string text =
      "boxcar bytecode 1\n" + shared + "fn 0 \"<script>\" 0 -> Value\n slots " + slots + "\n" + code;
  const std::string error =
      errorOf([&] { Program::fromUnit(assemble(Source::create("test.asm", text + "end\n"))).run(); });
  return error.substr(0, error.find('\n'));
}

TEST(BytecodeSafety, AWalkThatNothingHasBegunFails) {
  EXPECT_EQ(failureOf("Value Int Value", "0 EachNext v0, v2, -> 0\n1 ReturnNone\n"),
            "a loop cannot continue over NoneType: it was never started");
}

TEST(BytecodeSafety, AWalkWhoseStateIsWrittenFailsOrEnds) {
  EXPECT_EQ(failureOf("Value Int Value",
                      "0 LoadConstant v2, constant 0\n1 EachInit v0, v2\n2 LoadConstant v0, constant 1\n"
                      "3 EachNext v0, v2, -> 3\n4 ReturnNone\n",
                      "constant 0 int[1, 2]\nconstant 1 \"text\"\n"),
            "a loop cannot continue over str: it was never started");
  // Positions far behind the end and before the beginning.
  for (const std::string position : {"1000000", "-5"}) {
    EXPECT_EQ(failureOf("Value Int Value",
                        "0 LoadConstant v2, constant 0\n1 EachInit v0, v2\n2 LoadInt i1, " + position +
                            "\n3 EachNext v0, v2, -> 3\n4 ReturnNone\n",
                        "constant 0 int[1, 2]\n"),
              "no error");
  }
  // The element overwrites the list.
  EXPECT_EQ(failureOf("Value Int",
                      "0 LoadConstant v0, constant 0\n1 EachInit v0, v0\n2 EachNext v0, v0, -> 2\n3 ReturnNone\n",
                      "constant 0 int[1, 2]\n"),
            "a loop cannot continue over int: it was never started");
}

TEST(BytecodeSafety, ARangeWhoseStateIsWrittenGoesOnFromThere) {
  // The counter acts as if the loop had five rounds left; its state is only in these slots.
  EXPECT_EQ(failureOf("Int Int Int Int", "0 LoadInt i1, 5\n1 RangeNext i0, i2, -> 1\n2 ReturnNone\n"), "no error");
  EXPECT_EQ(failureOf("Int Int Int Int", "0 RangeInit i0, i3, -> 1\n1 ReturnNone\n"), "range() arg 3 must not be zero");
}

TEST(BytecodeSafety, ScalarsOnTheStackAreCheckedWhenTheyArePopped) {
  for (const std::string pop : {"PopInt i0", "PopFloat f1", "PopBool b2"}) {
    EXPECT_EQ(
        failureOf("Int Float Bool", "0 PushConstant constant 0\n1 " + pop + "\n2 ReturnNone\n", "constant 0 \"text\"\n")
            .substr(0, 9),
        "expected ");
  }
}

TEST(BytecodeSafety, AMessageMayBeAnyValue) {
  EXPECT_EQ(failureOf("Value", "0 Fail v0\n"), "None");
  EXPECT_EQ(failureOf("Value", "0 LoadConstant v0, constant 0\n1 Push v0\n2 Fail v0\n", "constant 0 [1, \"x\"]\n"),
            "[1, 'x']");
}

TEST(BytecodeSafety, ABodyThatDoesNotReturnItsResultsFails) {
  const auto failure = [](const std::string& body) {
    return failureOf("Value",
                     "0 CallOperator site 0\n1 Drop 2\n2 ReturnNone\nfn 1 \"body\" 0 -> Value\n slots Value\n" + body,
                     "constant 0 1\nsite 0 safety::pair 0 -> 2\nop safety::pair() -> (int, int) = fn 1\n");
  };
  EXPECT_EQ(failure("0 ReturnNone\n"), "safety::pair(): its body must return a tuple of 2 values, not NoneType");
  EXPECT_EQ(failure("0 PushConstant constant 0\n1 MakeTuple v0, 1\n2 ReturnMove v0\n"),
            "safety::pair(): its body must return a tuple of 2 values, not (int)");
  EXPECT_EQ(failure("0 PushConstant constant 0\n1 PushConstant constant 0\n2 MakeTuple v0, 2\n3 ReturnMove v0\n"),
            "no error");
}

TEST(BytecodeSafety, AConstantIsSetBetweenItsBeginAndItsEnd) {
  const std::string global = "constant 0 1\nglobal 0 g: Any\n";
  EXPECT_EQ(failureOf("Bool Value", "0 StoreGlobal v1, global 0\n1 ReturnNone\n", global),
            "bad bytecode: a constant is set outside of its Begin");
  EXPECT_EQ(failureOf("Bool Value", "0 BeginGlobal b0, global 0\n1 ReturnMove v1\n", global),
            "bad bytecode: <script>: it does not finish what it begins");
  EXPECT_EQ(failureOf("Bool Value", "0 BeginGlobal b0, global 0\n1 BeginGlobal b0, global 0\n2 ReturnNone\n", global),
            "g is already being set further out in this run");
  EXPECT_EQ(
      failureOf("Bool Value",
                "0 BeginGlobal b0, global 0\n1 StoreGlobal v1, global 0\n2 StoreGlobal v1, global 0\n3 ReturnNone\n",
                global),
      "bad bytecode: a constant is set outside of its Begin");
  EXPECT_EQ(failureOf("Value", "0 LoadGlobal v0, global 0\n1 ReturnNone\n", global).substr(0, 38),
            "the constant `g` is read before it is ");
}

TEST(BytecodeSafety, AHandlerThatReturnsNoListFails) {
  const std::string with =
      "0 PushConstant constant 0\n1 EnterScope scope 0\n2 CallDynamic dynamic 0\n3 LeaveScope\n4 Drop 1\n5 "
      "ReturnNone\n";
  const std::string shared =
      "constant 0 1.5\ndynamic 0 safety::mode (1)\nop safety::mode(float x) -> float = declared\n"
      "handler 0 mode m @ PreDispatch = fn 1\nscope 0 handler 0\n";
  const std::string body = "fn 1 \"mode m\" 2 -> Value\n slots Value Value\n";
  EXPECT_EQ(failureOf("Value", with + body + "0 ReturnNone\n", shared),
            "mode m: the body must return a list of results, not NoneType");
  EXPECT_EQ(failureOf("Value", with + body + "0 ReturnValue v0\n", shared),
            "mode m: the body must return a list of results, not Function");
  EXPECT_EQ(failureOf("Value", with + body + "0 ReturnValue v1\n", shared), "no error");
}

TEST(BytecodeSafety, AnImplementationThatDoesNotFitIsNotRegistered) {
  const auto failure = [](const std::string& result, const std::string& body) {
    return failureOf("Value", "0 Register handler 0\n1 ReturnNone\nfn 1 \"impl\" 3 -> " + result + "\n" + body,
                     "op safety::impl(int x) -> str = declared\nhandler 0 impl safety::impl @ CPU = fn 1\n")
        .substr(0, 41);
  };
  EXPECT_EQ(failure("Value", " slots Int Value Value\n 0 ReturnNone\n"), "no error");
  EXPECT_EQ(failure("Int", " slots Int Value Value\n 0 ReturnInt i0\n"), "impl: it was compiled for another operato");
  EXPECT_EQ(failure("Value", " slots Float Value Value\n 0 ReturnNone\n"), "impl: it was compiled for another operato");
}

TEST(BytecodeSafety, AnOperatorLooksAtTheKindsOfItsArguments) {
  EXPECT_NE(failureOf("Value", "0 PushConstant constant 0\n1 CallOperator site 0\n2 Drop 1\n3 ReturnNone\n",
                      "constant 0 \"text\"\nsite 0 aten::relu 1 -> 1\n"),
            "no error");
}

TEST(BytecodeSafety, AKeywordThatIsGivenTwiceIsRefused) {
  EXPECT_EQ(failureOf("Value",
                      "0 PushConstant constant 0\n1 PushConstant constant 0\n2 CallDynamic dynamic 0\n3 Drop 1\n"
                      "4 ReturnNone\n",
                      "constant 0 1\ndynamic 0 aten::relu (0, self=, self=)\n")
                .substr(0, 10),
            "aten::relu");
}

TEST(BytecodeSafety, ADtypeIsOneThatThereIs) {
  // The number of float32 plus 256.
  EXPECT_EQ(failureOf("Value",
                      "0 PushConstant constant 0\n1 PushConstant constant 1\n2 PushConstant constant 2\n"
                      "3 PushConstant constant 2\n4 CallBuiltin tensor, 4\n5 Drop 1\n6 ReturnNone\n",
                      "constant 0 int[1]\nconstant 1 262\nconstant 2 None\n"),
            "tensor(): 262 is no dtype");
}

TEST(BytecodeSafety, BuiltInsTakeOrRefuseAnyValues) {
  const IValue ones = callOperator("aten::ones", std::vector<IValue>{std::vector<int64_t>{2, 2}});
  GenericDict dict;
  dict.insert_or_assign(IValue("key"), IValue(1));
  const auto samples = [&] {
    return std::vector<IValue>{IValue(),
                               true,
                               0,
                               3,
                               -1,
                               9999,
                               2.5,
                               std::complex<double>(1, 2),
                               "text",
                               "",
                               Device("cpu"),
                               ones,
                               std::vector<int64_t>{3, 1},
                               std::vector<double>{2, 1},
                               GenericList{1, "x", IValue()},
                               Tuple(std::vector<IValue>{1, 2}),
                               GenericDict(dict.object()->copy())};
  };
  testing::internal::CaptureStdout();
  size_t done = 0;
  size_t refused = 0;
  const size_t kinds = samples().size();
  for (const Builtin& builtin : builtins()) {
    const size_t parameters = builtin.schema.arguments().size();
    const size_t least = builtin.variadic ? parameters - 1 + builtin.min_variadic : parameters;
    const size_t most = builtin.variadic ? std::min<size_t>(parameters - 1 + builtin.max_variadic, least + 2) : least;
    for (size_t count = least; count <= most; ++count) {
      // Each kind as first argument, with each kind for the others.
      for (size_t first = 0; first < kinds; ++first) {
        for (size_t others = 0; others < kinds; ++others) {
          std::vector<IValue> arguments(count, samples()[others]);
          if (count > 0) arguments[0] = samples()[first];
          try {
            builtin.function(arguments);
            ++done;
          } catch (const Error&) {
            ++refused;
          }
        }
      }
    }
  }
  testing::internal::GetCapturedStdout();
  EXPECT_GT(done, 1000U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace boxcar::interp
