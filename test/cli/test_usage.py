"""The command line, and commands that need no master that answers."""
# rule: K2

import json
import os
import socket
import subprocess

from harness import REDLOCK, Case


def closed_ports(count):
    """Ports that refuse connections: bound and not listening, until the test ends."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    return sockets, [s.getsockname()[1] for s in sockets]


class Usage(Case):
    patience = ()

    def misused(self, *arguments, says, **more):
        result = self.redlock(*arguments, status=64, **more)
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn(says, result.err)
        self.assertIn("--help`", result.err)

    def test_wrong_command_lines(self):
        self.misused(says="no command given")
        self.misused("frobnicate", says="unknown command frobnicate")
        self.misused("--frobnicate", says="unknown option --frobnicate")
        self.misused("-x", says="unknown option -x")
        self.misused("lock", "--frobnicate", "a", says="unknown option --frobnicate")
        self.misused("lock", "-qx", "a", says="unknown option -x")
        self.misused("lock", "--json=1", "a", says="--json takes no value")
        self.misused("lock", "--ttl", says="--ttl needs a value")
        self.misused("--ttl", "1s", "lock", "a", says="--ttl goes after the command")
        self.misused("lock", "--adopt", "a", says="takes no --adopt")
        self.misused("unlock", "--fence", "a", says="takes no --fence")
        self.misused("help", "frobnicate", says="unknown command frobnicate")

    def test_missing_arguments(self):
        self.misused("lock", says="no name given")
        self.misused("status", says="no name given")
        self.misused("run", "a", says="no command given")
        self.misused("run", "a", "--", says="no command given")
        self.misused("run", "--", "true", says="no name given")
        self.misused("elect", "a", says="no command given")
        self.misused("elect", "a", "b", "--", "true", says="`redlock elect` takes one name, not 2")
        self.misused("elect", "--shared", "a", "--", "true", says="takes no --shared")
        self.misused("elect", "--value", "v" * 65537, "a", "--", "true", says="at most 65536")
        self.misused("leader", says="no name given")
        self.misused("leader", "a", "b", says="`redlock leader` takes one name, not 2")
        self.misused("leader", "--value", "v", "a", says="takes no --value")
        self.misused("run", "--again", "a", "--", "true", says="takes no --again")
        self.misused("extend", "a", says="--token is missing")
        self.misused("unlock", "a", says="--token is missing")
        self.misused("nodes", "a", says="takes no names")
        for command in ("extend", "unlock"):
            for token in ("", "a b c", "a b", "a 1 2", "a ", "a\nb", " a", "a\x7f"):
                with self.subTest(command=command, token=token):
                    self.misused(command, "--token", token, "a", says="is no token: give what")

    def test_no_masters(self):
        for command in (["lock", "a"], ["nodes"], ["run", "a", "--", "true"]):
            self.misused(*command, says="set REDLOCK_NODES or use --nodes")
        self.misused("nodes", says="set REDLOCK_NODES", env=self.env(REDLOCK_NODES=""))

    def test_durations(self):
        for text, says in (("10", "write 10ms, 10s, 10m or 10h"), ("", "is no duration"),
                           ("s", "is no duration"), ("1x", "is no duration"),
                           ("-1s", "is no duration"), ("1 s", "is no duration"),
                           ("1.s.", "is no duration"), ("0.1ms", "less than a millisecond"),
                           ("forever", "cannot be forever"), ("0", "more than 0"),
                           ("99999999999999999999h", "is no duration"),
                           ("999999999999h", "too long")):
            with self.subTest(text=text):
                self.misused("lock", "--ttl", text, "a", says=says)
        self.misused("lock", "a", "--nodes", "redis://h", says="REDLOCK_MAX_TTL",
                     env=self.env(REDLOCK_MAX_TTL="12"))

    def test_spare(self):
        for text in ("x", "-1", "1.5", "15", "", "1 "):
            with self.subTest(text=text):
                self.misused("lock", "--spare", text, "a", says="is not a number of masters")
        self.misused("lock", "a", "--nodes", "redis://h", says="REDLOCK_SPARE",
                     env=self.env(REDLOCK_SPARE="many"))
        told = self.redlock("lock", "--nodes", "redis://127.0.0.1:1", "--spare", "1", "a",
                            status=64).err
        self.assertIn("spare 1 needs at least 4 masters, and 1 is listed", told)

    def test_exit_codes(self):
        for command in (["lock", "a"], ["run", "a", "--", "true"], ["elect", "a", "--", "true"]):
            for option in ("-E", "--conflict-exit-code", "--unavailable-exit-code"):
                for number in ("0", "-1", "256", "x", "", "7x", "1.5", "99999999999999999999"):
                    with self.subTest(command=command, option=option, number=number):
                        long = option.replace("-E", "--conflict-exit-code")
                        self.misused(command[0], option, number, *command[1:],
                                     says=f"{long}: '{number}' is not a number from 1 to 255")
        self.misused("lock", "-E", says="-E needs a value")
        self.misused("-E", "3", "lock", "a", says="--conflict-exit-code goes after the command")
        self.misused("status", "-E3", "a", says="takes no --conflict-exit-code")
        self.misused("extend", "--unavailable-exit-code", "3", "a", says="takes no --unavailable-exit-code")

    def test_help(self):
        for command in ("run", "lock", "extend", "unlock", "status", "nodes", "elect", "leader"):
            with self.subTest(command=command):
                told = self.redlock(command, "--help", status=0)
                self.assertTrue(told.out.startswith(f"usage: redlock {command}"))
                self.assertIn("Exit status:", told.out)
                self.assertIn("Example:", told.out)
                self.assertEqual(told.err, "")
                self.assertEqual(self.redlock("help", command, status=0).out, told.out)
        everything = self.redlock("--help", status=0).out
        self.assertIn("Example:", everything)
        self.assertEqual(self.redlock("-h", status=0).out, everything)
        self.assertEqual(self.redlock("help", status=0).out, everything)

    def test_version(self):
        self.assertRegex(self.redlock("--version", status=0).out, r"^redlock \d+\.\d+\.\d+\n$")

    def test_output_that_fails(self):
        with open("/dev/full", "w") as full:
            result = self.redlock("--help", status=74, stdout=full)
        self.assertIn("cannot write to stdout", result.err)
        closed = subprocess.run(f"exec '{REDLOCK}' --version >&-", shell=True, env=self.env(),
                                stderr=subprocess.PIPE, timeout=30)
        self.assertEqual(closed.returncode, 74)
        reader, writer = os.pipe()
        os.close(reader)
        self.assertEqual(self.redlock("--help", status=74, stdout=writer).err, "")
        os.close(writer)

    def test_bad_list_of_masters(self):
        for nodes in ("http://h", "redis://h:x", "redis://h:99999", "redis://a,redis://a"):
            with self.subTest(nodes=nodes):
                result = self.redlock("lock", "a", "--nodes", nodes, status=78)
                self.assertEqual(result.err.count("\n"), 1)
        result = self.redlock("lock", "a", "--nodes", "redis://:Secret@h:x", status=78)
        self.assertNotIn("Secret", result.err)
        told = self.redlock("lock", "a", "--json", "--nodes", "redis://h:x", status=78).json
        self.assertFalse(told["ok"])
        self.assertEqual(told["code"], "REDLOCK_E_NODES")


class Unreachable(Case):
    patience = ()

    def setUp(self):
        super().setUp()
        sockets, self.ports = closed_ports(3)
        for s in sockets:
            self.addCleanup(s.close)
        self.nodes = ",".join(f"redis://127.0.0.1:{port}" for port in self.ports)

    def env(self, **more):
        return super().env(REDLOCK_NODES=self.nodes, **more)

    def test_why_is_told_per_master(self):
        for command in (["lock", "a"], ["run", "a", "--", "true"],
                        ["extend", "--token", "t", "a"], ["unlock", "--token", "t", "a"]):
            with self.subTest(command=command):
                result = self.redlock(*command, status=69)
                for port in self.ports:
                    self.assertRegex(result.err, f"127.0.0.1:{port}: .*refused")
                self.assertEqual(result.out, "")

    def test_the_exit_status_as_asked(self):
        for number in (1, 69, 255):
            for command in (["lock", "a"], ["run", "a", "--", "true"],
                            ["elect", "--wait", "0", "a", "--", "true"]):
                self.redlock(command[0], "-E", "7", "--unavailable-exit-code", str(number), *command[1:],
                             status=number)
        told = self.redlock("lock", "--json", "--unavailable-exit-code", "3", "a", status=3).json
        self.assertEqual(told["code"], "REDLOCK_E_UNAVAILABLE")
        self.redlock("lock", "-E", "7", "redlock:x", status=64)

    def test_as_json(self):
        told = self.redlock("lock", "--json", "a", status=69).json
        self.assertEqual(told["code"], "REDLOCK_E_UNAVAILABLE")
        self.assertEqual([vote["vote"] for vote in told["votes"]], ["unreachable"] * 3)
        told = self.redlock("run", "--json", "a", "--", "true", status=69)
        self.assertEqual(told.out, "")
        self.assertEqual(json.loads(told.err)["event"], "not_acquired")

    def test_quiet(self):
        """It silences what is normal, and no error."""
        self.assertIn("cannot lock 'a'", self.redlock("lock", "-q", "a", status=69).err)
        self.assertIn("cannot lock 'a'", self.redlock("-q", "run", "a", "--", "true", status=69).err)

    def test_status_and_nodes(self):
        self.assertIn("unknown", self.redlock("status", "a", status=69).out)
        told = self.redlock("nodes", status=69).out
        self.assertIn("0 of 3 masters vote, 2 must", told)
        self.assertRegex(told, f"127.0.0.1:{self.ports[0]}  down .*refused")
        told = self.redlock("nodes", "--json", status=69).json
        self.assertEqual(told["up"], 0)

    def test_refused_names(self):
        for names, says in (([""], ""), (["redlock:x"], "redlock:"), (["a", "a"], ""),
                            (["x" * 70000], "")):
            with self.subTest(names=[name[:10] for name in names]):
                result = self.redlock("lock", *names, status=64)
                self.assertIn(says, result.err)
                self.assertEqual(result.err.count("\n"), 1)
                self.redlock("run", *names, "--", "true", status=64)
                self.redlock("status", *names, status=69 if len(names) > 1 else 64)
        told = self.redlock("lock", "--json", "redlock:x", status=64).json
        self.assertEqual(told["code"], "REDLOCK_E_NAME")

    def test_refused_terms(self):
        for command in (["lock", "a"], ["run", "a", "--", "true"], ["extend", "--token", "t", "a"]):
            told = self.redlock(*command[:1], "--ttl", "10m", *command[1:], status=64).err
            self.assertRegex(told, r"--ttl 10 min( 0 s)? is above --max-ttl 30(\.0)? s: ")
            self.assertNotIn("max_ttl_ms", told)
        self.redlock("lock", "--ttl", "31s", "--max-ttl", "40s", "a", status=69)
        self.redlock("lock", "--ttl", "31s", "a", status=69, env=self.env(REDLOCK_MAX_TTL="40s"))
        told = self.redlock("lock", "--max-ttl", "25h", "a", status=64).err
        self.assertIn("--max-ttl and REDLOCK_MAX_TTL are at most 24h", told)
        # The default ttl follows a smaller limit.
        self.redlock("lock", "a", status=69, env=self.env(REDLOCK_MAX_TTL="2s"))
        self.redlock("run", "--ttl", "2s", "--margin", "2s", "a", "--", "true", status=64)
        self.redlock("lock", "--label", "not printable\n", "a", status=64)
