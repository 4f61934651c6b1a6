#include <boxcar/dispatcher/registry/cell_text.h>
#include <boxcar/interpreter/cli/cell_json.h>

namespace boxcar::cli {

nlohmann::ordered_json cellToJson(const TableCell& cell) {
  nlohmann::ordered_json object = {{"kernel", kernelKindOf(cell)}, {"cause", toString(cell.cause)}};
  if (cell.site.line != 0) {
    object["registered_for"] = toString(cell.key);
    object["site"] = toString(cell.site);
  }
  return object;
}

}  // namespace boxcar::cli
