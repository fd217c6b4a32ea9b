"""Comparison of an environment with OpenSpiel's rules, over every line of play, or over many where there are too many.

Compared are the seats to act, the legal actions, the end, the amounts at the table, the payoffs, and what is shown: a
seat that cannot tell two positions apart in OpenSpiel is shown the same in both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stratagem.games.base import Node
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.walk import VerifiedGame
from stratagem.games.foreign.environment import unlike
from stratagem.games.foreign.game import ForeignGame, ForeignState
from stratagem.games.foreign.translations import Translation, name_actions, new_node

_POSITIONS = 400
"""Number of positions of a deal beyond which lines of play are drawn at random."""
_TABLES = 60
"""Number of tables that are begun to meet all deals."""
_LINES = 60
"""Number of lines drawn at random."""


@dataclass
class AmountChange:
    """Changes of an amount by one action: here, and in OpenSpiel."""

    wrong: int = 0
    played: int = 0
    says: str = ""


@dataclass
class Findings:
    """Differences found so far."""

    lines: int = 0
    deals: set[tuple[int, ...]] = field(default_factory=set)
    faults: dict[str, BrokenRule] = field(default_factory=dict)
    """Smallest episode of each kind of difference."""
    changes: dict[tuple[str, str], AmountChange] = field(default_factory=dict)
    """Changes of amounts, by amount and action."""
    wrong: list[frozenset[str]] = field(default_factory=list)
    """Actions of each line that pays otherwise."""
    right: list[frozenset[str]] = field(default_factory=list)
    shown: dict[tuple[int, str], tuple[str, PlayedPath]] = field(default_factory=dict)
    """Text that was shown in each of OpenSpiel's information sets, with the path to it."""

    def add(self, kind: str, says: str, *transcripts: PlayedPath) -> None:
        """Keep a difference if it is the smallest of its kind."""
        fault = BrokenRule(says, *transcripts)
        if kind not in self.faults or fault.size < self.faults[kind].size:
            self.faults[kind] = fault


@dataclass(frozen=True)
class PairedPosition:
    """One position in both programs."""

    state: ForeignState
    node: Node
    order: tuple[int, ...]
    """Seat of each of OpenSpiel's players."""
    transcript: PlayedPath

    def after(self, translation: Translation, action: str) -> PairedPosition:
        """Return the position after an action."""
        state, node = self.state.fork(), self.node.clone()
        state.play({self.state.to_act[0]: action})
        node.apply_action(name_actions(translation, node)[action])
        return PairedPosition(state, node, self.order, self.transcript.then({self.state.to_act[0]: action}))


def rules(case: VerifiedGame) -> str:
    """Compare the environment with OpenSpiel's game."""
    game = case.game
    if not isinstance(game, ForeignGame) or game.translation is None:
        raise NotApplicable("no table names OpenSpiel's game for it")
    comparison = _Comparison(game.as_translated, game.translation)
    for key in case.tables(number=_TABLES):
        place = comparison.start(PlayedPath(key))
        if comparison.is_new(place):
            comparison.walk(place)
    if not comparison.is_whole:
        comparison.walk_at_random(case)
    return comparison.outcome()


