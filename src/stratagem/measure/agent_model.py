"""Model of an agent inside a search: its stated policy, the agent itself, or frequencies of its recorded moves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.games.base import Game, Seat, State, View
from stratagem.games.key import Key
from stratagem.measure.policies import Stated, stated_policies
from stratagem.players.asked_agent import AskedAgent
from stratagem.players.base import Player
from stratagem.playing.records import Episode


class AgentModel(Protocol):
    """Source of an agent's moves."""

    kind: str
    """Word for reports."""

    def draw(self, state: State[Any], seat: Seat, key: Key) -> str | None:
        """Draw the agent's move at a seat; None is the null action."""
        ...


class StatedPolicy:
    """Policy that the agent states, asked once about each information set."""

    kind = "its stated policy"

    def __init__(self, agent: Player) -> None:
        self._agent = agent
        self._known: dict[tuple[Seat, str], Stated] = {}

    def draw(self, state: State[Any], seat: Seat, key: Key) -> str | None:
        """Draw by the stated probabilities."""
        view = state.view(seat)
        place = seat, view.info_key
        if place not in self._known:
            (self._known[place],) = stated_policies(self._agent, [view])
        mix = self._known[place]
        return list(mix)[key.choose(list(mix.values()))]


class Frequencies:
    """Recorded moves by information set, else by state key; each counts as one among them and an even draw."""

    kind = "frequencies of its moves"

    def __init__(self, episodes: Iterable[Episode]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for episode in episodes:
            for row in episode.decisions:
                if row.action is not None:
                    for name in {f"{row.seat} {row.info_key}", row.state_key}:
                        counts[name][row.action] += 1
        self._counts: Mapping[str, Counter[str]] = dict(counts)

    def draw(self, state: State[Any], seat: Seat, key: Key) -> str | None:
        """Draw a recorded move with probability n / (n + 1), after n of them, and any move otherwise."""
        view = state.view(seat)
        known = self._counts.get(f"{seat} {view.info_key}") or self._counts.get(view.state_key) or Counter()
        moves = {action: count for action, count in known.items() if action in view.choices}
        number = key.at("move").choose([*moves.values(), 1])
        return list(moves)[number] if number < len(moves) else view.choices.sample(key.at("any"))


def model_of(game: Game[Any], agent: Player) -> AgentModel | None:
    """Return the stated policy of an agent, or the agent itself; None where only its record can tell."""
    state = game.start(Key(0))
    views: list[View[Any]] = [state.view(seat) for seat in state.to_act]
    if agent.traits.exact:
        try:
            stated_policies(agent, views)
        except CannotCompute:
            pass
        else:
            return StatedPolicy(agent)
    try:
        AskedAgent(agent).draw(state, state.to_act[0], Key(0))
    except StratagemError:
        return None
    return AskedAgent(agent)
