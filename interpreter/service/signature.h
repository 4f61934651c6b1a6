#pragma once

#include <boxcar/interpreter/service/workspace.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::service {

// The possible meanings of the call around a place.
struct Signatures {
  struct One {
    std::string text;
    std::vector<std::pair<uint32_t, uint32_t>> parameters;  // where they are in the text; only those in parentheses
  };
  std::vector<One> all;
  size_t best = 0;       // the first that has as many parameters as are written
  size_t parameter = 0;  // the parameter being written
};

// Returns the signatures of the call whose parentheses contain byte [offset]; none if it is in no call.
BOXCAR_API Signatures signatures(std::string_view text, uint32_t offset, const std::string& name = "<input>",
                                 const Workspace& workspace = {});

}  // namespace boxcar::service
