"""Figures of an audit over draws, recomputed from its replies in all games: shares, ratios, the worst game, the gap.

The formulas are those that the audit states (`measure.sampled.over_games`), written again. Its bootstrap over games is
known up to the error of its draws; all else is exact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from stratagem.base.errors import BadRecord
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.verifier import audit_record as records
from stratagem.verifier.audit_record import RecordedReply, Row
from stratagem.verifier.drawn_tests import WIDTH, Known, MonteCarlo, agrees
from stratagem.verifier.figures import FEW, AgentAnswers, Z
from stratagem.verifier.small_tree import Floats

_PILOT, _LEVEL = 0.25, 0.95
_RESAMPLES, _OWN = 4_000, 100_000
"""Draws of the audit's bootstrap over games, and of the one here, whose error adds little."""
Thunk = Callable[[], dict[str, Known]]


@dataclass(frozen=True, eq=False)
class RecordedShare:
    """Exploitability in one game as a share of the payoff range, by the replies of the record."""

    answers: AgentAnswers
    random: float
    judged: tuple[float, float]
    """Gain of the pilot's exploiter on later replies, and its standard error, which is infinite without fresh ones."""
    best: tuple[float, float]
    """Gain of the best response to all replies, and its standard error."""
    certain: bool

    @property
    def replies(self) -> int:
        """Number of replies."""
        return len(self.answers.replies)

    @cached_property
    def limits(self) -> tuple[float, float]:
        """One-sided limits in this game alone."""
        (value, error), (best, wide) = self.judged, self.best
        return 0.0 if math.isinf(error) else max(0.0, value - Z * error), best + Z * wide

    @cached_property
    def value(self) -> float:
        """Estimate between the limits."""
        lower, upper = self.limits
        return upper if self.certain else min(max(self.answers.point(self.best[0]), lower), upper)

    def corrected_limit(self, games: int) -> float:
        """Return the lower limit, which may be below 0, where it is the highest of so many games."""
        value, error = self.judged
        return value - (0.0 if math.isinf(error) else float(ndtri(1.0 - (1.0 - _LEVEL) / games)) * error)

    def figures(self) -> dict[str, Known]:
        """Return the figures of the game as the card has them."""
        lower, upper = self.limits
        number = len(self.answers.sets)
        return {
            "situations": number,
            "replies": self.replies,
            "illegal": sum(one.row["action"] is None for one in self.answers.replies),
            "random": self.random,
            "value": self.value if self.certain or self.replies >= FEW * number else None,
            "lower": lower,
            "upper": upper,
        }

    def constant(self, place: int) -> float:
        """Return the exploitability of the player that always takes the first or the last action."""
        answers = self.answers
        rows = np.zeros(int(answers.starts[-1]))
        rows[
            [
                first + range(len(one.legal))[place]
                for first, one in zip(answers.starts, answers.sets.values(), strict=False)
            ]
        ] = 1.0
        return answers.gain(rows, answers.responses(rows))[0]


class RatioRange(NamedTuple):
    """Sum of exploitabilities over that of random play, with the ranges in which its limits lie."""

    value: float
    lower: MonteCarlo
    upper: MonteCarlo

    def figure(self) -> dict[str, Known]:
        """Return value and limits as the card has them: in their order, and none below 0."""
        low, high = ([max(0.0, end) for end in ends] for ends in (self.lower, self.upper))
        high = [max(pair) for pair in zip(low, high, strict=True)]
        values = [min(max(self.value, one), other) for one, other in zip(low, high, strict=True)]
        return {
            "value": MonteCarlo(*values),
            "lower": MonteCarlo(*low),
            "upper": MonteCarlo(*high),
        }


