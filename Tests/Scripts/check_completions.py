"""Compares the completion scripts with what is generated, and presses the tabulator key in bash, zsh and fish.

    check_completions.py URLCACHE-ADMIN SAMPLE-CACHE SHARE

Prints a line for each part, and ends at the first difference.
"""

import filecmp, os, pty, shutil, signal, subprocess, sys, tempfile, time

import generate_completions

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Acceptance/support"))
import origin

tool, maker, share = map(os.path.abspath, sys.argv[1:])
root = os.path.realpath(tempfile.mkdtemp())
cache, programs = os.path.join(root, "cache"), os.path.join(root, "bin")
scripts = {shell: os.path.join(share, place) for shell, place in generate_completions.PLACES.items()}
environment = {"HOME": root, "PATH": programs + ":/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8", "TMPDIR": root}

# What somebody types behind the name of the program, and what there is to choose from: all, or the first.
TYPED = {
    "li": ["list"],
    "help sh": ["show"],
    "config ": ["check", "list", "set", "unset"],
    "config l": ["list"],
    "policy t": ["test"],
    "list --form": ["--format"],
    "list --format ": ["csv", "json", "ncdu", "ndjson", "table", "tsv", "urls"],
    "list --format=j": ["json"],
    "du --by st": ["status", "storage-policy"],
    "trim --order ": ["largest", "oldest", "stale-first"],
    "list --age-basis f": ["first-stored"],
    "list -c s": ["shop"],
    "-c s": ["shop"],
    "policy test --cache s": ["shop"],
    "list --config other.toml -c ": ["else"],
    "ls -c shop --host api.": ["api.example"],
    "-c shop purge -n --host ": ["api.example", "img.example"],
    "purge --cache=shop --host=i": ["img.example"],
    "list -c ~/cache --host i": ["img.example"],
    "list -c 'cache' --host i": ["img.example"],
    # Nothing is evaluated to find a cache.
    "list -c $(touch\\ pwned) --host ": [],
    "list -c `touch\\ pwned` --host ": [],
    "list -c archive.tar --host ": [],
    "list -c absent --host ": [],
    # What is selected there is in an archive.
    "import archive.tar -c shop --host ": [],
    "list --columns fr": ["freshness"],
    "list --columns id,sta": ["id,status"],
    "list --columns=id,sta": ["id,status"],
    "list --columns status,id,status": [],
    "list --sort lifetime-": ["lifetime-source"],
    "report -o r": ["r.html"],
    "apply p": ["plan.json"],
    "import a": ["archive.tar"],
    "discover ca": ["cache"],
    "enforce --metrics-file u": ["u.prom"],
}
# In small letters, digits, dots and hyphens; nothing else is offered.
HOSTS = ["api.example", "img.example"]
HOSTILE = ["$(touch${IFS}pwned)", "`touch${IFS}pwned`", "a;touch${IFS}pwned", "'", "\"", "a\x1b]0;owned\x07", "a\nb", "-rf",
           "--yes", "{a,b}", "*", "~", "a|b", "a>pwned", "\\", "é.example", "a\u202e", "!!", "a&touch${IFS}pwned&"]


def make():
    os.mkdir(programs)
    os.symlink(tool, os.path.join(programs, "urlcache-admin"))
    hosts = HOSTS + HOSTILE
    origin.make_apple(maker, cache, [(f"http://{host}/{number}", 200, {}, b"", {}, None) for number, host in enumerate(hosts)])
    listed = subprocess.run([tool, "list", "-c", cache, "--format", "ndjson", "--columns", "host"], capture_output=True, text=True)
    assert "$(touch${ifs}pwned)" in listed.stdout, listed
    os.makedirs(os.path.join(root, ".config/urlcache-admin"))
    write(".config/urlcache-admin/config.toml",
          f"[caches.shop]\npath = '{cache}'\n[caches.news]\npath = '/news'\n[caches.'$(touch pwned)']\npath = '/x'\n")
    write("other.toml", "[caches.else]\npath = '/else'\n")
    subprocess.run([tool, "export", "-c", cache, "-o", os.path.join(root, "archive.tar")], check=True, capture_output=True)
    for name in ["r.html", "r.txt", "plan.json", "plan.txt", "u.prom", "u.txt", "a.txt"]:
        write(name, "")


def write(name, text):
    with open(os.path.join(root, name), "w") as file:
        file.write(text)


def check_drift():
    folder = os.path.join(root, "share")
    generate_completions.main(tool, folder)
    for place in generate_completions.PLACES.values():
        assert filecmp.cmp(os.path.join(folder, place), os.path.join(share, place), shallow=False), (
            f"{place} is out of date: run 'python3 Tests/Scripts/generate_completions.py .build/debug/urlcache-admin share'")
    for shell, path in scripts.items():
        result = subprocess.run([shell, "-n", path], capture_output=True, text=True)
        assert result.returncode == 0 and not result.stderr, result
    print("drift: ok", flush=True)


