#pragma once

#include <boxcar/interpreter/session/prepared_program.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {

inline std::string preparedScript(std::string text, std::string name, const std::vector<std::string>& rules = {}) {
  return interp::prepareScript(std::move(text), std::move(name), rules).text;
}

void expectError(auto&& body, const std::string& text) { EXPECT_EQ(errorOf(body), text); }

}  // namespace boxcar
