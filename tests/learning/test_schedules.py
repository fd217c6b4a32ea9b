"""Numbers that change as training goes on."""

from pathlib import Path

import pytest

from stratagem.base.consent.table import allow
from stratagem.base.errors import BadParameter
from stratagem.learn.schedules import Experience, Schedule


@pytest.mark.parametrize(
    ("curve", "values"), [("linear", [0.7, 0.525, 0.35, 0.0, 0.0]), ("cosine", [0.7, 0.5974874, 0.35, 0.0, 0.0])]
)
def test_it_goes_from_start_to_end_and_stays(curve, values):
    schedule = Schedule(start=0.7, steps=100, curve=curve)
    assert [schedule.at(step) for step in (0, 25, 50, 100, 130)] == pytest.approx(values)


def test_a_curve_of_a_file_is_a_schedule_of_the_learning_rate():
    file = str(Path(__file__).parents[2] / "examples" / "optimizers.py")
    allow(file)
    schedule = Schedule.read({"start": 1.0, "end": 3.0, "steps": 10, "curve": f"{file}:InverseRoot(speed=8)"})
    assert [schedule.at(step) for step in (0, 10)] == pytest.approx([1.0, 3.0 - 2.0 / 3.0])
    with pytest.raises(BadParameter, match="no learning-rate schedule called 'square'"):
        Schedule.read({"curve": "square"})


def test_it_may_rise_or_stand_still():
    assert [Schedule(start=0.1, end=0.3, steps=2).at(step) for step in range(4)] == pytest.approx([0.1, 0.2, 0.3, 0.3])
    assert {Schedule(start=0.1, end=0.1, steps=5).at(step) for step in range(9)} == {0.1}


def test_a_negative_bonus_is_refused():
    with pytest.raises(BadParameter, match="start"):
        Schedule.read({"start": -0.1})


def test_schedule_counts_in_its_unit():
    experience = Experience(updates=1, episodes=2, trials=3)
    values = [
        Schedule(start=0.0, end=4.0, steps=4, unit=unit).after(experience) for unit in ("update", "episode", "trial")
    ]
    assert values == [1.0, 2.0, 3.0]
    assert Schedule(end=4.0, steps=4).after(experience) == 1.0, "a recipe without a unit counts updates"
    with pytest.raises(BadParameter, match='`unit` = "trial" is for seats that play trials'):
        Schedule(unit="trial").after(Experience(updates=1))
    with pytest.raises(BadParameter, match="unit"):
        Schedule.read({"unit": "step"})
