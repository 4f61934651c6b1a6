#pragma once

#include <boxcar/dispatcher/registry/operator_entry.h>

#include <nlohmann/json.hpp>

namespace boxcar::cli {

// Returns {"kernel": "unboxed", "cause": "alias", "registered_for": "Autograd", "site": "add.cpp:3"}; the last two are
// missing if nobody registered the kernel.
nlohmann::ordered_json entryToJson(const TableEntry& table_entry);

}  // namespace boxcar::cli
