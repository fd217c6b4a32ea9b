"""Plan of an audit: which probe asks for how many decisions in which game, and which figures will come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.drawn.distribution import GameDistribution, is_distribution
from stratagem.games.key import Key
from stratagem.measure.audit.checks.catalogue import CHECKS
from stratagem.measure.audit.compare import against_name
from stratagem.measure.audit.probes.base import Probe, Task
from stratagem.measure.audit.probes.catalogue import DRAWS, probes_of
from stratagem.measure.audit.probes.draws import draw_audited
from stratagem.measure.audit.probes.exploiter import ExploiterProbe
from stratagem.measure.audit.probes.replies import RepliesProbe
from stratagem.measure.audit.seed_origin import SeedOrigin
from stratagem.measure.resumable import PLAN, ResumableRecord
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import Dispatcher, RequestQueue

GAMES = ("kuhn", "ipd(rounds=3)", "icg(rounds=3)", "tic-tac-toe")
"""Games of an audit that names none: cards, a repeated dilemma, repeated chicken, a board."""
ARENA_GAMES = ("kuhn-spiel", "leduc", "tic-tac-toe", "connect-four")
"""Games of an audit as arenas ask, which names none: an illegal reply loses each of them."""
DECISIONS = 6000
_MOST = 10_000_000
"""Number of decisions from which on no larger one is tried."""
RECORDS = "records"
"""Folder of the episodes, in the folder of an audit."""


class ProbeStep(NamedTuple):
    """Probe in a game, with the number of decisions that it asks for."""

    game: str
    probe: Probe
    decisions: int
    why_not: str
    """Reason why the probe does not apply; empty where it does."""
    further: int = 0
    """Largest number of decisions beside those: where few are planned a question, and in games of the exploiter."""

    @property
    def most(self) -> int:
        """Largest number of decisions in all."""
        return self.decisions + self.further

    draws: GameDistribution | None = None
    """Drawn games that the name stands for; None where it names one game."""

    @property
    def folder(self) -> str:
        """Name of the folder of its episodes."""
        return re.sub(r"[^A-Za-z0-9.=_-]+", "-", f"{self.game}-{self.probe.name}").strip("-")


@dataclass(frozen=True)
class AuditPlan:
    """Audit that is checked and not played yet."""

    agent: str | Player
    games: tuple[str, ...]
    decisions: int
    seed: int
    steps: tuple[ProbeStep, ...]
    baseline: AuditPlan | None = None
    """The same audit of another agent, which this one is compared with."""
    probes: tuple[str, ...] = ()
    """Names of further probes, of other packages or of files."""
    exploiter: bool = False
    """True to fit a short list of rules that exploits the agent; its figures are added, and move no other."""
    origin: SeedOrigin | None = None
    """Origin of the seed of drawn games; None where there are none."""

    def names(self) -> list[str]:
        """Return the names of all figures, also of those that this agent or these decisions do not allow."""
        own = [f"{step.game}.{quantity}" for step in self.steps for quantity in step.probe.quantities]
        own += [f"{game}.{quantity}" for game in self.single_games for check in CHECKS for quantity in check.quantities]
        return own + ([against_name(name) for name in own] if self.baseline else [])

    @property
    def single_games(self) -> tuple[str, ...]:
        """Games that are named, without distributions of drawn ones."""
        return tuple(game for game in self.games if not is_distribution(game))

    def first_game(self) -> Game[Any]:
        """Return the first game, or the first drawn one."""
        return self.task(self.steps[0], None).game

    def to_json(self) -> dict[str, Any]:
        """Return what another run of the same audit must agree on."""
        agent = self.agent if isinstance(self.agent, str) else self.agent.name
        drawn = {"draws": self.origin.to_json()} if self.origin else {}
        plan = {"command": "audit", "player": agent, "games": [*self.games]}
        against = {"against": self.baseline.to_json()["player"]} if self.baseline else {}
        further = {"probes": [*self.probes]} if self.probes else {}  # without them, as in earlier audits
        return plan | {"decisions": self.decisions, "seed": self.seed} | against | further | drawn

    def task(self, step: ProbeStep, out: Path | None, queue: Callable[[], RequestQueue] = Dispatcher) -> Task:
        """Return the task of a step, with a record in the folder of the audit."""
        folder = None if out is None else out / RECORDS / step.folder
        resume = folder is not None and (folder / PLAN).is_file()
        record = ResumableRecord(folder, {**self.to_json(), "probe": step.probe.name}, resume=resume)
        key = Key(self.seed).at("audit", step.game, step.probe.name)
        return _task(step.game, self.agent, key, step.decisions, record, queue, step.draws)


def plan_audit(
    agent: str | Player,
    games: Sequence[str | Game[Any]] = GAMES,
    decisions: int = DECISIONS,
    seed: int = 0,
    against: str | Player | None = None,
    probes: Sequence[str] = (),
    exploiter: bool = False,
    nonce: Path | None = None,
) -> AuditPlan:
    """Plan an audit: each game gets the same number of decisions, of which each probe has a share of its own.

    `against` is another agent, which gets as many decisions with the same keys. `probes` are further ones, by name.
    `exploiter` adds the probe that fits a list of rules, which the baseline does not need. `nonce` is a file that
    decides the seed of drawn games.
    """
    whole("An audit", "decisions", decisions, 1)
    drawn = {one.name: one for one in map(GameDistribution.read, filter(is_distribution, games))}
    origin = _origin(agent, list(drawn.values()), nonce)
    if nonce is not None and origin is not None:
        drawn = {name: replace(one, seed=origin.seed) for name, one in drawn.items()}
    texts = [
        GameDistribution.read(game).name if is_distribution(game) else describe(make_bounded_game(game))
        for game in games
    ]
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise BadParameter(f"An audit has each game once, and {twice[0]} is there twice.")
    if not texts:
        raise BadParameter("An audit needs at least one game.")

    def steps_with(number: int) -> list[ProbeStep]:
        each = number // len(texts)
        return [step for text in texts for step in _steps(text, agent, each, probes, drawn, exploiter=exploiter)]

    steps = steps_with(decisions)
    if all(step.why_not for step in steps):
        needed = _more_needed(decisions, lambda number: any(not step.why_not for step in steps_with(number)))
        raise BadParameter(f"Nothing can be measured with {decisions} decisions: {steps[0].why_not}{needed}")
    same = [str(drawn[text]) if text in drawn else text for text in texts]
    baseline = None if against is None else plan_audit(against, same, decisions, seed, probes=probes)
    return AuditPlan(agent, tuple(texts), decisions, seed, tuple(steps), baseline, tuple(probes), exploiter, origin)


def _more_needed(decisions: int, is_enough: Callable[[int], bool]) -> str:
    """Return a sentence with the fewest decisions that measure something; empty where no number does."""
    low, high = decisions, 2 * decisions
    while not is_enough(high):
        if high > _MOST:
            return ""
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return f" At least {high:,} decisions are needed."


def _origin(agent: str | Player, drawn: Sequence[GameDistribution], nonce: Path | None) -> SeedOrigin | None:
    """Return the origin of the seed of drawn games; refused where a nonce has nothing to decide, or not all of it."""
    if other := [one for one in drawn if one.seed != drawn[0].seed]:
        raise BadParameter(f"The drawn games of an audit have one seed: {drawn[0]} and {other[0]} have two.")
    if nonce is None:
        return SeedOrigin(drawn[0].seed) if drawn else None
    if not drawn:
        raise BadParameter("A `nonce` decides the seed of drawn games, and this audit has none: add draws(cards, 20).")
    if chosen := [one for one in drawn if one.seed]:
        raise BadParameter(f"The `nonce` decides the seed of drawn games: leave `seed` out of {chosen[0]}.")
    return SeedOrigin.of_nonce(agent, nonce)


def _steps(
    text: str,
    agent: str | Player,
    decisions: int,
    further: Sequence[str],
    drawn: Mapping[str, GameDistribution],
    *,
    exploiter: bool,
) -> Iterator[ProbeStep]:
    """Yield the probes of a game, each with its own share, so that one more probe moves the figures of no other."""
    if (draws := drawn.get(text)) is not None:
        reason = DRAWS.why_not(_trial(text, agent, decisions, draws))
        yield ProbeStep(text, DRAWS, 0 if reason else decisions, reason, draws=draws)
        return
    later = (ExploiterProbe(),) if exploiter else ()
    for probe in (*probes_of(make_bounded_game(text), further), *later):
        own = int(probe.share * decisions)
        trial = _trial(text, agent, own)
        reason = probe.why_not(trial)
        beside = probe.most_further(trial) if isinstance(probe, RepliesProbe) and not reason else 0
        yield ProbeStep(text, probe, 0 if reason else own, reason, beside)


def _trial(text: str, agent: str | Player, decisions: int, draws: GameDistribution | None = None) -> Task:
    return _task(text, agent, Key(0), decisions, ResumableRecord(), Dispatcher, draws)


def _task(
    text: str,
    agent: str | Player,
    key: Key,
    decisions: int,
    record: ResumableRecord,
    queue: Callable[[], RequestQueue],
    draws: GameDistribution | None = None,
) -> Task:
    game = make_bounded_game(text if draws is None else draw_audited(draws)[0].name)
    return Task(text, game, make_player(agent, game), key, decisions, record, queue, draws, agent)
