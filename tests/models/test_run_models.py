"""A run says which models it holds: what a label stands for wherever the run lies, and what is refused of strangers."""

import json
import shutil

import pytest

from stratagem.base.errors import StratagemError
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.load import load
from stratagem.language.models.reference import AdapterRef, ModelRef, parse_model
from stratagem.language.models.run_models import (
    FILE,
    RunModel,
    RunModels,
    decoding_options,
    outside,
    own_text,
    pin_label,
    read_run_models,
    resolve_model,
    write_run_models,
)


def trained(step):
    return RunModel(model="dir:base/model", adapter=f"checkpoints/step-{step:06d}/adapters/policy")


HELD = {
    "base": RunModel(model="tiny+dtype=bf16"),
    "start": RunModel(model="dir:base/model"),
    "40": trained(40),
    "60": trained(60),
    "best": trained(40),
    "last": trained(60),
}


@pytest.fixture
def run(tmp_path):
    """A run of which only the file is there."""
    folder = tmp_path / "kuhn-0"
    folder.mkdir()
    write_run_models(folder, RunModels(models=HELD, speaks=DecodingSettings(style="reasoned", temperature=0.8)))
    return folder


def told(folder, **models):
    """A run that says this of its models, as anybody could write it."""
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text(json.dumps({"version": 1, "models": models}))
    return folder


def refused(text):
    with pytest.raises(StratagemError) as caught:
        resolve_model(parse_model(text))
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()
    return str(caught.value)


# --- what a label stands for


def test_what_was_written_is_read(run):
    assert read_run_models(run) == RunModels(models=HELD, speaks=DecodingSettings(style="reasoned", temperature=0.8))
    assert [path.name for path in run.iterdir()] == [FILE]


def test_labels_are_models_named_without_the_run(run):
    def adapted(step):
        path = f"{run}/checkpoints/step-{step:06d}/adapters/policy"
        return ModelRef("dir", f"{run}/base/model", adapters=(AdapterRef("policy", path),))

    known = {
        "": adapted(40),
        "@best": adapted(40),
        "@last": adapted(60),
        "@60": adapted(60),
        "@start": ModelRef("dir", f"{run}/base/model"),
        "@base": ModelRef("tiny", dtype="bf16"),
    }
    assert {label: resolve_model(parse_model(f"run:{run}{label}")) for label in known} == known


def test_what_is_no_run_stays_as_it_is():
    ref = parse_model("dir:/a+adapter:/b+dtype=fp32")
    assert resolve_model(ref) is ref
    assert pin_label("dir:/a@best") == "dir:/a@best"
    assert decoding_options("tiny") == {}


def test_options_of_the_text_come_before_the_runs(run):
    assert resolve_model(parse_model(f"run:{run}@base+dtype=fp32")).dtype == "fp32"
    assert resolve_model(parse_model(f"run:{run}@base")).dtype == "bf16"
    assert resolve_model(parse_model(f"run:{run}@last+4bit")).four_bit


def test_a_moved_run_names_the_same_models_at_their_new_place(run, tmp_path):
    before = resolve_model(parse_model(f"run:{run}@last"))
    moved = shutil.move(run, tmp_path / "kept" / "a@b")
    after = resolve_model(parse_model(f"run:{moved}@last"))
    assert str(after) == str(before).replace(str(run), str(moved))


def test_a_run_by_a_relative_path_and_by_the_home_folder(run, monkeypatch):
    monkeypatch.chdir(run.parent)
    monkeypatch.setenv("HOME", str(run.parent))
    assert resolve_model(parse_model("run:kuhn-0@start")) == ModelRef("dir", "kuhn-0/base/model")
    assert resolve_model(parse_model("run:~/kuhn-0/@start")) == ModelRef("dir", f"{run}/base/model")
    monkeypatch.chdir(run)
    assert resolve_model(parse_model("run:.@start")) == ModelRef("dir", "base/model")


def test_the_best_and_the_last_are_recorded_as_the_steps_that_they_are_now(run):
    assert pin_label(f"run:{run}") == pin_label(f"run:{run}@best") == f"run:{run}@40"
    assert pin_label(f"run:{run}@last+dtype=bf16") == f"run:{run}@60+dtype=bf16"
    for label in ("base", "start", "40"):
        assert pin_label(f"run:{run}@{label}") == f"run:{run}@{label}"


