"""A repeated public goods game of any number of seats: contribute to a common pot, or keep what you have.

Each round every seat has 1. What is contributed is multiplied and shared by all alike, contributors or not, so with a
multiplier between 1 and the number of seats everybody does best by keeping, and all do best by contributing (Ledyard
1995, "Public goods: a survey of experimental research"). Who contributed is shown afterwards.

With a `fine` a round has a second stage: each seat may punish those who kept, or those who contributed. A seat loses
the fine for each other that punishes it, and a third of the fine for each seat that it punishes (the 1 : 3 technology
of Fehr and Gächter 2002, "Altruistic punishment in humans", Nature 415).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from stratagem.base.options import whole, within
from stratagem.games.base import Game, Json, RoundResult, Seat, State, View, pending
from stratagem.games.choices import Flat
from stratagem.games.counting import count_in_words
from stratagem.games.key import Chance
from stratagem.games.public_goods.safety import PublicGoodsSafety
from stratagem.games.spec import GameSpec

ACTIONS = ("CONTRIBUTE", "KEEP")
VERDICTS = ("SPARE", "PUNISH KEEPERS", "PUNISH CONTRIBUTORS")
"""Choices of the second stage; to punish contributors is the antisocial punishment of Herrmann et al. (2008)."""
SPARES, KEEPERS, CONTRIBUTORS = range(3)
PRICE = 1.0 / 3.0
"""Cost of a punishment to who punishes, as a share of the fine."""
_CHOICES, _VERDICTS = Flat(ACTIONS), Flat(VERDICTS)
Gave = tuple[bool, ...]
Punished = tuple[int, ...]


class PublicGoodsFacts(NamedTuple):
    """Contributors of each round, and whom each seat punished; the seat itself first and then those after it in turn.

    Contributors of the present round are there once its second stage has begun.
    """

    seat: Seat
    round: int
    gave: tuple[Gave, ...]
    punished: tuple[Punished, ...] = ()

    @property
    def punishing(self) -> bool:
        """True if the second stage of a round is on."""
        return len(self.gave) > self.round


class PublicGoodsState(State[PublicGoodsFacts]):
    """Contributors and punishments round by round."""

    __slots__ = ("_seen", "gave", "punished")
    state_fields = ("gave", "punished")
    game: PublicGoods

    def __init__(self, game: PublicGoods, chance: Chance) -> None:
        super().__init__(game, chance)
        self.gave: tuple[Gave, ...] = ()
        self.punished: tuple[Punished, ...] = ()
        self._seen: dict[Seat, tuple[Gave, ...]] = {}
        """Rounds as a seat sees them, its own action first; rounds are added, and none ever changes."""

    def view(self, seat: Seat) -> View[PublicGoodsFacts]:
        seen = self._seen.get(seat, ())
        seen += tuple((*row[seat:], *row[:seat]) for row in self.gave[len(seen) :])
        self._seen[seat] = seen
        punished = tuple((*row[seat:], *row[:seat]) for row in self.punished)
        return View(self.game, seat, PublicGoodsFacts(seat, self.round, seen, punished))

    @property
    def punishing(self) -> bool:
        """True if the second stage of a round is on."""
        return len(self.gave) > self.round

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        allowed = VERDICTS if self.punishing else ACTIONS
        if self.over or set(actions) != set(self.to_act) or not {*actions.values()} <= {*allowed, None}:
            raise self.refuse(actions)
        if self.punishing:
            return self._punish(tuple(VERDICTS.index(actions[seat] or VERDICTS[SPARES]) for seat in self.to_act))
        self.gave = (*self.gave, tuple(actions[seat] == ACTIONS[0] for seat in self.to_act))
        if self.game.fine:
            return pending(self.game.seats)
        self._next_round()
        return RoundResult(self.game.incomes(self.gave[-1]))

    def _punish(self, punished: Punished) -> RoundResult:
        """End the round: payoffs of the pot less fines and their cost."""
        self.punished = (*self.punished, punished)
        self._next_round()
        gave = self.gave[-1]
        paid = zip(self.game.incomes(gave), self.game.losses(gave, punished), strict=True)
        return RoundResult(tuple(earned - lost for earned, lost in paid))

    def _next_round(self) -> None:
        self.round += 1
        if self.round >= self.game.rounds:
            self.end()

    def restore(self, data: Json) -> None:
        """Take over what `dump` wrote, also before there was a second stage."""
        super().restore({"punished": [], **data})

    def resample(self, seat: Seat, chance: Chance) -> PublicGoodsState:
        return self.fork(chance)


@dataclass(frozen=True, kw_only=True)
class PublicGoods(Game[PublicGoodsFacts]):
    """Contribute or keep, at the same time, again and again."""

    state = PublicGoodsState
    safety = PublicGoodsSafety
    largest: ClassVar = {"seats": 64, "rounds": 10_000, "multiplier": 1e6, "fine": 1e6}

    seats: int = 3
    rounds: int = 20
    multiplier: float = 2.0
    """Factor of a contribution before it is shared; the game is a dilemma if it is between 1 and `seats`."""
    fine: float = 0.0
    """Loss of a seat for each other that punishes it; with 0 there is no second stage."""

    def __post_init__(self) -> None:
        whole("The public goods game", "seats", self.seats, 2)
        whole("The public goods game", "rounds", self.rounds, 1)
        within("The public goods game", "multiplier", self.multiplier, 0.0)
        within("The public goods game", "fine", self.fine, 0.0)

    @property
    def share(self) -> float:
        """Payoff of every seat for each contribution."""
        return self.multiplier / self.seats

    def incomes(self, gave: Gave) -> tuple[float, ...]:
        """Return what each seat keeps and gets from the pot: `1 - c_i + (m / n) sum c_j`."""
        return tuple(float(not contributed) + self.share * sum(gave) for contributed in gave)

    def losses(self, gave: Gave, punished: Punished) -> tuple[float, ...]:
        """Return what each seat loses by fines, and by the price of those that it imposes."""
        aimed = [{KEEPERS: False, CONTRIBUTORS: True}.get(verdict) for verdict in punished]
        hit = [[other != seat and gave[other] is aim for other in range(len(gave))] for seat, aim in enumerate(aimed)]
        return tuple(self.fine * (sum(row[seat] for row in hit) + PRICE * sum(hit[seat])) for seat in range(len(gave)))

    @cached_property
    def spec(self) -> GameSpec:
        most = max(self.share * self.seats, 1.0 + self.share * (self.seats - 1))
        worst = self.fine * (self.seats - 1) * (1.0 + PRICE)
        return GameSpec(
            name="public-goods",
            family="public-goods",
            summary=self._summary,
            reference="Ledyard 1995; with a fine, Fehr and Gächter 2002" if self.fine else "Ledyard 1995",
            seats=self.seats,
            simultaneous=True,
            utility="general-sum",
            rounds=self.rounds,
            bounds=((min(self.share, 1.0) - worst) * self.rounds, most * self.rounds),
            chance=False,
            private_information=False,
            symmetric=True,
            on_illegal="default",
        )

    @property
    def _summary(self) -> str:
        stages = "contribute or keep, then punish or spare" if self.fine else "contribute or keep"
        size = f"{count_in_words(self.seats, 'seat')}, {count_in_words(self.rounds, 'round')}"
        return f"Repeated public goods game: {stages}, {size}."

    def choices(self, facts: PublicGoodsFacts) -> Flat:
        return _VERDICTS if facts.punishing else _CHOICES

    def all_actions(self) -> tuple[str, ...]:
        return (*ACTIONS, *VERDICTS) if self.fine else ACTIONS

    def default_action(self, facts: PublicGoodsFacts) -> str:
        """Return the default action: to keep, and to spare everybody."""
        return VERDICTS[SPARES] if facts.punishing else ACTIONS[1]

    def state_key(self, facts: PublicGoodsFacts) -> str:
        """Return the last own action and the number of other contributors: the memory of a memory-one strategy."""
        if not facts.gave:
            return "start"
        own, *others = facts.gave[-1]
        stage = ", now to punish" if facts.punishing else ""
        return f"{_did(own)}, {sum(others)} others contributed{stage}"

    def info_key(self, facts: PublicGoodsFacts) -> str:
        rows = ["".join("CK"[not contributed] for contributed in row) for row in facts.gave]
        punished = ["/" + "".join("-kc"[verdict] for verdict in row) for row in facts.punished]
        told = (row + verdict for row, verdict in zip_longest(rows, punished, fillvalue=""))
        return f"seat {facts.seat}: {' '.join(told)}"

    def vocabulary(self) -> tuple[str, ...]:
        return ("contribute", "keep/kept", "pot", *(("spare", "punish", "keeper", "contributor") if self.fine else ()))

    def rules(self, seat: Seat) -> str:
        others = "another player" if self.seats == 2 else f"{self.seats - 1} other players"
        return (
            f"You and {others} each have 1 in every one of {self.rounds} rounds, and choose at the same time.\n"
            f"You may CONTRIBUTE it to a common pot or KEEP it. The pot is multiplied by {self.multiplier:g} and "
            "shared among all players alike, whether they contributed or not.\n"
            f"After each round you are told who contributed.{self._fined if self.fine else ''}"
        )

    @property
    def _fined(self) -> str:
        """Rules of the second stage."""
        return (
            "\nThen all choose at the same time again: SPARE everybody, PUNISH KEEPERS or PUNISH CONTRIBUTORS. "
            f"A player loses {self.fine:g} for each other player that punishes it. To punish costs "
            f"{self.fine * PRICE:.3g} for each player that you punish. You are told who punished whom."
        )

    def situation(self, facts: PublicGoodsFacts) -> str:
        if not facts.gave:
            return "No round has been played yet."
        punished = (f"; {_told_of(row)}" for row in facts.punished)
        rows = (f"{n}. you {_did(row[0])}; the others: {_others(row[1:])}" for n, row in enumerate(facts.gave, 1))
        told = [row + verdict for row, verdict in zip_longest(rows, punished, fillvalue="")]
        now = ["Now you may punish."] if facts.punishing else []
        return "\n".join(["The rounds so far:", *told, *now])


def _did(gave: bool) -> str:
    return "contributed" if gave else "kept"


def _others(gave: tuple[bool, ...]) -> str:
    return ", ".join(map(_did, gave))


def _told_of(punished: Punished) -> str:
    """Tell whom the seat and the others punished."""
    own, *others = (("spared everybody", "punished keepers", "punished contributors")[verdict] for verdict in punished)
    return f"you {own}; the others: {', '.join(others)}"
