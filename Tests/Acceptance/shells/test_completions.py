"""Compares the completion scripts with what is generated, and presses the tabulator key in bash, zsh and fish."""

import filecmp
import os
import pty
import shutil
import signal
import subprocess
import time

import pytest

import generate_completions
import origin
import peers
import scratch
from products import REPOSITORY, maker, tool
from scratch import path

SHARE = REPOSITORY / "share"
SCRIPTS = {shell: str(SHARE / place) for shell, place in generate_completions.PLACES.items()}

# What a user types after the name of the program, and the choices: all, or the first.
TYPED = {
    "li": ["list"],
    "help sh": ["show"],
    "config ": ["check", "list", "set", "unset"],
    "config l": ["list"],
    "rules t": ["test"],
    "list sh": ["shop"],
    "usage ca": ["cache"],
    "list shop --host api.": ["api.example"],
    "list --form": ["--format"],
    "list --format ": ["csv", "json", "ncdu", "ndjson", "table", "tsv", "urls"],
    "list --format=j": ["json"],
    "du --by st": ["status", "storage-policy"],
    "trim --order ": ["largest", "least-recently-used", "oldest", "stale-first"],
    "list --age-basis f": ["first-stored"],
    "list -c s": ["shop"],
    "-c s": ["shop"],
    "rules test --cache s": ["shop"],
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


@pytest.fixture
def home():
    """A home with caches, an archive and some files, whose program the tests can replace."""
    root = os.path.realpath(path("home"))
    cache = os.path.join(root, "cache")
    os.mkdir(os.path.join(root, "bin"))
    os.symlink(tool, program(root))
    origin.make_apple(maker, cache, [
        (f"http://{host}/{number}", 200, {}, b"", {}, None) for number, host in enumerate(HOSTS + HOSTILE)])
    listed = scratch.run("list", "-c", cache, "--format", "ndjson", "--columns", "host", text=True)
    assert "$(touch${ifs}pwned)" in listed.stdout, listed
    scratch.run("export", "-c", cache, "-o", os.path.join(root, "archive.tar"))
    # With a wrong name in the configuration only completions work.
    write(root, ".config/urlcache-admin/config.toml",
          f"[caches.shop]\npath = '{cache}'\n[caches.news]\npath = '/news'\n[caches.'$(touch pwned)']\npath = '/x'\n")
    write(root, "other.toml", "[caches.else]\npath = '/else'\n")
    for name in ["r.html", "r.txt", "plan.json", "plan.txt", "u.prom", "u.txt", "a.txt"]:
        write(root, name, "")
    return root


def program(home):
    return os.path.join(home, "bin/urlcache-admin")


def environment(home):
    return {"HOME": home, "PATH": f"{home}/bin:/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8", "TMPDIR": home}


def write(home, name, text):
    file = os.path.join(home, name)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as opened:
        opened.write(text)


def test_generated():
    """The scripts are those that the program and the generator make."""
    folder = path("share")
    generate_completions.main(tool, folder)
    for place in generate_completions.PLACES.values():
        assert filecmp.cmp(os.path.join(folder, place), SHARE / place, shallow=False), (
            f"{place} is out of date: run 'python3 Tests/Scripts/generate_completions.py .build/debug/urlcache-admin share'")


@pytest.mark.parametrize("shell", [pytest.param(name, marks=peers.needed(name)) for name in SCRIPTS])
def test_syntax(shell):
    """Each shell reads its script without a complaint."""
    result = subprocess.run([shell, "-n", SCRIPTS[shell]], capture_output=True, text=True)
    assert result.returncode == 0 and not result.stderr, result


class Terminal:
    """A shell at a terminal, which logs its offers, and its line after that."""

    def __init__(self, home, arguments, setup):
        self.log = os.path.join(home, arguments[0] + ".log")
        open(self.log, "w").close()
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(home)
            os.execvpe(arguments[0], arguments, environment(home))
        os.set_blocking(self.file, False)
        self.screen, self.position = b"", 0
        write(home, "setup", setup.replace("LOG", self.log))
        self.send(f". {home}/setup\n")
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


def bash(home):
    # The function of the script itself logs its offers.
    return Terminal(home, ["bash", "--norc", "--noprofile", "-i"], f"""
        bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set completion-query-items 0'
        bind 'set page-completions off'; . '{SCRIPTS['bash']}'
        told() {{ _urlcache-admin "$@"; local status=$?; ((${{#COMPREPLY[@]}})) && printf '%s\\n' "${{COMPREPLY[@]}}" >>LOG; return $status; }}
        complete -o filenames -F told urlcache-admin
        bind -x '"\\C-xb": printf "LINE:%q\\n" "$READLINE_LINE" >>LOG'
    """)


def zsh(home):
    return Terminal(home, ["zsh", "-f", "-i"], f"""
        unsetopt beep zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; LISTMAX=100000; setopt no_always_last_prompt; fpath=('{os.path.dirname(SCRIPTS['zsh'])}' $fpath)
        autoload -Uz compinit && compinit -u -D
        compadd() {{ if [[ ${{@[1,(i)(-|--)]}} != *-[ADO]* ]]; then local -a hits; builtin compadd -A hits "$@"; (($#hits)) && print -rl -- "${{hits[@]}}" >>LOG; fi; builtin compadd "$@" }}
        tell() {{ print -r -- "LINE:${{(q)BUFFER}}" >>LOG }}; zle -N tell; bindkey '^Xb' tell; bindkey '^I' complete-word
    """)


class Fish:
    """Fish prints its offers without a terminal."""

    def __init__(self, home):
        self.home = home

    def ask(self, line):
        result = subprocess.run(["fish", "--no-config", "-c", f"source {SCRIPTS['fish']}; complete -C $argv[1]", line],
                                capture_output=True, text=True, cwd=self.home, env=environment(self.home), stdin=subprocess.DEVNULL)
        assert result.returncode == 0 and not result.stderr, result
        words = [text.split("\t")[0] for text in result.stdout.splitlines()]
        return sorted(words), None

    def close(self):
        pass


@pytest.fixture(params=[pytest.param(shell, id=name, marks=peers.needed(name)) for name, shell in
                        {"bash": bash, "zsh": zsh, "fish": Fish}.items()])
def make_shell(request):
    return request.param


def offered(typed, words):
    """The offers, as all shells would print them: without the paths that are there too, and the option before '='."""
    option = typed.split(" ")[-1].partition("=")[0] + "="
    words = [word.removeprefix(option).removesuffix("/") for word in words]
    return [word for word in words if word not in {"--version", "--help", "-h", "-c", "--cache", "--config"}]


def assert_harmless(home):
    found = [name for name in os.listdir(home) if "pwned" in name]
    assert not found, found


def test_offers(home, make_shell, thorough):
    """Each shell offers the right words, and only those names of hosts that are harmless."""
    shell = make_shell(home)
    entries = set(os.listdir(home))
    # Fish takes half a second for an answer, so by default it is asked every eighth one.
    for typed, expected in list(TYPED.items())[::8 if make_shell is Fish and not thorough else 1]:
        words = offered(typed, shell.ask("urlcache-admin " + typed)[0])
        assert [word for word in words if word in expected or word not in entries] == expected, (typed, words)
    hosts = shell.ask("urlcache-admin list -c shop --host ")[0]
    assert hosts == HOSTS, hosts
    shell.close()
    assert_harmless(home)


def test_hostile_answers(home, make_shell, thorough):
    """Even a program that answers with anything cannot make a shell run something."""
    answers = [word for word in HOSTILE if word != "a\nb"]
    end = " " if make_shell is zsh else ""
    for word in answers if thorough else answers[::3]:
        os.remove(program(home))
        write(home, "bin/urlcache-admin", f"#!/usr/bin/python3\nprint({word!r})\nprint({end!r})\n")
        os.chmod(program(home), 0o755)
        shell = make_shell(home)
        shell.ask("urlcache-admin list --host ")
        shell.close()
        assert_harmless(home)