class Terminal:
    """A shell at a terminal, which tells what it offers, and what is in its line then."""

    def __init__(self, arguments, setup):
        self.log = os.path.join(root, arguments[0] + ".log")
        open(self.log, "w").close()
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(root)
            os.execvpe(arguments[0], arguments, environment)
        os.set_blocking(self.file, False)
        self.screen, self.position = b"", 0
        write("setup", setup.replace("LOG", self.log))
        self.send(f". {root}/setup\n")
        # Keys that come before the shell reads keys get lost.
        while self.answer(0.5) is None:
            self.send("\x18b")

    def send(self, text):
        data = text.encode()
        while data:
            self.read()
            try:
                data = data[os.write(self.file, data[:256]):]
            except BlockingIOError:
                pass
            time.sleep(0.01)

    def read(self):
        try:
            self.screen += os.read(self.file, 1 << 16)
        except (BlockingIOError, OSError):
            pass

    def ask(self, line):
        """What is offered for a line, and the line after the tabulator key."""
        self.send(line + "\t" + "\x18b" + "\x15")
        # That of an empty line is a late one.
        while (found := self.answer(60)) and found[1] == "''":
            pass
        assert found, self.screen[-2000:]
        return found

    def answer(self, seconds):
        """The next answer; None if there is none in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            with open(self.log) as file:
                text = file.read()[self.position:]
            offered, found, _ = text.partition("LINE:")
            if found and text.endswith("\n"):
                line = text[len(offered):].split("\n")[0]
                self.position += len(offered) + len(line) + 1
                return sorted(set(offered.split("\n")[:-1])), line.removeprefix("LINE:")
            time.sleep(0.02)
        return None

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.file)


def bash():
    # What bash offers is told by the function itself.
    return Terminal(["bash", "--norc", "--noprofile", "-i"], f"""
        bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set completion-query-items 0'
        bind 'set page-completions off'; . '{scripts['bash']}'
        told() {{ _urlcache-admin "$@"; local status=$?; ((${{#COMPREPLY[@]}})) && printf '%s\\n' "${{COMPREPLY[@]}}" >>LOG; return $status; }}
        complete -o filenames -F told urlcache-admin
        bind -x '"\\C-xb": printf "LINE:%q\\n" "$READLINE_LINE" >>LOG'
    """)


def zsh():
    return Terminal(["zsh", "-f", "-i"], f"""
        unsetopt beep zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; LISTMAX=100000; setopt no_always_last_prompt; fpath=('{os.path.dirname(scripts['zsh'])}' $fpath)
        autoload -Uz compinit && compinit -u -D
        compadd() {{ if [[ ${{@[1,(i)(-|--)]}} != *-[ADO]* ]]; then local -a hits; builtin compadd -A hits "$@"; (($#hits)) && print -rl -- "${{hits[@]}}" >>LOG; fi; builtin compadd "$@" }}
        tell() {{ print -r -- "LINE:${{(q)BUFFER}}" >>LOG }}; zle -N tell; bindkey '^Xb' tell; bindkey '^I' complete-word
    """)


class Fish:
    """Fish tells what it offers without a terminal."""

    def ask(self, line):
        result = subprocess.run(["fish", "--no-config", "-c", f"source {scripts['fish']}; complete -C $argv[1]", line],
                                capture_output=True, text=True, cwd=root, env=environment, stdin=subprocess.DEVNULL)
        assert result.returncode == 0 and not result.stderr, result
        words = [text.split("\t")[0] for text in result.stdout.splitlines()]
        return sorted(words), None

    def close(self):
        pass


def offered(shell, typed, words):
    """What is offered, as all shells would say it: without the paths that are there too, and the option before '='."""
    option = typed.split(" ")[-1].partition("=")[0] + "="
    words = [word.removeprefix(option).removesuffix("/") for word in words]
    return [word for word in words if word not in {"--version", "--help", "-h", "-c", "--cache", "--config"}]


def check_shell(name, make_shell):
    shell = make_shell()
    entries = set(os.listdir(root))
    for typed, expected in TYPED.items():
        words = offered(name, typed, shell.ask("urlcache-admin " + typed)[0])
        assert [word for word in words if word in expected or word not in entries] == expected, (name, typed, words)
    hosts = shell.ask("urlcache-admin list -c shop --host ")[0]
    assert hosts == HOSTS, (name, hosts)
    shell.close()
    assert_harmless()
    # Not even a program that answers with anything can do something.
    for word in HOSTILE:
        if word == "a\nb":
            continue
        os.remove(os.path.join(programs, "urlcache-admin"))
        write("bin/urlcache-admin", f"#!/usr/bin/python3\nprint({word!r})\nprint({' '!r} if {name == 'zsh'} else {''!r})\n")
        os.chmod(os.path.join(programs, "urlcache-admin"), 0o755)
        shell = make_shell()
        shell.ask("urlcache-admin list --host ")
        shell.close()
        assert_harmless()
    os.remove(os.path.join(programs, "urlcache-admin"))
    os.symlink(tool, os.path.join(programs, "urlcache-admin"))
    print(f"{name}: ok", flush=True)


def assert_harmless():
    found = [name for name in os.listdir(root) if "pwned" in name]
    assert not found, found


try:
    for name in scripts:
        assert shutil.which(name), f"{name} is not there; Tests/run.sh gets it"
    make()
    check_drift()
    check_shell("bash", bash)
    check_shell("zsh", zsh)
    check_shell("fish", Fish)
finally:
    shutil.rmtree(root)
