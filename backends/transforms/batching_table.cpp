#include <boxcar/backends/autograd/formula_table.h>
#include <boxcar/backends/transforms/batching_table.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace boxcar::detail {

extern const std::string_view kBatchingTable;  // the text of backends/ops/aten.batching

}  // namespace boxcar::detail

namespace boxcar::transforms {
namespace {

constexpr std::pair<std::string_view, BatchingRule> kFamilies[] = {
    {"pointwise", &pointwiseRule}, {"broadcast", &broadcastRule}, {"loss", &lossRule},       {"each", &eachRule},
    {"dims", &dimsRule},           {"whole", &wholeRule},         {"sizes", &sizesRule},     {"new", &newRule},
    {"join", &joinRule},           {"strided", &stridedRule},     {"product", &productRule}, {"fold", &foldRule},
    {"aligned", &alignedDimsRule}, {"network", &networkRule},     {"index", &indexRule},     {"filled", &filledRule},
    {"prelu", &preluRule},         {"shape", &shapeRule},         {"undo", &undoRule},       {"stacked", &stackedRule},
    {"gradient", &gradientRule},   {"search", &searchRule},
};

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

// A line is `family word…: operator…`; operators without a namespace are aten's. A line that begins with a space goes
// on with the one before. `refuse: operator… # reason` gives the reason of an Error.
class BatchingLines final {
 public:
  BatchingLines() {
    std::string_view text = detail::kBatchingTable;
    std::string_view head;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty() || line.starts_with('#')) continue;
      if (!line.starts_with(' ')) {
        const size_t colon = line.find(": ");
        head = line.substr(0, colon);
        line.remove_prefix(colon + 1);
      }
      const size_t mark = line.find('#');
      add(head, line.substr(0, mark), mark == std::string_view::npos ? "" : line.substr(mark + 2));
    }
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, plan] : plans_) all.push_back(name);
    return all;
  }
  const BatchingPlan* find(const std::string& name) const {
    const auto found = plans_.find(name);
    return found == plans_.end() ? nullptr : &found->second;
  }

 private:
  void add(std::string_view head, std::string_view names, std::string_view reason) {
    BatchingPlan plan;
    plan.words = wordsOf(head);
    plan.family = plan.words[0];
    plan.words.erase(plan.words.begin());
    plan.reason = reason;
    if (plan.family == "decompose") {
      plan.kind = BatchingPlan::Kind::kDecompose;
    } else if (plan.family == "loop") {
      plan.kind = BatchingPlan::Kind::kLoop;
    } else if (plan.family == "refuse") {
      plan.kind = BatchingPlan::Kind::kRefuse;
    } else {
      plan.kind = BatchingPlan::Kind::kRule;
      const auto rule = std::ranges::find(kFamilies, plan.family, [](const auto& family) { return family.first; });
      BOXCAR_CHECK(rule != std::end(kFamilies), "aten.batching: there is no family '{}'", plan.family);
      plan.rule = rule->second;
    }
    for (const std::string& name : wordsOf(names)) {
      plans_.insert_or_assign(name.find("::") == std::string::npos ? "aten::" + name : name, plan);
    }
  }

  std::unordered_map<std::string, BatchingPlan> plans_;
};

bool returnsView(const FunctionSchema& schema) {
  return std::ranges::any_of(schema.returns(), [](const Argument& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  });
}

BatchingPlan ruleOf(std::string family, BatchingRule rule) {
  BatchingPlan plan;
  plan.kind = BatchingPlan::Kind::kRule;
  plan.family = std::move(family);
  plan.rule = rule;
  return plan;
}

BatchingPlan refusal(std::string reason) {
  BatchingPlan plan;
  plan.kind = BatchingPlan::Kind::kRefuse;
  plan.family = "refuse";
  plan.reason = std::move(reason);
  return plan;
}

BatchingPlan decomposition() {
  BatchingPlan plan;
  plan.kind = BatchingPlan::Kind::kDecompose;
  plan.family = "decompose";
  return plan;
}

const BatchingLines& batchingLines() {
  static const BatchingLines lines;
  return lines;
}

BatchingPlan choosePlan(const OperatorHandle& op, const autograd::DifferentiatedOperator& known) {
  const BatchingLines& lines = batchingLines();
  const std::string name = toString(op);
  if (const BatchingPlan* const found = lines.find(name)) return *found;
  if (known.writes_self) {
    // As the form that is not in place.
    const size_t mark = name.find("_.") == std::string::npos && name.ends_with('_') ? name.size() - 1 : name.find("_.");
    if (mark != std::string::npos) {
      const BatchingPlan* const found = lines.find(std::string(name).erase(mark, 1));
      if (found != nullptr && found->kind == BatchingPlan::Kind::kRule) return *found;
    }
  }
  if (op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) return decomposition();
  if (known.writes_out) {
    return refusal("forms with out= write to memory of one size; call the form without, and copy_() its result");
  }
  if (op.hasTag(Tag::pointwise)) return ruleOf("pointwise", &pointwiseRule);
  if (op.hasTag(Tag::dynamic_output_shape)) {
    return refusal("the sizes of its result depend on the elements, and those of slices could differ");
  }
  if (op.hasTag(Tag::data_dependent_output)) return refusal("its result is one value, which depends on the elements");
  if (returnsView(op.schema())) return refusal("it returns a view, and no rule says which of the batch");
  const bool is_recorded = known.formula != nullptr && known.formula->backward != nullptr;
  if (!is_recorded && op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)) return decomposition();
  BatchingPlan plan;
  plan.family = "loop";
  return plan;
}

}  // namespace

const BatchingPlan& batchingPlan(const OperatorHandle& op) {
  // A pointer, as a library has little room for variables of threads.
  thread_local std::unique_ptr<std::unordered_map<const OperatorEntry*, BatchingPlan>> plans;
  if (!plans) plans = std::make_unique<std::unordered_map<const OperatorEntry*, BatchingPlan>>();
  const auto found = plans->find(&op.entry());
  if (found != plans->end()) return found->second;
  const autograd::DifferentiatedOperator& known = autograd::differentiatedOperator(op);
  BatchingPlan plan = choosePlan(op, known);
  plan.writes_self = known.writes_self;
  const FunctionSchema& schema = op.schema();
  plan.is_of_elements = plan.rule == &pointwiseRule && !schema.is_mutable() && schema.returns().size() == 1 &&
                        schema.returns()[0].type()->kind() == TypeKind::Tensor;
  plan.needs_slices =
      plan.rule == &networkRule || plan.rule == &foldRule || plan.rule == &gradientRule || plan.rule == &searchRule;
  return plans->emplace(&op.entry(), std::move(plan)).first->second;
}

std::vector<std::string> operatorsOfTable() { return batchingLines().names(); }

std::string describeBatching(const OperatorHandle& op) {
  const BatchingPlan& plan = batchingPlan(op);
  if (plan.kind != BatchingPlan::Kind::kRefuse && op.hasTag(Tag::nondeterministic_seeded) &&
      !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) {
    return "as the randomness of the call of vmap says";
  }
  switch (plan.kind) {
    case BatchingPlan::Kind::kRule: return fmt::format("by the rule '{}'", plan.family);
    case BatchingPlan::Kind::kDecompose: return "by its decomposition";
    case BatchingPlan::Kind::kLoop: return "by a loop over the slices";
    case BatchingPlan::Kind::kRefuse: return fmt::format("not: {}", plan.reason);
  }
  return {};
}

}  // namespace boxcar::transforms
