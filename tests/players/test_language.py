"""A language model as a player: its name makes it again, wrong options are one sentence, and its play is recorded."""

from itertools import product

import pytest
import torch

from stratagem.base.errors import StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.open import engine_of
from stratagem.language.models.adapters import adapter_parameters, add_adapter, save_adapter
from stratagem.language.models.load import load
from stratagem.language.models.reference import BUILT_IN
from stratagem.language.models.tiny import tiny_folder
from stratagem.players.catalogue import make_player
from stratagem.players.language import LanguagePlayer
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

KUHN, SHAPELLM = make_game("kuhn"), make_game("ipd-shapellm")


# --- names

OPTIONS = {
    "mode": ["free", "recover", "direct"],
    "style": ["gtbench", "shapellm-state(payoffs=table, switched=True)"],
    "temperature": [0.0, 0.7, 1e-5, 0.1 + 0.2, 2],
    "top_k": [5],
    "top_p": [0.95, 1 / 3],
    "max_new_tokens": [1, 9999],
    "mid_text": [True],
    "min_p": [0.1],
    "sampler": ["epsilon_uniform(epsilon=0.25)"],
}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_goes_round(option):
    for model, value in product(("tiny", "lm(tiny-qwen3.5)"), OPTIONS[option]):
        kind = model.removeprefix("lm(").removesuffix(")")
        player = LanguagePlayer(kind, **{option: value})
        assert player.name.startswith(f"{kind}({option}=")
        assert make_player(player.name, SHAPELLM) == player
        assert make_player(f"lm({kind}, {option}={value})", SHAPELLM) == player


def test_many_options_go_round():
    many = product(OPTIONS["mode"], OPTIONS["style"], OPTIONS["temperature"], OPTIONS["top_p"], OPTIONS["mid_text"])
    for mode, style, temperature, top_p, mid_text in many:
        player = LanguagePlayer("tiny", mode, style, temperature, 0, top_p, 7, mid_text)
        again = make_player(player.name, SHAPELLM)
        assert (again, again.name) == (player, player.name)


@pytest.mark.parametrize("kind", [*BUILT_IN, "smollm2"])
def test_a_bare_name_is_the_whole_name(kind):
    assert LanguagePlayer(kind).name == kind
    assert LanguagePlayer(kind, mode="").name == kind


FOLDERS = ["plain", "with space", "a, b", "it's (1)", "a=b", "[x]", 'a "quoted" b', "back\\slash, and", "ünï", "a+b"]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(
    "options", [{}, {"temperature": 0.5}, {"mode": "free", "max_new_tokens": 3}], ids=["", "one", "two"]
)
def test_folders_of_any_name_go_round(tmp_path, folder, options):
    path = tmp_path / folder
    path.symlink_to(tiny_folder("tiny"))
    player = LanguagePlayer(f"dir:{path}", **options)
    again = make_player(player.name, KUHN)
    assert (again, again.name) == (player, player.name)
    noisy = make_player(f"noise({player.name}, p=0.5)", KUHN)
    assert noisy.player == player


def test_what_stands_after_a_plus_belongs_to_the_model():
    for name in ("tiny+dtype=fp32", "tiny-qwen+dtype=fp32", "lm(tiny+dtype=fp32, temperature=0.5)"):
        assert make_player(name, KUHN).name == name


def test_a_model_within_noise():
    for inner in ("tiny", "lm(tiny+dtype=fp32, mode=free)", "tiny(temperature=0.5)"):
        name = f"noise({inner}, p=0.1)"
        assert make_player(name, KUHN).name == name


# --- one sentence for each mistake

