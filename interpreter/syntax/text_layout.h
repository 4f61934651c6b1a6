#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::syntax {

inline constexpr size_t kLayoutWidth = 100;  // in code points
inline constexpr size_t kIndentWidth = 4;

// Lays out text with possible line breaks, in nested groups. A group that fits on its line is written flat; otherwise
// all of its own breaks become line breaks (as in P. Wadler, "A prettier printer"). Comments end lines, so the groups
// around one always break.
class TextLayout final {
 public:
  // [text] must live until print(). Only a string can contain a line break, which is kept.
  void text(std::string_view text) { add(Kind::Text, text); }
  // A possible line break; in a flat group it is a space, or nothing.
  void breakOrSpace() { add(Kind::Break, " "); }
  void breakOrNothing() { add(Kind::Break, ""); }
  // Written only if the group is broken.
  void textIfBroken(std::string_view text) { add(Kind::TextIfBroken, text); }

  void beginGroup();
  void endGroup();
  void indent() { add(Kind::Indent, ""); }
  void dedent() { add(Kind::Dedent, ""); }

  // A comment, after other text on the line or on a line of its own; a possible break must follow.
  void comment(std::string_view text);

  // Appends everything to [out] and continues its last line; lines that begin here are at least [depth] levels deep.
  void print(std::string& out, size_t depth) const;

 private:
  friend class LayoutPrinter;

  enum class Kind : uint8_t { Text, Break, TextIfBroken, GroupBegin, GroupEnd, Indent, Dedent, Comment };
  struct Item {
    Kind kind;
    bool forced;  // of a group that contains a comment
    std::string_view text;
  };

  void add(Kind kind, std::string_view text) { items_.push_back({kind, false, text}); }

  std::vector<Item> items_;
  std::vector<size_t> open_groups_;
};

}  // namespace boxcar::syntax
