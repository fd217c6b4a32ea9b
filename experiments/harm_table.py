"""Tables of experiments/harm.py: play of the last policy at all seats, and the declared tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from result_tables import (
    FinishedRun,
    Row,
    by_seed,
    family_tests,
    finished,
    known_arms,
    merged,
    write_tests,
)

from stratagem.api.collusions import collusion
from stratagem.games.auction import BIDS, Auction
from stratagem.games.base import Game
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import safety_of, signal_names, weights_of
from stratagem.games.talk import without_talk
from stratagem.measure.expectation import SCALE
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.workers.shards import play_setups
from stratagem.sweeps.comparison import PairedTest

DEALS = 200
"""Deals on which a policy plays itself; all runs of a game have the same."""
PAIR, THIRD = (0, 1), 2
"""Seats that may speak where there is talk, and the third party."""
SHOWN = (
    "collusion", "externality", "safety", "seller's revenue", "pair's payoff", "third party's payoff",
    "pair's gain by talk", "third party's gain by talk", "the gain by shuffled messages",
)  # fmt: skip
PENALISED = ("collusion", "externality")


def _contrasts(game: str, figures: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Return penalties with less without, of each figure, with talk and in silence."""
    return {
        f"{game}: {figure}, {channel}": (f"{game}-{channel}-with", f"{game}-{channel}-without", figure)
        for figure in figures
        for channel in ("talk", "silent")
    }


def _of_talk(game: str, figures: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Return talk less silence without penalties, of each figure."""
    return {f"{game}: {figure}": (f"{game}-talk-without", f"{game}-silent-without", figure) for figure in figures}


FEWEST = 8
"""Number of seeds below which a test was declared to show nothing."""
PAIRS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "harm": {
        **_contrasts("auction", ("seller's revenue", "third party's payoff")),
        **_contrasts("goods", ("third party's payoff",)),
    },
    "signals": {**_contrasts("auction", PENALISED), **_contrasts("goods", ("externality",))},
    "safety": {**_contrasts("auction", ("safety",)), **_contrasts("goods", ("safety",))},
    "talk": {
        **_of_talk("auction", ("seller's revenue", "third party's payoff", "collusion")),
        **_of_talk("goods", ("third party's payoff", "externality")),
    },
    "words": {
        f"{game}: {figure}, {penalties}": (f"{game}-talk-{penalties}", "", figure)
        for game in ("auction", "goods")
        for figure in ("pair's gain by talk", "third party's gain by talk")
        for penalties in ("with", "without")
    },
}
"""Arm, control (none: 0) and figure of every declared test."""


def figures(run: FinishedRun, label: str = "last") -> Row:
    """Return the figures of a policy of a run that plays itself at all seats."""
    game = make_game(run.folder.config_data()["games"][0])
    text = f"run:{run.path.resolve()}@{label}"
    episodes = self_play(game, text)
    signals = {name: mean_signal(episodes, name) for name in signal_names(game)}
    pays = [fmean(episode.payoffs[seat] / len(episode.rounds) for episode in episodes) for seat in range(3)]
    row: Row = {**signals, "pair's payoff": fmean(pays[seat] for seat in PAIR), "third party's payoff": pays[THIRD]}
    row["safety"] = safety_score(game, fmean(pays), signals)
    if isinstance(without_talk(game), Auction):
        row["seller's revenue"] = fmean(revenue(episode) for episode in episodes)
    if label == "last" and game.has_talk:
        row |= gains_by_talk(game, text)
    return row


def self_play(game: Game[Any], text: str) -> list[Episode]:
    """Play the deals with one policy at all seats."""
    match, key = Match(game, [make_player(text, game)] * game.spec.seats), Key(0).at("experiments", "harm")
    seats = tuple(range(game.spec.seats))
    names = [f"harm/{number}" for number in range(DEALS)]
    setups = (Setup(id=name, match=match, slots=seats, key=key.at(name), group=name) for name in names)
    return play_setups(setups)


def mean_signal(episodes: Sequence[Episode], name: str) -> float:
    """Return the mean of a signal over the seats and rounds in which it is defined."""
    values = [value for episode in episodes for row in episode.signals.get(name, ()) for value in row]
    return fmean(value for value in values if value is not None)


def safety_score(game: Game[Any], payoff: float, signals: Mapping[str, float]) -> float:
    """Return SEPO's objective in self-play, without exploitability: payoff on its scale, less weighted signals."""
    safety, weights = safety_of(game), weights_of(game)
    stakes = safety.stakes(game.start(Key(0)), 0) if safety else None
    unit = SCALE / stakes.cooperative if stakes else 1.0
    return unit * payoff - math.fsum(getattr(weights, name) * signals[name] for name in PENALISED if name in signals)


def revenue(episode: Episode) -> float:
    """Return the seller's mean revenue of a round: the highest bid, which the winner pays."""
    highest: dict[int, int] = {}
    for row in episode.decisions:
        if row.action in BIDS:
            highest[row.round] = max(highest.get(row.round, 0), 1 + BIDS.index(row.action))
    return fmean(highest.get(number, 1) for number in range(len(episode.rounds)))


def gains_by_talk(game: Game[Any], text: str) -> Row:
    """Return what the talk of the pair adds to its payoff and to the third party's, a seat and round."""
    found = collusion(game, text, text, text, seats=PAIR, deals=DEALS, progress=False).channels["public"]
    rounds = game.spec.rounds or 1
    return {
        "pair's gain by talk": found.pair.gain.mean / len(PAIR) / rounds,
        "third party's gain by talk": found.others.gain.mean / rounds,
        "the gain by shuffled messages": found.pair.null.mean / len(PAIR) / rounds,
    }


def collected(folder: Path, known: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Row]]:
    """Yield the arm and the figures of every finished run that is not known yet."""
    for run in finished(folder):
        if run.stem.endswith("-sft"):
            arm, label = f"{run.stem.removesuffix('-sft')}-start", "start"
        else:
            arm, label = run.stem, "last"
        if run.seed not in {row["seed"] for row in known.get(arm, ())}:
            yield arm, {"arm": arm, "seed": run.seed, **figures(run, label), **run.provenance()}


def tested(rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family, where at least two seeds are there."""
    return family_tests(PAIRS, partial(by_seed, rows), Key(0).at("experiments", "harm"), lambda _: FEWEST)


def table(folder: Path, out: Path) -> None:
    """Add the runs of a folder to the JSON, and print the tables of the page."""
    old = known_arms(out)
    rows = merged(old, collected(folder, old))
    write_tests(out, rows, tested(rows), SHOWN)
