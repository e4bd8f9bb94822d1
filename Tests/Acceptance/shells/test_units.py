"""Has systemd check the units, and runs them in their sandboxes; reads the job for launchd.

The unit of the system runs for a large cache over its limit, in a sandbox that unshare and setpriv make; the units of a user
run under the systemd of a user.
"""

import glob
import hashlib
import json
import os
import plistlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import pytest

import strace
from products import REPOSITORY, maker, tool as built
from user_manager import PYTHON, USER, UserManager

share = str(REPOSITORY / "share")
# The folder of the running test, and a copy of the program in it.
root = tool = None
MOST_EXPOSED = 2.0
OWNER = 65534

needs_systemd = pytest.mark.needs_systemd


@pytest.fixture(autouse=True)
def folder():
    """A folder that other users may read, outside of those that sandboxes hide."""
    global root, tool
    root = tempfile.mkdtemp(dir="/var/tmp")
    os.chmod(root, 0o755)
    tool = shutil.copy(built, root)
    yield
    shutil.rmtree(root)


UNITS = {kind: sorted(glob.glob(os.path.join(share, "systemd", kind, "*"))) for kind in ("system", "user")}
SERVICE = os.path.join(share, "systemd/system/urlcache-admin-enforce@.service")


def analyze(*words):
    environment = dict(os.environ, XDG_RUNTIME_DIR=root, SYSTEMD_COLORS="0")
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, env=environment)


@needs_systemd
@pytest.mark.parametrize("kind", UNITS)
def test_verify(kind):
    """systemd-analyze has no complaint about the units, and would complain about an unknown key."""
    paths = UNITS[kind]
    assert len(paths) == {"system": 2, "user": 4}[kind], paths
    folder = os.path.join(root, kind)
    os.mkdir(folder)
    for path in paths:
        with open(path) as source, open(os.path.join(folder, os.path.basename(path)), "w") as copy:
            copy.write(source.read().replace("/usr/local/bin/urlcache-admin", tool))
    copies = sorted(glob.glob(os.path.join(folder, "*")))
    words = ["verify", "--man=no"] + (["--user"] if kind == "user" else [])
    result = analyze(*words, *copies)
    # The status is 0 even if a key is unknown.
    assert result.returncode == 0 and not result.stdout + result.stderr, result
    wrong = os.path.join(folder, "wrong.service")
    with open(copies[0]) as source, open(wrong, "w") as copy:
        copy.write(source.read().replace("NoNewPrivileges", "NoNewPrivilege").replace("%f", "/srv").replace("%i", "i"))
    assert "Unknown key" in analyze(*words, wrong).stderr


@needs_systemd
def test_timers():
    """systemd understands when the timers are to run."""
    for path in glob.glob(os.path.join(share, "systemd/*/*.timer")):
        with open(path) as file:
            when = re.search(r"^OnCalendar=(.*)$", file.read(), re.M)[1]
        assert analyze("calendar", when).returncode == 0, when


@needs_systemd
@pytest.mark.parametrize("path", [path for paths in UNITS.values() for path in paths if path.endswith(".service")],
                         ids=lambda path: os.path.relpath(path, share))
def test_security(path):
    """The exposure of each service, as systemd-analyze rates it, is low."""
    result = analyze("security", "--offline=true", "--no-pager", f"--threshold={round(MOST_EXPOSED * 10)}", path)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", result.stdout)
    assert result.returncode == 0 and float(found[1]) <= MOST_EXPOSED, result


