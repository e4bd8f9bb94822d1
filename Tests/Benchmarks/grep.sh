#!/bin/sh
# Measures `grep` against ripgrep on the same bodies as files, and `query` against `usage`, in one run.
#
#   sh Tests/Benchmarks/grep.sh [ENTRIES [ENTRIES]]     31,000 for `grep`, which is 0.6 GB, and 1,000,000 for `query`
#
# Prints medians, and their ratio to the first line of each table. Needs hyperfine and ripgrep, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC2034 # It is for setup.sh.
packages=ripgrep
. Tests/Benchmarks/setup.sh

"$maker" --entries "${1-31000}" --seed 1 "$folder/cache"
"$tool" export -c "$folder/cache" --archive-format files -o "$folder/files" 2>/dev/null
cat "$folder/cache/Cache.db" "$folder/cache/fsCachedData"/* >/dev/null

# Prints how long both programs count the lines with matches; the options are those of both.
searches() {
  table "$1" "rg --no-config -uu --count $2 $folder/files" "$tool grep --in body --count $2 -c $folder/cache"
}

searches "a literal with some matches" "-F 'lemon lemon lemon'"
searches "a literal in each text" "-F copper"
searches "in both cases" "-F -i 'LEMON LEMON LEMON'"
expression="'lem[o-z]n lemon (lemon|quiet) stale'"
table "an expression" "rg --no-config -uu --count $expression $folder/files" \
  "$tool grep --in body --count -E $expression -c $folder/cache"
expression="'[0-9]{3}-[0-9]{4}'"
table "an expression without literal text" "rg --no-config -uu --count $expression $folder/files" \
  "$tool grep --in body --count -E $expression -c $folder/cache"
table "everything, not only bodies" "rg --no-config -uu --count -F 'lemon lemon lemon' $folder/files" \
  "$tool grep --count 'lemon lemon lemon' -c $folder/cache"

"$maker" --schema 202 --entries "${2-1000000}" --seed 1 --no-large-bodies "$folder/large"
cat "$folder/large/Cache.db" >/dev/null
table "query" "$tool usage -c $folder/large --by host" \
  "$tool query $folder/large 'select host, count(*), sum(size) from entries group by 1'" \
  "$tool query $folder/large 'select count(*) from entries'" \
  "$tool query $folder/large 'select url, size from entries order by size desc limit 10'"

echo "peak memory"
memory "grep, a literal" grep --in body --count "lemon lemon lemon" -c "$folder/cache"
memory "grep, an expression" grep --count -E 'lem[o-z]n lemon (lemon|quiet) stale' -c "$folder/cache"
memory "query" query "$folder/large" 'select host, count(*), sum(size) from entries group by 1'
