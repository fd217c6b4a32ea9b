"""From a hypothesis to a verdict: arms are made, runs go on, orders are paired by seed, mistakes are one sentence."""

import json

import pytest
from measured_runs import DATA, measured, plan_of

from stratagem.base.consent.table import allow_named, commanding
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.provenance import source
from stratagem.language.engines.remote.budget import BudgetSpent
from stratagem.sweeps import runner
from stratagem.sweeps.comparison import compare_runs
from stratagem.sweeps.plan import plan_runs, read_plan
from stratagem.sweeps.runner import Sweep
from stratagem.training.runs.config_file import toml_value
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog

pytestmark = pytest.mark.runs

RECIPE = """
algorithm = "grpo"
games = ["kuhn(hands=1)"]
evaluate_every = 1
validation_episodes = 1
test_episodes = 1
[adapter]
rank = 1
[grpo]
iterations = 1
groups_per_batch = 1
group_size = 2
signal_every = 0
"""


def test_every_combination_of_what_varies_is_an_arm():
    plan = plan_of(arms=[], vary={"grpo.loss.kl_coef": [0.0, 0.1], "temperature": [0.5, 1.0]})
    assert [arm.name for arm in plan.all_arms()] == [
        "kl_coef.0.0-temperature.0.5", "kl_coef.0.0-temperature.1.0",
        "kl_coef.0.1-temperature.0.5", "kl_coef.0.1-temperature.1.0",
    ]  # fmt: skip
    assert plan.all_arms()[2].set == {"grpo.loss.kl_coef": 0.1, "temperature": 0.5}


def test_a_seed_of_every_arm_comes_before_the_next(tmp_path):
    runs = list(plan_runs(plan_of(), tmp_path))
    assert [run.name for run in runs] == ["a-0", "b-0", "a-1", "b-1", "a-2", "b-2"]
    assert runs[1].changes == {"temperature": "0.5", "seed": "0"}
    assert runs[0].recipes == (tmp_path / "r.toml",)


def test_recipes_of_an_arm_are_composed_by_path_or_name(tmp_path):
    (tmp_path / "r.toml").write_text("seed = 1\n")
    plan = plan_of(recipe=["sepo/kuhn", "r.toml"])
    assert [path.name for path in next(plan_runs(plan, tmp_path)).recipes] == ["kuhn.toml", "r.toml"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arms": []}, "`arms`, or settings to `vary`"),
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "wo arms have one name"),
        ({"arms": [{"name": "a/b"}]}, "'a/b' cannot name an arm"),
        ({"recipe": ""}, "no recipe"),
        ({"expect": ["a", "c"]}, "o arm is called 'c': arms are a, b"),
        ({"expect": ["a"]}, "names two arms at least"),
        ({"direction": "bigger"}, "direction"),
        ({"glory": 1}, "no setting glory"),
        ({"arms": [], "vary": {"seed": [1, 2]}}, "`seed` is no arm of a sweep"),
        ({"arms": [{"name": "a", "set": {"seed": 5}}]}, "run with each of `seeds`"),
        ({"arms": [], "vary": {"temperature": []}}, "`vary` gives temperature no value"),
        ({"arms": [], "vary": {"seed": [1], "temperature": [1.0, 0.5, 1.0]}}, "gives temperature the value 1.0 twice"),
        ({"arms": [], "vary": {"model": ["a b", "a/b"]}}, 'the values "a b" and "a/b", whose arms'),
        ({"seeds": [0, 1, 0]}, "names a seed twice"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_a_sentence(changes, said):
    with pytest.raises(BadParameter) as caught:
        plan_of(**changes)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_sweep_that_expects_nothing_has_no_verdict(tmp_path):
    measured(tmp_path, a=[1.0, 2.0], b=[0.0, 1.0])
    assert compare_runs(plan_of(), tmp_path).word == "nothing expected"


def test_a_figure_that_finished_runs_have_not_is_refused_when_they_are_compared(tmp_path):
    measured(tmp_path, a=[1.0])
    runs = list(plan_runs(plan_of(), tmp_path))
    runner.check_metric("m/x", runs, tmp_path)
    with pytest.raises(StratagemError, match="m/y"):
        runner.check_metric("m/y", runs, tmp_path)


def test_settings_that_no_recipe_has_are_refused_before_anything_is_compared(tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE)
    plan = plan_of(arms=[{"name": "a", "set": {"grpo.glory": 1}}])
    with pytest.raises(BadParameter, match="glory"):
        runner.check_settings(plan_runs(plan, tmp_path), tmp_path)


def test_a_file_in_the_place_of_the_folder_and_a_plan_in_its_own_folder(tmp_path):
    (tmp_path / "r.toml").write_text(RECIPE)
    (tmp_path / "file").write_text("")
    with pytest.raises(StratagemError, match="file cannot be written: File exists"):
        Sweep(tmp_path / "none.toml", plan_of(), tmp_path / "file", any_tree=True).run()
    own = tmp_path / "sweep.toml"
    data = {**DATA, "arms": [{"name": "a"}], "seeds": [0], "metric": "loss"}
    own.write_text("\n".join(f"{name} = {toml_value(value)}" for name, value in data.items()))
    before = own.read_text()
    Sweep(own, read_plan(own), tmp_path, any_tree=True).run()
    assert own.read_text() == before
    assert (tmp_path / "a-0" / "run.json").is_file()


def test_a_file_that_is_no_plan_is_refused(tmp_path):
    with pytest.raises(BadParameter, match="cannot be read"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "torn.toml").write_text("[")
    with pytest.raises(BadParameter, match="no TOML"):
        read_plan(tmp_path / "torn.toml")
    (tmp_path / "r.toml").write_text('games = ["kuhn"]')
    with pytest.raises(BadParameter, match=r"r\.toml is a recipe and no sweep: `stratagem train .*r\.toml`"):
        read_plan(tmp_path / "r.toml")
    (tmp_path / "bare.toml").write_text('metric = "loss"')
    with pytest.raises(BadParameter, match="The setting hypothesis must be given"):
        read_plan(tmp_path / "bare.toml")


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "r.toml").write_text(RECIPE)
    (tmp_path / "s.toml").write_text(
        'hypothesis = "h"\nrecipe = "r.toml"\nmetric = "kuhn/validation/payoff"\nseeds = [0]\nexpect = ["a", "b"]\n'
        'arms = [{ name = "a" }, { name = "b", set = { "grpo.loss.entropy_coef" = 0.5 } }]\n'
    )
    monkeypatch.setattr(runner, "source", lambda: {"commit": "a" * 40, "dirty": False})
    return tmp_path


