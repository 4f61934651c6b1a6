#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/ivalue.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::io {

// Returns the folder of a program that torch.export.save wrote, such as "resnet18/"; nullopt if [archive] is another.
std::optional<std::string> findPt2Folder(const ZipArchive& archive);

// Returns the names of the archive's models, in the order of the directory.
std::vector<std::string> pt2Models(const ZipArchive& archive, std::string_view folder);

// Loads the parameters, buffers and constants of the model [wanted], by name; if that is empty, of the only one. Those
// that share a storage in the archive share it here. Storages stay in the mapped file, without a copy, if they are
// stored and aligned. [path] is for errors. Throws Error that names the models if there is no such one.
Dict<std::string, Tensor> loadPt2(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive,
                                  std::string_view folder, const std::string& path, std::string_view wanted = {});

}  // namespace boxcar::io
