#include "tests/numerics/operator_page.h"

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/numerics/case_call.h"

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
};

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
  for (const std::string& name : names) {
    const auto row = rows.find(name);
    text += fmt::format("| `{}` |", name);
    for (const auto& [dtype, shown] : kColumns) {
      text += row != rows.end() && row->second.dtypes.contains(dtype) ? " ✓ |" : " |";
    }
    text += row != rows.end() && row->second.has_error ? " ✓ |" : " |";
    text += hasKernel(name) ? " |\n" : " no kernel |\n";
    checked += row != rows.end();
  }
  std::string head = fmt::format(
      "# Operators\n\nEvery operator that boxcar declares, {} in all, and the dtypes that the tests compare with "
      "PyTorch "
      "2.15: {} operators.\nEach case is called boxed, typed and from a script, and boxed under the checkers of "
      "schemas "
      "and of meta kernels.\n\"refused\": bad calls are checked to be errors. An operator without a ✓ has tests "
      "elsewhere, "
      "or gives random numbers. The page\nis generated: `./dev numerics --page`; [how cases are "
      "written](../tests/numerics/README.md).\n\n| operator |",
      names.size(), checked);
  std::string rule = "|---|";
  for (const auto& [dtype, shown] : kColumns) {
    head += fmt::format(" {} |", shown);
    rule += "---|";
  }
  return head + " refused | |\n" + rule + "---|---|\n" + text;
}

}  // namespace boxcar::numerics
