"""Check of a card against the records beside it: every figure is recomputed, or named with the reason why not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.distribution import is_distribution
from stratagem.games.key import Key
from stratagem.verifier import audit_record as records
from stratagem.verifier import drawn_tests, figures
from stratagem.verifier.audit_record import RecordedReply, Row
from stratagem.verifier.drawn_games import check_draws
from stratagem.verifier.drawn_tests import Known, MonteCarlo
from stratagem.verifier.figure_check import FigureCheck
from stratagem.verifier.figures import AgentAnswers

CARD, PLAN = "card.json", "evaluation.json"
_SHARES = {
    "replies": 0.45,
    "bound": 0.45,
    "words": 0.15,
    "style": 0.1,
    "repeat": 0.03,
    "rules": 0.07,
    "matches": 0.2,
    "talk": 0.2,
    "injection": 0.2,
    "exploiter": 0.2,
    "draws": 1.0,
}
"""Share of the decisions of a game that a probe may ask for."""
_FIELDS = ("value", "lower", "upper", "n", "chance", "p", "holm_p", "certain", "alarm", "deals")
DAMAGE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError)
"""Errors of code that reads what a stranger may have changed."""
Thunk = Callable[[], dict[str, Known]]


@dataclass
class CardCheck:
    """Checks of one card, in the folder of its audit."""

    folder: Path

    def __post_init__(self) -> None:
        self.card = records.read_object(self.folder / CARD)
        try:
            self.figures: dict[str, Row] = {one["name"]: one for one in self.card["figures"]}
            self.games = [str(one) for one in self.card["games"]]
            self.probes = {game: dict(self.card["probes"][game]) for game in self.games}
            self.seed = int(self.card["seed"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadRecord(f"{self.folder / CARD} is no card of this release.") from error
        self._decisions: list[tuple[Row, Row]] = []

    def checks(self) -> Iterator[FigureCheck]:
        """Yield the checks: plan, records and figures of each game, the cost, and what is left."""
        yield self._check_plan()
        done = set[str]()
        for game in self.games:
            for check in self._check_game(game):
                done.add(check.name)
                yield check
        for name, figure in self.figures.items():
            if name not in done:
                reason = "It is a difference from the baseline, whose own card is checked in the folder `against`."
                other = "No rule to recompute it is known here: it is of a probe that needs more than the record has."
                yield self._leave(name, reason if figure.get("group") == "against" else other)
        yield self._check_cost()
        yield FigureCheck("requests", "not recomputed", detail="Requests that were refused leave no record.")
        yield FigureCheck("texts", "not recomputed", detail="Methods, examples and notes are words.")

    def _leave(self, name: str, reason: str) -> FigureCheck:
        return FigureCheck(name, "not recomputed", self.figures.get(name, {}).get("value"), detail=reason)

    def _check_plan(self) -> FigureCheck:
        plan = records.read_object(self.folder / PLAN)
        for name in ("games", "decisions", "seed"):
            if plan.get(name) != self.card.get(name):
                return FigureCheck("plan", "differs", detail=f"{PLAN} has other {name} than the card.")
        expected = {
            records.record_folder(self.folder, game, probe) for game in self.games for probe in self.probes[game]
        }
        found = {path for path in (self.folder / "records").glob("*") if path.is_dir()}
        for path in sorted(expected ^ found):
            where = path.relative_to(self.folder)
            reason = f"{where} is missing." if path in expected else f"{where} belongs to no probe of the card."
            return FigureCheck("plan", "differs", detail=reason)
        for path in sorted(found):
            own = records.read_object(path / PLAN)
            if any(own.get(name) != plan.get(name) for name in ("player", "games", "decisions", "seed")):
                return FigureCheck("plan", "differs", detail=f"{path.relative_to(self.folder)} is of another audit.")
        each = int(self.card["decisions"]) // len(self.games)
        for game in self.games:
            for probe, planned in self.probes[game].items():
                if probe in _SHARES and planned != int(_SHARES[probe] * each):
                    detail = f"{game}: {probe} has another number of decisions than an audit gives it."
                    return FigureCheck("plan", "differs", planned, int(_SHARES[probe] * each), detail)
        return FigureCheck("plan", "agrees")

    def _check_game(self, game: str) -> Iterator[FigureCheck]:
        episodes = {
            probe: records.read_episodes(records.record_folder(self.folder, game, probe)) for probe in self.probes[game]
        }
        for some in episodes.values():
            self._decisions += [(one, row) for one in some for row in one["decisions"]]
        if is_distribution(game):
            yield check_draws(self.card, game)
            reason = "Figures over drawn games are not recomputed; their games are, from the seed."
            yield from (self._leave(name, reason) for name in self.figures if name.startswith(f"{game}."))
            return
        made = make_bounded_game(game)
        for probe, some in episodes.items():
            yield self._check_record(game, made, probe, some)
        work = GameFigures(self, game, made, episodes)
        thunks = work.thunks()
        inapplicable = self.card.get("not_measured", {})
        for quantity, thunk in thunks.items():
            name = f"{game}.{quantity}"
            if name in self.figures:
                yield self._compare(name, thunk)
            elif name not in inapplicable:
                yield FigureCheck(name, "differs", detail="The card lacks this figure.")
        if "exploitability" in thunks and "replies" in episodes:
            yield work.check_strategy()

    def _check_record(self, game: str, made: Game[Any], probe: str, episodes: Sequence[Row]) -> FigureCheck:
        """Play games again, and look for missing replies, replies of another seed, and episodes of another game."""
        name, faults = f"{game}: record of {probe}", list[str]()
        key = Key(self.seed).at("audit", game, probe)
        try:
            for one in episodes:
                if one["game"] == game and one["purpose"] != "probe" and one["forked_at"] == 0:
                    faults += records.faults_of_play(made, one)
            for player, replies in records.replies_of(list(episodes)).items():
                faults += records.faults_of_replies(replies)
                keys = {"replies": key, "exploiter": key.at("fresh")}
                faults += records.faults_of_keys(replies, keys.get(probe, key.at(player)))
        except DAMAGE as error:
            faults.append(f"It lacks a column or a value: {error}.")
        if not episodes and probe in _SHARES and probe != "exploiter":  # a list may be fitted to stated probabilities
            faults.append("It holds no episode.")
        return FigureCheck(name, "differs" if faults else "agrees", detail=faults[0] if faults else "")

    def _compare(self, name: str, thunk: Thunk) -> FigureCheck:
        """Compare a figure of the card with what is recomputed, field by field."""
        own = self.figures[name]
        if own.get("why_not"):
            return self._leave(name, f"The card has no value: {own['why_not']}")
        try:
            known = {**thunk(), "holm_p": self._holm.get(name)}
        except CannotCompute as error:
            return self._leave(name, str(error))
        except BadRecord as error:
            return FigureCheck(name, "differs", own.get("value"), detail=str(error))
        except DAMAGE as error:
            return FigureCheck(name, "differs", own.get("value"), detail=f"Its record is damaged: {error!r}.")
        alarm = bool(own.get("certain")) or (own.get("holm_p") is not None and own["holm_p"] <= 0.05)
        known["alarm"] = alarm
        value = known.get("value")
        shown = own.get("value") if isinstance(value, MonteCarlo | tuple) else value
        for part in _FIELDS:
            if part in known and not agrees(own.get(part), known[part]):
                told = "" if isinstance(value, MonteCarlo | tuple) else value
                detail = f"`{part}` is {_short(own.get(part))} in the card, and {_short(known[part])} by the record."
                return FigureCheck(name, "differs", own.get("value"), None if told == "" else _number(value), detail)
        left = [part for part in ("value", "lower", "upper", "p") if own.get(part) is not None and part not in known]
        detail = f"Not recomputed: {', '.join(left)}." if left else ""
        return FigureCheck(name, "agrees", own.get("value"), _number(shown), detail)

    @property
    def _holm(self) -> dict[str, float]:
        ps = {name: one["p"] for name, one in self.figures.items() if isinstance(one.get("p"), int | float)}
        ours = {name: p for name, p in ps.items() if self.figures[name].get("group") != "against"}
        return figures.holm_values(ours)

    def _check_cost(self) -> FigureCheck:
        cost, agent = self.card.get("cost", {}), self.card.get("agent")
        own = [
            row
            for episode, row in self._decisions
            if episode["purpose"] == "probe" or episode["players"][row["seat"]].rpartition("@")[0] == agent
        ]
        calls = [call for row in own for call in row["calls"]]
        illegal = Counter(row["calls"][-1]["finish"] for row in own if row["how"] == "illegal" and row["calls"])
        known = {
            "decisions": len(own),
            "calls": len(calls),
            "prompt_tokens": sum(call["num_prompt"] for call in calls),
            "reply_tokens": sum(call["num_reply"] for call in calls),
            "seconds": round(math.fsum(call["ms"] for call in calls) / 1000.0, 1),
            "failed": sum(call["finish"] in records.FAILED for call in calls),
            "unsaid": {end: illegal[end] for end in ("length", "refusal", "filter") if illegal[end]},
        }
        for name, value in known.items():
            if cost.get(name) != value and not (name == "seconds" and abs(cost.get(name, -9) - known["seconds"]) < 0.2):
                detail = f"`{name}` is {_short(cost.get(name))} in the card, and {_short(value)} by the record."
                return FigureCheck("cost", "differs", cost.get("decisions"), len(own), detail)
        detail = "" if cost.get("money") is None else "Money is not recomputed: the record has no prices."
        return FigureCheck("cost", "agrees", cost.get("decisions"), len(own), detail)


class GameFigures:
    """Figures of one game by quantity, as functions of its records."""

    def __init__(self, check: CardCheck, game: str, made: Game[Any], episodes: Mapping[str, list[Row]]) -> None:
        self._check, self._game, self._made, self._episodes = check, game, made, episodes
        self._replies = {probe: records.replies_of(some) for probe, some in episodes.items()}
        self._answers: AgentAnswers | None = None
        self._played = [
            one for some in episodes.values() for one in some if one["purpose"] != "probe" and one["game"] == game
        ]

    def thunks(self) -> dict[str, Thunk]:
        """Return the functions that recompute the figures of the probes and checks of this game."""
        found: dict[str, Thunk] = {}
        probes = self._check.probes[self._game]
        if "replies" in probes:
            found |= {
                "exploitability": lambda: self.answers.exploitability(probes["replies"]),
                "dominated": lambda: self.answers.dominated_share(),
                "illegal": lambda: self.answers.illegal(),
                "change": lambda: drawn_tests.change_test(self.answers.actions),
                "sequence": lambda: drawn_tests.sequence_test(self.answers.actions),
                "played": lambda: self._play_as_asked(),
                "excess_loss": lambda: self._excess(),
            }
        if "bound" in probes:
            found["exploitability"] = self._bound
        for probe in ("words", "style"):
            if probe in probes:
                found[probe] = lambda probe=probe: self._differ(probe)  # type: ignore[misc]
        if "repeat" in probes:
            found["repeat"] = self._repeat
        for name in ("rules", "rules_legal", "rules_payoffs", "rules_turns"):
            if f"{self._game}.{name}" in self._check.figures and "rules" in probes:
                found[name] = lambda name=name: self._right_answers(name)  # type: ignore[misc]
        for name in ("payoff_random", "payoff_strong"):
            if "matches" in probes and (name == "payoff_random" or f"{self._game}.{name}" in self._check.figures):
                found[name] = lambda name=name: figures.payoff_figure(self._bout(name))  # type: ignore[misc]
        return found

    @property
    def answers(self) -> AgentAnswers:
        """Replies to all situations."""
        if self._answers is None:
            found = self._replies["replies"]
            if len(found) != 1:
                raise BadRecord(f"The questions were put to {len(found)} players.")
            self.agent, replies = next(iter(found.items()))
            if self.agent != self._check.card.get("agent"):
                raise BadRecord(f"The questions were put to {self.agent[:200]}, not to the agent of the card.")
            self._answers = AgentAnswers(self._made, replies)
            legal = {question: one.actions for question, one in self._answers.sets.items()}
            if fault := next(records.illegal_actions(self._made, replies, legal), ""):
                raise BadRecord(fault)
        return self._answers

    def check_strategy(self) -> FigureCheck:
        """Check the moves that exploit the agent; none are told where the lower limit is 0."""
        name = f"{self._game}: strategy"
        told = self._check.card.get("strategies", {}).get(self._game, [])
        try:
            known = self.answers.exploitability(self._check.probes[self._game]["replies"])
        except CannotCompute as error:
            return FigureCheck(name, "not recomputed", detail=str(error))
        except (BadRecord, *DAMAGE) as error:
            return FigureCheck(name, "differs", detail=str(error))
        lines = self.answers.strategy() if known["lower"] else []
        same = sorted((one.get("seat"), one.get("situation"), one.get("action")) for one in told) == lines
        detail = "" if same else "The exploiting moves of the card are not those that follow from the record."
        return FigureCheck(name, "agrees" if same else "differs", len(told), len(lines), detail)

    def _bout(self, name: str, probe: str = "matches") -> list[Row]:
        """Return the episodes of a probe against the opponent in the episode that the card names."""
        shown = self._check.figures[f"{self._game}.{name}"].get("episode", "")
        groups = {one["id"]: one["group"].rpartition("/")[0] for one in self._episodes[probe]}
        if shown not in groups:
            raise BadRecord("The episode that the card names is not in the record.")
        if probe == "matches" and (name == "payoff_random") != (groups[shown].rpartition("/")[2] == "random"):
            raise BadRecord("The episode that the card names is one against another opponent.")
        bout = [one for one in self._episodes[probe] if groups[one["id"]] == groups[shown]]
        key, agent = Key(self._check.seed).at("audit", self._game, probe), str(self._check.card.get("agent"))
        keys = (key,) if probe == "matches" else (key, key.at("recorded"))
        if fault := next(records.faults_of_bout(self._game, bout, keys, agent, probe == "matches"), ""):
            raise BadRecord(fault)
        return bout

    def _bound(self) -> dict[str, Known]:
        bout = self._bout("exploitability", "bound")
        against = figures.mean_by_deal(bout)
        spec, own = self._made.spec, dict.fromkeys(against, 0.0)
        low, high = spec.bounds
        floor = low
        if spec.utility != "zero-sum":
            agent = re.escape(str(self._check.card.get("agent")))
            itself = [
                one
                for one in self._episodes["bound"]
                if all(re.match(agent + "(@|$)", name) for name in one["players"])
            ]
            own, floor = figures.mean_by_deal(itself), min(0.0, low) - max(0.0, high)
        lengths = {len(one["rounds"]) for one in bout}
        floor = min(0.0, floor / spec.rounds if spec.rounds and lengths == {spec.rounds} else floor)
        gains = [against[deal] - own[deal] for deal in against if deal in own]
        draws = figures.gaffke_draws(gains, floor)
        lower = drawn_tests.around_quantile(draws, 0.05)
        p = (int((draws <= 1e-9).sum()) + 1) / (len(draws) + 1)
        limits = MonteCarlo(max(0.0, lower.low), max(0.0, lower.high))
        return {"value": None, "lower": limits, "p": drawn_tests.around_p(p, len(draws)), "n": len(gains)}

    def _settings(self, probe: str) -> tuple[list[list[int]], list[list[int]]]:
        """Return the actions of the agent as it is, and in another setting, by question."""
        numbers: dict[str, int] = {}
        found = self._replies[probe]
        own = next(iter(self._replies["replies"]), "") if "replies" in self._replies else ""
        others = [player for player in found if player != own]
        if own not in found or len(others) != 1:
            raise CannotCompute("It was not asked in two settings.")
        asked = 1 + max(one.question for some in found.values() for one in some)
        return tuple(  # type: ignore[return-value]
            [_actions(found[player], question, numbers) for question in range(asked)] for player in (own, others[0])
        )

    def _differ(self, probe: str) -> dict[str, Known]:
        return drawn_tests.differ_test(*self._settings(probe))

    def _repeat(self) -> dict[str, Known]:
        numbers: dict[str, int] = {}
        (some,) = self._replies["repeat"].values()
        rows = [_actions(some, question, numbers) for question in range(1 + max(one.question for one in some))]
        rows = [row for row in rows if len(row) > 1]
        return figures.share_figure(sum(len(set(row)) == 1 for row in rows), len(rows))

    def _right_answers(self, name: str) -> dict[str, Known]:
        """Return the share of right answers to questions about the rules; equal questions are one observation."""
        kind = name.partition("_")[2]
        some = [one for one in self._episodes["rules"] if not kind or one["game"] == f"rules:{kind}:{self._game}"]
        right = math.fsum(one["payoffs"][0] / max(1, len(one["rounds"])) for one in some)
        return {"value": right / len(some), "n": len({one["decisions"][-1]["info_key"] for one in some})}

    def _play_as_asked(self) -> dict[str, Known]:
        asked = [one for one in self._episodes["replies"] if one["purpose"] == "probe"]
        return figures.played_test(self.answers, asked, self._played, next(iter(self._replies["replies"])))

    def _excess(self) -> dict[str, Known]:
        names = [name for name in ("payoff_random", "payoff_strong") if f"{self._game}.{name}" in self._check.figures]
        bouts = [some for some in map(self._bout, names) if len({one["group"] for one in some}) > 1]
        if not bouts or not self._played:
            raise CannotCompute("No payoff over both seats was measured on two deals.")
        share = math.fsum(self._played[0]["payoffs"]) / len(self._played[0]["rounds"]) / 2.0
        found = figures.excess_figures(self.answers, bouts, share)
        own = self._check.figures[f"{self._game}.excess_loss"]
        least = min(one["p"].high for one in found)  # type: ignore[union-attr]
        likely = [one for one in found if one["p"].low <= least]  # type: ignore[union-attr]
        return min(likely, key=lambda one: abs(float(one["value"]) - float(own["value"])))  # type: ignore[arg-type]


def _actions(replies: Sequence[RecordedReply], question: int, numbers: dict[str, int]) -> list[int]:
    some = [one.row["action"] or "" for one in replies if one.question == question and one.answered]
    return [numbers.setdefault(action, len(numbers)) for action in some]


def agrees(card: Any, known: Known) -> bool:
    """Return whether a number of a card is the recomputed one, up to rounding or to the error of draws."""
    if isinstance(known, MonteCarlo):
        return isinstance(card, int | float) and known.low - 1e-9 <= card <= known.high + 1e-9
    if isinstance(known, tuple):
        if isinstance(card, list):
            return len(card) == len(known) and all(map(agrees, card, known))
        return any(agrees(card, one) for one in known)
    if known is None or isinstance(known, bool) or card is None:
        return card is known
    return isinstance(card, int | float) and math.isclose(card, known, rel_tol=1e-6, abs_tol=1e-9)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _short(value: Any) -> str:
    if isinstance(value, MonteCarlo):
        return f"between {value.low:.4g} and {value.high:.4g}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:80]
