"""The command on a machine without free descriptors, or without free watches."""

import resource
import shutil
import subprocess

from harness import REDLOCK, ClusterCase, environment

LOADER = 4  # it takes one to load the libraries
# A sanitizer's search for leaks needs descriptors, and no tracer.
WITHOUT_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}


class Limits(ClusterCase):
    def run_with(self, *before, descriptors=None):
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))) \
            if descriptors else None
        return subprocess.run(
            [*before, REDLOCK, "--request-timeout", "2s", "run", self.name, "--", "sh", "-c", "echo done"],
            env=environment(REDLOCK_NODES=self.cluster.nodes, **WITHOUT_LEAKS), preexec_fn=limit,
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=60)

    def test_descriptors(self):
        for descriptors in range(LOADER, 24):
            with self.subTest(descriptors=descriptors):
                result = self.run_with(descriptors=descriptors)
                self.assertIn(result.returncode, (0, 69, 70), result.stderr)
                if result.returncode:
                    self.assertIn("Too many open files", result.stderr)
                else:
                    self.assertEqual(result.stdout, "done\n")
        self.assertEqual(result.returncode, 0)

    def test_watches(self):
        refuse = ["strace", "-f", "-o", "/dev/null", "-e", "trace=epoll_ctl",
                  "-e", "inject=epoll_ctl:error=ENOSPC"]
        if not shutil.which("strace") or subprocess.run([*refuse, "true"], check=False).returncode:
            self.skipTest("strace is not there, or may not trace")
        result = self.run_with(*refuse)
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
