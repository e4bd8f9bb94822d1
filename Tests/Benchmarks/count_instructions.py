"""Counts the instructions of operations with valgrind, and compares them with recorded figures.

    count_instructions.py FOLDER FIGURES [--record]

FOLDER has the program (`tool`) and two caches (`cache`, `other`). Ends with 1 if an operation differs by more than 3 %.
"""
import concurrent.futures
import os
import platform
import re
import subprocess
import sys

ALLOWED = 0.03

OPERATIONS = {
    "--version": "--version",
    "list csv": "list cache --columns id,stored,status,mime,size,url --format csv",
    "list ndjson": "list cache --format ndjson",
    "list where": "list cache --where status==404 --columns id --format csv",
    "list sorted": "list cache --sort=-size --limit 20",
    "usage by host": "usage cache --by host",
    "explain all": "explain cache --all --format ndjson",
    "check": "check cache",
    "purge dry run": "purge cache --older-than 90d --dry-run",
    "diff": "diff cache other --format json",
}

EXPECTED_STATUSES = {0, 1}


def count(folder, arguments):
    """Returns how many instructions the program takes with `arguments`."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": os.path.join(folder, "state"),
        "URLCACHE_ADMIN_AT": "2026-01-02T00:00:00Z",
        # Otherwise the order of every set depends on a random number.
        "SWIFT_DETERMINISTIC_HASHING": "1"}
    result = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "./tool", *arguments.split()],
        cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", result.stderr)
    if result.returncode not in EXPECTED_STATUSES or not found:
        raise SystemExit(f"'{arguments}' ended with {result.returncode}:\n{result.stderr}")
    return int(found[1].replace(",", ""))


def machine():
    """Names what the figures depend on."""
    swift = re.search(r"Swift version \S+", subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout)
    sqlite = subprocess.run(["pkg-config", "--modversion", "sqlite3"], capture_output=True, text=True).stdout.strip()
    return f"{platform.machine()}, {swift[0] if swift else 'unknown Swift'}, SQLite {sqlite}, {' '.join(platform.libc_ver())}"


def main():
    folder, path = sys.argv[1:3]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(OPERATIONS, pool.map(lambda arguments: count(folder, arguments), OPERATIONS.values())))
    if "--record" in sys.argv[3:]:
        with open(path, "w") as file:
            file.write(f"# {machine()}\n")
            file.writelines(f"{name}\t{number}\n" for name, number in counts.items())
        return 0
    with open(path) as file:
        recorded_on, *lines = file.read().splitlines()
    recorded = {name: int(number) for name, number in (line.split("\t") for line in lines)}
    if recorded_on != f"# {machine()}":
        print(f"The figures are from another machine: {recorded_on[2:]}; this is {machine()}")
    differing = sorted(set(recorded) - set(counts))
    print(f"{'operation':16} {'recorded':>12} {'counted':>12}  difference")
    for name, number in counts.items():
        change = number / recorded[name] - 1 if name in recorded else 1
        mark = "" if abs(change) <= ALLOWED else "  too much" if change > 0 else "  less: record it with --record"
        if mark:
            differing.append(name)
        print(f"{name:16} {recorded.get(name, 0):12,} {number:12,}  {change:+.1%}{mark}")
    if differing:
        print(f"error: over {ALLOWED:.0%} from the recorded figures: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


sys.exit(main())
