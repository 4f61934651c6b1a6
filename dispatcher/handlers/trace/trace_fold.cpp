#include <boxcar/dispatcher/handlers/trace/trace_fold.h>
#include <boxcar/schema/words.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace boxcar::detail {
namespace {

using Kind = TraceItem::Kind;

constexpr size_t kLongestPeriod = 512;
constexpr size_t kFewCalls = 4;  // the number of calls below which two repeats are not folded

// Returns the name of function [depth] of the path, and where it was called: consecutive calls from one place are one
// group.
std::pair<std::string, std::string> groupKey(const std::vector<CallFrame>& path, size_t depth) {
  return {path[depth].function, toString(path[depth - 1].site)};
}

// Numbers for what items look like, whatever their arguments are.
class Looks final {
 public:
  explicit Looks(const std::vector<TraceNode>& nodes) : nodes_(nodes) {}

  size_t of(const TraceItem& item) {
    std::string text;
    if (item.kind == Kind::Call) {
      const TraceNode& node = nodes_[item.node];
      text = fmt::format("{}{}\n{}", node.is_effect ? "!" : "", node.is_effect ? "" : node.title,
                         node.path.empty() ? "" : toString(node.path.back().site));
    } else {
      text = fmt::format("{}\n{}", item.kind == Kind::Function ? "f" : "r", item.title);
      for (const TraceItem& inner : item.inner) text += fmt::format(" {}", of(inner));
    }
    return numbers_.try_emplace(std::move(text), numbers_.size()).first->second;
  }

 private:
  const std::vector<TraceNode>& nodes_;
  std::unordered_map<std::string, size_t> numbers_;
};

// Makes the calls of [to] stand for those of [from], which look the same.
void merge(TraceItem& to, const TraceItem& from, std::vector<TraceNode>& nodes) {
  to.fewest = std::min(to.fewest, from.fewest);
  to.most = std::max(to.most, from.most);
  if (to.kind == Kind::Call) {
    TraceNode& first = nodes[to.node];
    TraceNode& other = nodes[from.node];
    other.stands_for = to.node;
    first.title = commonText(first.title, other.title);
    for (const TraceNode::Weight& weight : other.weights) {
      const auto same = std::ranges::find(first.weights, weight.position, &TraceNode::Weight::position);
      if (same == first.weights.end()) continue;  // a call makes it in the first repeat
      same->name = commonText(same->name, weight.name);
      same->kind = commonText(same->kind, weight.kind);
    }
  }
  for (size_t i = 0; i < to.inner.size() && i < from.inner.size(); ++i) merge(to.inner[i], from.inner[i], nodes);
}

// Folds the [count] repeats of [period] items from [at] on into one item.
TraceItem repeat(std::vector<TraceItem>& items, size_t at, size_t period, size_t count, std::vector<TraceNode>& nodes) {
  TraceItem folded;
  const auto first = items.begin() + static_cast<std::ptrdiff_t>(at);
  for (size_t i = period; i < period * count; ++i) merge(items[at + i % period], items[at + i], nodes);
  if (period == 1) {
    folded = std::move(*first);
  } else {
    folded.kind = Kind::Repeat;
    folded.node = first->node;
    folded.inner.assign(std::move_iterator(first), std::move_iterator(first + static_cast<std::ptrdiff_t>(period)));
  }
  folded.fewest *= count;
  folded.most *= count;
  return folded;
}

// Makes one pass over [items] for repeats of [period] items.
bool foldPeriod(std::vector<TraceItem>& items, std::vector<size_t>& looks, size_t period, std::vector<TraceNode>& nodes,
                Looks& of) {
  std::vector<TraceItem> folded;
  std::vector<size_t> folded_looks;
  bool has_folded = false;
  for (size_t at = 0; at < items.size();) {
    size_t same = 0;
    while (at + same + period < items.size() && looks[at + same] == looks[at + same + period]) ++same;
    const size_t count = same / period + 1;
    size_t calls = 0;
    if (count > 1) {
      for (size_t i = 0; i < period; ++i) calls += items[at + i].calls();
    }
    if (count < 2 || (count < 3 && calls < kFewCalls)) {
      folded.push_back(std::move(items[at]));
      folded_looks.push_back(looks[at]);
      ++at;
      continue;
    }
    folded.push_back(repeat(items, at, period, count, nodes));
    // Its look differs from that of a single occurrence, but equals that of repeats with another count.
    folded_looks.push_back(of.of(folded.back()));
    at += period * count;
    has_folded = true;
  }
  items = std::move(folded);
  looks = std::move(folded_looks);
  return has_folded;
}

// Splits text into numbers, words, and single other characters.
std::vector<std::string_view> partsOf(std::string_view text) {
  const auto kindOf = [](char c) {
    if (isOfClass(c, kDigit)) return 1;
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
    return is_word ? 2 : 0;
  };
  std::vector<std::string_view> parts;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    do ++end;
    while (end < text.size() && kindOf(text[begin]) != 0 && kindOf(text[end]) == kindOf(text[begin]));
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

size_t boxesOf(const TraceItem& item) {
  if (item.kind == Kind::Call || item.is_closed) return 1;
  size_t boxes = 0;
  for (const TraceItem& inner : item.inner) boxes += boxesOf(inner);
  return boxes;
}

// Finds the depth and the title of the innermost open function.
void findInnermost(const TraceItem& item, size_t depth, std::pair<size_t, std::string>& found) {
  if (item.is_closed) return;
  if (item.kind == Kind::Function && depth > found.first && !item.title.empty()) found = {depth, item.title};
  for (const TraceItem& inner : item.inner) findInnermost(inner, depth + (item.kind == Kind::Function ? 1 : 0), found);
}

void close(TraceItem& item, const std::string& title) {
  if (item.kind == Kind::Function && item.title == title && item.calls() > 1) item.is_closed = true;
  for (TraceItem& inner : item.inner) close(inner, title);
}

}  // namespace

size_t TraceItem::calls() const {
  if (kind == Kind::Call) return 1;
  size_t all = 0;
  for (const TraceItem& one : inner) all += one.calls();
  return all;
}

std::string TraceItem::countText() const {
  if (most == 1) return {};
  return fewest == most ? fmt::format(" ×{}", most) : fmt::format(" ×{} to {}", fewest, most);
}

TraceItem groupByFunction(const std::vector<TraceNode>& nodes, bool all) {
  TraceItem root;
  root.kind = Kind::Function;
  const std::vector<CallFrame> nothing;
  const std::vector<CallFrame>* before = &nothing;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].gives_nothing && !all) continue;
    const std::vector<CallFrame>& path = nodes[i].path;
    TraceItem* group = &root;
    bool is_same = true;
    for (size_t depth = 1; depth < path.size(); ++depth) {
      is_same = is_same && depth < before->size() && !group->inner.empty() &&
                groupKey(path, depth) == groupKey(*before, depth);
      if (!is_same) {
        TraceItem& made = group->inner.emplace_back();
        made.kind = Kind::Function;
        made.node = i;
        made.title = path[depth].function;
      }
      group = &group->inner.back();
    }
    group->inner.emplace_back().node = i;
    before = &path;
  }
  return root;
}

