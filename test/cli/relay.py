"""Between the command and a master: answers that come late, or are others; and requests that do not come."""

import contextlib
import itertools
import socket
import threading
import time


class Front:
    """An address of its own; each connection goes on to the next of these ports."""

    def __init__(self, ports):
        self.next = itertools.cycle(ports)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            master = socket.create_connection(("127.0.0.1", next(self.next)))
            self.connect(client, master)

    @staticmethod
    def start(target, *ends):
        threading.Thread(target=target, args=ends, daemon=True).start()


class Relay(Front):
    def __init__(self, port, late_s=0.0, change=lambda data: data, asks=lambda data: data):
        self.to, self.late_s, self.change, self.asks = port, late_s, change, asks
        super().__init__([port])

    def connect(self, client, master):
        self.start(self.ask, client, master)
        self.start(self.answer, master, client)

    def ask(self, client, master):
        with client, contextlib.suppress(OSError):
            while data := client.recv(65536):
                master.sendall(self.asks(data))
            master.shutdown(socket.SHUT_WR)

    def answer(self, master, client):
        with master, contextlib.suppress(OSError):
            while data := master.recv(65536):
                time.sleep(self.late_s)
                client.sendall(self.change(data))
            client.shutdown(socket.SHUT_WR)


def through(cluster, relays):
    """The list of masters, the first ones by these relays."""
    uris = [uri.replace(f":{relay.to}", f":{relay.port}") for uri, relay in zip(cluster.uris, relays)]
    return ",".join([*uris, *cluster.uris[len(uris):]])


class Balancer(Front):
    """One address in front of several masters."""

    def __init__(self, ports):
        self.pairs = []
        super().__init__(ports)

    def connect(self, client, master):
        self.pairs.append((client, master))
        self.start(self.carry, client, master)
        self.start(self.carry, master, client)

    @staticmethod
    def carry(source, to):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                to.sendall(data)
        for end in (source, to):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Ends all connections that there are."""
        for end in itertools.chain.from_iterable(self.pairs):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.pairs = []