def test_a_model_without_a_step_is_recorded_by_another_label_that_stays(tmp_path):
    model = {"model": "dir:model"}
    assert pin_label(f"run:{told(tmp_path / 'a', best=model, start=model)}").endswith("/a@start")
    assert pin_label(f"run:{told(tmp_path / 'b', best=model, last=model)}").endswith("/b@best")


def test_a_label_that_stays_is_recorded_as_it_was_said(tmp_path):
    model = {"model": "dir:model"}
    run = told(tmp_path / "r", **{"start": model, "0": model, "10": model, "best": model})
    assert pin_label(f"run:{run}") == f"run:{run}@0"
    assert [pin_label(f"run:{run}@{label}") for label in ("start", "10")] == [f"run:{run}@start", f"run:{run}@10"]


def test_each_seat_has_its_own(tmp_path):
    one = {"model": "tiny", "adapter": "a"}
    run = told(tmp_path / "r", **{"60/naive": one, "60/shaper": one, "last/shaper": one})
    assert pin_label(f"run:{run}@last/shaper") == f"run:{run}@60/shaper"
    assert "last/shaper" in refused(f"run:{run}@last")


# --- what there is not


def test_the_best_is_never_another_in_its_place(tmp_path):
    run = told(tmp_path / "r", start={"model": "tiny"}, last={"model": "tiny"})
    said = refused(f"run:{run}")
    assert "has marked none of its models as the best" in said
    assert said.endswith("one of its labels, start, last.")
    assert "no model called best" in refused(f"run:{run}@best")


def test_labels_that_there_are_stand_in_the_answer(run):
    for text in (f"run:{run}@50", f"run:{run}@bset", f"run:{run}@last/shaper"):
        assert "base, start, 40, 60, best, last" in refused(text)
    assert "lm(run:PATH@LABEL, mode=free)" in refused(f"run:{run}@best(mode=free)")


def test_a_part_of_a_run_is_answered_with_the_run(run):
    for part in ("checkpoints", "nowhere/of/it"):
        said = refused(f"run:{run}/{part}")
        assert f"say run:{run}, or run:{run}@LABEL" in said
        assert "base, start, 40, 60, best, last" in said


def test_a_run_without_models_and_no_run_at_all(tmp_path):
    assert "first checkpoint" in refused(f"run:{tmp_path}")
    assert "There is no run at" in refused(f"run:{tmp_path}/nowhere")
    said = "has no models: there are none yet, or its learners are no models."
    assert said in refused(f"run:{told(tmp_path / 'new')}@last")
    assert said in refused(f"run:{told(tmp_path / 'new')}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "\x00",
        "[" * 100_000,
        '{"version": 2, "models": {}}',
        '{"version": 1, "models": []}',
        '{"version": 1, "models": {"best": "tiny"}}',
        '{"version": 1, "models": {"best": {"model": 5}}}',
        '{"version": 1, "models": {"best": {"model": "tiny", "adaptor": "a"}}}',
        '{"version": 1, "models": {"best\\u001b[2J": {"model": "tiny"}}}',
        '{"version": 1, "models": {"best\\n": {"model": "tiny"}}}',
        '{"version": 1, "models": {"x": {"model": "tiny"}}}',
        '{"version": 1, "models": {}, "speaks": {"temperature": "hot"}}',
        '{"version": 1, "models": {}, "\\u001b[31mred": 1}',
    ],
)
def test_a_damaged_file_is_one_sentence(run, text):
    (run / FILE).write_text(text)
    assert str(run / FILE) in refused(f"run:{run}@best")


def test_bytes_that_are_no_text_are_one_sentence(run):
    (run / FILE).write_bytes(b"\xff\xfe\xff")
    assert "cannot be read as JSON" in refused(f"run:{run}")


# --- what a stranger may not say


UPWARDS = ["/etc", "..", "../other", "a/../../other", "~", "~root/x", "a/~b", "//host/share"]
ODD = ["link/x", "loop/x", "a\x1b[2Jb", "a\nb", "x" * 5000]


def outside_or_unnamed(model):
    """A place outside of the run is refused by name; a text that no file system takes names nothing at all."""
    said = refused(model)
    return "not inside of it" in said or "names no model" in said


