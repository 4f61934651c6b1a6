#pragma once

#include <boxcar/dispatcher/registry/registration_site.h>
#include <boxcar/dispatcher/registry/tag.h>

#include <array>
#include <cstdint>
#include <vector>

namespace boxcar::detail {

// A definition in generated code. The schema is parsed when the operator is first looked up: a program uses a few of a
// thousand operators, and parsing all of them would slow its start.
struct SchemaText {
  static constexpr size_t kMostTags = 4;

  const char* name;  // with its namespace
  const char* overload_name;
  const char* text;
  RegistrationSite site;
  uint8_t tag_count = 0;
  std::array<boxcar::Tag, kMostTags> all_tags = {};

  std::vector<boxcar::Tag> tags() const { return {all_tags.begin(), all_tags.begin() + tag_count}; }
};

}  // namespace boxcar::detail
