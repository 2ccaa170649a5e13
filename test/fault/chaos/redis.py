"""The part of Redis' protocol that the faults need, over a Unix socket, which no cut affects."""

import socket


class RedisError(Exception):
    """The server answered with an error."""


def encode(words):
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def parse(data, at=0):
    """(value, where it ends), or None if there is more to come. An error is a value, too."""
    end = data.find(b"\r\n", at)
    if end < 0:
        return None
    kind, line, at = data[at:at + 1], data[at + 1:end], end + 2
    if kind == b"+":
        return line.decode(), at
    if kind == b"-":
        return RedisError(line.decode()), at
    if kind == b":":
        return int(line), at
    if kind == b"$":
        return parse_bulk(data, at, int(line))
    return parse_array(data, at, int(line))


def parse_bulk(data, at, size):
    if size < 0:
        return None, at
    if len(data) < at + size + 2:
        return None
    return data[at:at + size].decode(errors="replace"), at + size + 2


def parse_array(data, at, count):
    values = []
    for _ in range(count):
        one = parse(data, at)
        if one is None:
            return None
        value, at = one
        values.append(value)
    return values, at


class Connection:
    """send() does not wait; answer() does; look() returns the answers so far."""

    def __init__(self, path, timeout=5.0, password=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.timeout, self.data = timeout, b""
        try:
            self.socket.connect(str(path))
            if password:
                self.do("AUTH", password)
        except (OSError, RedisError):
            self.socket.close()
            raise

    def send(self, *words):
        self.socket.sendall(encode(words))

    def take(self):
        """The next answer in what has come, in a list of one; [] if it is not whole."""
        one = parse(self.data)
        if one is None:
            return []
        self.data = self.data[one[1]:]
        return [one[0]]

    def read(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        self.data += data

    def look(self):
        self.socket.setblocking(False)
        try:
            self.read()
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(self.timeout)
        return self.take()

    def answer(self):
        while not (one := self.take()):
            self.read()
        return one[0]

    def do(self, *words):
        self.send(*words)
        answer = self.answer()
        if isinstance(answer, RedisError):
            raise answer
        return answer

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
