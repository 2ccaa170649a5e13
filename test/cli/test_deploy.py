"""deploy/: a server takes redis.conf and users.acl as they are, and the files for compose and Kubernetes
say what makes five independent masters."""

import os
import re
import signal
import subprocess

import yaml

from deployed import PASSWORDS, Master, Tree
from harness import DEADLINE, DEPLOY, Case, environment, until

LOGIN = f"redlock:{PASSWORDS['change-this-too']}@"
MEGABYTES = {"mb": 1, "gb": 1024, "Mi": 1, "Gi": 1024}


def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def manifests(kind):
    documents = yaml.safe_load_all((DEPLOY / "kubernetes" / "masters.yaml").read_text())
    return [document for document in documents if document["kind"] == kind]


def container():
    return manifests("StatefulSet")[0]["spec"]["template"]["spec"]["containers"][0]


def megabytes(text):
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()
    return int(number) * MEGABYTES[unit]


class Deployed(Master):
    """A server that ends in order and comes back with its data."""

    def end(self):
        self.process.terminate()
        self.process.wait(DEADLINE)

    def come_back(self):
        self._launch(self.command)
        until(lambda: self._is_up_or_dead() == "up", "it is back")


class Configuration(Case):
    @classmethod
    def setUpClass(cls):
        tree = Tree()
        cls.addClassCleanup(tree.remove)
        tree.install("redis.conf")
        words = tree.documents("compose.yaml")[0]["services"]["master-1"]["command"]
        cls.servers = [Deployed(words) for _ in range(3)]
        for server in cls.servers:
            cls.addClassCleanup(server.stop)

    def env(self, **more):
        nodes = ",".join(server.uri(LOGIN) for server in self.servers)
        return environment(REDLOCK_NODES=nodes, **more)

    def test_locks_work_and_nothing_is_to_be_mended(self):
        self.redlock("nodes", "--adopt", status=0)
        told = self.redlock("nodes", "--prefix", "lock:", status=0).out
        self.assertIn("3 of 3 masters vote, 2 must: locks work", told)
        self.assertNotIn("->", told)

    def test_what_it_says_is_so(self):
        config = self.servers[0].cli("CONFIG", "GET", "*").splitlines()
        config = dict(zip(config[::2], config[1::2]))
        self.assertEqual(config["maxmemory-policy"], "noeviction")
        self.assertEqual((config["appendonly"], config["appendfsync"], config["save"]),
                         ("yes", "everysec", ""))
        self.assertGreater(int(config["maxmemory"]), 0)
        self.assertIn("role:master", self.servers[0].cli("INFO", "replication"))
        self.assertNotRegex((self.servers[0].dir / "log").read_text(),
                            r"(?i)\berror|deprecated|bad directive")

    def test_nobody_gets_in_without_a_password(self):
        login, self.servers[0].login = self.servers[0].login, ()
        try:
            self.assertIn("NOAUTH", self.servers[0].cli("PING", check=False))
        finally:
            self.servers[0].login = login

    def test_locks_outlast_a_restart_of_all_masters(self):
        """Two names, as Redis 7.0 may drop scripts of several writes from its append-only file."""
        self.redlock("nodes", "--adopt", status=0)
        stop = self.tmp / "stop"
        run = self.spawn("run", "--ttl", "30s", "lock:kept", "lock:too", "--", "sh", "-c",
                         f"until [ -e {stop} ]; do sleep 0.05; done")
        values = until(self.values, "it is held")
        for server in self.servers:
            server.end()
        for server in self.servers:
            server.come_back()
        until(self.renewed, "the holder goes on renewing")
        self.assertEqual(self.values(), values)
        stop.touch()
        self.finish(run, status=0)

    def values(self):
        """The one value of the locks on all masters."""
        values = {server.cli("GET", name) for server in self.servers for name in ("lock:kept", "lock:too")}
        return values if len(values) == 1 and values != {""} else None

    def renewed(self):
        """No server but by a renewal has called it since its start."""
        return all("cmdstat_pexpire:" in server.cli("INFO", "commandstats") for server in self.servers)


class Compose(Case):
    def test_five_that_share_nothing_but_the_machine(self):
        services = compose()["services"].values()
        self.assertEqual(len(services), 5)
        data = [volume.split(":")[0] for service in services for volume in service["volumes"]
                if volume.endswith("/data")]
        self.assertEqual((len(set(data)), set(data)), (5, set(compose()["volumes"])))
        ports = [port for service in services for port in service["ports"]]
        self.assertEqual(len(set(ports)), 5)
        self.assertTrue(all(port.startswith("127.0.0.1:") for port in ports), ports)
        self.assertEqual(len({(service["image"], *service["command"]) for service in services}), 1)

    def test_it_says_what_it_is_for(self):
        self.assertIn("FOR TRYING ONLY", (DEPLOY / "compose.yaml").read_text())


