#pragma once

#include <boxcar/dispatcher/handlers/trace/traced_function.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <string>
#include <vector>

// Functions as programs of PyTorch's torch.export.

namespace boxcar::interp {

// A member of an archive.
struct ExportedMember {
  std::string name;
  std::string text;
  Tensor storage;  // a contiguous tensor on the CPU, whose elements are the content instead, if it is defined
};

// Returns the members, in order, of the .pt2 archive of [function], as torch.export.save of PyTorch 2.15 would write
// it: schema version 8. [folder] is the archive's root, the stem of its file. Throws Error that lists all operators
// that PyTorch does not have, or names what else an archive cannot hold.
BOXCAR_API std::vector<ExportedMember> exportFunction(const TracedFunction& function, const std::string& folder);

}  // namespace boxcar::interp
