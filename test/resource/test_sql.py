"""The statements of examples/fenced/*.sql, on SQLite and on PostgreSQL."""

import glob
import os
import pwd
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

from fences import (FENCE, FENCED, LARGEST, NEWER, OLDER, ROOT, at_once, hands, newest,
                    steps_back)
from harness import DEADLINE, environment, until


def statements(name):
    """{"claim": "UPDATE ...", ...}: a statement goes by the first words of the comment above."""
    found = {}
    for part in re.split(r"\n\n+", (FENCED / name).read_text()):
        title = re.match(r"-- ([^:\n]+)(:.*)?\n", part)
        text = re.sub(r"^--.*\n", "", part, flags=re.M).strip()
        if text:
            found[title[1]] = text.rstrip(";")
    return found


ROW, GUARD = statements("row.sql"), statements("guard.sql")
# The order in which writes were committed, for rows that are locked until then.
LOG = "CREATE TABLE log (at {serial}, fence BIGINT NOT NULL)"


class SqliteSession:
    """One connection.  run() gives the number of rows that were touched, and the rows."""

    def __init__(self, path, patience=DEADLINE):
        self.connection = sqlite3.connect(path, timeout=patience, isolation_level=None,
                                          check_same_thread=False)

    def run(self, statement, **values):
        cursor = self.connection.execute(statement, values)
        rows = cursor.fetchall()
        return max(cursor.rowcount, len(rows)), rows

    def close(self):
        self.connection.close()


class Sqlite:
    serial = "INTEGER PRIMARY KEY AUTOINCREMENT"
    refusal = sqlite3.Error

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="redlock-fence-")

    def new_database(self, name):
        self.path = os.path.join(self.dir, name)

    def session(self):
        return SqliteSession(self.path)

    def assert_waits(self, test, statement, **values):
        """The statement must wait for the transaction that is open; returns what gives its
        answer once that one has ended."""
        impatient = SqliteSession(self.path, patience=0)
        with test.assertRaisesRegex(sqlite3.OperationalError, "locked"):
            impatient.run(statement, **values)
        impatient.close()
        session = self.session()
        return lambda: (session.run(statement, **values), session.close())[0]

    def stop(self):
        shutil.rmtree(self.dir)


class PsqlError(Exception):
    pass


class PsqlSession:
    END = "-- end of the answer --"

    def __init__(self, command):
        self.psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, env=environment(), text=True)

    def send(self, statement, **values):
        def literal(name):
            value = values[name[1]]
            return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
        text = re.sub(r":(\w+)", literal, statement)
        self.psql.stdin.write(f"{text};\n\\echo {self.END}\n")
        self.psql.stdin.flush()

    def answer(self):
        """Rows first, then the command's tag with its count, as UPDATE 1 or INSERT 0 1."""
        rows, count, error = [], 0, None
        for line in iter(self.psql.stdout.readline, ""):
            line = line.rstrip("\n")
            if line == self.END:
                if error:
                    raise PsqlError(error)
                return count, rows
            if line.startswith("ERROR"):
                error = line
            tag = re.fullmatch(r"[A-Z]+(?: [A-Z]+)?(?: 0)?(?: (\d+))?", line)
            if tag:
                count = int(tag[1] or 0)
            elif line:
                rows.append(tuple(int(value) if value.isdigit() else value
                                  for value in line.split("|")))
        raise AssertionError("psql ended")

    def run(self, statement, **values):
        self.send(statement, **values)
        return self.answer()

    def close(self):
        self.psql.stdin.close()
        self.psql.wait(DEADLINE)
        self.psql.stdout.close()


def postgres_programs():
    folders = [os.path.dirname(os.path.realpath(path)) for path in [shutil.which("initdb")] if path]
    folders += sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    for folder in folders:
        paths = {name: os.path.join(folder, name) for name in ("initdb", "postgres", "psql")}
        if all(os.access(path, os.X_OK) for path in paths.values()):
            return paths
    return None


