"""A configuration that is not read silently would mean that pins do not apply."""

import os
import pwd
import subprocess
import threading

import pytest

import scratch
import worlds
from products import tool
from scratch import path
from worlds import run

PINNED = "https://a.example/3"


@pytest.fixture
def cache():
    cache = worlds.apple(path("cache"), worlds.entries(5))
    worlds.configure(cache, pinned=[PINNED])
    return cache


def configuration():
    return path("home/.config/urlcache-admin/config.toml")


def left(cache):
    return set(worlds.contents(cache))


def test_named_pipe(cache):
    """A named pipe whose writer is not ready is waited for."""
    with open(configuration(), "rb") as file:
        text = file.read()
    os.remove(configuration())
    os.mkfifo(configuration())
    process = subprocess.Popen([tool, "purge", "-c", cache, "--all", "--yes"], env=worlds.surroundings(), stdout=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    with open(configuration(), "wb") as pipe:
        pipe.write(text)
    assert process.wait(30) == 0 and len(left(cache)) == 1


@pytest.mark.needs_root
@pytest.mark.needs_mounts
def test_without_home(cache):
    """Without the variable, the home folder is that of the database of users, and 'config list' says what was read."""
    home = pwd.getpwuid(0).pw_dir
    variables = {name: value for name, value in worlds.surroundings().items() if name != "HOME"}
    script = f'mount --bind "{path("home")}" "{home}" && exec "$@"'
    for words in [["config", "list"], ["purge", "-c", cache, "--all", "--yes"]]:
        result = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", tool, *words], env=variables, capture_output=True, text=True)
        assert result.returncode == 0, result
        if words[0] == "config":
            assert f"read '{home}/.config/urlcache-admin/config.toml'" in result.stderr, result
    assert len(left(cache)) == 1


@pytest.mark.needs_root
@pytest.mark.parametrize("spoil", ["owner", "mode", "folder", "link"])
def test_of_another_user(cache, spoil):
    """Root does not read a configuration that another user can change, also with the home folder of a user."""
    os.chmod(scratch.root, 0o755)
    if spoil == "owner":
        os.chown(configuration(), worlds.STRANGER, worlds.STRANGER)
    elif spoil == "mode":
        os.chmod(configuration(), 0o666)
    elif spoil == "folder":
        os.chown(path("home"), worlds.STRANGER, worlds.STRANGER)
    else:
        os.rename(configuration(), path("elsewhere.toml"))
        os.symlink(path("elsewhere.toml"), configuration())
        os.chown(configuration(), worlds.STRANGER, worlds.STRANGER, follow_symlinks=False)
    result = run("purge", "-c", cache, "--all", "--yes", status=78)
    assert "other users can change" in result.stderr and len(left(cache)) == 5, result
    run("config", "list", status=78)
