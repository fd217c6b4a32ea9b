"""Examples of a teacher: its own games, all seats, those of a turn together."""

from itertools import chain

from stratagem.demonstrations.imitation import teacher_decisions
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.prompting.catalogue import make_style
from stratagem.training.sft import SFTSettings, batches


def units(game, teacher, count, seed=1, style="bare"):
    return list(teacher_decisions(make_game(game), teacher, count, Key(seed), make_style(style)))


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
