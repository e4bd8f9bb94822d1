"""Installs into a folder, uses the installed files as timers and shells do, and removes them again."""

import glob
import json
import os
import plistlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import time

import pytest

from products import REPOSITORY, maker, tool as built
from user_manager import UserManager

checkout = str(REPOSITORY)
script = os.path.join(checkout, "share/urlcache-admin/install.sh")
CRON_PATH = "/usr/bin:/bin"


def folder():
    """A folder that other users may read, outside of the folders for temporary files, which sandboxes hide."""
    path = os.path.realpath(tempfile.mkdtemp(dir="/var/tmp"))
    os.chmod(path, 0o755)
    return path


@pytest.fixture
def root():
    """A folder for one test."""
    path = folder()
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def prefix():
    """A folder with an installation, which no test changes."""
    path = folder()
    os.mkdir(f"{path}/prefix")
    install("--prefix", f"{path}/prefix", "--binaries", os.path.dirname(built))
    yield f"{path}/prefix"
    shutil.rmtree(path)


def install(*options, status=0):
    result = subprocess.run(["sh", script, *options], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert result.returncode == status, (options, result)
    return result


def files(folder):
    return {os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names}


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def test_scripts():
    """shellcheck finds nothing in the scripts that are installed."""
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck: not here")
    paths = glob.glob(os.path.join(checkout, "share/urlcache-admin/*.sh"))
    result = subprocess.run(["shellcheck", *paths], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_files(root):
    """All paths that units, jobs and pages contain exist after an installation."""
    prefix = os.path.join(root, "prefix")
    os.mkdir(prefix)
    result = install("--prefix", prefix, "--binaries", os.path.dirname(built))
    found = files(prefix)
    assert f"Installed {len(found) - 1} files below {prefix}:" in result.stdout, result.stdout
    named = 0
    for path in sorted(found):
        if path.startswith("bin/") or path.startswith("libexec/") or path.endswith(".png"):
            continue
        text = read(os.path.join(prefix, path))
        assert not re.search(r"/usr(/local)?/(bin/urlcache-admin|share/(doc/)?urlcache-admin)", text) or path.startswith("share/man"), path
        for name in re.findall(re.escape(prefix) + r"/[\w./@+-]+\w", text):
            assert os.path.exists(name) or name.endswith("/install-manifest"), (path, name)
            named += 1
    units = [path for path in found if path.endswith(".service") and "/examples/" not in path]
    assert len(units) == 3 and all(f"ExecStart={prefix}/bin/urlcache-admin " in read(f"{prefix}/{path}") for path in units), units
    with open(f"{prefix}/share/urlcache-admin/launchd/urlcache-admin.enforce.plist", "rb") as file:
        assert plistlib.load(file)["ProgramArguments"][0] == f"{prefix}/bin/urlcache-admin"
    for name in ["bin/urlcache-admin", "libexec/urlcache-admin/urlcache-admin-fetch"]:
        assert os.access(os.path.join(prefix, name), os.X_OK), name
    assert subprocess.run([f"{prefix}/bin/urlcache-admin", "--version"], capture_output=True).returncode == 0
    assert named >= 8, named


@pytest.mark.parametrize("kind", ["tar", "bsdtar"])
def test_tarball(root, kind):
    """A tarball has the same bytes each time, also with the tar of macOS, and all in it belongs to root and has one time."""
    if not shutil.which(kind):
        pytest.skip(f"{kind}: not here")
    os.symlink(shutil.which(kind), f"{root}/tar")
    environment = os.environ | {"PATH": f"{root}:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": "1700000000"}
    made = []
    for folder in "one", "two":
        os.mkdir(f"{root}/{folder}")
        result = subprocess.run(["sh", os.path.join(checkout, "share/urlcache-admin/build-tarball.sh"), "--binaries", os.path.dirname(built), "-o", f"{root}/{folder}"],
                                env=environment, capture_output=True, text=True, check=True)
        made.append(result.stdout.strip())
    with open(made[0], "rb") as one, open(made[1], "rb") as two:
        assert one.read() == two.read()
    with tarfile.open(made[0]) as tarball:
        members = tarball.getmembers()
    assert {(member.uid, member.gid, member.mtime) for member in members} == {(0, 0, 1_700_000_000)}
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert sum(member.name.endswith("/bin/urlcache-admin") for member in members) == 1


def test_formula(root):
    """The commands in the test of the formula for Homebrew print what it expects, and what it installs is there."""
    with open(os.path.join(checkout, "share/urlcache-admin/homebrew/urlcache-admin.rb")) as file:
        formula = file.read()
    har = re.search(r"<<~JSON\n(.*?)\n +JSON\n", formula, re.S)[1]
    with open(f"{root}/one.har", "w") as file:
        file.write(har)
    version = subprocess.run([built, "--version"], capture_output=True, text=True).stdout.split()[1]
    steps = re.findall(r'assert_match "(.*?)", shell_output\("#\{tool\} (.*?)"(?:, (\d+))?\)', formula)
    assert len(steps) == 5, steps
    for expected, words, status in steps:
        result = subprocess.run(f"{built} {words}", shell=True, cwd=root, capture_output=True, text=True)
        assert result.returncode == int(status or 0) and expected.replace("#{version}", version) in result.stdout, (words, result)
    for pattern in re.findall(r'"(share/[^"]*)"', formula):
        assert glob.glob(os.path.join(checkout, pattern)), pattern


def test_names():
    """The maintainer and the home page are those of the Debian package, everywhere."""
    names = os.path.join(checkout, "share/urlcache-admin")
    control = read(f"{names}/debian/control")
    maintainer, homepage = (re.search(rf"(?m)^{field}: (.*)$", control)[1] for field in ["Maintainer", "Homepage"])
    formula = read(f"{names}/homebrew/urlcache-admin.rb")
    assert re.findall(r'(?m)^  (?:homepage|url) "(.*/)[^/"]*"', formula) == [homepage] * 2
    assert re.search(r"(?m)^Source: (.*)$", read(f"{names}/debian/copyright"))[1] == homepage
    assert re.search(r"(?m)^ -- (.*?)  ", read(f"{names}/debian/changelog"))[1] == maintainer
    for path in files(names):
        assert set(re.findall(r"[\w.@/:-]*\.invalid\b/?", read(f"{names}/{path}"))) <= {homepage, re.search("<(.*)>", maintainer)[1]}, path


def test_manual(prefix):
    """`man` and `mandoc` find and read the installed pages."""
    pages = glob.glob(f"{prefix}/share/man/man?/*")
    assert len(pages) > 15, pages
    environment = {"PATH": os.environ["PATH"], "MANPATH": f"{prefix}/share/man", "LC_ALL": "C"}
    if shutil.which("man"):
        result = subprocess.run(["man", "-w", "urlcache-admin-purge"], capture_output=True, text=True, env=environment)
        assert result.stdout.strip() == f"{prefix}/share/man/man1/urlcache-admin-purge.1", result
    if shutil.which("mandoc"):
        for page in pages:
            assert subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True).returncode == 0, page


def surroundings_of(prefix, root):
    return {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "HOME": root, "XDG_DATA_DIRS": f"{prefix}/share", "LC_ALL": "C"}


def test_bash_syntax(prefix):
    """The completions for bash are a bash script, where the package bash-completion looks below each folder of XDG_DATA_DIRS."""
    share = f"{prefix}/share"
    assert subprocess.run(["bash", "-n", f"{share}/bash-completion/completions/urlcache-admin"]).returncode == 0


def test_bash(prefix, root):
    """bash-completion loads the installed completions."""
    if not os.path.exists("/usr/share/bash-completion/bash_completion"):
        pytest.skip("bash-completion: not here")
    command = ". /usr/share/bash-completion/bash_completion; _completion_loader urlcache-admin; complete -p urlcache-admin"
    result = subprocess.run(["bash", "--norc", "-c", command], capture_output=True, text=True, env=surroundings_of(prefix, root))
    assert "urlcache" in result.stdout, result


def test_zsh(prefix, root):
    """zsh finds the installed completions in its folder."""
    if not shutil.which("zsh"):
        pytest.skip("zsh: not here")
    command = f"fpath=({prefix}/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[urlcache-admin]"
    result = subprocess.run(["zsh", "-f", "-c", command], capture_output=True, text=True, env=surroundings_of(prefix, root))
    assert result.stdout == "_urlcache-admin\n", result


def test_fish(prefix, root):
    """fish finds the installed completions in its folder."""
    if not shutil.which("fish"):
        pytest.skip("fish: not here")
    result = subprocess.run(
        ["fish", "-c", "complete -C 'urlcache-admin enf'"], capture_output=True, text=True, env=surroundings_of(prefix, root))
    assert result.stdout.startswith("enforce"), result


def home_with(root, name, path):
    """A home folder whose configuration names a cache of 300 entries, with a limit of 100."""
    home = os.path.join(root, name)
    os.makedirs(f"{home}/.config/urlcache-admin")
    os.makedirs(f"{home}/.local/state")
    subprocess.run([maker, "--entries", "300", "--seed", "3", f"{home}/shop"], check=True)
    with open(f"{home}/.config/urlcache-admin/config.toml", "w") as file:
        file.write(f"[caches.shop]\npath = '{path}/shop'\nmax-entries = 100\n")
    return home


def count(cache):
    return int(subprocess.run([built, "list", "-c", cache, "--count"], capture_output=True, check=True).stdout)


def line_of(prefix):
    """The line for cron in the installed page on scheduling."""
    [line] = re.findall(r"(?m)^17 3 \* \* \* (.*)$", read(f"{prefix}/share/doc/urlcache-admin/scheduling.md"))
    return line.replace("--splay 1h", "--splay 1ms")


def test_documented_lines():
    """The page about schedules contains one line for cron, with the path of a usual installation."""
    lines = re.findall(r"(?m)^\d+ \d+ \* \* \* +(\S+)", read(os.path.join(checkout, "share/doc/urlcache-admin/scheduling.md")))
    assert lines == ["/usr/local/bin/urlcache-admin"], lines


def test_environment_of_cron(prefix, root):
    """The line for cron works in the environment of cron, whose PATH need not have the program."""
    line, home = line_of(prefix), os.path.join(root, "plain")
    home_with(root, "plain", home)
    # This machine may have another version of the program where cron looks.
    assert line.startswith(f"{prefix}/bin/urlcache-admin ") and line.count("urlcache-admin ") == 1, line
    result = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, cwd=home,
                            env={"PATH": CRON_PATH, "HOME": home, "LOGNAME": "root", "SHELL": "/bin/sh"})
    assert result.returncode == 0 and result.stdout == "" and count(f"{home}/shop") == 100, result