def test_launchd():
    """The job for launchd is a property list, and the program accepts its command line."""
    [path] = glob.glob(os.path.join(share, "urlcache-admin/launchd/*.plist"))
    with open(path, "rb") as file:
        job = plistlib.load(file)
    assert job["Label"] + ".plist" == os.path.basename(path)
    assert set(job) == {"Label", "ProgramArguments", "StartCalendarInterval", "ProcessType", "LowPriorityBackgroundIO",
                        "Nice", "Umask"}, job
    # The toolchain has the tool of macOS, with the option that the documentation uses for a log.
    copy = shutil.copy(path, os.path.join(root, "job.plist"))
    if shutil.which("plutil"):
        subprocess.run(["plutil", "-lint", copy], check=True, capture_output=True)
        subprocess.run(["plutil", "-insert", "StandardErrorPath", "-string", "/a/b.log", copy], check=True, capture_output=True)
        with open(copy, "rb") as file:
            assert plistlib.load(file) == job | {"StandardErrorPath": "/a/b.log"}
    assert job["Umask"] == 0o077 and job["StartCalendarInterval"] == {"Hour": 3, "Minute": 0}, job
    configuration = os.path.join(root, "launchd.toml")
    with open(configuration, "w") as file:
        file.write(f"max-entries = 1\n[caches.a]\npath = '{make('launchd', 3)}'\n")
    result = subprocess.run([tool, *job["ProgramArguments"][1:], "--dry-run"], capture_output=True, text=True,
                            env=dict(os.environ, URLCACHE_ADMIN_CONFIG=configuration))
    assert result.returncode == 0 and "Would remove 2 of 3 entries" in result.stdout, result


def make(name, entries):
    cache = os.path.join(root, name)
    subprocess.run([maker, "--entries", str(entries), "--seed", "3", cache], check=True)
    return cache


class Unit:
    """A service with the rights that the manager gives it."""

    def __init__(self, path, cache, owner):
        self.settings, number = [], len(os.listdir(root))
        with open(path) as file:
            for line in file:
                match = re.fullmatch(r"(\w+)=(.*)\n", line)
                if match:
                    self.settings.append(match.groups())
        self.cache = cache
        self.logs, self.state = (os.path.join(root, name + str(number)) for name in ("logs", "state"))
        for folder in (self.logs, self.state):
            os.makedirs(os.path.join(folder, "urlcache-admin"))
            os.chown(os.path.join(folder, "urlcache-admin"), owner, owner)

    def all(self, key):
        return [value for name, value in self.settings if name == key]

    def one(self, key):
        [value] = self.all(key)
        return value

    def expand(self, text):
        escaped = self.cache[1:].replace("-", "\\x2d").replace("/", "-")
        values = {"f": self.cache, "i": escaped, "L": self.logs, "S": self.state, "%": "%"}
        return re.sub("%(.)", lambda found: values[found[1]], text)

    def command(self):
        """The command line, with its specifiers and its variables put in, for this program."""
        variables = dict(self.expand(value).split("=", 1) for value in self.all("Environment"))
        words = [re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], self.expand(word))
                 for word in self.one("ExecStart").split()]
        assert words[0] == "/usr/local/bin/urlcache-admin"
        return [tool, *words[1:]]

    def sandboxed(self, command):
        """The command in its own namespaces: everything is read-only but for the paths that the unit names."""
        for key, value in {"ProtectSystem": "strict", "PrivateTmp": "yes", "PrivateNetwork": "yes", "PrivateIPC": "yes",
                           "NoNewPrivileges": "yes", "ReadWritePaths": "%f"}.items():
            assert self.one(key) == value, key
        writable = [self.expand(self.one("ReadWritePaths")), *(
            os.path.join(folder, self.one(key)) for folder, key in
            [(self.logs, "LogsDirectory"), (self.state, "StateDirectory")])]
        script = ["set -e"]
        script += [f"mount --bind {shlex.quote(path)} {shlex.quote(path)}" for path in writable]
        # Each mount below the root has to be made read-only by itself.
        script += ["awk '{print $5}' /proc/self/mountinfo | while read -r point; do case $point in "
                   + "|".join(shlex.quote(path.replace(" ", "\\040")) for path in writable) + "|/proc|/proc/*|/dev|/dev/*) ;; *) mount -o remount,bind,ro \"$point\" 2>/dev/null || test \"$point\" != / ;; esac; done"]
        script += ["mount -t tmpfs none /tmp", "mount -t tmpfs none /dev/shm"]
        script += [f"cd /; umask {self.one('UMask')}; exec nice -n {self.one('Nice')} setpriv --reuid {OWNER} --regid {OWNER} "
                   "--clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all " + shlex.join(command)]
        return ["unshare", "--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--mount-proc", "sh", "-c",
                "\n".join(script)]

    def start(self, configuration):
        return subprocess.run(
            self.sandboxed(self.command()), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300,
            env={"PATH": os.environ["PATH"], "URLCACHE_ADMIN_CONFIG": configuration})

    def recorded(self):
        [path] = glob.glob(os.path.join(self.state, "urlcache-admin/*.prom"))
        with open(os.path.join(self.logs, "urlcache-admin/runs.jsonl")) as lines, open(path) as samples:
            found = re.findall(r'^urlcache_(\w+)\{cache="[^"]*"(?:,state="([^"]*)")?\} (\S+)$', samples.read(), re.M)
            return [json.loads(line) for line in lines], {name + state: float(value) for name, state, value in found}


