#pragma once

#include <boxcar/interpreter/session/prepared_program.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {

inline std::string preparedScript(std::string text, std::string name, const std::vector<std::string>& rules = {}) {
  return interp::prepareScript(std::move(text), std::move(name), rules).text;
}

inline constexpr std::string_view kImports = "import \"nn.ops\"\nimport \"fused.ops\"\n\n";

// Returns the body of a function that is given by its own, prepared; [parameters] of the function.
inline std::string prepared(const std::string& parameters, const std::string& body) {
  const std::string script = std::string(kImports) + "fn other(Tensor x) -> Tensor {\n    return x\n}\n\nfn f(" +
                             parameters + ") -> Tensor {\n" + body +
                             "}\n\nfn caller(Tensor a, Dict(str, Tensor) net) " +
                             "-> Tensor {\n    return other(a)\n}\n";
  const std::string text = preparedScript(script, "test.ops");
  const size_t begin = text.find("{\n", text.find("fn f(")) + 2;
  return text.substr(begin, text.find("\n}\n", begin) + 1 - begin);
}

inline void expectUnchanged(const std::string& parameters, const std::string& body) {
  EXPECT_EQ(prepared(parameters, body), body);
}

void expectError(auto&& body, const std::string& text) { EXPECT_EQ(errorOf(body), text); }

}  // namespace boxcar
