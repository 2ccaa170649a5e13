"""Reports to a service manager (sd_notify): a fake one listens at $NOTIFY_SOCKET."""

import os
import signal
import socket
import struct
import subprocess

from harness import DEADLINE, Case, Cluster, ClusterCase, until

HOLDS = "echo > $D/held; exec sleep 60"


class Manager:
    """Receives datagrams, each with the pid of its sender."""

    def __init__(self, case, address):
        self.shown = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        case.addCleanup(self.socket.close)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind("\0" + address[1:] if address[0] == "@" else address)
        self.socket.settimeout(DEADLINE)
        self.heard = []
        self.senders = set()

    def hear(self):
        """One message, as a dictionary."""
        data, ancillary, _, _ = self.socket.recvmsg(65536, socket.CMSG_SPACE(12))
        self.senders.update(struct.unpack("iii", it[2])[0] for it in ancillary)
        assert len(data) < 4096, "systemd refuses it"
        self.heard.append(dict(line.split("=", 1) for line in data.decode().splitlines()))
        return self.heard[-1]

    def hear_until(self, condition):
        while not condition(self.hear()):
            pass
        return self.heard[-1]

    def hear_all(self):
        """All messages that are left after the sender's end."""
        self.socket.setblocking(False)
        try:
            while True:
                self.hear()
        except BlockingIOError:
            return self.heard

    def states(self):
        """Each state once, in the order of the first reports."""
        return list(dict.fromkeys(key for message in self.heard for key in message if key != "STATUS"))


class NotifyCase(Case):
    def setUp(self):
        super().setUp()
        self.manager = Manager(self, str(self.tmp / "notify"))

    def start(self, *arguments, script=HOLDS, address=None, **more):
        env = self.env(NOTIFY_SOCKET=address or self.manager.shown, D=str(self.tmp))
        return self.spawn(*arguments, self.name, "--", "sh", "-c", script, env=env, **more)

    def status(self, text):
        return self.manager.hear_until(lambda it: text in it.get("STATUS", ""))


class Notify(NotifyCase, ClusterCase):
    masters = 3

    def test_run(self):
        process = self.start("run")
        self.assertEqual(self.manager.hear(), {"STATUS": f"asking for '{self.name}'"})
        self.assertEqual(self.manager.hear(), {"READY": "1", "STATUS": f"holding '{self.name}'"})
        self.started(self.tmp / "held")
        self.terminate(process)
        self.manager.hear_all()
        stopping = next(it for it in self.manager.heard if "STOPPING" in it)
        self.assertEqual(stopping["STATUS"], "a signal came: ending the command")
        self.assertEqual(self.manager.states(), ["READY", "STOPPING"])
        self.assertEqual(self.manager.senders, {process.pid})

    def test_in_the_abstract_namespace(self):
        self.manager = Manager(self, f"@redlock-test-{os.getpid()}")
        self.finish(self.start("run", script="exit 3"), 3)
        self.manager.hear_all()
        self.assertEqual(self.manager.states(), ["READY", "STOPPING"])
        self.assertEqual(self.manager.heard[-1]["STATUS"], "the command has ended")

    def test_the_command_does_not_speak_for_us(self):
        result = self.finish(self.start("run", script="echo ${NOTIFY_SOCKET-unset}"), 0)
        self.assertEqual(result.out, "unset\n")

    def test_run_is_ready_when_it_holds_the_lock(self):
        token = self.lock("--label", "first", self.name)
        process = self.start("run", "--wait", "forever")
        self.assertEqual(self.status("waiting for")["STATUS"],
                         f"waiting for '{self.name}': held by first, we are next")
        self.assertEqual(self.manager.states(), [])
        self.redlock("unlock", "--token", token, self.name, status=0)
        self.assertEqual(self.status("holding")["READY"], "1")
        self.terminate(process, None)

    def test_a_standby_is_ready_when_it_stands(self):
        leader = self.spawn("elect", "--label", "first", self.name, "--", "sleep", "60")
        until(lambda: self.redlock("leader", self.name).status == 0, "somebody leads")
        process = self.start("elect")
        told = self.status("waiting for")
        self.assertEqual(told, {"READY": "1",
                                "STATUS": f"waiting for '{self.name}': held by first, we are next"})
        leader.send_signal(signal.SIGTERM)
        term = int(self.status("leading")["STATUS"].rsplit(" ", 1)[1])
        self.assertIn(f"{term} ", self.redlock("leader", self.name, status=0).out)
        self.terminate(process, None)
        self.manager.hear_all()
        self.assertEqual(self.manager.states(), ["READY", "STOPPING"])

    def test_who_stands_again_does_not_stop(self):
        process = self.start("elect", "--again", "--ttl", "2s")
        for _ in range(2):
            self.status("leading")
            process.send_signal(signal.SIGSTOP)
            until(lambda: self.is_free(self.name), "the term is over")
            process.send_signal(signal.SIGCONT)
            self.assertEqual(self.status("asking")["READY"], "1")
        self.status("leading")
        self.assertEqual(self.manager.states(), ["READY"])
        self.terminate(process, None)

    def test_who_is_refused_stops(self):
        self.lock(self.name)
        self.finish(self.start("run"), 75)
        self.manager.hear_all()
        self.assertEqual(self.manager.states(), ["STOPPING"])

    def test_a_holder_that_looks_like_a_message(self):
        self.cluster.each_cli("SET", self.name, "x\nREADY=1\ny", "PX", "20000")
        self.finish(self.start("run", "--wait", "800ms"), 75)
        heard = self.manager.hear_all()
        self.assertEqual(self.manager.states(), ["STOPPING"])
        self.assertTrue(any("held by " in it["STATUS"] for it in heard), heard)

    def test_held_for_too_long(self):
        self.finish(self.start("run", "--max-hold", "500ms", "--permits", "1"), 76)
        statuses = [it["STATUS"] for it in self.manager.hear_all()]
        self.assertIn(f"holding '{self.name}', slot 0", statuses)
        self.assertIn("held for the longest time allowed: ending the command", statuses)

    def test_long_names(self):
        process = self.start("run", *(f"{i:02}" + "\x1b" * 98 for i in range(2)),
                             "02" + "\x1b" * 40 + "\u00e9" * 29)
        told = self.status("holding")
        self.assertEqual(told["READY"], "1")
        self.assertIn(len(told["STATUS"].encode()), (999, 1000))
        self.terminate(process, None)
        self.manager = Manager(self, str(self.tmp / "other"))
        self.finish(self.start("run", "a\rREADY=0\rb\x1b", script="true"), 0)
        self.assertTrue(any("holding 'a\\x0dREADY=0\\x0db\\x1b'" in it["STATUS"]
                            for it in self.manager.hear_all()))
        self.assertEqual(self.manager.states(), ["READY", "STOPPING"])


