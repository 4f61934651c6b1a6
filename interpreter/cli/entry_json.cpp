#include <boxcar/dispatcher/registry/entry_text.h>
#include <boxcar/interpreter/cli/entry_json.h>

namespace boxcar::cli {

nlohmann::ordered_json entryToJson(const TableEntry& table_entry) {
  nlohmann::ordered_json object = {{"kernel", kernelKindOf(table_entry)}, {"cause", toString(table_entry.cause)}};
  if (table_entry.site.line != 0) {
    object["registered_for"] = toString(table_entry.key);
    object["site"] = toString(table_entry.site);
  }
  return object;
}

}  // namespace boxcar::cli
