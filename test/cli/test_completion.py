"""The completions, each in its shell: they offer what --help tells, whatever that is."""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import told
from harness import DEADLINE, REDLOCK, ROOT, Case, Terminal, environment, until
from server import Server

COMPLETIONS = ROOT / "completions"

# Stands in for redlock: prints the real help. Its `list` shows two names and notes the call.
# With SLOW it answers never.
STAND_IN = """#!/bin/sh
case $1,$2 in
    list,--json)
        echo asked >>'{asked}'
        [ -z "$SLOW" ] || exec sleep 600
        echo '{{"ok":true,"holders":[{{"holder":"h:1","holds":[{{"name":"deploy","on":3}}],"waits":[]}},'
        echo '{{"holder":"h:2","holds":[],"waits":[{{"name":"dump","on":3}},{{"name":"deploy","on":3}}]}}]}}'
        exit ;;
esac
exec '{redlock}' "$@"
"""

BASH = """
source '{completions}/redlock.bash'
COMP_LINE=$1 COMP_POINT=${{#1}} COMP_WORDS=("${{@:2}}") COMP_CWORD=$(($# - 2))
HOSTFILE={hosts}
_redlock redlock
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

FISH = """
source '{completions}/redlock.fish'
function __fish_print_hostnames; echo a-host; end
complete -C $argv[1]
"""

# A widget completes the text of the file `question`, and writes the added text to the file `answer`.
ZSH = """
fpath=('{completions}' $fpath)
autoload -Uz compinit && compinit -D -u
zstyle ':completion:*' hosts a-host
compadd() {{
    local -a found
    if [[ " $*" != *' -'[OAD]' '* ]]; then
        builtin compadd -A found "$@"
        offered+=("${{found[@]}}")
    fi
    builtin compadd "$@"
}}
answer() {{
    offered=()
    BUFFER=$(<'{folder}/question') CURSOR=$#BUFFER
    zle list-choices
    print -rl -- $offered >'{folder}/answer.new'
    mv '{folder}/answer.new' '{folder}/answer'
    BUFFER=
}}
zle -N answer
bindkey '^X^A' answer
LINES=500 LISTMAX=9999 # else it asks whether to show that many
PS1='rea''dy> '
"""


class Shell:
    """Asks one shell; its answers are sets of words."""

    def __init__(self, folder, env):
        self.folder, self.env = folder, env
        self.words = {"completions": COMPLETIONS, "folder": folder, "hosts": folder / "hosts"}
        (folder / "hosts").write_text("127.0.0.1 a-host\n")

    def run(self, *arguments):
        out = subprocess.run(arguments, env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, check=True, timeout=DEADLINE).stdout
        return {line.partition("\t")[0] for line in out.splitlines() if line}

    def close(self):
        pass


class Bash(Shell):
    # As readline cuts a line into words: these are words of their own.
    PIECES = re.compile(r"[=:]+|[^\s=:]+")

    def ask(self, line):
        words = self.PIECES.findall(line)
        words += [""] if line.endswith(" ") else []
        offered = self.run("bash", "--norc", "-c", BASH.format(**self.words), "bash", line, *words)
        # Each takes the place of the last piece.
        whole = {line.removesuffix(words[-1].lstrip("=:")) + reply for reply in offered}
        assert all(end.startswith(line) for end in whole), f"{line} would become {whole}"
        return {end.rpartition(" ")[2] for end in whole}


class Fish(Shell):
    def ask(self, line):
        return self.run("fish", "--no-config", "-c", FISH.format(**self.words), line)


class Zsh(Shell):
    def __init__(self, folder, env):
        super().__init__(folder, env)
        (folder / "setup").write_text(ZSH.format(**self.words))
        self.terminal = Terminal(["zsh", "-f", "-i"], {**env, "PS1": "start> ", "TERM": "dumb"})
        self.terminal.expect(b"start> ")
        self.terminal.send(f"cd '{folder}' && source ./setup\n".encode())
        self.terminal.expect(b"ready> ")

    def ask(self, line):
        answer = self.folder / "answer"
        (self.folder / "question").write_text(line)
        self.terminal.send(b"\x18\x01")
        # has_ended() reads the output of zsh, which would else fill the terminal.
        until(lambda: not self.terminal.has_ended() and answer.exists(), f"zsh has completed {line}")
        words = set(answer.read_text().split("\n")) - {""}
        answer.unlink()
        return words

    def close(self):
        self.terminal.close()


class Completion:
    """The tests that each shell must pass."""

    completes_programs = True

    def setUp(self):
        super().setUp()
        self.asked = self.tmp / "asked"
        self.stand_in = self.tmp / "bin" / "redlock"
        self.stand_in.parent.mkdir()
        self.stand_in.write_text(STAND_IN.format(redlock=REDLOCK, asked=self.asked))
        self.stand_in.chmod(0o755)

    def asking(self, **variables):
        """A function that asks a shell with these variables in its environment."""
        folder = Path(tempfile.mkdtemp(dir=self.tmp))
        (folder / "masters.txt").touch()
        env = environment(PATH=f"{self.stand_in.parent}:{os.environ['PATH']}", HOME=str(folder),
                          LC_ALL="C.UTF-8", **variables)
        shell = self.shell(folder, env)
        self.addCleanup(shell.close)
        return shell.ask

    def test_commands(self):
        ask = self.asking()
        self.assertEqual(ask("redlock ru"), {"run"})
        self.assertEqual(ask("redlock "), set(told.commands()))
        self.assertEqual(ask("redlock --zzz"), set())
        self.assertEqual(ask("redlock --spare 1 -q st"), {"status"})
        self.assertEqual(ask("redlock frobnicate -"), told.options())

    def test_options(self):
        ask = self.asking()
        self.assertGreater(len(told.options()), 10)
        self.assertEqual(ask("redlock -"), told.options())
        self.assertEqual(ask("redlock list --pre"), {"--prefix"})  # all commands have it, too
        for command in told.commands():
            with self.subTest(command=command):
                self.assertEqual(ask(f"redlock {command} -"), told.options() | told.options(command))

    def test_actions(self):
        ask = self.asking()
        self.assertEqual(ask("redlock latch "), {"create", "arrive", "wait", "count"})
        self.assertEqual(ask("redlock latch --life 1h a"), {"arrive"})
        self.assertEqual(ask("redlock latch wait "), set())
        self.assertEqual(ask("redlock masters "), {"change"})

    def test_values(self):
        ask = self.asking()
        self.assertEqual(ask("redlock run --nodes-file mast"), {"masters.txt"})
        self.assertEqual(ask("redlock --nodes-file mast"), {"masters.txt"})
        behind = {word.rpartition("=")[2] for word in ask("redlock run --nodes-file=mast")}
        self.assertEqual(behind, {"masters.txt"})
        self.assertEqual(ask("redlock run --ttl "), set())

    def test_masters(self):
        ask = self.asking(REDLOCK_NODES="redis://one:7001, redis://:Secret@two,redis://one:7002")
        end = {shown.rpartition("//")[2] for shown in ask("redlock nodes --nodes redis://o")}
        self.assertEqual(end, {"one:7001", "one:7002"})
        end = {shown.rpartition("//")[2]
               for shown in ask("redlock nodes --nodes redis://one,redis://one:7002,redis://a")}
        self.assertEqual(end, {"a-host"})
        self.assertNotIn("Secret", "".join(ask("redlock nodes --nodes redis://")))

    def test_program(self):
        ask = self.asking()
        self.assertIn("redlock", ask("redlock run a -- redloc"))
        self.assertIn("masters.txt", ask("redlock elect a -- cat mast"))
        if self.completes_programs:
            self.assertIn("status", ask("redlock run --ttl 1s a -- redlock sta"))

    def test_names(self):
        ask = self.asking(REDLOCK_NODES="redis://h")
        self.assertEqual(ask("redlock status d"), {"deploy", "dump"})
        self.assertEqual(ask("redlock run --ttl 1s de"), {"deploy"})
        self.assertEqual(ask("redlock latch count du"), {"dump"})
        self.assertEqual(ask("redlock extend "), {"deploy", "dump"})  # its usage begins with an option
        self.assertEqual(ask("redlock nodes d"), set())
        self.assertEqual(ask("redlock masters change d"), set())

    def test_names_that_a_master_tells(self):
        master = Server()
        self.addCleanup(master.stop)
        master.cli("SET", "rollout", "c4mJ-2Z0CVMxVxWXSOqGGA:web1:4711", "PX", 600000)
        self.stand_in.unlink()
        self.stand_in.symlink_to(REDLOCK)
        ask = self.asking(REDLOCK_NODES=master.uri())
        until(lambda: ask("redlock break ") == {"rollout"}, "list has answered within its second")

    def test_masters_are_not_asked(self):
        ask = self.asking()
        self.assertEqual(ask("redlock status d"), set())
        ask = self.asking(REDLOCK_NODES="redis://h")
        self.assertEqual(ask("redlock status --prefix p d"), set())
        self.assertEqual(ask("redlock sta"), {"status"})
        self.assertFalse(self.asked.exists())

    def test_masters_that_do_not_answer(self):
        ask = self.asking(REDLOCK_NODES_FILE="/dev/null", SLOW="yes")
        start = time.monotonic()
        self.assertEqual(ask("redlock status d"), set())
        self.assertLess(time.monotonic() - start, DEADLINE)
        self.assertTrue(self.asked.exists())

    def test_no_redlock(self):
        self.stand_in.unlink()
        ask = self.asking()
        self.assertEqual(ask("redlock "), set())


class Texts(Completion):
    """Those of shells that show a text beside each option."""

    def test_each_option_has_a_text(self):
        self.asking()
        self.assertIn("exit with N", self.texts("run")["--unavailable-exit-code"])
        for command in ((), *((command,) for command in told.commands())):
            with self.subTest(command=command):
                texts = self.texts(*command)
                self.assertEqual(set(texts), told.options(*command))
                self.assertEqual([option for option, text in texts.items() if len(text.split()) < 2], [])


class InBash(Completion, Case):
    shell = Bash
    completes_programs = False  # but with the package bash-completion


class InZsh(Texts, Case):
    shell = Zsh

    def texts(self, *command):
        """As its functions read them."""
        functions = (COMPLETIONS / "_redlock").read_text().rpartition("\n_redlock ")[0]
        (self.tmp / "functions").write_text(functions)
        script = ('setopt extendedglob; redlock=$1 specs=(); source $2; '
                  '_redlock_read_options "$(_redlock_help "${@:3}")"; print -rl -- $specs')
        specs = subprocess.run(["zsh", "-f", "-c", script, "zsh", str(self.stand_in), self.tmp / "functions",
                                *command], env=environment(), text=True, check=True, stdout=subprocess.PIPE,
                               timeout=DEADLINE).stdout
        return dict(re.findall(r"^(?:\(.*?\)|\*)?(--?[a-zA-Z-]+?)[=-]*\[(.*?)(?<!\\)\]", specs, re.M))


class InFish(Texts, Case):
    shell = Fish

    def texts(self, *command):
        script = f"source {COMPLETIONS}/redlock.fish; __redlock_options (__redlock_help $argv); true"
        lines = subprocess.run(["fish", "--no-config", "-c", script, str(self.stand_in), *command],
                               env=environment(), text=True, check=True, stdout=subprocess.PIPE,
                               timeout=DEADLINE).stdout.splitlines()
        return dict(line.split("\t") for line in lines)


class Shells(unittest.TestCase):
    def test_all_are_there(self):
        missing = [shell for shell in ("bash", "zsh", "fish") if not shutil.which(shell)]
        self.assertEqual(missing, [], "run cluster-scripts/install test")
