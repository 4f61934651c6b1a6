#include <boxcar/interpreter/syntax/text_layout.h>
#include <boxcar/interpreter/syntax/utf8.h>

namespace boxcar::syntax {

void TextLayout::beginGroup() {
  open_groups_.push_back(items_.size());
  add(Kind::GroupBegin, "");
}

void TextLayout::endGroup() {
  open_groups_.pop_back();
  add(Kind::GroupEnd, "");
}

void TextLayout::comment(std::string_view text) {
  // A group around a forced group is forced, too.
  for (size_t i = open_groups_.size(); i-- > 0 && !items_[open_groups_[i]].forced;)
    items_[open_groups_[i]].forced = true;
  add(Kind::Comment, text);
}

class LayoutPrinter final {
 public:
  using Kind = TextLayout::Kind;
  using Item = TextLayout::Item;

  LayoutPrinter(const std::vector<Item>& items, std::string& out, size_t depth)
      : items_(items), out_(out), depth_(depth) {
    column_ = utf8::countCodePoints(std::string_view(out_).substr(out_.rfind('\n') + 1));
  }

  void run() {
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      switch (item.kind) {
        case Kind::Text: write(item.text); break;
        case Kind::TextIfBroken:
          if (isBroken()) write(item.text);
          break;
        case Kind::Break:
          if (isBroken()) {
            endLine();
          } else {
            write(item.text);
          }
          break;
        case Kind::GroupBegin: broken_.push_back(isBroken() && (item.forced || !fits(i))); break;
        case Kind::GroupEnd: broken_.pop_back(); break;
        case Kind::Indent: ++depth_; break;
        case Kind::Dedent: --depth_; break;
        case Kind::Comment:
          if (!at_line_begin_) write("  ");
          write(item.text);
          break;
      }
    }
  }

 private:
  // Whether the breaks of the innermost group become line breaks; outside of all groups they do.
  bool isBroken() const { return broken_.empty() || broken_.back(); }

  // Whether the group that begins at item [i] fits flat on its line, including what follows up to the next possible
  // break.
  bool fits(size_t i) const {
    size_t column = at_line_begin_ ? depth_ * kIndentWidth : column_;
    bool is_inside = true;
    for (size_t groups = 0; i < items_.size() && column <= kLayoutWidth; ++i) {
      const Item& item = items_[i];
      switch (item.kind) {
        case Kind::GroupBegin: groups += is_inside ? 1 : 0; break;
        case Kind::GroupEnd:
          if (is_inside) is_inside = --groups > 0;
          break;
        case Kind::Break:
          if (!is_inside) return true;
          column += item.text.size();
          break;
        case Kind::TextIfBroken: column += is_inside ? 0 : item.text.size(); break;
        case Kind::Text:
          if (const size_t newline = item.text.find('\n'); newline != std::string_view::npos) {
            return column + utf8::countCodePoints(item.text.substr(0, newline)) <= kLayoutWidth;
          }
          column += utf8::countCodePoints(item.text);
          break;
        default: break;
      }
    }
    return column <= kLayoutWidth;
  }

  void write(std::string_view text) {
    if (text.empty()) return;
    if (at_line_begin_) {
      out_.append(depth_ * kIndentWidth, ' ');
      column_ = depth_ * kIndentWidth;
      at_line_begin_ = false;
    }
    out_ += text;
    if (const size_t newline = text.rfind('\n'); newline != std::string_view::npos) {
      text.remove_prefix(newline + 1);
      column_ = 0;
    }
    column_ += utf8::countCodePoints(text);
  }

  // The next text begins a line.
  void endLine() {
    if (!at_line_begin_) out_ += '\n';
    at_line_begin_ = true;
  }

  const std::vector<Item>& items_;
  std::string& out_;
  size_t depth_;
  size_t column_ = 0;
  bool at_line_begin_ = false;
  std::vector<bool> broken_;
};

void TextLayout::print(std::string& out, size_t depth) const { LayoutPrinter(items_, out, depth).run(); }

}  // namespace boxcar::syntax