def test_runs_are_made_once_and_go_on(files):
    sweep = Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out")
    told = []
    sweep.run(told.append)
    assert told == ["1 of 2: a-0", "2 of 2: b-0"]
    before = (files / "out/a-0/metrics.jsonl").read_bytes()
    sweep.run()
    assert (files / "out/a-0/metrics.jsonl").read_bytes() == before
    assert set(compare_runs(sweep.plan, files / "out").arms[0].by_seed) == {0}
    assert (files / "out/sweep.toml").read_text() == (files / "s.toml").read_text()
    assert "entropy_coef = 0.5" in (files / "out/b-0/config.toml").read_text()


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"commit": None, "dirty": None}, "git does not keep this program"),
        ({"commit": "a" * 40, "dirty": True}, "differs from its own: commit it first"),
        ({"commit": "b" * 40, "dirty": False}, "begun with commit aaaaaaaaaaaa, and the program is now bbbbbbbbbbbb"),
    ],
)
def test_all_runs_are_made_by_one_clean_commit(files, monkeypatch, now, said):
    sweep = Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out")
    sweep.bind()
    monkeypatch.setattr(runner, "source", lambda: now)
    with pytest.raises(StratagemError, match=said):
        sweep.run()
    Sweep(files / "s.toml", sweep.plan, files / "out", any_tree=True).bind()
    assert not (files / "out/a-0").exists()


def test_a_refused_sweep_leaves_no_folder(files, monkeypatch):
    monkeypatch.setattr(runner, "source", lambda: {"commit": "a" * 40, "dirty": True})
    with pytest.raises(StratagemError, match="commit it first"):
        Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out").run()
    assert not (files / "out").exists()


def test_a_plan_that_was_changed_is_not_gone_on_with(files):
    Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out").run()
    changed = (files / "s.toml").read_text().replace("0.5", "0.9")
    (files / "s.toml").write_text(changed)
    again = Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out")
    with pytest.raises(StratagemError, match="The run b-0 was begun with other settings"):
        again.run()
    assert (files / "out/sweep.toml").read_text() != changed


def test_what_was_begun_with_any_tree_is_not_taken_for_one_commit(files):
    sweep = Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out", any_tree=True)
    sweep.bind()
    with pytest.raises(StratagemError, match="begun with `any_tree=True`"):
        Sweep(files / "s.toml", sweep.plan, files / "out").run()


def test_a_figure_that_no_run_has_is_said_after_the_first(files):
    (files / "s.toml").write_text((files / "s.toml").read_text().replace("validation/payoff", "validation/play"))
    with pytest.raises(StratagemError, match="kuhn/validation/payoff"):
        Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out").run()
    assert not (files / "out/b-0").exists()


FAILING = """
from dataclasses import dataclass
from stratagem.learn.advantages.base import AdvantageEstimator

@dataclass(frozen=True, kw_only=True)
class Failing(AdvantageEstimator):
    @property
    def columns(self):
        return frozenset({"group"})

    def estimate(self, decisions, state):
        return None
"""


