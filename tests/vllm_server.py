"""A vLLM server of its own process for the tests, and its stand-in where vLLM is not installed."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from fake_vllm import INSTALLED
from stratagem.language.models.load import load
from stratagem.language.models.merging import write_base

OPTIONS = """
    --served-model-name base --host 127.0.0.1 --dtype float32 --generation-config vllm --block-size 32
    --enable-lora --max-loras 9 --max-lora-rank 32 --no-async-scheduling --disable-uvicorn-access-log
    --logits-processors stratagem.language.engines.vllm.plugin:V1 --logprobs-mode processed_logprobs --max-logprobs 1024
"""
ENVIRONMENT = {
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
}
_SECONDS = 600


@contextmanager
def served(model, folder):
    """The address of a server with a built-in model, whose weights are written to a folder."""
    write_base(load(model), folder)
    if not INSTALLED:
        from fake_vllm_server import FakeVLLMServer

        with FakeVLLMServer(folder) as server:
            yield server.address
        return
    with _started(folder) as address:
        yield address


@contextmanager
def _started(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    command = [*program, "--model", str(folder), "--port", str(port), *OPTIONS.split()]
    source = Path(__file__).parent.parent / "src"
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": str(source)}
    log = folder / "server.log"
    with (
        log.open("w") as out,
        subprocess.Popen(command, env=environment, stdout=out, stderr=out) as one,
    ):
        try:
            _wait(one, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            one.terminate()


def _wait(process, port, log):
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
