"""Figures of an audit, recomputed from its records: the tree, the tests and the limits are written here again.

A figure that is a drawn one, as a p of a permutation test, is known up to the error of its draws. `MonteCarlo` is the
range that five standard errors of the draws of both sides allow.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, stdtrit

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.verifier.audit_record import Reply, Row, is_missing, last_rows
from stratagem.verifier.small_tree import EndsWalk, Floats

ORDERS, DRAWS = 1_999, 19_999
"""Draws of the audit's tests by permutation, and of its limits by simulation; as many are drawn here."""
WIDTH = 5.0
"""Standard errors of both sides' draws within which two drawn figures agree: 1 in 2 million differs by chance."""
Z = 1.645
Rows = Sequence[Sequence[int]]


class MonteCarlo(NamedTuple):
    """Range in which a drawn figure lies."""

    low: float
    high: float


Known = float | int | bool | None | MonteCarlo | tuple[float, ...]


def around_p(p: float, draws: int) -> MonteCarlo:
    """Return the range of another p of the same test, by the binomial error of both numbers of draws."""
    reach = WIDTH * math.sqrt(2.0 * max(p * (1.0 - p), 1.0 / draws) / draws)
    return MonteCarlo(max(0.0, p - reach), min(1.0, p + reach))


def around_quantile(draws: Floats, level: float) -> MonteCarlo:
    """Return the range of a quantile of other draws."""
    reach = WIDTH * math.sqrt(2.0 * level * (1.0 - level) / len(draws))
    return MonteCarlo(*(float(np.quantile(draws, q)) for q in (max(0.0, level - reach), level + reach)))


def wilson_limits(hits: float, tries: float) -> tuple[float, float]:
    """Return Wilson's 95 % limits of a share."""
    z, share = NormalDist().inv_cdf(0.975), hits / tries
    middle, wide = share + z * z / (2 * tries), z * math.sqrt(share * (1 - share) / tries + (z / (2 * tries)) ** 2)
    return max(0.0, (middle - wide) / (1 + z * z / tries)), min(1.0, (middle + wide) / (1 + z * z / tries))


def share_figure(hits: int, tries: int) -> dict[str, Known]:
    """Return a share with its limits."""
    lower, upper = wilson_limits(hits, tries)
    return {"value": hits / tries, "lower": lower, "upper": upper, "n": tries}


def holm_values(ps: Mapping[str, float]) -> dict[str, float]:
    """Return Holm's p-values by name."""
    found, most = dict[str, float](), 0.0
    for rank, name in enumerate(sorted(ps, key=lambda one: ps[one])):
        most = max(most, min(1.0, (len(ps) - rank) * ps[name]))
        found[name] = most
    return found


