#!/bin/sh
# Makes a release twice, compares the bytes, and installs, upgrades, runs and removes the packages in a fresh Debian 12.
#
#   sh Tests/Packages/run.sh
#
# Builds the last commit, not changes to it, in two folders, once without a network: this takes ten minutes or more. Runs as root, for
# chroot, and installs what it needs with apt and pip. Prints a line for each part, and ends at the first that is not as it should be.
# The fresh system is kept in .build/packages, and copied for each run.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
scripts=$checkout/share/urlcache-admin
kept=$checkout/.build/packages

fail() {
  echo "$*" >&2
  exit 1
}

[ $# -eq 0 ] || fail "usage: run.sh"
[ "$(id -u)" = 0 ] || fail "this needs root, for chroot"
missing=
for package in binutils debootstrap dpkg-dev gnupg lintian python3-pip; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
  apt-get update -qq
  # shellcheck disable=SC2086 # Each word is a package.
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >&2
fi
[ -d "$kept/peers/cyclonedx" ] || python3 -m pip install --quiet --quiet --disable-pip-version-check --root-user-action ignore \
  --target "$kept/peers" 'cyclonedx-python-lib[json-validation]==11.12.0'

mkdir -p "$kept"
work=$(mktemp -d "$kept/XXXXXX")
chroot=$work/chroot
builds=
finish() {
  # shellcheck disable=SC2086 # Each word is a process.
  [ -z "$builds" ] || kill $builds 2>/dev/null || true
  umount "$chroot/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/home" "$work/prefix" "$work/source"
# A key that is made for this run only, by a gpg without another one.
export GNUPGHOME="$work/gnupg"
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-generate-key 'Test <test@example.com>' default default never 2>"$work/log" ||
  fail "$(cat "$work/log")"

# A program and its list of a sample, wherever it was put.
expect_list() {
  version=$("$@" --version) || fail "$* --version ended with $?"
  case $version in "urlcache-admin "*" (SQLite "*")") ;; *) fail "it says '$version'" ;; esac
  entries=$("$@" list -c "$sample" --count) || fail "$* list ended with $?"
  [ "$entries" = 25 ] || fail "it lists '$entries' entries"
}

# A list of words has to be the same as another one.
expect_words() {
  what=$1 wanted=$2
  shift 2
  [ "$wanted" = "$*" ] || fail "$what: '$*' instead of '$wanted'"
}

# The shared libraries that a program is linked to.
linked() { readelf -d "$1" | sed -n 's/.*Shared library: \[\(.*\)\]/\1/p' | LC_ALL=C sort | paste -sd ' ' -; }

# A build uses one processor most of the time.
begin=$(date +%s)
swift package --package-path "$checkout" --scratch-path "$checkout/.build-static" resolve >"$work/log" 2>&1 || fail "$(cat "$work/log")"
sh "$scripts/build-release.sh" --sign test@example.com -o "$work/one" >"$work/one.log" 2>&1 &
builds=$!
HOME=$work/home unshare --net sh "$scripts/build-release.sh" -o "$work/two" >"$work/two.log" 2>&1 &
builds="$builds $!"
for build in $builds; do wait "$build" || fail "$(tail -n 40 "$work/one.log" "$work/two.log")"; done
builds=
echo "two releases: $(($(date +%s) - begin)) s"
[ "$(wc -l <"$work/one/SHA256SUMS")" = 7 ] || fail "$(cat "$work/one/SHA256SUMS")"
differing=$(diff "$work/one/SHA256SUMS" "$work/two/SHA256SUMS" | sed -n 's/^< [0-9a-f]*  //p')
for name in $differing; do
  case $name in
  # In some builds, the compiler uses other registers in a function of the large program.
  urlcache-admin_*.deb | urlcache-admin-dbgsym_*.deb | urlcache-admin-*-linux-*) echo "other bytes: $name" >&2 ;;
  *) fail "two builds differ in $name" ;;
  esac
done
echo "the same bytes: ok"

