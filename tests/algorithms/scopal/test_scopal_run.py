"""Runs of SCO-PAL: what they leave behind, that they are bit-identical when resumed, and what they refuse."""

import json
import re
from shutil import copytree, rmtree
from types import SimpleNamespace

import numpy as np
import pytest

from stratagem.algorithms.catalogue import bound
from stratagem.algorithms.scopal.interaction import Remembering
from stratagem.algorithms.scopal.methods import METHODS
from stratagem.algorithms.scopal.policy import STAGES
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.scopal.steps import read_steps
from stratagem.base.errors import BadParameter, BadRecord, StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.open import engine_for
from stratagem.language.models.run_models import read_run_models
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Traits
from stratagem.playing.store import read_episodes, shards
from stratagem.show.reports.report import report_html
from stratagem.training.evaluation import EVALUATION, POLICIES
from stratagem.training.recipe_file import over
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

FAST = {"epochs": 1, "batch_size": 16, "optimizer": {"learning_rate": 1e-3}}
SMALL = {
    "algorithm": "scopal",
    "games": ["kuhn(hands=1)", "spiel:nim(pile_sizes=1;2)"],
    "style": "brief",
    "interaction": {"episodes": 24, "episodes_per_step": 12},
    "samples": {"max_samples": 24},
    "final_evaluation": {"episodes": 2, "opponents": ["random"]},
    "checkpoint_every": 1,
    **dict.fromkeys(METHODS, FAST),
}


class Broken(Exception):
    """Somebody pulled the plug."""


def recipe(**changes):
    return ScopalRecipe.read(over(SMALL, changes))


def trained(path, made, *told):
    run = RunFolder.create(path, made, made.seed, "a test")
    bound(made, run).train(*told)
    return run


def figures(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}


def weights(run):
    folder = latest(run).folder
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.safetensors"))}


def ends_the_same(path, made, whole, at):
    """Broken off at a step and gone on with, a run ends as the whole one."""
    run = RunFolder.create(path, made, made.seed, "a test")

    def plug(step, steps, seen):
        if step == at:
            raise Broken

    with pytest.raises(Broken):
        bound(made, run).train(plug)
    bound(made, RunFolder.open(path)).train()
    assert figures(run) == figures(whole)
    assert weights(run) == weights(whole)
    assert evaluation(run) == evaluation(whole)


def evaluation(run):
    """The bytes of the final evaluation, but for the milliseconds that replies took."""
    return re.sub(rb'"ms": [^,\n]*', b"", (run.path / EVALUATION).read_bytes())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("whole") / "run", recipe())


def test_scopal_run_plays_estimates_refines_and_evaluates(whole):
    episodes = list(read_episodes(whole.record))
    assert len(episodes) == 2 * 24
    assert {episode.slots for episode in episodes} == {(0, 1), (1, 0)}
    steps = read_steps(whole.path / "steps" / "0.parquet").rows
    assert sum(steps["count"].to_pylist()) == sum(len(episode.decisions) for episode in episodes)
    assert set(read_run_models(whole.path).models) >= {"base", "start", "last", "last/bc", "last/kto"}
    table = json.loads((whole.path / EVALUATION).read_text())
    assert list(table["rows"].values()) == ["Base", "BC", "BC + KTO"]
    assert {row["player"] for game in table["evaluation"]["games"] for row in game["players"]} >= set(table["rows"])
    page = report_html(whole)
    assert "<th>BC + KTO</th>" in re.sub(r"<th[^>]*>", "<th>", page)
    assert f"step {max(figures(whole)['kto/loss'][0])}" not in page
    assert json.loads((whole.path / "steps" / "0.json").read_text())["all"]["valid"] == 1.0


def test_scopal_stage_starts_from_the_policy_of_the_stage_before(whole):
    curves = figures(whole)
    bc, kto = (curves[f"{name}/loss"] for name in ("bc", "kto"))
    assert max(bc[0]) < min(kto[0])
    assert curves["kto/loss/kl"][1][0] == 0.0  # nothing has moved away from the reference, which is what cloning left
    assert kto[1][0] == pytest.approx(0.5, abs=0.4)


@pytest.mark.parametrize("at", [2, pytest.param(5, marks=pytest.mark.long), 6, pytest.param(7, marks=pytest.mark.long)])
def test_resumed_scopal_run_equals_an_uninterrupted_one(tmp_path, whole, at):
    """Every day in its first stage and in a later one; the steps beside them are `long`."""
    ends_the_same(tmp_path / "run", recipe(), whole, at)


