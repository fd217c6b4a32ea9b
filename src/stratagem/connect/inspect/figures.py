"""Figures of episodes, and their estimates: episodes of one deal are one observation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from stratagem.games.base import Json
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate, ratio, students
from stratagem.playing.records import Episode


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Sums of the agent in one episode."""

    opponent: str
    deal: str
    """Episodes of one deal replay the same draws with other seats."""
    seat: int
    payoff: float
    rounds: int
    turns: int
    illegal: int
    """Number of turns without a legal action."""
    chance_payoff: float | None = None
    """Return of random play in the same seat and deal; None where it was not played."""
    chance_rounds: int = 0
    duel: bool = False
    """True in a zero-sum game of two seats."""

    @classmethod
    def of(cls, episode: Episode, opponent: str, chance: Figures | None = None, *, duel: bool = False) -> Figures:
        """Take the sums of the player in slot 0."""
        seat = episode.seat_of(0)
        return cls(
            opponent=opponent,
            deal=episode.group,
            seat=seat,
            payoff=episode.payoffs[seat],
            rounds=max(1, len(episode.rounds)),
            turns=episode.num_decisions[seat],
            illegal=episode.num_illegal[seat],
            chance_payoff=chance.payoff if chance else None,
            chance_rounds=chance.rounds if chance else 0,
            duel=duel,
        )

    def to_json(self) -> Json:
        """Return every figure by name."""
        return asdict(self)


def estimates(rows: Sequence[Figures]) -> dict[str, float]:
    """Return mean, standard error and 95 % interval of each figure, and the payoff against each opponent of several."""
    if not rows:
        return {"deals": 0.0}
    opponents = dict.fromkeys(row.opponent for row in rows)
    found = dict(_name_figures("payoff", _pay(rows))) | dict(_name_figures("illegal", _illegal(rows)))
    if all(row.chance_payoff is not None for row in rows):
        found |= _name_figures("chance", _chance(rows))
    if bounds_exploitability(rows):
        found |= _name_figures("exploitability_lower_bound", _pay(rows).times(-1.0))
    for opponent in opponents if len(opponents) > 1 else ():
        found |= _name_figures(
            "payoff", _pay([row for row in rows if row.opponent == opponent]), f" against {opponent}"
        )
    return found | {"deals": float(len({row.deal for row in rows}))}


def bounds_exploitability(rows: Sequence[Figures]) -> bool:
    """Return whether the mean loss is a lower bound on exploitability.

    In a zero-sum game of two no opponent, nor any mix of them, gains more than the best response at each seat. So each
    deal must have been played at both seats, and all episodes must have the same number of rounds.
    """
    seats: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        seats.setdefault((row.opponent, row.deal), set()).add(row.seat)
    both = all(found == {0, 1} for found in seats.values())
    return both and all(row.duel for row in rows) and len({row.rounds for row in rows}) == 1


def _name_figures(name: str, estimate: Estimate, after: str = "") -> Iterator[tuple[str, float]]:
    ends = {"": estimate.mean, "_se": estimate.se, "_low": estimate.low, "_high": estimate.high}
    return ((f"{name}{end}{after}", value) for end, value in ends.items() if value is not None)


def _pay(rows: Sequence[Figures]) -> Estimate:
    """Return the mean payoff a round, as `stratagem.play` counts it."""
    return students(ratio(rows, lambda row: row.payoff, lambda row: row.rounds, lambda row: row.deal))


def _chance(rows: Sequence[Figures]) -> Estimate:
    return students(
        ratio(rows, lambda row: row.chance_payoff or 0.0, lambda row: row.chance_rounds, lambda row: row.deal)
    )


def _illegal(rows: Sequence[Figures]) -> Estimate:
    """Return the share of turns without a legal action, with Wilson's interval."""
    return rate(rows, lambda row: row.illegal, lambda row: row.turns, lambda row: row.deal)
