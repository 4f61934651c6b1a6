#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/ivalue/output_file.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::io {

// Returns a storage of [bytes] of [file], without a copy.
Storage storageInFile(const IntrusivePtr<MappedFile>& file, std::span<const std::byte> bytes);

// Returns a tensor whose elements are [bytes] of [file], as many as its storage needs. It uses the mapped memory itself
// if that is aligned for [dtype], else a copy.
Tensor tensorInFile(const IntrusivePtr<MappedFile>& file, std::span<const std::byte> bytes, ScalarType dtype,
                    std::span<const int64_t> sizes, std::span<const int64_t> strides);

// Returns the size in bytes of a tensor of [sizes]; nullopt if it does not fit 63 bits.
std::optional<uint64_t> bytesOfElements(ScalarType dtype, std::span<const int64_t> sizes);

// Throws Error unless [tensor], which messages call [what], can be written to [path]: it is defined, strided and on the
// CPU, has elements, and its size in bytes can be represented.
void checkWritable(const Tensor& tensor, std::string_view what, std::string_view path);

// Returns the position of the first byte that is not a valid bool, 0 or 1.
std::optional<size_t> findNoBool(std::span<const std::byte> bytes);

// Writes the elements of a CPU tensor in the order of its dimensions.
void writeElements(const Tensor& tensor, OutputFile& file);

}  // namespace boxcar::io
