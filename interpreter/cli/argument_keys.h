#pragma once

#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/schema/function_schema.h>

#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// Returns the arguments that the texts of `--arg` stand for, one for each that calls of [schema] are dispatched on. A
// text is "cpu" or "cuda:1" (a dense tensor of float32 there), "none", "CPU|AutogradCPU" (these keys), or, for a list,
// several of them: "cpu,cuda". After a device, parts that begin with + say what the tensor is: "cpu+float16+grad+vmap"
// (kTensorParts). "NAME=cpu" is for the argument of that name; other texts are taken in order. Arguments without a text
// bring no key; without any text, all tensors are "cpu". Levels of vmap are numbered from 1, the outermost.
// Throws Error, which names the text, the place and the remedy.
std::vector<ArgumentKeys> readArguments(const FunctionSchema& schema, const std::vector<std::string>& texts);

// What may come after a device, in words.
inline constexpr std::string_view kTensorParts =
    "+grad (it requires grad), +vmap or +vmap2 (batched at this level of vmap), +fake, +conj, +neg, +zero or a dtype";

// Returns the functionality key called [name], as a thread includes and excludes it. Throws Error, which names
// [option], if it is no such key.
DispatchKey readFunctionality(std::string_view option, const std::string& name);

}  // namespace boxcar::cli