class ShareFigures:
    """Figures over the drawn games of an audit, and in the known games beside them."""

    def __init__(self, card: Row, game: str, episodes: Sequence[Row]) -> None:
        self._told = {
            name: one for one in card["figures"] if (name := one["name"].removeprefix(f"{game}.")) != one["name"]
        }
        self.rows: dict[str, Row] = {row["game"]: row for row in card["draws"]["games"].get(game, [])}
        """Rows of the card by game."""
        self._strategies: Mapping[str, Sequence[Row]] = card.get("strategies", {})
        lists = card["draws"]["games"]
        self._elsewhere = {row["game"] for name, rows in lists.items() if name != game for row in rows}
        self._agent, self._game, self._planned = str(card["agent"]), game, int(card["probes"][game]["draws"])
        self._key = Key(int(card["seed"])).at("audit", game, "draws")
        self._by_game: dict[str, list[Row]] = {}
        for one in episodes:
            self._by_game.setdefault(one["game"], []).append(one)
        self._drawn = [text for text, row in self.rows.items() if row["digest"]]
        self._beside = [text for text in self.rows if text not in self._drawn]

    @cached_property
    def _replies(self) -> dict[str, list[RecordedReply]]:
        """Replies by game; refused where they are not those of the agent."""
        found: dict[str, list[RecordedReply]] = {}
        for text in self.rows:
            by_player = records.replies_of(self._by_game.get(text, []))
            if set(by_player) != {self._agent}:
                asked = next(iter({*by_player} - {self._agent}), "nobody")
                raise BadRecord(f"The questions in {text} were put to {asked[:200]}, not to the agent of the card.")
            found[text] = by_player[self._agent]
        return found

    @cached_property
    def _answers(self) -> dict[str, AgentAnswers]:
        found: dict[str, AgentAnswers] = {}
        for text, replies in self._replies.items():
            made = make_bounded_game(text)
            found[text] = answers = AgentAnswers(made, replies)
            answers.walk.scale()
            legal = {question: one.legal for question, one in answers.sets.items()}
            if fault := next(records.illegal_actions(made, replies, legal), ""):
                raise BadRecord(fault)
        return found

    @property
    def _sizes(self) -> int:
        return sum(len(one.sets) for one in self._answers.values())

    @property
    def _certain(self) -> bool:
        """True if each question was put once, as to a player that always plays what it plays now."""
        return all(len(one.replies) == len(one.sets) for one in self._answers.values())

    @cached_property
    def _each(self) -> int:
        """Number of replies of the pilot to each question."""
        return max(1, round(_PILOT * self._planned / self._sizes))

    def faults_of_record(self) -> Iterator[str]:
        """Yield a sentence where replies are missing, of another seed or agent, or fewer or more than were planned."""
        if odd := next((text for text in self._by_game if text not in self.rows), ""):
            yield f"The record has replies in {odd[:100]}, which is no game of the card."
        for text, replies in self._replies.items():
            yield from records.faults_of_replies(replies)
            yield from records.faults_of_keys(replies, self._key.at(text))
        if self._certain:
            if any(call["temperature"] for one in self._all() for call in one.row["calls"]):
                yield "Each question was put once, and a model that samples may answer it otherwise the next time."
            return
        asked = max(self._planned, (self._each + 1) * self._sizes)
        if (found := sum(map(len, self._replies.values()))) != asked:
            yield f"The record has {found} replies, and {self._planned} decisions ask for {asked}."
        for text, answers in self._answers.items():
            least = min(sum(one.question == number for one in answers.replies) for number in answers.sets)
            if least <= self._each:
                yield f"A question in {text} has {least} replies, fewer than both stages ask for."

    def _all(self) -> Iterator[RecordedReply]:
        for replies in self._replies.values():
            yield from replies

    @cached_property
    def shares(self) -> dict[str, RecordedShare]:
        """Shares by game, the drawn ones first."""
        return {text: self._share(answers, self.rows[text]) for text, answers in self._answers.items()}

    def _share(self, answers: AgentAnswers, row: Row) -> RecordedShare:
        even = answers.shares(answers.legal)
        random = answers.gain(even, answers.responses(even))[0]
        rows = answers.shares(answers.counts(answers.replies))
        answers.exploiter = answers.responses(rows)
        best, slopes = answers.gain(rows, answers.exploiter)
        if self._certain:
            return RecordedShare(answers, random, (best, 0.0), (best, 0.0), True)
        if not answers.may_fail and not answers.legal.all():
            # whether a scripted agent could have forfeited its replies do not tell; the upper limit of the card does
            answers.may_fail = not agrees(row["upper"], best + Z * answers.error(answers.replies, slopes))
        pilot = [one for one in answers.replies if one.place < self._each]
        later = [one for one in answers.replies if one.place >= self._each]
        wide = answers.error(answers.replies, slopes)
        return RecordedShare(answers, random, answers.judge(pilot, later), (best, wide), False)

    def thunks(self) -> dict[str, Thunk]:
        """Return the functions that recompute the figures, by quantity."""
        found: dict[str, Thunk] = {
            "exploitability_ratio": lambda: self._over_games(by_random=True),
            "exploitability_share": lambda: self._over_games(by_random=False),
            "worst_share": self._worst_figure,
        }
        return {**found, "known_ratio": self._known_ratio, "unseen_gap": self._gap}

    def is_measured(self, quantity: str) -> bool:
        """Return whether the card has the games from which a figure follows."""
        return bool(self._beside) or quantity not in ("known_ratio", "unseen_gap")

    def _of(self, texts: Sequence[str]) -> list[RecordedShare]:
        return [self.shares[text] for text in texts]

    @cached_property
    def _is_known(self) -> bool:
        """True if there are enough replies for points."""
        return self._certain or sum(map(len, self._replies.values())) >= FEW * self._sizes

    def _fill(self, found: dict[str, Known], games: Sequence[RecordedShare], chance: float) -> dict[str, Known]:
        value = found["value"] if self._is_known else None
        number = sum(one.replies for one in games)
        return {**found, "value": value, "n": number, "chance": chance, "certain": False, "p": None}

    def _over_games(self, *, by_random: bool) -> dict[str, Known]:
        games = self._of(self._drawn)
        judged, best, value, random = _columns(games)
        weight = random if by_random else np.ones_like(random)
        drawn = np.random.default_rng().integers(len(games), size=(_OWN, len(games)))
        sums = weight[drawn].sum(axis=1)
        tail = float(ndtr(-math.sqrt(len(games) / (len(games) - 1)) * stdtrit(len(games) - 1, _LEVEL)))
        lower = _around(judged[drawn].sum(axis=1) / sums, tail)
        upper = _around(best[drawn].sum(axis=1) / sums, 1.0 - tail)
        found = RatioRange(float(value.sum() / weight.sum()), lower, upper).figure()
        return self._fill(found, games, 1.0 if by_random else float(random.mean()))

    @cached_property
    def worst(self) -> str:
        """Name of the game with the highest lower limit."""
        return max(
            self._drawn, key=lambda text: (self.shares[text].corrected_limit(len(self._drawn)), self.shares[text].value)
        )

    def _worst_figure(self) -> dict[str, Known]:
        if not str(self._told["worst_share"]["method"]).endswith(f": {self.worst}."):
            raise BadRecord(f"The card names another game than {self.worst} as the worst.")
        one = self.shares[self.worst]
        lower = max(0.0, one.corrected_limit(len(self._drawn)))
        found: dict[str, Known] = {"value": one.value, "lower": lower, "upper": None}
        return self._fill(found, [one], one.random)

    @cached_property
    def _beside_ratio(self) -> tuple[float, float, float]:
        """Ratio in the known games, with limits over replies."""
        games = self._of(self._beside)
        judged, best, value, random = _columns(games)
        errors = [
            [0.0 if math.isinf(one.judged[1]) else one.judged[1] for one in games],
            [one.best[1] for one in games],
        ]
        low, high = (math.sqrt(math.fsum(error**2 for error in some)) for some in errors)
        total = float(random.sum())
        lower = max(0.0, (float(judged.sum()) - Z * low) / total)
        upper = max(lower, (float(best.sum()) + Z * high) / total)
        return min(max(float(value.sum()) / total, lower), upper), lower, upper

    def _known_ratio(self) -> dict[str, Known]:
        value, lower, upper = self._beside_ratio
        return self._fill({"value": value, "lower": lower, "upper": upper}, self._of(self._beside), 1.0)

    def _gap(self) -> dict[str, Known]:
        """Return the gap, whose limits follow from those of the ratio in the card, which are checked themselves."""
        told = self._told["exploitability_ratio"]
        drawn, beside = self._of(self._drawn), self._of(self._beside)
        (one, other), limits = _ends(told), self._beside_ratio
        ratio = min(max(_ratio(drawn), one), other)
        value = ratio - limits[0]
        lower = value - math.hypot(ratio - one, limits[2] - limits[0])
        upper = value + math.hypot(other - ratio, limits[0] - limits[1])
        found = self._fill({"value": value, "lower": lower, "upper": upper}, [*drawn, *beside], 0.0)
        texts = [f"{self._constant_gap(place):.3f}" for place in (0, -1)]
        said = re.findall(r"always (-?[0-9.]+[0-9])", str(self._told["unseen_gap"]["method"]))
        if said != texts:
            raise BadRecord(f"The gap of the first action is {texts[0]}, and of the last {texts[1]}, not {said}.")
        return {**found, "p": _p_of_known(drawn, beside) if lower > 0.0 else 1.0}

    def _constant_gap(self, place: int) -> float:
        sums = [[one.constant(place) for one in self._of(some)] for some in (self._drawn, self._beside)]
        randoms = [[one.random for one in self._of(some)] for some in (self._drawn, self._beside)]
        ratios = [math.fsum(some) / math.fsum(random) for some, random in zip(sums, randoms, strict=True)]
        return ratios[0] - ratios[1]

    def faults_of_strategy(self) -> Iterator[str]:
        """Yield a sentence where the exploiting moves are others than those in the worst game."""
        one = self.shares[self.worst]
        lines = one.answers.strategy() if one.limits[0] > 0.0 else []
        told = self._strategies.get(self.worst, [])
        moves = [(line.get("seat"), line.get("situation"), line.get("action")) for line in told]
        # known games and games of other lists may have moves by other replies
        others = {self._game, *self._drawn} - {self.worst} - self._elsewhere
        if any(self._strategies.get(text) for text in others) or sorted(moves) != lines:
            yield "The exploiting moves of the card are not those that follow from the record."


