#pragma once

#include <boxcar/backends/io/mapped_file.h>
#include <boxcar/backends/io/zip_archive.h>
#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <span>
#include <string>

namespace boxcar::io {

// Whether [archive] is a program that torch.jit.save wrote.
bool isTorchScript(const ZipArchive& archive) noexcept;

// Loads what such an archive holds besides its code: {"data": the module, "constants": a list of tensors}. An object of
// a class is {"__class__": "__torch__.Net", "state": its attributes by name}; that of an enum, or what else was called,
// has "arguments". An object that several attributes hold is one dict. None of its code is run. [path] is for errors.
Dict<std::string, IValue> loadTorchScript(const IntrusivePtr<MappedFile>& file, const ZipArchive& archive,
                                          const std::string& path);

// Returns the tensors of such an archive by where they are, "layer1.0.conv1.weight", then its constants as
// "constants.0".
Dict<std::string, Tensor> tensorsOfTorchScript(const Dict<std::string, IValue>& archive);

// Returns which lines of Python the code of an archive comes from, as PyTorch keeps it beside each file of code,
// "code/__torch__/net.py.debug_pkl": a list of (byte of the code, file, line), in the order of the bytes. Empty if the
// pickle is damaged, or of another format than that of PyTorch 1.10 and newer.
List<IValue> linesOfDebugPickle(std::span<const std::byte> pickle);

}  // namespace boxcar::io