class Postgres:
    """A server without a port, in a folder of its own."""

    serial = "BIGSERIAL PRIMARY KEY"
    refusal = PsqlError
    programs = postgres_programs()

    def __init__(self):
        # It refuses to run as root.
        self.as_other = {}
        self.dir = tempfile.mkdtemp(prefix="redlock-fence-")
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self.as_other = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.dir, nobody.pw_uid, nobody.pw_gid)
        self.server = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        data = os.path.join(self.dir, "data")
        done = subprocess.run([self.programs["initdb"], "-D", data, "-U", "test", "-A", "trust",
                               "-E", "UTF8", "--locale=C", "--no-sync"], env=environment(),
                              cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=90, **self.as_other)
        if done.returncode:
            raise AssertionError(done.stdout)
        self.server = subprocess.Popen([self.programs["postgres"], "-D", data, "-k", self.dir, "-c",
                                        "listen_addresses=", "-c", "fsync=off"], cwd=self.dir,
                                       env=environment(), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       **self.as_other)
        until(self.answers, "postgres answers")

    def psql(self, database):
        return [self.programs["psql"], "-X", "-A", "-t", "-h", self.dir, "-U", "test", database]

    def answers(self):
        if self.server.poll() is not None:
            raise AssertionError(f"postgres ended with {self.server.returncode}")
        return subprocess.run([*self.psql("postgres"), "-c", "SELECT 1"], env=environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=DEADLINE).returncode == 0

    def new_database(self, name):
        self.database = "postgres"
        session = self.session()
        session.run(f"CREATE DATABASE {name}")
        session.close()
        self.database = name

    def session(self):
        return PsqlSession(self.psql(self.database))

    def assert_waits(self, test, statement, **values):
        waiting, watching = self.session(), self.session()
        waiting.send(statement, **values)
        until(lambda: watching.run("SELECT count(*) FROM pg_stat_activity WHERE "
                                   "wait_event_type = 'Lock' AND datname = current_database()"
                                   )[1] == [(1,)], "the statement waits for a lock")
        watching.close()
        return lambda: (waiting.answer(), waiting.close())[0]

    def stop(self):
        if self.server:
            self.server.send_signal(signal.SIGINT)
            self.server.wait(DEADLINE)
        shutil.rmtree(self.dir)


