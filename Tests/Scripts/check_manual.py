"""Compares the manual pages with what is generated, has mandoc look at them, and runs all of their examples.

    check_manual.py URLCACHE-ADMIN SAMPLE-CACHE SHARE

Prints a line for each part, and ends at the first difference.
"""

import filecmp, glob, json, os, re, shutil, subprocess, sys, tempfile, textwrap, time

import generate_manual

tool, maker, share = map(os.path.abspath, sys.argv[1:])
root = os.path.realpath(tempfile.mkdtemp())
pages = sorted(glob.glob(os.path.join(share, "man/man*/*")))
environment = {"PATH": os.path.dirname(tool) + ":/usr/bin:/bin", "TMPDIR": root, "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def read(path):
    with open(path) as file:
        return file.read()


def rendered(path):
    """The page as somebody reads it, so that a command that is copied is the one that is run."""
    result = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=400", path], capture_output=True, text=True, check=True)
    return re.sub(".\b", "", result.stdout)


def check_drift():
    folder = os.path.join(root, "man")
    generated = generate_manual.main(tool, folder)
    assert [os.path.relpath(page, os.path.join(share, "man")) for page in pages] == generated, (pages, generated)
    for page in generated:
        assert filecmp.cmp(os.path.join(folder, page), os.path.join(share, "man", page), shallow=False), (
            f"{page} is out of date: run 'python3 Tests/Scripts/generate_manual.py .build/debug/urlcache-admin share/man'")
    print("drift: ok", flush=True)


def check_markup():
    """The pages have no fault, refer to each other only, and show all options and settings."""
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], capture_output=True, text=True)
    assert result.returncode == 0 and not result.stdout + result.stderr, result.stdout
    names = {os.path.basename(page) for page in pages}
    for page in pages:
        for name, section in re.findall(r"^\.Xr (urlcache-\S+) (\d)", read(page), re.MULTILINE):
            assert f"{name}.{section}" in names, (page, name)
    dump = json.loads(subprocess.run([tool, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    for command in dump["command"]["subcommands"]:
        if command["commandName"] == "help":
            continue
        text = rendered(os.path.join(share, f"man/man1/urlcache-admin-{command['commandName']}.1"))
        for child in command.get("subcommands", [command]):
            for argument in child["arguments"]:
                for name in argument.get("names", []):
                    option = ("--" if name["kind"] == "long" else "-") + name["name"]
                    assert re.search(rf"^ +(-[a-z\S]+.*, )?{option}\b", text, re.MULTILINE), (command["commandName"], option)
    text = rendered(os.path.join(share, "man/man5/urlcache-admin.conf.5"))
    source = read(os.path.join(share, "../Sources/Administration/Configuring/Setting.swift")).partition("public var")[0]
    settings = re.findall(r"^  case (?:[a-zA-Z]+ = \"(.*)\"|([a-z]+))$", source, re.MULTILINE)
    assert len(settings) > 9, settings
    for setting in settings:
        assert re.search(rf"^ +{''.join(setting)}\b", text, re.MULTILINE), setting
    print("markup: ok", flush=True)


def configuration():
    """The example of the page about the configuration."""
    text = rendered(os.path.join(share, "man/man5/urlcache-admin.conf.5"))
    return textwrap.dedent(text.partition("\nEXAMPLES\n")[2].partition("\nSEE ALSO\n")[0])


def make_home(name, *options):
    """A home with the configuration of the page about it, and the cache that this names."""
    home = os.path.join(root, name)
    cache = os.path.join(home, "Library/Caches/com.example.shop")
    os.makedirs(os.path.dirname(cache))
    newest = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86400))
    subprocess.run([maker, "--entries", "200", "--seed", "3", "--newest", newest, *options, cache], check=True)
    os.makedirs(os.path.join(home, ".config/urlcache-admin"))
    with open(os.path.join(home, ".config/urlcache-admin/config.toml"), "w") as file:
        file.write(configuration())
    return home


def check_examples():
    """Each command of a page ends as the page has it marked, in a home of its own."""
    whole = make_home("whole")
    damaged = make_home("damaged", "--faults", "orphan-files,missing-bodies,undecodable")
    count = 0
    for page in pages:
        home = os.path.join(root, "page")
        shutil.copytree(damaged if page.endswith("-check.1") else whole, home)
        marked = re.findall(r'^(?:\.\\" (\d+)\n)?\.Dl \$ ', read(page), re.MULTILINE)
        commands = re.findall(r"^ +\$ (.*)$", rendered(page), re.MULTILINE)
        assert len(marked) == len(commands), (page, marked, commands)
        assert commands or page.endswith("urlcache-admin.conf.5"), page
        for status, command in zip(marked, commands):
            result = subprocess.run(["sh", "-c", command], cwd=home, env=environment | {"HOME": home},
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
            assert result.returncode == int(status or 0), (os.path.basename(page), command, result)
            assert result.stdout or result.stderr or ">" in command or "-o " in command, (page, command)
        count += len(commands)
        shutil.rmtree(home)
    assert count > 60, count
    print("examples: ok", flush=True)


try:
    assert shutil.which("mandoc"), "mandoc is not there; Tests/run.sh gets it"
    check_drift()
    check_markup()
    check_examples()
finally:
    shutil.rmtree(root)
