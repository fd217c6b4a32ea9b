"""Work for a process with limits."""

import subprocess
import sys
import time

from stratagem.base.errors import BadParameter
from stratagem.base.file_modules import handed_files


def answer(item, connection):
    """Send twice what comes, until it is nothing; the result is their sum."""
    total = 0
    while got := connection.recv():
        connection.send(2 * got)
        total += got
    return total + item


def refuse(item, connection):
    raise BadParameter("This is no way to do it.")


def break_off(item, connection):
    sys.exit(7)


def sleep(item, connection):
    """Begin another process, tell its number, and wait."""
    connection.send(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid)
    time.sleep(60)


def fill(item, connection):
    held = bytearray(item)
    held[:] = b"x" * item
    time.sleep(60)


def read_consent(item, connection):
    """Return whether files that were not allowed are refused without a question."""
    return handed_files().consent.strict
