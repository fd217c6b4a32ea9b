"""Settings of evaluations and of tournaments: the parameters of `evaluate` and `tournament`, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.player_like import PlayerLike
from stratagem.errors import WrongKind
from stratagem.evaluation.exploitability.methods import check_effort
from stratagem.options import check_seed, whole
from stratagem.players.given import GameLike

if TYPE_CHECKING:
    from stratagem.evaluation.suites import Suite

__all__ = ["EvaluationSettings", "PlaySettings", "TournamentSettings"]


@dataclass(frozen=True, kw_only=True)
class PlaySettings:
    """Settings of play that can be stopped and continued."""

    seed: int = 0
    """Seed of all randomness."""
    chance: bool = True
    """True to measure random play, too, as the chance level."""
    record: str | Path | None = None
    """Folder for the episodes and decisions, as Parquet."""
    resume: bool = False
    """True to continue the record; recorded requests are not repeated."""
    engine: str | None = None
    """Engine of local language models, as in `transformers(rows=16)`."""
    workers: int | None = None
    """Number of processes that share the work; with `ray`, of workers on the cluster."""
    ray: str | None = None
    """Ray cluster for the work: its address, `auto`, or `local` for a new one here."""
    progress: bool = True
    """True to show progress in a terminal and in a notebook."""

    def __post_init__(self) -> None:
        check_seed(self.seed)


@dataclass(frozen=True)
class EvaluationSettings(PlaySettings):
    """Settings of an evaluation, each of which is a parameter of `evaluate`."""

    suite: GameLike | Suite
    """Suite or game."""
    players: PlayerLike | Sequence[PlayerLike]
    """Players to measure."""
    _: KW_ONLY
    opponents: Sequence[PlayerLike] = ()
    """Opponents in place of those of the suite."""
    episodes: int | None = None
    """Number of episodes for each opponent; by default that of the suite."""
    metrics: Sequence[str] = ()
    """Additional metrics, by name."""
    by_seat: bool = False
    """True for figures by seat, too; where seats have names they are always there."""
    disguise: str | int | None = None
    """Number of disguises, or a file: the same deals in other words, and the memorisation gap."""
    exploitability: PlayerLike = "auto"
    """Method of exploitability: `auto`, `exact`, `scored`, `replies`, `search`, `learn`, or a player that exploits.

    `auto` is exact, or scored where a server tells probabilities; with an effort, else from replies. The gain of an
    exploiter is a lower bound. `search(deals=20)` sets the number of deals, each played at every seat.
    """
    effort: int | None = None
    """Effort of the method; by default its own.

    Exact and scored: situations that may be walked. Replies and auto: replies a situation. Search: simulations a
    decision. Learn: episodes at each seat. A player: deals.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.episodes is not None and type(self.episodes) is not int:
            whole("evaluate", "episodes", self.episodes, 1)
        check_effort("evaluate", self.exploitability, self.effort)
        if self.disguise is not None and type(self.disguise) not in (int, str):
            raise WrongKind("disguise", "a number of disguises, or a file", self.disguise)


@dataclass(frozen=True)
class TournamentSettings(PlaySettings):
    """Settings of a tournament, each of which is a parameter of `tournament`."""

    game: GameLike
    """Game."""
    players: PlayerLike | Sequence[PlayerLike] = ()
    """Players; by default those of the game's pools."""
    _: KW_ONLY
    episodes: int = 20
    """Number of episodes of each pair."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("tournament", "episodes", self.episodes, 1)
