"""Checks the peak memory of a script: `peak_memory_test.py AT_MOST_MB PROGRAM ARGUMENTS…`."""

import resource
import subprocess
import sys

at_most = float(sys.argv[1])
subprocess.run(sys.argv[2:], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
print(f"at most {peak:.1f} MB in memory at once ({at_most:g} are allowed)")
sys.exit(peak <= 0 or peak > at_most)
