#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace boxcar::service {

// A text in which `|` marks the place of the request: "x.re|".
struct MarkedText {
  std::string text;
  uint32_t offset = 0;

  explicit MarkedText(std::string marked) : text(std::move(marked)) {
    const size_t at = text.rfind('|');
    EXPECT_NE(at, std::string::npos) << "no place is marked in: " << text;
    text.erase(at, 1);
    offset = static_cast<uint32_t>(at);
  }
};

}  // namespace boxcar::service
