#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/handlers/memory/memory_tracker.h>
#include <boxcar/dispatcher/handlers/memory/storage_watch.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

// Row 0 is for allocations while no operator runs; site 0 is for no line of a script.
constexpr uint32_t kNoOperator = 0;
constexpr uint32_t kNoSite = 0;
constexpr size_t kMostSitesShown = 20;

// What a thread runs under a tracker: its scope, and inside it the operators. Innermost first.
class Frame final {
 public:
  Frame(const MemoryTracker* tracker, uint32_t row) noexcept
      : tracker_(tracker), row_(row), outer_(std::exchange(innermost, this)) {}
  // Searched for, because scopes may end in any order.
  ~Frame() {
    Frame** place = &innermost;
    while (*place != this) place = &(*place)->outer_;
    *place = outer_;
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // Returns the row of the innermost operator that this thread runs under [tracker]; no value outside of its scopes.
  static std::optional<uint32_t> rowUnder(const MemoryTracker* tracker) noexcept {
    for (const Frame* frame = innermost; frame != nullptr; frame = frame->outer_) {
      if (frame->tracker_ == tracker) return frame->row_;
    }
    return std::nullopt;
  }

 private:
  static constinit thread_local Frame* innermost;

  const MemoryTracker* const tracker_;
  const uint32_t row_;
  Frame* outer_;
};

constinit thread_local Frame* Frame::innermost = nullptr;

struct Row {
  std::string name;
  uint64_t calls = 0;
  uint64_t allocated = 0;
  uint64_t live = 0;
  // The live bytes at the overall peak. Updated when `live` changes for the first time after a peak.
  uint64_t live_at_peak = 0;
  uint64_t settled_peak = 0;
};

struct Block {
  uint64_t bytes;
  uint32_t row;
  uint32_t site;
};

struct Remains {
  uint64_t bytes = 0;
  uint64_t storages = 0;
};

}  // namespace

struct MemoryTracker::State {
  explicit State(const MemoryTracker* tracker) : owner(tracker) {
    rows.push_back({.name = "(no operator)"});
    site_texts.push_back("outside of a script");
    watch.emplace(observer);
  }

  // The map gets the number after the row exists, because memory may run out in between.
  uint32_t rowOf(const OperatorHandle& op) {
    const auto found = row_of.find(&op.entry());
    if (found != row_of.end()) return found->second;
    rows.push_back({.name = toString(op)});
    return row_of.emplace(&op.entry(), static_cast<uint32_t>(rows.size() - 1)).first->second;
  }

  uint32_t siteOf(const std::optional<CallSite>& site) {
    if (!site) return kNoSite;
    const auto found = site_of.find({site->file, site->line});
    if (found != site_of.end()) return found->second;
    site_texts.push_back("at " + toString(*site));
    return site_of.emplace(std::pair(site->file, site->line), static_cast<uint32_t>(site_texts.size() - 1))
        .first->second;
  }

  void settle(Row& row) const noexcept {
    if (row.settled_peak == peaks) return;
    row.live_at_peak = row.live;
    row.settled_peak = peaks;
  }

  void allocated(const StorageImpl* storage, uint64_t bytes) {
    const std::optional<uint32_t> running = Frame::rowUnder(owner);
    if (!running || HiddenCalls::areOn()) return;
    const std::optional<CallSite> site = currentCallSite();
    const std::lock_guard lock(mutex);
    const Block block{bytes, *running, siteOf(site)};
    blocks.insert_or_assign(storage, block);
    Row& row = rows[block.row];
    settle(row);
    row.allocated += bytes;
    row.live += bytes;
    live += bytes;
    if (live <= peak) return;
    peak = live;
    peak_site = block.site;
    ++peaks;
  }

  void freed(const StorageImpl* storage) {
    const std::lock_guard lock(mutex);
    const auto found = blocks.find(storage);
    // It was not allocated under the tracker.
    if (found == blocks.end()) return;
    Row& row = rows[found->second.row];
    settle(row);
    row.live -= found->second.bytes;
    live -= found->second.bytes;
    blocks.erase(found);
  }

  std::string report();
  std::string remains() const;

  const MemoryTracker* const owner;
  mutable std::mutex mutex;
  std::vector<Row> rows;
  std::unordered_map<const OperatorEntry*, uint32_t> row_of;
  std::vector<std::string> site_texts;
  std::map<std::pair<std::string, uint32_t>, uint32_t> site_of;
  std::unordered_map<const StorageImpl*, Block> blocks;
  uint64_t live = 0;
  uint64_t peak = 0;
  uint64_t peaks = 0;  // the number of new peaks
  uint32_t peak_site = kNoSite;
  // How often the tracker itself ran out of memory.
  uint64_t missed = 0;

