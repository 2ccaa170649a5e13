"""Masters that speak TLS: options, environment, what `nodes` shows and advises, what `run` passes on."""

import os
import re
import socket
import ssl
import subprocess
import threading
import unittest
from pathlib import Path

from harness import REDLOCK, Cluster, ClusterCase, environment


def has_tls():
    told = subprocess.run([REDLOCK, "nodes", "--nodes", "rediss://127.0.0.1:1"], env=environment(),
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=30)
    return "this build has no TLS" not in told.stderr


@unittest.skipUnless(has_tls(), "this build has no TLS")
class Tls(ClusterCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3, "--tls")
        cls.addClassCleanup(cls.cluster.stop)
        cls.tls = Path(cls.cluster.dir, "tls")
        # As people write it: without a CA in it.
        cls.bare = ",".join(uri.partition("?")[0] for uri in cls.cluster.nodes.split(","))

    def nodes(self, *options, status=0, **environment):
        return self.redlock("nodes", "--nodes", self.bare, *options, status=status,
                            env=self.env(**environment)).out

    def test_the_list_of_the_cluster_names_its_ca(self):
        out = self.redlock("nodes", status=0).out
        self.assertIn("3 of 3 masters vote, 2 must: locks work", out)
        self.assertEqual(len(re.findall(r", TLSv1\.3, certificate of localhost for (29|30) more days\n",
                                        out)), 3, out)
        self.assertNotIn("->", out)

    def test_json(self):
        for node in self.redlock("nodes", "--json", status=0).json["nodes"]:
            tls = node["tls"]
            self.assertEqual((tls["protocol"], tls["peer"], tls["verified"]), ("TLSv1.3", "localhost", True))
            self.assertTrue(29 * 86400 < tls["expires_s"] <= 30 * 86400)

    def test_option_and_environment(self):
        ca = str(self.tls / "ca.crt")
        self.assertIn("locks work", self.nodes("--tls-ca", ca))
        self.assertIn("locks work", self.nodes(REDLOCK_TLS_CA=ca))
        self.assertIn("locks work", self.nodes("--tls-ca", ca, REDLOCK_TLS_CA="/nowhere"))
        self.assertIn("locks work", self.nodes(REDLOCK_TLS_CA=ca, REDLOCK_TLS_NAME="localhost"))
        self.assertIn("locks work",
                      self.nodes(REDLOCK_TLS_CA=ca, REDLOCK_TLS_CERT=str(self.tls / "client.crt"),
                                 REDLOCK_TLS_KEY=str(self.tls / "client.key")))

    def test_advice(self):
        ca = str(self.tls / "ca.crt")
        out = self.nodes(status=69)
        self.assertIn("TLS: its certificate is of a CA that is not trusted here, redlock cluster CA\n"
                      "  -> give the CA that made it: with ca= in the list, --tls-ca or REDLOCK_TLS_CA\n",
                      out)
        out = self.nodes("--tls-ca", ca, "--tls-name", "far.test", status=69)
        self.assertIn("its certificate is for localhost, not for far.test\n  -> list it by the name", out)
        out = self.nodes("--tls-ca", "/nowhere", status=69)
        self.assertIn("TLS: cannot use the ca /nowhere: No such file or directory\n  -> see that the file",
                      out)
        out = self.redlock("nodes", "--nodes", self.bare.replace("rediss:", "redis:"), status=69).out
        self.assertIn("if this is a TLS port, write rediss://", out)
        told = self.redlock("nodes", "--nodes", self.bare, "--json", status=69).json
        self.assertIsNone(told["nodes"][0]["tls"])

    def test_it_closes_after_the_handshake(self):
        terms = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        terms.load_cert_chain(self.tls / "master.crt", self.tls / "master.key")
        with socket.create_server(("127.0.0.1", 0)) as door:
            def serve():
                while True:
                    try:
                        terms.wrap_socket(door.accept()[0], server_side=True).close()
                    except ssl.SSLError:
                        pass
                    except OSError:
                        return
            threading.Thread(target=serve, daemon=True).start()
            told = self.redlock("nodes", "--nodes", f"rediss://127.0.0.1:{door.getsockname()[1]}", "--tls-ca",
                                str(self.tls / "ca.crt"), status=69).out
            door.shutdown(socket.SHUT_RDWR)
        self.assertRegex(told, "  -> it closes the connection at once: look at its log")
        self.assertNotIn("rediss://", told)

    def test_a_plain_port(self):
        """The port waits for the end of a line. A lease shorter than the connect time gets no such
        message."""
        with socket.create_server(("127.0.0.1", 0)) as plain:
            nodes = f"rediss://127.0.0.1:{plain.getsockname()[1]}"
            for command in (["run", "a", "--", "true"], ["run", "--ttl", "300ms", "a", "--", "true"],
                            ["list"], ["lock", "--ttl", "300ms", "a"],
                            ["run", "--wait", "100ms", "a", "--", "true"]):
                with self.subTest(command=command):
                    told = self.redlock("--nodes", nodes, *command, status=69).err
                    self.assertIn("for a plain port write redis://", told)

    def test_every_command_says_what_to_do(self):
        trouble = "of a CA that is not trusted here, redlock cluster CA"
        advice = "  -> give the CA that made it: "
        for told in (self.redlock("run", "--nodes", self.bare, "a", "--", "true", status=69).err,
                     self.redlock("lock", "--nodes", self.bare, "a", status=69).err,
                     self.redlock("status", "--nodes", self.bare, "a", status=69).out):
            # Once, behind the last master that needs it.
            self.assertRegex(told, rf"{trouble}\n{advice}.*\n$")
            self.assertEqual((told.count(trouble) >= 2, told.count("->")), (True, 1), told)
        plain = self.bare.replace("rediss:", "redis:")
        self.assertIn("write rediss://", self.redlock("lock", "--nodes", plain, "a", status=69).err)
        ca, cert = str(self.tls / "ca.crt"), str(self.tls / "client.crt")
        told = self.redlock("lock", "--nodes", self.bare, "--tls-ca", ca, "--tls-cert", cert, "a", status=69)
        self.assertIn("-> give the key of this certificate", told.err)
        both = self.bare.replace("rediss:", "redis:", 1)
        told = self.redlock("status", "--nodes", both, "--tls-ca", ca, "a", status=0)
        self.assertNotIn("->", told.out)

    def test_who_waits_for_ever_is_told(self):
        for command in (["elect", "a", "--", "true"], ["run", "--wait", "forever", "a", "--", "true"],
                        ["lock", "--wait", "forever", "a"], ["latch", "wait", "a"],
                        ["barrier", "--parties", "2", "--generation", "1", "a"]):
            with self.subTest(command=command):
                waiter = self.spawn("--nodes", self.bare, *command)
                trouble, advice = (waiter.stderr.readline().decode() for _ in range(2))
                self.assertRegex(trouble, r"^redlock: still waiting, for too few masters answer: "
                                          r"127\.0\.0\.1:\d+: TLS: .* not trusted here")
                self.assertIn("-> give the CA that made it", advice)
                self.terminate(waiter, None)

    def test_nothing_is_verified_only_if_that_is_said(self):
        for out in (self.nodes("--tls-verify", "none"), self.nodes(REDLOCK_TLS_VERIFY="none")):
            self.assertIn(", not verified\n  -> anybody on the way can take its place", out)
        self.nodes("--tls-verify", "full", status=69, REDLOCK_TLS_VERIFY="none")
        told = self.redlock("lock", "--nodes", self.bare, "--tls-verify", "no", "a", status=78)
        self.assertIn("verify of TLS is none or full", told.err)

    def test_terms_that_no_master_can_use(self):
        told = self.redlock("lock", "--nodes", "redis://127.0.0.1:1", "--tls-ca", "x", "a", status=64)
        self.assertIn("no master of the list is a rediss://", told.err)
        # An environment is for all lists.
        self.redlock("lock", "--nodes", "redis://127.0.0.1:1", "a", status=69,
                     env=self.env(REDLOCK_TLS_CA="x"))

    def test_a_mixed_list(self):
        server = self.cluster.uris[0].partition("?")[0]
        told = self.redlock("nodes", "--json", "--nodes", f"{server},redis://127.0.0.1:1", "--tls-ca",
                            str(self.tls / "ca.crt"), status=69).json
        self.assertTrue(told["nodes"][0]["grants"])

    def test_what_a_command_finds(self):
        nodes = self.tmp / "nodes"
        nodes.write_text(self.bare)
        # Relative paths, and a command that goes elsewhere.
        script = f"cd / && env | grep REDLOCK_TLS | sort && '{REDLOCK}' lock inner"
        for options, variables in ((["--tls-ca", "ca.crt", "--tls-name", "localhost"], {}),
                                   ([], {"REDLOCK_TLS_CA": "ca.crt", "REDLOCK_TLS_NAME": "localhost"})):
            with self.subTest(options=options):
                done = self.redlock("run", "--nodes-file", str(nodes), *options, self.name, "--", "sh", "-c",
                                    script.replace("inner", f"inner{len(options)}"), status=0, cwd=self.tls,
                                    env=self.env(**variables))
                self.assertEqual(done.out.splitlines()[:2],
                                 [f"REDLOCK_TLS_CA={os.path.realpath(self.tls)}/ca.crt",
                                  "REDLOCK_TLS_NAME=localhost"])
