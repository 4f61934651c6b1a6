#pragma once

#include <boxcar/dispatcher/registry/operator_entry.h>

#include <nlohmann/json.hpp>

namespace boxcar::cli {

// {"kernel": "unboxed", "cause": "alias", "registered_for": "Autograd", "site": "add.cpp:3"}; without the last two
// where nobody registered it.
nlohmann::ordered_json entryToJson(const TableEntry& table_entry);

}  // namespace boxcar::cli
