#include <boxcar/dispatcher/handlers/page_data.h>
#include <boxcar/dispatcher/registry/entry_text.h>
#include <boxcar/interpreter/cli/table_grid.h>
#include <boxcar/version.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace boxcar::detail {

// The contents of interpreter/cli/table_page.html, compiled into the program.
extern const std::string_view kTablePage;

}  // namespace boxcar::detail

namespace boxcar::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Gives equal texts the same number, so that the page stays small: most table entries of a column are alike.
class Numbering final {
 public:
  size_t numberOf(OrderedJson value) {
    const auto [found, is_new] = numbers_.emplace(value.dump(), values_.size());
    if (is_new) values_.push_back(std::move(value));
    return found->second;
  }
  OrderedJson take() { return std::move(values_); }

 private:
  std::map<std::string, size_t> numbers_;
  OrderedJson values_ = OrderedJson::array();
};

OrderedJson dataOf(const TableGrid& grid) {
  OrderedJson keys = OrderedJson::array();
  for (const DispatchKey key : grid.keys) {
    // The functionality whose key for one backend this is.
    const DispatchKey functionality = toFunctionalityKey(key);
    keys.push_back({{"name", toString(key)},
                    {"perBackend", isPerBackendFunctionalityKey(functionality) ? toString(functionality) : ""}});
  }
  Numbering table_entries;
  OrderedJson operators = OrderedJson::array();
  for (const TableGrid::Row& row : grid.rows) {
    OrderedJson numbers = OrderedJson::array();
    for (const TableEntry& table_entry : row.table_entries) {
      const bool has_site = table_entry.site.line != 0;
      numbers.push_back(table_entries.numberOf({toString(table_entry.cause), kernelKindOf(table_entry),
                                                has_site ? toString(table_entry.key) : std::string_view(),
                                                has_site ? toString(table_entry.site) : std::string()}));
    }
    operators.push_back({toString(row.op.operator_name()), toString(row.op.schema()), std::move(numbers)});
  }
  return {{"version", BOXCAR_VERSION}, {"keys", keys}, {"cells", table_entries.take()}, {"operators", operators}};
}

}  // namespace

std::string pageOf(const TableGrid& grid) {
  return pageWithData(detail::kTablePage, dataOf(grid).dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

}  // namespace boxcar::cli
