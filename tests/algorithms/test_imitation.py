"""Examples of a teacher: its own games or situations of others' games, all seats, those of a turn together."""

from itertools import chain

import pytest

from stratagem.algorithms.reinforce import REINFORCEAlgorithm, REINFORCERecipe
from stratagem.base.errors import BadParameter, StratagemError, UnknownName
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.solver import solve
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations.imitation import ImitatedPlayer, is_held_out, teacher_decisions
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play
from stratagem.playing.store import record
from stratagem.training.runs.folder import RunFolder
from stratagem.training.sft import SFTSettings, batches
from stratagem.training.supervised import sft


def units(game, teacher, count, seed=1, styles=("bare",), **options):
    made = [make_style(style) for style in styles]
    return list(teacher_decisions(make_game(game), ImitatedPlayer(teacher, **options), count, Key(seed), made))


def test_those_who_move_together_are_one_unit_and_begin_alike():
    made = units("diplomacy(until=1901)", "dumbbot", 30)
    assert [len(unit) for unit in made][:2] == [7, 7]
    assert sum(map(len, made)) == 30
    for unit in made:
        boards = {example.messages[0].content.rpartition("\n")[0] for example in unit}
        assert len(boards) == 1
        assert len({example.messages[0].content for example in unit}) == len(unit)


def test_a_teacher_is_imitated_in_all_seats():
    made = list(chain.from_iterable(units("ipd(rounds=3)", "AlwaysDefect", 12)))
    assert len(made) == 12
    assert {example.reply for example in made} == {"DEFECT"}


