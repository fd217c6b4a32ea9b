"""ShapeLLM's recipes against its tables of settings, and the columns of its results against what a run writes."""

import re
from itertools import product
from statistics import fmean

import pytest

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.games import make_game
from stratagem.games.key import Key
from stratagem.language.prompting.catalogue import make_style
from stratagem.sweeps.reproduction.published import file_of, read_paper
from stratagem.sweeps.reproduction.run_figures import figure_at, final_figures
from stratagem.training.runs.folder import RunFolder
from stratagem.training.shipped import PAPERS, recipe_path

PAPER = read_paper(file_of("shapellm"))
SMALL = {
    "game": "ipd-shapellm(labels=(C, D), rounds=2)",
    "trials": 2,
    "episodes": 1,
    "kl_sft.epochs": 0,
    "defaults.naive.mode": "direct",
    "defaults.shaper.mode": "direct",
    "final_evaluation.episodes": 1,
    "final_evaluation.rounds": [2],
}

TABLE_9_AND_12 = {
    "ipd-shaper": (1.41e-7, 1e-3, 1e-4),
    "imp-shaper": (3.41e-7, 1e-3, 0.2),
    "icg-shaper": (1.41e-7, 1e-3, 0.2),
    "ipd-75": (1.41e-7, 1e-3, 0.2),
    "ipd-50": (1.41e-7, 5e-4, 5e-3),
    "ipd-25": (1.41e-7, 3e-3, 1e-4),
    "imp-75": (4.41e-7, 1e-3, 0.2),
    "imp-50": (4.41e-7, 1e-3, 0.2),
    "imp-25": (6.41e-7, 1e-3, 0.2),
    "icg-75": (1.41e-7, 1e-3, 0.2),
    "icg-50": (1.41e-7, 1e-3, 0.2),
    "icg-25": (6.41e-8, 1e-3, 0.2),
    "c-ipd-shaper": (8.41e-8, 5e-5, 0.2),
    "ish-shaper": (8.41e-8, 1e-3, 0.2),
    "ipd-table": (1.41e-7, 1e-3, 1e-5),
    "imp-table": (2.41e-7, 1e-3, 0.2),
    "icg-table": (1.41e-7, 1e-3, 0.2),
    "ipd-switched": (6.41e-7, 1e-3, 0.2),
    "imp-switched": (6.41e-6, 1e-3, 0.2),
    "icg-switched": (1.41e-7, 1e-3, 0.2),
    "ipd-state-only": (1.41e-7, 1e-3, 1e-4),
    "ipd-episode-only": (1.41e-7, 1e-3, 1e-4),
    "other-model-shaper": (3.41e-7, 1e-4, 0.1),
}
"""Learning rate, value coefficient and clip range of the shaper; Table 16 and Llama's are in A.8 and A.9."""
LABELS = {"ipd": ("HK", "NY", "IX"), "imp": ("SY", "NY", "NM"), "icg": ("TK", "NM", "TF")}
"""Table 13: labels of the opponents that begin near .75, .5 and .25."""
ENTROPY = {"ipd-switched": (0.1, 0.0, 25), "icg-switched": (0.7, 0.0, 25)}
"""Table 12: entropy coefficients."""


def recipe_of(run, scale="gpu", **changes):
    """Recipe of a run: with gemma or Llama, or at a small scale."""
    made = PAPER.runs[run]
    models = PAPER.models["llama" if run.startswith("other-model") else "gemma"]
    last = models if scale == "gpu" else made.scale_recipes.get(scale, PAPER.scales[scale].recipes)
    paths = [recipe_path(name, PAPERS / "shapellm") for name in (*made.recipes, *last)]
    return read_any(paths, {**made.set, **made.scales.get(scale, {}), **changes})


@pytest.mark.parametrize("run", TABLE_9_AND_12)
def test_shaper_of_the_papers_recipes_has_the_printed_settings(run):
    shaper = recipe_of(run).seats["shaper"]
    assert (shaper.optimizer.learning_rate, shaper.ppo.value_coef, shaper.ppo.clip_range) == TABLE_9_AND_12[run]
    entropy = shaper.ppo.entropy_coef
    assert (entropy.start, entropy.end, entropy.steps) == ENTROPY.get(run, (0.0, 0.0, 1))
    assert shaper.style.startswith("shapellm-paper-")


