"""Programs of their own: how they end, and the examples of the page."""

import os
import re
import signal
import subprocess
import sys
import unittest

from places import DEADLINE, DOUBLE, ROOT, Case, until

HEAD = """
import asyncio, os, sys
{testing}
import redlocks, redlocks.aio
nodes = {nodes!r}
"""


class Ends(Case):
    def start(self, program, *options):
        head = HEAD.format(nodes=self.nodes, testing="import redlocks.testing" if DOUBLE else "")
        process = subprocess.Popen([sys.executable, *options, "-c", head + program], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def says(self, program, status=0, *options):
        process = self.start(program, *options)
        out, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, status, out + err)
        return out, err

    def is_free(self, name):
        if not DOUBLE:
            until(lambda: not any(self.cluster.each_cli("GET", name)), f"{name} is free")

    def test_an_interpreter_ends_while_leases_are_held(self):
        for program in (
                "c = redlocks.Client(nodes)\nlease = c.acquire('end', ttl=30, on_event=print)",
                "c = redlocks.Client(nodes)\nlease = c.acquire('end', ttl=30)\nsys.exit()",
                "c = redlocks.Client(nodes)\nc.lock('end', ttl=30).__enter__()",
                "async def main():\n global c, lease\n c = redlocks.aio.Client(nodes)\n"
                " lease = await c.acquire('end', ttl=30)\nasyncio.run(main())"):
            with self.subTest(program):
                self.assertEqual(self.says(program)[1], "")
                self.is_free("end")

    def test_it_ends_while_threads_wait_and_callbacks_run(self):
        """The threads write past sys.stdout, whose lock Python wants free at its end."""
        out, err = self.says("""
import threading, time
c = redlocks.Client(nodes)
lease = c.acquire('busy', ttl=30)
def wait():
    os.write(1, b"waits\\n")
    try:
        c.acquire('busy', wait=redlocks.FOREVER)
    except redlocks.EndedError as error:
        os.write(1, error.code.name.encode() + b"\\n")
for _ in range(4):
    threading.Thread(target=wait, daemon=True).start()
def watch():
    try:
        c.next_leader('busy')
    except redlocks.EndedError:
        pass
threading.Thread(target=watch, daemon=True).start()
while 'redlock_waiting 4\\n' not in c.metrics():
    time.sleep(0.01)
""")
        self.assertEqual((out.count("waits"), err), (4, ""))
        self.is_free("busy")

    def test_ctrl_c_at_a_lock_of_asyncio(self):
        process = self.start("""
async def main():
    async with redlocks.aio.Client(nodes) as c, c.lock('ctrl-c', ttl=30):
        print('holds', flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
""")
        self.assertEqual(process.stdout.readline(), "holds\n")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        self.assertIn("KeyboardInterrupt", err)
        self.is_free("ctrl-c")

    def test_a_loop_of_another_thread_has_ended(self):
        _, err = self.says("""
import threading
async def main():
    global c, lease
    c = redlocks.aio.Client(nodes)
    lease = await c.acquire('thread', ttl=1)
thread = threading.Thread(target=lambda: asyncio.run(main()))
thread.start()
thread.join()
""")
        self.assertEqual(err, "redlocks: a client was not closed; "
                              "the masters drop its leases after the ttl\n")

    def test_threads_open_the_first_client(self):
        self.assertEqual(self.says("""
import threading, time
from redlocks import _library
def slowly(part, name, value):
    object.__setattr__(part, name, value)
    time.sleep(0.001)
_library._Part.__setattr__ = slowly
thread = threading.Thread(target=lambda: redlocks.Client(nodes).close())
thread.start()
while not _library.is_loaded():
    time.sleep(0)
redlocks.Client(nodes).close()
thread.join()
"""), ("", ""))

    @unittest.skipIf(DOUBLE, "a forked child has masters of its own")
    def test_a_child_of_multiprocessing_has_a_client_of_its_own(self):
        out, err = self.says("""
import multiprocessing
c = redlocks.Client(nodes)
def child(said):
    try:
        c.acquire('x')
    except redlocks.ForkedError as error:
        said.put(error.code.name)
    with redlocks.Client(nodes) as own:
        said.put(own.try_acquire('forked'))
if __name__ == '__main__':
    context = multiprocessing.get_context('fork')
    said = context.Queue()
    with c.lock('forked', ttl=20):
        process = context.Process(target=child, args=(said,))
        process.start()
        print(said.get(), said.get())
        process.join()
        print(process.exitcode)
""")
        self.assertEqual((out.split(), err), (["E_FORKED", "None", "0"], ""))

    def test_the_masters_are_gone_at_the_end(self):
        if not DOUBLE:
            return
        _, err = self.says("""
c = redlocks.Client(nodes)
lease = c.acquire('gone')
for master in range(5):
    redlocks.testing.hang(master)
""")
        self.assertRegex(err, r"redlocks: \d releases were not answered")


class Page(Case):
    """The first program of the page, as it stands there; the rest is Python."""

    def blocks(self):
        text = (ROOT / "doc/python.md").read_text()
        return re.findall(r"```python\n(.*?)```", text, re.S)

    def test_the_first_lock_takes_three_lines(self):
        first = self.blocks()[0]
        self.assertLessEqual(len(first.strip().splitlines()), 3)
        head = "import redlocks.testing\n" if DOUBLE else ""
        head += "def write_report(lease): print(lease.valid)\n"
        done = subprocess.run([sys.executable, "-c", head + first], text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "REDLOCK_NODES": self.nodes}, timeout=DEADLINE, check=True)
        self.assertEqual(done.stdout, "True\n")

    def test_all_of_it_is_python(self):
        self.assertGreater(len(self.blocks()), 5)
        for block in self.blocks():
            compile(block, "doc/python.md", "exec", flags=8192)  # PyCF_ALLOW_TOP_LEVEL_AWAIT

    def test_the_five_tests_are_those_of_the_example(self):
        example = iter((ROOT / "bindings/python/examples/test_worker.py").read_text().splitlines())
        shown = next(block for block in self.blocks() if "lost_comes_in_time" in block).splitlines()
        for line in shown:
            self.assertIn(line, example)


if __name__ == "__main__":
    unittest.main()
