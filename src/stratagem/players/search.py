"""Search at play time: candidate actions of other players are played on, and the best one is taken.

This is the rollout algorithm (Tesauro and Galperin 1996; Bertsekas, Tsitsiklis and Wu 1997). The value of action `a` is
the mean return of the seat over D draws of chance, `Q(a) = 1/D sum_d G(a, d)`. All candidates meet the same draws
(common random numbers): the same hidden cards, the same moves of others now, and later draws by the same keys.
What is hidden is drawn from the belief of the seat (`players.beliefs`), so the search sees no more than its seat.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import whole
from stratagem.games.abilities import standing_of
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, Request
from stratagem.players.base import Ask, Mix, Move, Player, Traits, Turn
from stratagem.players.edits import change_action
from stratagem.players.human import at_keyboard
from stratagem.players.members import PlayerBase
from stratagem.players.protocol import begin_turn
from stratagem.players.rollouts import Rollouts
from stratagem.players.wrappers import check_player

_TRIES = 4
"""Largest number of draws for an edit that was not tried before."""
Searching = Generator[Request, Call, Move]


@dataclass(frozen=True, kw_only=True)
class RolloutSearch(PlayerBase):
    """Plays the best of what other players propose, by rollouts that see no more than its seat does.

    Candidates are drawn from the players in turn. Then single lines of the best sheet so far are changed, or other
    legal actions are tried. If candidates are equally good, it plays what the first player would have played.
    """

    players: tuple[Player, ...]
    """Players that propose candidates."""
    num_candidates: int = 8
    """Number of candidates that are drawn from the players; equal ones count once."""
    num_edits: int = 8
    """Number of changes of the best candidate that are tried."""
    num_chance_draws: int = 8
    """Number of rollouts of each candidate, each with chance of its own."""
    num_first_draws: int = 0
    """Number of rollouts after which a candidate behind the best so far is dropped, and again after twice as many, and
    so on; 0 drops none."""
    horizon_phases: int = 0
    """Game time after which a rollout stops and counts as if the game ended; 0 plays to the end."""
    opponents: tuple[Player, ...] = ()
    """Players of all other seats in rollouts, each seat drawn among them; by default the first of the players."""
    rollout_player: Player | None = None
    """Player of the own seat after the candidate; by default the first of the players."""

    def __post_init__(self) -> None:
        for option in _DEFAULTS:
            whole("search", option, getattr(self, option), int(option in ("num_candidates", "num_chance_draws")))

    @property
    def name(self) -> str:
        numbers = {name: getattr(self, name) for name in _DEFAULTS}
        parts = [player.name for player in self.players]
        parts += [f"{name}={value}" for name, value in numbers.items() if value != _DEFAULTS[name]]
        if self.opponents:
            names = ", ".join(player.name for player in self.opponents)
            parts.append(f"opponents={names}" if len(self.opponents) == 1 else f"opponents=[{names}]")
        if self.rollout_player is not None:
            parts.append(f"rollout_player={self.rollout_player.name}")
        return f"search({', '.join(parts)})"

    @property
    def player(self) -> Player:
        """Player that is improved: the first one."""
        return self.players[0]

    @property
    def simulated(self) -> tuple[Player, ...]:
        """Players of rollouts: that of the own seat, then the opponents."""
        return (self.rollout_player or self.player, *(self.opponents or (self.player,)))

    @property
    def traits(self) -> Traits:
        inner = [player.traits for player in (*self.players, *self.simulated)]
        return Traits(
            stochastic=True,
            memory=None,
            searches=True,
            sees_hidden=any(traits.sees_hidden for traits in inner),
            reads_words=any(traits.reads_words for traits in inner),
            exact=False,
            repeats=all(traits.repeats for traits in inner),
        )

    def around(self, wrap: Callable[[Player], Player]) -> RolloutSearch:
        """Return the same search with its players wrapped, as a disguise does."""
        own = self.rollout_player
        return replace(
            self,
            players=tuple(map(wrap, self.players)),
            opponents=tuple(map(wrap, self.opponents)),
            rollout_player=None if own is None else wrap(own),
        )

    def policy(self, view: View[Any]) -> Mix:
        raise CannotCompute(f"{self.name} samples a search: its probabilities can be counted, not computed.")

    def check(self, game: Game[Any]) -> None:
        """Refuse a game or players with which nothing can be searched, before the game is played."""
        for player in dict.fromkeys((*self.players, *self.simulated)):
            check_player(player, game)
            if at_keyboard(player):
                raise BadParameter("search asks its players many times a move, so a person cannot be one of them.")
            if player.traits.sees_hidden and game.spec.private_information:
                raise BadParameter(f"search sees no more than its seat, but {player.name} looks at hidden information.")
        state = game.start(Key(0))
        if self.horizon_phases and standing_of(state) is None:
            raise BadParameter(
                f"{game.spec.name} states no value of a position before the end: leave `horizon_phases` at 0."
            )
        for player in self.simulated:
            Rollouts(self, state.view(state.to_act[0])).move(player, state, state.to_act[0], Key(0), 0)

    def turn(self, ask: Ask) -> Turn:
        return begin_turn(self._search(ask))

    def _search(self, ask: Ask) -> Searching:
        """Yield the requests of the players that propose, and return the best candidate."""
        choices = ask.view.choices
        if choices.count == 1 and not choices.is_open:
            return Move(choices.first)
        candidates = yield from self._proposals(ask)
        if len(candidates) == 1 and not self.num_edits:
            return Move(candidates[0])
        rollouts = Rollouts(self, ask.view)
        rollouts.meet(ask)
        best, most = candidates[0], rollouts.returns(candidates[0])
        tried = {*candidates}
        for action in candidates[1:]:
            if (found := self.returns_if_better(rollouts, action, most)) is not None:
                best, most = action, found
        for edit in range(self.num_edits):
            tries = (change_action(best, choices, ask.key.at("edit", edit, n)) for n in range(_TRIES))
            action = next((one for one in tries if one not in tried), best)
            tried.add(action)
            if action != best and (found := self.returns_if_better(rollouts, action, most)) is not None:
                best, most = action, found
        return Move(best)

    def returns_if_better(self, rollouts: Rollouts, action: str, most: Sequence[float]) -> Sequence[float] | None:
        """Return the returns of an action that is better than the best so far; None for another one."""
        found: list[float] = []
        end = self.num_first_draws or len(most)
        while len(found) < len(most):
            found += rollouts.returns(action, slice(len(found), min(end, len(most))))
            if sum(found) < sum(most[: len(found)]):
                return None
            end *= 2
        return found if sum(found) > sum(most) else None

    def _proposals(self, ask: Ask) -> Generator[Request, Call, list[str]]:
        """Return what the players propose: first what each would play now, then further draws of those that mix."""
        found: dict[str, None] = {}
        for number in range(self.num_candidates):
            again, which = divmod(number, len(self.players))
            player = self.players[which]
            if again and not player.traits.stochastic:
                continue
            turn = player.turn(ask.within(player.traits, number if again else None))
            move = turn if isinstance(turn, Move) else (yield from turn)
            if move.action is not None and move.action in ask.view.choices:
                found[move.action] = None
        return list(found) or [ask.view.choices.sample(ask.key.at("no proposal"))]


_DEFAULTS = {field.name: field.default for field in fields(RolloutSearch) if type(field.default) is int}
"""Numeric options, which a name leaves out where they are the default."""


def search(*players: Player, rollout_player: tuple[Player, ...] = (), **options: Any) -> Player:
    """Make the player `search(PLAYER, ...)`."""
    if len(rollout_player) > 1:
        raise BadParameter("search has one `rollout_player`, which plays its own seat on.")
    return RolloutSearch(players=players, rollout_player=rollout_player[0] if rollout_player else None, **options)
