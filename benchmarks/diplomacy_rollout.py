"""Where the time of a rollout goes: one policy against six DumbBots, and the gradient of its games.

Every stretch of time belongs to the innermost part that is at work: the engine of the rules, the judging of orders, the
bots, the prompt, the trie of the orders, the model, the credit, and the rest (tables, records). What is measured itself
takes a little. `python benchmarks/diplomacy_rollout.py --model small --picture waterfall.svg`; a model may be a run's,
`run:PATH@last`, whose adapter then plays.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from stratagem.algorithms.grpo import GRPOSettings
from stratagem.games import Key, make_game
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.results import Phase
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.language.decoding.walker import Cursor
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.players.diplomacy.base import Commander
from stratagem.players.diplomacy.dumbbot import DumbBot
from stratagem.players.language import language_player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Compiler, Speaker
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.opponents.pool import OpponentPool

PARTS: dict[str, tuple[tuple[type, str], ...]] = {
    "rules engine": ((DiplomacyState, "play"), (DiplomacyState, "fork"), (Board, "__init__"), (Board, "sheet")),
    "judging": ((Phase, "parts"),),
    "bots": ((Commander, "turn"), (DumbBot, "lines")),
    "prompt": ((Speaker, "prompt"),),
    "trie": ((Compiler, "walker"), (Cursor, "allowed"), (Cursor, "forced"), (Cursor, "advance"), (Cursor, "action")),
    "model": ((TransformersEngine, "answer"),),
    "credit": ((BranchedRollouts, "_decisions"), (BranchedRollouts, "_examples")),
}
REST = "rest"
WIDTH, ROW, LEFT = 820, 30, 130


class Stopwatch:
    """Time by part, each stretch counted for the innermost part that is at work."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._stack = [REST]
        self._since = time.perf_counter()

    @contextmanager
    def at(self, part: str) -> Iterator[None]:
        """Within, time is this part's."""
        self._book()
        self._stack.append(part)
        try:
            yield
        finally:
            self._book()
            self._stack.pop()

    def _book(self) -> None:
        now = time.perf_counter()
        self.spent[self._stack[-1]] += now - self._since
        self._since = now


def watched(watch: Stopwatch, part: str, inner: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, its time booked."""

    def outer(*args: Any, **kwargs: Any) -> Any:
        with watch.at(part):
            return inner(*args, **kwargs)

    return outer


def hang(watch: Stopwatch) -> None:
    """Book the time of every part's functions and properties from now on."""
    for part, places in PARTS.items():
        for owner, name in places:
            found = owner.__dict__[name]
            if isinstance(found, property):
                setattr(owner, name, property(watched(watch, part, found.fget)))  # type: ignore[arg-type]
            else:
                setattr(owner, name, watched(watch, part, found))


def picture(parts: dict[str, float]) -> str:
    """A waterfall: each part begins where the one before it ends."""
    total, height = sum(parts.values()), ROW * len(parts) + 20
    body, done = [], 0.0
    for number, (name, spent) in enumerate(parts.items()):
        y, scale = 10 + ROW * number, (WIDTH - LEFT - 90) / total
        left, width = LEFT + done * scale, max(spent * scale, 1.0)
        body.append(f'<text x="12" y="{y + 18}">{escape(name)}</text>')
        body.append(f'<rect x="{left:.1f}" y="{y + 4}" width="{width:.1f}" height="{ROW - 10}" fill="#1f5fbf"/>')
        body.append(f'<text x="{left + width + 6:.1f}" y="{y + 18}">{spent / total:.0%}</text>')
        done += spent
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
    return head + 'font-size="12"><rect width="100%" height="100%" fill="#ffffff"/>' + "".join(body) + "</svg>\n"


def main() -> None:
    """Play and credit one iteration, and print the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="small")
    parser.add_argument("--style", default="bare")
    parser.add_argument("--until", type=int, default=1905)
    parser.add_argument("--groups", type=int, default=7)
    parser.add_argument("--picture", type=Path, help="where the plot is written, as SVG")
    asked = parser.parse_args()
    named = language_player(asked.model, style=asked.style, mode="direct", temperature=0.7, max_new_tokens=256)
    agent = ModelPlayer(name="policy", speaker=named.speaker, mode="direct")
    settings = GRPOSettings(
        groups_per_batch=asked.groups,
        opponents={"dumbbot": 1.0},
        prefix_player="dumbbot",
        prefix_turns=(0, 9),
        reward_weights={"parts": 1.0, "outcome": 1.0},
        advantage=read_advantage("per_order"),
    )
    game = make_game(f"diplomacy(until={asked.until})")
    collector = BranchedRollouts(settings, game, agent, Key(0), OpponentPool(settings, game, agent))
    watch = Stopwatch()
    hang(watch)
    begun = time.perf_counter()
    found = collector.collect(0)
    wall = time.perf_counter() - begun
    sheets, forks = len(found.examples), settings.groups * settings.forks
    lines = sum(row.action.count("\n") + 1 for e in found.episodes for row in e.decisions if row.calls and row.action)
    parts = {name: watch.spent[name] for name in (*PARTS, REST)}
    figures = {"seconds a fork": wall / forks, "sheets a second": sheets / wall, "orders a second": lines / wall}
    print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), **vars(asked)}, default=str))
    print(f"{forks} forks in {wall:.1f} s: " + ", ".join(f"{value:.2f} {name}" for name, value in figures.items()))
    for name, spent in parts.items():
        print(f"{name:14} {spent:7.2f} s  {spent / wall:5.1%}  {1e3 * spent / max(1, sheets):6.1f} ms a sheet")
    if asked.picture:
        asked.picture.write_text(picture(parts))


if __name__ == "__main__":
    main()