class Absent(NotifyCase, ClusterCase):
    """There is no manager, or it does not listen: the lock and the command do not suffer."""

    masters = 3

    def warned_once(self, address, says, *options):
        result = self.finish(self.start("run", *options, script="exit 3", address=address), 3)
        lines = [line for line in result.err.splitlines() if "NOTIFY_SOCKET" in line]
        self.assertEqual(
            lines, [f"redlock: NOTIFY_SOCKET={address}: {says}; the service manager gets no messages"])

    def test_it_is_not_there(self):
        self.warned_once(str(self.tmp / "none"), "No such file or directory")
        self.manager.socket.close()
        self.warned_once(self.manager.shown, "Connection refused")
        self.warned_once("@redlock-test-nobody", "Connection refused")

    def test_no_address(self):
        for address in ("relative", "@", "/", "vsock:2:1234", "/" + "x" * 107, "@" + "x" * 107):
            with self.subTest(address=address):
                self.warned_once(address, "is neither the path of a socket nor an @ with a name")

    def test_the_longest_address(self):
        self.warned_once("/" + "x" * 106, "No such file or directory")

    def test_quiet_and_json(self):
        none = str(self.tmp / "none")
        self.assertEqual(self.finish(self.start("run", "-q", script="exit 3", address=none), 3).err, "")
        logs = self.finish(self.start("run", "--json", script="exit 3", address=none), 3).events("log")
        self.assertEqual([it["level"] for it in logs], ["warning"])

    def test_empty_is_none(self):
        self.assertEqual(self.redlock("run", self.name, "--", "true", status=0,
                                      env=self.env(NOTIFY_SOCKET="")).err, "")

    def test_it_goes_away(self):
        process = self.start("run", script="echo > $D/held; read x; exit 3", stdin=subprocess.PIPE)
        self.status("holding")
        self.manager.socket.close()
        result = self.let_end(process, 3)
        self.assertEqual(result.err.count("NOTIFY_SOCKET"), 1)

    def test_it_comes_again(self):
        """The manager starts anew: the next message reaches it."""
        process = self.start("run")
        self.status("holding")
        self.manager.socket.close()
        os.unlink(self.manager.shown)
        self.manager = Manager(self, self.manager.shown)
        self.terminate(process, None)
        self.manager.hear_all()
        # READY comes with each status, as when a master was late at a renewal.
        self.assertEqual([state for state in self.manager.states() if state != "READY"], ["STOPPING"])

    def test_one_that_does_not_listen(self):
        """Its queue is full: the command does not wait, and reports later."""
        filler = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.addCleanup(filler.close)
        with self.assertRaises(BlockingIOError):
            while True:
                filler.sendto(b"FILL=1", self.manager.shown)
        process = self.start("run", script="trap 'echo > $D/heard' USR1; echo > $D/held; while :; do sleep "
                                           "0.02; done")
        self.started(self.tmp / "held")
        # It is passed on only when all is done that follows the start.
        process.send_signal(signal.SIGUSR1)
        self.started(self.tmp / "heard")
        self.assertEqual(self.status("holding")["READY"], "1")
        self.terminate(process)


class Masters(NotifyCase):
    patience = ()

    def test_at_risk(self):
        self.cluster = Cluster(3)
        self.addCleanup(self.cluster.stop)
        process = self.start("run", "--ttl", "4s")
        holding = self.status("holding")
        self.cluster.pause(3)
        told = self.status("at risk")
        self.assertEqual(told["READY"], "1")
        self.assertRegex(told["STATUS"], f"^holding '{self.name}'; at risk, on [23] of 3 masters$")
        self.cluster.resume(3)
        self.manager.hear_until(lambda it: it == holding)
        self.terminate(process, None)
        self.assertEqual(self.manager.states(), ["READY"])

    def test_no_quorum(self):
        """A command that reaches too few masters is no standby yet."""
        self.cluster = Cluster(3)
        self.addCleanup(self.cluster.stop)
        self.cluster.pause(1, 2)
        process = self.start("elect")
        self.status("waiting for")
        self.assertEqual(self.manager.states(), [])
        self.cluster.resume(1, 2)
        self.assertEqual(self.status("leading")["READY"], "1")
        self.terminate(process, None)
