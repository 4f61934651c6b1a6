#pragma once

#include <boxcar/dispatcher/registration_site.h>
#include <boxcar/dispatcher/tag.h>

#include <array>
#include <cstdint>
#include <vector>

namespace boxcar::detail {

// A definition as generated code has it. The schema is read when somebody asks for the operator: a program uses some of
// a thousand, and would start later for reading all.
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
