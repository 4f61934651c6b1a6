#pragma once

#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/schema/parse_schema.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// The structs that the text at [position] can name, for the parser of schemas.
class Declarations::NamesAt final : public TypeNames {
 public:
  NamesAt(const Declarations& declarations, uint32_t position) : declarations_(declarations), position_(position) {}

  TypePtr find(std::string_view name) const override {
    const auto found = declarations_.types_by_name_.find(std::string(name));
    if (found == declarations_.types_by_name_.end() || found->second.visible_from > position_) return nullptr;
    return found->second.type;
  }

  bool qualifies(std::string_view word) const override {
    const std::string start = std::string(word) + '.';
    for (const std::string_view name : candidates()) {
      if (name.starts_with(start)) return true;
    }
    return false;
  }

  std::vector<std::string_view> candidates() const override {
    std::vector<std::string_view> names;
    for (const auto& [name, named] : declarations_.types_by_name_) {
      if (named.visible_from <= position_) names.push_back(name);
    }
    return names;
  }

 private:
  const Declarations& declarations_;
  const uint32_t position_;
};

}  // namespace boxcar::interp
