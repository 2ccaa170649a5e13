"""The file of settings, `redlock config`, and what `run` hands on of both."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from harness import DEADLINE, REDLOCK, Case, ClusterCase

SECRET = "hunter2"


class FileCase:
    def write(self, text, name="redlock.conf"):
        path = self.tmp / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o600)
        return str(path)


class Settings(FileCase, Case):
    """Masters are addresses of this host, where nothing listens: `config` looks up names."""
    patience = ()

    def shown(self, *arguments, **env):
        told = self.redlock(*arguments, "config", "--json", status=0, env=self.env(**env)).json
        return {row["key"]: (row["value"], row["from"]) for row in told["settings"]}

    def refused(self, text, line, says):
        path = self.write(text)
        for command in (["config"], ["lock", "a"], ["status", "a"], ["run", "a", "--", "true"]):
            told = self.redlock("--config", path, *command, status=78)
            self.assertIn(f"{path}:{line}: " if line else f"{path}: ", told.err)
            self.assertIn(says, told.err)
            self.assertEqual(len(told.err.splitlines()), 1)
            self.assertNotIn(SECRET, told.err)
        told = self.redlock("--config", path, "lock", "a", "--json", status=78)
        self.assertNotIn(SECRET, told.json["text"])

    def test_what_goes_before_what(self):
        path = self.write("master = 127.0.0.1:1\nmaster = [::1]:2, rediss://127.0.0.3\nprefix = file:\n"
                          "spare = 1\nmax_ttl = 1m\nlabel = f\ntls_ca = /ca\n"
                          "master = 127.0.0.4:1\nfleet = f\n")
        shown = self.shown("--config", path)
        self.assertEqual(shown["prefix"], ("file:", f"{path}:3"))
        self.assertEqual(shown["spare"], ("1", f"{path}:4"))
        self.assertEqual(shown["max_ttl"], ("60s", f"{path}:5"))
        self.assertEqual(shown["label"], ("f", f"{path}:6"))
        self.assertEqual(shown["tls_ca"], ("/ca", f"{path}:7"))
        self.assertEqual(shown["master"], ("127.0.0.4:1", f"{path}:8"))
        self.assertEqual(shown["fleet"], ("f", f"{path}:9"))
        env = {"REDLOCK_CONFIG": path, "REDLOCK_PREFIX": "env:", "REDLOCK_SPARE": "0",
               "REDLOCK_MAX_TTL": "2500ms", "REDLOCK_LABEL": "e", "REDLOCK_TLS_CA": "/env",
               "REDLOCK_NODES": "redis://127.0.0.5", "REDLOCK_FLEET": "e"}
        shown = self.shown(**env)
        self.assertEqual({key: value for key, (value, _) in shown.items() if value},
                         {"master": "redis://127.0.0.5", "prefix": "env:", "spare": "0", "max_ttl": "2500ms",
                          "fleet": "e", "label": "e", "tls_ca": "/env", "tls_verify": "full"})
        self.assertEqual(shown["max_ttl"][1], "REDLOCK_MAX_TTL")
        shown = self.shown("--prefix", "o:", "--spare", "0", "--max-ttl", "3s", "--label", "o", "--fleet",
                           "o", "--nodes", "redis://127.0.0.6", **env)
        self.assertEqual(shown["max_ttl"], ("3s", "--max-ttl"))
        self.assertEqual(shown["master"], ("redis://127.0.0.6", "--nodes"))
        self.assertEqual(shown["fleet"], ("o", "--fleet"))
        for key in ("prefix", "fleet", "label"):
            variable = f"REDLOCK_{key.upper()}"
            self.assertEqual(self.shown("--config", path, **{variable: ""})[key], ("", variable))
        self.assertEqual(self.shown("--config", path, REDLOCK_TLS_CA="")["tls_ca"], ("/ca", f"{path}:7"))

    def test_without_a_file_the_defaults_count(self):
        shown = self.shown("--config", "/dev/null")
        self.assertEqual(shown["max_ttl"], ("30s", None))
        self.assertEqual(shown["master"], ("", None))
        self.assertEqual(shown["fleet"], ("", None))
        self.assertEqual(self.shown("--config", "/dev/null", "--prefix", "o:")["fleet"], ("o:", None))

    def test_no_password_is_shown(self):
        path = self.write(f"master = redis://ann:{SECRET}@127.0.0.1:1 redis://:{SECRET}@127.0.0.2:1/2\n"
                          f"master=unix://:{SECRET}@/s\n")
        for arguments in (["config"], ["config", "--json"], ["-v", "config"]):
            told = self.redlock("--config", path, *arguments, status=0)
            self.assertNotIn(SECRET, told.out + told.err)
        self.assertIn("redis://***@127.0.0.2:1/2 ", self.redlock("--config", path, "config", status=0).out)
        listed = self.write(f"redis://:{SECRET}@127.0.0.1:1", "nodes")
        told = self.redlock("--nodes-file", listed, "config", status=0)
        self.assertIn("127.0.0.1:1 ", told.out)
        self.assertNotIn(SECRET, told.out)

    def test_wrong_files_say_what_to_write(self):
        self.refused("spare = 0\nmax-ttl = 30s", 2, "there is no such key; write max_ttl")
        self.refused("spare = x", 1, "write spare = 0")
        self.refused("prefix = 'a'", 1, "quotes")
        self.refused("\nfleet = " + 1024 * "a", 2, "fleet is longer than a name may be; write fleet = jobs")
        self.refused("\ufeffspare = 0", 1, "byte order mark")
        self.refused(f"{SECRET}\n", 1, "write key = value")
        self.refused(f"master = redis://:{SECRET}@a:1\nmaster = a:1", 2, "the same place as master 1")
        self.refused(f"master = redis://:{SECRET}@a:1x", 1, "the port must be a number")
        self.refused("spare = 0\nspare = 0", 2, "spare stands in line 1, too")
        self.refused(b"spare = 0\n\0", 2, "a zero byte")
        self.refused("#" * (1 << 20), 0, "more than 65536 bytes")
        self.refused("master = a:1\ntls_ca = /ca", 2, "no master is one")
        self.refused("master = a:1\nspare = 1", 2, "needs at least 4 masters")

    def test_no_plain_file_is_refused_at_once(self):
        fifo = str(self.tmp / "fifo")
        os.mkfifo(fifo)
        for path in (str(self.tmp), fifo):
            self.assertIn("no plain file", self.redlock("--config", path, "config", status=78).err)

    def test_a_file_that_is_asked_for_must_be_there(self):
        path = str(self.tmp / "none")
        told = self.redlock("--config", path, "config", status=78)
        self.assertIn(f"{path}: there is no such file", told.err)
        self.assertIn(path, self.redlock("config", status=78, env=self.env(REDLOCK_CONFIG=path)).err)

    @unittest.skipIf(os.geteuid() == 0, "root may read all")
    def test_a_file_that_we_may_not_read(self):
        path = self.write("spare = 0")
        Path(path).chmod(0)
        self.assertIn("Permission denied", self.redlock("--config", path, "config", status=78).err)

    def test_all_may_read_the_password(self):
        path = self.write(f"master = redis://:{SECRET}@127.0.0.1:1")
        self.assertEqual(self.redlock("--config", path, "config", status=0).err, "")
        Path(path).chmod(0o644)
        self.assertIn("chmod o-r", self.redlock("--config", path, "config", status=0).err)
        self.assertEqual(self.redlock("--config", path, "-q", "config", status=0).err, "")

    def test_the_file_of_the_machine(self):
        """In a namespace where /etc is ours."""
        inside = ["unshare", "-rm", "sh", "-c"]
        begin = "mount -t tmpfs none /etc && "
        if subprocess.run([*inside, begin + "true"], capture_output=True, timeout=DEADLINE).returncode:
            self.skipTest("no namespaces here")
        script = begin + f"{REDLOCK} config; echo 'prefix = m:' >/etc/redlock.conf && {REDLOCK} config"
        told = subprocess.run([*inside, script], env=self.env(), capture_output=True, text=True,
                              timeout=DEADLINE)
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        self.assertRegex(told.stdout, r"(?m)^prefix +m: +/etc/redlock.conf:1$")
        self.assertRegex(told.stdout, r"(?m)^prefix +default$")


class HandedOn(FileCase, ClusterCase):
    INNER = ('exec 2>&1; "$REDLOCK" extend --token "$REDLOCK_TOKEN" "$REDLOCK_NAME" && '
             '"$REDLOCK" status --json "$REDLOCK_NAME"')

    def env(self, **more):
        return super().env(REDLOCK_NODES_FILE="", **more)

    def list_of_masters(self):
        return (Path(self.cluster.dir) / "nodes").read_text()

    def check(self, *arguments, **env):
        """The command finds the lock of its own name, from another folder."""
        (self.tmp / "below").mkdir(exist_ok=True)
        told = self.redlock(*arguments, "run", self.name, "--", "sh", "-c", f"cd below && {self.INNER}",
                            status=0, env=self.env(**env), cwd=self.tmp)
        self.assertIn('"held"', told.out)

    def test_extend_works_with_each_setting(self):
        masters = " ".join(self.list_of_masters().split())
        self.write(f"master = {masters}\nprefix = app:\nmax_ttl = 20s\nlabel = web\nspare = 1\n")
        self.check("--config", "redlock.conf")
        self.check(REDLOCK_CONFIG="redlock.conf")
        self.check("--config", "redlock.conf", "--prefix", "")
        self.check("--config", "redlock.conf", "--prefix", "x:", "--spare", "0", "--max-ttl", "15s",
                   "--label", "y")
        self.check("--config", "redlock.conf", REDLOCK_PREFIX="x:", REDLOCK_SPARE="0", REDLOCK_LABEL="y")

    def test_the_fleet_is_handed_on(self):
        masters = " ".join(self.list_of_masters().split())
        path = self.write(f"master = {masters}\nfleet = of-file\n")
        inner = [self.name, "--", "sh", "-c", '"$REDLOCK" config --json']
        for arguments, env, fleet in (((), {}, "of-file"), (("--fleet", "o"), {}, "o"),
                                      ((), {"REDLOCK_FLEET": "e"}, "e"),
                                      (("--fleet", ""), {"REDLOCK_FLEET": "e"}, "")):
            told = self.redlock("--config", path, *arguments, "run", *inner, status=0, env=self.env(**env))
            rows = {row["key"]: row for row in json.loads(told.out)["settings"]}
            self.assertEqual((rows["fleet"]["value"], rows["fleet"]["from"]), (fleet, "REDLOCK_FLEET"))

    def test_the_key_has_the_prefix_of_the_file(self):
        masters = " ".join(self.list_of_masters().split())
        path = self.write(f"master = {masters}\nprefix = app:\nlabel = web\n")
        self.redlock("--config", path, "lock", self.name, status=0)
        values = [value for value in self.cluster.values("app:" + self.name) if value]
        self.assertTrue(values and all("web" in value for value in values))

    def test_masters_of_the_file_never_replace_others(self):
        """Those with a login cannot be passed on; the inner command must not ask the file's instead."""
        path = self.write("master = 127.0.0.1:1")
        masters = ",".join(self.list_of_masters().split())
        if "@" not in masters:
            self.skipTest("masters without a password")
        told = self.redlock("--config", path, "--nodes", masters, "run", self.name, "--", "sh", "-c",
                            '"$REDLOCK" status a', status=64, env=self.env())
        self.assertIn("passes on neither a list with passwords", told.err)


if __name__ == "__main__":
    unittest.main()