PROBE = """
import os, socket
assert os.getuid() == os.geteuid() == %d and not os.getgroups()
assert "CapBnd:\\t0000000000000000" in open("/proc/self/status").read()
for folder in ["/", "/usr", "/etc", "/var/tmp", %r, %r]:
    try:
        open(os.path.join(folder, "urlcache-admin-probe"), "w")
        raise SystemExit(folder + " can be written to")
    except OSError:
        pass
assert os.listdir("/tmp") == []
open("/tmp/probe", "w")
assert [name for _, name in socket.if_nameindex()] == ["lo"]
open(os.path.join(%r, "probe"), "w")
os.remove(os.path.join(%r, "probe"))
"""


def state(folder):
    result = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                result[path] = (os.stat(path).st_mtime_ns, hashlib.sha256(file.read()).hexdigest())
    return result


def kept_entries(cache):
    """The ids of the entries, read in a way that leaves no files behind."""
    assert not os.path.exists(os.path.join(cache, "Cache.db-wal"))
    database = sqlite3.connect(f"file:{cache}/Cache.db?immutable=1", uri=True)
    try:
        return {row[0] for row in database.execute("SELECT entry_ID FROM cfurl_cache_response")}
    finally:
        database.close()


def size(cache):
    return sum(os.path.getsize(path) for path in state(cache))


def rules_of(cache, limit):
    """Rules that keep and remove some entries, and a limit that the cache is far beyond."""
    configuration = os.path.join(root, "config.toml")
    with open(configuration, "w") as file:
        file.write(f"max-size = {limit}\n[[rules]]\nname = 'pictures'\nmatch = {{ mime = 'image/*', smaller-than = '2KiB' }}\n"
                   "action = 'keep'\n[[rules]]\nmatch.status = '404'\naction = 'purge'\n")
    listed = {}
    for name, options in {"kept": ["--mime", "image/*", "--smaller-than", "2KiB"], "purged": ["--status", "404"]}.items():
        lines = subprocess.run([tool, "list", "-c", cache, *options, "--format", "ndjson", "--columns", "id"],
                               capture_output=True, check=True).stdout.splitlines()
        listed[name] = {json.loads(line)["id"] for line in lines}
    return configuration, listed["kept"], listed["purged"] - listed["kept"]


