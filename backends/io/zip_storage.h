#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/storage.h>

#include <cstddef>

namespace boxcar::io {

// Returns a storage of the content of [member], which is in [file]: the mapped memory itself if the member is stored
// and aligned to [alignment] bytes, else a copy, whose checksum is verified.
Storage storageOfMember(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive, const ZipMember& member,
                        size_t alignment);

}  // namespace boxcar::io
