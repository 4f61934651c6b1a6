#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/captured_output.h"
#include "tests/temporary_folder.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// ---- Compiling, running ----

TEST(Program, RunsItsStatementsWithArguments) {
  const Program program = Program::compile("print(argv)", "test.ops");
  EXPECT_EQ(outputOf([&] { program.run({"a", "--b"}); }), "['a', '--b']\n");
  EXPECT_EQ(outputOf([&] { program.run(); }), "[]\n");
}

TEST(Program, WhatIsWrongComesAsData) {
  try {
    Program::compile("x = 1\nprint(y)\nz = \"a\" - 1\n", "test.ops");
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    const std::vector<Diagnostic>& found = error.diagnostics();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].message, "there is no variable or constant called `y`");
    EXPECT_EQ(found[0].source->text(found[0].span), "y");
    EXPECT_EQ(found[1].source->position(found[1].span.begin), (LineColumn{3, 5}));
  }
}

TEST(Program, AFailedRunTellsItsFrames) {
  const Program program = Program::compile("fn half(int n) -> int { return 1 // n }\nprint(half(0))\n", "test.ops");
  try {
    program.run();
    FAIL() << "it ran";
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.reason(), "integer division or modulo by zero");
    EXPECT_EQ(error.cause(), ScriptErrorCause::Failure);
    ASSERT_EQ(error.frames().size(), 2u);
    EXPECT_EQ(error.frames()[0].function, "");
    EXPECT_EQ(error.frames()[1].function, "fn half");
    EXPECT_EQ(toString(error.frames()[1].place), "test.ops:1:32");
  }
}

// ---- Functions ----

TEST(Program, FunctionsAreCalledOnAStack) {
  const Program program = Program::compile(
      "fn scale(float[] xs, float by=2.0) -> float[] { return [x * by for x in xs] }\n"
      "fn both(int a) -> (int, str) { return a, str(a) }\n"
      "fn nothing() -> () { }\n",
      "test.ops");
  EXPECT_EQ(program.functions().size(), 3u);
  const Program::Function scale = program.function("scale");
  EXPECT_EQ(toString(scale.schema()), "scale(float[] xs, float by=2.0) -> float[]");
  // As in a script, an int converts to a float and a list of ints to one of floats.
  Stack stack;
  push(stack, "below", std::vector<int64_t>{1, 2}, 3);
  scale.call(stack);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(toString(pop(stack)), "[3.0, 6.0]");

  push(stack, 7);
  program.function("both").call(stack);
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_EQ(toString(pop(stack)), "7");
  EXPECT_EQ(pop(stack).toInt(), 7);
  program.function("nothing").call(stack);
  EXPECT_EQ(stack.size(), 1u);
}

TEST(Program, WrongCallsOfFunctionsNameWhatIsWrong) {
  const Program program = Program::compile("fn scale(Tensor x, int by) -> Tensor { return x * by }", "test.ops");
  EXPECT_EQ(errorOf([&] { program.function("scael"); }),
            "test.ops has no function called `scael`. Did you mean 'scale'?");
  Stack stack;
  push(stack, "text", 2);
  EXPECT_EQ(errorOf([&] { program.function("scale").call(stack); }),
            "scale: argument 'x' must be Tensor, not str\n  scale(Tensor x, int by) -> Tensor");
  stack.clear();
  push(stack, 2);
  EXPECT_EQ(errorOf([&] { program.function("scale").call(stack); }),
            "scale takes 2 arguments, but the stack has 1 value\n  scale(Tensor x, int by) -> Tensor");
}

TEST(Program, AFunctionOutlivesItsProgram) {
  Stack stack;
  push(stack, 20);
  const Program::Function twice =
      Program::compile("fn twice(int x) -> int { return x * 2 }", "test.ops").function("twice");
  twice.call(stack);
  EXPECT_EQ(pop(stack).toInt(), 40);
}

