"""Factorial of a shaper's settings: effects and aliases, equal rates per unit of experience, arms and families."""

import json
import re
import sys
import tomllib
from math import fsum
from pathlib import Path
from statistics import fmean

import pytest
import shaping
import shaping_table
from result_tables import known_arms
from shaping import Learner
from shaping_effects import aliases, all_cells, effect, half_fraction, sign, words
from shaping_table import DESIGNS, FACTORS, FIGURES, FROZEN, NAIVE, PAIRS, RATE, SCHEDULE, arm_of, cell_arm, name_of
from synthetic_runs import synthetic_run

from stratagem.algorithms.catalogue import read_any
from stratagem.learn.schedules import Experience

ROOT = Path(__file__).parents[2]
DECLARED = ROOT / "experiments" / "declared" / "shaping.toml"
COEFFICIENTS = {(): 1.0, (0,): 0.25, (1,): 1.5, (3,): -0.5, (0, 1): 0.125, (2, 3): -0.75, (1, 2, 3): 0.0625}
"""Of a linear table: what each word adds by its sign."""


def linear(cell):
    return fsum(value * sign(word, cell) for word, value in COEFFICIENTS.items())


def composed(planned):
    return read_any(list(planned.recipes), dict(planned.changes)).model_dump(mode="json")


@pytest.fixture
def arms(monkeypatch):
    monkeypatch.chdir(ROOT)
    return {
        planned.name.removesuffix(f"-{planned.changes['seed']}"): planned
        for study in ("tables", "tiny", "smollm2")
        for planned in shaping.planned(study, [20])
    }


def test_effects_of_a_linear_table_are_twice_its_coefficients():
    figures = {cell: linear(cell) for cell in all_cells(4)}
    for word in words(4):
        assert effect(figures, word) == pytest.approx(2 * COEFFICIENTS.get(word, 0.0), abs=1e-12)


def test_effects_of_a_fraction_are_those_of_the_table_less_their_aliases():
    """D = -ABC: the rate's effect lacks that of the other three, and each pair's that of the other pair."""
    figures = {cell: linear(cell) for cell in half_fraction(4)}
    assert effect(figures, (1,)) == pytest.approx(2 * 1.5)  # the alias of B is ACD, which this table has not
    assert effect(figures, (0,)) == pytest.approx(2 * (0.25 - 0.0625))
    assert effect(figures, (0, 1)) == pytest.approx(2 * (0.125 + 0.75))
    assert effect(figures, (0, 2)) == pytest.approx(0.0, abs=1e-12)


def test_effect_needs_every_cell():
    figures = {cell: linear(cell) for cell in all_cells(4)[1:]}
    with pytest.raises(ValueError, match="a cell is missing"):
        effect(figures, (0,))


def test_full_factorial_has_no_aliases():
    assert not any(aliases(all_cells(4)).values())


def test_half_fraction_aliases_each_word_with_minus_the_other_factors():
    found = aliases(half_fraction(4))
    for word in words(4, (1, 2, 3)):
        rest = tuple(factor for factor in range(4) if factor not in word)
        assert found[word] == ((-1, rest),)
    assert found[0, 1, 2, 3] == ()
    assert {sign((0, 1, 2, 3), cell) for cell in half_fraction(4)} == {-1}, "it is aliased with the mean"


def test_half_fraction_has_one_setting_of_the_shaper_or_all_but_one():
    assert sorted(cell.count(1) for cell in half_fraction(4)) == [1] * 4 + [3] * 4
    assert {RATE, SCHEDULE} <= set(map(Learner.of, half_fraction(4)))


def test_declared_aliases_are_those_of_the_fraction():
    declared = tomllib.loads(DECLARED.read_text("utf-8"))["fraction"]
    stated = re.findall(r"`([\w ]+)` = -`([\w ]+)`", re.sub(r"\s+", " ", declared))
    found = {name_of(word): name_of(other) for word, ((_, other),) in list(aliases(half_fraction(4)).items())[:-1]}
    assert len(stated) == 7
    assert {left: found[left] for left, _ in stated} == dict(stated)


def table_step(recipe, trials):
    """Return the total step of the learner's logits along equal gradients over trials of five episodes."""
    seat = recipe.seats["one"]
    updates = recipe.episodes if seat.update_every == 1 else 1
    return fsum(
        seat.learning_rate * seat.learning_rate_scale.after(Experience(trial * updates + number, None, trial))
        for trial in range(trials)
        for number in range(updates)
    )


@pytest.mark.parametrize("trials", [1, 20, 150])
def test_tables_take_equal_steps_over_the_same_episodes_under_both_schedules(trials, arms):
    """A mean over the decisions of an update has a fifth of the weight for each where the update has five episodes."""
    for rest in ((rate, ramp, "turn") for rate in ("fast", "slow") for ramp in ("flat", "ramp")):
        recipes = [arms[arm_of("tables-icg", (own, *rest))].recipe() for own in ("episode", "trial")]
        step, other = (table_step(recipe, trials) for recipe in recipes)
        assert step == pytest.approx(other)
    fast, slow = (
        table_step(arms[arm_of("tables-icg", ("trial", rate, "ramp", "turn"))].recipe(), trials)
        for rate in ("fast", "slow")
    )
    assert fast == pytest.approx(5 * slow)


