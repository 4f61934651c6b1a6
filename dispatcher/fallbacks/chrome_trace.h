#pragma once

#include <boxcar/dispatcher/fallbacks/profile.h>
#include <boxcar/ivalue/output_file.h>

namespace boxcar::detail {

// Writes the time line in Chrome's trace format, which Perfetto and chrome://tracing open: a complete event ("X") for
// each call, in microseconds, outer calls before those in them. The caller commits the file.
void writeChromeTrace(const Profile& profile, OutputFile& file);

}  // namespace boxcar::detail
