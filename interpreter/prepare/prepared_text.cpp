#include <boxcar/interpreter/prepare/absorption.h>
#include <boxcar/interpreter/prepare/channels_last.h>
#include <boxcar/interpreter/prepare/constant_folding.h>
#include <boxcar/interpreter/prepare/growing_tensors.h>
#include <boxcar/interpreter/prepare/pointwise_groups.h>
#include <boxcar/interpreter/prepare/prepared_text.h>
#include <boxcar/interpreter/prepare/rewriter.h>
#include <boxcar/interpreter/prepare/typed_script.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

namespace boxcar::detail {

extern const std::string_view kRewritesScript;

}  // namespace boxcar::detail

namespace boxcar::interp {
namespace {

constexpr std::string_view kLayers = "nn.ops";
constexpr std::string_view kFusedLayers = "fused.ops";
// Programs of the library's rules take three passes or so.
constexpr int kMostPasses = 50;

const Rules& libraryRules(ModuleLoader* loader) {
  static const auto& rules = *new Rules(
      Source::create(std::string(kLibraryFolder) + "rewrites.ops", std::string(detail::kRewritesScript)), loader);
  return rules;
}

// A script that is changed step by step.
class ChangedScript final {
 public:
  ChangedScript(const SourcePtr& source, ModuleLoader* loader) : loader_(loader), script_(infer(source)) {}

  // Makes the changes that [step] returns, until it returns none or [most] times. Returns whether there were any.
  template <class Step>
  bool change(const Step& step, int most) {
    bool has_changed = false;
    for (int pass = 0; pass < most && script_ != nullptr; ++pass) {
      std::vector<Edit> edits = step(*script_);
      if (edits.empty() || !make(std::move(edits))) break;
      has_changed = true;
    }
    return has_changed;
  }

  // Makes these changes. Returns false, and makes none, if the result has errors, such as that of a script that has
  // functions of these names.
  bool make(std::vector<Edit> edits) {
    Diagnostics diagnostics;
    auto next = inferWith(std::move(edits), diagnostics);
    if (next == nullptr) return false;
    script_ = std::move(next);
    return true;
  }
  // Returns the first error that these changes bring; "" if there is none.
  std::string errorOf(std::vector<Edit> edits) const {
    Diagnostics diagnostics;
    if (inferWith(std::move(edits), diagnostics) != nullptr) return {};
    return diagnostics.size() == 0 ? "it cannot be compiled" : diagnostics.all()[0].message;
  }

  // Null if the script had errors.
  const TypedScript* script() const noexcept { return script_.get(); }

 private:
  std::unique_ptr<TypedScript> inferWith(std::vector<Edit> edits, Diagnostics& diagnostics) const {
    const SourcePtr& source = script_->source();
    const SourcePtr next = Source::create(source->name(), edited(source->text(), std::move(edits)));
    return TypedScript::infer(next, diagnostics, loader_);
  }
  std::unique_ptr<TypedScript> infer(const SourcePtr& source) const {
    Diagnostics diagnostics;
    return TypedScript::infer(source, diagnostics, loader_);
  }

  ModuleLoader* loader_;
  std::unique_ptr<TypedScript> script_;
};

// The change that imports what the rules call, beside the layers that they replace.
std::vector<Edit> importOfFusedLayers(const TypedScript& script) {
  const auto& statements = script.tree().statements;
  if (script.imports(kFusedLayers) || statements.empty()) return {};
  const std::string line = fmt::format("import \"{}\"\n", kFusedLayers);
  for (size_t i = 0; i + 1 < statements.size(); ++i) {
    const auto* import = boost::variant2::get_if<syntax::Import>(&statements[i]->node);
    if (import == nullptr || import->path != kLayers) continue;
    const std::string_view text = script.source()->text();
    const auto end = static_cast<uint32_t>(std::min(text.find('\n', statements[i]->span.end) + 1, text.size()));
    return {{{end, end}, line}};
  }
  const uint32_t begin = statements[0]->span.begin;
  return {{{begin, begin}, line}};
}

// The change that removes this import where no rule needed it.
std::vector<Edit> importThatNothingNeeds(const TypedScript& script) {
  if (script.names(kFusedLayers)) return {};
  for (const syntax::StmtPtr& statement : script.tree().statements) {
    const auto* import = boost::variant2::get_if<syntax::Import>(&statement->node);
    if (import != nullptr && import->path == kFusedLayers) return {withoutStatement(*script.source(), statement->span)};
  }
  return {};
}

std::vector<Edit> editsOf(const std::vector<AppliedRule>& applied) {
  std::vector<Edit> edits;
  for (const AppliedRule& each : applied) edits.insert(edits.end(), each.edits.begin(), each.edits.end());
  return edits;
}

// Removes those that alone make a program with errors. Throws Error if one is not of the library, the last of [all].
void removeWrong(const ChangedScript& changed, std::vector<AppliedRule>& applied,
                 const std::vector<const Rules*>& all) {
  std::erase_if(applied, [&](const AppliedRule& each) {
    const std::string error = changed.errorOf(each.edits);
    BOXCAR_CHECK(error.empty() || each.rules == all.back(),
                 "{}: what the rule `{}` writes in {}, `{}`, is an error there: {}", each.rules->placeOf(*each.rule),
                 each.rule->name(), changed.script()->source()->name(), each.after, error);
    return !error.empty();
  });
}

// Applies the rules until none fits. Returns whether there were any changes.
bool applyRules(ChangedScript& changed, const std::vector<const Rules*>& all) {
  for (int pass = 0;; ++pass) {
    std::vector<AppliedRule> applied = rewrite(*changed.script(), all);
    if (applied.empty()) return pass != 0;
    const SourcePtr& source = changed.script()->source();
    BOXCAR_CHECK(pass < kMostPasses,
                 "{}: the rules find something in their own results, again and again; the last of these programs "
                 "begins with\n{}",
                 source->name(), source->text().substr(0, 500));
    if (changed.make(editsOf(applied))) continue;
    removeWrong(changed, applied, all);
    if (applied.empty() || !changed.make(editsOf(applied))) return pass != 0;
  }
}

}  // namespace

std::string preparedText(const SourcePtr& source, ModuleLoader* loader, const std::vector<const Rules*>& rules,
                         ScriptRole role) {
  std::vector<const Rules*> all = rules;
  all.push_back(&libraryRules(loader));
  ChangedScript changed(source, loader);
  const bool imports = changed.change(importOfFusedLayers, 1);
  if (changed.script() == nullptr || !changed.script()->imports(kFusedLayers)) return std::string(source->text());
  bool is_better = changed.change(foldConstants, kMostPasses);
  if (applyRules(changed, all)) {
    is_better = true;
    changed.change(foldConstants, kMostPasses);
  }
  is_better |= changed.change(absorb, kMostPasses);
  is_better |= changed.change(groupPointwise, kMostPasses);
  is_better |= changed.change([role](const TypedScript& script) { return growTensors(script, role); }, 1);
  if (role == ScriptRole::Program) {
    is_better |= changed.change([loader](const TypedScript& script) { return keepChannelsLast(script, loader); }, 1);
  }
  if (!is_better) return std::string(source->text());
  if (imports) changed.change(importThatNothingNeeds, 1);
  Diagnostics diagnostics;
  return formatSource(changed.script()->source(), diagnostics);
}

}  // namespace boxcar::interp
