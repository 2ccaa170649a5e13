"""Each exit status that a help names, brought about on real masters; and the table of them in redlock(1).

A status that nobody tries fails test_table: give a function below to it. All were brought about so far. Other
ways to the same status are tests of the command.
"""

import functools
import re
import signal
import socket
import subprocess

import told
from harness import DEADLINE, REDLOCK, ROOT, Cluster, Result, until
from test_masters import Masters

COMMANDS = tuple(told.commands())
GENERAL = {"70", "74"}  # of all commands, so the help of each does not name them
NOBODY = "redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3"
TOKEN = "A" * 22 + ":nobody"
ONCE = ["--key", "key", "--life", "1h"]
LINES = {"run": ["name", "--", "true"], "once": [*ONCE, "name", "--", "true"],
         "lock": ["name"], "extend": ["--token", TOKEN, "name"],
         "unlock": ["--token", TOKEN, "name"], "status": ["name"], "list": [], "ask": ["name"],
         "break": ["--yes", "--holder", TOKEN, "name"], "nodes": [], "masters": [],
         "elect": ["--wait", "0", "name", "--", "true"], "leader": ["name"],
         "barrier": ["--parties", "1", "--wait", "5s", "name"],
         "latch": ["create", "--arrivals", "1", "--wait", "5s", "name"], "config": []}
TRIED = set()


def without(*commands):
    return [command for command in COMMANDS if command not in commands]


def tries(status, *commands):
    """The function brings the status about for one command, and gives the result."""
    def make(function):
        pairs = {(command, status) for command in commands}
        assert not pairs & TRIED, f"twice: {pairs & TRIED}"
        TRIED.update(pairs)

        @functools.wraps(function)
        def test(self):
            for self.name, command in ((f"{self.prefix}{command}", command) for command in commands):
                with self.subTest(command=command):
                    result = function(self, command)
                    wanted = 128 + signal.SIGTERM if status == "128+N" else int(status)
                    self.assertEqual(result.status, wanted, result.out + result.err)
        return test
    return make


def table():
    """Pairs of command and status: the marks below the statuses in the first line."""
    page = (ROOT / "doc" / "man" / "redlock.1.scd").read_text()
    head, *rows = re.search(r"^```\n( +0 .*?)^```", page, re.M | re.S)[1].splitlines()
    columns = {found.start(): found[0] for found in re.finditer(r"\S+", head)}
    return {(row.split()[0], columns[mark.start()])
            for row in rows for mark in re.finditer(r"(?<= )x", row)}


