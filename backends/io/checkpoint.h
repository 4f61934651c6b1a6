#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

// Whether [file] begins like what torch.save writes without a zip archive.
bool isLegacyCheckpoint(std::span<const std::byte> file) noexcept;

// Whether [archive] has the members that torch.save writes.
bool isZipCheckpoint(const ZipArchive& archive) noexcept;

// Each returns the value of a checkpoint, on the CPU wherever it was saved, without running any code: dicts, lists,
// tuples, numbers, strs and tensors. Tensors share storages as they did, and none requires grad. Storages stay in the
// mapped file where that is aligned. [path] is for errors.
IValue loadLegacyCheckpoint(const IntrusivePtr<MappedFile>& file, const std::string& path);
IValue loadZipCheckpoint(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive, const std::string& path);

// Returns [value] as tensors by name; throws Error that says what it is if it is not a flat dict of tensors.
Dict<std::string, Tensor> tensorsOfCheckpoint(const IValue& value, const std::string& path);

}  // namespace boxcar::io