def _columns(games: Sequence[RecordedShare]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return by game: the exploiter's gain, that of the best response, the estimate, and random play's."""
    rows = np.array([(one.judged[0], one.best[0], one.value, one.random) for one in games])
    return rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3]


def _ratio(games: Sequence[RecordedShare]) -> float:
    _, _, value, random = _columns(games)
    return float(value.sum() / random.sum())


def _ends(told: Row) -> tuple[float, float]:
    return float(told["lower"]), float(told["upper"])


def _around(draws: Floats, level: float) -> MonteCarlo:
    """Return the range of a quantile of the audit's draws, by the error of both numbers of draws."""
    reach = WIDTH * math.sqrt(level * (1.0 - level) * (1.0 / _RESAMPLES + 1.0 / _OWN))
    low, high = np.quantile(draws, [max(0.0, level - reach), min(1.0, level + reach)])
    return MonteCarlo(float(low), float(high))


def _p_of_known(drawn: Sequence[RecordedShare], beside: Sequence[RecordedShare]) -> float:
    """Return the share of choices of as many games with a ratio as low as that of the known ones."""
    every = [*beside, *drawn]
    least = _ratio(beside) + 1e-12
    found = [_ratio(chosen) <= least for chosen in combinations(every, len(beside))]
    return sum(found) / len(found)