MISTAKES = {
    "tiny(mode=5)": "A language model needs `mode` as a text, not 5.",
    "tiny(mode=None)": "A language model needs `mode` as a text, not None.",
    "tiny(mode=fre)": "There is no mode called 'fre': did you mean free",
    "tiny(style=7)": "A language model needs `style` as a text, not 7.",
    "tiny(style=plane)": "There is no prompt style called 'plane': did you mean plain?",
    "tiny(style=plain(x=1))": "it has no option x",
    "tiny(style=shapellm-state)": "The style shapellm is for repeated matrix games, not kuhn.",
    "tiny(temperature=hot)": "A language model needs `temperature` of at least 0, a number, not 'hot'.",
    "tiny(temperature=-1)": "A language model needs `temperature` of at least 0, a number, not -1.",
    "tiny(temperature=nan)": "A language model needs `temperature` of at least 0, a number, not 'nan'.",
    "tiny(temperature=1e999)": "A language model needs `temperature` of at least 0, a number, not inf.",
    "tiny(top_k=2.5)": "A language model needs `top_k` of at least 0, a whole number, not 2.5.",
    "tiny(top_k=-1)": "A language model needs `top_k` of at least 0, a whole number, not -1.",
    "tiny(top_p=0)": "top_p is a probability above 0, not 0.",
    "tiny(min_p=1.1)": "A language model needs `min_p` from 0 to 1, a number, not 1.1.",
    "tiny(sampler=epsilon)": "There is no sampler called 'epsilon': did you mean epsilon_uniform?",
    "tiny(sampler=epsilon_uniform(epsilon=2))": "`epsilon` must be",
    "tiny(sampler=3)": "A language model needs `sampler` as a text, not 3.",
    "tiny(top_p=1.1)": "A language model needs `top_p` from 0 to 1, a number, not 1.1.",
    "tiny(max_new_tokens=0)": "A language model needs `max_new_tokens` of at least 1, a whole number, not 0.",
    "tiny(mid_text=maybe)": "A language model needs `mid_text` as True or False, not 'maybe'.",
    "tiny(speed=3)": "A language model has no option speed; its options are mode, style, temperature, top_k",
    "tiny(free)": "A language model has no option 'free'; its options are mode",
    "lm()": "it needs model",
    "lm(5)": "A language model needs `model` as a text, not 5.",
    "lm(tinny)": "There is no model called 'tinny': say one of tiny",
    "tiny(mode=constrained)": "take style=reasoned or style=gtbench-reasoned, or mode=direct",
    "dir:/nowhere": "There is no folder '/nowhere'",
    "tiny+adapter:/nowhere": "There is no folder '/nowhere': an adapter is a folder",
    "tiny+dtype=int3": "There is no dtype 'int3': say one of bf16, fp16, fp32, auto.",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_one_sentence(text):
    with pytest.raises(StratagemError) as error:
        make_player(text, KUHN)
    said = str(error.value)
    assert MISTAKES[text] in said
    assert "\n" not in said
    assert said.endswith((".", "?", "tiny", "dtype=bf16"))


def test_a_mode_of_servers_is_refused_for_a_model_with_masks():
    with pytest.raises(
        StratagemError, match="The mode prefix is for a model behind a server: for tiny take mode=direct"
    ):
        make_player("tiny(mode=prefix)", KUHN)


def test_a_game_that_a_mode_does_not_admit_is_refused():
    with pytest.raises(StratagemError, match="actions of one token each, unlike"):
        make_player("tiny(mode=single)", make_game("negotiation-v2"))
    assert make_player("tiny(mode=single, style=shapellm-base)", SHAPELLM).traits.fallible


# --- traits


def test_traits_say_what_can_be_relied_on():
    def traits(**options):
        return LanguagePlayer("tiny", **options).traits

    assert traits().exact
    assert traits().stochastic
    assert not traits(temperature=0.0).stochastic
    assert not traits().fallible
    assert traits().memory is None
    assert traits(style="shapellm-base").memory == 0
    assert traits(style="shapellm-state").memory == 1
    assert traits().price > 1
    assert not any(traits(mode=mode).exact for mode in ("free", "recover"))
    assert traits(mode="single").fallible


# --- at the table


def episodes(players, game, number, **options):
    made = make_game(game)
    match = Match(made, [make_player(text, made) for text in players])
    return list(play(rotate_seats(match, number, Key(3), name="t"), **options))


def shape(episode):
    rows = [(row.seat, row.action, row.how, [call.tokens for call in row.calls]) for row in episode.decisions]
    return episode.id, episode.payoffs, rows


def test_play_is_the_same_however_many_tables_are_open():
    players = ["tiny", "tiny(mode=recover, max_new_tokens=5)"]
    wide = episodes(players, "kuhn(hands=1)", 6)
    narrow = episodes(players, "kuhn(hands=1)", 6, live=1)
    assert sorted(map(shape, wide)) == sorted(map(shape, narrow))


def test_every_decision_keeps_its_calls():
    for episode in episodes(["tiny-gemma(temperature=0.5)", "random"], "kuhn(hands=1)", 4):
        assert episode.finished
        for row in episode.decisions:
            assert len(row.calls) == (0 if episode.players[row.seat].startswith("random") else 1)
            for call in row.calls:
                assert call.policy == ("tiny-gemma", "", 0)
                assert call.text == row.action
                assert call.prompt.messages[0][0] == "system"
                assert row.how == "constrained"


def test_a_prompt_beyond_the_context_is_recorded_and_the_table_goes_on(monkeypatch):
    engine = engine_of("tiny-qwen")
    monkeypatch.setattr(engine, "longest", 60)
    (episode,) = episodes(["tiny-qwen", "random"], "kuhn(hands=2)", 2)[:1]
    assert episode.finished
    rows = [row for row in episode.decisions if episode.players[row.seat].startswith("tiny")]
    assert {(row.how, row.action) for row in rows} == {("error", None)}
    assert all("and tiny-qwen reads from 1 to 59" in row.said for row in rows)


def test_half_a_character_in_a_prompt_harms_nobody(monkeypatch):
    """It may come from what another player said, and no tokenizer takes it."""
    monkeypatch.setattr(type(KUHN), "situation", lambda self, facts: "They said: \ud800")
    for episode in episodes(["tiny", "tiny(mode=free, max_new_tokens=3)"], "kuhn(hands=1)", 2):
        assert episode.finished
        assert {row.how for row in episode.decisions} <= {"constrained", "illegal", "free"}


# --- adapters


@pytest.fixture(scope="module")
def adapter(tmp_path_factory):
    """The folder of an adapter on tiny that does something."""
    lm, folder = load("tiny"), tmp_path_factory.mktemp("runs, one") / "best"
    add_adapter(lm, "new", rank=4, alpha=8)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "new"):
            weight.normal_(std=0.2, generator=torch.Generator().manual_seed(1))
    save_adapter(lm, "new", folder)
    return folder