class Recipes:
    """Run on each database below."""

    @classmethod
    def setUpClass(cls):
        cls.database = cls.Database()
        cls.addClassCleanup(cls.database.stop)

    def setUp(self):
        self.database.new_database(self.id().rsplit(".", 1)[1])
        self.session = self.new_session()
        self.session.run(ROW["schema"])
        self.session.run(GUARD["schema"])
        self.session.run(LOG.format(serial=self.database.serial))

    def new_session(self):
        session = self.database.session()
        self.addCleanup(session.close)
        return session

    def touched(self, statement, **values):
        return self.session.run(statement, **values)[0]

    def account(self):
        return self.session.run("SELECT balance, fence FROM account WHERE id = 7")[1]

    def first(self, fence, balance):
        return self.touched(ROW["first write"], id=7, fence=fence, balance=balance)

    def write(self, fence, balance):
        return self.touched(ROW["write"], id=7, fence=fence, balance=balance)

    def once(self, fence, amount):
        return self.touched(ROW["write, once"], id=7, fence=fence, amount=amount)

    def claim(self, fence):
        return self.session.run(ROW["claim"], id=7, fence=fence)

    def guard(self, fence, resource="ledger"):
        return self.touched(GUARD["claim"], resource=resource, fence=fence)

    def test_first_write(self):
        self.assertEqual(self.write(FENCE, 10), 0)  # there is no such row
        self.assertEqual(self.first(FENCE, 10), 1)
        self.assertEqual(self.account(), [(10, FENCE)])
        self.assertEqual(self.first(OLDER, 11), 0)
        self.assertEqual(self.first(FENCE, 12), 1)
        self.assertEqual(self.account(), [(12, FENCE)])

    def test_delayed_writer_is_refused(self):
        self.first(OLDER, 10)
        self.assertEqual(self.write(FENCE, 20), 1)
        self.assertEqual(self.write(OLDER, 11), 0)
        self.assertEqual(self.account(), [(20, FENCE)])
        self.assertEqual(self.write(NEWER, 30), 1)

    def test_same_holder_writes_again(self):
        self.first(OLDER, 10)
        for balance in (20, 21, 22):
            self.assertEqual(self.write(FENCE, balance), 1)
            self.assertEqual(self.account(), [(balance, FENCE)])

    def test_once_means_once(self):
        self.first(OLDER, 10)
        self.assertEqual(self.once(FENCE, 5), 1)
        self.assertEqual(self.once(FENCE, 5), 0)
        self.assertEqual(self.once(OLDER, 5), 0)
        self.assertEqual(self.account(), [(15, FENCE)])

    def test_claim_keeps_older_holders_out(self):
        self.first(OLDER, 10)
        self.assertEqual(self.claim(FENCE), (1, [(10,)]))
        self.assertEqual(self.write(OLDER, 11), 0)
        self.assertEqual(self.claim(OLDER), (0, []))
        self.assertEqual(self.write(FENCE, 20), 1)

    def test_largest_fences_are_told_apart(self):
        self.assertEqual(self.first(LARGEST - 1, 1), 1)
        self.assertEqual(self.write(LARGEST, 2), 1)
        self.assertEqual(self.write(LARGEST - 1, 3), 0)
        self.assertEqual(self.account(), [(2, LARGEST)])

    def refused(self, statement, **values):
        try:
            return self.touched(statement, **values) == 0
        except self.database.refusal:
            return True

    def test_garbage_is_refused(self):
        self.session.run("INSERT INTO account (id, balance) VALUES (7, 10)")
        before = self.account()
        for fence in ("", "abc", "5 6", "1e99", -1, 0, LARGEST + 1):
            with self.subTest(fence=fence):
                for title in ("write", "write, once", "claim", "first write"):
                    self.assertTrue(self.refused(ROW[title], id=7, fence=fence, balance=11,
                                                 amount=1), title)
                self.assertTrue(self.refused(ROW["first write"], id=8, fence=fence, balance=11))
                self.assertTrue(self.refused(GUARD["claim"], resource="ledger", fence=fence))
                self.assertEqual(self.account(), before)
        self.assertEqual(self.session.run("SELECT id FROM account")[1], [(7,)])
        self.assertEqual(self.session.run("SELECT fence FROM fence_guard")[1], [])
        self.assertEqual(self.write(FENCE, 11), 1)

    def test_guard(self):
        self.assertEqual(self.guard(FENCE), 1)
        self.assertEqual(self.guard(FENCE), 1)
        self.assertEqual(self.guard(OLDER), 0)
        self.assertEqual(self.guard(OLDER, "another"), 1)
        self.assertEqual(self.guard(NEWER), 1)
        self.assertEqual(self.guard(FENCE), 0)

    def test_guard_holds_until_the_transaction_ends(self):
        self.first(1, 10)
        self.session.run("BEGIN")
        self.assertEqual(self.guard(FENCE), 1)
        answer = self.database.assert_waits(self, GUARD["claim"], resource="ledger", fence=NEWER)
        self.write(FENCE, 20)
        self.session.run("COMMIT")
        self.assertEqual(answer()[0], 1)
        self.assertEqual(self.guard(FENCE), 0)

    def test_older_claim_that_waited_is_refused(self):
        self.guard(1)
        self.session.run("BEGIN")
        self.assertEqual(self.guard(FENCE), 1)
        answer = self.database.assert_waits(self, GUARD["claim"], resource="ledger", fence=OLDER)
        self.session.run("COMMIT")
        self.assertEqual(answer()[0], 0)

    def test_a_claim_rolled_back_is_none(self):
        self.guard(OLDER)
        self.session.run("BEGIN")
        self.guard(FENCE)
        self.session.run("ROLLBACK")
        self.assertEqual(self.guard(OLDER), 1)

    def race(self, write):
        """Concurrent transactions, each with a line in the log if its write was accepted."""
        dealt = hands(writers=3, each=40)
        sessions = [self.new_session() for _ in dealt]

        def transactions(work):
            session, hand = work
            for fence in hand:
                session.run("BEGIN")
                if write(session, fence):
                    session.run("INSERT INTO log (fence) VALUES (:fence)", fence=fence)
                session.run("COMMIT")

        at_once(transactions, list(zip(sessions, dealt)))
        log = [fence for fence, in self.session.run("SELECT fence FROM log ORDER BY at")[1]]
        self.assertGreater(len(log), 1)
        self.assertEqual(log[-1], newest(dealt))
        self.assertEqual(steps_back(log), [])

    def test_concurrent_rows_never_go_back(self):
        self.race(lambda session, fence: session.run(ROW["first write"], id=7, fence=fence,
                                                     balance=fence)[0])
        self.assertEqual(len(set(self.account()[0])), 1)

    def test_concurrent_guards_never_go_back(self):
        self.race(lambda session, fence: session.run(GUARD["claim"], resource="ledger",
                                                     fence=fence)[0])


class Manual(unittest.TestCase):
    def test_shows_what_is_tested(self):
        def words(text):
            return " ".join(text.split())
        text = (ROOT / "doc" / "fencing.md").read_text()
        shown = [words(statement) for block in re.findall(r"^```sql\n(.*?)^```", text, re.M | re.S)
                 for statement in block.split(";") if statement.strip()]
        tested = [words(statement) for name in (ROW, GUARD) for statement in name.values()]
        self.assertGreater(len(shown), 2)
        for statement in shown:
            self.assertIn(statement, tested)


class OnSqlite(Recipes, unittest.TestCase):
    Database = Sqlite


@unittest.skipUnless(Postgres.programs, "no PostgreSQL here (initdb, postgres, psql)")
class OnPostgres(Recipes, unittest.TestCase):
    Database = Postgres


if __name__ == "__main__":
    unittest.main(verbosity=2)
