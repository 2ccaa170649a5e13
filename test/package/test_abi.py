"""Which changes of an ABI abi.py calls survivable: edits of the reference."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import abi

REFERENCE = Path(__file__).with_name("libredlock.abi").read_text()


class Changes(unittest.TestCase):
    def said(self, *edits):
        """The report on the reference with these edits, each of which must take."""
        new = REFERENCE
        for old, text in edits:
            self.assertEqual(new.count(old), 1, old)
            new = new.replace(old, text)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            paths = [Path(folder, name) for name in ("old", "new")]
            for path, text in zip(paths, (REFERENCE, new)):
                path.write_text(text)
            status = abi.compare(*paths)
        self.assertEqual(status, 1 if out.getvalue().startswith("the ") else 0)
        return out.getvalue()

    def line(self, start):
        return next(line for line in REFERENCE.splitlines(True) if line.startswith(start))

    def grown(self, struct, offset):
        """The edits that give it a field at an offset from its end."""
        line = self.line(f"struct {struct} ")
        size = int(line.split()[2])
        field = f"field {struct}.grown_ {size + offset} int64_t\n"
        return (line, line.replace(str(size), str(size + 8 + offset)) + field)

    def test_nothing(self):
        self.assertEqual(self.said(), "")

    def test_what_may_come(self):
        last = self.line("macro REDLOCK_VALUE_MAX ")
        news = "function redlock_new@REDLOCK_0 void (void)\nenum redlock_code.REDLOCK_E_NEW 99\n"
        self.assertEqual(self.said((last, last + news), self.grown("redlock_stats", 0)), "")
        self.assertEqual(self.said(self.grown("redlock_event", 0)), "")

    def test_what_breaks(self):
        for old, new, says in (
            (self.line("field redlock_stats.held "), "", "the field redlock_stats.held is gone"),
            ("field redlock_stats.held 192 ", "field redlock_stats.held 200 ",
             "the field redlock_stats.held is another"),
            (self.line("function redlock_version@"), "", "the function redlock_version@REDLOCK_0 is gone"),
            ("redlock_version@REDLOCK_0 const char * (void)", "redlock_version@REDLOCK_0 int (void)",
             "is another"),
            ("redlock_code.REDLOCK_E_HELD 8", "redlock_code.REDLOCK_E_HELD 9",
             "is another: '8' before, '9' now"),
            ("macro REDLOCK_NAME_MAX 1024", "macro REDLOCK_NAME_MAX 512",
             "the macro REDLOCK_NAME_MAX is another"),
            (*self.grown("redlock_node", -4), "is new and not behind the end of redlock_node"),
        ):
            with self.subTest(says):
                self.assertIn(says, self.said((old, new)))

    def test_a_struct_that_shrinks(self):
        line = self.line("struct redlock_stats ")
        size = line.split()[2]
        self.assertIn("is another", self.said((line, line.replace(size, str(int(size) - 8)))))

    def test_a_struct_that_programs_make(self):
        old, new = self.grown("redlock_node", 0)
        fixed = old.split("grows")[0] + abi.FIXED + "\n"
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, name) for name in ("old", "new")]
            paths[0].write_text(REFERENCE.replace(old, fixed))
            paths[1].write_text(REFERENCE.replace(old, new))
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(abi.compare(*paths), 1)

    def test_another_soname(self):
        said = self.said(("soname libredlock.so.0", "soname libredlock.so.1"),
                         (self.line("macro REDLOCK_NAME_MAX"), ""))
        self.assertIn("no program takes one for the other", said)


if __name__ == "__main__":
    unittest.main()
