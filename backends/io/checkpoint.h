#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/torch_names.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

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

// Returns the member [name] of the archive's only folder, "data.pkl"; null if there is none.
const ZipMember* findRootMember(const ZipArchive& archive, std::string_view name) noexcept;

// Makes the names that a pickle may use, for the storages beside it.
using MakeTorchNames = std::function<std::unique_ptr<TorchNames>(StorageFinder storages)>;

// Returns the value of [pickle], whose storages are in the folder [storages] beside it.
IValue readRootPickle(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive, const ZipMember& pickle,
                      std::string_view storages, const std::string& path, const MakeTorchNames& makeNames);

// Returns [value] as tensors by name; throws Error that says what it is if it is not a flat dict of tensors.
Dict<std::string, Tensor> tensorsOfCheckpoint(const IValue& value, const std::string& path);

}  // namespace boxcar::io
