"""Free choices among named options or numbers: at once or in turn, shown or hidden, with costs and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from stratagem.games.base import Seat
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.events import Event
from stratagem.games.drawn.steps.base import check_role, item_number, seats_of
from stratagem.games.drawn.steps.dealing import check_words, is_dealt
from stratagem.games.drawn.wordings import Role, Words

_MOST_OPTIONS = 32
Shown = Literal["at once", "after", "end", "never"]


def is_number(word: str) -> bool:
    """Return whether the word of an option is a whole number."""
    return word.isascii() and word.isdigit()


@dataclass(frozen=True)
class Option:
    """Action of a choice, with what it costs and who may take it."""

    word: str
    """Name of the action; in a list, a bare word or number is an option without terms."""
    cost: float = 0.0
    """Amount that it costs: into the pot if the choice says so, else lost."""
    leaves: bool = False
    """True if the player is out of the round by it."""
    needs: tuple[str, ...] = ()
    """Values of an item, one of which the player must hold; empty for everybody."""


class _ChoiceEvents(NamedTuple):
    """Events of a choice by seat and option, and the item that options need."""

    plays: list[list[Event]]
    hides: list[list[Event]]
    needs: tuple[int, tuple[str, ...]] | None
    """Number of the item, and the name of the value of each of its faces; None where no option needs any."""


@dataclass(frozen=True)
class Choose(Step):
    """Let players choose one of some options, all at once or in turn."""

    do: ClassVar[str] = "choose"
    acts: ClassVar[bool] = True
    name: str = "choice"  # type: ignore[misc]
    """Name by which payments speak of it, such as bid."""
    options: tuple[Option, ...] = ()
    """Actions: words, numbers, or tables with the keys of an option."""
    by: Role = "each"
    """Players that choose."""
    together: bool = True
    """True if all choose at once, False if they choose in turn."""
    shown: Shown = "after"
    """Time at which the others see a choice: `at once`, `after` all have chosen, at the `end` of the round, `never`."""
    pot: bool = False
    """True if costs go into the pot, False if they are lost."""
    needs_item: str = "card"
    """Item of the values that options need."""

    def check(self, game: GameDescription, number: int) -> None:
        check_role(game, self, "by", self.by)
        if (
            not self.name.isidentifier()
            or len(self.name) > 24
            or any(step.name == self.name for step in game.steps[:number])
        ):
            raise self.refuse("name", f"the name {self.name!r}, which another choice has or which is no word,")
        if self.name in game.item_numbers:
            raise self.refuse("name", f"the name {self.name!r}, which an item has,")
        if not 2 <= len(self.options) <= _MOST_OPTIONS:
            raise self.refuse("options", f"a number of options that is not from 2 to {_MOST_OPTIONS}")
        check_words(self, {f"options {place}": option.word for place, option in enumerate(self.options, 1)})
        if any(not 0 <= option.cost <= 1000 for option in self.options):
            raise self.refuse("options", "a cost that is not from 0 to 1,000")
        if self.options[0].needs:
            raise self.refuse("options", "a first option that not everybody may take")
        needed = {value for option in self.options for value in option.needs}
        if needed:
            number_of_item = item_number(game, self, "needs_item", self.needs_item)
            item = game.items[number_of_item]
            who = "not every player has" if self.by == "each" else f"the {self.by} player has not"
            if not is_dealt(game, number, number_of_item, self.by):
                raise self.refuse("needs_item", f"the item {item.name}, which {who} been dealt,")
            if not needed <= {*map(str, item.values)}:
                raise self.refuse(
                    "options", f"an option that needs {', '.join(sorted(needed))}, which not all are values,"
                )

    def look_up(self, game: GameDescription, number: int) -> _ChoiceEvents:
        plays, hides = (
            [[Event(kind, seat, word, number) for word in self.labels] for seat in range(game.seats)]
            for kind in ("plays", "hides")
        )
        if not self._has_needs:
            return _ChoiceEvents(plays, hides, None)
        item = item_number(game, self, "needs_item", self.needs_item)
        kind = game.items[item]
        return _ChoiceEvents(plays, hides, (item, tuple(str(kind.values[rank]) for rank in kind.ranks)))

    def begin(self, state: RoundState) -> None:
        seats = seats_of(state, self.by)
        state.to_act = tuple(sorted(seats)) if self.together else seats[:1]

    def legal(self, state: RoundState, seat: Seat) -> tuple[str, ...]:
        if not self._has_needs:
            return self.labels
        number, names = state.game.description.lookups[state.at].needs
        held = {names[piece.face] for piece in state.hands[seat] if piece.item == number}
        return tuple([option.word for option in self.options if not option.needs or not held.isdisjoint(option.needs)])

    def play(self, state: RoundState, actions: Mapping[Seat, str]) -> None:
        known: _ChoiceEvents = state.game.description.lookups[state.at]
        made = [(seat, actions[seat]) for seat in state.order if seat in actions]
        for seat, action in made:
            number = self._numbers[action]
            option = self.options[number]
            state.choose(seat, number)
            if option.cost and self.pot:
                state.put_in(seat, option.cost)
            elif option.cost:
                state.pay(seat, -option.cost)
            if self.seen != "at once":
                state.tell(known.hides[seat][number], to=seat)
            else:
                state.tell(known.plays[seat][number])
            if option.leaves:
                state.leave(seat)
        state.memory = (*state.memory, *[seat for seat, _ in made])
        waiting = tuple([seat for seat in seats_of(state, self.by) if seat not in state.memory])
        state.to_act = () if state.is_decided else waiting[:1]
        if not state.to_act and self.seen == "after":
            self.show_choices(state, state.at)

    def end_round(self, state: RoundState, number: int) -> None:
        if self.seen == "end":
            self.show_choices(state, number)

    def show_choices(self, state: RoundState, at: int) -> None:
        """Show all choices of the step, whose number is `at`, to those who did not make them."""
        known: _ChoiceEvents = state.game.description.lookups[at]
        events = [(by, known.plays[by][option]) for step, by, option in state.choices if step == at]
        state.logs = tuple(
            [(*log, *[event for by, event in events if by != seat]) for seat, log in enumerate(state.logs)]
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Words of the options."""
        return tuple(option.word for option in self.options)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.labels)}

    @cached_property
    def _has_needs(self) -> bool:
        return any(option.needs for option in self.options)

    @property
    def num_always(self) -> int:
        return sum(not option.needs for option in self.options) if self._has_needs else 0

    def may_leave(self) -> bool:
        return any(option.leaves for option in self.options)

    def is_together(self, game: GameDescription) -> bool:
        return self.together and self.by == "each" and game.seats > 1

    def hides(self, game: GameDescription) -> bool:
        if game.seats == 1 or self.seen == "at once":
            return False
        if self.by == "each" and not self.together:
            return True
        if self.seen == "after":
            return False
        later = any(step.acts for step in game.steps[game.steps.index(self) + 1 :])
        return later or (self.seen == "never" and game.rounds > 1)

    def puts(self, game: GameDescription) -> float:
        return max(option.cost for option in self.options) if self.pot else 0.0

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        return -max(option.cost for option in self.options), 0.0

    def is_zero_sum(self, game: GameDescription) -> bool:
        return self.pot or not any(option.cost for option in self.options)

    def words(self) -> tuple[str, ...]:
        return tuple(option.word for option in self.options if option.word.isalpha())

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        how = "one" if self.by != "each" else "together" if self.together else "in_turn"
        return [
            words.say(f"choose.{how}", self.by, name=self.name, listed=", ".join(self.labels)),
            *(self._option_line(game, option, words) for option in self.options if self._has_terms(option)),
            words.say(f"choose.{self.seen.replace(' ', '_')}", "each"),
        ]

    @cached_property
    def seen(self) -> Shown:
        """Time at which the others see a choice: one player's is seen at once, and one of several at once after it."""
        if self.shown in ("end", "never"):
            return self.shown
        if self.by != "each":
            return "at once"
        return "after" if self.together else self.shown

    def _has_terms(self, option: Option) -> bool:
        return bool(option.cost or option.leaves or option.needs)

    def _option_line(self, game: GameDescription, option: Option, words: Words) -> str:
        """Return the sentence of an option's cost and conditions."""
        terms = []
        if option.cost:
            key = "choose.cost_pot" if self.pot else "choose.cost_lost"
            terms.append(words.say(key, self.by, cost=words.amount(option.cost)))
        if option.leaves:
            terms.append(words.say("choose.leaves", self.by))
        if option.needs:
            item = game.items[item_number(game, self, "needs_item", self.needs_item)]
            terms.append(words.say("choose.needs", self.by, item=item.name, values=" or ".join(option.needs)))
        return words.say("choose.terms", self.by, word=option.word, terms=" and ".join(terms).rstrip(","))
