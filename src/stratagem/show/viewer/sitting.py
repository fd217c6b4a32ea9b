"""Game of a person in the page, in a process of its own: what leaves it before the end is the view of one seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.base import Game, Json, Seat, State, View
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.language.engines.remote.budget import Budget, spending
from stratagem.language.engines.remote.tally import PriceList, use_prices
from stratagem.players.base import Ask, Move, Onlooker, Player, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.human import Human, at_keyboard
from stratagem.playing.forks import forks
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.show.viewer.faces.base import Actions
from stratagem.show.viewer.faces.frames import draw_end, draw_turn, draw_view
from stratagem.show.viewer.forced import ForcedPlayer
from stratagem.show.viewer.jobs import JobPrice
from stratagem.show.viewer.positions import RecordedTurn, choices_json, is_absent, legal, maker, read_position
from stratagem.show.viewer.pricing import price_of
from stratagem.show.viewer.sentences import sentence_of

_MOST_CALLS = 1000
"""Calls of servers that a game may take once its price was accepted."""


class Origin(NamedTuple):
    """Turn of a recorded episode from which a person plays on."""

    folder: Path
    episode: str
    turn: int
    run: Path | None


PERSON = "person"
"""Player of a seat that another person takes, by a link."""


@dataclass(frozen=True, kw_only=True)
class SeatedGame:
    """Game that people sit down to."""

    id: str
    """Id of the episode."""
    game: str
    seat: Seat
    """Seat of the person who opens the table."""
    players: Mapping[Seat, str]
    """Players of the other seats; `PERSON` for people."""
    key: int
    origin: Origin | None = None
    accepted: bool = False
    """True if the reader has accepted the price of each decision of models behind servers."""
    prices: PriceList = field(default_factory=dict)

    @property
    def people(self) -> tuple[Seat, ...]:
        """Seats of people; that of the one who opens the table is the first."""
        return self.seat, *sorted(seat for seat, name in self.players.items() if name == PERSON)


class PageMessage(NamedTuple):
    """Message to the page of one seat, or of observers."""

    seat: Seat | None
    """Seat; None for observers, who are told what is public."""
    content: Json


class TypedReply(NamedTuple):
    """Reply of the person at a seat to a question."""

    seat: Seat
    number: int
    """Number of the question, so that a reply that comes twice is no reply to the next question."""
    text: str


class PageHuman(Human, Onlooker):
    """Person at a page: sees the view of the seat, and is asked until the reply is legal.

    The page is told each change of that view, so who is asked sees what the others did one after another. The board is
    that of the replay where the game hides nothing. Where it hides something, it is drawn from the view alone, if its
    face can do so, and observers get none.
    """

    def __init__(self, connection: Connection, game: Game[Any], seat: Seat, *, opens: bool) -> None:
        super().__init__()
        self._connection, self._seat, self._number, self._opens = connection, seat, 0, opens
        self._hides = game.spec.private_information
        self._before: State[Any] | None = None
        self._told: tuple[str, Json | None] | None = None
        """Situation and board that the page was told last."""

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Return the traits of a person, who sees the whole state where a game hides nothing."""
        return replace(Human.traits, sees_hidden=not self._hides)

    def turn(self, ask: Ask) -> Move:
        self._number += 1
        assert self._told is not None
        _, drawn = self._told
        self._tell("ask", ask.view, number=self._number, choices=choices_json(ask.view.choices), drawn=drawn)
        self._publish("turn", ask.view, seat=self._seat, drawn=None if self._hides else drawn)
        while True:
            typed = self._connection.recv()
            if (typed.seat, typed.number) != (self._seat, self._number):
                continue
            try:
                action = legal(ask.view.choices, typed.text)
            except BadParameter as error:
                self._send({"event": "refused", "number": self._number, "sentence": sentence_of(error)})
            else:
                self._send({"event": "taken", "number": self._number, "action": action})
                return Move(action, "free")

    def look(self, view: View[Any], state: State[Any] | None, actions: Actions | None) -> None:
        """Tell the start, and what each turn changes in the view; a turn that changes nothing there is not told."""
        drawn = draw_view(view) if state is None else draw_turn(self._before, state, actions or {})
        self._before = None if state is None else state.fork()
        told = view.situation, drawn
        if told != self._told:
            self._told = told
            self._tell("moved", view, drawn=drawn)
            if self._opens and not self._hides:
                self._publish("moved", view, seat=self._seat, drawn=drawn)

    def hear(self, view: View[Any], payoff: float, *, over: bool) -> None:
        """Tell the payoffs of a round."""
        self._tell("round", view, payoff=payoff, over=over)
        if self._opens:
            self._publish("round", view, seat=self._seat)

    def _tell(self, event: str, view: View[Any], **more: Any) -> None:
        self._send({"event": event, "situation": view.situation, **more})

    def _send(self, content: Json) -> None:
        self._connection.send(PageMessage(self._seat, content))

    def _publish(self, event: str, view: View[Any], **more: Any) -> None:
        """Tell observers what happens, and the situation only where the game hides nothing."""
        situation = {} if self._hides else {"situation": view.situation}
        self._connection.send(PageMessage(None, {"event": event, **situation, **more}))


