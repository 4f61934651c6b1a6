#pragma once

#include <boxcar/interpreter/service/analysis.h>
#include <boxcar/interpreter/service/cursor.h>

#include <optional>
#include <string_view>

namespace boxcar::service {

// How the name at one place of a text is used.
struct NameUse {
  Span span;
  std::string_view text;
  std::string_view space;     // of `space::name`
  std::string_view overload;  // of `space::name.overload`
  bool is_member = false;     // comes after a dot
  bool is_called = false;     // a `(` follows
  bool is_namespace = false;  // a `::` follows
  bool is_keyword = false;    // `name=` in a call
  size_t token = 0;           // in the cursor's tokens
};

// Returns nullopt if [offset] touches no name or keyword.
std::optional<NameUse> nameAt(const Cursor& cursor, const SourcePtr& source, uint32_t offset);

// Returns the operators that the name may mean, or null.
const interp::OverloadSet* operatorsOf(Analysis& analysis, const NameUse& use);

// Returns whether the name is a variable or a constant there, and not a function, operator or the like.
bool isVariable(Analysis& analysis, const NameUse& use);

}  // namespace boxcar::service