@pytest.mark.parametrize("path", [*UPWARDS, *ODD])
def test_a_place_outside_of_the_run_is_not_opened(tmp_path, path, monkeypatch):
    run = told(tmp_path / "r", best={"model": f"dir:{path}"}, last={"model": "tiny", "adapter": path})
    (run / "link").symlink_to(tmp_path)
    (run / "loop").symlink_to("loop")
    assert outside_or_unnamed(f"run:{run}")
    assert outside_or_unnamed(f"run:{run}@last")
    told(run, best={"model": f"gguf:{path}"})
    assert outside_or_unnamed(f"run:{run}")
    monkeypatch.chdir(run)
    assert outside_or_unnamed("run:.@best")


def test_a_link_that_stays_inside_is_followed(tmp_path):
    run = told(tmp_path / "r", best={"model": "dir:link"})
    (run / "model").mkdir()
    (run / "link").symlink_to("model")
    assert resolve_model(parse_model(f"run:{run}")) == ModelRef("dir", f"{run}/link")


def test_what_is_said_to_do_instead_names_the_model_that_the_run_means(tmp_path):
    run = told(tmp_path / "r", best={"model": "dir:/data/model", "adapter": "a/policy"})
    text = refused(f"run:{run}").partition("say '")[2].partition("'")[0]
    assert parse_model(text) == ModelRef("dir", "/data/model", adapters=(AdapterRef("policy", f"{run}/a/policy"),))


@pytest.mark.parametrize(
    "model", ["api:m@http://example.com/v1", "run:other@best", "tiny+adapter:/a", "tiny+adapter:x=a"]
)
def test_servers_other_runs_and_further_adapters_are_no_bases(tmp_path, model):
    assert "no base with weights" in refused(f"run:{told(tmp_path / 'r', best={'model': model})}")


@pytest.mark.parametrize("model", ["", "tinny", "dir:", "hf:../x/y", "tiny\x1b[2J"])
def test_a_base_that_is_no_model_is_refused(tmp_path, model):
    assert "which names no model" in refused(f"run:{told(tmp_path / 'r', best={'model': model})}")


def test_pickles_in_a_run_are_refused(tmp_path):
    run = told(tmp_path / "r", best={"model": "tiny", "adapter": "a"})
    (run / "a").mkdir()
    (run / "a" / "adapter_model.bin").write_bytes(b"x")
    with pytest.raises(StratagemError, match="never loaded"):
        load(f"run:{run}")


# --- writing


def test_a_model_from_elsewhere_is_written_with_its_whole_path(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    assert outside("smollm2+dtype=bf16") == "smollm2+dtype=bf16"
    assert outside("hf:owner/m@main") == "hf:owner/m@main"
    assert outside("dir:models/m+4bit") == f"dir:{tmp_path}/models/m+4bit"
    assert outside("run:kuhn-0@start") == f"dir:{run}/base/model"
    assert outside("run:kuhn-0@last") == str(resolve_model(parse_model(f"run:{run}@last")))


def test_who_makes_a_run_names_its_models_also_where_their_base_lies_elsewhere(tmp_path, run):
    assert own_text(run, "last") == f"run:{run}@last"
    assert own_text(run, "base") == f"run:{run}@base"
    other = RunModel(model=outside("dir:/data/model"), adapter="checkpoints/step-000005/adapters/policy")
    write_run_models(tmp_path, RunModels(models={"5": other}))
    assert "not inside of it" in refused(f"run:{tmp_path}@5")
    assert own_text(tmp_path, "5") == f"dir:/data/model+adapter:policy={tmp_path}/{other.adapter}"


@pytest.mark.parametrize("label", ["newest", "Best", "best/", "best/a b", "-1", "1e3", "٣"])
def test_a_label_that_no_text_could_name_is_not_written(label):
    with pytest.raises(ValueError, match="pattern"):
        RunModels(models={label: RunModel(model="tiny")})


def test_a_disk_that_refuses_is_one_sentence(tmp_path):
    with pytest.raises(StratagemError, match="cannot be written"):
        write_run_models(tmp_path / "nowhere", RunModels(models=HELD))


@pytest.mark.parametrize("named", ["mine.txt", "/etc/mine.txt", "../../mine.txt"])
def test_template_of_a_run_is_the_copy_in_its_folder(run, named):
    write_run_models(run, RunModels(models=HELD, speaks=DecodingSettings(style=f"template:{named}")))
    assert decoding_options(f"run:{run}@40")["style"] == f"template:{run / 'files' / 'mine.txt'}"
