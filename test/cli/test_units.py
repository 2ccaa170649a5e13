"""The files of deploy/ for systemd, cron and Kubernetes are well formed, and run."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import unittest

from harness import DEADLINE, REDLOCK, ROOT, Case, ClusterCase, until

try:
    import yaml
except ImportError:
    yaml = None

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
CRON = DEPLOY / "cron" / "redlock-nightly"
CRON_JOB = DEPLOY / "kubernetes" / "cronjob.yaml"
JOBS = ("/usr/local/bin/scheduler", "/usr/local/bin/nightly")
OTHERS = 99  # the status that says in all of them that others have the lock


def unit(name):
    """The settings of a unit: the values of each key, with continued lines joined."""
    settings = {}
    for line in (DEPLOY / "systemd" / name).read_text().replace("\\\n", "").splitlines():
        if re.match(r"\w+=", line):
            key, value = line.split("=", 1)
            settings.setdefault(key, []).append(value)
    return settings


class Files(Case):
    def verify(self, texts):
        """The verdict of systemd about them, with programs that exist."""
        for name, text in texts.items():
            text = text.replace("ExecStart=redlock", f"ExecStart={REDLOCK}")
            for job in JOBS:
                text = text.replace(job, "/bin/true")
            (self.tmp / name).write_text(text)
        said = subprocess.run(["systemd-analyze", "verify", "--man=no",
                               *(str(self.tmp / it) for it in texts)],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=DEADLINE)
        self.assertEqual(said.returncode, 0, said.stdout)
        return [line for line in said.stdout.splitlines() if str(self.tmp) in line or "redlock" in line]

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze (package systemd)")
    def test_systemd_takes_the_units(self):
        texts = {path.name: path.read_text() for path in UNITS}
        self.assertEqual(sorted(texts), ["redlock-nightly.service", "redlock-nightly.timer",
                                         "redlock-standby.service"])
        self.assertEqual(self.verify(texts), [])
        wrong = {name: text.replace("KillMode=", "KillMod=") for name, text in texts.items()}
        self.assertEqual(len(self.verify(wrong)), 2)

    @unittest.skipUnless(yaml, "there is no python3-yaml")
    def test_kubernetes_file(self):
        job = yaml.safe_load(CRON_JOB.read_text())
        self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "CronJob"))
        spec = job["spec"]["jobTemplate"]["spec"]
        pod = spec["template"]["spec"]
        # Kubernetes refuses a failure policy otherwise.
        self.assertEqual(pod["restartPolicy"], "Never")
        self.assertEqual(spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"], [OTHERS])
        container = pod["containers"][0]
        self.assertTrue(all(isinstance(word, str) for word in container["command"]))
        mounts = {it["name"] for it in container["volumeMounts"]}
        self.assertEqual(mounts, {it["name"] for it in pod["volumes"]})
        # A job that starts after the end of --at-least finds the lock free.
        at_least = int(container["command"][container["command"].index("--at-least") + 1].rstrip("s"))
        self.assertLess(job["spec"]["startingDeadlineSeconds"], at_least)

    def test_cron_reads_it(self):
        self.assertNotIn(".", CRON.name, "cron skips files with a dot in their name")
        text = CRON.read_text()
        self.assertTrue(text.endswith("\n"), "cron skips a last line without an end")
        self.assertNotIn("%", text, "cron makes a new line of it")


class Jobs(ClusterCase):
    """Runs the files as systemd, cron and Kubernetes would, with a job that leaves a line."""

    masters = 3

    def setUp(self):
        super().setUp()
        self.bin = self.tmp / "bin"
        self.bin.mkdir()
        self.write("redlock", f"exec '{REDLOCK}' {' '.join(self.patience)} \"$@\"")
        self.ran = self.tmp / "ran"
        self.write_job(f"echo run >> {self.ran}")
        self.cluster.each_cli("DEL", "nightly", "scheduler")

    def write(self, name, script):
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def write_job(self, script):
        for job in JOBS:
            self.write(job.rsplit("/", 1)[1], script)

    def runs(self):
        return self.ran.read_text().count("run") if self.ran.exists() else 0

    def here(self, text):
        """Replaces the paths of a host by those of this test."""
        for job in JOBS:
            text = text.replace(job, f"{self.bin}/{job.rsplit('/', 1)[1]}")
        return text.replace("/etc/redlock/nodes", f"{self.cluster.dir}/nodes")

    def words(self, settings):
        """As systemd splits a command; %H is the name of the host."""
        words = shlex.split(self.here(settings["ExecStart"][0]).replace("%H", "myhost"))
        self.assertEqual(words[0], "redlock")
        return [str(self.bin / "redlock"), *words[1:]]

    def service(self, settings, **more):
        variable, value = self.here(settings["Environment"][0]).split("=", 1)
        return {"PATH": os.environ["PATH"], variable: value, **more}

    def test_systemd_job(self):
        settings = unit("redlock-nightly.service")
        self.assertEqual(settings["SuccessExitStatus"], [str(OTHERS)])
        for status in (0, OTHERS):
            done = subprocess.run(self.words(settings), env=self.service(settings), stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=DEADLINE)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(self.runs(), 1)

    def test_systemd_standby(self):
        settings = unit("redlock-standby.service")
        self.write_job(f"echo run >> {self.ran}; exec sleep 60")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.settimeout(DEADLINE)
        manager.bind(str(self.tmp / "notify"))
        service = subprocess.Popen(self.words(settings), stdin=subprocess.DEVNULL,
                                   env=self.service(settings, NOTIFY_SOCKET=str(self.tmp / "notify")))
        self.addCleanup(self.end, service)
        while b"leading" not in (told := manager.recv(4096)):
            pass
        self.assertIn(b"READY=1\n", told)
        until(lambda: self.runs() == 1, "the service runs")
        until(lambda: self.redlock("leader", "scheduler").out.endswith(" myhost\n"), "it is announced")
        self.assertEqual(settings["KillMode"], ["mixed"])
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(DEADLINE), 128 + signal.SIGTERM)
        self.assert_free("scheduler")

    def cron(self, **more):
        """The mail of cron, which knows hardly any variable, and no other PATH."""
        env = {"HOME": str(self.tmp), "LOGNAME": "root", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin"}
        for line in self.here(CRON.read_text()).splitlines():
            if found := re.match(r"(\w+)=(.*)", line):
                env[found[1]] = found[2]
            elif line and line[0] != "#":
                *when, user, command = line.split(None, 6)
                self.assertEqual((" ".join(when), user), ("0 3 * * *", "root"))
        env["PATH"] = f"{self.bin}:{env['PATH']}"
        return subprocess.run(["/bin/sh", "-c", command], env={**env, **more}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=DEADLINE).stdout

    def test_cron(self):
        self.assertEqual(self.cron(), "")
        self.assertEqual(self.runs(), 1)
        self.assertEqual(self.cron(), "", "others have it: no mail")
        self.assertEqual(self.runs(), 1)

    def test_cron_sends_what_went_wrong(self):
        self.write_job("echo out of paper; exit 4")
        self.assertEqual(self.cron(), "out of paper\nnightly ended with status 4\n")
        nodes = self.tmp / "nodes"
        nodes.write_text("redis://127.0.0.1:1, redis://127.0.0.1:2, redis://127.0.0.1:3\n")
        self.assertEqual(self.cron(REDLOCK_NODES_FILE=str(nodes)), "nightly ended with status 69\n")

    @unittest.skipUnless(yaml, "there is no python3-yaml")
    def test_kubernetes(self):
        job = yaml.safe_load(self.here(CRON_JOB.read_text()))
        container = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
        words = [word.replace("$(POD)", "nightly-1") for word in container["command"]]
        env = {it["name"]: it["value"] for it in container["env"] if "value" in it}
        for status in (0, OTHERS):
            done = subprocess.run([str(self.bin / "redlock"), *words[1:]], env=env, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=DEADLINE)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(self.runs(), 1)
