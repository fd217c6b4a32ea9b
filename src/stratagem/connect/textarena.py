"""Our games as environments of TextArena (Guertler et al. 2025, arXiv:2504.11442): text in, text out.

A player sees the rules as the prompt, and in each turn the situation and its choices as the board. Its reply is read as
that of a language model at our tables.
"""

from __future__ import annotations

from typing import Any

from stratagem.base.errors import BadParameter, IllegalAction, MissingExtra, WrongKind
from stratagem.connect.opponents import Opponents, opponents_of
from stratagem.connect.session import Deals, Session, match_of
from stratagem.games.base import Game, Seat
from stratagem.language.prompting.plain import question
from stratagem.players.given import GameLike, as_game

try:
    import textarena as ta
except ImportError as error:
    raise MissingExtra("An environment of TextArena", "textarena") from error

__all__ = ["TextGame", "env"]

_ASKED = "Reason if you like; write your action alone on the last line."


def env(game: GameLike, *, opponents: Opponents | None = None, seed: int = 0) -> TextGame:
    """Return a game as an environment of TextArena; players of ours take the seats of `opponents`."""
    return TextGame(as_game(game), opponents, seed)


class TextGame(ta.Env):  # type: ignore[misc]  # TextArena is no dependency
    """A game whose players, numbered in the order of their seats, answer in words one after another."""

    def __init__(self, game: Game[Any], opponents: Opponents | None, seed: int) -> None:
        players = opponents_of(opponents, game)
        self._match = match_of(game, players)
        self.env_id = self._match.text  # as `ta.make` sets it, for the wrapper that renders
        self._seats = [seat for seat in range(game.spec.seats) if seat not in players]
        self._deals = Deals(seed)
        self._session: Session | None = None
        self.state = ta.State(num_players=len(self._seats))

    @property
    def session(self) -> Session:
        """Episode in progress."""
        return self._begin_session()

    def _begin_session(self) -> Session:
        if self._session is None:
            raise IllegalAction("No episode has begun: call `reset` first.")
        return self._session

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin the next deal, or the first of a seed."""
        if num_players != len(self._seats):
            raise BadParameter(
                f"{self._match.text} is for {len(self._seats)} players here, not {num_players!r}: a seat has a player "
                "or an opponent."
            )
        self._session = self._deals.session(self._match, seed)
        self.state = ta.State(num_players=num_players)
        roles = {number: f"Player {number}" for number in range(num_players)}
        self.state.standard_resets(
            game_state={"game": self._match.text}, player_prompt_function=self._prompt, role_mapping=roles
        )
        self._turn()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the reply of the player whose turn it is.

        A reply without a legal action follows the rule of the game: another attempt, a default action, or the end.
        """
        if self.session.over:
            raise IllegalAction("The episode is over: call `reset` for the next one.")
        if not isinstance(action, str):
            raise WrongKind("reply", "a text", action)
        number = self.state.current_player_id
        seat = self._seats[number]
        self._say(action, ta.ObservationType.PLAYER_ACTION, number, number)
        played = self.session.reply(seat, action)
        info = self.state.game_info[number]
        if played is None:
            info["invalid_move"] = True
            self._say("Your reply named no legal action.", ta.ObservationType.GAME_ADMIN, number)
        again = self.session.asks.get(seat)
        if again is None or again.attempt == 0:
            info["turn_count"] += 1
        self._turn()
        done, said = self.state.step()
        return done, {"action": played, **said}

    def get_observation(self) -> tuple[int, list[Any]]:
        """Return the player whose turn it is, and its messages since its last turn."""
        self._begin_session()
        return self.state.current_player_id, self.state.get_current_player_observation()

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """Return the returns of the players, and what is known of each."""
        self._begin_session()
        rewards, infos = self.state.close()
        return rewards, infos

    def _prompt(self, player_id: int, game_state: dict[str, Any]) -> str:
        return f"{self.session.view(self._seats[player_id]).rules}\n{_ASKED}"

    def _turn(self) -> None:
        """Show the board to the player who is asked next, or end the episode."""
        asks = self.session.asks
        if self.session.over:
            self._end()
        else:
            seat, ask = next(iter(asks.items()))
            self.state.current_player_id = self._seats.index(seat)
            board = f"{ask.view.situation}\n{question(ask.view)}"
            self._say(board, ta.ObservationType.GAME_BOARD, self.state.current_player_id)

    def _end(self) -> None:
        payoffs = self.session.episode.payoffs
        self.state.rewards = {number: payoffs[seat] for number, seat in enumerate(self._seats)}
        self.state.done = True
        for number, seat in enumerate(self._seats):
            last = f"{self.session.view(seat).situation}\nThe game is over. You are paid {payoffs[seat]:g}."
            self._say(last, ta.ObservationType.GAME_ADMIN, number)

    def _say(self, text: str, kind: Any, to: Seat, source: Seat = ta.GAME_ID) -> None:
        self.state.add_observation(message=text, observation_type=kind, from_id=source, to_id=to)