@pytest.mark.long
def test_scopal_trains_all_weights_against_the_start_of_each_stage_and_resumes(tmp_path):
    teachers = {"interaction": {"teachers": {"mcts:5": 1}}, "games": ["kuhn(hands=1)"]}
    made = recipe(train="all", reference={"dtype": "fp32"}, kto={"max_steps": 3, "batch_size": 8}, **teachers)
    whole = trained(tmp_path / "whole", made)
    cloned, _ = sorted((whole.path / STAGES).iterdir())
    assert {path.name for path in cloned.iterdir()} == {"model", "manifest.json"}
    assert json.loads((whole.path / EVALUATION).read_text())["rows"]
    steps, rewards = figures(whole)["kto/loss/reward_desirable"]
    assert rewards[0] == 0.0 != rewards[1]  # the reference is what cloning left, and does not follow the policy
    before = [path.read_bytes() for path in sorted((cloned / "model").iterdir())]
    ends_the_same(tmp_path / "run", made, whole, steps[1])
    (again, _) = sorted((tmp_path / "run" / STAGES).iterdir())
    assert [path.read_bytes() for path in sorted((again / "model").iterdir())] == before
    on_it = trained(tmp_path / "on it", recipe(model=f"run:{whole.path}@last", games=["kuhn(hands=1)"], refine=["bc"]))
    assert set(read_run_models(on_it.path).models) >= {"start", "last/bc"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"train": "all", "iterations": 2}, "Earlier policies play as adapters"),
        ({"reference": {"type": "base"}}, "policy at its start"),
        ({"reference": {"dtype": "bf16"}}, "another adapter on the same base"),
        ({"train": "all", "reference": {"device": "gpu:1"}}, "no device 'gpu:1'"),
    ],
)
def test_scopal_references_that_cannot_be_are_refused(changes, said):
    with pytest.raises(BadParameter, match=said):
        recipe(**changes)


def test_scopal_models_are_saved_as_the_runs_models(tmp_path, whole):
    """A base with the adapter merged into it, and a stage in which all weights learn."""
    one = {"refine": ["bc"], "games": ["kuhn(hands=1)"], "final_evaluation": {"stages": "last"}}
    on_it = trained(tmp_path / "on it", recipe(model=f"run:{whole.path}@last+dtype=bf16", **one))
    assert read_run_models(on_it.path).models["last"].model == "dir:base/model+dtype=bf16"
    every = trained(tmp_path / "all", recipe(model="tiny+dtype=bf16", train="all", **one))
    assert read_run_models(every.path).models["last"].model.endswith("/model+dtype=bf16")


def test_later_iterations_play_against_the_earlier_policy(tmp_path):
    made = recipe(iterations=3, refine=["bc"], games=["kuhn(hands=1)"], final_evaluation={"stages": "last"})
    run = trained(tmp_path / "run", made)
    judged = json.loads((run.path / EVALUATION).read_text())
    assert len(judged["rows"]) == len(judged["evaluation"]["games"][0]["players"]) == 1
    page = report_html(run)
    (row,) = judged["rows"].values()
    assert re.search(rf"kuhn\(hands=1\): {re.escape(row)} has exploitability \d", page)
    players = {}
    for episode in read_episodes(run.record):
        players.setdefault(episode.id.partition("/")[0], set()).add(tuple(sorted(episode.players)))
    assert players["0"] == {("policy@1", "policy@1")}
    assert players["1"] == players["2"] == {("earlier@1", "policy@1")}
    assert len(list((run.path / STAGES).iterdir())) == 3
    first = {e.id: e for e in read_episodes(run.record)}["1/kuhn(hands=1)/0"]
    adapters = {first.slots[row.seat]: {call.policy.adapter for call in row.calls} for row in first.decisions}
    assert adapters == {0: {"policy"}, 1: {""}}


DAILY = ("dpo", "grpo", "spag")
"""Methods that train every day; `bc` and `kto` train in `whole`, too, and the rest is `long`."""


@pytest.mark.parametrize(
    "method", [name if name in DAILY else pytest.param(name, marks=pytest.mark.long) for name in sorted(METHODS)]
)
def test_every_refinement_method_trains(tmp_path, method):
    made = recipe(refine=[method], games=["kuhn(hands=1)"], interaction={"episodes": 40, "episodes_per_step": 40})
    run = trained(tmp_path / "run", made)
    losses = figures(run)[f"{method}/loss"][1]
    assert losses
    assert np.isfinite(losses).all()
    norms = figures(run)[f"{method}/grad_norm"][1]
    assert max(norms) > 0.0


