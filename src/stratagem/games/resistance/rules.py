"""The Resistance for five seats (Eskridge 2009): two hidden spies, missions, votes on teams, and secret cards.

A leader proposes a team, and all vote on it at the same time. A team with a majority goes on the mission: each member
plays a card in secret, and one FAIL makes the mission fail. A spy may play FAIL, nobody else. The side that has most
missions wins; the spies win, too, if so many teams in a row are rejected. The lead passes on after every vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import ClassVar, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole
from stratagem.games.base import Game, Json, RoundResult, Seat, State, View, pending
from stratagem.games.choices import Flat
from stratagem.games.key import Chance
from stratagem.games.spec import GameSpec

SEATS = 5
SIZES = (2, 3, 2, 3, 3)
"""Members of the team of each mission."""
PROPOSE, VOTE, MISSION, OVER = "propose", "vote", "mission", "over"
APPROVE, REJECT = VOTES = ("APPROVE", "REJECT")
SUCCESS, FAIL = CARDS = ("SUCCESS", "FAIL")
Team = tuple[Seat, ...]
PAIRS: tuple[tuple[Seat, Seat], ...] = tuple(combinations(range(SEATS), 2))
"""All pairs of seats that can be the spies, equally likely."""


class Proposal(NamedTuple):
    """A team that was voted on, and the number of FAIL cards if it went on the mission."""

    round: int
    leader: Seat
    team: Team
    approved_by: Team
    fails: int | None

    @property
    def is_approved(self) -> bool:
        """True if more than half of the seats voted for the team."""
        return 2 * len(self.approved_by) > SEATS


class ResistanceFacts(NamedTuple):
    """Knowledge of a seat: the spies, for a spy alone, and what has happened in public."""

    seat: Seat
    round: int
    spies: Team
    phase: str
    leader: Seat
    team: Team
    past: tuple[Proposal, ...]
    acting: bool

    @property
    def rejected(self) -> int:
        """Number of teams that were rejected in this round."""
        return sum(row.round == self.round and not row.is_approved for row in self.past)


class ResistanceState(State[ResistanceFacts]):
    """The spies, the phase, the team that is proposed, and the proposals before."""

    __slots__ = ("leader", "past", "phase", "spies", "team")
    state_fields = ("spies", "phase", "leader", "team", "past")
    game: Resistance

    def __init__(self, game: Resistance, chance: Chance) -> None:
        super().__init__(game, chance)
        self.spies: Team = ()
        self.phase, self.leader = PROPOSE, 0
        self.team: Team = ()
        self.past: tuple[Proposal, ...] = ()

    def begin(self) -> None:
        """Draw the spies; seat 0 leads."""
        self.spies = PAIRS[self.chance.at("spies").integer(len(PAIRS))]
        self.to_act = (self.leader,)

    def restore(self, data: Json) -> None:
        super().restore(data)
        self.past = tuple(Proposal(*row) for row in self.past)

    def view(self, seat: Seat) -> View[ResistanceFacts]:
        known = self.spies if seat in self.spies or self.over else ()
        acting = seat in self.to_act
        facts = ResistanceFacts(seat, self.round, known, self.phase, self.leader, self.team, self.past, acting)
        return View(self.game, seat, facts)

    def play(self, actions: Mapping[Seat, str | None]) -> RoundResult:
        if self.over or set(actions) != set(self.to_act):
            raise self.refuse(actions)
        default = self.game.default_action
        chosen = {
            seat: default(self.view(seat).facts) if (action := actions[seat]) is None else action
            for seat in self.to_act
        }
        if any(action not in self.view(seat).choices for seat, action in chosen.items()):
            raise self.refuse(actions)
        if self.phase == PROPOSE:
            return self._propose(chosen[self.leader])
        return self._vote(chosen) if self.phase == VOTE else self._mission(chosen)

    def _propose(self, action: str) -> RoundResult:
        self.team = team_of(action)
        self.phase, self.to_act = VOTE, tuple(range(SEATS))
        return pending(SEATS)

    def _vote(self, chosen: Mapping[Seat, str]) -> RoundResult:
        approved = tuple(seat for seat, vote in chosen.items() if vote == APPROVE)
        proposal = Proposal(self.round, self.leader, self.team, approved, None)
        self.past += (proposal,)
        self.leader = (self.leader + 1) % SEATS
        if proposal.is_approved:
            self.phase, self.to_act = MISSION, self.team
            return pending(SEATS)
        if sum(row.round == self.round for row in self.past) == self.game.attempts:
            return self._end_game(spies=True)
        self._lead()
        return pending(SEATS)

    def _mission(self, chosen: Mapping[Seat, str]) -> RoundResult:
        fails = sum(card == FAIL for card in chosen.values())
        self.past = (*self.past[:-1], self.past[-1]._replace(fails=fails))
        self.round += 1
        went = [row.fails for row in self.past if row.fails is not None]
        for failed in (True, False):
            if sum(bool(number) is failed for number in went) == self.game.needed:
                return self._end_game(spies=failed)
        self._lead()
        return RoundResult((0.0,) * SEATS)

    def _lead(self) -> None:
        self.phase, self.team, self.to_act = PROPOSE, (), (self.leader,)

    def _end_game(self, *, spies: bool) -> RoundResult:
        self.round += self.phase == VOTE  # a mission has counted its round already
        self.phase = OVER
        self.end()
        return RoundResult(tuple(float((seat in self.spies) is spies) for seat in range(SEATS)))

    def resample(self, seat: Seat, chance: Chance) -> ResistanceState:
        """Redraw the spies for a seat that is none, among those that could have played the FAIL cards."""
        copy = self.fork(chance)
        if seat not in self.spies and not self.over:
            possible = possible_spies(seat, self.past)
            copy.spies = possible[chance.at("resample").integer(len(possible))]
        return copy


@dataclass(frozen=True, kw_only=True)
class Resistance(Game[ResistanceFacts]):
    """Hidden roles for five: three of the Resistance, two spies who know each other."""

    state = ResistanceState
    largest: ClassVar = {"missions": 5, "attempts": 1000}

    missions: int = 5
    """Number of missions, odd; a side wins with most of them. Fewer than five make a smaller game."""
    attempts: int = 5
    """Number of rejected teams in a row with which the spies win."""

    def __post_init__(self) -> None:
        whole("The Resistance", "missions", self.missions, 1)
        whole("The Resistance", "attempts", self.attempts, 1)
        if self.missions not in (1, 3, 5):
            raise BadParameter(f"The Resistance has 1, 3 or 5 `missions`, not {self.missions}.")

    @property
    def needed(self) -> int:
        """Number of missions with which a side wins."""
        return self.missions // 2 + 1

    @cached_property
    def spec(self) -> GameSpec:
        return GameSpec(
            name="resistance",
            version=2,
            family="resistance",
            summary="The Resistance for five seats: two hidden spies, votes on teams, and secret missions.",
            reference="The Resistance (Eskridge 2009), five players, without plot cards",
            seats=SEATS,
            simultaneous=True,
            utility="general-sum",
            rounds=self.missions,
            bounds=(0.0, 1.0),
            chance=True,
            private_information=True,
            symmetric=False,
            on_illegal="default",
            unit="wins a round",
        )

    def choices(self, facts: ResistanceFacts) -> Flat:
        if facts.phase == PROPOSE:
            return _teams(SIZES[min(facts.round, len(SIZES) - 1)])
        if facts.phase == VOTE:
            return _VOTES
        return _CARDS if facts.seat in facts.spies else _LOYAL

    def all_actions(self) -> tuple[str, ...]:
        sizes = dict.fromkeys(SIZES[: self.missions])
        return (*(team for size in sizes for team in _teams(size)), *VOTES, *CARDS)

    def info_key(self, facts: ResistanceFacts) -> str:
        past = " ".join(
            f"{row.round}:{_list_seats(row.team)}:{_list_seats(row.approved_by)}:"
            f"{'-' if row.fails is None else row.fails}"
            for row in facts.past
        )
        return f"seat {facts.seat} spies {_list_seats(facts.spies)} {facts.phase} {_list_seats(facts.team)}; {past}"

    def vocabulary(self) -> tuple[str, ...]:
        return (*VOTES, *CARDS, "propose", "team", "mission", "spy/spies", "resistance", "leader", "card", "vote")

    def rules(self, seat: Seat) -> str:
        sizes = ", ".join(str(size) for size in SIZES[: self.missions])
        return (
            f"You are player {seat} of five, numbered from 0. Two of you are spies, drawn at random; the others are "
            "the resistance. The spies know each other, nobody else knows anything.\n"
            f"There are up to {self.missions} missions, with teams of {sizes}. The leader proposes a team, itself "
            "included or not, and all vote at the same time to APPROVE or to REJECT it. Votes are shown. The lead "
            "passes to the next player after every vote. A team with more than half of the votes goes on the mission; "
            f"with {self.attempts} rejected in one round the spies win.\n"
            "On the mission each member plays a card in secret, SUCCESS or FAIL; only a spy may play FAIL. The number "
            "of FAIL cards is shown. With one or more the mission fails.\n"
            f"The resistance wins with {self.needed} missions, the spies with {self.needed} failed ones. Winners have "
            "1, losers 0."
        )

    def situation(self, facts: ResistanceFacts) -> str:
        lines = [_role(facts), *(_describe_proposal(row) for row in facts.past)]
        return "\n".join([*lines, self._now(facts)])

    def _now(self, facts: ResistanceFacts) -> str:
        """Tell what is to be done now."""
        if facts.phase == OVER:
            return "The game is over."
        begun = f"Mission {facts.round + 1}, {facts.rejected} teams rejected so far: "
        if facts.phase == PROPOSE:
            return f"{begun}player {facts.leader} leads and proposes a team."
        team = _list_seats(facts.team)
        return f"{begun}{'vote on' if facts.phase == VOTE else 'on the mission is'} the team {team}."


@lru_cache
def _teams(size: int) -> Flat:
    return Flat(tuple(f"PROPOSE {_list_seats(team)}" for team in combinations(range(SEATS), size)))


_VOTES, _CARDS, _LOYAL = Flat(VOTES), Flat(CARDS), Flat((SUCCESS,))


def team_of(action: str) -> Team:
    """Return the team that an action proposes."""
    return tuple(map(int, action.split()[1:]))


def write_proposal(team: Team) -> str:
    """Return the action that proposes a team."""
    return f"PROPOSE {_list_seats(tuple(sorted(team)))}"


@lru_cache(maxsize=4096)
def possible_spies(seat: Seat, past: tuple[Proposal, ...]) -> tuple[tuple[Seat, Seat], ...]:
    """Return the pairs that can be the spies, for a seat of the resistance: enough of them were on failed missions."""
    return tuple(
        pair
        for pair in PAIRS
        if seat not in pair and all(len({*pair} & {*row.team}) >= (row.fails or 0) for row in past)
    )


def _list_seats(seats: Team) -> str:
    return " ".join(map(str, seats))


def _role(facts: ResistanceFacts) -> str:
    if facts.seat in facts.spies:
        other = next(seat for seat in facts.spies if seat != facts.seat)
        return f"You are a spy. The other spy is player {other}."
    told = f" The spies are players {_list_seats(facts.spies)}." if facts.spies else ""
    return f"You are of the resistance.{told}"


def _describe_proposal(row: Proposal) -> str:
    went = (
        "it was rejected"
        if not row.is_approved
        else "it is on the mission"
        if row.fails is None
        else f"{row.fails} FAIL"
    )
    voted = _list_seats(row.approved_by) or "nobody"
    team = _list_seats(row.team)
    return f"Mission {row.round + 1}: player {row.leader} proposed {team}; approved by {voted}; {went}."
