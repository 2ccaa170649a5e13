"""Makes redlocks/_redlocks, the part in C, by cffi from the headers of redlock.

    build_redlocks.py FILE.c INCLUDE    writes its source, for a build that compiles by itself

setup.py asks pkg-config where redlock is; the environment's CFLAGS and LDFLAGS count, too."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
# The callbacks on the loop of asyncio, which are in redlocks/aio.py.
CALLBACKS = """
extern "Python" void on_lease_event(redlock_lease *, const redlock_event *, void *);
extern "Python" void on_passage_here(redlock_barrier *, const redlock_barrier_result *, void *);
extern "Python" void on_tally_here(redlock_latch *, const redlock_latch_result *, void *);
extern "Python" void on_record_here(redlock_once *, const redlock_latch_result *, void *);
extern "Python" void on_asked_here(redlock_asker *, const redlock_asked *, void *);
extern "Python" void on_wish(redlock_heeder *, const redlock_wish *, void *);
extern "Python" void on_leader(redlock_observer *, const redlock_leader *, void *);
extern "Python" void on_ready(redlock *, redlock_code, const char *, void *);
extern "Python" void on_closed(redlock *, unsigned, void *);
"""


def declarations(includes):
    """The headers as cffi reads them: without attributes, inline functions and the C library."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h", "string.h"):
            Path(empty, name).touch()
        command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-P", "-nostdinc", "-U__GNUC__",
                   f"-I{empty}", *includes, str(HERE / "blocking.h")]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.sub(r"static inline [^{]*\{[^}]*\}", "", text)


def pkg_config(option):
    done = subprocess.run(["pkg-config", option, "redlock"], stdout=subprocess.PIPE, text=True, check=False)
    return shlex.split(done.stdout)


def builder(includes, **how):
    ffi = FFI()
    ffi.cdef(declarations(includes) + CALLBACKS)
    ffi.set_source("redlocks._redlocks", '#include "blocking.h"', **how)
    return ffi


def for_setup():
    """For setuptools."""
    includes = pkg_config("--cflags")
    folders = [word for word in pkg_config("--libs") if word.startswith("-L")]
    return builder(includes, sources=["blocking.c"], libraries=["redlock"], include_dirs=["."],
                   extra_compile_args=includes, extra_link_args=folders)


if __name__ == "__main__":
    builder([f"-I{sys.argv[2]}"]).emit_c_code(sys.argv[1])
