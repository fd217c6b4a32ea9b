"""Arms around the scale `tiny` of ShapeLLM: what differs in each of them, and the table of the page."""

from pathlib import Path

import pytest
from result_tables import markdown, read_results
from shapellm import preset_tiny
from shapellm_preset import ARMS, HEADS, lead, rows

from stratagem.sweeps.reproduction.published import file_of, read_paper
from stratagem.sweeps.reproduction.table_plan import TablePlan

RESULTS = Path(__file__).resolve().parents[2] / "docs/results"
PLANNED = {planned.name: planned for planned in preset_tiny([2])}
RAMP = "seats.shaper.learning_rate_scale"
STARTS = {"target_policies"}
LENGTH = {"trials", "checkpoint_every", "record_every", f"{RAMP}.steps"}
FROZEN = {f"{RAMP}.{key}" for key in ("start", "end", "steps", "curve.type")}


def settings(recipe):
    """Flatten a recipe to the paths of its settings."""

    def walk(value, path):
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                yield from walk(inner, (*path, key))
        else:
            yield ".".join(path), value

    return dict(walk(recipe.model_dump(mode="json"), ()))


def differing(first, second):
    first, second = (settings(PLANNED[f"tiny-{name}-2"].recipe()) for name in (first, second))
    return {key for key in first.keys() | second.keys() if first.get(key) != second.get(key)}


@pytest.mark.parametrize(
    ("name", "run"),
    [("ipd-preset", "ipd-shaper"), ("ipd-preset-baseline", "ipd-baseline"), ("imp-preset", "imp-shaper")],
)
def test_first_arm_of_a_game_is_the_run_of_the_scale(name, run):
    file = file_of("shapellm")
    paper = read_paper(file)
    planned = TablePlan(file, paper, paper.table("1"), "tiny", Path("runs"), (2,)).list_runs()
    (own,) = (made.recipe() for made in planned if made.name == f"{run}-2")
    assert PLANNED[f"tiny-{name}-2"].recipe() == own


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("ipd-preset-frozen", FROZEN),
        ("ipd-preset-long", LENGTH),
        ("ipd-preset-reciprocal", STARTS),
        ("ipd-preset-reciprocal-frozen", STARTS | FROZEN),
        ("ipd-preset-reciprocal-long", STARTS | LENGTH),
    ],
)
def test_arm_differs_from_the_scale_in_what_it_names_alone(name, keys):
    assert differing("ipd-preset", name) == keys


def test_settings_of_the_other_games_differ_in_the_optimization_of_both_seats_alone():
    parts = ("optimizer.", "ppo.", "learning_rate_scale.")
    assert {key.partition(".")[0] for key in differing("imp-preset", "imp-preset-rates")} == {"seats"}
    assert all(key.split(".", 2)[2].startswith(parts) for key in differing("imp-preset", "imp-preset-rates"))


def run(seed, first, second):
    return {"seed": seed, "seats": ["one", "two"], "rows": [{"figures": {"one/payoff": first, "two/payoff": second}}]}


def test_lead_is_compared_with_the_same_seeds_of_the_scale():
    scale = [run(seed, 1.0, 2.0 + seed) for seed in range(3)]
    data = {"tiny/ipd-preset": scale, "tiny/ipd-preset-long": [run(seed, 3.0, 1.0) for seed in (2, 1)]}
    assert lead(data, "ipd-preset-long") == "+4.50 [-1.85, 10.85]"
    assert [row[:3] for row in rows(data)] == [["ipd", "nothing", "3"], ["ipd", "45 trials", "2"]]
    assert [row[4] for row in rows(data)] == ["", "+4.50 [-1.85, 10.85]"]


def test_the_page_has_the_rows_of_the_stored_runs():
    published = read_results(RESULTS / "shapellm.json")
    assert markdown(HEADS, rows(published)) in (RESULTS / "shapellm.md").read_text("utf-8")
    assert {f"tiny/{name}" for name in ARMS} <= published.keys()
