#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::io {

// A tensor whose elements are [bytes] of [file], as many as its storage has: over the mapped memory itself where that
// is aligned for [dtype], else a copy.
Tensor tensorInFile(const IntrusivePtr<MappedFile>& file, std::span<const std::byte> bytes, ScalarType dtype,
                    std::span<const int64_t> sizes, std::span<const int64_t> strides);

// How many bytes a tensor of [sizes] takes; nothing where 63 bits do not count them.
std::optional<uint64_t> bytesOfElements(ScalarType dtype, std::span<const int64_t> sizes);

// An Error where the bytes of [tensor], which is to be written to [path], are too many to be counted.
void checkFitsFile(const Tensor& tensor, std::string_view path);

// Where the first byte is that is no bool of boxcar's, neither 0 nor 1.
std::optional<size_t> findNoBool(std::span<const std::byte> bytes);

// Writes the elements of a tensor on the CPU in the order of its dimensions.
void writeElements(const Tensor& tensor, OutputFile& file);

}  // namespace boxcar::io