void foldRepeats(TraceItem& item, std::vector<TraceNode>& nodes) {
  for (TraceItem& inner : item.inner) foldRepeats(inner, nodes);
  constexpr int kMostRounds = 8;
  Looks of(nodes);
  bool has_folded = true;
  for (int round = 0; has_folded && round < kMostRounds; ++round) {
    has_folded = false;
    std::vector<size_t> looks;
    for (const TraceItem& inner : item.inner) looks.push_back(of.of(inner));
    for (size_t period = 1; period <= std::min(item.inner.size() / 2, kLongestPeriod); ++period)
      has_folded = foldPeriod(item.inner, looks, period, nodes, of) || has_folded;
  }
  // A function whose calls repeat as a whole counts as called that often.
  if (item.kind == Kind::Function && !item.title.empty() && item.inner.size() == 1 &&
      item.inner[0].kind == Kind::Repeat) {
    TraceItem all = std::move(item.inner[0]);
    item.inner = std::move(all.inner);
    item.fewest *= all.fewest;
    item.most *= all.most;
  }
}

void closeFunctions(TraceItem& item, size_t most) {
  while (boxesOf(item) > most) {
    std::pair<size_t, std::string> innermost;
    findInnermost(item, 0, innermost);
    if (innermost.second.empty()) return;
    const size_t before = boxesOf(item);
    close(item, innermost.second);
    if (boxesOf(item) == before) return;
  }
}

std::string commonText(const std::string& a, const std::string& b) {
  if (a == b) return a;
  const std::vector<std::string_view> parts = partsOf(a), others = partsOf(b);
  const auto isNumber = [](std::string_view part) { return part == "*" || isOfClass(part[0], kDigit); };
  const auto differsInNumbers = [&](std::string_view part, std::string_view other) {
    return part == other || (isNumber(part) && isNumber(other));
  };
  if (std::ranges::equal(parts, others, differsInNumbers)) {
    std::string common;
    for (size_t i = 0; i < parts.size(); ++i) common += parts[i] == others[i] ? parts[i] : "*";
    return common;
  }
  const auto [part, other] = std::ranges::mismatch(parts, others);
  std::string begin, end;
  for (auto at = parts.begin(); at != part; ++at) begin += *at;
  // The common end, not overlapping the common beginning.
  auto last = parts.end();
  for (auto at = others.end(); last != part && at != other && *(last - 1) == *(at - 1); --last, --at) {
  }
  for (; last != parts.end(); ++last) end += *last;
  return begin + "*" + end;
}

}  // namespace boxcar::detail
