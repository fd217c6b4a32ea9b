"""Runs of ShapeLLM's experiments, resumable: `python experiments/shapellm.py RUNS tiny --only baseline shaper`.

Call it from the project's root, in a clean clone. Finished runs are skipped, interrupted runs are resumed. The study of
a model, or of `tabular`, runs every composition of its recipes with every seed, as RUNS/STUDY-NAME-SEED, so that the
report of one takes its seeds together. The other studies:

`table`           The paper's main table with `tiny`: five seeds, and ten where a baseline has several equilibria.
`clock-tabular`   Two exact tables: who updates once a trial x how the first seat begins, in all games.
`clock-tiny`      The same with `tiny`; the first seat is told the same in all arms.
`clock-smollm2`   The same with SmolLM2-135M in chicken.
`clock-alone`     `tiny` in chicken from an even start: the first seat updates every episode, with all other settings of
                  the learner that updates once a trial.
`shapers`         LOLA, SOS, M-FOS and advantage alignment by exact values, in all games: each against a naive learner
                  and against itself, beside two naive learners and beside a table that updates once a trial.
`loss-tiny`       The prisoner's dilemma with `tiny` over 300 trials, at the full rates, a third and a sixth of them.
`preset-tiny`     The scale `tiny` of `stratagem reproduce` in the prisoner's dilemma and matching pennies, and arms
                  that differ from it in one setting or two (experiments/shapellm_preset.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from experiment import command_line, run
from shapellm_preset import ARMS
from shapellm_recipes import FOLDERS, RECIPES, SHAPERS, composed, of_pair, start

from stratagem.sweeps.planned_run import PlannedRun

TABLE = {f"{game}-{pair}": 5 for game in ("ipd", "imp", "icg", "c-ipd", "ish") for pair in ("baseline", "shaper")}
TABLE |= {f"{game}-baseline": 10 for game in ("icg", "c-ipd", "ish")}
"""Number of seeds of each recipe in the paper's Tables 1 and 3."""

GAMES = {"ipd": "ipd-shapellm", "icg": "icg", "imp": "imp", "c-ipd": "c-ipd", "ish": "ish"}
EVEN = {"ipd": 0.85, "c-ipd": 0.85, "icg": 0.5, "imp": 0.5, "ish": 0.5}
"""Initial probability of the first action of the second seat, and of both where they are equal."""
TABLE_RATES = {"slow": (0.3, 5.0), "fast": (1.0, 30.0)}
"""A table that updates once a trial, and one that updates every episode."""
TINY_RATES = {"naive": 3e-3, "shaper": 6e-4}
CLOCKS, STARTS = ("trial", "episode"), ("reciprocal", "even")


