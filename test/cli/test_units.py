"""The files of deploy/ for systemd, cron and Kubernetes are well formed; test_deploy_set runs them."""

import shutil
import subprocess
import unittest

from harness import DEADLINE, DEPLOY, REDLOCK, Case

try:
    import yaml
except ImportError:
    yaml = None

UNITS = sorted((DEPLOY / "systemd").iterdir())
CRON = DEPLOY / "cron" / "redlock-nightly"
CRON_JOB = DEPLOY / "kubernetes" / "cronjob.yaml"
JOBS = ("/usr/local/bin/scheduler", "/usr/local/bin/nightly")
OTHERS = 99  # the status that says in all of them that others have the lock


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
        self.assertEqual(sorted(texts), ["redlock-master.service", "redlock-nightly.service",
                                         "redlock-nightly.timer", "redlock-standby.service"])
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