class Statuses(Masters):
    def do(self, command, *line, env=None, **more):
        """The command with its usual line, or with this one."""
        return self.redlock(command, *(line or LINES[command]), env=env or self.of(1, 2, 3), **more)

    def hold(self, name="name"):
        return self.do("lock", "--ttl", "30s", name, status=0).out.strip()

    def test_table(self):
        wanted = {(command, status) for command in COMMANDS for status in told.statuses(command) | GENERAL}
        self.assertEqual(wanted - TRIED, set(), "nobody tries these")
        self.assertEqual(TRIED - wanted, set(), "no help names these")
        self.assertEqual(table() ^ wanted, set(), "the table of doc/man/redlock.1.scd differs")

    @tries("0", *without("run", "elect", "extend", "unlock", "break", "leader", "ask"))
    def test_done(self, command):
        return self.do(command)

    @tries("0", "extend", "unlock", "break")
    def test_done_by_token(self, command):
        option = "--holder" if command == "break" else "--token"
        more = ["--yes"] if command == "break" else []
        return self.do(command, *more, option, self.hold(command), command)

    @tries("0", "leader")
    def test_somebody_leads(self, command):
        self.spawn("elect", "name", "--", "cat", env=self.of(1, 2, 3), stdin=subprocess.PIPE)
        found = []
        until(lambda: found.append(self.do(command)) or found[-1].status != 1, "the leader is announced")
        return found[-1]

    def heeds(self):
        """A holder that hears of wishes."""
        holder = self.spawn("run", "--on-wanted", "true", "name", "--", "sh", "-c", "echo; exec cat",
                            env=self.of(1, 2, 3), stdin=subprocess.PIPE)
        holder.stdout.readline()

    @tries("0", "ask")
    def test_holder_hears_it(self, command):
        self.heeds()
        return self.do(command)

    @tries("1", "leader")
    def test_nobody_leads(self, command):
        return self.do(command)

    @tries("1", "nodes")
    def test_some_do_not_vote(self, command):
        env = self.of(1, 2)
        env["REDLOCK_NODES"] += ",redis://127.0.0.1:1"
        return self.do(command, "--all", env=env)

    @tries("1", "masters")
    def test_lists_that_may_meet(self, command):
        self.say([1, 2, 3], masters=[1, 2, 3])
        self.say([1, 2, 3, 4], client="b")
        return self.do(command)

    @tries("1", "break")
    def test_no(self, command):
        terminal = self.terminal(REDLOCK, *self.patience, command, "--holder", self.hold(), "name",
                                 **self.of(1, 2, 3))
        terminal.talk("break it? [y/N] ", b"n\n", "nothing was deleted")
        return Result(terminal.wait(), "", "")

    @tries("64", *COMMANDS)
    def test_usage(self, command):
        return self.do(command, "--no-such-option")

    @tries("69", *without("config"))
    def test_no_masters(self, command):
        return self.do(command, env=self.env(REDLOCK_NODES=NOBODY, REDLOCK_NODES_FILE=""))

    @tries("70", *COMMANDS)
    def test_too_few_descriptors(self, command):
        env = self.of(1, 2, 3)
        env["ASAN_OPTIONS"] = "detect_leaks=0"  # LeakSanitizer needs descriptors itself
        return self.finish(self.program("sh", "-c", 'ulimit -n 4; exec "$@"', "sh", REDLOCK, command,
                                        *LINES[command], env=env))

    @tries("74", *COMMANDS)
    def test_no_room_on_stdout(self, command):
        lines = {"run": ["--help"], "once": ["--help"], "elect": ["--help"], "leader": ["--watch", "name"],
                 "barrier": ["--json", "--parties", "1", "name"]}
        if command in ("extend", "unlock"):
            lines[command] = ["--token", self.hold(command), command]
        elif command == "break":
            lines[command] = ["--yes", "--holder", self.hold(command), command]
        elif command == "list":
            self.hold(command)
        elif command == "ask":
            self.heeds()
        with open("/dev/full", "wb") as full:
            return self.do(command, *lines.get(command, LINES[command]), stdout=full)

    @tries("75", "run", "once", "lock", "elect")
    def test_somebody_has_it(self, command):
        self.do("lock", "--ttl", "30s", "name")
        return self.do(command)

    @tries("75", "status")
    def test_not_free(self, command):
        self.hold()
        return self.do(command, "--check", "name")

    @tries("75", "break")
    def test_another_holder(self, command):
        self.hold()
        return self.do(command)

    @tries("75", "ask")
    def test_holder_does_not_heed(self, command):
        self.hold()
        return self.do(command)

    @tries("75", "barrier")
    def test_not_passed(self, command):
        return self.do(command, "--parties", "2", "--wait", "2s", "name")

    @tries("75", "latch")
    def test_latch_is_there(self, command):
        self.do(command, status=0)
        return self.do(command)

    def runs(self, command, *line, **more):
        return self.do(command, *(ONCE if command == "once" else []), *line, **more)

    @tries("76", "run", "once", "elect")
    def test_lost(self, command):
        return self.runs(command, "--max-hold", "1s", "name", "--", "sleep", "60")

    @tries("76", "extend", "unlock", "ask", "break", "latch")
    def test_gone(self, command):
        return self.do(command, *(["count", "name"] if command == "latch" else LINES[command]))

    @tries("78", *COMMANDS)
    def test_list_that_cannot_be_read(self, command):
        return self.do(command, env=self.env(REDLOCK_NODES="redis://host:port", REDLOCK_NODES_FILE=""))

    @tries("79", "once")
    def test_no_record(self, command):
        """The command takes the quorum away."""
        few = Cluster(3)
        self.addCleanup(few.stop)
        pids = [re.search(r"process_id:(\d+)", few.cli(master, "INFO", "server"))[1] for master in (1, 2)]
        self.patience = ()  # it would last for the masters that are away
        return self.runs(command, "--max-ttl", "5s", "name", "--", "kill", "-9", *pids,
                         env=self.env(REDLOCK_NODES=few.nodes, REDLOCK_NODES_FILE=""))

    @tries("126", "run", "once", "elect")
    def test_program_that_cannot_be_run(self, command):
        return self.runs(command, "name", "--", str(self.tmp))

    @tries("127", "run", "once", "elect")
    def test_no_program(self, command):
        return self.runs(command, "name", "--", str(self.tmp / "none"))

    @tries("128+N", "run", "once", "elect")
    def test_program_that_a_signal_ends(self, command):
        return self.runs(command, "name", "--", "sh", "-c", "kill -TERM $$")

    @tries("128+N", "lock", "status", "list", "ask", "break", "masters", "leader", "barrier",
           "latch")
    def test_signal(self, command):
        """The command waits for a master that says nothing."""
        lines = {"status": ["--watch", "name"], "masters": ["--watch"], "latch": ["wait", "name"]}
        with socket.create_server(("127.0.0.1", 0)) as master:
            master.settimeout(DEADLINE)
            nodes = f"redis://127.0.0.1:{master.getsockname()[1]}"
            process = self.spawn(command, *lines.get(command, LINES[command]),
                                 env=self.env(REDLOCK_NODES=nodes, REDLOCK_NODES_FILE=""))
            connection, _ = master.accept()
            with connection:
                self.assertTrue(connection.recv(1))  # its loop runs
                process.send_signal(signal.SIGTERM)
                return self.finish(process)
