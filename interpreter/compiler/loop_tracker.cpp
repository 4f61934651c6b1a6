#include <boxcar/interpreter/compiler/loop_tracker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>

namespace boxcar::interp {

namespace {

// After this many passes over a function, what still changes becomes Any.
constexpr int kPassesBeforeAny = 8;
// After this many passes, everything that a loop assigns becomes Any if something in it still changes. If each
// statement passes a type on to the one before it, every pass moves it by only one variable: there would be as many
// passes as variables.
constexpr int kPassesBeforeAllAny = 16;

}  // namespace

void LoopTracker::beginPass() {
  ++pass_;
  has_changed_ = false;
  open_.clear();
}

LoopTracker::Loop LoopTracker::open(const void* key, Span span, typed::Block& out) {
  const auto [entry, is_new] = heads_.try_emplace(key, context_.environment);
  if (!is_new) entry->second.join(context_.environment);
  typed::Recasts recasts = context_.environment.recastsTo(entry->second);
  if (!recasts.empty()) typed::append(out, span, typed::RecastAll{std::move(recasts)});
  const bool is_reachable = context_.environment.isReachable();
  context_.environment = entry->second;
  if (!is_reachable) context_.environment.setUnreachable();
  return {key, context_.assigned.size(), {}};
}

void LoopTracker::repeat(const Loop& loop, Span span, typed::Block& out) {
  if (!context_.environment.isReachable()) return;
  Environment& head = heads_.at(loop.key);
  Environment joined = head;
  joined.join(context_.environment);
  if (!(joined == head)) {
    if (pass_ > kPassesBeforeAny) takeForAny(joined, head, loop);
    has_changed_ = has_changed_ || !(joined == head);
    head = std::move(joined);
  }
  typed::Recasts recasts = context_.environment.recastsTo(head);
  if (!recasts.empty()) typed::append(out, span, typed::RecastAll{std::move(recasts)});
}

void LoopTracker::takeForAny(Environment& joined, const Environment& head, const Loop& loop) const {
  const auto take = [&joined](typed::VariableId i) {
    joined[i] = {Type::any(), nullptr, SlotKind::Value, joined.at(i).maybe_unset};
  };
  for (typed::VariableId i = 0; i < joined.size(); ++i) {
    const TypePtr before = head.at(i).type;
    if (before != nullptr && joined.at(i).type != before) take(i);
  }
  if (pass_ <= kPassesBeforeAllAny) return;
  for (size_t i = loop.first_assigned; i < context_.assigned.size(); ++i) {
    const typed::VariableId variable = context_.assigned[i];
    const Binding& known = joined.at(variable);
    // A declared type is the same in all iterations, and the fields of Any have no names.
    if (known.type != nullptr && known.fields == nullptr && !context_.declared_types.contains(variable)) take(variable);
  }
}

void LoopTracker::leave(Loop& loop, Span span, typed::Block& out) {
  if (!context_.environment.isReachable()) return;
  typed::append(out, span, typed::RecastAll{});
  loop.exits.emplace_back(context_.environment, out.back().get());
}

void LoopTracker::close(Loop& loop) {
  context_.environment.setUnreachable();
  for (const auto& [environment, statement] : loop.exits) context_.environment.join(environment);
  for (const auto& [environment, statement] : loop.exits) {
    boost::variant2::get<typed::RecastAll>(statement->node).recasts = environment.recastsTo(context_.environment);
  }
}

}  // namespace boxcar::interp
