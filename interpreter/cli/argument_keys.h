#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/schema/function_schema.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// Returns the key sets that the texts of `--arg` stand for, one for each argument that calls of [schema] are dispatched
// on. A text is "cpu" or "cuda:1" (a dense tensor there), "cpu+grad" (a tensor that requires grad), "none",
// "CPU|AutogradCPU" (these keys), or, for a list, several of them: "cpu,cuda". "NAME=cpu" is for the argument of that
// name; other texts are taken in order. Arguments without a text bring no key; without any text, all tensors are "cpu".
// Throws Error, which names the text, the place and the remedy.
std::vector<DispatchKeySet> readArgumentKeys(const FunctionSchema& schema, const std::vector<std::string>& texts);

// Returns the functionality key called [name], as a thread includes and excludes it. Throws Error, which names
// [option], if it is no such key.
DispatchKey readFunctionality(std::string_view option, const std::string& name);

}  // namespace boxcar::cli