@needs_systemd
@pytest.mark.needs_root
def test_run_in_sandbox(thorough):
    """In the sandbox of the unit, the first run keeps the limit, the second has nothing to do, and the third skips a locked cache."""
    entries, limit = (11_000, 60 << 20) if thorough else (1_000, 6 << 20)
    cache = make("my cache-%d" % os.getpid(), entries)
    for parent, folders, names in os.walk(cache):
        for path in [parent, *(os.path.join(parent, name) for name in names)]:
            os.chown(path, OWNER, OWNER)
    assert size(cache) > 2.5 * limit, size(cache)
    configuration, kept, purged = rules_of(cache, limit)
    before = kept_entries(cache)
    unit = Unit(SERVICE, cache, OWNER)
    result = subprocess.run(
        unit.sandboxed([sys.executable, "-c", PROBE % (OWNER, root, os.path.dirname(tool), cache, cache)]),
        capture_output=True, text=True)
    assert result.returncode == 0, result

    result = unit.start(configuration)
    assert result.returncode == 0, result
    [line], samples = unit.recorded()
    after = kept_entries(cache)
    assert kept and purged and kept <= after and not purged & after, (len(kept), len(purged))
    # The files are a few percent more or less than the space in use, which is limited.
    assert 0.9 * limit < samples["in_use_bytes"] <= limit and size(cache) <= 1.06 * limit and samples["disk_bytes"] == size(cache), size(cache)
    assert line["removed_entries"] == len(before - after) == samples["last_run_removed_entries"]
    assert line["status"] == 0 and line["message"] is None and samples["last_run_success"] == 1, line

    untouched = state(cache)
    result = unit.start(configuration)
    assert result.returncode == 0 and "Removed 0 of" in result.stdout, result
    lines, samples = unit.recorded()
    assert state(cache) == untouched
    assert len(lines) == 2 and lines[1]["removed_entries"] == samples["last_run_removed_entries"] == 0, lines
    assert samples["last_run_success"] == 1 and samples["last_run_skipped"] == 0, samples

    holder = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with open(configuration, "a") as file:
        file.write("[[rules]]\nmatch = {}\naction = 'purge'\n")
    result = unit.start(configuration)
    holder.execute("ROLLBACK")
    holder.close()
    assert result.returncode == 0 and result.stdout.startswith("Skipped: the cache at "), result
    lines, samples = unit.recorded()
    assert lines[2]["skipped"] and samples["last_run_skipped"] == samples["last_run_success"] == 1, lines
    assert kept_entries(cache) == after


ROOT_PROBE = """
import os
status = open("/proc/self/status").read()
assert os.getuid() == 0 and "NoNewPrivs:\\t1" in status, status
assert "CapBnd:\\t%016x" % sum(1 << number for number in (0, 1, 3, 5, 6, 7)) in status, status
for folder in ["/", "/usr", "/etc", "/home", "/srv"]:
    try:
        open(os.path.join(folder, "urlcache-admin-probe"), "w")
        raise SystemExit(folder + " can be written to")
    except OSError:
        pass
open("/srv/cache/probed", "w").write("all")
"""


