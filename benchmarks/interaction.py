"""Decisions a second of a model in self-play over many tables, six games mixed, beside `generate`.

The games of SCO-PAL's stage I go round; 256 tables are open at a time, and as one ends the next opens. Beside it
transformers' `generate` says replies to some of the same prompts, in batches of 32 of like lengths filled up on the
left, without any rules, tables or records: `python benchmarks/interaction.py --games 600`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import torch
import transformers
from engine_replies import theirs
from engine_timing import Figure, count

from stratagem.algorithms.scopal.recipe import SIX
from stratagem.games import Key, make_game
from stratagem.language.engines.base import Call
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.players.language import language_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play

ASKED = "at least 300"
SAMPLE, BATCH = 256, 32
"""So many of the prompts are given to `generate`, so many at once."""


def setups(matches: Sequence[Match], games: int, key: Key) -> Iterator[Setup]:
    """Games of all kinds in turn."""
    for number in range(games):
        match = matches[number % len(matches)]
        slots = tuple(range(match.game.spec.seats))
        yield Setup(id=f"bench/{number}", match=match, slots=slots, key=key.at(number), purpose="train")


def measure(model: str, style: str, games: int, live: int) -> Iterator[Figure]:
    """Decisions a second, by kind how many there were, and the ratio to `generate`."""
    player = language_player(model, style=style, mode="direct", temperature=0.7)
    matches = [Match(game, [player] * game.spec.seats) for game in map(make_game, SIX)]
    list(play(setups(matches, len(SIX), Key(1)), live=live))
    start = time.perf_counter()
    episodes = list(play(setups(matches, games, Key(0)), live=live))
    spent = time.perf_counter() - start
    made = Counter[str]()
    for episode in episodes:
        made[episode.game] += sum(episode.num_decisions)
    speed = made.total() / spent
    for game, number in made.items():
        yield count(f"{game}: decisions", number, "")
    yield count(f"{games} games, {live} tables at a time", speed, "decisions/s", ASKED)
    asked, lm = calls(episodes), load(model)  # transformers' model; the player's may be our own, without `generate`
    generated(lm, asked[:BATCH])
    rival = generated(lm, asked)
    yield count(f"transformers' generate on {SAMPLE} of the prompts", rival, "decisions/s")
    yield count("times as fast as generate, rules and records included", speed / rival, "times")


def calls(episodes: Sequence[Episode]) -> list[Call]:
    """Replies that were said, some of all."""
    every = [call for episode in episodes for row in episode.decisions for call in row.calls if call.tokens]
    return random.Random(0).sample(every, min(SAMPLE, len(every)))


def generated(lm: LanguageModel, asked: Sequence[Call]) -> float:
    """Replies a second, each batch as long as its longest reply."""
    ordered = sorted(asked, key=lambda call: len(call.tokens))
    start = time.perf_counter()
    for first in range(0, len(ordered), BATCH):
        batch = ordered[first : first + BATCH]
        theirs(lm, [call.prompt.tokens for call in batch], len(batch[-1].tokens), do_sample=True, temperature=0.7)
    return len(ordered) / (time.perf_counter() - start)


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--style", default="plain(listed=False)")
    parser.add_argument("--games", type=int, default=600)
    parser.add_argument("--live", type=int, default=256)
    asked = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    print(f"{asked.model}, {asked.style}, {torch.get_num_threads()} threads")
    for figure in measure(asked.model, asked.style, asked.games, asked.live):
        print(f"{figure.best:10,.1f} {figure.unit:12} {figure.asked:13} {figure.name}", flush=True)


if __name__ == "__main__":
    main()