cd "$work/one"
sha256sum --quiet -c SHA256SUMS
gpg --batch --quiet --verify SHA256SUMS.asc SHA256SUMS 2>"$work/log" || fail "$(cat "$work/log")"
echo >>SHA256SUMS
! gpg --batch --quiet --verify SHA256SUMS.asc SHA256SUMS 2>"$work/log" || fail "the signature is that of any list"
echo "signature: ok"
wc -c ./*.tar.gz ./*.deb >&2

tarball=$(echo "$PWD"/urlcache-admin-*-linux-*.tar.gz)
tar -C "$work/prefix" --strip-components=1 -xf "$tarball"
held=$(cd "$work/prefix" && echo *)
[ "$held" = "LICENSE README.md bin lib libexec share" ] || fail "the tarball holds $held"
"$work/prefix/bin/urlcache-admin" sample --quiet --entries 25 "$work/cache"
sample=$work/cache
expect_list "$work/prefix/bin/urlcache-admin"
expect_words "files for users" "launchd schema" "$(cd "$work/prefix/share/urlcache-admin" && echo *)"
[ -s "$work/prefix/share/doc/urlcache-admin/copyright" ] || fail "the tarball lacks the licences of what the programs contain"
expect_words "libraries" "ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libnettle.so.8 libsqlite3.so.0" "$(linked "$work/prefix/bin/urlcache-admin")"
"$work/prefix/bin/urlcache-admin" --version --verbose >"$work/log"
grep -q "^commit  *$(git -C "$checkout" rev-parse HEAD)$" "$work/log" || fail "it does not name the commit: $(cat "$work/log")"
echo "tarball: ok"

PYTHONPATH=$kept/peers python3 - "${tarball%.tar.gz}.cdx.json" <<'END' >"$work/log" || fail "$(cat "$work/log")"
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1]).read()
validator = JsonStrictValidator(SchemaVersion.V1_6)
found = validator.validate_str(text)
print(found and str(found)[:500] or "valid")
# A document that is not valid is found.
assert validator.validate_str(text.replace('"specVersion"', '"version2"')) is not None
bill = json.loads(text)
names = {part.get("bom-ref"): part["name"] for part in bill["components"]}
for used in bill["dependencies"]:
    print(used["ref"], *sorted({names[ref] for ref in used["dependsOn"]}))
END
cat >"$work/wanted" <<'END'
valid
tarball urlcache-admin urlcache-admin-fetch
urlcache-admin libarchive13 libbrotli1 libc6 libdeflate-dev libgcc-12-dev libnettle8 libpcre2-dev libsqlite3-0 libstdc++-12-dev swift swift-argument-parser swift-foundation
urlcache-admin-fetch libc6 libcurl4 libgcc-12-dev libnettle8 libstdc++-12-dev swift swift-corelibs-foundation swift-foundation swift-foundation-icu
END
diff "$work/wanted" "$work/log" || fail "the list of components is not that of the programs"
echo "components: ok"

deb=$(echo "$PWD"/urlcache-admin_*.deb)
fetch=$(echo "$PWD"/urlcache-admin-fetch_*.deb)
for package in "$deb" "$fetch"; do
  name=$(dpkg-deb -f "$package" Package)
  size=$(($(dpkg-deb -f "$package" Installed-Size) * 1024))
  echo "$name: $(wc -c <"$package" | tr -d ' ') bytes, installed $size" >&2
  [ "$name" != urlcache-admin ] || [ "$size" -le 30000000 ] || fail "$name takes $size bytes"
  dpkg-deb -x "$package" "$work/$name"
  dpkg-deb -x "$(echo "$PWD/$name"-dbgsym_*.deb)" "$work/symbols"
done
expect_words "libraries" "ld-linux-x86-64.so.2 libc.so.6 libdeflate.so.0 libgcc_s.so.1 libm.so.6 libnettle.so.8 libpcre2-8.so.0 libsqlite3.so.0 libstdc++.so.6" \
  "$(linked "$work/urlcache-admin/usr/bin/urlcache-admin")"
# The debugger finds the symbols of a program by its build ID.
for program in urlcache-admin/usr/bin/urlcache-admin urlcache-admin-fetch/usr/libexec/urlcache-admin/urlcache-admin-fetch; do
  id=$(readelf -n "$work/$program" | sed -n 's/.*Build ID: //p')
  readelf -S "$work/symbols/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug" 2>/dev/null | grep -q debug_info ||
    fail "there are no debug symbols of $program"
done
sh "$scripts/build-source.sh" -o "$work/source" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
(cd "$work/source" && dpkg-source -b urlcache-admin-*/ >"$work/log" 2>&1) || fail "$(cat "$work/log")"
# Debian has no bug report that asks for this package.
lintian --allow-root --no-cfg --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning ./*.deb "$work"/source/*.dsc >"$work/log" 2>&1 || fail "$(cat "$work/log")"
sed 's/^/  /' "$work/log" >&2
echo "lintian: ok"

if [ ! -e "$kept/bookworm/etc/debian_version" ]; then
  rm -rf --one-file-system "$kept/bookworm" "$kept/new"
  debootstrap --variant=minbase bookworm "$kept/new" >"$work/log" || fail "$(tail "$work/log")"
  mv "$kept/new" "$kept/bookworm"
fi
cp -a "$kept/bookworm" "$chroot"
cp /etc/resolv.conf "$chroot/etc/" 2>/dev/null || true
mount -t proc proc "$chroot/proc"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
apt_get() { chroot "$chroot" apt-get -y -qq --no-install-recommends "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"; }
apt_get update

# What libraries bring is not what is looked at.
files() { (cd "$chroot" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/lib/apt \) -prune -o -print | sort); }
cp -a "$work/cache" "$chroot/tmp/cache"
sample=/tmp/cache
# An older version, which has a page that the new one lacks.
for package in "$deb" "$fetch"; do
  name=$(dpkg-deb -f "$package" Package)
  cp "$package" "$chroot/tmp/$name.deb"
  dpkg-deb -R "$package" "$work/old"
  sed -i -E 's/^Version: .*/Version: 0.0.9-1/; s/\(= [^)]*\)/(= 0.0.9-1)/' "$work/old/DEBIAN/control"
  mkdir -p "$work/old/usr/share/doc/$name"
  echo old >"$work/old/usr/share/doc/$name/old.md"
  dpkg-deb --root-owner-group -Znone -b "$work/old" "$chroot/tmp/$name-old.deb" >/dev/null
  rm -r "$work/old"