TEST(Program, AFunctionThatNeedsConstantsSaysToRunTheStatementsFirst) {
  const Program program = Program::compile("const N = 3\nfn n() -> int { return N }", "test.ops");
  const Program::Function n = program.function("n");
  Stack stack;
  EXPECT_EQ(errorOf([&] { n.call(stack); }),
            "the constant `N` is read before it is set; the script's statements set it when they are run\n"
            "  test.ops:2:24 in fn n\n"
            "    fn n() -> int { return N }\n"
            "                           ^");
  program.run();
  n.call(stack);
  EXPECT_EQ(pop(stack).toInt(), 3);
}

// ---- Constants and threads ----

TEST(Program, ConstantsAreSetOnceForAllRuns) {
  const Program program = Program::compile(
      "fn make() -> int { print(\"made\"); return 1 }\n"
      "const n = make()\n"
      "const seen = []\n"
      "seen.append(n)\n"
      "print(len(seen))\n",
      "test.ops");
  EXPECT_EQ(outputOf([&] {
              program.run();
              program.run();
            }),
            "made\n1\n2\n");
}

TEST(Program, AConstantThatFailedIsTriedAgain) {
  const Program program = Program::compile("const n = 1 // len(argv)\nprint(n)", "test.ops");
  EXPECT_NE(errorOf([&] { program.run(); }).find("integer division"), std::string::npos);
  EXPECT_EQ(outputOf([&] { program.run({"one"}); }), "1\n");
}

TEST(Program, ThreadsRunAProgramAtOnce) {
  const Program program = Program::compile(
      "const table = [i * i for i in range(100)]\n"
      "fn work(int n) -> int {\n"
      "    total = 0\n"
      "    for i in range(n) { total += table[i % 100] + int((ones(2) * i).sum()) }\n"
      "    return total\n"
      "}\n",
      "test.ops");
  program.run();
  constexpr int kThreads = 4;
  std::vector<int64_t> results(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      program.run();
      Stack stack;
      push(stack, 300);
      program.function("work").call(stack);
      results[static_cast<size_t>(i)] = pop(stack).toInt();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results, std::vector<int64_t>(kThreads, 3 * 328350 + 300 * 299));
}

TEST(Program, OneThreadSetsAConstantWhileOthersWait) {
  const Program program = Program::compile(
      "const log = []\n"
      "fn make() -> int { log.append(1); x = 0; for i in range(20000) { x += i }; return x }\n"
      "const n = make()\n"
      "assert n == 199990000 and len(log) == 1\n",
      "test.ops");
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      program.run();
      ++done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 4);
}

// ---- Limits and interrupts ----

TEST(Program, LimitsEndARunWithTheirName) {
  Program program = Program::compile(
      "fn f(int n) -> int { return f(n + 1) }\n"
      "if len(argv) == 0 { while True { } }\n"
      "f(0)\n",
      "test.ops");
  program.setLimits({.max_instructions = 5000});
  try {
    program.run();
    FAIL() << "it ended";
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.reason(), "the run took more than 5000 instructions, which is its limit");
    EXPECT_EQ(error.cause(), ScriptErrorCause::Limit);
  }
  program.setLimits({.max_depth = 50});
  EXPECT_EQ(errorOf([&] { program.run({"recurse"}); }).substr(0, 65),
            "more than 50 nested calls: does the recursion end?\n  test.ops:3:1");
}

TEST(Program, LimitsHoldWhereCppCallsItsOperators) {
  Program program = Program::compile(
      "op program_limits::spin(int n) -> int { while True { n += 1 }\n return n }\n"
      "op program_limits::count(int n) -> int { return 0 }\n"
      "impl program_limits::count @ Meta { while True { } }\n"
      "fn f(int n) -> int { return f(n + 1) }\n"
      "op program_limits::deep(int n) -> int { return f(n) }\n",
      "test.ops");
  program.run();
  program.setLimits({.max_instructions = 5000, .max_depth = 50});
  const auto call = [](const char* name) {
    Stack stack;
    push(stack, 1);
    return errorOf([&] { Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(stack); });
  };
  EXPECT_NE(call("program_limits::spin").find("more than 5000 instructions"), std::string::npos);
  EXPECT_NE(call("program_limits::deep").find("more than 50 nested calls"), std::string::npos);
  EXPECT_EQ(call("program_limits::count"), "no error");
  Stack stack;
  push(stack, 1);
  const OperatorHandle count = Dispatcher::singleton().findSchemaOrThrow("program_limits::count", "");
  EXPECT_NE(errorOf([&] { count.redispatchBoxed(DispatchKeySet(DispatchKey::Meta), stack); }).find("more than 5000"),
            std::string::npos);
}

