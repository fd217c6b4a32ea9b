"""Check of a card against the records beside it: every figure is recomputed, or named with the reason why not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord, CannotCompute, StratagemError
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.distribution import is_distribution
from stratagem.games.key import Key
from stratagem.verifier import audit_record as records
from stratagem.verifier import figures
from stratagem.verifier.audit_plan import SETTINGS, SHARES, faults_of_plan, read_object, record_folder
from stratagem.verifier.audit_record import Row
from stratagem.verifier.drawn_games import check_draws
from stratagem.verifier.drawn_tests import MonteCarlo, agrees
from stratagem.verifier.figure_check import FigureCheck
from stratagem.verifier.game_figures import GameFigures, Thunk
from stratagem.verifier.share_figures import ShareFigures

CARD, BASELINE = "card.json", "against"
_FIELDS = ("value", "lower", "upper", "n", "chance", "p", "holm_p", "certain", "alarm", "deals")
DAMAGE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError)
"""Errors of code that reads what a stranger may have changed."""


@dataclass
class CardCheck:
    """Checks of one card, in the folder of its audit."""

    folder: Path
    is_baseline: bool = False
    """True for the card of a baseline, which has no baseline itself."""

    def __post_init__(self) -> None:
        self.card = read_object(self.folder / CARD)
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
        yield check_faults("plan", partial(faults_of_plan, self.folder, self.card))
        done = set[str]()
        for game in self.games:
            for check in self._check_game(game):
                done.add(check.name)
                yield check
        for check in self._check_baseline():
            done.add(check.name)
            yield check
        for name in self.figures:
            if name not in done:
                yield self._leave(name, _reason(name))
        yield self._check_cost()
        yield FigureCheck("requests", "not recomputed", detail="Requests that were refused leave no record.")
        yield FigureCheck("texts", "not recomputed", detail="Methods, examples and notes are words.")

    def _leave(self, name: str, reason: str) -> FigureCheck:
        return FigureCheck(name, "not recomputed", self.figures.get(name, {}).get("value"), detail=reason)

    def _check_baseline(self) -> Iterator[FigureCheck]:
        """Check the card of the baseline and its record, and the differences from it."""
        folder, agent = self.folder / BASELINE, self.card.get("baseline")
        if self.is_baseline or not folder.is_dir():
            if agent and not self.is_baseline:
                reason = f"The card has a baseline, and there is no folder {BASELINE}."
                yield FigureCheck("baseline", "differs", detail=reason)
            return
        for check in card_checks(folder, is_baseline=True):
            yield check._replace(name=f"baseline: {check.name}")
        other = CardCheck(folder)
        if _seed_of_draws(other.card) != _seed_of_draws(self.card):
            yield FigureCheck("baseline", "differs", detail=f"The card in the folder {BASELINE} has other drawn games.")
            return
        for name, own in {"agent": agent, **{name: self.card.get(name) for name in SETTINGS}}.items():
            if other.card.get(name) != own:
                reason = f"The card in the folder {BASELINE} has another {name} than this card asks for."
                yield FigureCheck("baseline", "differs", detail=reason)
                return
        for name, known in figures.differences(other.figures, self.figures).items():
            yield self._compare(name, lambda known=known: known)  # type: ignore[misc]

    def _check_game(self, game: str) -> Iterator[FigureCheck]:
        episodes = {
            probe: records.read_episodes(record_folder(self.folder, game, probe)) for probe in self.probes[game]
        }
        for some in episodes.values():
            self._decisions += [(one, row) for one in some for row in one["decisions"]]
        if is_distribution(game):
            if "draws" in episodes:
                yield from self._check_draws(game, episodes["draws"])
            else:  # too few games or decisions for the probe
                yield from self._check_unmeasured(game)
            return
        made = make_bounded_game(game)
        for probe, some in episodes.items():
            faults = partial(self._faults_of_record, made, game, probe, some)
            yield check_faults(f"{game}: record of {probe}", faults)
        work = GameFigures(self.card, self.figures, game, made, episodes)
        thunks = work.thunks()
        inapplicable = self.card.get("not_measured", {})
        for quantity, thunk in thunks.items():
            name = f"{game}.{quantity}"
            if name in self.figures or name not in inapplicable:
                yield self._compare(name, thunk)
        if "exploitability" in thunks and "replies" in episodes:
            name, told = f"{game}: strategy", self.card.get("strategies", {}).get(game, [])
            yield attempt(FigureCheck(name, "agrees", len(told)), partial(_check_strategy, work, told))

    def _check_draws(self, game: str, episodes: list[Row]) -> Iterator[FigureCheck]:
        """Check the games of an audit over draws, and the figures in each and over all of them."""
        yield check_draws(self.card, game)
        work = ShareFigures(self.card, game, episodes)
        if not work.rows:
            yield FigureCheck(
                f"{game}: record of draws", "differs", detail="The card has no game that was asked about."
            )
            yield from self._check_unmeasured(game)
            return
        yield check_faults(f"{game}: record of draws", work.faults_of_record)
        for text, row in work.rows.items():
            check = FigureCheck(f"{game}: {text}", "agrees", row.get("value"))
            yield attempt(check, partial(_check_row, work, text, row))
        for quantity, thunk in work.thunks().items():
            check = self._compare(f"{game}.{quantity}", thunk)
            if check.agreement == "not recomputed" and work.is_measured(quantity):
                check = check._replace(agreement="differs", detail=f"{check.detail} The record has what it needs.")
            yield check
        yield check_faults(f"{game}: strategy", work.faults_of_strategy)

    def _check_unmeasured(self, game: str) -> Iterator[FigureCheck]:
        """Check that no figure of drawn games has a value where the agent was asked in none."""
        for name, own in self.figures.items():
            if name.startswith(f"{game}.") and any(
                own.get(part) is not None for part in ("value", "lower", "upper", "p")
            ):
                yield FigureCheck(name, "differs", own.get("value"), detail="The agent was asked in no drawn game.")

    def _faults_of_record(self, game: Game[Any], text: str, probe: str, episodes: list[Row]) -> Iterator[str]:
        """Play games again, and look for missing replies, replies of another seed, and episodes of another game."""
        key = Key(self.seed).at("audit", text, probe)
        for one in episodes:
            if one["game"] == text and one["purpose"] != "probe" and one["forked_at"] == 0:
                yield from records.faults_of_play(game, one)
        for player, replies in records.replies_of(episodes).items():
            yield from records.faults_of_replies(replies)
            keys = {"replies": key, "exploiter": key.at("fresh")}
            yield from records.faults_of_keys(replies, keys.get(probe, key.at(player)))
        if not episodes and probe in SHARES and probe != "exploiter":  # a list may be fitted to stated probabilities
            yield "It holds no episode."

    def _compare(self, name: str, thunk: Thunk) -> FigureCheck:
        """Compare a figure of the card with what is recomputed, field by field."""
        if name not in self.figures:
            return FigureCheck(name, "differs", detail="The card lacks this figure.")
        own = self.figures[name]
        if own.get("why_not"):
            has = [part for part in _FIELDS[:3] if own.get(part) is not None]
            reason = f"The card has no value: {own['why_not']}"
            return self._leave(name, reason)._replace(agreement="differs" if has else "not recomputed")
        return attempt(FigureCheck(name, "agrees", own.get("value")), partial(self._compare_fields, own, thunk))

    def _compare_fields(self, own: Row, thunk: Thunk, check: FigureCheck) -> FigureCheck:
        known = {"holm_p": self._holm.get(check.name), **thunk()}
        alarm = bool(own.get("certain")) or (own.get("holm_p") is not None and own["holm_p"] <= 0.05)
        known["alarm"] = alarm and not check.name.endswith(figures.AGAINST)
        value = known.get("value")
        drawn = isinstance(value, MonteCarlo | tuple)
        for part in _FIELDS:
            if part in known and not agrees(own.get(part), known[part]):
                detail = f"`{part}` is {_short(own.get(part))} in the card, and {_short(known[part])} by the record."
                return check._replace(agreement="differs", recomputed=None if drawn else _number(value), detail=detail)
        left = [part for part in ("value", "lower", "upper", "p") if own.get(part) is not None and part not in known]
        detail = f"Not recomputed: {', '.join(left)}." if left else ""
        return check._replace(recomputed=_number(own.get("value") if drawn else value), detail=detail)

    @property
    def _holm(self) -> dict[str, float]:
        ps = {name: one["p"] for name, one in self.figures.items() if isinstance(one.get("p"), int | float)}
        return figures.holm_values({name: p for name, p in ps.items() if not name.endswith(figures.AGAINST)})

    def _check_cost(self) -> FigureCheck:
        cost, agent = self.card.get("cost", {}), self.card.get("agent")
        own = [
            row
            for episode, row in self._decisions
            if row["how"] != "absent"
            and (episode["purpose"] == "probe" or episode["players"][row["seat"]].rpartition("@")[0] == agent)
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


def check_faults(name: str, faults: Callable[[], Iterator[str]]) -> FigureCheck:
    """Return the check of a part by its first fault; a part that cannot be read is one."""
    try:
        fault = next(faults(), "")
    except BadRecord as error:
        fault = str(error)
    except DAMAGE as error:
        fault = f"It lacks a column or a value: {error}."
    return FigureCheck(name, "differs" if fault else "agrees", detail=fault)


def attempt(check: FigureCheck, compute: Callable[[FigureCheck], FigureCheck]) -> FigureCheck:
    """Fill a check, or give the reason why nothing was recomputed."""
    try:
        return compute(check)
    except CannotCompute as error:
        return check._replace(agreement="not recomputed", detail=str(error))
    except BadRecord as error:
        return check._replace(agreement="differs", detail=str(error))
    except DAMAGE as error:
        return check._replace(agreement="differs", detail=f"Its record is damaged: {error!r}.")


def _check_row(work: ShareFigures, text: str, row: Row, check: FigureCheck) -> FigureCheck:
    """Check the figures of one of several games."""
    found = work.shares[text].figures()
    for part, value in found.items():
        if not agrees(row.get(part), value):
            detail = f"`{part}` is {_short(row.get(part))} in the card, and {_short(value)} by the record."
            return check._replace(agreement="differs", recomputed=_number(found["value"]), detail=detail)
    return check._replace(recomputed=_number(found["value"]))


def _check_strategy(work: GameFigures, told: Sequence[Row], check: FigureCheck) -> FigureCheck:
    """Check the moves that exploit the agent; none are told where the lower limit is 0."""
    lines = work.answers.strategy() if work.exploitability()["lower"] else []
    same = sorted((one.get("seat"), one.get("situation"), one.get("action")) for one in told) == lines
    detail = "" if same else "The exploiting moves of the card are not those that follow from the record."
    return check._replace(agreement="agrees" if same else "differs", recomputed=len(lines), detail=detail)


def card_checks(folder: Path, *, is_baseline: bool = False) -> Iterator[FigureCheck]:
    """Yield the checks of a card and of that of its baseline; a damaged file ends them with its sentence."""
    try:
        yield from CardCheck(folder, is_baseline).checks()
    except StratagemError as error:
        yield FigureCheck("card", "differs", detail=str(error))
    except DAMAGE as error:
        yield FigureCheck("card", "differs", detail=f"The card or its record is damaged: {error!r}.")


def _reason(name: str) -> str:
    """Return why a figure is not recomputed."""
    if name.endswith(".exploiter"):
        return "What its rules test are facts as players name them, not the rules of the game."
    return "No rule to recompute it is known here: it is of a probe that needs more than the record has."


def _seed_of_draws(card: Row) -> Any:
    return card.get("draws", {}).get("seed")


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _short(value: Any) -> str:
    if isinstance(value, MonteCarlo):
        return f"between {value.low:.4g} and {value.high:.4g}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:80]