@pytest.mark.needs_root
def test_cron(prefix, root):
    """cron runs the line."""
    line = line_of(prefix)
    daemon = shutil.which("cron") or "/usr/sbin/cron"
    if not os.path.exists(daemon) or not os.path.isdir("/var/spool/cron/crontabs"):
        pytest.skip("cron: not here")
    home = os.path.join(root, "cron")
    home_with(root, "cron", home)
    table = os.path.join(root, "table")
    with open(table, "w") as file:
        # A line for each minute would have the test wait for one to begin.
        file.write(f"HOME={home}\n@reboot {line}\n")
    steps = ["set -e", "mount -t tmpfs none /var/spool/cron/crontabs", "mount -t tmpfs none /run",
             # cron runs no other line.
             "mount -t tmpfs none /etc/cron.d", "mount --bind /dev/null /etc/crontab",
             f"install -m 600 -o root -g root {table} /var/spool/cron/crontabs/root", f"exec env -i {daemon} -f"]
    process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", "\n".join(steps)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 100
        log = f"{home}/.local/state/urlcache-admin.jsonl"
        while time.monotonic() < deadline and process.poll() is None and not (os.path.exists(log) and os.path.getsize(log)):
            time.sleep(0.05)
    finally:
        process.kill()
        said = process.communicate()[0]
    assert count(f"{home}/shop") == 100, said
    assert [json.loads(text)["removed_entries"] for text in read(log).splitlines()][0] == 200