def test_interaction_draws_opponents_and_teachers(tmp_path):
    made = recipe(
        refine=[], interaction={"opponents": {"random": 1, "mcts:2": 3}, "episodes": 40, "episodes_per_step": 40}
    )
    seen = [sorted(episode.players) for episode in read_episodes(trained(tmp_path / "mixed", made).record)]
    shares = sum(players[0].startswith("mcts") for players in seen) / len(seen)
    assert 0.5 < shares < 0.95
    shares = {"mcts:5": 1, "random": 2}
    made = recipe(
        refine=["imitate"], interaction={"teachers": shares, "episodes": 12}, games=["spiel:nim(pile_sizes=1;2)"]
    )
    run = trained(tmp_path / "taught", made)
    sides = [set(episode.players) for episode in read_episodes(run.record)]
    assert len(sides) == 12
    assert {"mcts:5@1"} in sides
    assert {"random@1"} in sides
    assert {"mcts:5@1", "random@1"} not in sides  # one plays all seats of a game
    assert set(read_steps(run.path / "steps" / "0.parquet").rows["prompt"].to_pylist()) == {None}


def test_expert_iteration_imitates_the_search_of_each_policy(tmp_path):
    """All weights are trained, the search plays all seats, and its second games are those of the trained policy."""
    teachers = {"teachers": {"search(self, num_candidates=1, num_edits=1, num_chance_draws=1)": 1}, "episodes": 4}
    made = recipe(train="all", iterations=2, refine=["imitate"], games=["kuhn(hands=1)"], interaction=teachers)
    run = trained(tmp_path / "run", made)
    episodes = list(read_episodes(run.record))
    assert {name.partition("(")[0] for episode in episodes for name in episode.players} == {"search"}
    assert not any(sum(episode.num_illegal) for episode in episodes)
    assert len({episode.id.partition("/")[0] for episode in episodes}) == 2


def test_policy_inside_a_search_is_asked_once_about_a_prompt():
    state = make_game("kuhn(hands=1)").start(Key(0))
    asked = []
    learner = SimpleNamespace(
        name="policy",
        traits=Traits(price=40),
        speaker=SimpleNamespace(style=make_style("brief")),
        policy=lambda view: asked.append(view) or {"BET": 1.0},
    )
    policy = Remembering(learner)
    assert [policy.policy(state.view(0)) for _ in range(3)] == [{"BET": 1.0}] * 3
    assert len(asked) == 1
    state.play({0: "BET"})
    policy.policy(state.view(1))
    assert len(asked) == 2


def test_scopal_takes_records_and_tables_of_others(tmp_path, whole):
    plain, evaluated = figures(whole), {"stages": "last", "episodes": 1}
    records = {"interaction": {"records": [str(whole.record)]}, "final_evaluation": evaluated}
    table = {"reward": {"table": str(whole.path / "steps" / "0.parquet")}, "final_evaluation": evaluated}
    records, table = (trained(tmp_path / name, recipe(**told)) for name, told in (("a", records), ("b", table)))
    for run in (records, table):
        assert not shards(run.record)
        for name in ("bc/loss", "kto/loss"):
            assert figures(run)[name][1] == pytest.approx(plain[name][1], rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"refine": ["ppo"]}, "methods are bc, imitate, winning"),
        ({"mode": "sing"}, "modes are"),
        ({"reward": {"step_reward": "winrate"}}, "did you mean step_win_rate"),
        ({"interaction": {"opponents": {"random": 0}}}, "more than 0"),
        ({"iterations": 2, "interaction": {"records": ["x"]}}, "play anew"),
        ({"iterations": 2, "refine": []}, "would be the same"),
        ({"iterations": 2, "interaction": {"teachers": {"search(self)": 1, "random": 1}}}, r"name `search\(self\)`"),
        ({"iterations": 2, "interaction": {"opponents": {"random": 1}}}, "leave `opponents` out"),
        ({"model": "api:x@http://localhost/v1"}, "no weights here"),
    ],
)
def test_impossible_scopal_recipe_is_rejected_in_one_sentence(changes, said):
    with pytest.raises(StratagemError, match=said) as caught:
        recipe(**changes)
    assert "\n" not in str(caught.value)