  const StorageObserver observer = {
      [](void* context, const StorageImpl& storage, size_t bytes) {
        auto& state = *static_cast<State*>(context);
        try {
          state.allocated(&storage, bytes);
        } catch (const std::exception&) {
          const std::lock_guard lock(state.mutex);
          ++state.missed;
        }
      },
      [](void* context, const StorageImpl& storage, size_t) { static_cast<State*>(context)->freed(&storage); }, this};
  std::optional<StorageWatch> watch;
};

MemoryTracker::MemoryTracker() : state_(std::make_unique<State>(this)) {}

MemoryTracker::~MemoryTracker() = default;

void MemoryTracker::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  uint32_t row = kNoOperator;
  {
    const std::lock_guard lock(state_->mutex);
    row = state_->rowOf(op);
    ++state_->rows[row].calls;
  }
  const Frame running(this, row);
  op.redispatchBoxed(keys, stack);
}

std::shared_ptr<void> MemoryTracker::enter() {
  struct Scope {
    explicit Scope(MemoryTracker& tracker) : frame(&tracker, kNoOperator), mode(tracker.Handler::enter()) {}
    const Frame frame;
    const std::shared_ptr<void> mode;
  };
  return std::make_shared<Scope>(*this);
}

std::string MemoryTracker::finish(bool) {
  state_->watch.reset();
  const std::lock_guard lock(state_->mutex);
  return state_->report();
}

uint64_t MemoryTracker::liveBytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->live;
}

uint64_t MemoryTracker::peakBytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->peak;
}

std::string MemoryTracker::State::report() {
  std::vector<const Row*> shown;
  Row total{.name = "total", .live = live, .live_at_peak = peak};
  for (Row& row : rows) {
    settle(row);
    total.calls += row.calls;
    total.allocated += row.allocated;
    if (row.allocated > 0) shown.push_back(&row);
  }
  std::ranges::sort(shown, [](const Row* a, const Row* b) {
    return a->allocated != b->allocated ? a->allocated > b->allocated : a->name < b->name;
  });
  std::vector<std::vector<std::string>> cells = {
      {"operator", "calls", "allocated", "freed", "live at the end", "live at the peak"}};
  shown.push_back(&total);
  for (const Row* row : shown) {
    cells.push_back({row->name, row == &rows[kNoOperator] ? "-" : std::to_string(row->calls), bytesText(row->allocated),
                     bytesText(row->allocated - row->live), bytesText(row->live), bytesText(row->live_at_peak)});
  }
  std::string text = "memory: ";
  text += peak == 0 ? std::string("nothing was allocated")
                    : fmt::format("at most {} at once, reached {}", bytesText(peak), site_texts[peak_site]);
  text += fmt::format("; {} in {} still live at the end\n", bytesText(live), plural(blocks.size(), "storage"));
  text += reportTable(cells);
  if (missed > 0)
    text += fmt::format("{} could not be recorded, because memory ran out\n", plural(missed, "allocation"));
  return text + remains();
}

std::string MemoryTracker::State::remains() const {
  std::map<std::pair<uint32_t, uint32_t>, Remains> by_place;
  for (const auto& [storage, block] : blocks) {
    Remains& remains = by_place[{block.row, block.site}];
    remains.bytes += block.bytes;
    ++remains.storages;
  }
  std::vector<std::pair<std::string, Remains>> lines;
  for (const auto& [place, remains] : by_place)
    lines.emplace_back(fmt::format("{} {}", rows[place.first].name, site_texts[place.second]), remains);
  std::ranges::sort(lines, [](const auto& a, const auto& b) {
    return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
  });
  std::string text;
  if (!lines.empty()) text += "still live at the end, by what allocated it:\n";
  for (size_t i = 0; i < std::min(lines.size(), kMostSitesShown); ++i) {
    const auto& [place, remains] = lines[i];
    text += fmt::format("  {} in {}: {}\n", bytesText(remains.bytes), plural(remains.storages, "storage"), place);
  }
  if (lines.size() > kMostSitesShown)
    text += fmt::format("  and {} more\n", plural(lines.size() - kMostSitesShown, "place"));
  return text;
}

constinit const HandlerKind kMemoryKind = {
    "memory() -> ()",
    "Report which operators allocate memory, when use was highest, and what is still alive at the end",
    [](std::span<const IValue>) -> std::unique_ptr<Handler> { return std::make_unique<MemoryTracker>(); }};

}  // namespace boxcar