@needs_systemd
@pytest.mark.needs_user_systemd
def test_unit_of_system():
    """In its whole sandbox, under a systemd of root, the unit of the system cleans a cache of another user, and leaves root nothing there."""
    home = os.path.join(root, "home")
    units = os.path.join(home, ".config/systemd/user")
    for folder in [units, os.path.join(home, "bin")]:
        os.makedirs(folder)
    os.chmod(home, 0o755)
    shutil.copy(tool, os.path.join(home, "bin"))
    cache = make("theirs", 300)
    for parent, folders, names in os.walk(cache):
        for path in [parent, *(os.path.join(parent, name) for name in names)]:
            os.chown(path, OWNER, OWNER)
    with open(os.path.join(home, "limits.toml"), "w") as file:
        file.write("max-entries = 100\n")
    with open(os.path.join(home, "probe.py"), "w") as file:
        file.write(ROOT_PROBE)
    with open(SERVICE) as source:
        unit = source.read().replace("/usr/local/bin/", "/home/user/bin/")
    assert "%f" in unit
    for name, text in {"enforce": unit + "Environment=URLCACHE_ADMIN_CONFIG=/home/user/limits.toml\n",
                       "probe": re.sub(r"(?m)^ExecStart=.*", f"ExecStart={PYTHON} /home/user/probe.py", unit)}.items():
        with open(os.path.join(units, f"urlcache-admin-{name}@.service"), "w") as copy:
            copy.write(text)
    manager = UserManager(home, user=0, mounted={cache: "/srv/cache"})
    try:
        assert manager.is_ready(), "no manager"
        for unit in ("probe", "enforce"):
            unit = f"urlcache-admin-{unit}@srv-cache.service"
            result = manager.control("start", unit)
            assert result.returncode == 0, (result, manager.control("status", "--no-pager", "--full", unit).stdout)
    finally:
        said = manager.end()
    assert os.path.exists(os.path.join(cache, "probed")), said
    os.remove(os.path.join(cache, "probed"))
    assert len(kept_entries(cache)) == 100, said
    owners = {os.lstat(path).st_uid for path in glob.glob(cache + "/**", recursive=True)}
    assert owners == {OWNER}, owners
    [log] = glob.glob(os.path.join(home, ".*/**/runs.jsonl"), recursive=True) + glob.glob(os.path.join(home, ".local/state/**/runs.jsonl"), recursive=True)
    with open(log) as lines:
        [line] = map(json.loads, lines)
    assert line["status"] == 0 and line["removed_entries"] == 200, line
    [metrics] = glob.glob(os.path.join(home, ".*/**/*.prom"), recursive=True)
    assert os.lstat(log).st_uid == os.lstat(metrics).st_uid == 0
    assert [os.lstat(path).st_uid for path in glob.glob(os.path.join(home, ".*/**/users/*"), recursive=True)] == [OWNER]


USER_PROBE = """
import errno, os, socket
assert os.getuid() == %d and "CapBnd:\\t0000000000000000" in open("/proc/self/status").read()
for folder in ["/", "/usr", "/etc", "/home", "/srv"]:
    try:
        open(os.path.join(folder, "urlcache-admin-probe"), "w")
        raise SystemExit(folder + " can be written to")
    except OSError:
        pass
for folder in ["/home/user/.ssh", "/home/user/.gnupg"]:
    try:
        raise SystemExit(folder + " can be read: " + repr(os.listdir(folder)))
    except OSError:
        pass
assert os.listdir("/tmp") == os.listdir("/var/tmp") == [], os.listdir("/tmp")
open("/tmp/probe", "w")
for family in [socket.AF_INET, socket.AF_UNIX]:
    try:
        socket.socket(family)
        raise SystemExit("sockets can be made")
    except OSError as error:
        assert error.errno == errno.EAFNOSUPPORT, error
open("/home/user/probed", "w").write("all")
"""


def without_namespaces():
    """The lines of the page on scheduling for systems where units cannot have namespaces of users."""
    with open(os.path.join(share, "doc/urlcache-admin/scheduling.md")) as page:
        [lines] = re.findall(r"```ini\n\[Service\]\n(PrivateUsers=no\n[^`]*)```", page.read())
    return lines


