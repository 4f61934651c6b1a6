#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/schema/schema_test_util.h"

namespace boxcar {
namespace {

// Expects a parser error at a place inside the text, or a schema whose printed form parses and prints as itself.
void expectErrorOrStable(const std::string& text) {
  try {
    const FunctionSchema schema = parseSchema(text);
    const std::string printed = toString(schema);
    const FunctionSchema again = parseSchema(printed);
    EXPECT_EQ(again, schema) << text << "\n" << printed;
    EXPECT_EQ(toString(again), printed) << text;
  } catch (const SchemaError& error) {
    EXPECT_LE(error.offset() + error.length(), text.size()) << text;
    EXPECT_FALSE(error.reason().empty()) << text;
    EXPECT_EQ(error.reason().find("boxcar"), std::string::npos) << error.reason();  // no C++ name of a parser
  }
}

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all = {
        "f(Dict(str, (int, Tensor(a!))[])(b) x, Future(t)? y=None, *, Device d='cpu') -> ((int, t)[])",
        "a::b.c(__torch__.torch.classes.a.B x, Union(int, str)(a|*! -> b) y, ...) -> (int[2] z, ...)",
        "f(Tensor(a)?[](b!)? x, float[2] y=-1e-05, complex z=2j, str s='\\x41\\n\"', bool[] b=[True,False]) -> ...",
        "f(\n  int x, # comment\n  int[3] y=[1,2,3]) -> () # end\n",
    };
    for (std::size_t i = 0; i < atenSchemas().size(); i += 40) all.push_back(atenSchemas()[i]);
    return all;
  }();
  return texts;
}

class Mutator {
 public:
  std::string mutate(std::string text) {
    static constexpr std::string_view kPieces[] = {"(",  ")",   "[",  "]",  "?",      "!",    "*",    "...",
                                                   "->", ",",   "=",  "::", ".",      " ",    "\n",   "#",
                                                   "'",  "\"",  "\\", "a",  "Tensor", "int[", "None", "1",
                                                   "-",  "1e9", "j",  "|",  "Dict(",  "True", "\xC3", "9999999999"};
    const int count = 1 + below(4);
    for (int i = 0; i < count; ++i) {
      const std::size_t at = below(text.size() + 1);
      switch (below(4)) {
        case 0: text.insert(at, kPieces[below(std::size(kPieces))]); break;
        case 1: text.erase(at, 1 + below(6)); break;
        case 2: text.insert(at, text.substr(below(text.size() + 1), below(20))); break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(below(256));
      }
    }
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  std::mt19937_64 random_{20};
};

TEST(SchemaRobustness, MutatedSchemasAreErrorsOrStable) {
  Mutator mutator;
  for (int round = 0; round < 200; ++round) {
    for (const std::string& seed : seeds()) expectErrorOrStable(mutator.mutate(seed));
  }
}

TEST(SchemaRobustness, EveryBeginningIsAnErrorOrStable) {
  for (const std::string& seed : seeds()) {
    for (std::size_t length = 0; length < seed.size(); ++length) expectErrorOrStable(seed.substr(0, length));
  }
}

}  // namespace
}  // namespace boxcar
