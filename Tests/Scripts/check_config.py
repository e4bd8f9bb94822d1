"""Tries configurations with the built binary: real files, links, folders and variables.

    check_config.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each part, and ends at the first difference.
"""

import json, os, shutil, subprocess, sys, tempfile, tomllib

tool, maker = map(os.path.abspath, sys.argv[1:])
root = tempfile.mkdtemp()
home = os.path.join(root, "home")
caches = {name: os.path.join(root, name) for name in ["shop", "news"]}
folder = os.path.join(home, ".config", "urlcache-admin")
file = os.path.join(folder, "config.toml")


def run(*arguments, **variables):
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("URLCACHE_ADMIN", "XDG_"))}
    return subprocess.run([tool, *arguments], capture_output=True, text=True,
                          env=environment | {"HOME": home} | variables)


def write(text, path=file):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as output:
        output.write(text)


def settings(*arguments, **variables):
    result = run("config", "list", "--format", "json", *arguments, **variables)
    assert result.returncode == 0, result
    return json.loads(result.stdout)


def entries(name):
    return int(run("list", "-c", name, "--count").stdout)


def check_names():
    """Names stand for paths, and limits hold for the caches that they are given for."""
    write(f"""
        # The shop's cache.
        cache = "shop"
        max-delete = "90%"
        [caches.shop]
        path = "{caches['shop']}"
        capacity = "64MiB"
        max-entries = 150
        [caches.news]
        path = "~/link"
        max-entries = 250
    """)
    os.symlink(caches["news"], os.path.join(home, "link"))
    assert (entries("shop"), entries("news")) == (200, 300)
    assert run("list", "--count").stdout == "200\n"
    assert json.loads(run("usage", "--format", "json").stdout)["capacity_bytes"] == 64 << 20
    assert run("enforce", "--max-entries", "1", "--yes").returncode == 1, "more than --max-delete"
    assert entries("shop") == 200
    result = run("enforce", "--all-caches", "--yes")
    assert result.returncode == 0, result
    assert (entries("shop"), entries("news")) == (150, 250), result
    result = run("enforce", "--all-caches", "--yes", URLCACHE_ADMIN_MAX_ENTRIES="140")
    assert (entries("shop"), entries("news")) == (140, 140), result
    print("names: ok")


def check_places():
    """Which file is read, and that each value says where it is from."""
    text = open(file).read()
    found = settings()
    assert [item["path"] for item in found["files"]] == [file, "/etc/urlcache-admin/config.toml"], found
    document = tomllib.loads(text)
    for row in found["settings"]:
        if row["origin"] != "file" or row["name"] == "path":
            continue
        table = document if row["cache"] is None else document["caches"][row["cache"]]
        assert str(table[row["name"]]) == row["value"], row
        line = text.split("\n")[row["line"] - 1]
        assert line[row["column"] - 1:].strip("\"'").startswith(row["value"]), (row, line)
    other = os.path.join(root, "xdg", "urlcache-admin", "config.toml")
    write("wait = '7s'", other)
    assert settings(XDG_CONFIG_HOME=os.path.join(root, "xdg"))["files"][0] == {"path": other, "found": True}
    # A folder that is no whole path is none, by the rule of XDG.
    assert settings(XDG_CONFIG_HOME="xdg")["files"][0]["path"] == file
    given = settings("--config", other)
    assert [row for row in given["settings"] if row["name"] == "wait"][0]["value"] == "7s"
    assert settings(URLCACHE_ADMIN_CONFIG=other)["files"] == given["files"]
    assert run("--config", other, "list", "-c", "shop").returncode == 66, "the name is in the other file"
    # A configuration is often a link into a folder that is under version control.
    linked = os.path.join(root, "linked.toml")
    os.symlink(other, linked)
    assert settings("--config", linked)["files"][0]["found"]
    print("places: ok")


def check_refusals():
    """A configuration that cannot be read is never left out."""
    cases = [("wait = 1m", 78), ("", 0), ("\ufeffwait = '1s'", 0), ("# " + "x" * (1 << 20), 78)]
    for text, status in cases:
        write(text)
        result = run("config", "check")
        assert result.returncode == status, (text[:20], result)
        assert run("list", "-c", caches["shop"]).returncode == status
    with open(file, "wb") as output:
        output.write(b"wait = '\xff\x00'")
    result = run("list", "-c", caches["shop"])
    assert result.returncode == 78 and result.stderr.startswith(f"error: {file}:1:9: "), result
    with open(file, "wb") as output:
        output.write(os.urandom(100_000))
    assert run("config", "check").returncode == 78
    os.remove(file)
    os.mkdir(file)
    assert run("list", "-c", caches["shop"]).returncode == 74
    os.rmdir(file)
    os.mkfifo(file)
    # Nobody writes into it: it is empty, and is not waited for.
    assert run("config", "check").returncode == 0
    os.remove(file)
    assert run("config", "check", "--config", os.path.join(root, "none")).returncode == 66
    if os.geteuid() != 0:
        write("")
        os.chmod(file, 0)
        assert run("config", "check").returncode == 77
    print("refusals: ok")


def check_unchanged():
    """What looks at a configuration changes no file."""
    write("wait = '1s'")
    before = {(path, status.st_mtime_ns) for path, status in walk()}
    for words in [["config"], ["config", "check"], ["list", "-c", caches["shop"]]]:
        assert run(*words).returncode == 0
    assert {(path, status.st_mtime_ns) for path, status in walk()} == before
    print("unchanged: ok")


def walk():
    for path, folders, files in os.walk(root):
        for name in folders + files:
            whole = os.path.join(path, name)
            yield whole, os.lstat(whole)


try:
    for number, (name, path) in enumerate(caches.items()):
        subprocess.run([maker, "--format", "apple", "--entries", str(200 + 100 * number), "--seed", "4", path],
                       check=True, capture_output=True)
    check_names()
    check_places()
    check_refusals()
    check_unchanged()
finally:
    shutil.rmtree(root)
