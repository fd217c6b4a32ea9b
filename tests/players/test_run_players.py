"""A run takes a seat: its models speak as they were trained to, from one engine, and their names stay true."""

import json

import pytest
import torch

from stratagem.base.errors import StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Sampling
from stratagem.language.models.adapters import adapter_parameters, add_adapter, save_adapter
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.load import load
from stratagem.language.models.run_models import FILE, RunModel, RunModels, read_run_models, write_run_models
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

KUHN = make_game("kuhn(hands=2)")


def adapter_of(folder, step):
    """An adapter on tiny that does something, where a checkpoint of this step has it."""
    lm, path = load("tiny"), f"checkpoints/step-{step:06d}/adapters/policy"
    add_adapter(lm, "new", rank=4, alpha=8)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "new"):
            weight.normal_(std=0.2, generator=torch.Generator().manual_seed(step))
    (folder / path).parent.mkdir(parents=True)
    save_adapter(lm, "new", folder / path)
    return path


@pytest.fixture
def run(tmp_path):
    """A small run: two kept steps on the base tiny, which were trained at another temperature and in another style."""
    first, second = (RunModel(model="tiny", adapter=adapter_of(tmp_path, step)) for step in (40, 60))
    models = {"base": RunModel(model="tiny"), "40": first, "60": second, "best": first, "last": second}
    decoding = DecodingSettings(mode="recover", style="reasoned", temperature=0.7, max_new_tokens=6)
    write_run_models(tmp_path, RunModels(models=models, speaks=decoding))
    return tmp_path


def played(*players):
    match = Match(KUHN, [make_player(text, KUHN) for text in players])
    return [
        (episode.payoffs, [(row.seat, row.action, row.how, row.calls[0].tokens) for row in episode.decisions])
        for episode in play(rotate_seats(match, 4, Key(3), name="t"))
    ]


def test_a_run_plays_as_its_adapter_on_its_base_does(run):
    options = "mode=recover, style=reasoned, temperature=0.7, max_new_tokens=6"
    for label, step in (("", 40), ("@last", 60)):
        plain = f"lm('tiny+adapter:{run}/checkpoints/step-{step:06d}/adapters/policy', {options})"
        assert played(f"run:{run}{label}", "tiny") == played(plain, "tiny")
    assert played(f"run:{run}", "tiny") != played(f"run:{run}@last", "tiny") != played(f"run:{run}@base", "tiny")


def test_a_run_plays_by_its_sampler_and_one_of_an_earlier_release_by_none(tmp_path):
    settings = DecodingSettings(sampler="epsilon_uniform(epsilon=0.5)")
    write_run_models(tmp_path, RunModels(models={"best": RunModel(model="tiny")}, speaks=settings))
    player = make_player(f"run:{tmp_path}", KUHN)
    assert player.speaker.sampling == Sampling(sampler="epsilon_uniform(epsilon=0.5)")
    assert make_player(player.name, KUHN) == player
    assert make_player(f"lm(run:{tmp_path}, sampler='')", KUHN).speaker.sampling == Sampling()
    earlier = json.loads((tmp_path / FILE).read_text())
    del earlier["speaks"]["sampler"]
    (tmp_path / FILE).write_text(json.dumps(earlier))
    assert make_player(f"run:{tmp_path}", KUHN).speaker.sampling == Sampling()


def test_the_sampler_of_a_strangers_run_is_loaded_for_play_alone(tmp_path):
    (tmp_path / "own_sampler.py").write_text("raise SystemExit('it was loaded')")
    settings = DecodingSettings(sampler=f"{tmp_path}/own_sampler.py:Own")
    write_run_models(tmp_path, RunModels(models={"best": RunModel(model="tiny")}, speaks=settings))
    assert read_run_models(tmp_path).speaks == settings
    assert make_player(f"lm(run:{tmp_path}, sampler='')", KUHN).speaker.sampling == Sampling()
    with pytest.raises(StratagemError, match="which you have not named"):
        make_player(f"run:{tmp_path}", KUHN)


