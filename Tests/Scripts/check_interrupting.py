"""Interrupts commands that change a cache, takes their room away, and runs two at once; then looks at the cache.

    check_interrupting.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

It tries moments, sizes and pairs that are spread evenly, with --all about ten times as many. Prints a line for each kind, and figures on the standard
error. Needs strace; and for a small file system a kernel that lets users mount one, without which that is left out with a
word.
"""

import itertools, json, os, re, shutil, subprocess, sys, tempfile

from fault_trial import Bad, Trial, length, look, make_origins, must, trials
from heard_signals import hear_signals

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]


def spread(values, few, many):
    values, most = list(values), many if tries_all else few
    if len(values) <= most:
        return values
    return [values[round(step * (len(values) - 1) / (most - 1))] for step in range(most)]


def said(kind, faults, all_trials):
    well = [trial.report(faults) for trial in all_trials]
    assert all(trial.tried for trial in all_trials)
    if all(well):
        print(f"{kind}: ok", flush=True)
    return all(well)


def by_signals(root):
    """The batch that the signal comes in ends, the receipt says what was done, and then the signal ends the process."""
    origin = os.path.join(root, "many")
    subprocess.run([maker, "--entries", "260", "--seed", "5", "--no-large-bodies", origin], check=True)
    plan = os.path.join(root, "plan-of-many.json")
    subprocess.run([tool, "purge", "-c", origin, "--all", "--plan", plan], check=True, capture_output=True)
    well = True
    for signal in ["SIGINT", "SIGTERM"]:
        removing = [Trial("purge", tool, origin, "purge", "--all", beside=True),
                    Trial("enforce", tool, origin, "enforce", "--max-entries", "20", beside=True),
                    Trial("apply", tool, origin, "apply", plan, beside=True)]
        all_trials = removing + [Trial("compact", tool, os.path.join(root, "free"), "compact")]
        for trial in all_trials:
            for call, turns in trial.points().items():
                if call in ["pwrite64", "fdatasync", "unlinkat", "write"]:
                    for turn in spread(turns, 2, 25):
                        trial.with_fault(call, turn, f"signal={signal}")
        assert all(trial.partial for trial in removing), "no batch was the last"
        well = said(signal, f"times {signal}", all_trials) and well
    return well


def while_rewriting(root):
    """A rewrite is given up long before it would be done, and then has changed nothing."""
    cache = os.path.join(root, "rewritten")
    subprocess.run([maker, "--entries", "6000", "--seed", "5", "--no-large-bodies", cache], check=True)
    before = look(cache, os.path.join(root, "scratch"))
    with open(os.path.join(cache, "Cache.db"), "rb") as file:
        database = file.read()
    result = subprocess.run(
        ["strace", "-f", "-qq", "-o", os.path.join(root, "trace"), "-e", "trace=pread64", "-e",
         "inject=pread64:signal=SIGINT:when=1000", tool, "compact", "-c", cache, "--full", "--no-verify", "--format", "json"],
        capture_output=True, preexec_fn=hear_signals)
    assert result.returncode == -2 and result.stderr == b"note: stopped by a signal\n", result
    assert json.loads(result.stdout)["method"] == "none", result
    with open(os.path.join(cache, "Cache.db"), "rb") as file:
        assert file.read() == database
    assert look(cache, os.path.join(root, "scratch")) == before
    print("rewriting: ok", flush=True)
    return True


