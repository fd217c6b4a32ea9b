"""Draws keyed by a player's name do not depend on the folder of its model."""

import pytest

from stratagem.language.models.reference import placeless

PLACES = ["runs/demo", "/srv/a b/x,y(z)", "../it's/@home", "a@5x/b", "C:/runs", "r+4bits"]
SHAPES = [
    "run:{}",
    "run:{}@40",
    "run:{}@best/shaper",
    "lm(run:{}@last, mode=free)",
    "lm(run:{}@last, style=brief, temperature=0.5)",
    "dir:{}",
    "dir:{}+4bit",
    "dir:{}+dtype=bf16",
    "lm(dir:{}+adapter:one={}, mode=free)",
    "tiny+adapter:{}",
    "gguf:{}",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_name_is_the_same_wherever_the_folder_is(shape):
    names = {placeless(named(shape, place)) for place in PLACES}
    assert len(names) == 1
    assert not any(place in name for place in PLACES for name in names)


def named(shape, place):
    """As players are named: a model with odd characters stands as a literal, with or without options."""
    model, _, options = shape.partition(", ")
    text = model.removeprefix("lm(").replace("{}", place)
    quoted = repr(text) if set(text) & set(",()[]{}'\"") else text
    return f"lm({quoted}, {options}" if options else text if quoted == text else f"lm({quoted})"


@pytest.mark.parametrize(
    "name", ["TitForTat", "tiny(mode=free)", "api:m@http://localhost:8000/v1", "hf:owner/name@main"]
)
def test_other_names_stay(name):
    assert placeless(name) == name


def test_labels_options_and_modes_stay_apart():
    names = [
        "run:a@40",
        "run:a@50",
        "run:a",
        "lm(run:a@40, mode=free)",
        "lm(run:a@40, mode=single)",
        "dir:a",
        "dir:a+4bit",
    ]
    assert len({placeless(name) for name in names}) == len(names)
