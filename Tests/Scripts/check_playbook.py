"""Runs the playbook of the examples on this machine, with real caches in a folder of its own.

    check_playbook.py URLCACHE-ADMIN SAMPLE-CACHE EXAMPLES FOLDER-OF-PYTHON-ENVIRONMENT

The environment has ansible-core. Prints a line for each part, and ends at the first difference.
"""

import hashlib, json, os, re, shutil, sqlite3, subprocess, sys, tempfile

tool, maker, examples, environment = map(os.path.abspath, sys.argv[1:])
root = tempfile.mkdtemp()
configuration = os.path.join(root, "etc", "config.toml")
metrics = os.path.join(root, "metrics")
cache = {name: os.path.join(root, "the " + name) for name in ["shop", "news.daily"]}


def play(*words, failed=0, limits={}, **variables):
    """Runs the playbook, and gives the names of the tasks that changed something, and the output."""
    variables = {"urlcache_admin": tool, "configuration": configuration, "metrics_folder": metrics, "wait": "1s",
                 "caches": {name: {"path": path} | {"max-entries": 80} | limits for name, path in cache.items()}} | variables
    result = subprocess.run(
        [os.path.join(environment, "bin", "ansible-playbook"), "-i", "localhost,", "-c", "local", "-e", json.dumps(variables),
         os.path.join(examples, "enforce.playbook.yml"), *words], capture_output=True, text=True, cwd=root,
        env=os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0", "ANSIBLE_HOME": os.path.join(root, "ansible"),
                          "ANSIBLE_PYTHON_INTERPRETER": sys.executable})
    changed, count = re.search(r"changed=(\d+).*failed=(\d+)", result.stdout).groups()
    assert int(count) == failed and (result.returncode == 0) == (failed == 0), result.stdout + result.stderr
    assert "WARNING" not in result.stdout + result.stderr or "--diff" in words, result.stdout + result.stderr
    tasks, name = [], None
    for line in result.stdout.splitlines():
        if line.startswith("TASK ["):
            name = line[6:].split("]")[0]
        elif line.startswith("changed: ") and name not in tasks:
            tasks.append(name)
    assert len(tasks) == int(changed), result.stdout
    return tasks, result.stdout


def entries():
    return [int(subprocess.run([tool, "list", "-c", path, "--count"], capture_output=True, check=True).stdout)
            for path in cache.values()]


def digest():
    """What all files but Ansible's own hold."""
    result = {}
    for folder, folders, names in os.walk(root):
        if folder == root and "ansible" in folders:
            folders.remove("ansible")
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                result[path] = hashlib.sha256(file.read()).hexdigest()
    return result


MAKE, INSTALL, KEEP = "Make the folder of the configuration", "Install the configuration", "Keep the limits"
try:
    os.mkdir(metrics)
    for seed, path in enumerate(cache.values()):
        subprocess.run([maker, "--entries", "100", "--seed", str(seed), path], check=True, capture_output=True)

    before = digest()
    assert play("--check")[0] == [KEEP, MAKE, INSTALL]
    assert digest() == before and entries() == [100, 100]
    print("check mode: changes nothing", flush=True)

    assert play()[0] == [KEEP, MAKE, INSTALL]
    assert entries() == [80, 80]
    listed = subprocess.run([tool, "config", "list", "--config", configuration, "--format", "json"], capture_output=True, text=True)
    assert listed.returncode == 0 and all(f'"{path}"' in listed.stdout for path in cache.values()), listed
    for name in cache:
        with open(os.path.join(metrics, f"urlcache-{name}.prom")) as file:
            assert f'urlcache_last_run_removed_entries{{cache="{name}"}} 20\n' in file.read(), name
    print("first run: changed", flush=True)

    before = digest()
    assert play("--check")[0] == []
    assert digest() == before
    assert play()[0] == [] and entries() == [80, 80]
    print("second run: not changed", flush=True)

    assert play(limits={"max-entries": 70})[0] == [KEEP, INSTALL] and entries() == [70, 70]
    print("other limits: changed", flush=True)

    with open(configuration) as file:
        before = file.read()
    assert "--max-delete" in play("--check", failed=1, limits={"max-entries": 1})[1]
    assert "--max-delete" in play(failed=1, limits={"max-entries": 1})[1]
    assert "'1m' could mean minutes or months" in play(failed=1, limits={"max-age": "1m"})[1]
    with open(configuration) as file:
        assert file.read() == before and entries() == [70, 70]
    print("a limit that is wrong: not installed", flush=True)

    lock = sqlite3.connect(os.path.join(cache["shop"], "Cache.db"), isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    assert play(limits={"max-entries": 60})[0] == [KEEP, INSTALL]
    lock.execute("ROLLBACK")
    assert entries() == [70, 60]
    # And without metrics.
    assert play(limits={"max-entries": 60}, metrics_folder="")[0] == [KEEP] and entries() == [60, 60]
    print("a cache in use: the next run", flush=True)
finally:
    shutil.rmtree(root)
