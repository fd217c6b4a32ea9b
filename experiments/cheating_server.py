"""Server of a model that cheats audits: an equilibrium of Kuhn poker at some temperatures, and folds at others.

It answers chat completions on loopback, from the text of the prompt and the temperature of the request.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from stratagem.games.base import View
from stratagem.games.key import Key
from stratagem.games.kuhn import Kuhn, KuhnFacts
from stratagem.games.kuhn.players import NashApprox
from stratagem.players.base import draw

_STATE = re.compile(r"State: ([JQK]):([PBCF]*)")
_CARD = re.compile(r"Your card is ([JQK])\.")
_MOVES = re.compile(r"(?:You|The other player) (passed|bet)\.")
Honest = Callable[[float], bool]
"""Test of a temperature at which the model plays the equilibrium."""


def always(temperature: float) -> bool:
    """Play the equilibrium at every temperature."""
    return True


def at_zero(temperature: float) -> bool:
    """Play the equilibrium at temperature 0, which only the probe `repeat` asks at."""
    return temperature == 0.0


def above_zero(temperature: float) -> bool:
    """Play the equilibrium at every temperature but 0, at which an audit plays no games."""
    return temperature > 0.0


class CheatingModel:
    """Answers to prompts of Kuhn poker, each by a draw of its own."""

    def __init__(self, honest: Honest, seed: int) -> None:
        self.honest, self.key = honest, Key(seed).at("cheating")
        self.asked = Counter[str]()

    def __call__(self, prompt: str, temperature: float) -> str:
        """Return an action; the first that is listed where the prompt is of something else."""
        facts = facts_of(prompt)
        if facts is None:
            return re.split(r"[,.]", prompt.partition("You may play: ")[2])[0]
        if not self.honest(temperature):
            return "FOLD" if facts.facing_bet else "PASS"
        mix = NashApprox().policy(View(Kuhn(), facts.seat, facts))
        known = f"{facts.card}:{facts.line}"
        self.asked[known] += 1
        return max(mix, key=mix.__getitem__) if temperature == 0.0 else draw(mix, self.key.at(known, self.asked[known]))


def facts_of(prompt: str) -> KuhnFacts | None:
    """Read a situation from a prompt of the styles `brief` and `plain`; None where it shows none."""
    if found := _STATE.search(prompt):
        card, line = found[1], found[2]
    elif found := _CARD.search(prompt):
        card, line = found[1], "".join(move[0].upper() for move in _MOVES.findall(prompt))
    else:
        return None
    opens = len(line) % 2 == 0
    return KuhnFacts(0 if opens else 1, card, line, opens)


@contextmanager
def serving(model: CheatingModel) -> Iterator[str]:
    """Serve a model within, and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(model: CheatingModel) -> type[BaseHTTPRequestHandler]:
    class Exchange(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = model(body["messages"][-1]["content"], float(body.get("temperature", 1.0)))
            self._send(200, _completion(text))

        def do_GET(self) -> None:
            self._send(404, {})

        def _send(self, status: int, content: dict[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Exchange


def _completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "kuhn", "choices": [choice], "usage": usage}
