#pragma once

#include <boxcar/dispatcher/fallbacks/profile.h>
#include <boxcar/ivalue/output_file.h>

namespace boxcar::detail {

// Writes a page that a browser shows by itself, without a network: a flame chart by call path, the time line by thread,
// and tables by operator, shapes, line and function, of which [by] is shown first. The caller commits the file.
void writeProfilePage(const Profile& profile, ProfileBy by, OutputFile& file);

}  // namespace boxcar::detail
