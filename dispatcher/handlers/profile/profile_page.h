#pragma once

#include <boxcar/dispatcher/handlers/profile/profile.h>
#include <boxcar/ivalue/output_file.h>

namespace boxcar::detail {

// Writes a self-contained page for a browser, which needs no network: a flame chart by call path, the timeline by
// thread, and tables by operator, shapes, line and function. The table [by] is shown first. The caller commits the
// file.
void writeProfilePage(const Profile& profile, ProfileBy by, OutputFile& file);

}  // namespace boxcar::detail
