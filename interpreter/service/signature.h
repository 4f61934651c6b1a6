#pragma once

#include <boxcar/interpreter/service/workspace.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::service {

// What the call around a place may mean.
struct Signatures {
  struct One {
    std::string text;
    std::vector<std::pair<uint32_t, uint32_t>> parameters;  // where they stand in the text; those in parentheses only
  };
  std::vector<One> all;
  size_t best = 0;       // the first that has as many parameters as are written
  size_t parameter = 0;  // which of them is being written
};

// The signatures of the call that byte [offset] lies in the parentheses of; none where it lies in no call.
BOXCAR_API Signatures signatures(std::string_view text, uint32_t offset, const std::string& name = "<input>",
                                 const Workspace& workspace = {});

}  // namespace boxcar::service
