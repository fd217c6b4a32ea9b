"""With the extra `api` alone: an evaluation, its record, report and figures load neither torch nor transformers."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys


class Absent:
    '''Packages of the extra `models`, which are not installed.'''

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "peft", "tokenizers", "accelerate", "trl"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
from fake_server import FakeServer

from stratagem.cli.main import main


def reply(exchange):
    text = "FOLD" if "FOLD, CALL" in exchange.body["messages"][-1]["content"] else "PASS"
    token = {"token": text, "logprob": -0.001}
    content = [token | {"top_logprobs": [token]}]
    exchange.send(200, {"choices": [{"message": {"content": text}, "logprobs": {"content": content}}]})


with FakeServer(reply) as server:
    players = (f"api:m@{server.url}", f"lm(api:m@{server.url}, mode=prefix)")
    words = ["eval", "kuhn(hands=1)", "--player", players[0], "--player", players[1], "--opponents", "NashApprox"]
    for command in ([*words, "--episodes", "2", "--record", "record", "--budget", "99calls"], ["report", "record"]):
        try:
            main(command)
        except SystemExit as ended:
            assert not ended.code, command
assert "torch" not in sys.modules
"""


@pytest.mark.runs
def test_an_evaluation_behind_a_server_needs_no_torch(tmp_path):
    path = [str(Path(__file__).parent), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}\n{PROGRAM}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "exploitability" in done.stdout
    assert "are unseen in a situation" in done.stdout
