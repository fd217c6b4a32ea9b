"""Safety signals of a described game: numbers from 0 to 1 a round and seat, which players are not told of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stratagem.base.errors import BadParameter
from stratagem.games.drawn.description import GameDescription, RoundSignal, RoundState, Step

Lossy = Literal["table", "sale", "split", "pool"]
MOST_SIGNALS = 8
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "choice": ("choice", "options", "item", "values"),
    "loss": ("step",),
    "nothing": (),
}
"""Keys that each measure reads."""


@dataclass(frozen=True)
class SignalRule(RoundSignal):
    """Signal of a round, such as collusion or externality, measured beside the payoffs.

    Several tables with `measure = "choice"` may have one name: a seat has the first of them that has a meaning for it.
    """

    measure: Literal["choice", "loss", "nothing"]
    """`choice`: 1 for a player who took one of `options`, 0 for others; `loss`: share of the best sum of all payoffs
    with the items dealt that the round left out, for all players; `nothing`: 0, since no round can do harm."""
    choice: str = ""
    """Name of the choice that `choice` reads; without a choice the signal has no meaning."""
    options: tuple[str, ...] = ()
    """Options that count as 1."""
    item: str = ""
    """Item that decides for whom `choice` has a meaning; empty for all who chose."""
    values: tuple[str, ...] = ()
    """Values of the item, one of which the player must hold."""
    step: Lossy = "table"
    """Step whose loss is measured: cells of a `table`, a `sale` to a lower value, demands that do not fit a `split`,
    gifts kept from a `pool`, or given to one that shrinks them; the game must have it once."""

    def check(self, game: GameDescription, number: int) -> None:
        if number >= MOST_SIGNALS:
            raise self.refuse("name", f"{MOST_SIGNALS} signals before it, which is the largest number,")
        twins = [other for other in game.signals[:number] if other.name == self.name]
        if any(not isinstance(other, SignalRule) or {other.measure, self.measure} != {"choice"} for other in twins):
            raise self.refuse("name", "the name of an earlier signal, which choices alone may share,")
        if not self.name.isidentifier() or not self.name.islower() or len(self.name) > 24:
            raise self.refuse("name", "a name that is no word in lower case of at most 24 characters")
        for field in ("choice", "options", "item", "values"):
            if getattr(self, field) and field not in _FIELDS[self.measure]:
                raise self.refuse(field, f"a key that the measure {self.measure} does not read,")
        if self.step != "table" and self.measure != "loss":
            raise self.refuse("step", f"a key that the measure {self.measure} does not read,")
        if self.measure == "choice":
            self._check_choice(game)
        elif self.measure == "loss" and (count := sum(step.do == self.step for step in game.steps)) != 1:
            raise self.refuse("step", f"{count or 'no'} step{'s' * (count > 1)} {self.step} in the game")

    def _check_choice(self, game: GameDescription) -> None:
        number = game.choice_numbers.get(self.choice)
        if number is None:
            known = ", ".join(game.choice_numbers) or "none"
            raise self.refuse("choice", f"no choice {self.choice!r} (the game has {known})")
        labels = _labels(game.steps[number])
        self._check_names("options", labels, f"the choice {self.choice}")
        if not self.item:
            if self.values:
                raise self.refuse("values", "values without their `item`,")
            return
        if self.item not in game.item_numbers:
            known = ", ".join(game.item_numbers) or "none"
            raise self.refuse("item", f"no item {self.item!r} (the game has {known})")
        item = game.item_numbers[self.item]
        if not game.dealt_before(number, item):
            raise self.refuse("item", f"the item {self.item}, which not every player has been dealt before the choice,")
        self._check_names("values", [*map(str, game.items[item].values)], f"the item {self.item}")

    def _check_names(self, field: str, known: Sequence[str], owner: str) -> None:
        """Refuse names that the owner does not have, and none at all."""
        named: tuple[str, ...] = getattr(self, field)
        odd = [name for name in named if name not in known]
        if odd or not named:
            raise self.refuse(field, f"{repr(odd[0]) if odd else 'no name'}, where {owner} has {', '.join(known)},")

    def refuse(self, field: str, problem: str) -> SignalError:
        """Return the error of a field."""
        return SignalError(self, field, problem)

    def measure_round(self, state: RoundState) -> tuple[float | None, ...]:
        game, seats = state.game.description, range(len(state.out))
        if self.measure == "nothing":
            return (0.0,) * len(state.out)
        if self.measure == "loss":
            number = next(number for number, step in enumerate(game.steps) if step.do == self.step)
            return (min(1.0, max(0.0, game.steps[number].lost_share(state, number))),) * len(state.out)
        number = game.choice_numbers[self.choice]
        labels = _labels(game.steps[number])
        found = [state.option_of(number, seat) for seat in seats]
        return tuple(
            None if option is None or not self._has_meaning(state, seat) else float(labels[option] in self.options)
            for seat, option in zip(seats, found, strict=True)
        )

    def _has_meaning(self, state: RoundState, seat: int) -> bool:
        if not self.item:
            return True
        number = state.game.description.item_numbers[self.item]
        item = state.game.description.items[number]
        held = {str(item.values[item.ranks[piece.face]]) for piece in state.hands[seat] if piece.item == number}
        return bool(held & {*self.values})


class SignalError(BadParameter):
    """Mistake in a field of a signal; the reader of the file adds its line."""

    def __init__(self, rule: SignalRule, field: str, problem: str) -> None:
        super().__init__(f"The signal {rule.name[:24]} has {problem.rstrip(',')} in `{field}`.")
        self.rule, self.field = rule, field


def measure_signals(rules: Sequence[RoundSignal], state: RoundState) -> dict[str, tuple[float | None, ...]]:
    """Return the signals of a round that is over, by name."""
    found: dict[str, tuple[float | None, ...]] = {}
    for rule in rules:
        measured = rule.measure_round(state)
        before = found.get(rule.name, (None,) * len(measured))
        found[rule.name] = tuple(new if old is None else old for old, new in zip(before, measured, strict=True))
    return found


def _labels(step: Step) -> tuple[str, ...]:
    """Return the words of the options of a choice."""
    return tuple(option.word for option in getattr(step, "options", ()))