@pytest.mark.parametrize("run", PAPER.runs)
def test_learners_of_the_papers_recipes_have_the_settings_of_all_experiments(run):
    """Tables 7 and 8, section 4.2, appendix A.3 and footnote 7."""
    recipe = recipe_of(run)
    assert (recipe.trials, recipe.environments, recipe.episodes) == (300, 5, 5)
    assert (recipe.final_evaluation.episodes, recipe.final_evaluation.rounds) == (100, (20, 50, 100))
    for seat in recipe.seats.values():
        adapter, ppo = seat.adapter, seat.ppo
        assert (adapter.rank, adapter.lora_alpha, adapter.dropout) == (2, 32.0, 0.05)
        assert adapter.targets == ("q_proj", "v_proj")
        assert (ppo.discount, ppo.gae_lambda, ppo.clip_range_value, ppo.scale_scores) == (1.0, 0.95, 0.2, True)
        assert (ppo.batches.batch_size, ppo.batches.mini_batch_size, ppo.batches.epochs) == (100, 10, 1)
        kl = ppo.adaptive_kl
        assert (kl.initial_kl_coef, kl.target_kl, kl.num_decisions) == (0.2, 6.0, 10_000)
    matching, llama = run.startswith("imp"), run.startswith("other-model")
    for seat in (seat for seat in recipe.seats.values() if seat.learner == "naive"):
        value_coef = 0.05 if matching else 1e-2 if llama else 0.2
        rate = 1.41e-7 if matching else 1.41e-6
        assert (seat.optimizer.learning_rate, seat.ppo.value_coef, seat.ppo.clip_range) == (rate, value_coef, 0.2)


@pytest.mark.parametrize("game", LABELS)
def test_opponents_have_the_printed_labels_and_read_only_these(game):
    for labels, chance in zip(LABELS[game], (75, 50, 25), strict=True):
        recipe = recipe_of(f"{game}-{chance}")
        made = make_game(recipe.game)
        assert made.seat_labels(1) == tuple(labels)
        for seat, learner in enumerate(recipe.seats.values()):
            own = made.seat_labels(seat)
            (message,) = make_style(learner.style).messages(made.start(Key(0)).view(seat))
            named = re.findall(r"\b([A-Z])/([A-Z]):", message.content)
            assert named == list(product(own, own))


@pytest.mark.parametrize("table", [table for table in PAPER.tables if table.rows], ids=lambda table: table.id)
def test_columns_and_chance_levels_are_those_of_the_games(table):
    for row in table.rows:
        recipe = recipe_of(row.run)
        game, names = make_game(recipe.game), list(recipe.seats)
        uniform = [fmean(game.pay(seat, *pair)[0] for pair in pairs(game, seat)) for seat in (0, 1)]
        chances = row.chance or [column.chance for column in table.columns]
        for column, chance in zip(table.columns, chances, strict=True):
            place, *_, figure = path = column.at.format(**row.at).split("/")
            if figure == "payoff":
                assert chance == pytest.approx(uniform[names.index(path[-2])])
            else:
                assert tuple(figure.split("-")) in pairs(game, 0)
                assert chance == pytest.approx(0.25 * column.factor)
            assert place == "first" or int(path[1]) in recipe.final_evaluation.rounds


def pairs(game, seat):
    return list(product(game.seat_labels(seat), game.seat_labels(1 - seat)))


@pytest.mark.runs
def test_columns_are_figures_that_a_run_writes(tmp_path):
    """Two trials of two rounds, so that the path of the twentieth round is that of the second."""
    figures = {}
    for name in ("ipd-baseline", "ipd-shaper"):
        recipe = recipe_of(name, "tiny", **SMALL)
        run = RunFolder.create(tmp_path / name, recipe, recipe.seed, "a test")
        bound(recipe, run).train()
        figures[name] = final_figures(run)
    for row in PAPER.table("1").rows[:2]:
        for column in PAPER.table("1").columns:
            path = column.at.format(**row.at).replace("/20/", "/2/")
            assert 0.0 <= figure_at(figures[row.run], path) <= 4.0
    one = figures["ipd-shaper"]
    assert sum(value for path, value in one.items() if path.startswith("first/visited/")) == pytest.approx(1.0)
    assert one["mean/shaper/payoff"] == pytest.approx((one["first/shaper/payoff"] + one["metrics/shaper/payoff"]) / 2)
