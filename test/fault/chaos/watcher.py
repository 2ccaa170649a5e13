"""Looks at every master all the time, outside the library, and records its keys.

    watcher.py FILE FOLDER/master-1/redis.sock,... NAME...

`T master-I NAME TOKEN PTTL_MS` for each name that exists, T read before the question; `T master-I -` if there
is none. Of a name that is shared TOKEN is the marker, and each reader has a line of its own, with the time
that it has left. Of a queue (`redlock:queue:NAME`) and of a set of readers (`redlock:holders:NAME`) TOKEN is
how many are in it.
SIGTERM ends it, after a last look at every master.
"""

import os
import select
import signal
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# pylint: disable=wrong-import-position
from chaos.redis import Connection, RedisError, encode  # noqa: E402
from facts import now_us  # noqa: E402

EVERY_S = 0.1
LAST_S = 2.0  # for a last look, where masters answer late or not at all
LATE_US = 200000  # after a longer time it is unclear when the answer was true
QUEUE, HOLDERS = "redlock:queue:", "redlock:holders:"
MARK = "redlock:shared"
ANSWERS = 6  # of each name


class Eye:
    """On one master: one question at a time."""

    def __init__(self, number, path, names):
        self.number, self.path, self.names = number, path, names
        self.connection, self.asked, self.login = None, 0, 0
        self.heard = 0  # the time of the last question with a recorded answer
        self.question = encode(["MULTI"]) + encode(["TIME"])
        for name in names:
            self.question += encode(["GET", name]) + encode(["PTTL", name])
            self.question += encode(["ZCARD", QUEUE + name]) + encode(["PTTL", QUEUE + name])
            self.question += encode(["ZRANGE", HOLDERS + name, "0", "-1", "WITHSCORES"])
            self.question += encode(["PTTL", HOLDERS + name])
        self.question += encode(["EXEC"])
        self.answers = 3 + ANSWERS * len(names)
        self.got = []

    def ask(self):
        try:
            if not self.connection:
                self.connect()
            if not self.asked:
                self.asked, self.got = now_us(), []
                self.connection.socket.sendall(self.question)
        except OSError:
            self.drop()

    def connect(self):
        """The answer to AUTH is not waited for: the master may be frozen."""
        folder, name = os.path.split(self.path)
        os.chdir(folder)
        self.connection, self.login = Connection(name, 0.05), 1
        self.connection.send("AUTH", Path("password").read_text(encoding="ascii").strip())

    def drop(self):
        if self.connection:
            self.connection.close()
        self.connection, self.asked = None, 0

    def hear(self):
        """The lines to be written, once the answer is whole."""
        try:
            self.got += self.connection.look()
            while one := self.connection.take():
                self.got += one
        except OSError:
            self.drop()
            return []
        if len(self.got) < self.login + self.answers:
            return []
        asked, self.asked, self.login = self.asked, 0, 0
        found = self.got[-1]
        if now_us() - asked > LATE_US or isinstance(found, RedisError):
            return []
        self.heard = asked
        return self.lines(asked, found)

    def lines(self, asked, found):
        keys = []
        for index, name in enumerate(self.names):
            first = 1 + ANSWERS * index
            token, left, waiting, queue_left, holders, set_left = found[first:first + ANSWERS]
            if token is not None:
                keys.append(f"{name} {token} {left}")
            if token == MARK:
                keys += [f"{name} {reader} {left}" for reader, left in readers(holders, found[0])]
            if waiting:
                keys.append(f"{QUEUE}{name} {waiting} {queue_left}")
            if holders:
                keys.append(f"{HOLDERS}{name} {len(holders) // 2} {set_left}")
        return [f"{asked} master-{self.number} {key}\n" for key in keys or ["-"]]


def readers(holders, time_of_master):
    """Those who are not expired, and the ms that each has left."""
    now = int(time_of_master[0]) * 1000 + int(time_of_master[1]) // 1000
    for token, expiry in zip(holders[::2], holders[1::2]):
        if float(expiry) > now:
            yield token, int(float(expiry)) - now


def hear_all(file, eyes, end):
    open_eyes = {eye.connection.socket: eye for eye in eyes if eye.connection}
    ready, _, _ = select.select(list(open_eyes), [], [], max(0.0, end - time.monotonic()))
    for sock in ready:
        file.writelines(open_eyes[sock].hear())


def watch(file, eyes, told_to_end):
    following = time.monotonic()
    while not told_to_end:
        if time.monotonic() >= following:
            following = time.monotonic() + EVERY_S
            for eye in eyes:
                eye.ask()
        hear_all(file, eyes, following)


def look_again(file, eyes):
    since, end = now_us(), time.monotonic() + LAST_S
    while time.monotonic() < end and (missing := [eye for eye in eyes if eye.heard < since]):
        for eye in missing:
            eye.ask()
        hear_all(file, eyes, time.monotonic() + EVERY_S)


def main():
    path, sockets, *names = sys.argv[1:]
    eyes = [Eye(i, socket, names) for i, socket in enumerate(sockets.split(","), 1)]
    told_to_end = []
    signal.signal(signal.SIGTERM, lambda number, _frame: told_to_end.append(number))
    with open(path, "w", encoding="ascii") as file:
        watch(file, eyes, told_to_end)
        look_again(file, eyes)


if __name__ == "__main__":
    main()