def clock_tabular(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Two tables: clock of the first seat x start of the first seat x rates x game."""
    for seed, game, rates, clock, begin in product(seeds, GAMES, TABLE_RATES, CLOCKS, STARTS):
        slow, quick = TABLE_RATES[rates]
        first = EVEN[game] if begin == "even" else [EVEN[game], 0.9, 0.2, 0.9, 0.2]
        changes = {
            "seed": str(seed),
            "game": GAMES[game],
            "seats.shaper.update_every": "trial" if clock == "trial" else "1",
            "seats.shaper.learning_rate": str(slow if clock == "trial" else quick),
            "seats.shaper.initial_probability": str(first),
            "seats.naive.learning_rate": str(quick),
            "seats.naive.initial_probability": str(EVEN[game]),
        }
        name = f"tabular-{game}-{rates}-{clock}-{begin}-{seed}"
        yield PlannedRun(name, composed("tabular")["ipd"].recipes, changes)


def clock_tiny(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """`tiny`: clock of the first seat x start of the first seat x game; the first seat is told the trial's counts."""
    yield from _clock(seeds, tuple(GAMES), "tiny", {})


def clock_alone(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """`tiny` in chicken: the arm `trial-even`, but for an update every episode. Its rates are a shaper's."""
    for planned in clock_tiny(seeds):
        if "-icg-trial-even-" in planned.name:
            changes = {**planned.changes, "seats.shaper.update_every": "1"}
            yield replace(planned, name=planned.name.replace("-trial-", "-alone-"), changes=changes)


def clock_smollm2(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """SmolLM2-135M: clock of the first seat x start of the first seat, in chicken; SFT makes the starts."""
    yield from _clock(seeds, ("icg",), "smollm2", {"game": "icg(labels=(S, G), rounds=10)"})


def _clock(seeds: Iterable[int], games: Sequence[str], model: str, settings: Mapping[str, str]) -> Iterator[PlannedRun]:
    for seed, game, clock, begin in product(seeds, games, CLOCKS, STARTS):
        name, memory = ("shaper", {}) if clock == "trial" else ("baseline", TELLS_COUNTS)
        first = start(game, reciprocal=begin == "reciprocal", together=False)
        changes = {"seed": str(seed), **settings, **memory, "target_policies": first}
        yield PlannedRun(f"{model}-{game}-{clock}-{begin}-{seed}", of_pair(game, name, model).recipes, changes)


TELLS_COUNTS = {"seats.one.memory": "trial", "seats.one.style": "shapellm-occurrence"}
"""A naive learner that is told what a shaper is told."""


def shapers(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Tables with exact values: who learns at the first seat x who learns at the second x game, from equal starts."""
    for seed, game in product(seeds, GAMES):
        for first, second in SHAPER_PAIRS:
            changes = {"seed": str(seed), "game": GAMES[game], **SHAPER_SETTINGS.get(first, {})}
            changes |= {"seats.one.learner": first, "seats.two.learner": second}
            changes |= {"seats.two.generations": GENERATIONS} if second == "mfos" else {}
            name = "clock" if first == "tabular" else first
            yield PlannedRun(f"shapers-{game}-{name}-{second}-{seed}", (SHAPERS_ALONE,), changes)
    for seed, (first, second) in product(seeds, PUBLISHED_PAIRS):
        if seed < PUBLISHED_SEEDS:
            changes = {"seed": str(seed), "seats.one.learner": first, "seats.two.learner": second}
            yield PlannedRun(f"shapers-published-{first}-{second}-{seed}", (SHAPERS_ALONE, PUBLISHED), changes)


SHAPERS_ALONE, PUBLISHED = RECIPES / "shapers" / "exact.toml", RECIPES / "shapers" / "published.toml"
PUBLISHED_PAIRS, PUBLISHED_SEEDS = (("exact", "exact"), ("lola", "lola"), ("mfos", "exact")), 5
"""Pairs of the published game, whose long episodes take longer."""
SHAPER_PAIRS = (
    ("exact", "exact"),
    *((shaper, second) for shaper in SHAPERS for second in ("exact", shaper)),
    ("tabular", "exact"),
)
GENERATIONS = "20"
SHAPER_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "mfos": {"seats.one.generations": GENERATIONS},
    "tabular": {"environments": "5", "seats.one.update_every": "trial", "seats.one.learning_rate": "0.6"},
}
"""A step of a sampled table at rate 12.5 is about one of the exact learner at 1; once a trial, a twentieth of it."""


def loss_tiny(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """A shaper of `tiny` in the prisoner's dilemma over 300 trials, by learning rate of both seats."""
    for seed, share in product(seeds, (6, 3, 1)):
        rates = {f"seats.{kind}.optimizer.learning_rate": f"{rate / share:.6g}" for kind, rate in TINY_RATES.items()}
        changes = {
            "seed": str(seed),
            "trials": "300",
            **rates,
            "seats.shaper.learning_rate_scale.steps": str(40 * share),
        }
        recipes = composed("tiny")["ipd-shaper"].recipes
        yield PlannedRun(f"tiny-ipd-long-{share}-{seed}", recipes, changes)


def preset_tiny(seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Runs of the scale `tiny` of `stratagem reproduce`, and of arms that differ from it."""
    for seed, (name, arm) in product(seeds, ARMS.items()):
        yield PlannedRun(f"tiny-{name}-{seed}", arm.run.recipes, {"seed": str(seed), **arm.run.changes})


def table(_: Iterable[int]) -> Iterator[PlannedRun]:
    """Plan the paper's main table; it has its own seeds."""
    for seed in range(max(TABLE.values())):
        yield from compositions("tiny", [seed], [name for name, count in TABLE.items() if seed < count])


def compositions(study: str, seeds: Iterable[int], names: Sequence[str] = ()) -> Iterator[PlannedRun]:
    """Plan compositions, all by default, a seed of all before the next one of any."""
    known = composed(study)
    for seed in seeds:
        for name in names or sorted(known):
            changes = {"seed": str(seed), **known[name].changes}
            yield PlannedRun(f"{study}-{name}-{seed}", known[name].recipes, changes)


STUDIES: Mapping[str, Callable[[Iterable[int]], Iterator[PlannedRun]]] = {
    "table": table,
    "clock-tabular": clock_tabular,
    "clock-tiny": clock_tiny,
    "clock-smollm2": clock_smollm2,
    "clock-alone": clock_alone,
    "loss-tiny": loss_tiny,
    "preset-tiny": preset_tiny,
    "shapers": shapers,
    **{study: partial(compositions, study) for study in FOLDERS},
}


def main() -> None:
    """Make the runs of a study."""
    arguments = command_line(__doc__, STUDIES).parse_args()
    run(STUDIES[arguments.study](arguments.seeds), arguments)


if __name__ == "__main__":
    main()
