"""Tasks of inspect by name: `stratagem/game` for any game, and one for each game of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import model_roles
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState
from rich.markup import escape

from stratagem import __version__
from stratagem.base.errors import StratagemError
from stratagem.base.visible import visible
from stratagem.connect.inspect.figures import Figures, estimates
from stratagem.connect.inspect.plan import MODEL, InspectPlan, make_plan
from stratagem.connect.inspect.solver import FIGURES, ROLE, seat
from stratagem.games.catalogue import GAMES
from stratagem.players.uniform import Random


def _intervals() -> Metric:
    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return estimates([Figures(**score.score.metadata) for score in scores if score.score.metadata])

    return compute


intervals = metric(name="intervals", scores="unreduced")(_intervals)
"""Estimates over all episodes; each epoch has deals of its own."""


def _payoff() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        played = state.store.get(FIGURES)
        if played is None:
            return Score.unscored(explanation="A limit stopped the episode before its end, so it has no score.")
        figures = Figures(**played)
        return Score(value=_values(figures), explanation=_sentence(figures), metadata=figures.to_json())

    return score


payoff = scorer(name="payoff", metrics=[intervals()])(_payoff)
"""Scorer of episodes."""


def _values(figures: Figures) -> dict[str, float]:
    return {"payoff": figures.payoff / figures.rounds, "illegal": figures.illegal / max(1, figures.turns)}


def _sentence(figures: Figures) -> str:
    return (
        f"Seat {figures.seat} against {figures.opponent}: return {figures.payoff:+g} over {figures.rounds} rounds; "
        f"{figures.illegal} of {figures.turns} turns without a legal action."
    )


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


def _samples(plan: InspectPlan) -> Iterator[Sample]:
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