def sit_down(seated: SeatedGame, connection: Connection) -> Episode | JobPrice:
    """Play a game with people, and return its episode; where servers are asked, first the price of a decision."""
    with use_prices(seated.prices):
        setup, position = (_from_record if seated.origin else _from_start)(seated, connection)
        match = setup.match
        others = [
            (seat, player)
            for seat, slot in enumerate(setup.slots)
            if (player := match.players[slot]) is not None and seat not in seated.people
        ]
        price = price_of(position, others, 1)
        if price is not None and price.servers and not seated.accepted:
            return JobPrice(price.to_json())
        for seat in seated.people:
            connection.send(PageMessage(seat, _first_event(setup, position, seat, opens=seat == seated.seat)))
            person = match.players[setup.slots[seat]]
            assert isinstance(person, PageHuman)
            person.look(position.state.view(seat), position.state if person.traits.sees_hidden else None, {})
        connection.send(PageMessage(None, _observer_event(match.game)))
        with spending(Budget(float(_MOST_CALLS), "calls")):
            (episode,) = play([setup], live=1)
        shown = draw_end(episode, {position.episode.id: position.episode, **position.parents})
        for seat in seated.people:
            connection.send(PageMessage(seat, {"event": "end", "drawn": shown}))
    return episode


def _first_event(setup: Setup, position: RecordedTurn, seat: Seat, *, opens: bool) -> Json:
    """Return the first event of a seat; guests are not told who plays, nor the name of a file with the game."""
    match = setup.match
    view = position.state.view(seat)
    if opens:
        known = {"game": match.text, "players": [match.names[slot] for slot in setup.slots]}
    else:
        known = {"game": match.game.spec.name, "players": _seat_names(match.game)}
    return {"event": "begun", "seat": seat, "rules": view.rules, "unit": match.game.spec.unit, **known}


def _observer_event(game: Game[Any]) -> Json:
    """Return the first event of observers."""
    hides = game.spec.private_information
    return {"event": "begun", "game": game.spec.name, "players": _seat_names(game), "hides": hides}


def _seat_names(game: Game[Any]) -> list[str]:
    return list(game.spec.seat_names) or [f"seat {seat}" for seat in range(game.spec.seats)]


def _from_start(seated: SeatedGame, connection: Connection) -> tuple[Setup, RecordedTurn]:
    """Seat the person and the others at a new game; the person is the first player of the match."""
    game = make_bounded_game(seated.game)
    others = [seat for seat in range(game.spec.seats) if seat != seated.seat]
    if set(seated.players) != set(others) or len(others) != game.spec.seats - 1:
        raise BadParameter(f"{game.spec.name} has seats 0 to {game.spec.seats - 1}: name a player for each other seat.")
    players = [_sitter(seated, seat, game, connection) for seat in (seated.seat, *others)]
    slots = tuple([0 if seat == seated.seat else 1 + others.index(seat) for seat in range(game.spec.seats)])
    setup = Setup(id=seated.id, match=Match(game, players), slots=slots, key=Key(seated.key))
    state = setup.begin()
    return setup, RecordedTurn(setup.episode(state), {}, state, 0)


def _from_record(seated: SeatedGame, connection: Connection) -> tuple[Setup, RecordedTurn]:
    """Seat the person in place of a recorded player; at the turn the others play what they played."""
    origin = seated.origin
    assert origin is not None
    position = read_position(origin.folder, origin.episode, origin.turn)
    game, decisions = position.state.game, position.decisions
    if not 0 <= seated.seat < game.spec.seats:
        raise BadParameter(f"{game.spec.name} has seats 0 to {game.spec.seats - 1}, and none {seated.seat}.")
    if len(seated.people) > 1 and game.spec.private_information:
        raise BadParameter(
            f"{game.spec.name} hides something from each seat, and the record shows it to you: other people can only "
            "sit down at a new game."
        )
    players: list[Player | None] = [None] * game.spec.seats
    for seat, slot in enumerate(position.episode.slots):
        recorded = position.episode.players[seat]
        if seat in (seated.seat, *seated.players):
            players[slot] = _sitter(seated, seat, game, connection)
        elif not is_absent(recorded):
            other = _recorded_player(seat, maker(recorded, origin.run), game)
            players[slot] = ForcedPlayer(other, origin.turn, decisions[seat].action) if seat in decisions else other
    (setup,) = forks(
        position.episode,
        Match(game, players),
        1,
        Key(seated.key),
        at=origin.turn,
        fresh_chance=True,
        purpose="eval",
        parents=position.parents,
        name=seated.id,
    )
    return setup, position


def _sitter(seated: SeatedGame, seat: Seat, game: Game[Any], connection: Connection) -> Player:
    """Make the player of a seat: a person, or the player that was named for it."""
    if seat in seated.people:
        return PageHuman(connection, game, seat, opens=seat == seated.seat)
    return _player(seated.players[seat], game)


def _recorded_player(seat: Seat, name: str, game: Game[Any]) -> Player:
    try:
        return _player(name, game)
    except StratagemError as error:
        raise BadParameter(
            f"Seat {seat} was played by {name!r}, which cannot be made here: choose a player for this seat."
        ) from error


def _player(name: str, game: Game[Any]) -> Player:
    player = make_player(name, game)
    if at_keyboard(player):
        raise BadParameter(f"People sit down here by links: write {PERSON} for the player of a seat.")
    return player


def lineage(seated: SeatedGame) -> Sequence[Episode]:
    """Return the episodes from which a game was played on, the oldest first."""
    if seated.origin is None:
        return ()
    position = read_position(seated.origin.folder, seated.origin.episode, seated.origin.turn)
    return (*reversed(position.parents.values()), position.episode)
