"""masters.py - the masters of a run, by number from 1; notices those that die."""
import os
import subprocess


class Masters:
    def __init__(self, script, folder, count):
        self.script, self.folder = script, folder
        self.expected_dead, self.reported = set(), set()
        self.call("start", "-n", str(count))
        self.nodes = self.call("nodes").strip().split(",")
        self.pids = [int(line.split()[2]) for line in self.call("status").splitlines()
                     if len(line.split()) > 2 and line.split()[0].isdigit()]

    def call(self, command, *arguments):
        done = subprocess.run([self.script, command, "--dir", self.folder, *arguments],
                              stdout=subprocess.PIPE, text=True, check=command == "start",
                              start_new_session=True)
        return done.stdout

    def list(self, *numbers):
        return ",".join(self.nodes[number - 1] for number in numbers)

    def address(self, number):
        host, port = self.nodes[number - 1].rsplit("@", 1)[1].rsplit(":", 1)
        return host, port

    def by_way_of(self, number, port):
        """A master as it is reached through a proxy at this port."""
        return f'{self.nodes[number - 1].rsplit(":", 1)[0]}:{port}'

    def kill(self, number):
        if number not in self.expected_dead:
            self.expected_dead.add(number)
            self.call("kill", str(number))

    def restart(self, number):
        self.call("restart", str(number))

    def pause(self, number):
        self.call("pause", str(number))

    def resume(self, number):
        self.call("resume", str(number))

    def cpu_s(self, *numbers):
        """CPU seconds that they have had so far; 0 where the system does not say."""
        ns = 0
        for number in numbers:
            try:
                with open(f"/proc/{self.pids[number - 1]}/schedstat") as stat:
                    ns += int(stat.read().split()[0])
            except OSError:
                return 0
        return ns / 1e9

    def newly_dead(self):
        """Numbers of masters that died by themselves, each returned once."""
        dead = []
        for number, pid in enumerate(self.pids, 1):
            if number in self.expected_dead | self.reported:
                continue
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    gone = stat.read().rsplit(")", 1)[1].split()[0] == "Z"
            except OSError:
                gone = True
            if gone:
                self.reported.add(number)
                dead.append(number)
        return dead

    def stop(self):
        self.call("stop")