def test_a_run_that_fails_stops_no_other_and_is_named_with_its_reason(files):
    (files / "failing_arm.py").write_text(FAILING)
    text = (files / "s.toml").read_text()
    changed = '{ name = "a", set = { "grpo.advantage" = "failing_arm.py:Failing" } }'
    (files / "s.toml").write_text(text.replace('{ name = "a" }', changed))
    with commanding():
        allow_named(["failing_arm.py:Failing"], files)
        sweep, told = Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out"), []
        with pytest.raises(StratagemError, match=r"1 of 2 runs failed.* a-0: Failing returned NoneType"):
            sweep.run(told.append)
    assert [line.partition(":")[0] for line in told] == ["1 of 2", "a-0 failed", "2 of 2"]
    assert RunFolder.open(files / "out/b-0").status().state == "finished"


def test_a_spent_budget_ends_the_sweep(files, monkeypatch):
    def spent(some, folder, commands):
        yield some[0], BudgetSpent("The budget is spent.")

    monkeypatch.setattr(runner, "made_by_workers", spent)
    told = []
    with pytest.raises(BudgetSpent):
        Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out").run(told.append)
    assert told == ["1 of 2: a-0"]


def test_an_arm_may_change_a_whole_table(files):
    table = 'reference = { type = "ema", ema_decay = 0.9 }, "grpo.loss" = { kl_estimator = "k3", kl_coef = 0.1 }'
    text = (files / "s.toml").read_text().replace('"grpo.loss.entropy_coef" = 0.5', table)
    (files / "s.toml").write_text(text)
    sweep = Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out")
    assert sweep.runs[1].changes["reference"] == '{type = "ema", ema_decay = 0.9}'
    (files / "s.toml").write_text(text.replace('{ type = "ema", ema_decay = 0.9 }', "2020-01-01"))
    with pytest.raises(StratagemError, match="cannot be written as TOML"):
        Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out")


def test_a_torn_file_is_a_sentence(files, capsys):
    (files / "out").mkdir()
    (files / "out/sweep.json").write_text("{")
    with pytest.raises(StratagemError, match="cannot be read"):
        Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out").run()


def test_what_cannot_be_trained_is_said_before_anything_is(files):
    (files / "r.toml").write_text(RECIPE.replace("kuhn(hands=1)", "nothing"))
    with pytest.raises(StratagemError, match="nothing"):
        Sweep(files / "s.toml", read_plan(files / "s.toml"), files / "out")
    assert not (files / "out").exists()


def test_the_program_knows_its_commit():
    assert set(source()) == {"commit", "dirty"}


def test_a_folder_that_is_not_there_is_not_made_to_compare_nothing(files):
    from stratagem.api.sweeps import sweep

    with pytest.raises(BadParameter, match=r"no runs to compare in .*elsewhere: name the folder"):
        sweep(files / "s.toml", out=files / "elsewhere", compare=True)
    assert not (files / "elsewhere").exists()


def test_folder_without_a_run_of_the_sweep_is_refused(files):
    from stratagem.api.sweeps import sweep

    measured(files / "other", c=[1.0])
    with pytest.raises(BadParameter, match=r"no runs to compare in .*other: name the folder"):
        sweep(files / "s.toml", out=files / "other", compare=True)
    assert not (files / "other" / "sweep.html").exists()


def test_the_command_compares_what_is_there(files, capsys):
    from stratagem.cli.main import main

    (files / "s.toml").write_text((files / "s.toml").read_text().replace("kuhn/validation/payoff", "m/x"))
    for run, value in zip(plan_runs(read_plan(files / "s.toml"), files), (1.0, 0.0), strict=True):
        folder = RunFolder.create(files / "out" / run.name, run.recipe(), int(run.changes["seed"]), "a test")
        with folder.at_work(), MetricLog(folder) as log:
            log.write(1, {"m/x": value})
    command = ["sweep", str(files / "s.toml"), "--out", str(files / "out"), "--compare"]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert not ended.value.code
    said = capsys.readouterr().out
    assert "a before b: undecided, by +1 over 1 of the seeds." in said
    assert "h Undecided." in said
    assert json.loads((files / "out/comparison.json").read_text())["verdict"] == "undecided"
    assert "undecided" in (files / "out/sweep.html").read_text()
    with pytest.raises(SystemExit):
        main([*command, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], [arm["name"] for arm in told["arms"]]) == ("undecided", ["a", "b"])
    assert told["page"] == str(files / "out" / "sweep.html")
    with pytest.raises(SystemExit):
        main(["report", str(files / "out")])
    assert "out is the folder of a sweep, whose page is" in " ".join(capsys.readouterr().err.split())
    (files / "s.toml").write_text((files / "s.toml").read_text().replace("0.5", "0.9"))
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code
    assert "The run b-0 was begun with other settings" in " ".join(capsys.readouterr().err.split())


def test_keys_of_an_earlier_release_are_answered(tmp_path):
    plan = tmp_path / "plan.toml"
    settings = 'hypothesis = "h"\nmetric = "loss"\nrecipe = "sepo/kuhn-tiny"\nvary = {"sepo.iterations" = [1, 2]}\n'
    plan.write_text(f'{settings}better = "lower"\n', encoding="utf-8")
    with pytest.raises(StratagemError, match=r'no setting better any more: write .*direction = "minimize" \(lower\)'):
        read_plan(plan)