def test_the_same_seed_gives_the_same_examples():
    first, again, other = (units("kuhn", "NashApprox", 20, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_units_stand_together_and_every_example_comes_once_an_epoch():
    numbered = [list(range(start, start + 3)) for start in range(0, 30, 3)]
    made = list(batches(numbered, SFTSettings(batch_size=6, epochs=2), Key(0)))
    assert len(made) == 10
    assert all(sorted(chain.from_iterable(made[part : part + 5])) == list(range(30)) for part in (0, 5))
    assert all(batch[0] // 3 == batch[1] // 3 == batch[2] // 3 for batch in made)
    assert made[:5] != made[5:]


def situations(game, seed, number):
    """Situations of random play, by their text as the style `bare` shows it."""
    known = {}
    for deal in range(number):
        state, move = game.start(Key(seed).at(deal)), 0
        while not state.over:
            (seat,) = state.to_act
            known[state.view(seat).situation] = state.fork()
            state.play({seat: state.view(seat).choices.sample(Key(seed).at(deal, move))})
            move += 1
    return known


def test_teacher_answers_in_situations_of_another_players_games():
    values, known = solve(make_game("nim")), situations(make_game("nim"), 0, 400)
    made = list(chain.from_iterable(units("nim", "perfect", 200, played_by="random")))
    met = [example for example in made if example.messages[0].content in known]
    assert len(met) > 150
    assert max(values.regrets(known[example.messages[0].content])[example.reply] for example in met) == 0.0
    uniform = list(chain.from_iterable(units("nim", "random", 200)))
    assert [example.messages for example in uniform] == [example.messages for example in made]  # of the same games


def test_held_out_situations_are_in_no_example():
    known = situations(make_game("nim"), 0, 400)
    some = {example.messages[0].content for example in chain.from_iterable(units("nim", "random", 500, held_out=0.3))}
    out = {text for text, state in known.items() if is_held_out(state.view(state.to_act[0]), 0.3)}
    assert some.isdisjoint(out)
    assert 0.2 < len(out) / len(known) < 0.4


def test_nothing_but_held_out_situations_is_an_error():
    with pytest.raises(BadParameter, match=r"random gives no example of kuhn-spiel in 1000 games"):
        units("kuhn-spiel", "random", 1, held_out=1.0 - 1e-9)


def test_styles_take_turns():
    made = list(chain.from_iterable(units("kuhn-spiel", "random", 9, styles=("bare", "plain", "bare"))))
    assert [len(example.messages) for example in made] == [1, 2, 1] * 3


def test_answer_key_is_right_and_of_quizzes_alone():
    game = make_game("rules:nim")
    match = Match(game, [make_player("AnswerKey", game)])
    setups = [Setup(id=str(n), match=match, slots=(0,), key=Key(n), purpose="train") for n in range(20)]
    assert {episode.per_round(0) for episode in play(setups)} == {1.0}
    with pytest.raises(StratagemError, match="quiz/AnswerKey"):
        make_player("quiz/AnswerKey", make_game("nim"))


def recorded(folder, *names):
    """Record a game of kuhn-spiel from each seat."""
    game = make_game("kuhn-spiel")
    match = Match(game, [make_player(name, game) for name in names])
    setups = [Setup(id=str(n), match=match, slots=(n % 2, 1 - n % 2), key=Key(n // 2)) for n in range(8)]
    list(record(play(setups), folder))
    return {"teacher": names[0], "records": (str(folder),)}


def test_decisions_of_the_teacher_are_learnt_from_recorded_games(tmp_path):
    """The other player's decisions are left out, and the games come again after the last one."""
    options = recorded(tmp_path, "first-legal", "random")
    made = list(chain.from_iterable(units("kuhn-spiel", count=20, **options)))
    number = next(n for n in range(1, 20) if made[n:] == made[: 20 - n])
    assert 8 <= number <= 16
    assert {example.reply for example in made} == {"PASS"}


@pytest.mark.parametrize(("game", "teacher"), [("kuhn-spiel", "cfr:10"), ("nim", "first-legal")])
def test_records_without_the_teacher_or_the_game_are_one_sentence(tmp_path, game, teacher):
    options = recorded(tmp_path, "first-legal", "random") | {"teacher": teacher}
    with pytest.raises(StratagemError, match=rf"No game of {game} in .* has decisions of .*{teacher}@1"):
        units(game, count=1, **options)


SOURCES = [
    {"games": ["nim", "tic-tac-toe"], "teacher": "first-legal", "played_by": "random", "num_examples": 3},
    {"games": ["rules:nim"], "teacher": "AnswerKey", "num_examples": 2, "styles": ["plain"]},
]


def recipe(**changes):
    table = {"epochs": 2, "batch_size": 4, "sources": SOURCES} | changes
    return REINFORCERecipe.read({"games": ["kuhn-spiel"], "model": "tiny", "style": "bare", "sft": table})


def test_run_learns_from_a_mixture_of_sources(tmp_path):
    asked = recipe()
    run = RunFolder.create(tmp_path / "run", asked, asked.seed, "a test")
    stage = sft(asked, run, REINFORCEAlgorithm(asked, run).games)
    assert asked.sft_steps == stage.num_steps == 4
    batches = [batch for step in range(2) for batch in stage.batches(step)]
    read = [len(example.tokens) for batch in batches for example in batch.data.examples]
    assert len(read) == 8
    assert sum(size > 150 for size in read) == 2  # questions with the rules, in the style of their source


def test_unknown_adapter_target_is_refused_before_sft(tmp_path):
    asked = recipe()
    asked = asked.model_copy(update={"adapter": asked.adapter.model_copy(update={"targets": ("proj",)})})
    run = RunFolder.create(tmp_path / "run", asked, asked.seed, "a test")
    with pytest.raises(UnknownName, match="'proj': did you mean v_proj"):
        sft(asked, run, REINFORCEAlgorithm(asked, run).games)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"teacher": "random"}, "`sft.teacher` and `sft.sources` cannot both be imitated"),
        ({"sources": [{**SOURCES[0], "teacher": "TitForTat"}]}, "TitForTat"),
        ({"sources": [{**SOURCES[0], "games": ["nimm"]}]}, "nimm"),
        ({"sources": [{**SOURCES[0], "styles": ["plane"]}]}, "plane"),
        ({"sources": [{**SOURCES[0], "played_by": "randon"}]}, "randon"),
        ({"sources": [{**SOURCES[0], "records": ["x"]}]}, "`records` and `played_by` cannot both"),
        ({"sources": [{**SOURCES[1], "records": ["none"]}]}, "no recorded episodes in none"),
        (
            {"sources": [{**SOURCES[0], "played_by": "random", "teacher": "tiny"}]},
            "tiny answers by requests",
        ),
        ({"sources": [{**SOURCES[0], "games": []}]}, "sft.sources.0.games"),
        ({"sources": [{**SOURCES[0], "held_out": 1.0}]}, "sft.sources.0.held_out"),
    ],
)
def test_wrong_sources_are_refused_before_anything_is_trained(tmp_path, changes, sentence):
    with pytest.raises(StratagemError, match=sentence):
        REINFORCEAlgorithm(recipe(**changes), RunFolder(tmp_path / "run"))
