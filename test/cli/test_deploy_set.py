"""deploy/ as a set: a person copies the files as their heads say, and changes nothing but the placeholders.
The masters start by the words of the files. Each job holds its lock as the user that users.acl has for it."""

import os
import re
import shlex
import signal
import socket
import subprocess

from deployed import JOBS, Master, Tree
from harness import DEADLINE, Case, until

OTHERS = 99  # the status that says in all of them that others have the lock
BACKOFF = 10  # seconds until Kubernetes starts the first retry of a job


class Set(Case):
    """Masters by the words of `deploy()`, and jobs that leave a line with their lock and its holder."""

    @classmethod
    def setUpClass(cls):
        cls.tree = Tree(*cls.patience)
        cls.addClassCleanup(cls.tree.remove)
        cls.masters = []
        cls.deploy()
        cls.tree.list_masters(cls.masters)

    @classmethod
    def start(cls, words):
        cls.masters.append(Master(words))
        cls.addClassCleanup(cls.masters[-1].stop)

    def setUp(self):
        super().setUp()
        self.ran = self.tmp / "ran"
        self.job("")
        for job in JOBS:
            self.each("DEL", f"lock:{job}")
        self.each("ACL", "LOG", "RESET")

    def tearDown(self):
        if not self.name.endswith("_is_refused"):
            self.assertEqual(set(self.each("ACL", "LOG")), {""})
        super().tearDown()

    def each(self, *command):
        return [master.cli(*command) for master in self.masters]

    def job(self, then):
        """It shows its lock to `status`, with the settings that redlock handed on to it."""
        for name in JOBS:
            self.tree.program(name, f'"{self.tree.bin}/redlock" status "$REDLOCK_NAME" >>{self.ran}\n{then}')

    def runs(self, name):
        """How often the job ran, with the lock each time."""
        lines = self.ran.read_text().splitlines() if self.ran.exists() else []
        held = [line for line in lines if line.startswith(f"{name}: held by ")]
        self.assertEqual([line for line in lines if re.match(r"\S+: ", line)], held)
        return len(held)

    def run_words(self, words, env):
        program = str(self.tree.bin / words[0]) if "/" not in words[0] else words[0]
        return subprocess.run([program, *words[1:]], env=env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE)