@pytest.mark.needs_user_systemd
def test_systemd(root):
    """The systemd of a user finds and runs the units that are installed below ~/.local."""
    destination = os.path.join(root, "destination")
    install("--prefix", "/home/user/.local", "--destdir", destination, "--binaries", os.path.dirname(built))
    home = f"{destination}/home/user"
    made = home_with(root, "made", "/home/user")
    for name in ["shop", ".config"]:
        shutil.move(f"{made}/{name}", f"{home}/{name}")
    manager = UserManager(home)
    try:
        assert manager.is_ready(), "no manager"
        result = manager.control("start", "urlcache-admin-enforce.service")
        command = manager.control("show", "--property=ExecStart", "urlcache-admin-enforce.service").stdout
        assert result.returncode == 0 and "path=/home/user/.local/bin/urlcache-admin ;" in command, (result, command)
        result = manager.control("enable", "--now", "urlcache-admin-enforce.timer")
        assert result.returncode == 0, result
    finally:
        manager.end()
    assert count(f"{home}/shop") == 100


def test_removal(root):
    """'--uninstall' removes the installed files, also those of older installations, and nothing else."""
    prefix = os.path.join(root, "prefix")
    os.mkdir(prefix)
    install("--prefix", prefix, "--binaries", os.path.dirname(built))
    other = f"{prefix}/share/man/man1/other.1"
    with open(other, "w") as file:
        file.write("other")
    # An older installation had a file that the new one has not.
    manifest = f"{prefix}/share/urlcache-admin/install-manifest"
    with open(f"{prefix}/bin/urlcache-admin-old", "w"), open(manifest, "a") as file:
        file.write("f bin/urlcache-admin-old\nf ../../keep\n")
    with open(os.path.join(root, "keep"), "w"):
        pass
    install("--prefix", prefix, "--binaries", os.path.dirname(built))
    assert not os.path.exists(f"{prefix}/bin/urlcache-admin-old")
    result = install("--uninstall", "--prefix", prefix)
    assert files(prefix) == {"share/man/man1/other.1"}, files(prefix)
    assert os.path.exists(os.path.join(root, "keep")) and re.match(r"Removed \d+ files below ", result.stdout), result
    install("--uninstall", "--prefix", prefix, status=66)
    shutil.rmtree(f"{prefix}/share")
    install("--prefix", prefix, "--binaries", os.path.dirname(built))
    install("--uninstall", "--prefix", prefix)
    assert os.listdir(prefix) == [], os.listdir(prefix)


@pytest.mark.parametrize("wrong", ["relative", "/a b", "/a%b", "/a/../b", "/"])
def test_refused_prefixes(wrong):
    """A prefix that units or shells would misread is refused."""
    assert "cannot be the prefix" in install("--prefix", wrong, status=64).stderr
