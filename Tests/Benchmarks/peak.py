"""Runs a command, and prints its seconds and its own peak memory in KiB, without that of the programs it starts.

    python3 peak.py COMMAND...
"""

import re
import subprocess
import sys
import time

start, peak = time.monotonic(), 0
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
while process.poll() is None:
    with open(f"/proc/{process.pid}/status") as status:
        # A process that has just ended has no memory.
        peak = max(peak, *map(int, re.findall(r"VmHWM:\s+(\d+)", status.read())), 0)
    time.sleep(0.01)
print(round(time.monotonic() - start, 4), peak, sep="\t")