class _Comparison:
    """Walk through both programs side by side."""

    def __init__(self, game: ForeignGame, translation: Translation) -> None:
        self.game, self.translation, self.found = game, translation, Findings()
        self.is_whole = True

    def start(self, transcript: PlayedPath) -> PairedPosition:
        """Begin in both programs, with the same deal."""
        state, node = self.game.start(transcript.key), new_node(self.translation)
        assert isinstance(state, ForeignState)
        others = [seat for seat in range(self.game.spec.seats) if seat not in state.to_act]
        order = (*state.to_act, *others) if self.translation.first_acts else tuple(range(self.game.spec.seats))
        for outcome in self.translation.deals(state.running.inner, order):
            node.apply_action(outcome)
        return PairedPosition(state, node, order, transcript)

    def is_new(self, place: PairedPosition) -> bool:
        """Return whether this deal has not been walked."""
        deal = (*place.order, *place.node.history())
        is_new = deal not in self.found.deals
        self.found.deals.add(deal)
        return is_new

    def walk(self, start: PairedPosition) -> None:
        """Walk every line of play of a deal."""
        waiting, looked = [start], 0
        while waiting and looked < _POSITIONS:
            place, looked = waiting.pop(), looked + 1
            waiting += [self._move_both(place, action) for action in self._actions(place)]
        self.is_whole &= not waiting

    def walk_at_random(self, case: VerifiedGame) -> None:
        """Walk some lines of play, drawn at random."""
        for key in case.tables("line", _LINES):
            place, number = self.start(PlayedPath(key)), 0
            while actions := self._actions(place):
                place = self._move_both(place, actions[key.at("move", number).integer(len(actions))])
                number += 1

    def _move_both(self, place: PairedPosition, action: str) -> PairedPosition:
        after = place.after(self.translation, action)
        if not after.state.over:
            self._amounts(place, after, action)
        return after

    def _actions(self, place: PairedPosition) -> list[str]:
        """Compare a position, and return the actions to go on with; none where the programs part."""
        state, node, add = place.state, place.node, self.found.add
        if state.over != node.is_terminal():
            ours, theirs = ("is over", "goes on") if state.over else ("goes on", "is over")
            add("end", f"the episode {ours} here, and in OpenSpiel it {theirs}", place.transcript)
            return []
        if state.over:
            self._payoffs(place)
            return []
        if (due := place.order[node.current_player()]) not in state.to_act:
            add("turn", f"seat {state.to_act[0]} is to act here, and in OpenSpiel seat {due}", place.transcript)
            return []
        self._texts(place)
        legal, names = state.view(due).choices, name_actions(self.translation, node)
        if sorted(legal) != sorted(names):
            add("legal", f"legal are {sorted(legal)} here, and {sorted(names)} in OpenSpiel", place.transcript)
        return [action for action in names if action in legal]

    def _payoffs(self, place: PairedPosition) -> None:
        running = place.state.running
        paid = self.translation.paid(running.inner) if self.translation.paid else running.payoffs
        due = dict(zip(place.order, place.node.returns(), strict=True))
        theirs = tuple(due[seat] for seat in range(len(paid)))
        self.found.lines += 1
        is_right = all(abs(a - b) < 1e-6 for a, b in zip(paid, theirs, strict=True))
        (self.found.right if is_right else self.found.wrong).append(frozenset(place.state.moves))
        if not is_right:
            self.found.add(
                "payoffs",
                f"{_list_values(paid)} is paid here, and {_list_values(theirs)} in OpenSpiel",
                place.transcript,
            )

    def _amounts(self, before: PairedPosition, after: PairedPosition, action: str) -> None:
        """Compare the change of each amount by an action."""
        for name, amount in self.translation.amounts.items():
            here = [amount.here(place.state.running.inner) for place in (before, after)]
            there = [amount.in_spiel(place.node) for place in (before, after)]
            change = self.found.changes.setdefault((name, action), AmountChange())
            change.played += 1
            if abs((here[1] - here[0]) - (there[1] - there[0])) > 1e-6:
                change.wrong += 1
                change.says = f"after {action} {name} {_change(here)}, and in OpenSpiel it {_change(there)}"
                self.found.add(name, change.says, after.transcript)

    def _texts(self, place: PairedPosition) -> None:
        """Compare what a seat is shown with what it was shown in the same information set of OpenSpiel's."""
        player = place.node.current_player()
        seat = place.order[player]
        known = place.order[0], f"{player} {place.node.information_state_string(player)}"
        text = place.state.running.shown(seat)
        before, transcript = self.found.shown.setdefault(known, (text, place.transcript))
        if text != before:
            says = f"seat {seat} is shown more than it may know: {unlike(text, before)}"
            self.found.add("shown", says, place.transcript, transcript)

    def outcome(self) -> str:
        """Return what was compared; raise what was found."""
        found, spiel = self.found, self.translation.spiel
        whole = "every line of play" if self.is_whole else "lines of play"
        compared = f"{found.lines} ends of {whole} in {len(found.deals)} deals against OpenSpiel's {spiel}"
        if not found.faults:
            return compared
        says = [self._summary(kind, fault) for kind, fault in found.faults.items()]
        transcripts = [transcript for fault in found.faults.values() for transcript in fault.transcripts]
        raise BrokenRule(f"{'; '.join(says)} ({compared})", *transcripts)

    def _summary(self, kind: str, fault: BrokenRule) -> str:
        """Describe a kind of difference by all lines that show it."""
        if kind in self.translation.amounts:
            changes = [change for (name, _), change in self.found.changes.items() if name == kind and change.wrong]
            return ", ".join(f"{change.says} ({change.wrong} of {change.played} times)" for change in changes)
        if kind != "payoffs":
            return str(fault)
        number, common = len(self.found.wrong), frozenset.intersection(*self.found.wrong)
        is_cause = common and not any(common <= line for line in self.found.right)
        lines = (
            f"all {number} lines with {' and '.join(sorted(common))}"
            if is_cause
            else f"{number} of {self.found.lines} lines"
        )
        return f"payoffs differ in {lines}: {fault}"


def _change(values: list[float]) -> str:
    return f"stays at {values[0]:g}" if values[0] == values[1] else f"goes from {values[0]:g} to {values[1]:g}"


def _list_values(values: tuple[float, ...]) -> str:
    return " / ".join(f"{value:g}" for value in values)
