"""Figures of one game of an audit by quantity, each as a function of the records of the probes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from stratagem.base.errors import BadRecord, CannotCompute
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.verifier import audit_record as records
from stratagem.verifier import drawn_tests, figures
from stratagem.verifier.audit_record import RecordedReply, Row
from stratagem.verifier.drawn_tests import Known, MonteCarlo, agrees
from stratagem.verifier.figures import AgentAnswers

Thunk = Callable[[], dict[str, Known]]
_RULES = ("rules", "rules_legal", "rules_payoffs", "rules_turns")


class GameFigures:
    """Figures of one game by quantity, as functions of its records."""

    def __init__(
        self, card: Row, figures: Mapping[str, Row], game: str, made: Game[Any], episodes: Mapping[str, list[Row]]
    ) -> None:
        self._card, self._agent, self._game, self._made, self._episodes = card, str(card["agent"]), game, made, episodes
        self._told = {
            name.removeprefix(f"{game}."): one for name, one in figures.items() if name.startswith(f"{game}.")
        }
        self._replies = {probe: records.replies_of(some) for probe, some in episodes.items()}
        self._played = [
            one for some in episodes.values() for one in some if one["purpose"] != "probe" and one["game"] == game
        ]

    def thunks(self) -> dict[str, Thunk]:
        """Return the functions that recompute the figures of the probes and checks of this game."""
        table: list[tuple[str, str, Thunk]] = [
            ("replies", "exploitability", self.exploitability),
            ("replies", "dominated", lambda: self.answers.dominated_share()),
            ("replies", "illegal", lambda: self.answers.illegal()),
            ("replies", "change", lambda: drawn_tests.change_test(self.answers.actions)),
            ("replies", "sequence", lambda: drawn_tests.sequence_test(self.answers.actions)),
            ("replies", "played", self._play_as_asked),
            ("replies", "excess_loss", self._excess),
            ("bound", "exploitability", self._bound),
            ("words", "words", partial(self._differ, "words")),
            ("style", "style", partial(self._differ, "style")),
            ("repeat", "repeat", self._repeat),
            ("matches", "payoff_random", partial(self._payoff, "payoff_random")),
            *(("matches", name, partial(self._payoff, name)) for name in ("payoff_strong",) if name in self._told),
            *(("rules", name, partial(self._right_answers, name)) for name in _RULES if name in self._told),
        ]
        return {quantity: thunk for probe, quantity, thunk in table if probe in self._card["probes"][self._game]}

    @cached_property
    def answers(self) -> AgentAnswers:
        """Replies to all situations."""
        found = self._replies["replies"]
        if len(found) != 1:
            raise BadRecord(f"The questions were put to {len(found)} players.")
        agent, replies = next(iter(found.items()))
        if agent != self._agent:
            raise BadRecord(f"The questions were put to {agent[:200]}, not to the agent of the card.")
        answers = AgentAnswers(self._made, replies)
        legal = {question: one.legal for question, one in answers.sets.items()}
        if fault := next(records.illegal_actions(self._made, replies, legal), ""):
            raise BadRecord(fault)
        if not answers.may_fail and not answers.legal.all():
            # whether a scripted agent could have forfeited its replies do not tell; the upper limit of the card does
            upper = answers.exploitability(self._card["probes"][self._game]["replies"])["upper"]
            answers.may_fail = not agrees(self._told.get("exploitability", {}).get("upper"), upper)
        return answers

    def exploitability(self) -> dict[str, Known]:
        """Return the exploitability by the replies to all situations."""
        return self.answers.exploitability(self._card["probes"][self._game]["replies"])

    def _bout(self, name: str, probe: str = "matches") -> list[Row]:
        """Return the episodes of a probe against the opponent in the episode that the card names."""
        shown = self._told[name].get("episode", "")
        groups = {one["id"]: one["group"].rpartition("/")[0] for one in self._episodes[probe]}
        if shown not in groups:
            raise BadRecord("The episode that the card names is not in the record.")
        if probe == "matches" and (name == "payoff_random") != (groups[shown].rpartition("/")[2] == "random"):
            raise BadRecord("The episode that the card names is one against another opponent.")
        bout = [one for one in self._episodes[probe] if groups[one["id"]] == groups[shown]]
        key, agent = Key(int(self._card["seed"])).at("audit", self._game, probe), self._agent
        keys = (key,) if probe == "matches" else (key, key.at("recorded"))
        if fault := next(records.faults_of_bout(self._game, bout, keys, agent, probe == "matches"), ""):
            raise BadRecord(fault)
        return bout

    def _payoff(self, name: str) -> dict[str, Known]:
        return figures.payoff_figure(self._bout(name))

    def _bound(self) -> dict[str, Known]:
        bout = self._bout("exploitability", "bound")
        against = figures.mean_by_deal(bout)
        spec, own = self._made.spec, dict.fromkeys(against, 0.0)
        low, high = spec.bounds
        floor = low
        if spec.utility != "zero-sum":
            agent = re.escape(self._agent)
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
        names = [name for name in ("payoff_random", "payoff_strong") if name in self._told]
        bouts = {name: self._bout(name) for name in names}
        bouts = {name: some for name, some in bouts.items() if len({one["group"] for one in some}) > 1}
        if not bouts or not self._played:
            raise CannotCompute("No payoff over both seats was measured on two deals.")
        share = math.fsum(self._played[0]["payoffs"]) / len(self._played[0]["rounds"]) / 2.0
        found = figures.excess_figures(self.answers, [*bouts.values()], share)
        least = min(one["p"].high for one in found)  # type: ignore[union-attr]
        # values may be equal, so that only the episode tells which opponent the card means
        shown = self._told["excess_loss"].get("episode")
        for name, one in zip(bouts, found, strict=True):
            if self._told[name]["episode"] == shown and one["p"].low <= least:  # type: ignore[union-attr]
                return one
        raise BadRecord("The episode that the card names is not one against the opponent of the least p.")


def _actions(replies: Sequence[RecordedReply], question: int, numbers: dict[str, int]) -> list[int]:
    some = [one.row["action"] or "" for one in replies if one.question == question and one.answered]
    return [numbers.setdefault(action, len(numbers)) for action in some]
