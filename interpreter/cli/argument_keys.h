#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/schema/function_schema.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// The keys that the texts of `--arg` stand for, one set for each argument that calls of [schema] are dispatched on. A
// text is "cpu", "cuda:1" (a dense tensor there), "cpu+grad" (one that requires grad), "none", "CPU|AutogradCPU" (these
// keys), or several of them for a list, "cpu,cuda"; "NAME=cpu" is for the argument of that name, others are taken in
// order. Those that get none bring no key; without any text all tensors are "cpu". Errors name text, place and remedy.
std::vector<DispatchKeySet> readArgumentKeys(const FunctionSchema& schema, const std::vector<std::string>& texts);

// The functionality key called [name], as a thread includes and excludes it. An Error where it is no such key, which
// names [option].
DispatchKey readFunctionality(std::string_view option, const std::string& name);

}  // namespace boxcar::cli
