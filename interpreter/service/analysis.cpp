#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/service/analysis.h>
#include <boxcar/interpreter/syntax/grammar.h>

#include <algorithm>

namespace boxcar::service {

using interp::Findings;
using interp::ScriptFunction;

Analysis::Analysis(std::string text, const std::string& name, const Workspace& workspace,
                   std::span<const KnownVariable> known)
    : files_(name, workspace), tree_(syntax::parse(Source::create(name, std::move(text)), unused_)) {
  declarations_ = std::make_unique<interp::Declarations>(tree_, &files_, unused_);
  for (const KnownVariable& variable : known) {
    findings_.known.emplace_back(variable.name, declarations_->typeNamed(variable.type));
  }
  const Span whole{0, static_cast<uint32_t>(source()->text().size())};
  interp::Inference(*declarations_, nullptr, unused_, &findings_).run(tree_.statements, whole);
  for (const auto& function : declarations_->functions()) {
    if (function->body == nullptr) continue;
    interp::Inference(*declarations_, function.get(), unused_, &findings_)
        .run(function->body->statements, function->span);
  }
}

const ScriptFunction* Analysis::functionAt(uint32_t offset) const {
  const ScriptFunction* innermost = nullptr;
  for (const auto& function : declarations_->functions()) {
    if (function->body == nullptr) continue;
    const Span body = function->body->span;
    if (offset <= body.begin || offset > body.end) continue;
    if (innermost == nullptr || body.begin > innermost->body->span.begin) innermost = function.get();
  }
  return innermost;
}

const Findings::Value* Analysis::valueAt(Span span) const {
  const auto found = std::ranges::find(findings_.values, span, &Findings::Value::span);
  return found == findings_.values.end() ? nullptr : &*found;
}

std::vector<Findings::Assignment> Analysis::assignmentsOf(std::string_view name, uint32_t offset) const {
  const ScriptFunction* function = functionAt(offset);
  std::vector<Findings::Assignment> result;
  for (const Findings::Assignment& assignment : findings_.assignments) {
    if (assignment.name == name && functionAt(assignment.span.begin) == function) result.push_back(assignment);
  }
  std::ranges::sort(result, {}, [](const auto& assignment) { return assignment.span.begin; });
  return result;
}

}  // namespace boxcar::service
