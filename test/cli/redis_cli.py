"""The words that redis-cli prints of a command, without a process for it: tests ask many times a second."""

import socket
import ssl
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "fault"))

from chaos.redis import encode, parse  # noqa: E402


def by_port(port, deadline, ca=None):
    """A connection; by TLS, if the file of a CA is given."""
    connected = socket.create_connection(("127.0.0.1", port), deadline)
    if not ca:
        return connected
    context = ssl.create_default_context(cafile=ca)
    context.check_hostname = False
    return context.wrap_socket(connected)


def by_path(path, deadline):
    connected = socket.socket(socket.AF_UNIX)
    connected.settimeout(deadline)
    try:
        connected.connect(str(path))
    except OSError:
        connected.close()
        raise
    return connected


def shown(answer):
    """An error is shown, too, and does not fail."""
    if isinstance(answer, list):
        return "\n".join(map(shown, answer))
    return "" if answer is None else str(answer)


def answers(connected):
    data = b""
    while True:
        while (one := parse(data)) is None:
            more = connected.recv(1 << 16)
            if not more:
                raise ConnectionResetError("the server closed the connection")
            data += more
        yield one[0]
        data = data[one[1]:]


def told(connected, login, words):
    """`login`: the user, if there is one, and the password. As for redis-cli, it may be refused."""
    with connected:
        asked = [("AUTH", *login)] if login else []
        connected.sendall(b"".join(map(encode, [*asked, words])))
        answer = answers(connected)
        for _ in asked:
            next(answer)
        return shown(next(answer)).strip()