def by_small_file_system(root):
    """A file system that is full from a size on."""
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", root], capture_output=True).returncode != 0:
        print("small file system: not here", flush=True)
        return True
    script = """
mount -t tmpfs -o size="$1k" none "$2" && cp -a "$3" "$2/cache" || exit 99
shift 3; "$@"; status=$?
cp -a "$mounted/cache" "$outside" && exit $status
"""
    all_trials = list(trials(tool, os.path.join(root, "origin"), os.path.join(root, "free")))
    ends = set()
    for trial in all_trials:
        cache, mounted = os.path.join(root, "cache"), os.path.join(root, "mounted")
        os.makedirs(mounted, exist_ok=True)
        whole = -(-length(trial.origin) // 1024)
        for size in spread(range(whole, 3 * whole, 4), 7, 60):
            shutil.rmtree(cache, ignore_errors=True)
            result = subprocess.run(
                ["unshare", "-rm", "sh", "-c", script, "sh", str(size), mounted, trial.origin,
                 *trial.arguments(os.path.join(mounted, "cache"))], capture_output=True, timeout=120,
                # An intent is about the cache there, and not about the copy that is looked at.
                env=dict(os.environ, mounted=mounted, outside=cache, XDG_STATE_HOME=os.path.join(mounted, "state")))
            if result.returncode != 99:
                ends.add(result.returncode)
                trial.judge(f"{size} KiB of room", cache, result, [0, 74])
    assert ends == {0, 74}, ends
    return said("small file system", "sizes of the file system", all_trials)


def by_small_files(root):
    """A limit on the length of files, which would end a process by a signal that it does not ignore."""
    all_trials = list(trials(tool, os.path.join(root, "origin"), os.path.join(root, "free")))
    ends = set()
    for trial in all_trials:
        for size in spread(range(0, 2 * length(trial.origin), 4096), 5, 60):
            cache = trial.fresh()
            result = trial.run(cache, longest_file=size)
            ends.add(result.returncode)
            trial.judge(f"files of up to {size} bytes", cache, result, [0, 74])
    assert ends == {0, 74}, ends
    return said("small files", "limits of the length of files", all_trials)


def both(one, other):
    """Runs two commands on one cache at once, and judges what they left and what they said."""
    cache = one.fresh()
    running = [subprocess.Popen(trial.arguments(cache), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE) for trial in (one, other)]
    outputs = [process.communicate(timeout=120) for process in running]
    try:
        state = look(cache, os.path.join(one.root, "scratch"))
        must(state.schema == one.old.schema and not state.orphans, "the schema is another, or files are left:", state)
        named, noted = [], 0
        for trial, process, (output, errors) in zip((one, other), running, outputs):
            # Beside another process a limit may not be kept, as the log counts; and that one may be in the way.
            ends = {"compact": [0, 75], "enforce": [0, 1, 3, 75]}.get(trial.verb, [0, 3, 75])
            must(process.returncode in ends, process.returncode, errors)
            before = re.search(rb"removed before that: (\d+) entries", errors)
            noted += int(before[1]) if before else 0
            if trial.verb != "compact" and output:
                named += [entry["id"] for entry in json.loads(output)["entries"]]
        gone = one.old.rows.keys() - state.rows.keys()
        must(len(set(named)) == len(named) and gone.issuperset(named) and len(named) + noted == len(gone),
             "they named", named, "and", noted, "more, and gone are", gone)
        for number, row in state.rows.items():
            must(row == one.old.rows[number], "row", number, "is not as it was")
        return [process.returncode for process in running]
    except Bad as error:
        print(f"BAD: {one.name} and {other.name} at once: {error}", flush=True)
        return None


def two_at_once(root):
    all_trials = [trial for trial in trials(tool, os.path.join(root, "origin"), os.path.join(root, "free"))
                  if trial.verb not in ["check", "compact"]]
    all_trials.append(Trial("compact", tool, os.path.join(root, "origin"), "compact", "--full"))
    pairs = list(itertools.combinations_with_replacement(all_trials, 2))
    ends = [both(one, other) for one, other in spread(pairs * 10, 8, 210)]
    bad = ends.count(None)
    print(f"two at once: {len(ends)} pairs: {bad} bad", file=sys.stderr, flush=True)
    if not bad:
        print("two at once: ok", flush=True)
    return not bad


def main():
    root = tempfile.mkdtemp()
    try:
        make_origins(maker, root)
        well = [kind(root) for kind in (by_signals, while_rewriting, by_small_file_system, by_small_files, two_at_once)]
    finally:
        shutil.rmtree(root)
    sys.exit(0 if all(well) else 1)


main()
