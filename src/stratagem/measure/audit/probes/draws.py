"""Probe of drawn games: exploitability over games that nobody has seen, beside the same in known ones.

The agent is asked about every situation of every game, in two stages that share the replies of all games. Its
exploitability in a game is a share of the payoff range, and the ratio is its sum over games by that of random play.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import ClassVar, NamedTuple

import numpy as np

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.games.base import Game, Json
from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.distribution import DrawnName, GameDistribution
from stratagem.games.forfeits import FORFEIT
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.audit.probes.base import ProbeFindings, Task
from stratagem.measure.audit.probes.replies import exploitability_of_random
from stratagem.measure.audit.probes.strategy import strategy
from stratagem.measure.exploitability.replies import is_certain
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import FEW, certain_limits
from stratagem.measure.sampled.over_games import (
    FEWEST,
    AskedGame,
    GameShare,
    RatioLimits,
    difference,
    measure_games,
    p_of_known,
    ratio_in_games,
    ratio_over_games,
    scale_gain,
    share_of,
    worst_game,
)
from stratagem.measure.sampled.questions import Floats, questions_of
from stratagem.measure.tree_policy import reply_oracle
from stratagem.players.catalogue import make_player
from stratagem.verifier.audit_plan import KNOWN_GAMES, SHARES
from stratagem.verifier.figure_check import FigureCheck

LEAST_RANDOM = 0.05
"""Exploitability of random play, as a share of the payoff range, under which a draw is left out."""
_LEAST = 2
"""Replies a situation that are needed: one in each stage."""
_INTERVAL = "each one-sided 95 %, both together 90 %"


class GameOfProbe(NamedTuple):
    """Game that the agent is asked about."""

    text: str
    game: Game[object]
    digest: str
    """Canonical digest; empty for a known game."""
    gain: ResponseGain
    asker: ReplyAsker


def draw_audited(wanted: GameDistribution) -> tuple[DrawnName, ...]:
    """Return the games of an audit: those in which random play loses enough to be a measure."""
    return wanted.games(least_random=LEAST_RANDOM)


class DrawsProbe:
    """Exploitability over drawn games, the worst of them, and the gap to known games."""

    name: ClassVar[str] = "draws"
    share: ClassVar[float] = SHARES[name]
    quantities: ClassVar[Mapping[str, str]] = {
        "exploitability_ratio": "exploitability",
        "exploitability_share": "exploitability",
        "worst_share": "exploitability",
        "known_ratio": "exploitability",
        "unseen_gap": "exploitability",
    }

    def why_not(self, task: Task) -> str:
        assert task.draws is not None
        if task.draws.count < FEWEST:
            return f"Limits over games need at least {FEWEST} of them, and {task.text} has {task.draws.count}."
        if task.decisions < 2 * _LEAST * task.draws.count:  # a game has two situations or more; draws take long
            return f"{task.text} needs more than {task.decisions} decisions: {_LEAST} of each situation of every game."
        try:
            beside, _ = _known_games(task)
            number = sum(len(one.gain.questions) for one in _games_of(task, beside))
        except CannotCompute as error:
            return str(error)
        if task.decisions < _LEAST * number:
            return (
                f"{' and '.join((task.text, *beside))} have {number} situations to ask about, {_LEAST} times each, "
                f"and {task.decisions} decisions are planned for it."
            )
        return ""

    def measure(self, task: Task) -> ProbeFindings:
        known_games, why_not_known = _known_games(task)
        games = _games_of(task, known_games)
        split = len(games) - len(known_games)
        random = [exploitability_of_random(one.gain) for one in games]
        try:
            shares = _ask(task, games, random, split)
        except CannotCompute as error:
            return ProbeFindings([replace(figure, why_not=str(error)) for figure in self._figures(task)])
        drawn, known = shares[:split], shares[split:]
        key = task.key.at("games")
        ratio, mean = ratio_over_games(drawn, key), ratio_over_games(drawn, key, by_random=False)
        worst, lowest = worst_game(drawn)
        certain = is_certain(task.agent)
        replies = [int(one.limits.tally.counts.sum()) for one in shares]
        is_known = certain or sum(replies) >= FEW * sum(len(one.gain.questions) for one in games)
        figures = self._figures(task)
        count = sum(replies[:split])
        over = f"over {split} drawn games and {count} replies, shared by a pilot"
        filled = {
            "exploitability_ratio": _fill(ratio, is_known, count, f"Sum {over}, by that of random play.", 1.0),
            "exploitability_share": _fill(mean, is_known, count, f"Mean {over}.", sum(random[:split]) / split),
            "worst_share": {
                "value": drawn[worst].value if is_known else None,
                "lower": lowest,
                "interval": f"one-sided 95 %, corrected for the choice among {split} games",
                "n": replies[worst],
                "method": f"The game with the highest lower limit: {games[worst].text}.",
                "chance": random[worst],
                "best": 0.0,
            },
            "known_ratio": {"why_not": why_not_known},
            "unseen_gap": {"why_not": why_not_known},
        }
        if known:
            method = f"{' and '.join(known_games)} as fixed games, over replies."
            beside = ratio_in_games(known)
            filled["known_ratio"] = _fill(beside, is_known, sum(replies[split:]), method, 1.0)
            gap = difference(ratio, beside)
            filled["unseen_gap"] = {
                **_fill(gap, is_known, sum(replies), _gap_method(games, random, split), 0.0),
                "best": None,
                # few games have few values of p, so a gap whose limits hold 0 is no alarm
                "p": p_of_known(drawn, known) if gap.lower > 0.0 else 1.0,
                "null": "the known games are to it as drawn games are",
            }
        quantities = [*self.quantities]
        told = [replace(one, **filled[name]) for name, one in zip(quantities, figures, strict=True)]
        best = drawn[worst].limits
        lines = strategy(games[worst].gain, best) if best.lower > 0.0 else ()
        rows = [_row(one, share, certain=certain) for one, share in zip(games, shares, strict=True)]
        return ProbeFindings(told, lines, strategy_in=games[worst].text, games=rows)

    def _figures(self, task: Task) -> list[Measurement]:
        return [
            Measurement(name=task.name(quantity), group="exploitability", unit=task.unit(quantity))
            for quantity in self.quantities
        ]


def _known_games(task: Task) -> tuple[tuple[str, ...], str]:
    """Return the known games, or none and the reason where the agent cannot play all of them."""
    for text in KNOWN_GAMES:
        try:
            task.agent_in(make_bounded_game(text))
        except StratagemError:
            return (), f"{task.agent.name} plays drawn games and not {text}, so there is nothing to set beside them."
    return KNOWN_GAMES, ""


def check_known_games(agent: str, card: Json) -> FigureCheck | None:
    """Return a fault where a card lacks the known games and the agent can play them; None where it fits."""
    lists = card["draws"]["games"]
    left = [text for text, rows in lists.items() if rows and all(row["digest"] for row in rows)]
    if not left:
        return None
    try:
        for text in KNOWN_GAMES:
            make_player(agent, make_bounded_game(text))
    except StratagemError:
        return None
    detail = f"{agent} plays {' and '.join(KNOWN_GAMES)}, and the card has no figures in them."
    return FigureCheck(f"{left[0]}: known games", "differs", detail=detail)


def _games_of(task: Task, known: Sequence[str]) -> list[GameOfProbe]:
    """Return the drawn games, and then the known ones, with what asks the agent about each."""
    assert task.draws is not None
    named = [*((one.name, one.draw.digest) for one in draw_audited(task.draws)), *((text, "") for text in known)]
    return [_game_of(task, text, digest) for text, digest in named]


def _game_of(task: Task, text: str, digest: str) -> GameOfProbe:
    game = make_bounded_game(text)
    agent = task.agent_in(game)
    oracle = reply_oracle(game, agent)
    questions = questions_of(oracle.tree, agent)
    asker = ReplyAsker(agent, questions, task.key.at(text), task.record, task.queue())
    return GameOfProbe(text, game, digest, scale_gain(ResponseGain(oracle, questions)), asker)


def _ask(task: Task, games: Sequence[GameOfProbe], random: Sequence[float], split: int) -> list[GameShare]:
    """Ask the agent in all games; one that always plays what it plays now, once about each situation."""
    if is_certain(task.agent):
        limits = [certain_limits(one.gain, one.asker) for one in games]
        return [share_of(one, chance, one.upper) for one, chance in zip(limits, random, strict=True)]
    sums = [sum(random[:split])] * split + [sum(random[split:])] * len(random[split:])
    asked = [
        AskedGame(one.gain, one.asker, chance, 1.0 / total)
        for one, chance, total in zip(games, random, sums, strict=True)
    ]
    return measure_games(asked, task.decisions, task.key.at("limits"))


def _fill(found: RatioLimits, is_known: bool, n: int, method: str, chance: float) -> Json:
    """Return the fields of a figure; with few replies there is no point between the limits."""
    return {
        "value": found.value if is_known else None,
        "lower": found.lower,
        "upper": found.upper,
        "interval": _INTERVAL,
        "n": n,
        "method": method,
        "chance": chance,
        "best": 0.0,
    }


def _gap_method(games: Sequence[GameOfProbe], random: Sequence[float], split: int) -> str:
    first, last = (_gap_of(games, random, split, place) for place in (0, -1))
    return (
        "Ratio in drawn games less that in known ones. Players that know no game have a gap, too, since the games "
        f"differ: the first action always {first:.3f}, the last one always {last:.3f}."
    )


def _gap_of(games: Sequence[GameOfProbe], random: Sequence[float], split: int, place: int) -> float:
    """Return the gap of the player that always takes the first or the last action, which is exact."""
    values = [one.gain(rows := _constant_rows(one.gain, place), one.gain.best_responses(rows))[0] for one in games]
    return sum(values[:split]) / sum(random[:split]) - sum(values[split:]) / sum(random[split:])


def _constant_rows(gain: ResponseGain, place: int) -> Floats:
    """Return the policy of the first or the last action that no illegal reply stands for."""
    lengths = [[action for action in known.actions if action != FORFEIT] for known in gain.questions.sets]
    rows = np.zeros(int(gain.questions.slots[-1]))
    rows[[first + range(len(own))[place] for first, own in zip(gain.questions.slots, lengths, strict=False)]] = 1.0
    return rows


def _row(one: GameOfProbe, share: GameShare, *, certain: bool) -> Json:
    """Return the figures of one game as the card has them."""
    limits = share.limits
    return {
        "game": one.text,
        "digest": one.digest,
        "situations": len(one.gain.questions),
        "replies": int(limits.tally.counts.sum()),
        "illegal": sum(row.action is None for row in chain.from_iterable(one.asker.decisions)),
        "random": share.random,
        "value": share.value if certain or limits.point is not None else None,
        "lower": limits.lower,
        "upper": limits.upper,
    }