TEST(Program, RunsToItsEndWhereItsProgramGoes) {
  std::unique_ptr<Program> held;
  Library m(Library::FRAGMENT, "program_reload", std::nullopt, "test.cpp", 1);
  m.def("reload() -> ()", [&held] { held = std::make_unique<Program>(Program::compile("print(1)", "new.ops")); });
  held =
      std::make_unique<Program>(Program::compile("program_reload::reload()\nprint(\"old\", ones([2]))\n", "old.ops"));
  EXPECT_EQ(outputOf([&] { held->run(); }), "old tensor([1., 1.])\n");
  EXPECT_EQ(outputOf([&] { held->run(); }), "1\n");
}

TEST(Program, ADepthCountsTheCallsOfFunctions) {
  Program program = Program::compile(
      "fn f(int n) -> int { if n == 0 { return 0 }\n return 1 + f(n - 1) }\n"
      "print(f(int(argv[0])))\n",
      "test.ops");
  program.setLimits({.max_depth = 3});
  EXPECT_EQ(outputOf([&] { program.run({"2"}); }), "2\n");
  try {
    program.run({"3"});
    FAIL() << "it ended";
  } catch (const ScriptError& error) {
    EXPECT_EQ(error.cause(), ScriptErrorCause::Limit);
  }
}

