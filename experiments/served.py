"""Servers of SmolLM2 for experiments: the same weights behind `transformers serve` and behind vLLM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stratagem.language.models.load import load
from stratagem.language.models.merging import write_base

MODEL = "smollm2"
PORTS = {"transformers": 8765, "vllm": 8766}
"""Fixed, since an audit that goes on must ask the same address."""
_SECONDS = 1200
_LAST = 30
"""Seconds that a server has to end."""
_QUIET = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}


def address(server: str) -> str:
    """Return the address of a server."""
    return f"http://127.0.0.1:{PORTS[server]}/v1"


@contextmanager
def served(server: str, folder: Path, vllm: Path) -> Iterator[None]:
    """Serve the model within; its weights are written to the folder, and `vllm` is a Python that has vLLM."""
    if not (folder / MODEL).is_dir():
        write_base(load(MODEL), folder / MODEL)
    log = folder / f"{server}.log"
    environment = {**os.environ, **_QUIET}
    with (
        log.open("w") as out,
        subprocess.Popen(
            _command(server, vllm), cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True
        ) as process,
    ):
        try:
            _wait(process, PORTS[server], log)
            yield
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a server with its own processes."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_LAST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def _command(server: str, vllm: Path) -> Sequence[str]:
    where = ["--host", "127.0.0.1", "--port", str(PORTS[server]), "--dtype", "float32"]
    if server == "transformers":
        return [sys.executable, "-m", "transformers.cli.transformers", "serve", MODEL, "--device", "cpu", *where]
    program = [str(vllm.absolute()), "-m", "vllm.entrypoints.openai.api_server", "--model", MODEL]
    return [*program, "--block-size", "32", "--generation-config", "vllm", *where]


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
