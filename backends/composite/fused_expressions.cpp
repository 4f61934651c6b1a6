#include <boxcar/backends/composite/fused_expressions.h>
#include <boxcar/ivalue/scalar_type.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::composite {
namespace {

using ExpressionPtr = std::shared_ptr<const FusedExpression>;

// All texts together have no more bytes; a parsed expression takes some tens of bytes for each of them.
constexpr size_t kMostTextBytes = size_t{1} << 20;

struct FusedExpressions {
  std::mutex mutex;
  std::map<std::string, ExpressionPtr, std::less<>> kept;
  size_t text_bytes = 0;
};

FusedExpressions& fusedExpressions() {
  // Never destroyed: calls may run when the process ends.
  static auto& expressions = *new FusedExpressions;
  return expressions;
}

ExpressionPtr parseFused(std::string_view text) {
  auto expression = native::PointwiseExpression::parse(text);
  std::vector<native::PointwiseProgram> programs;
  for (const ScalarType dtype : {ScalarType::Float, ScalarType::BFloat16, ScalarType::Half}) {
    if (auto program = native::PointwiseProgram::of(expression, dtype)) programs.push_back(*std::move(program));
  }
  return std::make_shared<const FusedExpression>(FusedExpression{std::move(expression), std::move(programs)});
}

ExpressionPtr findOrParse(std::string_view text) {
  FusedExpressions& all = fusedExpressions();
  {
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.kept.find(text); found != all.kept.end()) return found->second;
  }
  ExpressionPtr parsed = parseFused(text);
  const std::lock_guard lock(all.mutex);
  // A program has few texts, and one that makes new ones all the time would not meet an old one again.
  if (all.kept.size() >= kMostFusedExpressions || all.text_bytes + text.size() > kMostTextBytes) {
    all.kept.clear();
    all.text_bytes = 0;
  }
  if (all.kept.emplace(text, parsed).second) all.text_bytes += text.size();
  return parsed;
}

}  // namespace

const ExpressionPtr& fusedExpression(std::string_view text) {
  // By the address of the text, which is a program's constant: as a rule, each call finds its own here. The contents
  // decide. Not in the thread's own memory, of which a process has little room for libraries that it opens later.
  constexpr size_t kRecent = 64;
  thread_local const auto recent = std::make_unique<std::array<ExpressionPtr, kRecent>>();
  const auto address = reinterpret_cast<uintptr_t>(text.data());
  ExpressionPtr& entry = (*recent)[(address >> 4 ^ address >> 10 ^ text.size()) % kRecent];
  if (entry == nullptr || entry->expression.text() != text) [[unlikely]]
    entry = findOrParse(text);
  return entry;
}

size_t keptFusedExpressions() {
  FusedExpressions& all = fusedExpressions();
  const std::lock_guard lock(all.mutex);
  return all.kept.size();
}

}  // namespace boxcar::composite
