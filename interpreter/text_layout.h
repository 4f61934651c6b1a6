#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::syntax {

inline constexpr size_t kLayoutWidth = 100;  // in code points
inline constexpr size_t kIndentWidth = 4;

// Texts with places where a line may break, in groups that nest: a group that fits on its line is written flat, else
// all of its own places break (as in P. Wadler, "A prettier printer"). Comments end lines, so that the groups around
// one always break.
class TextLayout final {
 public:
  // [text] must live until print(). A line break in it is kept, which only a string's can be.
  void text(std::string_view text) { add(Kind::Text, text); }
  // A place to break; flat, a space stands there, or nothing.
  void breakOrSpace() { add(Kind::Break, " "); }
  void breakOrNothing() { add(Kind::Break, ""); }
  // Stands only where the group is broken.
  void textIfBroken(std::string_view text) { add(Kind::TextIfBroken, text); }

  void beginGroup();
  void endGroup();
  void indent() { add(Kind::Indent, ""); }
  void dedent() { add(Kind::Dedent, ""); }

  // A comment, behind what stands on the line or on a line of its own; a place to break must follow.
  void comment(std::string_view text);

  // Appends all to [out], whose last line is gone on with; lines that begin here are [depth] levels deep and more.
  void print(std::string& out, size_t depth) const;

 private:
  friend class LayoutPrinter;

  enum class Kind : uint8_t { Text, Break, TextIfBroken, GroupBegin, GroupEnd, Indent, Dedent, Comment };
  struct Item {
    Kind kind;
    bool forced;  // of a group that has a comment
    std::string_view text;
  };

  void add(Kind kind, std::string_view text) { items_.push_back({kind, false, text}); }

  std::vector<Item> items_;
  std::vector<size_t> open_groups_;
};

}  // namespace boxcar::syntax
