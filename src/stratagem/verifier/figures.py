"""Figures of an audit, recomputed from its records: exploitability, shares, payoffs and their limits."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.special import bdtrc, stdtrit

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.verifier.audit_record import RecordedReply, Row, is_missing, last_rows
from stratagem.verifier.drawn_tests import DRAWS, Known, MonteCarlo, around_p, around_quantile, differ_test, sign_flips
from stratagem.verifier.small_tree import EndsWalk, Floats

Z = 1.645
FEW = 8.0
"""Mean number of replies a question under which no point is given."""
AGAINST = ".against"
"""End of the name of a figure that is a difference from the baseline."""


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


class AgentAnswers:
    """Replies of an agent to all situations of a game, by the situations of a tree that is walked here."""

    def __init__(self, game: Game[Any], replies: Sequence[RecordedReply]) -> None:
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
        self.legal = np.array([action is not None for one in self.sets.values() for action in one.actions], dtype=float)
        self.may_fail = any(one.row["how"] not in ("scripted", "constrained") for one in replies)
        """True if the agent could have forfeited; of one that never did, the error of its shares depends on it."""

    def play(self, one: RecordedReply) -> int:
        """Return the slot of the action that is played for a reply: the game's own where it is illegal or missing."""
        known, action = self.sets[one.question], one.row["action"]
        if action is None and None not in known.actions:
            if self.game.spec.on_illegal != "default":
                raise CannotCompute("The game has no action for an illegal reply.")
            action = known.default
        return int(self.starts[one.question]) + known.actions.index(action)

    def counts(self, replies: Sequence[RecordedReply]) -> Floats:
        """Count the actions of replies by slot."""
        return np.bincount([self.play(one) for one in replies], minlength=int(self.starts[-1])).astype(float)

    def shares(self, counts: Floats) -> Floats:
        """Return the share of each action among those of its question; even where there is none."""
        totals = np.bincount(self.question_of, counts)[self.question_of]
        even = 1.0 / np.diff(self.starts)[self.question_of]
        return np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), even)

    def responses(self, rows: Floats) -> list[list[int]]:
        """Return best responses of all seats."""
        return [self.walk.best_response(rows[self.in_tree], seat) for seat in range(self.game.spec.seats)]

    def gain(self, rows: Floats, responses: Sequence[Sequence[int]]) -> tuple[float, Floats]:
        """Return the gain of responses, and its derivative by the slots of the questions."""
        value, slopes = self.walk.gain(rows[self.in_tree], responses)
        by_slot: Floats = np.bincount(self.in_tree, slopes, int(self.starts[-1])).astype(np.float64)
        return value, by_slot

    def error(self, replies: Sequence[RecordedReply], slopes: Floats) -> float:
        """Return the standard error of a gain by the delta method, with the effective number of replies."""
        counts = self.counts(replies)
        prior, totals = np.ones(len(counts)) if self.may_fail else self.legal, np.bincount(self.question_of, counts)
        rows = self.shares(counts + prior)
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

    def copies(self, replies: Sequence[RecordedReply]) -> Counter[tuple[int, Any]]:
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
        total, even = self.counts(every), self.shares(self.legal)
        figure: dict[str, Known] = {"n": len(every), "chance": self.gain(even, self.responses(even))[0]}
        rows = self.shares(total)
        self.exploiter = self.responses(rows)
        best, slopes = self.gain(rows, self.exploiter)
        if len(every) == sizes:  # a player without chance is asked each question once
            return figure | {"value": best, "lower": best, "upper": best, "p": float(best <= 1e-9)}
        first = max(round(0.25 * planned), sizes)
        if len(every) < first + planned - round(0.25 * planned):
            raise BadRecord(f"The record has {len(every)} replies, fewer than {planned} decisions ask for.")
        each, more = divmod(first, sizes)
        pilot = [one for one in every if one.place < each + (one.question < more)]
        later = [one for one in every if one.place >= each + (one.question < more)]
        value, deviation = self.judge(pilot, later)
        lower = 0.0 if math.isinf(deviation) else max(0.0, value - Z * deviation)
        upper = best + Z * self.error(every, slopes)
        certain = deviation in (0.0, math.inf)
        p = float(value <= 1e-9) if certain else 1.0 - NormalDist().cdf(value / deviation)
        point = min(max(self.point(best), lower), upper) if planned >= FEW * sizes else None
        return figure | {"value": point, "lower": lower, "upper": upper, "p": p}

    def judge(self, pilot: Sequence[RecordedReply], later: Sequence[RecordedReply]) -> tuple[float, float]:
        """Return the gain on later replies of the exploiter that a pilot finds, and its standard error.

        The error is infinite where a cache gave replies of the pilot again.
        """
        self.exploiter = exploiter = self.responses(self.shares(self.counts(pilot)))
        value, parts = self.gain(self.shares(self.counts(later)), exploiter)
        before = self.copies(pilot)
        if sum(times for name, times in self.copies(later).items() if name in before) > 0.1 * len(later):
            return 0.0, math.inf
        return value, self.error(later, parts)

    def point(self, best: float) -> float:
        """Return the mean of the best response's gain and of what each half's best response gains from the other."""
        one, two = (
            self.shares(self.counts([r for r in self.replies if (r.place + r.question) % 2 == half])) for half in (0, 1)
        )
        crossed = self.gain(two, self.responses(one))[0] + self.gain(one, self.responses(two))[0]
        return (best + crossed / 2) / 2

    def strategy(self) -> list[tuple[int, str, str | None]]:
        """Return the exploiting moves that are reached against the agent: seat, situation and action."""
        rows, lines = self.shares(self.counts(self.replies))[self.in_tree], list[tuple[int, str, str | None]]()
        for seat, slots in enumerate(self.exploiter):
            played = np.where(self.walk.seat_of_slot[:-1] == seat, 0.0, rows)
            played[slots] = 1.0
            for number in self.walk.find_reached(played):
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

    def dominated_share(self) -> dict[str, Known]:
        """Return the share of dominated actions among the replies where there are any."""
        worse, hits, tries, even, strict = self.walk.find_dominated(), 0, 0, 0.0, False
        for one in self.replies:
            if (known := worse.get(self.sets[one.question].info_key)) and one.answered:
                hits, tries = hits + (one.row["action"] in known), tries + 1
                even += len(known) / len(self.sets[one.question].legal)
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


