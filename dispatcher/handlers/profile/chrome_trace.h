#pragma once

#include <boxcar/dispatcher/handlers/profile/profile.h>
#include <boxcar/ivalue/output_file.h>

namespace boxcar::detail {

// Writes the timeline in Chrome's trace format, which Perfetto and chrome://tracing open: one complete event ("X") per
// call, in microseconds, outer calls before the calls in them. The caller commits the file.
void writeChromeTrace(const Profile& profile, OutputFile& file);

}  // namespace boxcar::detail
