"""Our games as environments of OpenEnv: a server with one seat for a learner, and players of ours in the others.

A client gets the prompt of a language model and answers in words. trl's GRPO reaches it through OpenEnv's client.
"""

from __future__ import annotations

from itertools import islice
from threading import Lock
from typing import Any

from pydantic import Field

from stratagem.base.errors import IllegalAction, MissingExtra
from stratagem.base.options import whole
from stratagem.connect.opponents import Others, match_at_seat
from stratagem.connect.session import Deals, Session
from stratagem.games.base import Game, Seat
from stratagem.games.choices import Choices
from stratagem.language.prompting.plain import question
from stratagem.players.given import GameLike, as_game
from stratagem.playing.match import Match

try:
    from openenv.core.env_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
except ImportError as error:
    raise MissingExtra("An environment of OpenEnv", "openenv") from error

__all__ = ["GameAction", "GameEnvironment", "GameObservation", "app", "environment"]

_LISTED = 12
"""Number of legal actions that an observation lists."""
_SESSIONS = 64
"""Number of clients that a server has at a time, by default."""


class GameAction(Action):  # type: ignore[misc]  # OpenEnv is no dependency
    """Reply of the learner."""

    message: str = Field(description="Reply in words; its last line is the action.")


class GameObservation(Observation):  # type: ignore[misc]  # as above
    """Knowledge of the learner's seat; `reward` is the payoff since the last reply."""

    prompt: str = Field(description="Rules, situation and choices, as a language model is asked.")
    situation: str = Field(description="History and present position.")
    legal: list[str] = Field(description="The first legal actions; none when the episode is over.")
    action: str | None = Field(default=None, description="Action that was read from the reply.")


class GameEnvironment(Environment):  # type: ignore[misc]  # as above
    """A game with one seat for a client."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, match: Match, seat: Seat, seed: int, lock: Lock) -> None:
        super().__init__()
        self._match, self._seat = match, seat
        self._deals = Deals(seed)
        self._lock = lock
        self._session: Session | None = None
        self._state = State()

    @property
    def session(self) -> Session:
        """Episode in progress."""
        if self._session is None:
            raise IllegalAction("No episode has begun: call `reset` first.")
        return self._session

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, deal: int | None = None, **_others: Any
    ) -> Any:
        """Begin the next deal, the first of a seed, or the deal of a number; other fields of a data set are ignored."""
        with self._lock:
            self._session = self._deals.session(self._match, seed, deal)
        self._state = State(episode_id=episode_id or self._session.episode.id)
        return self._observe_session(None)

    def step(self, action: Any, timeout_s: float | None = None, **_others: Any) -> Any:
        """Play a reply; one without a legal action follows the rule of the game."""
        if self.session.over:
            raise IllegalAction("The episode is over: call `reset` for the next one.")
        with self._lock:
            played = self.session.reply(self._seat, action.message)
        self._state.step_count += 1
        return self._observe_session(played)

    @property
    def state(self) -> Any:
        """Identifier of the episode, and the number of replies so far."""
        return self._state

    def get_metadata(self) -> Any:
        """Return the name of the game and its summary."""
        spec = self._match.game.spec
        return EnvironmentMetadata(name=self._match.text, description=spec.summary, version=str(spec.version))

    def _observe_session(self, played: str | None) -> Any:
        session = self.session
        view = session.asks[self._seat].view if self._seat in session.asks else session.view(self._seat)
        parts = [view.rules, view.situation] + ([] if session.over else [question(view)])
        return GameObservation(
            prompt="\n\n".join(parts),
            situation=view.situation,
            legal=[] if session.over else _first(view.choices),
            action=played,
            reward=session.rewards()[self._seat],
            done=session.over,
        )


def environment(game: GameLike, opponents: Others = (), *, seat: Seat = 0, seed: int = 0) -> GameEnvironment:
    """Return an environment in this process; `opponents` are one player for all other seats, or one for each."""
    return _Maker(as_game(game), opponents, seat, seed)()


def app(
    game: GameLike,
    opponents: Others = (),
    *,
    seat: Seat = 0,
    seed: int = 0,
    sessions: int = _SESSIONS,
) -> Any:
    """Return a server for uvicorn; each client has an episode of its own, and `sessions` of them play at a time."""
    whole("The server", "sessions", sessions, 1)
    maker = _Maker(as_game(game), opponents, seat, seed)
    return create_app(maker, GameAction, GameObservation, env_name=maker.match.text, max_concurrent_envs=sessions)


class _Maker:
    """Maker of environments of one game; they take turns, since an engine serves one caller at a time."""

    def __init__(self, game: Game[Any], opponents: Others, seat: Seat, seed: int) -> None:
        self.match = match_at_seat(game, opponents, seat)
        self._seat, self._seed, self._lock = seat, seed, Lock()
        Deals(seed)

    def __call__(self) -> GameEnvironment:
        """Make an environment."""
        return GameEnvironment(self.match, self._seat, self._seed, self._lock)


def _first(choices: Choices) -> list[str]:
    return list(islice(choices, _LISTED))
