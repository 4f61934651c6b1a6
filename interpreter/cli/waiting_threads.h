#pragma once

namespace boxcar::cli {

// Threads of a team that wait for each other spin before they sleep, in libgomp for milliseconds. On a core that others
// use, too, that is time which the thread that they wait for does not get. Unless the user has set GOMP_SPINCOUNT or
// OMP_WAIT_POLICY, the program makes it shorter, and for that borrows an entry of the environment until libgomp is
// loaded. This gives it back; main() calls it first.
void restoreEnvironment();

}  // namespace boxcar::cli