class Hosts(Set):
    """Masters by their unit; cron and systemd on other hosts, which share redlock.conf."""

    @classmethod
    def deploy(cls):
        for name in "redis.conf", "systemd/redlock-master.service":
            cls.tree.install(name)
        for _ in range(5):
            cls.start(cls.words(cls.unit("redlock-master.service")))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in "redlock.conf", "cron/redlock-nightly", "systemd/redlock-nightly.service", \
                    "systemd/redlock-standby.service":
            cls.tree.install(name)
        [line] = cls.tree.lines("redlock.conf", "redlock ")
        cls.told = cls.tree.shell(line + " --adopt")

    def test_nodes_finds_nothing_to_mend(self):
        self.assertIn("5 of 5 masters vote, 3 must: locks work", self.told)
        self.assertNotIn("->", self.told)

    def test_only_the_owner_reads_the_passwords(self):
        for name in "redlock.conf", "redlock/users.acl":
            self.assertEqual((self.tree.root / "etc" / name).stat().st_mode & 0o077, 0, name)

    # ---- systemd ---------------------------------------------------------

    @classmethod
    def unit(cls, name):
        """The settings of an installed unit, with continued lines joined."""
        text = (cls.tree.root / "etc" / "systemd" / "system" / name).read_text().replace("\\\n", "")
        return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"\w+=", line))

    @staticmethod
    def words(settings):
        """As systemd splits a command; %H is the name of the host."""
        return shlex.split(settings["ExecStart"].replace("%H", "myhost"))

    @staticmethod
    def service(settings, **more):
        return {"PATH": os.environ["PATH"], **more}

    def test_redis_conf_and_the_unit_start_the_same_server(self):
        [line] = self.tree.lines("redis.conf", "redis-server ")
        self.assertEqual(shlex.split(line), self.words(self.unit("redlock-master.service")))

    def test_the_unit_has_descriptors_for_all_clients(self):
        clients = int(self.masters[0].cli("CONFIG", "GET", "maxclients").split()[-1])
        self.assertGreater(int(self.unit("redlock-master.service")["LimitNOFILE"]), clients + 32)

    def test_the_units_are_started_by_their_heads(self):
        for name in "redlock-master.service", "redlock-nightly.service", "redlock-standby.service":
            [line] = self.tree.lines(f"systemd/{name}", "systemctl enable --now ")
            self.assertIn("[Install]", (self.tree.root / "etc" / "systemd" / "system" /
                                        line.split()[-1]).read_text())

    def test_systemd_job(self):
        settings = self.unit("redlock-nightly.service")
        self.assertEqual(settings["SuccessExitStatus"], str(OTHERS))
        for status in 0, OTHERS:
            done = self.run_words(self.words(settings), self.service(settings))
            self.assertEqual(done.returncode, status, done.stdout)
        self.assertEqual(self.runs("nightly"), 1)

    def test_systemd_standby(self):
        settings = self.unit("scheduler.service")
        self.job("exec sleep 60")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.settimeout(DEADLINE)
        manager.bind(str(self.tmp / "notify"))
        words = self.words(settings)
        service = subprocess.Popen([str(self.tree.bin / words[0]), *words[1:]], stdin=subprocess.DEVNULL,
                                   env=self.service(settings, NOTIFY_SOCKET=str(self.tmp / "notify")))
        self.addCleanup(self.end, service)
        while b"leading" not in (told := manager.recv(4096)):
            pass
        self.assertIn(b"READY=1\n", told)
        until(lambda: self.runs("scheduler") == 1, "the service runs")
        leader = ["redlock", "leader", "scheduler"]
        until(lambda: self.run_words(leader, self.service(settings)).stdout.endswith(" myhost\n"),
              "it is announced")
        self.assertEqual(settings["KillMode"], "mixed")
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(DEADLINE), 128 + signal.SIGTERM)
        until(lambda: not any(self.each("GET", "lock:scheduler")), "it is free")

    # ---- cron ------------------------------------------------------------

    def cron(self, change=lambda command: command, **more):
        """The mail of cron, which knows hardly any variable."""
        env = {"HOME": str(self.tmp), "LOGNAME": "root", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}
        path = self.tree.root / "etc" / "cron.d" / "redlock-nightly"
        self.assertEqual(path.stat().st_mode & 0o777, 0o644, "cron refuses what others may write")
        for line in path.read_text().splitlines():
            if found := re.match(r"(\w+)=(.*)", line):
                env[found[1]] = found[2]
            elif line and line[0] != "#":
                *when, user, command = line.split(None, 6)
                self.assertEqual((" ".join(when), user), ("0 3 * * *", "root"))
        self.assertNotRegex(command, r"(?<!\\)%", "cron makes a new line of it")
        command = change(command.replace("\\%", "%"))
        return self.run_words(["/bin/sh", "-c", command], {**env, **more}).stdout

    def test_cron(self):
        self.assertEqual(self.cron(), "")
        self.assertEqual(self.runs("nightly"), 1)
        self.assertEqual(self.cron(), "", "others have it: no mail")
        self.assertEqual(self.runs("nightly"), 1)

    def test_cron_sends_what_the_job_prints(self):
        self.job(r"printf 'two\nlines with 5 %% and C:\\new\n'")
        self.assertEqual(self.cron(), "two\nlines with 5 % and C:\\new\n")

    def test_cron_sends_what_went_wrong(self):
        self.job("echo out of paper; exit 4")
        self.assertEqual(self.cron(), "out of paper\nnightly: status 4\n")

    def test_cron_says_why_there_was_no_quorum(self):
        conf = self.tmp / "conf"
        conf.write_text("master = 127.0.0.1:1, 127.0.0.1:2, 127.0.0.1:3\n")
        told = self.cron(REDLOCK_CONFIG=str(conf))
        self.assertRegex(told, r"no quorum of masters could be asked\n  127\.0\.0\.1:1: .*refused")
        self.assertTrue(told.endswith("\nnightly: status 69\n"), told)

    def test_cron_says_why_the_settings_cannot_be_used(self):
        told = self.cron(REDLOCK_CONFIG=str(self.tmp / "none"))
        self.assertIn(str(self.tmp / "none"), told)
        self.assertTrue(told.endswith("\nnightly: status 78\n"), told)

    def test_a_name_that_the_acl_does_not_allow_is_refused(self):
        told = self.cron(lambda command: command.replace("redlock run", "redlock run --prefix ''"))
        self.assertIn("NOPERM", told)
        self.assertIn("\n  -> its ACL forbids this user that name", told)
        self.assertTrue(told.endswith("\nnightly: status 69\n"), told)
        self.assertEqual(self.runs("nightly"), 0)


class Compose(Set):
    """From `docker compose up` to a held lock, line by line."""

    @classmethod
    def deploy(cls):
        assert cls.tree.lines("compose.yaml", "docker compose -f deploy/compose.yaml up -d")
        [compose] = cls.tree.documents("compose.yaml")
        cls.ports = []
        for service in compose["services"].values():
            for volume in service["volumes"]:
                if volume.startswith("./"):
                    source, target, mode = volume.split(":")
                    assert mode == "ro", volume
                    cls.tree.shell(f"install -D deploy/{source} {target}")
            cls.start(service["command"])
            [port] = service["ports"]
            cls.ports.append(port.removesuffix(":6379"))

    def test_the_lines_hold_a_lock(self):
        [export] = self.tree.lines("compose.yaml", "export ")
        nodes = self.tree.shell(f"{export}; printf %s \"$REDLOCK_NODES\"")
        for port, master in zip(self.ports, self.masters):
            self.assertIn(port, nodes)
            nodes = nodes.replace(port, master.node)
        lines = self.tree.lines("compose.yaml", "redlock ")
        told = [self.tree.shell(line, REDLOCK_NODES=nodes) for line in lines]
        self.assertIn("5 of 5 masters vote, 3 must: locks work", told[0])
        self.assertNotIn("->", told[0])
        self.assertEqual(told[-1], "this holds lock:try\n")


