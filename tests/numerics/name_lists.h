#pragma once

#include <set>
#include <string>

namespace boxcar::numerics {

// Sets the folder of the lists. It is tests/numerics of the sources that this program was built from, until this is
// called.
void setListFolder(std::string folder);

// Returns the operators that start the lines of a list, such as "gradient_reasons.txt". Throws Error if there is no
// such file.
const std::set<std::string>& namesIn(const std::string& file_name);

}  // namespace boxcar::numerics
