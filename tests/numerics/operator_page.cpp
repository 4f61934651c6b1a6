#include "tests/numerics/operator_page.h"

#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/backends/transforms/batching_table.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/numerics/case_call.h"
#include "tests/numerics/case_functional.h"
#include "tests/numerics/case_gradients.h"
#include "tests/numerics/name_lists.h"

namespace boxcar::numerics {
namespace {

// The columns, in this order.
constexpr std::pair<const char*, const char*> kColumns[] = {
    {"float32", "f32"}, {"float64", "f64"}, {"float16", "f16"},   {"bfloat16", "bf16"},
    {"int8", "i8"},     {"int16", "i16"},   {"int32", "i32"},     {"int64", "i64"},
    {"uint8", "u8"},    {"bool", "bool"},   {"complex64", "c64"}, {"complex128", "c128"},
};

struct Row {
  std::set<std::string> dtypes;
  bool has_error = false;
  bool has_gradient = false;
  bool has_second = false;
  bool has_forward = false;
  bool lacks_forward = false;
  bool is_compared = false;  // whether PyTorch's answer about gradients is known
  bool is_wrong = false;     // no formula, or another gradient than PyTorch's

  // "1", "2", "none" or "".
  std::string gradient() const {
    if (is_wrong || !is_compared) return "";
    return has_second ? "2" : has_gradient ? "1" : "none";
  }
  bool isForward() const { return has_forward && !lacks_forward && !is_wrong; }
};

void addGradients(const Case& one, Row& row) {
  using Kind = GradientOutcome::Kind;
  const GradientOutcome outcome = gradientOutcome(one);
  if (outcome.kind == Kind::kNotRecorded) return;
  row.is_compared = true;
  row.is_wrong |= outcome.kind == Kind::kMissingFormula || outcome.kind == Kind::kDifferent;
  row.has_gradient |= outcome.has_first;
  row.has_second |= outcome.has_second;
  row.has_forward |= outcome.has_forward;
  row.lacks_forward |= outcome.lacks_forward;
}

// How a call on batched tensors is made, in a word; empty for operators that are not compared there.
std::string_view batchingWord(const OperatorHandle& op, const std::string& name) {
  if (namesIn("batch_reasons.txt").contains(name)) return "";
  const std::string way = transforms::describeBatching(op);
  if (way.starts_with("by the rule")) return "rule";
  if (way.starts_with("by its decomposition")) return "others";
  if (way.starts_with("by a loop")) return "loop";
  return "";
}

// The class of autocast, without the line that names it.
std::string autocastClass(const OperatorHandle& op) {
  const std::string text = autocast::describeAutocast(op);
  return text.substr(0, text.find(", by "));
}

std::string cell(std::string_view text) { return text.empty() ? " |" : fmt::format(" {} |", text); }

}  // namespace

std::string operatorPage(const std::vector<std::unique_ptr<CaseFile>>& files) {
  std::map<std::string, Row> rows;
  for (const auto& file : files) {
    for (const Case& one : file->cases()) {
      Row& row = rows[one.op()];
      if (one.isError()) {
        row.has_error = true;
      } else {
        row.dtypes.insert(one.dtype());
        addGradients(one, row);
      }
    }
  }
  std::vector<std::string> names;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    if (Dispatcher::singleton().findSchema(name)) names.push_back(toString(name));
  }
  std::ranges::sort(names);

  std::string text;
  size_t checked = 0;
  size_t differentiated = 0;
  size_t forwards = 0;
  for (const std::string& name : names) {
    const auto row = rows.find(name);
    text += fmt::format("| `{}` |", name);
    for (const auto& [dtype, shown] : kColumns) {
      text += row != rows.end() && row->second.dtypes.contains(dtype) ? " ✓ |" : " |";
    }
    text += row != rows.end() && row->second.has_error ? " ✓ |" : " |";
    const std::string gradient = row != rows.end() ? row->second.gradient() : "";
    text += cell(gradient);
    differentiated += gradient == "1" || gradient == "2";
    const bool is_forward = row != rows.end() && row->second.isForward();
    text += is_forward ? " ✓ |" : " |";
    forwards += is_forward;
    const OperatorHandle op = *Dispatcher::singleton().findSchema(parseName(name));
    const bool has_cases = row != rows.end() && !row->second.dtypes.empty();
    text += cell(has_cases ? batchingWord(op, name) : "");
    text += cell(has_cases && !namesIn("fake_reasons.txt").contains(name) ? "✓" : "");
    text += cell(has_cases ? functionalWord(op) : "");
    text += cell(autocastClass(op));
    text += hasKernel(name) ? " |\n" : " no kernel |\n";
    checked += row != rows.end();
  }
  std::string head = fmt::format(
      R"(# Operators

Every operator that boxcar declares, {} in all, and the dtypes that the tests compare with PyTorch 2.15: {} operators.
Each case is called boxed, typed and from a script, and boxed under the checkers of schemas and of meta kernels.
"refused": bad calls are checked to be errors. "gradient" ({} operators): 1, the gradients are PyTorch's; 2, also the
second derivatives; none, there are none in PyTorch. "jvp" ({} operators): the derivative forwards agrees with the
gradients. "vmap": calls on batched tensors equal those on their slices; they are made by a rule, as the others that the
operator is made of, or by a loop over the slices. "fake": fake tensors give the sizes, strides, dtypes and devices of
real ones. "functionalize": calls inside of it equal those outside, and write nothing below it. They are made by the
form that returns what the operator writes, on copies of what it writes, as a view, as another shape of the same memory,
as the others that the operator is made of, or as they are, of an operator that only reads. "autocast": the class, where
an operator has one. An operator without a mark has tests elsewhere, gives random numbers, depends on elements, or has
no formula yet. The page is generated: `./dev numerics --page`; [how cases are written](../tests/numerics/README.md).

| operator |)",
      names.size(), checked, differentiated, forwards);
  std::string rule = "|---|";
  for (const auto& [dtype, shown] : kColumns) {
    head += fmt::format(" {} |", shown);
    rule += "---|";
  }
  return head + " refused | gradient | jvp | vmap | fake | functionalize | autocast | |\n" + rule +
         "---|---|---|---|---|---|---|---|\n" + text;
}

}  // namespace boxcar::numerics
