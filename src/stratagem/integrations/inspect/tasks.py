"""Tasks of inspect by name: `stratagem/game` for any game, and one for each game of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import model_roles
from rich.markup import escape

from stratagem import __version__
from stratagem.errors import StratagemError
from stratagem.games.catalogue import GAMES
from stratagem.integrations.inspect.plan import MODEL, Plan, make_plan
from stratagem.integrations.inspect.scores import payoff
from stratagem.integrations.inspect.solver import ROLE, seat
from stratagem.players.uniform import Random
from stratagem.visible import visible

_EPISODES = 20
"""Default number of episodes against an opponent, as in an evaluation."""


def _task(
    game: object = "",
    opponents: object = None,
    episodes: object = _EPISODES,
    seed: object = 0,
    style: object = "plain",
    chance: object = True,
) -> Task:
    """Seat the evaluated model in a game, against players of Stratagem or a model of inspect."""
    default = MODEL if ROLE in model_roles() else "random"
    try:
        plan = make_plan(game, opponents, episodes, seed, style, chance=chance, default=default)
    except StratagemError as error:
        raise PrerequisiteError(escape(visible(str(error)))) from None
    return Task(
        dataset=MemoryDataset(list(_samples(plan)), name=plan.text),
        solver=seat(plan),
        scorer=payoff(),
        version=plan.game.spec.version,
        metadata={"game": plan.text, "unit": plan.game.spec.unit, "stratagem": __version__},
    )


def _samples(plan: Plan) -> Iterator[Sample]:
    """Yield one sample for each episode against each opponent; the deals are the same for all opponents."""
    match = plan.match(Random(), Random())
    for opponent in plan.opponents:
        for number in range(plan.episodes):
            setup = plan.setup(match, number)
            place = setup.slots.index(0)
            yield Sample(
                id=f"{opponent}, {setup.id}",
                input=f"{plan.text}, seat {place} against {opponent}\n\n{plan.game.rules(place)}",
                metadata={"opponent": opponent, "number": number, "deal": setup.group, "seat": place},
            )


def _of(name: str) -> Callable[..., Task]:
    """Return the task of one game, with its default parameters."""

    def named(
        opponents: object = None,
        episodes: object = _EPISODES,
        seed: object = 0,
        style: object = "plain",
        chance: object = True,
    ) -> Task:
        return _task(name, opponents, episodes, seed, style, chance)

    made: Callable[..., Task] = task(name=name)(named)
    return made


game: Callable[..., Task] = task(name="game")(_task)
"""Task of any game: `-T game='ipd(rounds=20)'`."""
TASKS = {name: _of(name) for name in GAMES if name != "matrix"}
"""Task of each game of ours, by the name of the game; a matrix has no default payoffs."""
