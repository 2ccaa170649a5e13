"""A connection to one Redis server, and the register on it that the workers act on."""

import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

from chaos.redis import RedisError, encode, parse

SCRIPT = Path(__file__).resolve().with_name("register.lua")


class Connection:
    """After any trouble it is closed, so that no reply can be taken for another's."""

    def __init__(self, host, port, timeout_s, password=None):
        self.address = (host, port)
        self.password = password
        self.timeout_s = timeout_s
        self.socket = None
        self.left = b""

    def call(self, *words):
        """The reply: str, int, None or a list. OSError where there is none, or an error."""
        end = time.monotonic() + self.timeout_s
        try:
            if not self.socket:
                self.open(end)
            return self.ask(words, end)
        except OSError:
            self.close()
            raise

    def open(self, end):
        self.left = b""
        self.socket = socket.create_connection(self.address, self.timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.password:
            self.ask(("AUTH", self.password), end)

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def ask(self, words, end):
        self.socket.settimeout(self.timeout_s)
        self.socket.sendall(encode(words))
        while (one := parse(self.left)) is None:
            self.more(end)
        answer, self.left = one[0], self.left[one[1]:]
        if isinstance(answer, RedisError):
            raise OSError(str(answer))
        return answer

    def more(self, end):
        self.socket.settimeout(max(0.001, end - time.monotonic()))
        got = self.socket.recv(65536)
        if not got or time.monotonic() > end:
            raise OSError("no reply")
        self.left += got


class Register:
    """The protected resource. If it does not answer, it delays its user only briefly."""

    TIMEOUT_S = 0.1

    def __init__(self, address, label):
        uri = urlsplit(f"redis://{address}")
        self.label = label
        self.script = SCRIPT.read_text(encoding="ascii")
        self.connection = Connection(uri.hostname, uri.port, self.TIMEOUT_S, uri.password)

    def act(self, name, fence, number, act="write"):
        """["accepted", "fresh"], or [] if it does not answer."""
        try:
            verdict = self.connection.call("EVAL", self.script, 2, "register", "register:fences",
                                           name, fence, self.label, number, act)
        except OSError:
            return []
        return verdict.split()
