#!/bin/sh
# Counts the instructions of ten operations on a made-up cache of 20,000 entries, and compares them with the recorded figures. Unlike
# times, they hardly depend on what else the machine does: a difference of over 3 % is a change of the program.
#
#   sh Tests/Benchmarks/guard.sh [--record]     --record writes the figures anew
#
# The figures hold for one processor architecture and one version of the toolchain and of the libraries, which are recorded with them.
# It takes under two minutes after the release build, and needs valgrind, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
packages=valgrind
. Tests/Benchmarks/setup.sh

# Valgrind does not read the debug information of this compiler.
strip -g -o "$folder/tool" "$tool"
"$tool" sample --newest 2026-01-01T00:00:00Z --entries 20000 --seed 1 --no-large-bodies "$folder/cache" >/dev/null
"$tool" sample --newest 2026-01-01T00:00:00Z --entries 20000 --seed 2 --no-large-bodies "$folder/other" >/dev/null
python3 Tests/Benchmarks/count_instructions.py "$folder" Tests/Benchmarks/instructions.tsv "$@"
