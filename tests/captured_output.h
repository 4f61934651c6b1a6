#pragma once

#include <gtest/gtest.h>

#include <string>

namespace boxcar {

// Returns what [body] prints to the standard output.
std::string outputOf(auto&& body) {
  testing::internal::CaptureStdout();
  body();
  return testing::internal::GetCapturedStdout();
}

}  // namespace boxcar
