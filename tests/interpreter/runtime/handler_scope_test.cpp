#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/bytecode/assembler.h>
#include <boxcar/interpreter/runtime/handler_object.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/interpreter/script_helpers.h"

namespace boxcar::interp {
namespace {

TEST(CallSite, IsTheInnermostLineOfTheScript) {
  std::vector<std::string> sites;
  Library m(Library::FRAGMENT, "site", std::nullopt, "test.cpp", 1);
  m.def("note(int n) -> ()", [&sites](int64_t) {
    const auto site = currentCallSite();
    sites.push_back(site.has_value() ? fmt::format("{}|{}", *site, site->text) : "none");
  });
  EXPECT_EQ(
      outputOf("fn f() -> () {\n    site::note(1)  # in f\n}\nf(); site::note(2)\n\n[site::note(x) for x in [3]]\n"),
      "");
  EXPECT_EQ(sites, (std::vector<std::string>{"test.ops:2|site::note(1)  # in f", "test.ops:4|f(); site::note(2)",
                                             "test.ops:6|[site::note(x) for x in [3]]"}));
  EXPECT_EQ(currentCallSite(), std::nullopt);
}

TEST(HandlerScope, IsOffAfterAnErrorInItsBlockOrInTheNextScope) {
  EXPECT_NE(outputOf("with deny(\"aten::mm\") { assert False, \"left\" }\n").find("left"), std::string::npos);
  EXPECT_EQ(modeCount(), 0U);
  EXPECT_EQ(outputOf("with deny(\"aten::mm\"), deny(str(1 // int(\"0\"))) { }\n").substr(0, 16), "integer division");
  EXPECT_EQ(modeCount(), 0U);
}

TEST(HandlerScope, TakesAHandlerOnceAndNothingElse) {
  const auto run = [](std::string_view text) {
    Executable program(assemble(Source::create("test", std::string(text))));
    program.link();
    Stack stack;
    try {
      Machine::current().call(program, 0, stack);
    } catch (const Error& error) {
      return std::string(error.what()).substr(0, std::string(error.what()).find('\n'));
    }
    return std::string("no error");
  };
  const std::string wrong = "`with` got a value that is not a handler";
  EXPECT_EQ(run("boxcar bytecode 1\nconstant 0 \"text\"\nfn 0 \"<script>\" 0 -> Value\n  slots Value\n"
                "  0  LoadConstant v0, constant 0\n  1  EnterHandler v0\n  2  LeaveScope\n  3  ReturnNone\nend\n"),
            wrong);
  const std::string twice =
      "boxcar bytecode 1\nconstant 0 \"none\"\nfn 0 \"<script>\" 0 -> Value\n  slots Value\n"
      "  0  PushConstant constant 0\n  1  CallBuiltin with.deny, 1\n  2  Pop v0\n"
      "  3  EnterHandler v0\n  4  LeaveScope\n  5  EnterHandler v0\n  6  LeaveScope\n  7  ReturnNone\nend\n";
  EXPECT_EQ(run(twice), wrong);
  EXPECT_EQ(modeCount(), 0U);
}

}  // namespace
}  // namespace boxcar::interp