def test_all_models_of_a_run_on_one_base_share_an_engine(run):
    players = [make_player(f"run:{run}@{label}", KUHN) for label in ("base", "best", "last")]
    assert len({id(player.speaker.engine) for player in [*players, make_player("tiny", KUHN)]}) == 1
    assert len({player.speaker.adapter for player in players}) == 3


def test_a_run_has_its_own_defaults_and_options_that_are_given_win(run):
    bare, other = make_player(f"run:{run}", KUHN), make_player(f"lm(run:{run}, mode=direct, temperature=1.0)", KUHN)
    assert (bare.mode, bare.style, bare.temperature, bare.max_new_tokens) == ("recover", "reasoned", 0.7, 6)
    assert (other.mode, other.style, other.temperature, other.max_new_tokens) == ("direct", "reasoned", 1.0, 6)
    assert other.traits.exact
    assert not bare.traits.exact


def test_a_name_tells_the_step_and_makes_the_player_again(run):
    known = {
        f"run:{run}": f"run:{run}@40",
        f"run:{run}@last": f"run:{run}@60",
        f"lm(run:{run}@last, temperature=0.7)": f"run:{run}@60",
        f"lm(run:{run}@last, temperature=1.0, mid_text=True)": f"lm(run:{run}@60, temperature=1, mid_text=True)",
        f"lm(run:{run}@base, mode=direct)": f"lm(run:{run}@base, mode=direct)",
        f"noise(run:{run}, p=0.5)": f"noise(run:{run}@40, p=0.5)",
    }
    for text, name in known.items():
        player = make_player(text, KUHN)
        again = make_player(name, KUHN)
        assert (player.name, again.name) == (name, name)
        assert again == player


def test_a_player_stays_who_it_is_when_the_run_finds_a_better_model(run):
    before = make_player(f"run:{run}", KUHN)
    said = read_run_models(run)
    write_run_models(run, said.model_copy(update={"models": said.models | {"best": said.models["60"]}}))
    assert make_player(before.name, KUHN) == before != make_player(f"run:{run}", KUHN)


@pytest.mark.parametrize(
    ("option", "value"), [("mode", "fre"), ("style", "plane"), ("temperature", -1), ("max_new_tokens", 0)]
)
def test_a_run_that_speaks_as_nobody_can_is_one_sentence(run, option, value):
    said = read_run_models(run)
    write_run_models(run, said.model_copy(update={"speaks": said.speaks.model_copy(update={option: value})}))
    with pytest.raises(StratagemError, match=str(value)):
        make_player(f"run:{run}", KUHN)


@pytest.mark.parametrize("folder", ["a, b", "it's (1)", "a=b", "a@b", "ünï"])
def test_runs_of_any_name_go_round(run, folder):
    moved = run.rename(run.parent / folder)
    for text in (f"run:{moved}", f"lm({f'run:{moved}@last'!r}, temperature=0.5)"):
        player = make_player(text, KUHN)
        again = make_player(player.name, KUHN)
        assert (again, again.name) == (player, player.name)


def test_a_run_that_is_not_there_is_answered_before_the_game(tmp_path):
    with pytest.raises(StratagemError, match=r"no run at .* as in run:runs/NAME"):
        make_player(f"run:{tmp_path}/nowhere", KUHN)


def test_each_call_says_whose_weights_they_were(run):
    match = Match(KUHN, [make_player(f"run:{run}{label}", KUHN) for label in ("", "@last")])
    episode = next(iter(play(rotate_seats(match, 2, Key(3), name="t"))))
    assert {*episode.players} == {f"run:{run}@40@1", f"run:{run}@60@1"}  # and the version of what plays
    said = {(row.seat, row.calls[0].policy.base, row.calls[0].policy.adapter) for row in episode.decisions}
    assert {base for _, base, _ in said} == {"tiny"}
    assert len({adapter for _, _, adapter in said}) == 2