@needs_systemd
@pytest.mark.needs_user_systemd
def test_user_units():
    """The systemd of a user runs the units in their sandbox: they keep the limits, and can do nothing else."""
    home = os.path.join(root, "home")
    units = os.path.join(home, ".config/systemd/user")
    for folder in [units, *(os.path.join(home, name) for name in (".ssh", ".gnupg", ".config/urlcache-admin", "bin"))]:
        os.makedirs(folder)
    shutil.copy(tool, os.path.join(home, "bin"))
    for path in UNITS["user"]:
        with open(path) as source, open(os.path.join(units, os.path.basename(path)), "w") as copy:
            copy.write(source.read().replace("/usr/local/bin/", "/home/user/bin/"))
    with open(os.path.join(home, "probe.py"), "w") as file:
        file.write(USER_PROBE % USER)
    for path in glob.glob(os.path.join(units, "*.service")):
        with open(path) as source, open(path.replace("enforce", "probe"), "w") as copy:
            copy.write(re.sub(r"(?m)^ExecStart=.*", f"ExecStart={PYTHON} /home/user/probe.py", source.read()))
    with open(os.path.join(units, "urlcache-admin-enforce.service")) as source, \
            open(os.path.join(units, "urlcache-admin-plain.service"), "w") as copy:
        copy.write(source.read() + without_namespaces())
    with open(os.path.join(home, ".config/urlcache-admin/config.toml"), "w") as file:
        for name in ("shop", "news"):
            shutil.move(make(name, 300), os.path.join(home, name))
            file.write(f"[caches.{name}]\npath = '/home/user/{name}'\nmax-entries = 100\n")
    manager = UserManager(home)
    try:
        assert manager.is_ready(), "no manager"
        for unit, left in [("probe", {"shop": 300, "news": 300}), ("probe@shop", {"shop": 300}),
                           ("enforce@shop", {"shop": 100, "news": 300}), ("enforce", {"shop": 100, "news": 100}),
                           ("plain", {"shop": 100, "news": 100})]:
            result = manager.control("start", f"urlcache-admin-{unit}.service")
            assert result.returncode == 0, (result, manager.control("status", "--no-pager", f"urlcache-admin-{unit}.service").stdout)
            for name, number in left.items():
                assert len(kept_entries(os.path.join(home, name))) == number, (unit, name)
            if "probe" in unit:
                os.remove(os.path.join(home, "probed"))
    finally:
        said = manager.end()
    [log] = glob.glob(os.path.join(home, ".*/**/runs.jsonl"), recursive=True) + glob.glob(os.path.join(home, ".local/state/*/runs.jsonl"))
    with open(log) as lines:
        records = [json.loads(line) for line in lines]
    removed = [(record["cache"], record["removed_entries"]) for record in records]
    assert removed == [("shop", 200), ("shop", 0), ("news", 200), ("shop", 0), ("news", 0)], (records, said)
    assert {os.path.basename(path) for path in glob.glob(os.path.dirname(log) + "/*.prom")} == {"shop.prom", "urlcache.prom"}


def allowed_calls(filters):
    """The names of the system calls that the lines of a unit allow, with the groups of systemd resolved."""
    def members(name):
        if not name.startswith("@"):
            return {name}
        lines = analyze("syscall-filter", name).stdout.splitlines()[1:]
        return set().union(*(members(line.strip()) for line in lines if line.strip() and not line.strip().startswith("#")))

    allowed = set()
    for line in filters:
        names = set().union(*(members(name) for name in line.removeprefix("~").split()))
        allowed = allowed - names if line.startswith("~") else allowed | names
    return allowed


@strace.needed
@needs_systemd
def test_system_calls():
    """The filter of the unit allows each system call of a run."""
    cache, trace = make("traced", 300), os.path.join(root, "trace")
    unit = Unit(SERVICE, cache, os.geteuid())
    configuration = os.path.join(root, "traced.toml")
    with open(configuration, "w") as file:
        file.write("max-entries = 100\n")
    result = subprocess.run(["strace", "-f", "-qq", "-o", trace, *unit.command()], capture_output=True, text=True,
                            env=dict(os.environ, URLCACHE_ADMIN_CONFIG=configuration))
    assert result.returncode == 0 and "Removed 200 of 300" in result.stdout, result
    with open(trace) as lines:
        used = {match[1] for match in (re.match(r"\d+ +(\w+)\(", line) for line in lines) if match}
    assert {"openat", "unlinkat"} <= used, used
    allowed = allowed_calls(unit.all("SystemCallFilter"))
    assert "fchown" in allowed and "mount" not in allowed and used <= allowed, used - allowed
    assert not {"socket", "connect"} & used