def test_an_adapter_by_path_plays_its_own_way(adapter):
    view = KUHN.start(Key(1)).view(0)
    base, own = make_player("tiny", KUHN), make_player(f"tiny+adapter:{adapter}", KUHN)
    cold = make_player(f"lm('tiny+adapter:{adapter}', temperature=0.5)", KUHN)
    assert base.speaker.engine is own.speaker.engine is cold.speaker.engine
    assert own.speaker.adapter == cold.speaker.adapter != ""
    assert own.policy(view) != base.policy(view) == make_player("tiny", KUHN).policy(view)
    for player in (own, cold):
        again = make_player(player.name, KUHN)
        assert (again, again.name) == (player, player.name)
        assert again.policy(view) == player.policy(view)


def test_an_adapter_against_its_base_at_one_table(adapter):
    """Both speak in the same batches; each call says whose it is."""
    both = episodes(["tiny", f"tiny+adapter:{adapter}"], "ipd(rounds=2)", 2)
    for episode in both:
        for row in episode.decisions:
            adapted = "adapter" in episode.players[row.seat]
            assert bool(row.calls[0].policy.adapter) == adapted


def test_an_adapter_of_another_base_is_refused(adapter):
    with pytest.raises(StratagemError, match="does not fit tiny-qwen"):
        make_player(f"tiny-qwen+adapter:{adapter}", KUHN)
