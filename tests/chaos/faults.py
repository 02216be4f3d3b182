"""Real processes for real faults, and a table of what became of each.

A process is a fork of the one that runs the tests: it has its memory, its own files and its own
limits, and can be killed. ``CHAOS`` in the environment multiplies how often a fault is tried.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import time
from collections import defaultdict

import numpy as np

TIMES = int(os.environ.get("CHAOS", "1"))
TABLE = defaultdict(int)  # (fault, where, outcome): times


def record(fault, where, outcome, times=1):
    """One line of the table in docs/about/faults.md."""
    TABLE[fault, where, outcome] += times


def in_blocks(X, y, size=100):
    """A source of rows: a function that gives blocks of them."""

    def read():
        for i in range(0, len(X), size):
            yield X[i : i + size], y[i : i + size]

    return read


def start(work, *args):
    """A process that does the work; its answer is read by ``answer``."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    said = {"error": "it did not answer"}
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.close(reading)
        try:
            said = {"value": work(*args)}
        except BaseException as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps(said).encode())
    finally:
        os._exit(0)


def answer(process):
    """What the work returned or raised; None of a process that was killed."""
    pid, reading = process
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else None


def kill_after(process, seconds):
    """kill -9; whether it was still at work."""
    time.sleep(seconds)
    os.kill(process[0], signal.SIGKILL)
    return answer(process) is None


def kills(work, times, seed=3):
    """kill -9 at random moments of the work, so many times; what stands is looked at after each.

    Moments are shares of the time the whole work takes on this machine, now. Work that goes on
    where it was may end before its moment: it is begun anew, and does not count.
    """
    began = time.perf_counter()
    assert "value" in answer(start(work))
    whole = time.perf_counter() - began
    killed = 0
    for share in np.random.default_rng(seed).uniform(0.02, 0.9, 20 * times):
        killed += kill_after(start(work), share * whole)
        yield killed
        if killed == times:
            return
    raise AssertionError(f"{killed} of {times} were killed at work.")


def cpu_seconds(pid):
    """Of a process that runs."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def with_file_limit(size, work, *args):
    """The work where no file may be larger, as on a disk that is full."""

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return work(*args)

    return answer(start(limited))


def on_small_disk(folder, size, work, *args):
    """The work where ``folder`` is a disk of its own with so many bytes, seen by nobody else.

    None where mounting is not allowed.
    """

    def mounted():
        own_mounts = 0x00020000  # CLONE_NEWNS
        if ctypes.CDLL(None).unshare(own_mounts) != 0:
            return None
        option = f"size={size}"
        for words in (["--make-rprivate", "/"], ["-t", "tmpfs", "-o", option, "tmpfs", folder]):
            if subprocess.run(["mount", *words], capture_output=True, check=False).returncode:
                return None
        return [work(*args)]

    said = answer(start(mounted))
    assert "value" in said, said
    return said["value"][0] if said["value"] else None
