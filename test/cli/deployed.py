"""deploy/ as a person uses it: copied by the lines in the heads of its files, with its placeholders filled.
A folder stands for /."""

import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

from harness import DEADLINE, DEPLOY, REDLOCK, environment
from server import SERVER, Server

JOBS = ("nightly", "scheduler")
PASSWORDS = {"change-this": "of-admin", "change-this-too": "of-redlock", "change-this-as-well": "of-operator"}
ADMIN = ("--user", "admin", "--pass", PASSWORDS["change-this"])


class Master(Server):
    """A server that is started by the words of a file, on an address, a port and a disk of its own."""

    def __init__(self, words):
        super().__init__(login=ADMIN, arguments=words)

    def _start(self, lines, words):
        words = ["127.0.0.1" if word == "10.0.0.1" else word for word in words]
        assert words[0] == "redis-server" and words[-2] == "--dir", words
        self.command = [SERVER, *words[1:-1], str(self.dir), "--port", str(self.port),
                        "--unixsocket", "cli.sock"]
        self._launch(self.command)


class Tree:
    """The folder: with deploy/ beside it, from which the lines copy, and with redlock and the jobs in
    /usr/local/bin."""

    def __init__(self, *patience):
        self.home = Path(tempfile.mkdtemp(prefix="redlock-deployed-"))
        self.root = self.home / "root"
        self.bin = self.root / "usr" / "local" / "bin"
        for folder in self.bin, self.root / "etc" / "cron.d", self.root / "etc" / "systemd" / "system":
            folder.mkdir(parents=True)
        shutil.copytree(DEPLOY, self.home / "deploy")
        for path in self.home.glob("deploy/**/*"):
            if path.is_file():
                path.write_text(self._fill(path.read_text()))
        # Where the real one would read /etc/redlock.conf.
        conf = self.root / "etc" / "redlock.conf"
        self.program("redlock", f"[ ! -e {conf} ] || export REDLOCK_CONFIG=\"${{REDLOCK_CONFIG-{conf}}}\"\n"
                     f"exec '{REDLOCK}' {' '.join(patience)} \"$@\"")
        self.objects = {}

    def _fill(self, text):
        text = re.sub(r"change-this(-too|-as-well)?", lambda found: PASSWORDS[found[0]], text)
        return re.sub(r"(?<![\w./])/(?=(etc|var/lib|data|usr/local/s?bin)\b)", f"{self.root}/",
                      text.replace("-o redis ", ""))

    def list_masters(self, masters):
        """A person writes their addresses into redlock.conf."""
        path = self.home / "deploy" / "redlock.conf"
        text = path.read_text()
        for number, master in enumerate(masters, 1):
            text = re.sub(rf"@10\.0\.0\.{number}\b", f"@{master.node}", text)
        path.write_text(text)

    def program(self, name, script):
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def read(self, name):
        return (self.home / "deploy" / name).read_text()

    def documents(self, name):
        return list(yaml.safe_load_all(self.read(name)))

    def lines(self, name, command=""):
        """The lines of shell in the head of a file that begin with the command."""
        head = re.match(r"(#.*\n)*", self.read(name))[0]
        return [line for line in re.findall(r"^#     (.*)$", head, re.M) if line.startswith(command)]

    def shell(self, line, **more):
        done = subprocess.run(["bash", "-c", line], cwd=self.home, stdin=subprocess.DEVNULL,
                              env=environment(PATH=f"{self.bin}:/usr/bin:/bin", **more), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE)
        assert done.returncode == 0, f"{line}: {done.stdout}"
        return done.stdout

    def install(self, name):
        """Copies as the head of the file says."""
        lines = self.lines(name, "install ")
        assert lines, f"{name} does not say where it goes"
        for line in lines:
            self.shell(line)

    def kubectl(self, name):
        """Keeps what the lines in the head make of files, and what they apply."""
        for line in self.lines(name, "kubectl "):
            words = shlex.split(line)[1:]
            space = "default"
            if words[0] == "-n":
                space, words = words[1], words[2:]
            if words[0] == "apply":
                assert words[1:] == ["-f", f"deploy/{name}"], line
                for it in self.documents(name):
                    self.objects[it["kind"], space, it["metadata"]["name"]] = it
            elif words[1] != "namespace":
                kind, source = ("Secret", words[4]) if words[1] == "secret" else ("ConfigMap", words[3])
                path = self.home / source.removeprefix("--from-file=")
                name_of = words[3] if kind == "Secret" else words[2]
                self.objects[kind, space, name_of] = {path.name: path.read_text()}

    def mount(self, pod, space):
        """Puts the files of a pod's volumes where its container has them."""
        files, modes = {}, {}
        for volume in pod["volumes"]:
            sources = volume["projected"]["sources"] if "projected" in volume else [volume]
            modes[volume["name"]] = volume.get("secret", {}).get("defaultMode", 0o644)
            for source in sources:
                kind, name = (("Secret", source["secret"].get("secretName", source["secret"].get("name")))
                              if "secret" in source else ("ConfigMap", source["configMap"]["name"]))
                files.setdefault(volume["name"], {}).update(self.objects[kind, space, name])
        for mount in pod["containers"][0]["volumeMounts"]:
            Path(mount["mountPath"]).mkdir(parents=True, exist_ok=True)
            for name, text in files.get(mount["name"], {}).items():
                (Path(mount["mountPath"]) / name).write_text(text)
                (Path(mount["mountPath"]) / name).chmod(modes[mount["name"]])

    def remove(self):
        shutil.rmtree(self.home, ignore_errors=True)