def test_stage_table_changes_only_the_named_settings():
    plain = ScopalRecipe.read({"algorithm": "scopal"})
    tables = {"bc": {"optimizer": {"learning_rate": 1e-3}}, "grpo": {"epochs": 1}, "spag": {"batch_size": 4}}
    made = ScopalRecipe.read({"algorithm": "scopal", **tables})
    assert made.bc.optimizer == plain.bc.optimizer.model_copy(update={"learning_rate": 1e-3})
    assert (made.bc.batch_size, plain.bc.batch_size, plain.bc.optimizer.warmup_ratio) == (2, 2, 0.1)
    assert (made.grpo.kl_coef, made.grpo.epochs, made.spag.kl_coef, made.spag.batch_size) == (0.04, 1, 0.2, 4)
    with pytest.raises(BadParameter, match=r"There is no setting grpo.epoch"):
        ScopalRecipe.read({"algorithm": "scopal", "grpo": {"epoch": 1}})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"style": "plan"}, "did you mean plain"),
        ({"interaction": {"opponents": {"randm": 1}}}, "did you mean random"),
        ({"interaction": {"teachers": {"mcst:5": 1}}}, "mcst"),
        ({"final_evaluation": {"opponents": ["mcst:5"]}}, "mcst"),
        ({"reward": {"step_reward": "gae"}}, "gae|value"),
        ({"reward": {"table": "nowhere.parquet"}}, "There is no file nowhere.parquet"),
        ({"interaction": {"records": ["nowhere"]}}, "no recorded episodes"),
    ],
)
def test_unusable_inputs_of_later_stages_are_rejected_before_the_run(tmp_path, changes, said):
    made = recipe(**changes)
    with pytest.raises(StratagemError, match=said) as caught:
        bound(made, RunFolder(tmp_path / "run"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_steps_table_is_checked_against_its_record(tmp_path):
    """Games of another seed in the record's place are not those that the table speaks of."""
    games, taught = ["kuhn(hands=1)"], {"teachers": {"random": 1}, "episodes": 12}
    one, other = (trained(tmp_path / n, recipe(refine=[], games=games, interaction=taught, seed=int(n))) for n in "12")
    table = one.path / "steps" / "0.parquet"
    rmtree(one.record)
    copytree(other.record, one.record)
    with pytest.raises(BadRecord, match="is not the record that the table was made of"):
        trained(tmp_path / "on it", recipe(refine=["imitate"], games=games, reward={"table": str(table)}))


@pytest.mark.parametrize(("threshold", "said"), [(1.0, "Nothing is advantageous"), (0.0, "No sample is undesirable")])
def test_threshold_that_leaves_one_label_is_rejected(tmp_path, whole, threshold, said):
    method = "bc" if threshold else "kto"
    made = recipe(
        refine=[method],
        games=["spiel:nim(pile_sizes=1;2)"],
        interaction={"records": [str(whole.record)]},
        reward={"step_reward": f"beta(threshold={threshold})"},
    )
    with pytest.raises(StratagemError, match=said):
        trained(tmp_path / "run", made)


def test_scopal_report_has_the_stages_and_their_samples(whole):
    page = report_html(whole)
    said = ("BC + KTO", "Training data", "all games", "the win rate", "Chance (random play)")
    for each in (*said, "Policy and equilibria", "First actions"):
        assert each in page, each


def test_policy_is_saved_at_the_start_and_after_every_stage(whole):
    kept = [json.loads(path.read_text()) for path in sorted((whole.path / POLICIES).glob("kuhn-*.json"))]
    ends = [int(path.name.partition("-")[0]) for path in sorted((whole.path / STAGES).glob("*"))]
    assert [one["step"] for one in kept] == [0, *ends]
    assert all(len(one["policy"]) == 12 and one["game"] == "kuhn(hands=1)" for one in kept)
    assert len({json.dumps(one["policy"]) for one in kept}) == 3


def test_trained_scopal_models_can_play(whole):
    assert engine_for(f"run:{whole.path}@last/kto").adapter


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"judge": {}}, "judge", "final_evaluation"),
        ({"reward": {"credit": "beta"}}, "reward.credit", "reward.step_reward"),
        ({"kto": {"beta": 0.1}}, "kto.beta", "kto.kto_beta"),
        ({"spag": {"beta": 0.1}}, "spag.beta", "spag.kl_coef"),
        ({"bc": {"batch": 4}}, "bc.batch", "bc.batch_size"),
    ],
)
def test_replaced_key_is_told_its_new_name(changes, old, new):
    with pytest.raises(BadParameter) as refused:
        ScopalRecipe.read(changes)
    assert str(refused.value) == f"There is no setting {old} any more: write {new}."


def test_cloning_settings_have_no_kto_beta():
    with pytest.raises(BadParameter, match=r"no setting bc\.beta any more: leave it out\."):
        ScopalRecipe.read({"bc": {"beta": 0.1}})
