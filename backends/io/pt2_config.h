#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::io {

// How one weight or constant of a .pt2 archive lies in a storage, whose raw bytes are a member of the archive.
struct Pt2Entry {
  std::string name;    // in the model, such as "layers.0.weight"
  std::string member;  // the storage's name, such as "weight_0"; entries with the same one share it
  ScalarType dtype = ScalarType::Undefined;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // like the offset, in elements and not negative
  int64_t offset = 0;
};

// Returns the entries of a weights_config.json or constants_config.json, in order of their names. [what] names the
// member in errors, with the file. Throws Error if [text] is no such JSON, or names what is no tensor of a dtype that
// boxcar has.
std::vector<Pt2Entry> parsePt2Config(std::string_view text, const std::string& what);

}  // namespace boxcar::io