def text_of(one: RecordedReply) -> str:
    """Return the texts of the calls of a reply."""
    return "\n".join(call["text"] for call in one.row["calls"])


def played_test(answers: AgentAnswers, asked: Sequence[Row], played: Sequence[Row], agent: str) -> dict[str, Known]:
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
    numbers: dict[str, int] = {}
    pairs = [
        [[numbers.setdefault(one, len(numbers)) for one in side[known]] for side in (first, second)]
        for known in first
        if known in second
    ]
    if not pairs:
        raise CannotCompute("No situation that was asked about was met in play.")
    return differ_test([one for one, _ in pairs], [two for _, two in pairs])


def mean_by_deal(episodes: Sequence[Row], missing: float | None = None) -> dict[str, float]:
    """Return by the number of the deal, in order, the mean payoff a round of slot 0 over all seats.

    `missing` is the payoff of an episode in which a reply of it is missing; None takes the payoff as it is.
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
    reach = students_reach(n, error * math.sqrt(n))
    return figure | {"lower": value - reach, "upper": value + reach}


def students_reach(n: int, deviation: float) -> float:
    """Return the reach of Student's 95 % interval around a mean of n observations, by their standard deviation."""
    return float(stdtrit(n - 1, 0.975)) * deviation / math.sqrt(n)


def differences(before: Mapping[str, Row], after: Mapping[str, Row]) -> dict[str, dict[str, Known]]:
    """Return the differences of two cards of one seed by name: over the deals of both, or from limits to limits."""
    found: dict[str, dict[str, Known]] = {}
    ps: dict[str, MonteCarlo] = {}
    for name, new in after.items():
        old = before.get(name)
        if old is None or name.endswith(AGAINST) or old["unit"] != new["unit"] or (old["why_not"] and new["why_not"]):
            continue
        number = min(len(old["deals"]), len(new["deals"]))
        own: dict[str, Known] = {"n": 0, "holm_p": None}
        if number > 1 and old["method"] == new["method"]:
            gaps = np.subtract(new["deals"][:number], old["deals"][:number])
            value, deviation = math.fsum(gaps) / number, float(gaps.std(ddof=1))
            own |= {"value": value, "lower": None, "upper": None, "n": number}
            if deviation / math.sqrt(number) > 1e-9 * abs(value):
                reach = students_reach(number, deviation)
                own |= {"lower": value - reach, "upper": value + reach}
            ps[name] = sign_flips(gaps)
        else:
            ends = {"value": ("value", "value"), "lower": ("lower", "upper"), "upper": ("upper", "lower")}
            for part, (of_new, of_old) in ends.items():
                missing = new[of_new] is None or old[of_old] is None
                own[part] = None if missing else new[of_new] - old[of_old]
            if own["lower"] is None and own["upper"] is None:
                continue
        found[name + AGAINST] = own
    low, high = (holm_values({name: p[end] for name, p in ps.items()}) for end in (0, 1))
    for name in ps:
        found[name + AGAINST]["holm_p"] = MonteCarlo(low[name], high[name])
    return found


def gaffke_draws(values: Sequence[float], floor: float) -> Floats:
    """Return means of the values and the floor under weights that are drawn evenly."""
    points = np.append(np.maximum(np.asarray(values), floor), floor)
    weights = np.random.default_rng().exponential(size=(DRAWS, len(points)))
    return np.asarray(weights @ points / weights.sum(axis=1))


def excess_figures(answers: AgentAnswers, bouts: Sequence[Sequence[Row]], share: float) -> list[dict[str, Known]]:
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
