#pragma once

#include <boxcar/dispatcher/handlers/record/recording.h>

#include <cstdint>
#include <string>
#include <vector>

namespace boxcar {

// Text about recorded calls, for reports.

// "aten::relu at digits.ops:3: h = relu(linear(x, w1, b1))".
std::string lineOf(const Recording& recording, size_t call);

// "1 call", "2 calls".
std::string callsText(size_t count);

// "result", or "result 1", or "result `values`".
std::string nameOfResult(const FunctionSchema& schema, size_t index);

// Returns the numbers of the tensors that a call writes, according to its schema or its recording, and that are not
// results.
std::vector<uint32_t> writtenTensors(const RecordedCall& call, const FunctionSchema& schema);

// "`self` after the call", for such a tensor.
std::string nameOfWritten(const RecordedCall& call, const FunctionSchema& schema, uint32_t tensor);

// Returns the first line of an error's message, without the context below it.
std::string firstLine(const std::string& message);

}  // namespace boxcar