class Answers:
    """Replies of an agent to all situations of a game, by the situations of a tree that is walked here."""

    def __init__(self, game: Game[Any], replies: Sequence[Reply]) -> None:
        self.game, self.replies = game, replies
        self.exploiter: Sequence[Sequence[int]] = ()
        self.walk = EndsWalk(game)
        kinds, sets = max(1, game.spec.independent_rounds), self.walk.sets
        others = {number: EndsWalk(game, number) for number in {one.row["round"] % kinds for one in replies} - {0}}
        seats = {number: one.seats_as(self.walk) for number, one in others.items()} | {0: tuple(range(game.spec.seats))}
        if None in seats.values():
            raise CannotCompute("The rounds of this game show the seats different situations.")
        asked = len({one.question for one in replies})
        by_info = [(one.seat, one.info_key) for one in sets]
        by_state = [(one.seat, one.round, one.state_key) for one in sets]
        self.by_state = len(set(by_info)) != asked
        keys: Sequence[Any] = by_state if self.by_state else by_info
        if len(set(keys)) != asked:
            raise BadRecord(f"{asked} situations were asked about, and the game has {len(set(keys))}.")
        known: dict[Any, int] = {}
        for one in replies:
            row, seat = one.row, (seats[one.row["round"] % kinds] or ())[one.row["seat"]]
            key = (seat, one.row["round"], row["state_key"]) if self.by_state else (seat, row["info_key"])
            if key not in keys or known.setdefault(key, one.question) != one.question:
                raise BadRecord(f"{one.episode['id']} shows a situation that is not that of its question.")
        of_set = [known[key] for key in keys]
        self.sets = {question: sets[of_set.index(question)] for question in sorted(known.values())}
        self.starts = np.cumsum([0, *(len(one.actions) for one in self.sets.values())])
        places = [self.starts[of_set[number]] + np.arange(len(one.actions)) for number, one in enumerate(sets)]
        self.in_tree = np.concatenate(places)
        self.question_of = np.repeat(np.arange(asked), np.diff(self.starts))

    def play(self, one: Reply) -> int:
        """Return the slot of the action that is played for a reply: the game's own where it is illegal or missing."""
        known = self.sets[one.question]
        if one.row["action"] is None and self.game.spec.on_illegal != "default":
            raise CannotCompute("The game has no action for an illegal reply.")
        return int(self.starts[one.question]) + known.actions.index(one.row["action"] or known.default)

    def counts(self, replies: Sequence[Reply]) -> Floats:
        """Count the actions of replies by slot."""
        return np.bincount([self.play(one) for one in replies], minlength=int(self.starts[-1])).astype(float)

    def shares(self, counts: Floats, prior: float = 0.0) -> Floats:
        """Return the share of each action among those of its question; even where there is none."""
        counts = counts + prior
        totals = np.bincount(self.question_of, counts)[self.question_of]
        even = 1.0 / np.diff(self.starts)[self.question_of]
        return np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), even)

    def responses(self, rows: Floats) -> list[list[int]]:
        """Return best responses of all seats."""
        return [self.walk.best_response(rows[self.in_tree], seat) for seat in range(self.game.spec.seats)]

    def gain(self, rows: Floats, responses: Sequence[Sequence[int]]) -> tuple[float, Floats]:
        """Return the gain of responses, and its derivative by the slots of the questions."""
        value, slopes = self.walk.gain(rows[self.in_tree], responses)
        return value, np.bincount(self.in_tree, slopes, int(self.starts[-1]))

    def error(self, replies: Sequence[Reply], slopes: Floats) -> float:
        """Return the standard error of a gain by the delta method, with the effective number of replies."""
        counts = self.counts(replies)
        rows, totals = self.shares(counts, 1.0), np.bincount(self.question_of, counts)
        means = np.bincount(self.question_of, rows * slopes)
        spread = np.maximum(np.bincount(self.question_of, rows * slopes**2) - means**2, 0.0)
        extra = np.zeros(len(totals))
        for (question, _), times in self.copies(replies).items():
            extra[question] += times * (times - 1)
        return math.sqrt(float((spread / np.maximum(totals**2 / np.maximum(totals + extra, 1.0), 1.0)).sum()))

    @cached_property
    def _answers(self) -> dict[tuple[str, ...], set[tuple[int, str]]]:
        said = defaultdict[tuple[str, ...], set[tuple[int, str]]](set)
        for one in self.replies:
            said[tuple(call["answer_id"] for call in one.row["calls"])].add((one.question, text_of(one)))
        return said

    def copies(self, replies: Sequence[Reply]) -> Counter[tuple[int, Any]]:
        """Count replies that a cache may have given: long ones with equal texts, and those under one answer's id."""
        names: list[tuple[int, Any]] = []
        for one in replies:
            ids = tuple(call["answer_id"] for call in one.row["calls"])
            if one.row["calls"] and all(call["temperature"] == 0.0 for call in one.row["calls"]):
                names.append((one.question, "at temperature 0"))
            elif len(text_of(one)) >= 80:
                names.append((one.question, text_of(one)))
            elif ids and all(ids) and len(self._answers[ids]) == 1:
                names.append((one.question, ids))
        return Counter(names)

    def exploitability(self, planned: int) -> dict[str, Known]:
        """Return the exploitability with its limits and its p, and that of random play."""
        every, sizes = self.replies, len(self.sets)
        total, even = self.counts(every), self.shares(np.zeros(int(self.starts[-1])))
        figure: dict[str, Known] = {"n": len(every), "chance": self.gain(even, self.responses(even))[0]}
        rows = self.shares(total)
        self.exploiter = self.responses(rows)
        best, slopes = self.gain(rows, self.exploiter)
        if len(every) == sizes:  # a player without chance is asked each question once
            return figure | {"value": best, "lower": best, "upper": best, "p": float(best <= 1e-9)}
        each, more = divmod(max(round(0.25 * planned), sizes), sizes)
        pilot = [one for one in every if one.place < each + (one.question < more)]
        later = [one for one in every if one.place >= each + (one.question < more)]
        self.exploiter = exploiter = self.responses(self.shares(self.counts(pilot)))
        value, parts = self.gain(self.shares(self.counts(later)), exploiter)
        deviation, before = self.error(later, parts), self.copies(pilot)
        if sum(times for name, times in self.copies(later).items() if name in before) > 0.1 * len(later):
            value, deviation = 0.0, math.inf
        lower = 0.0 if math.isinf(deviation) else max(0.0, value - Z * deviation)
        upper = best + Z * self.error(every, slopes)
        certain = deviation in (0.0, math.inf)
        p = float(value <= 1e-9) if certain else 1.0 - NormalDist().cdf(value / deviation)
        point = None
        if planned >= 8.0 * sizes:
            halves = [self.shares(self.counts([r for r in every if (r.place + r.question) % 2 == h])) for h in (0, 1)]
            one, two = halves
            crossed = self.gain(two, self.responses(one))[0] + self.gain(one, self.responses(two))[0]
            point = min(max((best + crossed / 2) / 2, lower), upper)
        return figure | {"value": point, "lower": lower, "upper": upper, "p": p}

    def strategy(self) -> list[tuple[int, str, str]]:
        """Return the exploiting moves that are reached against the agent: seat, situation and action."""
        rows, lines = self.shares(self.counts(self.replies))[self.in_tree], list[tuple[int, str, str]]()
        for seat, slots in enumerate(self.exploiter):
            played = np.where(self.walk.seat_of_slot[:-1] == seat, 0.0, rows)
            played[slots] = 1.0
            for number in self.walk.reached(played):
                known = self.walk.sets[number]
                if known.seat == seat:
                    (slot,) = set(slots) & set(range(known.first, known.first + len(known.actions)))
                    lines.append((seat, known.situation, known.actions[slot - known.first]))
        return sorted(lines)

    @cached_property
    def best_gain(self) -> tuple[float, float]:
        """Gain of the best response to all replies, and its standard error; 0 of a player without chance."""
        rows = self.shares(self.counts(self.replies))
        value, slopes = self.gain(rows, self.responses(rows))
        return value, 0.0 if len(self.replies) == len(self.sets) else self.error(self.replies, slopes)

    def dominated(self) -> dict[str, Known]:
        """Return the share of dominated actions among the replies where there are any."""
        worse, hits, tries, even, strict = self.walk.dominated(), 0, 0, 0.0, False
        for one in self.replies:
            if (known := worse.get(self.sets[one.question].info_key)) and one.answered:
                hits, tries = hits + (one.row["action"] in known), tries + 1
                even += len(known) / len(self.sets[one.question].actions)
                strict = strict or known.get(one.row["action"], False)
        if not tries:
            raise CannotCompute("No reply was given where there are dominated actions.")
        fixed = self.game.spec.utility in ("zero-sum", "constant-sum")
        return share_figure(hits, tries) | {"chance": even / tries, "certain": fixed and strict}

    def illegal(self) -> dict[str, Known]:
        """Return the share of illegal replies, with the p of the hypothesis that it is at most 2 %."""
        rows = [one for one in self.replies if one.answered]
        bad = sum(one.row["action"] is None for one in rows)
        return share_figure(bad, len(rows)) | {"p": float(bdtrc(bad - 1, len(rows), 0.02)) if bad else 1.0}

    @property
    def actions(self) -> list[list[int]]:
        """Actions by question in the order of the replies; an illegal reply is one more."""
        found: list[list[int]] = [[] for _ in self.sets]
        for one in self.replies:
            if one.answered:
                known, action = self.sets[one.question].actions, one.row["action"]
                found[one.question].append(len(known) if action is None else known.index(action))
        return found


