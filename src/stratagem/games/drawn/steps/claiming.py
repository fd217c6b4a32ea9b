"""Claims about all hidden pieces, as in liar's dice: each higher than the one before, until one is doubted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, NamedTuple

from stratagem.games.base import Seat
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.events import Event
from stratagem.games.drawn.steps.base import item_number, seats_of
from stratagem.games.drawn.steps.dealing import check_words
from stratagem.games.drawn.wordings import Words

_MOST_CLAIMS = 40


class _ClaimList(NamedTuple):
    """Claims of a step, and the item that they are about."""

    claims: tuple[str, ...]
    """All claims, from the lowest on."""
    answers: tuple[tuple[str, ...], ...]
    """Actions after each claim."""
    item: int
    ranks: tuple[int, ...]
    """Place of the value of each face."""
    num_values: int
    wild: int | None
    """Place of the value that counts as every value."""


@dataclass(frozen=True)
class CountClaim(Step):
    """Claims in turn of how many pieces show a value; a doubt ends them and decides between doubter and claimant.

    `state.memory` has the latest claim, as its place among all claims from the lowest on, and who made it.
    """

    do: ClassVar[str] = "claim"
    acts: ClassVar[bool] = True
    pays: ClassVar[bool] = False
    item: str = "die"
    """Item of which all pieces count, open ones and those in all hands."""
    wild: str = ""
    """Value that counts as every value; empty for none."""
    stake: float = 1.0
    """Amount that the loser pays the winner."""
    claim_word: str = "bid"
    """Word before a claim, as in `bid 2x5`."""
    doubt_word: str = "liar"
    """Action that doubts the latest claim."""

    def check(self, game: GameDescription, number: int) -> None:
        item = item_number(game, self, "item", self.item)
        check_words(self, {"claim_word": self.claim_word, "doubt_word": self.doubt_word})
        if not game.dealt_before(number, item):
            raise self.refuse("item", f"claims about the item {self.item}, which not every player has been dealt")
        if self.wild and self.wild not in map(str, game.items[item].values):
            raise self.refuse("wild", f"the value {self.wild!r}, which the item {self.item} does not have,")
        if game.seats < 2:
            raise self.refuse("do", "claims for one player")
        deals = [place for place, step in enumerate(game.steps[:number]) if step.num_cards(game, item)]
        if game.seats > 2 and any(step.may_leave() for step in game.steps[: deals[-1]]):
            raise self.refuse("item", f"claims about the item {self.item}, which a player who has left is not dealt,")
        if not 0 < self.stake <= 100:
            raise self.refuse("stake", "an amount that is not above 0 and at most 100")
        if (num := self._num_pieces(game, number) * len(game.items[item].values)) > _MOST_CLAIMS:
            raise self.refuse("item", f"{num} claims, which is more than {_MOST_CLAIMS},")

    def _num_pieces(self, game: GameDescription, number: int) -> int:
        """Return the number of pieces that claims count."""
        item = item_number(game, self, "item", self.item)
        return sum(step.num_cards(game, item) for step in game.steps[:number] if step.do == "deal")

    def look_up(self, game: GameDescription, number: int) -> _ClaimList:
        place = item_number(game, self, "item", self.item)
        item, most = game.items[place], self._num_pieces(game, number)
        claims = tuple(
            write_claim(self.claim_word, count, value) for count in range(1, most + 1) for value in item.values
        )
        answers = tuple((*claims[claim + 1 :], self.doubt_word) for claim in range(len(claims)))
        wild = [*map(str, item.values)].index(self.wild) if self.wild else None
        return _ClaimList(claims, answers, place, item.ranks, len(item.values), wild)

    def begin(self, state: RoundState) -> None:
        state.to_act = seats_of(state, "each")[:1]

    def legal(self, state: RoundState, seat: Seat) -> tuple[str, ...]:
        known: _ClaimList = state.game.description.lookups[state.at]
        return known.answers[state.memory[0]] if state.memory else known.claims

    def play(self, state: RoundState, actions: Mapping[Seat, str]) -> None:
        ((seat, action),) = actions.items()
        state.tell(Event("plays", seat, action, state.at))
        if action == self.doubt_word:
            claim, claimant = state.memory
            winner, loser = (claimant, seat) if self._holds(state, claim) else (seat, claimant)
            state.pay(winner, self.stake)
            state.pay(loser, -self.stake)
            return
        known: _ClaimList = state.game.description.lookups[state.at]
        state.memory = known.claims.index(action), seat
        left = seats_of(state, "each")
        state.to_act = (left[(left.index(seat) + 1) % len(left)],)

    def _holds(self, state: RoundState, claim: int) -> bool:
        """Return whether at least as many pieces show the claimed value as the claim says."""
        known: _ClaimList = state.game.description.lookups[state.at]
        more, rank = divmod(claim, known.num_values)
        counted = (rank, known.wild)
        pieces = [*state.open, *chain.from_iterable(state.hands)]
        return sum([item == known.item and known.ranks[face] in counted for item, face in pieces]) > more

    def most_paid(self, game: GameDescription) -> tuple[float, float]:
        return -self.stake, self.stake

    def words(self) -> tuple[str, ...]:
        return self.claim_word, self.doubt_word

    def rules(self, game: GameDescription, number: int, words: Words) -> list[str]:
        item = game.items[item_number(game, self, "item", self.item)]
        many, last = self._num_pieces(game, number), item.values[-1]
        example = write_claim(self.claim_word, many, last)
        return [
            words.say("claim.order", many=many, plural=item.plural),
            words.say("claim.example", example=example, many=many, value=last),
            *([words.say("claim.wild", wild=self.wild)] if self.wild else []),
            words.say("claim.higher"),
            words.say("claim.doubt", doubt=self.doubt_word),
            words.say("claim.stake", stake=words.amount(self.stake)),
        ]


def write_claim(word: str, number: int, value: str | int) -> str:
    """Write a claim: `bid 2x5`, or `bid 2 kings` where values are names."""
    return f"{word} {number}{'x' if str(value).isdigit() else ' '}{value}"