@pytest.mark.parametrize(("model", "transitions"), [("tiny", 100), ("smollm2", 20)])
def test_models_take_equal_optimizer_steps_over_the_same_episodes_under_both_schedules(model, transitions, arms):
    """Transitions of an episode in all environments; the learning rate and the ramp are the same by trial."""
    steps = []
    for cell in (NAIVE, SCHEDULE) if model == "tiny" else (RATE, SCHEDULE):
        recipe = arms[arm_of(f"{model}-icg", cell)].recipe()
        rounds = 20 if model == "tiny" else 10
        assert recipe.environments * rounds == transitions
        seat, batches = recipe.seats["one"], recipe.seats["one"].ppo.batches
        trial = recipe.episodes
        updates = trial if seat.update_every == 1 else 1
        steps.append(updates * batches.steps(transitions * trial // updates))
    assert steps[0] == steps[1]


def test_learner_with_all_four_settings_is_the_shaper(arms):
    """But for the name of its kind, and the unit of its ramp, which is one update a trial for the shaper."""
    cell = arms["tiny-icg-trial-slow-ramp-batch"]
    own = composed(cell)["seats"]["one"]
    shaper = composed(type(cell)("", (*cell.recipes[:1], Path("recipes/shapellm/pairs/shaper.toml"), cell.recipes[2])))
    other = shaper["seats"]["shaper"]
    turn = shaping.model_seat("tiny", Learner("trial", "slow", "ramp", "turn"))
    own["ppo"]["advantage_mean_over"] = turn["seats.one.ppo.advantage_mean_over"]
    own["ppo"]["advantage_std_floor"] = float(turn["seats.one.ppo.advantage_std_floor"])
    assert (own.pop("learner"), other.pop("learner")) == ("naive", "shaper")
    assert (own["learning_rate_scale"].pop("unit"), other["learning_rate_scale"].pop("unit")) == ("trial", "update")
    assert own == other


def test_naive_learner_differs_from_its_opponent_in_what_it_is_told(arms):
    for name, told in (("tables-icg", set()), ("tiny-icg", {"memory", "style"})):
        seats = composed(arms[arm_of(name, NAIVE)])["seats"]
        assert {key for key, value in seats["one"].items() if value != seats["two"][key]} == told


def test_frozen_learner_is_the_naive_one_with_a_rate_of_zero(arms):
    for design in ("tables-icg", "tables-ish", "tiny-icg"):
        frozen, naive = (arms[arm_of(design, cell)].recipe().seats["one"] for cell in (FROZEN, NAIVE))
        assert {frozen.learning_rate_scale.at(step) for step in (0, 1, 1000)} == {0.0}
        assert frozen.model_copy(update={"learning_rate_scale": naive.learning_rate_scale}) == naive


def test_aligned_tables_differ_from_their_control_in_the_weight(arms):
    for rate, step in (("fast", 0.05), ("slow", 0.01)):
        own, control = (composed(arms[f"tables-icg-{kind}-{rate}"]) for kind in ("aligned", "exact"))
        assert own["seats"]["one"]["learning_rate"] == step
        weights = [one["seats"]["one"].pop("alignment_weight") for one in (own, control)]
        assert weights == [1.0, 0.0]
        assert own == control


def test_learners_in_the_second_seat_are_those_of_the_first(arms):
    for cell in (RATE, SCHEDULE):
        name = arm_of("tables-ish", cell)
        first, second = (composed(arms[arm])["seats"] for arm in (name, f"{name}-second"))
        assert (first["one"], first["two"]) == (second["two"], second["one"])


def test_families_have_the_declared_numbers_of_tests():
    declared = tomllib.loads(DECLARED.read_text("utf-8"))["families_of_tests"]
    sizes = {family: int(size) for family, size in re.findall(r"\*(\w+)\*\s\((\d+)\)", declared)}
    assert sizes == {family: len(tests) for family, tests in PAIRS.items()}


def test_every_test_has_its_arms(arms):
    known = {cell_arm(design, cell) for design, cells in DESIGNS.items() for cell in cells}
    assert known <= set(arms)
    effects = {f"{design}: {name_of(word)}" for design in DESIGNS for word in words(len(FACTORS))}
    for tests in PAIRS.values():
        for own, control, figure in tests.values():
            assert {own, control} - {""} <= set(arms) | effects
            assert figure in FIGURES


def run(folder, name, own, other):
    rows = [{"figures": {"one/payoff": own, "two/payoff": other}}]
    metrics = [{"one/payoff": 1.0, "two/payoff": 2.0}, {"one/payoff": own, "two/payoff": other}]
    return synthetic_run(folder, name, metrics, {"outcome.json": {"rows": rows}}, config='algorithm = "shapellm"\n')


def test_effects_are_tested_over_the_seeds_that_have_all_cells():
    """Leads of a linear table in two seeds; a third seed without one of the cells has no effect."""
    cells = half_fraction(4)
    rows = {
        cell_arm("tiny-icg", cell): [
            {"seed": seed, "lead": linear(cell) + seed} for seed in (20, 21, 22)[: 3 - (not n)]
        ]
        for n, cell in enumerate(cells)
    }
    tests = list(shaping_table.tested(rows))
    found = {(family, test.name): (sorted(test.by_seed), test.estimate.mean) for family, test in tests}
    assert found["tiny", "tiny-icg: rate"] == ([20, 21], pytest.approx(3.0))
    assert found["tiny", "tiny-icg: schedule x rate"] == ([20, 21], pytest.approx(1.75))
    assert found["hypothesis", "tiny-icg: rate less schedule"] == ([20, 21], pytest.approx(2.625))
    assert len(tests) == 8
    assert {test.p for _, test in tests} == {None}, "8 seeds of tiny were declared"
    assert shaping_table.drawn(tests).count("<circle") == 7


@pytest.mark.parametrize(("design", "declared"), [("tables-icg", 12), ("tiny-icg", 8)])
def test_effect_has_a_p_from_the_declared_number_of_seeds_on(design, declared):
    for num_seeds in (declared - 1, declared):
        cells = shaping_table.DESIGNS[design]
        rows = {cell_arm(design, c): [{"seed": s, "lead": linear(c) + s} for s in range(num_seeds)] for c in cells}
        known = {test.p is not None for _, test in shaping_table.tested(rows)}
        assert known == {num_seeds == declared}


def test_every_alias_of_a_main_effect_is_tested_in_tables():
    """A main effect of the fraction says nothing alone where the interaction of the other three is large."""
    rows = {
        cell_arm("tables-icg", cell): [{"seed": s, "lead": linear(cell) + s} for s in (20, 21)] for cell in all_cells(4)
    }
    found = {test.name: test.estimate.mean for family, test in shaping_table.tested(rows) if family == "three"}
    asked = {name_of(other) for word in words(4, (1,)) for _, other in aliases(half_fraction(4))[word]}
    assert set(found) == {f"tables-icg: {name}" for name in asked}
    assert found["tables-icg: rate x ramp x mean"] == pytest.approx(2 * COEFFICIENTS[1, 2, 3])


def test_table_writes_the_tests_of_runs(tmp_path, capsys):
    for seed in (20, 21):
        run(tmp_path, f"{arm_of('tiny-ish', RATE)}-{seed}", 4.0, 4.0)
        run(tmp_path, f"{arm_of('tiny-ish', SCHEDULE)}-{seed}", 1.0, 1.0)
    shaping_table.table(tmp_path, tmp_path / "out.json")
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "rate less schedule" in line)
    assert "| hypothesis | tiny-ish: rate less schedule | 2 | +3.000" in line
    assert (tmp_path / "out.svg").read_text("utf-8").startswith("<svg")


def test_figures_of_a_learner_in_the_second_seat(tmp_path):
    run(tmp_path, "tables-icg-episode-slow-flat-batch-second-20", 3.0, 1.0)
    rows = dict(shaping_table.collected(tmp_path, {}))
    row = rows["tables-icg-episode-slow-flat-batch-second"]
    assert [row[figure] for figure in FIGURES] == [-2.0, 1.0, -0.5, 1.5]


@pytest.mark.parametrize(("study", "count"), [("tables", 12 * 2 * 24), ("tiny", 10 * 12), ("smollm2", 2 * 2)])
def test_commands_list_the_runs(study, count, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["shaping.py", "runs/shaping", study, "--list"])
    shaping.main()
    assert len(set(capsys.readouterr().out.splitlines())) == count


def test_seeds_are_of_no_earlier_result():
    """Of tables in any game, and of models in these games."""
    stored = json.loads((ROOT / "docs" / "results" / "shapellm.json").read_text("utf-8"))
    earlier = {
        row["seed"]
        for name, rows in stored.items()
        if name.startswith(("tabular/", "tiny/icg-", "tiny/ish-"))
        for row in rows
    }
    assert {0, 9, 11} <= earlier
    assert not earlier & {*shaping.SEEDS, *shaping.TINY_SEEDS}


def test_page_and_picture_have_the_figures_of_the_stored_runs():
    results = ROOT / "docs" / "results"
    page = " ".join((results / "shaping.md").read_text("utf-8").split())
    rows = known_arms(results / "shaping.json")
    tests = list(shaping_table.tested(rows))
    assert shaping_table.drawn(tests) == (results / "shaping.svg").read_text("utf-8")
    for family, test in tests:
        if family in ("hypothesis", "main"):
            found = test.estimate
            mean, low, high = (f"{value:.2f}".replace("0.", ".") for value in (found.mean, found.low, found.high))
            assert f"{mean} [{low}, {high}]" in page
            assert f"{test.holm_p:.3f}".removeprefix("0") in page or test.holm_p > 0.05
    for cell in all_cells(4):
        mean = fmean(row["lead"] for row in rows[cell_arm("tables-icg", cell)])
        assert f"| {mean:.2f} |".replace("0.", ".") in page
    assert {len(own) for own in rows.values()} == {12}