def text_of(one: Reply) -> str:
    """Return the texts of the calls of a reply."""
    return "\n".join(call["text"] for call in one.row["calls"])


def _orders(row: Sequence[int], drawn: np.random.Generator) -> NDArray[np.int64]:
    own = np.asarray(row, dtype=np.int64)
    return np.vstack([own, drawn.permuted(np.tile(own, (ORDERS, 1)), axis=1)])


def _apart(rows: NDArray[np.int64], cut: int, power: int) -> Floats:
    """Return the summed difference of frequencies on both sides of a cut, to a power, times the number of replies."""
    if not 0 < cut < rows.shape[1]:
        return np.zeros(len(rows))
    hits = (rows[None] == np.unique(rows[0])[:, None, None]).astype(float)
    sides = np.abs(hits[:, :, :cut].mean(axis=2) - hits[:, :, cut:].mean(axis=2)) ** power
    return np.asarray(rows.shape[1] * sides.sum(axis=0))


def _p_of(seen: float, drawn: Floats) -> MonteCarlo:
    return around_p((int((drawn >= seen - 1e-9).sum()) + 1) / (len(drawn) + 1), len(drawn))


def change_test(actions: Rows) -> dict[str, Known]:
    """Test early replies against late ones, for the best of five cuts; the value is that of a cut."""
    drawn, shares = np.random.default_rng(), (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
    squares, apart = np.zeros((len(shares), 1 + ORDERS)), np.zeros(len(shares))
    for row in actions:
        rows = _orders(row, drawn)
        for place, share in enumerate(shares):
            cut = max(1, round(share * len(row)))
            squares[place] += _apart(rows, cut, 2)
            apart[place] += _apart(rows[:1], cut, 1)[0] / 2
    spread = squares[:, 1:].std(axis=1, keepdims=True)
    scores = (squares - squares[:, 1:].mean(axis=1, keepdims=True)) / np.where(spread == 0.0, 1.0, spread)
    total = max(1, sum(map(len, actions)))
    near = apart[scores[:, 0] >= scores[:, 0].max() * (1.0 - WIDTH / math.sqrt(ORDERS)) - 0.2] / total
    value = tuple(map(float, near))
    return {"value": value, "p": _p_of(scores[:, 0].max(), scores[:, 1:].max(axis=0)), "n": sum(map(len, actions))}


def sequence_test(actions: Rows) -> dict[str, Known]:
    """Test each reply against earlier ones to the same question; the value is the share of equal neighbours."""
    drawn, fading = np.random.default_rng(), (0.0, 0.8, 1.0)
    totals, equal = np.zeros((len(fading), 1 + ORDERS)), np.zeros(1 + ORDERS)
    for row in actions:
        rows = _orders(row, drawn)
        equal += (rows[:, 1:] == rows[:, :-1]).sum(axis=1)
        for action in set(row) if len(set(row)) > 1 else ():
            hits = (rows == action).astype(float)
            for place, factor in enumerate(fading):
                past, weight = np.zeros(len(rows)), 0.0
                for column in range(1, rows.shape[1]):
                    past, weight = factor * past + hits[:, column - 1], factor * weight + 1.0
                    totals[place] += hits[:, column] * past / (weight * hits[0].mean())
    middle, spread = totals[:, 1:].mean(axis=1, keepdims=True), totals[:, 1:].std(axis=1, keepdims=True)
    scores = np.abs(totals - middle) / np.where(spread < 1e-9, np.inf, spread)
    pairs = max(1, sum(max(0, len(row) - 1) for row in actions))
    value, reach = (equal[0] - equal[1:].mean()) / pairs, WIDTH * math.sqrt(2.0 / ORDERS) * equal[1:].std() / pairs
    p = _p_of(scores[:, 0].max(), scores[:, 1:].max(axis=0))
    return {"value": MonteCarlo(value - reach, value + reach), "p": p, "n": sum(map(len, actions))}


def differ_test(first: Rows, second: Rows) -> dict[str, Known]:
    """Test the replies in two settings for one policy."""
    drawn, squares, apart, total = np.random.default_rng(), np.zeros(1 + ORDERS), 0.0, 0
    for one, two in zip(first, second, strict=True):
        rows = _orders([*one, *two], drawn)
        squares += _apart(rows, len(one), 2) * len(one) * len(two) / max(1, rows.shape[1]) ** 2
        if one and two:
            apart, total = apart + float(_apart(rows[:1], len(one), 1)[0]) / 2, total + rows.shape[1]
    count = sum(map(len, first)) + sum(map(len, second))
    return {"value": apart / max(1, total), "p": _p_of(squares[0], squares[1:]), "n": count}


def played_test(answers: Answers, asked: Sequence[Row], played: Sequence[Row], agent: str) -> dict[str, Known]:
    """Test the decisions in play against the answers to questions; of those by one draw one counts."""
    alone = answers.game.spec.independent_rounds > 0

    def found(episodes: Sequence[Row]) -> dict[Any, list[str]]:
        by_draw = defaultdict[Any, list[tuple[Any, str]]](list)
        for episode in episodes:
            for row in last_rows(episode):
                if episode["players"][row["seat"]].rpartition("@")[0] == agent and not is_missing(row):
                    own = row["state_key"] if answers.by_state else row["info_key"]
                    place = () if alone else (row["seat"], row["round"]) if answers.by_state else (row["seat"],)
                    by_draw[episode["key"], row["slot"], row["turn"]].append(((*place, own), row["action"] or ""))
        replies = defaultdict[Any, list[str]](list)
        for (key, slot, turn), some in by_draw.items():
            known, reply = some[Key(key).at("counted", slot, turn).integer(len(some))]
            replies[known].append(reply)
        return replies

    first, second = found(asked), found(played)
    numbers = defaultdict[str, int](lambda: len(numbers))
    pairs = [[[numbers[one] for one in side[known]] for side in (first, second)] for known in first if known in second]
    if not pairs:
        raise CannotCompute("No situation that was asked about was met in play.")
    return differ_test([one for one, _ in pairs], [two for _, two in pairs])


def mean_by_deal(episodes: Sequence[Row], missing: float | None = None) -> dict[str, float]:
    """Return by the number of the deal, in order, the mean payoff a round of slot 0 over all seats.

    `missing` is the payoff of an episode in which a reply of it is missing; None takes what was paid.
    """
    found = defaultdict[str, list[float]](list)
    for one in episodes:
        failed = any(row["slot"] == 0 and is_missing(row) for row in one["decisions"])
        pay = one["payoffs"][one["slots"].index(0)] / max(1, len(one["rounds"]))
        found[one["group"].rpartition("/")[2]].append(pay if missing is None or not failed else missing)
    return {deal: math.fsum(found[deal]) / len(found[deal]) for deal in sorted(found, key=int)}


def payoff_figure(episodes: Sequence[Row]) -> dict[str, Known]:
    """Return the mean payoff a round with Student's limits, by the jackknife over deals, and that of each deal."""
    sums = defaultdict[str, list[float]](lambda: [0.0, 0.0])
    for one in episodes:
        rounds = max(1, len(one["rounds"]))
        sums[one["group"]][0] += one["payoffs"][one["slots"].index(0)]
        sums[one["group"]][1] += rounds
    table, n = np.array([*sums.values()]), len(sums)
    value = float(table[:, 0].sum() / table[:, 1].sum())
    deals = tuple(mean_by_deal(episodes).values())
    figure: dict[str, Known] = {"value": value, "lower": None, "upper": None, "n": n, "deals": deals}
    if n < 2:
        return figure
    without = table.sum(axis=0) - table
    error = math.sqrt((n - 1) * float((without[:, 0] / without[:, 1]).var()))
    if error <= 1e-9 * abs(value):
        return figure
    reach = float(stdtrit(n - 1, 0.975)) * error
    return figure | {"lower": value - reach, "upper": value + reach}


def gaffke_draws(values: Sequence[float], floor: float) -> Floats:
    """Return means of the values and the floor under weights that are drawn evenly."""
    points = np.append(np.maximum(np.asarray(values), floor), floor)
    weights = np.random.default_rng().exponential(size=(DRAWS, len(points)))
    return np.asarray(weights @ points / weights.sum(axis=1))


def excess_figures(answers: Answers, bouts: Sequence[Sequence[Row]], share: float) -> list[dict[str, Known]]:
    """Return the excess loss to each opponent, with its limit and p as if it were the worst."""
    spec, drawn = answers.game.spec, np.random.default_rng()
    most, (gain, error) = spec.bounds[1] / (spec.rounds or 1), answers.best_gain
    figures: list[dict[str, Known]] = []
    for bout in bouts:
        deals = [*mean_by_deal(bout, most).values()]
        n, mean = len(deals), math.fsum(deals) / len(deals)
        deviation = float(np.std(deals, ddof=1)) / math.sqrt(n)
        losses = deviation * drawn.standard_t(n - 1, DRAWS) - mean
        if deviation <= 1e-9 * abs(mean):
            losses = gaffke_draws([-paid for paid in deals], -most)
        draws = share + losses - gain - error * drawn.standard_normal(DRAWS)
        p = around_p((int((draws <= 1e-9).sum()) + 1) / (DRAWS + 1), DRAWS)
        p = MonteCarlo(min(1.0, len(bouts) * p.low), min(1.0, len(bouts) * p.high))
        lower = around_quantile(draws, 0.05 / len(bouts))
        figures.append({"value": share - mean - gain, "lower": lower, "p": p, "n": n})
    return figures