class Kubernetes(Case):
    sets = manifests("StatefulSet")

    def test_five_sets_of_one_that_differ_by_their_number(self):
        for number, found in enumerate(self.sets, 1):
            self.assertEqual(found["metadata"]["name"], f"redlock-master-{number}")
            self.assertEqual(found["spec"]["replicas"], 1)
        alike = {re.sub(r"(master(-|: '))\d", r"\1N", yaml.safe_dump(found)) for found in self.sets}
        self.assertEqual((len(self.sets), len(alike)), (5, 1))

    def test_each_set_has_a_service_without_a_proxy(self):
        services = {found["metadata"]["name"]: found["spec"] for found in manifests("Service")}
        self.assertEqual(set(services), {found["spec"]["serviceName"] for found in self.sets})
        for found in self.sets:
            service = services[found["spec"]["serviceName"]]
            self.assertEqual(service["clusterIP"], "None")
            self.assertIs(service["publishNotReadyAddresses"], True)
            self.assertEqual(service["selector"], found["spec"]["template"]["metadata"]["labels"])
            self.assertEqual(service["selector"], found["spec"]["selector"]["matchLabels"])
        self.assertEqual(len({yaml.safe_dump(service["selector"]) for service in services.values()}), 5)

    def test_no_two_on_one_node(self):
        for found in self.sets:
            rules = found["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"]
            [rule] = rules["requiredDuringSchedulingIgnoredDuringExecution"]
            self.assertEqual(rule["topologyKey"], "kubernetes.io/hostname")
            wanted = rule["labelSelector"]["matchLabels"].items()
            for other in self.sets:
                self.assertLessEqual(wanted, other["spec"]["template"]["metadata"]["labels"].items())

    def test_each_has_a_volume_of_its_own(self):
        for found in self.sets:
            [claim] = found["spec"]["volumeClaimTemplates"]
            self.assertEqual(claim["spec"]["accessModes"], ["ReadWriteOncePod"])
            [pod] = found["spec"]["template"]["spec"]["containers"]
            self.assertIn({"name": claim["metadata"]["name"], "mountPath": "/data"}, pod["volumeMounts"])

    def test_nothing_restarts_a_master_needlessly(self):
        for found in self.sets:
            self.assertEqual(found["spec"]["updateStrategy"], {"type": "OnDelete"})
            [pod] = found["spec"]["template"]["spec"]["containers"]
            self.assertNotIn("livenessProbe", pod)
            # A restarted master abstains for max-ttl with its drift, and the skew of clocks.
            self.assertGreater(pod["readinessProbe"]["initialDelaySeconds"], 30 * 1.01 + 1)

    def test_one_at_a_time_is_evicted(self):
        [budget] = manifests("PodDisruptionBudget")
        self.assertEqual(budget["spec"]["maxUnavailable"], 1)
        wanted = budget["spec"]["selector"]["matchLabels"].items()
        for found in self.sets:
            self.assertLessEqual(wanted, found["spec"]["template"]["metadata"]["labels"].items())

    def test_there_is_memory_for_what_the_configuration_allows(self):
        allowed = re.search(r"^maxmemory (\w+)$", (DEPLOY / "redis.conf").read_text(), re.M)[1]
        self.assertGreaterEqual(megabytes(container()["resources"]["limits"]["memory"]),
                                2 * megabytes(allowed))

    def test_no_replicas_and_no_sentinels(self):
        words = container()["command"]
        self.assertEqual(words, compose()["services"]["master-1"]["command"])
        self.assertNotRegex((DEPLOY / "redis.conf").read_text(),
                            r"(?m)^(replicaof|slaveof|sentinel|cluster-enabled)")

    def test_the_probe_tells_a_server_that_hangs(self):
        tree = Tree()
        self.addCleanup(tree.remove)
        tree.install("redis.conf")
        [found, *_] = (it for it in tree.documents("kubernetes/masters.yaml") if it["kind"] == "StatefulSet")
        server = Deployed(found["spec"]["template"]["spec"]["containers"][0]["command"])
        self.addCleanup(server.stop)
        probe = container()["readinessProbe"]
        self.assertEqual(self.probe(server, probe), 0)
        server.pause()
        with self.assertRaises(subprocess.TimeoutExpired):
            self.probe(server, probe, timeout=1)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(DEADLINE)
        self.assertNotEqual(self.probe(server, probe), 0)

    def probe(self, server, probe, timeout=DEADLINE):
        """In the container redis-cli finds the server on the usual port."""
        (self.tmp / "redis-cli").write_text(f'#!/bin/sh\nPATH={os.environ["PATH"]}\nexec redis-cli -p '
                                            f'{server.port} "$@"\n')
        (self.tmp / "redis-cli").chmod(0o755)
        with subprocess.Popen(probe["exec"]["command"], env={"PATH": f"{self.tmp}:{os.environ['PATH']}"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as process:
            try:
                return process.wait(timeout)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
