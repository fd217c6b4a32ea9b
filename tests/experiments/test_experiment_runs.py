"""The command line of the experiments: it chooses runs, lists their commands, and says which failed."""

import argparse
import sys
from pathlib import Path

import experiment
import pytest
import scopal
import sepo
import shapellm

from stratagem.base.errors import StratagemError
from stratagem.language.models.run_models import RunModel, RunModels, write_run_models
from stratagem.sweeps.planned_run import PlannedRun

RUNS = [PlannedRun(f"{game}-{seed}", (Path("r.toml"),), {"seed": str(seed)}) for seed in (0, 1) for game in ("a", "b")]


def arguments(*words, studies=()):
    return experiment.command_line("doc", studies).parse_args(["runs/x", *words])


@pytest.fixture
def made(monkeypatch):
    """Names of the runs that were made in place of training; a-1 fails."""
    names = []

    def make(runs, folder, num_workers):
        assert num_workers == 0
        names.extend(run.name for run in runs)
        return {name: StratagemError("no") for name in names if name == "a-1"}

    monkeypatch.setattr(experiment, "make", make)
    return names


def test_run_makes_the_runs_whose_names_contain_one_of_the_texts(made):
    experiment.run(RUNS, arguments("--only", "b-", "a-0"))
    assert made == ["a-0", "b-0", "b-1"]


def test_run_ends_with_the_names_of_failed_runs(made):
    with pytest.raises(SystemExit, match="1 failed: a-1"):
        experiment.run(RUNS, arguments())
    assert len(made) == 4


def test_run_lists_commands_and_makes_nothing(made, capsys):
    experiment.run(RUNS, arguments("--list", "--only", "a"))
    assert capsys.readouterr().out.splitlines() == [
        f"stratagem train r.toml --out runs/x/a-{seed} --set seed={seed}" for seed in (0, 1)
    ]
    assert made == []


def test_run_ends_with_a_sentence_where_the_plan_cannot_go_on():
    def runs():
        yield RUNS[0]
        raise StratagemError("There is no model yet.")

    with pytest.raises(SystemExit, match="There is no model yet"):
        experiment.run(runs(), arguments("--list"))


def test_run_refuses_a_tree_with_changes(monkeypatch, tmp_path):
    from stratagem.sweeps import run_maker

    monkeypatch.setattr(run_maker, "source", lambda: {"commit": "a" * 40, "dirty": True})
    with pytest.raises(SystemExit, match="commit it first"):
        experiment.run(RUNS, experiment.command_line("doc").parse_args([str(tmp_path)]))
    assert list(tmp_path.iterdir()) == []


def test_seeds_are_a_number_or_a_range():
    assert experiment.seed_range("5") == range(5)
    assert experiment.seed_range("5-20") == range(5, 21)
    with pytest.raises(argparse.ArgumentTypeError, match="as 5, nor a range, as 5-20"):
        experiment.seed_range("5,6")
    assert arguments().seeds == range(5)


def test_studies_are_a_second_argument():
    assert arguments("pool", studies=sepo.STUDIES).study == "pool"
    with pytest.raises(SystemExit):
        arguments("none", studies=sepo.STUDIES)


def test_compositions_of_a_model_have_every_seed_in_turn():
    names = [run.name for run in shapellm.STUDIES["smollm2"](range(2))]
    assert names == [f"smollm2-ipd-{pair}-{seed}" for seed in (0, 1) for pair in ("baseline", "shaper")]


def test_main_table_of_shapellm_has_ten_seeds_where_a_baseline_has_several_equilibria():
    names = [run.name for run in shapellm.table(range(1))]
    assert len(names) == len(set(names)) == 7 * 5 + 3 * 10
    assert "tiny-ish-baseline-9" in names
    assert "tiny-ipd-shaper-5" not in names


def test_runs_of_scopal_that_need_an_unfinished_run_are_left_out(tmp_path, capsys):
    names = [run.name for run in scopal.runs(["equal"], tmp_path, [0], "mixed")]
    assert "fresh-0" not in names
    assert {"start", "self-0", "dpo-474-0", "fresh-judged-0"} <= set(names)
    assert "fresh-0 is skipped, since an earlier run that it needs is not finished" in capsys.readouterr().err


def test_fresh_rollouts_go_on_from_the_cloned_policy_and_its_base(tmp_path):
    """A run of whose models one lies elsewhere is not opened by its name, so the text names both parts."""
    adapter = f"{scopal.STAGES}/000120-bc/policy"
    (tmp_path / "self-0" / adapter).mkdir(parents=True)
    (tmp_path / "start").mkdir()
    write_run_models(tmp_path / "start", RunModels(models={"last": RunModel(model="dir:stages/7-imitate/model")}))
    base = f"dir:{tmp_path}/start/stages/7-imitate/model"
    write_run_models(tmp_path / "self-0", RunModels(models={"120": RunModel(model=base, adapter=adapter)}))
    runs = {run.name: run for run in scopal.runs(["equal"], tmp_path, [0], "mixed")}
    assert runs["fresh-0"].changes["model"] == f"{base}+adapter:policy={tmp_path}/self-0/{adapter}"


def test_bits_need_the_model_of_sft(tmp_path):
    runs = sepo.bits(tmp_path, [])
    assert next(runs).name == "kuhn-sft-0"
    with pytest.raises(StratagemError, match="the run of SFT is not finished"):
        next(runs)


def test_perturbed_flips_the_last_bit_of_one_weight(tmp_path):
    import numpy as np
    from safetensors.numpy import load_file, save_file

    (tmp_path / "model").mkdir()
    weights = {"a": np.ones((4, 3), np.float32), "b": np.zeros(5, np.float32)}
    save_file(weights, tmp_path / "model/model.safetensors")
    (tmp_path / "model/config.json").write_text("{}")
    copy = sepo.perturbed(tmp_path / "model", tmp_path / "copy", 1)
    other = load_file(copy / "model.safetensors")
    changed = [(weights[name].view(np.int32) ^ other[name].view(np.int32)).ravel() for name in weights]
    assert sorted(np.concatenate(changed)) == [0] * 16 + [1]
    assert (copy / "config.json").read_text() == "{}"
    assert sepo.perturbed(tmp_path / "model", copy, 1) == copy


def test_experiments_take_their_arguments(monkeypatch, capsys):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    command = ["scopal.py", "runs/none", "main", "--seeds", "2-2", "--list", "--only", "self"]
    monkeypatch.setattr(sys, "argv", command)
    scopal.main()
    assert capsys.readouterr().out.startswith("stratagem train recipes/scopal/tiny.toml --out runs/none/self-2")
