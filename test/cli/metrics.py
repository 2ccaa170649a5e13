"""Shared by the tests of metrics: a command that keeps them in a file, and what the file says."""

import re
import subprocess

import openmetrics
from harness import ClusterCase


class MetricsCase(ClusterCase):
    masters = 3

    def setUp(self):
        super().setUp()
        self.file = self.tmp / "redlock.prom"

    def families(self, text=None):
        return openmetrics.parse(self.as_openmetrics(text))

    def as_openmetrics(self, text=None):
        """The file is of the older format, in which the head of a counter has the name of its sample."""
        text = self.file.read_text() if text is None else text
        return re.sub(r"^(# (?:TYPE|HELP) \w+)_total ", r"\1 ", text, flags=re.M)

    def value(self, name, suffix=""):
        """The only sample of that name; None without a file, or without such a sample."""
        if not self.file.exists():
            return None
        samples = list(self.families()[name].of(suffix).values())
        return samples[0] if samples else None

    def of_masters(self, name):
        return {dict(labels)["master"]: value for (_, labels), value in self.families()[name].samples.items()}

    def run_to_end(self, *options, command=("true",), name=None, **more):
        return self.redlock("run", "--metrics-file", self.file, *options, name or self.name, "--", *command,
                            **more)

    def run_held(self, *options, **more):
        """A command that runs until its stdin ends, and then with status 1."""
        process = self.spawn("run", "--metrics-file", str(self.file), *options, self.name, "--", "sh", "-c",
                             "echo; read x", stdin=subprocess.PIPE, **more)
        process.stdout.readline()
        return process
