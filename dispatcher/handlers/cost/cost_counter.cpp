#include <boxcar/dispatcher/handlers/call_results.h>
#include <boxcar/dispatcher/handlers/cost/call_work.h>
#include <boxcar/dispatcher/handlers/cost/cost_counter.h>
#include <boxcar/dispatcher/handlers/cost/machine_ceilings.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace boxcar {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// A call that this thread runs under a counter.
class Running final {
 public:
  explicit Running(const CostCounter* counter) noexcept : counter_(counter), outer_(innermost) {
    for (above_ = outer_; above_ != nullptr && above_->counter_ != counter;) above_ = above_->outer_;
    innermost = this;
    begin_ = Clock::now();
  }
  // Subtracts its time from the call above, even if it failed.
  ~Running() {
    innermost = outer_;
    if (above_ == nullptr) return;
    above_->time_of_calls_ += Clock::now() - begin_;
    above_->is_done_below_ = above_->is_done_below_ || is_done_below_ || does_work_;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Whether calls below did the work. Calls that only make views and allocate memory leave it to their caller.
  bool isDoneBelow() const noexcept { return is_done_below_; }
  void finished(bool does_work) noexcept { does_work_ = does_work; }
  Clock::duration ownTime() const noexcept { return Clock::now() - begin_ - time_of_calls_; }

 private:
  static constinit thread_local Running* innermost;

  const CostCounter* const counter_;
  Running* const outer_;
  Running* above_;  // the enclosing call under the same counter
  Clock::time_point begin_;
  Clock::duration time_of_calls_{};
  bool is_done_below_ = false;
  bool does_work_ = true;  // stays true if the call fails
};

constinit thread_local Running* Running::innermost = nullptr;

std::string ratio(double a, double b) { return b == 0 ? "-" : fmt::format("{:.2f}", a / b); }

// Below a fifth of both ceilings, neither limits an operator: short calls are limited by the overhead of each call, and
// in long ones the kernel could do better.
constexpr double kLeastPart = 0.2;
constexpr double kShortCall = 10e-6;  // seconds

// The minimum time of one core, in seconds.
double computingTime(const OperatorWork& work, const MachineCeilings& ceilings) {
  return work.flops / ceilings.flops_of_one;
}
double movingTime(const OperatorWork& work, const MachineCeilings& ceilings) {
  return work.bytes / ceilings.bytes_of_one;
}

std::string boundOf(const OperatorWork& work, const MachineCeilings& ceilings) {
  const double time = Seconds(work.time).count();
  const double computing = computingTime(work, ceilings);
  const double moving = movingTime(work, ceilings);
  if (work.flops == 0 && work.bytes == 0) return "overhead";
  if (std::max(computing, moving) < kLeastPart * time)
    return time < kShortCall * static_cast<double>(work.calls) ? "overhead" : "neither";
  return computing > moving ? "compute" : "memory";
}

std::vector<std::string> rowOf(const OperatorWork& work, double whole, const MachineCeilings& ceilings) {
  const double time = Seconds(work.time).count();
  std::vector<std::string> row = {work.name, std::to_string(work.calls), fmt::format("{:.3f}", time * 1e3),
                                  fmt::format("{:.1f}", whole == 0 ? 0 : 100 * time / whole)};
  const bool works = work.leaves > 0;
  const bool is_known = works && work.unknown == 0;
  row.push_back(!works ? "-" : is_known ? countText(work.flops) : "?");
  row.push_back(works ? bytesText(static_cast<uint64_t>(work.bytes)) : "-");
  row.push_back(is_known ? ratio(work.flops, work.bytes) : row[4]);
  row.push_back(is_known ? ratio(work.flops / 1e9, time) : row[4]);
  row.push_back(works ? ratio(work.bytes / 1e9, time) : "-");
  const double best = std::max(computingTime(work, ceilings), movingTime(work, ceilings));
  row.push_back(best == 0 || time == 0 ? "-" : fmt::format("{:.0f}%", 100 * best / time));
  row.push_back(boundOf(work, ceilings));
  return row;
}

}  // namespace

void CostCounter::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const size_t count = op.schema().arguments().size();
  const std::span<const IValue> given = last(std::as_const(stack), std::min(count, stack.size()));
  const std::vector<IValue> arguments(given.begin(), given.end());
  const size_t below = stack.size() - given.size();
  Running running(this);
  op.redispatchBoxed(keys, stack);
  const Clock::duration time = running.ownTime();
  OperatorCost cost;
  if (!running.isDoneBelow()) {
    cost = workOfCall(op, {arguments, resultsAbove(stack, below)});
    running.finished(cost.flops != 0 || cost.bytes != 0);
  }
  const std::lock_guard lock(mutex_);
  OperatorWork& work = work_[&op.entry()];
  if (work.name.empty()) work.name = toString(op);
  ++work.calls;
  work.time += std::chrono::duration_cast<std::chrono::nanoseconds>(time);
  if (running.isDoneBelow()) return;
  ++work.leaves;
  if (!cost.flops) ++work.unknown;
  work.flops += cost.flops.value_or(0);
  work.bytes += cost.bytes.value_or(0);
}

std::vector<OperatorWork> CostCounter::work() const {
  std::vector<OperatorWork> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [entry, work] : work_) all.push_back(work);
  }
  std::ranges::sort(all, [](const OperatorWork& a, const OperatorWork& b) {
    return a.time != b.time ? a.time > b.time : a.name < b.name;
  });
  return all;
}

std::string CostCounter::finish(bool) {
  const std::vector<OperatorWork> all = work();
  if (all.empty()) return "cost: no operator was called\n";
  OperatorWork total{.name = "total"};
  for (const OperatorWork& part : all) {
    total.calls += part.calls;
    total.leaves += part.leaves;
    total.flops += part.flops;
    total.bytes += part.bytes;
    total.time += part.time;
  }
  const MachineCeilings& ceilings = machineCeilings();
  std::vector<std::vector<std::string>> rows = {
      {"operator", "calls", "ms", "%", "FLOPs", "bytes", "FLOP/B", "GFLOP/s", "GB/s", "of best", "bound by"}};
  const double whole = Seconds(total.time).count();
  for (const OperatorWork& part : all) rows.push_back(rowOf(part, whole, ceilings));
  rows.push_back(rowOf(total, whole, ceilings));
  return fmt::format(
             "cost: one core of this machine does {:.1f} GFLOP/s in float32 (all {}: {:.1f}) and moves {:.1f} "
             "GB/s from memory; below {:.0f}% of that a short call (up to {:.0f} us) is bound by 'overhead', a longer "
             "one "
             "by 'neither'\n",
             ceilings.flops_of_one / 1e9, ceilings.cores, ceilings.flops_of_all / 1e9, ceilings.bytes_of_one / 1e9,
             100 * kLeastPart, kShortCall * 1e6) +
         reportTable(rows);
}

constinit const HandlerKind kCostKind = {
    "cost() -> ()", "Report each operator's arithmetic, memory traffic and time, and what limits it",
    [](std::span<const IValue>) -> std::unique_ptr<Handler> { return std::make_unique<CostCounter>(); }};

}  // namespace boxcar