class Kubernetes(Set):
    """masters.yaml and cronjob.yaml by the lines of their heads, with the files that those lines name."""

    @classmethod
    def deploy(cls):
        cls.tree.kubectl("kubernetes/masters.yaml")
        for (kind, space, _), it in cls.tree.objects.items():
            if kind == "StatefulSet":
                pod = it["spec"]["template"]["spec"]
                cls.tree.mount(pod, space)
                cls.start(pod["containers"][0]["command"])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tree.kubectl("kubernetes/cronjob.yaml")
        cls.spec = cls.tree.objects["CronJob", "default", "nightly"]["spec"]["jobTemplate"]["spec"]
        cls.pod = cls.spec["template"]["spec"]
        cls.tree.mount(cls.pod, "default")
        cls.container = cls.pod["containers"][0]
        [line] = cls.tree.lines("redlock.conf", "redlock ")
        [conf] = (it["value"] for it in cls.container["env"] if it["name"] == "REDLOCK_CONFIG")
        cls.told = cls.tree.shell(f"{line} --adopt", REDLOCK_CONFIG=conf)

    def test_the_list_is_where_the_job_looks(self):
        self.assertIn("5 of 5 masters vote, 3 must: locks work", self.told)
        self.assertEqual([it["value"] for it in self.container["env"] if "value" in it],
                         [str(self.tree.root / "etc" / "redlock" / "redlock.conf")])

    def test_the_network_policy_lets_the_jobs_pods_in(self):
        policy = self.tree.objects["NetworkPolicy", "redlock", "redlock-masters"]["spec"]
        [allowed] = policy["ingress"]
        [source] = allowed["from"]
        self.assertEqual(source["namespaceSelector"], {})
        self.assertLessEqual(source["podSelector"]["matchLabels"].items(),
                             self.spec["template"]["metadata"]["labels"].items())
        for (kind, _, _), it in self.tree.objects.items():
            if kind == "StatefulSet":
                self.assertLessEqual(policy["podSelector"]["matchLabels"].items(),
                                     it["spec"]["template"]["metadata"]["labels"].items())
                [port] = it["spec"]["template"]["spec"]["containers"][0]["ports"]
                self.assertEqual([port["containerPort"]], [it["port"] for it in allowed["ports"]])

    def kubernetes(self):
        """Runs the container; $(POD) is the name of its pod."""
        env = {it["name"]: it["value"] for it in self.container["env"] if "value" in it}
        words = [word.replace("$(POD)", "nightly-1") for word in self.container["command"]]
        return self.run_words(words, {"PATH": f"{self.tree.bin}:/usr/bin:/bin", **env})

    def test_one_pod_runs_the_job(self):
        for status in 0, OTHERS:
            done = self.kubernetes()
            self.assertEqual(done.returncode, status, done.stdout)
            self.assertNotIn("may read", done.stdout)
        self.assertEqual(self.runs("nightly"), 1)
        self.assertRegex(self.ran.read_text(), r"nightly: held by \S+ \(nightly-1\) ")

    def test_a_retry_finds_the_lock_free(self):
        """The pod of a job that failed at once stays long enough. Here its sleep takes no time."""
        self.assertGreater(self.spec["backoffLimit"], 0)
        self.assertNotIn("activeDeadlineSeconds", self.spec)
        slept = self.tmp / "slept"
        self.tree.program("sleep", f'echo "$1" >>{slept}')
        self.addCleanup((self.tree.bin / "sleep").unlink)
        self.job("exit 4")
        self.assertEqual(self.kubernetes().returncode, 4)
        kept = max(int(left) for left in self.each("PTTL", "lock:nightly")) / 1000
        self.assertGreater(kept, 0, "the others do not run it meanwhile")
        self.assertLess(max(kept, self.at_least()), int(slept.read_text()) + BACKOFF)

    def test_each_retry_comes_within_at_least(self):
        """A cluster that reached no master at first tries again before the lock of another one is free."""
        retries = [BACKOFF * (2 ** n - 1) for n in range(1, self.spec["backoffLimit"] + 1)]
        self.assertLess(max(retries), self.at_least())

    def at_least(self):
        words = self.container["command"]
        return int(words[words.index("--at-least") + 1].rstrip("s"))
