#!/bin/sh
# Measures `grep` against ripgrep on the same bodies as files, and `query` against `usage`, in one run.
#
#   sh Tests/Benchmarks/grep.sh [ENTRIES [ENTRIES]]     31,000 for `grep`, which is 0.6 GB, and 1,000,000 for `query`
#
# Keeps and prints medians, and their ratio to the first line of each table. Needs hyperfine and ripgrep, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC2034 # It is for setup.sh.
packages=ripgrep
. Tests/Benchmarks/setup.sh

"$tool" sample --newest 2026-01-01T00:00:00Z --entries "${1-31000}" --seed 1 "$folder/cache"
"$tool" export -c "$folder/cache" --archive-format files -o "$folder/files" 2>/dev/null
cat "$folder/cache/Cache.db" "$folder/cache/fsCachedData"/* >/dev/null

title="$("$tool" list -c "$folder/cache" --count) entries, $(size "$folder/cache")"
# Measures how long both programs count the lines with matches: searches NAME DESCRIPTION OPTIONS OPTIONS TEXT, with the options
# of rg and those of grep. Both end with 1 if they find nothing.
searches() {
  table "$1" "$title" \
    "\`rg -uu --count${3:+ $3}\`, $2" "sh -c 'rg --no-config -uu --count $3 \"$5\" $folder/files || [ \$? -eq 1 ]'" \
    "\`grep --in body --count $4\` of the same" "sh -c '$tool grep --in body --count $4 \"$5\" -c $folder/cache || [ \$? -eq 1 ]'"
}

searches grep-literal "a literal in some texts" -F -F "lemon lemon lemon"
searches grep-common "a literal in each text" -F -F copper
searches grep-case "a literal in any case" "-F -i" "-F -i" "LEMON LEMON LEMON"
searches grep-expression "an expression with literal parts" "" -E "lem[o-z]n lemon (lemon|quiet) stale"
searches grep-digits "an expression without literal parts" "" -E "[0-9]{3}-[0-9]{4}"

"$tool" sample --newest 2026-01-01T00:00:00Z --schema 202 --entries "${2-1000000}" --seed 1 --no-large-bodies "$folder/large"
cat "$folder/large/Cache.db" >/dev/null
sql='select host, count(*), sum(size) from entries group by 1'
table query "${2-1000000} entries, schema 202, $(size "$folder/large")" \
  "\`usage --by host\`" "$tool usage -c $folder/large --by host" \
  "\`query '$sql'\`" "$tool query $folder/large '$sql'"

{
  memory "\`grep\` of a literal in $title" grep --in body --count "lemon lemon lemon" -c "$folder/cache"
  memory "\`query\` as above" query "$folder/large" "$sql"
} | record grep-memory "searching" peak_KiB