TEST(Program, ExitBlocksGoByTheInstructionsThatAreLeft) {
  Program program = Program::compile(
      "mode m { return redispatch(op, args) } exit { i = 0; while i < 3000 { i += 1 } }\n"
      "with m { with m { with m { with m { x = 1 // 0 } } } }\n",
      "test.ops");
  program.setLimits({.max_instructions = 10'000});
  const std::string message = errorOf([&] { program.run(); });
  EXPECT_NE(message.find("(and when the scopes were ended: the run took more than 10000 instructions"),
            std::string::npos)
      << message;
}

TEST(Program, ALimitAmongTheArgumentsOfACallLeavesNothingBehind) {
  Program program = Program::compile(
      "fn g(Any a, Any b, Any c) -> Any { return a }\nfn f(Any x) -> Any { return g(x, x, x) }\n", "test.ops");
  const Tensor x = ones({2});
  const Program::Function f = program.function("f");
  for (uint64_t most = 1; most < 12; ++most) {
    program.setLimits({.max_instructions = most});
    Stack stack;
    push(stack, x);
    try {
      f.call(stack);
    } catch (const ScriptError&) {
    }
    stack.clear();
    EXPECT_EQ(x.unsafeGetTensorImpl()->useCount(), 1u) << most;
  }
}

TEST(Program, EndlessLoopsAndRecursionsOfOperatorsMeetTheLimitOfInstructions) {
  Program program = Program::compile(
      "op program_test::again(int n) -> int { return program_test::again(n) }\n"
      "while True { for i in range(10) { continue } }\n",
      "test.ops");
  program.setLimits({.max_instructions = 100'000});
  EXPECT_NE(errorOf([&] { program.run(); }).find("more than 100000 instructions"), std::string::npos);
}

TEST(Program, AnInterruptEndsARunButNotTheNext) {
  std::atomic<bool> is_entered = false;
  Library entry(Library::FRAGMENT, "test_interrupt", std::nullopt, "test.cpp", 1);
  entry.def("entered() -> ()", [&] { is_entered = true; });
  const Program program = Program::compile(
      "mode m { return redispatch(op, args) } exit { print(\"ended\") }\n"
      "with m { test_interrupt::entered(); while True { if len(argv) > 0 { break } } }\n",
      "test.ops");
  std::string message;
  ScriptErrorCause cause{};
  testing::internal::CaptureStdout();
  std::thread runner([&] {
    try {
      program.run();
    } catch (const ScriptError& error) {
      message = error.what();
      cause = error.cause();
    }
  });
  while (!is_entered) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  interruptScripts();  // only once: a second one could stop the exit block
  runner.join();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "ended\n");
  EXPECT_EQ(cause, ScriptErrorCause::Interrupt);
  EXPECT_TRUE(message.starts_with("interrupted\n  test.ops:2:")) << message;
  EXPECT_EQ(outputOf([&] { program.run({"quick"}); }), "ended\n");
}

TEST(Program, ALimitOfTimeEndsARunWhateverItDoes) {
  Library m(Library::FRAGMENT, "test_sleep", std::nullopt, "test.cpp", 1);
  m.def("sleep() -> ()", [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  for (const char* work : {"while True { }", "sum(ones(1).expand(2 ** 62))", "while True { test_sleep::sleep() }",
                           "while True { x = ones(2) }"}) {
    Program program = Program::compile(
        std::string("mode m { return redispatch(op, args) } exit { print(\"ended\") }\nwith m { if len(argv) == 0 { ") +
            work + " } }\n",
        "test.ops");
    program.setLimits({.max_seconds = 0.25});
    const auto start = std::chrono::steady_clock::now();
    try {
      program.run();
      FAIL() << "it ended: " << work;
    } catch (const ScriptError& error) {
      EXPECT_EQ(error.reason(), "the run took more than 0.25 seconds, which is its limit") << work;
      EXPECT_EQ(error.cause(), ScriptErrorCause::Limit);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << work;
    // The next run has its own time limit.
    EXPECT_EQ(outputOf([&] { program.run({"quick"}); }), "ended\n");
  }
}

TEST(Program, ALimitOfTimeAndOneOfInstructionsHoldTogether) {
  Program program = Program::compile("n = 0\nwhile True { n += 1 }\n", "test.ops");
  program.setLimits({.max_instructions = 100'000, .max_seconds = 3600});
  EXPECT_EQ(errorOf([&] { program.run(); }).substr(0, 65),
            "the run took more than 100000 instructions, which is its limit\n  ");
}

TEST(Program, AnInterruptEndsAnOperatorThatTakesLong) {
  std::atomic<bool> is_entered = false;
  Library entry(Library::FRAGMENT, "test_long_work", std::nullopt, "test.cpp", 1);
  entry.def("entered() -> ()", [&] { is_entered = true; });
  // The work of the exit block itself runs to its end.
  constexpr const char* kMode =
      "mode m { return redispatch(op, args) } exit { print(sum(ones(1).expand(20000000)).item()) }\n";
  constexpr const char* kWork[] = {
      "x = ones(1).expand(2 ** 62)\nwith m { test_long_work::entered(); sum(x) }\n",
      "x = ones(1).expand(2 ** 62)\nwith m { test_long_work::entered(); dot(x, x) }\n",
      "x: Any = (1,)\nfor i in range(60) { x = (x, x) }\nwith m { test_long_work::entered(); y = {x: 1} }\n",
  };
  for (const char* work : kWork) {
    is_entered = false;
    const Program program = Program::compile(std::string(kMode) + work, "test.ops");
    std::string message;
    testing::internal::CaptureStdout();
    std::thread runner([&] {
      try {
        program.run();
      } catch (const ScriptError& error) {
        message = std::string(error.cause() == ScriptErrorCause::Interrupt ? "" : "other: ") + error.what();
      }
    });
    while (!is_entered) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    interruptScripts();
    runner.join();
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "20000000.0\n") << work;
    EXPECT_TRUE(message.starts_with("interrupted\n  test.ops:")) << message;
  }
}

// ---- Imports ----

class Imports : public testing::Test {
 protected:
  std::string outputOfMain() {
    return outputOf([&] { Program::load(folder_ / "main.ops").run(); });
  }
  std::string faultOfMain() {
    return errorOf([&] { Program::load(folder_ / "main.ops").run(); });
  }
  // Returns [text] without the name of the temporary folder.
  std::string shortened(std::string text) const {
    const std::string name = folder_.path() + "/";
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.erase(at, name.size());
    return text;
  }

  TemporaryFolder folder_;
};

TEST_F(Imports, FilesShareOneCopyOfWhatTheyImport) {
  folder_.write("state.ops",
                "print(\"state runs\")\nconst n = [0]\nfn next() -> int { n[0] += 1; return n[0] }\n"
                "op imports_test::peek() -> int { return n[0] }\n");
  folder_.write("a.ops", "import \"state.ops\"\nfn fromA() -> int { return next() }\n");
  folder_.write("main.ops", "import \"state.ops\"\nimport \"a.ops\"\nprint(next(), fromA(), imports_test::peek())\n");
  EXPECT_EQ(outputOfMain(), "state runs\n1 2 2\n");

  // Programs of one process share modules, too, as long as one of them exists.
  const Program first = Program::load(folder_ / "main.ops");
  const Program second = Program::load(folder_ / "main.ops");
  EXPECT_EQ(outputOf([&] {
              first.run();
              second.run();
            }),
            "state runs\n1 2 2\n3 4 4\n");
}

TEST_F(Imports, PathsStartAtTheFileThatHasThem) {
  folder_.write("main.ops", "import \"lib/outer.ops\"\nprint(read())\nprint(io::read_text(\"x.txt\"))");
  folder_.write("lib/outer.ops",
                "import \"deep/inner.ops\"\n"
                "fn read() -> str { return io::read_text(\"x.txt\") + inner() + io::read_text(\"x.txt\") }");
  folder_.write("lib/deep/inner.ops", "fn inner() -> str { return io::read_text(\"x.txt\") }");
  folder_.write("x.txt", "main ");
  folder_.write("lib/x.txt", "outer ");
  folder_.write("lib/deep/x.txt", "inner ");
  EXPECT_EQ(outputOfMain(), "outer inner outer \nmain \n");
}

TEST_F(Imports, ErrorsShowTheFilesTheyAreIn) {
  folder_.write("main.ops", "import \"lib.ops\"\nprint(third(0))");
  folder_.write("lib.ops", "fn third(int n) -> int {\n    return 3 // n\n}");
  EXPECT_EQ(shortened(faultOfMain()),
            "integer division or modulo by zero\n"
            "  main.ops:2:7\n"
            "    print(third(0))\n"
            "          ^~~~~~~~\n"
            "  lib.ops:2:12 in fn third\n"
            "    return 3 // n\n"
            "           ^~~~~~");

  folder_.write("lib.ops", "fn third(int n) -> int { return m }");
  EXPECT_EQ(shortened(faultOfMain()),
            "lib.ops:1:33: error: there is no variable or constant called `m`\n"
            "fn third(int n) -> int { return m }\n"
            "                                ^\n"
            "main.ops:1:8: error: lib.ops, which is imported here, has errors\n"
            "import \"lib.ops\"\n"
            "       ^~~~~~~~~\n");
}

TEST_F(Imports, ACircleIsAnErrorThatShowsThePath) {
  folder_.write("main.ops", "import \"a.ops\"");
  folder_.write("a.ops", "import \"sub/../main.ops\"");
  EXPECT_EQ(shortened(faultOfMain()).substr(0, 78),
            "a.ops:1:8: error: the imports form a cycle: main.ops -> a.ops -> main.ops\nimpo");
  folder_.write("main.ops", "import \"main.ops\"");
  EXPECT_EQ(shortened(faultOfMain()).substr(0, 82),
            "main.ops:1:8: error: the imports form a cycle: main.ops -> main.ops\nimport \"main.o");
}

TEST_F(Imports, AMissingFileIsAnError) {
  folder_.write("main.ops", "import \"nowhere.ops\"");
  EXPECT_EQ(shortened(faultOfMain()),
            "main.ops:1:8: error: nowhere.ops: cannot be opened: No such file or directory\n"
            "import \"nowhere.ops\"\n"
            "       ^~~~~~~~~~~~~\n");
}

TEST_F(Imports, AFailedImportRunsAgain) {
  folder_.write("lib.ops", "print(\"tries\")\nprint(io::read_text(\"flag.txt\"))\n");
  folder_.write("main.ops", "import \"lib.ops\"\nprint(\"done\")");
  const Program program = Program::load(folder_ / "main.ops");
  testing::internal::CaptureStdout();
  const std::string fault = errorOf([&] { program.run(); });
  folder_.write("flag.txt", "go");
  program.run();
  program.run();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "tries\ntries\ngo\ndone\ndone\n");
  EXPECT_NE(fault.find("cannot open"), std::string::npos) << fault;
}

TEST_F(Imports, NamesThatTwoFilesDefineAreAnErrorThatNamesBoth) {
  folder_.write("a.ops", "fn f() -> int { return 1 }");
  folder_.write("main.ops", "import \"a.ops\"\nfn f() -> int { return 2 }");
  EXPECT_EQ(shortened(faultOfMain()),
            "main.ops:2:4: error: `f` is defined twice\n"
            "fn f() -> int { return 2 }\n"
            "   ^\n"
            "a.ops:1:4: note: the first definition\n"
            "fn f() -> int { return 1 }\n"
            "   ^\n");
}

TEST_F(Imports, ManyFilesInARowAreAnError) {
  for (int i = 0; i < 120; ++i) {
    folder_.write("f" + std::to_string(i) + ".ops", "import \"f" + std::to_string(i + 1) + ".ops\"");
  }
  folder_.write("f120.ops", "x = 1");
  folder_.write("main.ops", "import \"f0.ops\"");
  EXPECT_NE(faultOfMain().find("more than 100 files import one another in a chain"), std::string::npos);
}

TEST(Program, AMethodIsCalledWithTheStructsValueFirst) {
  const Program program = Program::compile(
      "struct Point { int x; fn move(self, int by=1) -> Point { return Point(self.x + by) } }\n"
      "fn start(int x) -> Point { return Point(x) }\n"
      "fn place(Point p) -> int { return p.x }\n",
      "point.ops");
  Stack stack;
  push(stack, 3);
  program.function("start").call(stack);
  EXPECT_EQ(toString(peek(stack, 0, 1)), "Point(x=3)");
  push(stack, 4);
  program.function("Point.move").call(stack);
  program.function("place").call(stack);
  EXPECT_EQ(pop(stack).toInt(), 7);
  EXPECT_EQ(program.functions().size(), 2U);
  push(stack, 1);
  EXPECT_EQ(errorOf([&] { program.function("place").call(stack); }),
            "place: argument 'p' must be Point, not int\n  place(Point p) -> int");
}

TEST(Program, StructsOfTwoProgramsAreTwoTypes) {
  const Program one = Program::compile("struct P { int x }\nfn make() -> P { return P(1) }\n", "one.ops");
  const Program two = Program::compile("struct P { str x }\nfn read(P p) -> str { return p.x }\n", "two.ops");
  Stack stack;
  one.function("make").call(stack);
  EXPECT_EQ(errorOf([&] { two.function("read").call(stack); }),
            "read: argument 'p' must be P, not P; one P is of two.ops, the other of one.ops\n  read(P p) -> str");
  // A script that is compiled again has the same structs.
  const Program again = Program::compile("struct P { int x }\nfn read(P p) -> int { return p.x }\n", "one.ops");
  one.function("make").call(stack);
  again.function("read").call(stack);
  EXPECT_EQ(pop(stack).toInt(), 1);
}

}  // namespace
}  // namespace boxcar
