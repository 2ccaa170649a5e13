"""A network of namespaces: each master and each worker has its own, with one link to a router that
forwards between them. A namespace lives as long as a process in it, so none is left behind.

Cuts are rules of the router that drop the packets from one node to another without an error:
neither iptables nor nft is needed."""

import os
import shutil
import subprocess

from . import kinds
from .process import Process, Trouble, drive, until

PATIENCE_S = 20
PREFIX = "10.213"  # reaches nothing outside: the namespaces have no line to the machine's network
MASTERS, WORKERS, ROUTER = 1, 2, 3
PROBE = """ip link add probe0 type veth peer name probe1
ip rule add from 10.213.1.1 to 10.213.2.1 blackhole
echo 1 >/proc/sys/net/ipv4/ip_forward"""
SHAPES = {
    "limited": "tbf rate 64kbit burst 4k latency 400ms",
    "delayed": "netem delay 60ms 20ms",
    "lossy": "netem loss 20%",
    "reordering": "netem delay 20ms reorder 50% 50%",
}


def missing():
    """Why this machine can have no namespaces; None if it can."""
    for program in ("ip", "tc", "nsenter", "unshare"):
        if not shutil.which(program):
            return f"{program} is not installed (Debian: apt install iproute2 util-linux)"
    if os.geteuid() != 0:
        return "network namespaces need root"
    done = subprocess.run(["unshare", "-n", "sh", "-ec", PROBE], stdin=subprocess.DEVNULL,
                          text=True, capture_output=True, check=False)
    if done.returncode:
        return f"this machine allows no network of namespaces: {done.stderr.strip()}"
    return None


def shapes_missing():
    """The kinds of links that this kernel cannot make."""
    return [kind for kind in kinds.SHAPED if not can_shape(SHAPES[kind])]


def can_shape(shape):
    return not subprocess.run(["unshare", "-n", "tc", "qdisc", "add", "dev", "lo", "root",
                               *shape.split()], stdin=subprocess.DEVNULL, capture_output=True,
                              check=False).returncode


def run(words, text=None):
    done = subprocess.run([str(word) for word in words], input=text or "", text=True,
                          capture_output=True, timeout=PATIENCE_S, check=False)
    if done.returncode:
        raise Trouble(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


class Namespace:
    def __init__(self, name, folder):
        self.holder = Process(name, ["unshare", "-n", "sleep", "infinity"], folder / "log" / name,
                              cwd=folder)
        drive(until(self.is_apart, f"{name}: no namespace"))

    def is_apart(self):
        pid = self.holder.child.pid
        return os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")

    @property
    def pid(self):
        return self.holder.child.pid

    @property
    def inside(self):
        return ("nsenter", "-t", str(self.pid), "-n")

    def ip(self, *lines):
        run([*self.inside, "ip", "-batch", "-"], "\n".join(lines) + "\n")


class Network:
    def __init__(self, folder, masters, workers):
        self.namespaces = {}
        self.folder = folder
        self.router = Namespace("router", folder)
        self.router.ip("link set lo up", f"addr add {self.register} dev lo")
        run([*self.router.inside, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"])
        for i in range(1, masters + 1):
            self.attach(f"master-{i}")
        for k in range(1, workers + 1):
            self.attach(f"worker-{k}")

    register = f"{PREFIX}.{ROUTER * 64}.1"

    @staticmethod
    def address(node, end=2):
        """A network of four addresses for each link: the router's end is 1, the node's is 2."""
        kind, number = node.split("-")
        side = MASTERS if kind == "master" else WORKERS
        return f"{PREFIX}.{side * 64 + int(number) // 60}.{int(number) % 60 * 4 + end}"

    def attach(self, node):
        space = self.namespaces[node] = Namespace(node, self.folder)
        self.router.ip(f"link add {node} type veth peer name line netns {space.pid}",
                       f"addr add {self.address(node, 1)}/30 dev {node}", f"link set {node} up")
        space.ip("link set lo up", f"addr add {self.address(node)}/30 dev line", "link set line up",
                 f"route add default via {self.address(node, 1)}")

    def inside(self, node):
        return self.namespaces[node].inside

    # ---- faults -----------------------------------------------------------------------------

    def swallow(self, action, links, ways):
        lines = []
        for link in links:
            worker, master = (self.address(node) for node in ends(link))
            if "requests" in ways:
                lines.append(f"rule {action} from {worker} to {master} blackhole")
            if "replies" in ways:
                lines.append(f"rule {action} from {master} to {worker} blackhole")
        self.router.ip(*lines)

    def shape(self, action, links, shape=""):
        node = common_node(links)
        for inside, device in ((self.router.inside, node), (self.inside(node), "line")):
            run([*inside, "tc", "qdisc", action, "dev", device, "root", *shape.split()])


def ends(link):
    _, worker, master = link.split("-")
    return f"worker-{worker}", f"master-{master}"


def common_node(links):
    """Of which these are all the links."""
    workers, masters = zip(*map(ends, links))
    return masters[0] if len(set(masters)) == 1 else workers[0]


def cut(network, fault):
    yield from without(network, fault, ("requests", "replies"))


def half_cut(network, fault):
    yield from without(network, fault, (fault.detail,))


def without(network, fault, ways):
    network.swallow("add", fault.targets, ways)
    yield fault.lasts
    network.swallow("del", fault.targets, ways)


def shaped(network, fault):
    network.shape("add", fault.targets, SHAPES[fault.kind])
    yield fault.lasts
    network.shape("del", fault.targets)


FAULTS = {"cut": cut, "half-cut": half_cut, **dict.fromkeys(kinds.SHAPED, shaped)}
