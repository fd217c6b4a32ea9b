"""A server that none of us wrote, started on a free port of loopback and stopped with all that it started."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(command, *, log, ready, seconds):
    """Run a command in a process group of its own until the block ends; yields once `ready` answers at all."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    for name in ("HOST", "PORT", "CONFIG_FILE"):
        environment.pop(name, None)  # some servers listen to these before their arguments
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True)
    try:
        _wait(process, log, ready, seconds)
        yield process
    finally:
        _stop(process)


def _wait(process, log, ready, seconds):
    deadline = time.monotonic() + seconds
    while not _answers(ready):
        assert process.poll() is None, f"the server ended: {log.read_text()[-2000:]}"
        assert time.monotonic() < deadline, f"the server is not ready: {log.read_text()[-2000:]}"
        time.sleep(0.1)


def _answers(address):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(address, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def _stop(process):
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(10)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
        else:
            break