done
# shellcheck disable=SC2046 # Each word is a package.
apt_get install $(for package in "$deb" "$fetch"; do dpkg-deb -f "$package" Depends; done | tr ',' '\n' | sed 's/[(|].*//; /urlcache-admin/d')
files >"$work/before"

apt_get install /tmp/urlcache-admin.deb
expect_list chroot "$chroot" urlcache-admin
status=0
chroot "$chroot" urlcache-admin revalidate -c /tmp/cache --all --timeout 1s >"$work/log" 2>&1 || status=$?
{ [ "$status" = 69 ] && grep -q "^hint: install the package 'urlcache-admin-fetch'" "$work/log"; } ||
  fail "without the second package, revalidate ended with $status: $(cat "$work/log")"
apt_get purge urlcache-admin
files >"$work/after"
cmp "$work/before" "$work/after" || fail "$(diff "$work/before" "$work/after")"
echo "the first package alone: ok"

apt_get install /tmp/urlcache-admin-old.deb /tmp/urlcache-admin-fetch-old.deb
mkdir -p "$chroot/etc/urlcache-admin"
echo "# mine" >"$chroot/etc/urlcache-admin/config.toml"
apt_get install /tmp/urlcache-admin.deb /tmp/urlcache-admin-fetch.deb
files >"$work/installed"
for name in usr/bin/urlcache-admin usr/libexec/urlcache-admin/urlcache-admin-fetch \
  usr/lib/systemd/system/urlcache-admin-enforce@.timer usr/lib/systemd/user/urlcache-admin-enforce.service \
  usr/share/urlcache-admin/schema/list.schema.json usr/share/doc/urlcache-admin/changelog.Debian.gz usr/share/doc/urlcache-admin/changelog.md \
  usr/share/zsh/vendor-completions/_urlcache-admin usr/share/bash-completion/completions/urlcache-admin; do
  grep -qx "./$name" "$work/installed" || fail "the packages do not install $name"
done
! grep -q '/old.md$' "$work/installed" || fail "the upgrade left a page of the older version"
[ -z "$(find "$chroot/etc/systemd" -name 'urlcache*')" ] || fail "a timer is enabled"
expect_list chroot "$chroot" urlcache-admin
# No origin answers here; that each was asked shows that the second program is found and runs.
status=0
chroot "$chroot" urlcache-admin revalidate -c /tmp/cache --all --timeout 1s >"$work/log" 2>&1 || status=$?
[ "$status" = 3 ] || fail "revalidate ended with $status: $(cat "$work/log")"
echo "upgraded: ok"

umount "$chroot/proc"
status=0
chroot "$chroot" urlcache-admin --version >"$work/log" 2>&1 || status=$?
[ "$status" = 70 ] || fail "without /proc it ended with $status: $(cat "$work/log")"
grep -q /proc "$work/log" || fail "it does not say that /proc is not there: $(cat "$work/log")"
mount -t proc proc "$chroot/proc"
echo "without /proc: ok"

apt_get remove urlcache-admin urlcache-admin-fetch
[ -e "$chroot/etc/urlcache-admin/config.toml" ] || fail "the configuration was removed"
chroot "$chroot" dpkg --purge urlcache-admin urlcache-admin-fetch >"$work/log" 2>&1 || fail "$(cat "$work/log")"
rm -r "$chroot/etc/urlcache-admin"
files >"$work/after"
cmp "$work/before" "$work/after" || fail "$(diff "$work/before" "$work/after")"
echo "removed and purged: ok"
