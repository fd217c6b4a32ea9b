"""Messages of wrong settings: one sentence that names the key as it is written, and the allowed values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import pytest
from pydantic import Field, model_validator

from stratagem.base.errors import BadParameter
from stratagem.base.renamed import keys
from stratagem.base.renamed.keys import renamed_keys
from stratagem.base.renamed.renaming import Release, convert_values, move_value
from stratagem.base.settings import Settings

Share = Annotated[float, Field(gt=0.0, lt=1.0)]


class Inner(Settings):
    clock: Annotated[int, Field(ge=1)] | Literal["trial"] = 1
    first: Share | tuple[Share, Share] = 0.5
    rate: float | None = None


class Deeper(Inner):
    needed: int


class Walker(Settings):
    gait: Literal["walk"] = "walk"


class Runner(Settings):
    gait: Literal["run"] = "run"


class Moving(Settings):
    legs: dict[str, Annotated[Walker | Runner, Field(discriminator="gait")]]


class Outer(Settings):
    deeper: Deeper | Inner | None = None
    inner: Inner | None = None
    seats: dict[str, Inner] = Field(default_factory=dict)
    rows: tuple[Inner, ...] = ()


OLD = {
    "Inner": {
        "pace": "rate",
        "kl": move_value("loss = { kl_coef = ... }", "rate"),
        "tick": convert_values("clock (a number, or trial)", {"each": 1, "trial": "trial"}, "clock"),
    },
    "Deeper": {"speed": "rate"},
    "Outer": {"inside": "inner"},
}


@pytest.fixture
def renamed(monkeypatch):
    """The classes of this file, with old keys."""
    monkeypatch.setattr(keys, "RELEASES", (Release("0.2.0", "0.4.0", OLD),))


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        ({"clock": "episode"}, "clock cannot be 'episode': .* valid integer, .*; or 'trial'.$"),
        ({"clock": 0}, "clock cannot be 0: Input should be greater than or equal to 1; or 'trial'.$"),
        ({"first": 2.0}, "first cannot be 2.0: Input should be less than 1; or a list in brackets, as in .2.0..$"),
        ({"first": [0.1, 2.0]}, "first.1 cannot be 2.0: Input should be less than 1.$"),
        ({"first": [0.1]}, "first.1 must be given.$"),
        ({"rate": "fast"}, "rate cannot be 'fast': Input should be a valid number, .* as a number.$"),
    ],
)
@pytest.mark.parametrize("place", ["inner", "seats.one", "rows.0"])
def test_a_mistake_where_several_types_may_stand_is_at_the_setting_itself(inner, said, place):
    data = {"inner": {"inner": inner}, "seats.one": {"seats": {"one": inner}}, "rows.0": {"rows": [inner]}}[place]
    with pytest.raises(BadParameter, match=f"^The setting {place}.{said}"):
        Outer.read(data)


@pytest.mark.parametrize("leg", [{}, {"gait": "hop"}])
def test_a_table_without_a_known_kind_is_told_the_kinds(leg):
    with pytest.raises(BadParameter, match=r"^The setting legs.a cannot be \{.*\}: its `gait` is one of walk, run\.$"):
        Moving.read({"legs": {"a": leg}})


@pytest.mark.parametrize("data", [{"inner": {"clok": 1}}, {"seats": {"a": {"clok": 1}}}, {"rows": [{"clok": 1}]}])
def test_an_unknown_name_is_told_those_beside_it(data):
    with pytest.raises(BadParameter, match=r"^There is no setting \S+\.clok: there are clock, first, rate\.$"):
        Outer.read(data)


@pytest.mark.usefixtures("renamed")
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"inside": {"clock": 0}}, "There is no setting inside any more: write inner."),
        ({"inner": {"pace": 1}}, "There is no setting inner.pace any more: write inner.rate."),
        ({"seats": {"a": {"pace": 1}}}, "There is no setting seats.a.pace any more: write seats.a.rate."),
        ({"rows": [{}, {"pace": 1}]}, "There is no setting rows.1.pace any more: write rows.1.rate."),
        ({"inner": {"kl": 1}}, "There is no setting inner.kl any more: write `loss = { kl_coef = ... }` in inner."),
    ],
)
def test_replaced_key_is_told_its_new_key(data, said):
    with pytest.raises(BadParameter) as caught:
        Outer.read(data)
    assert str(caught.value) == said


@pytest.mark.usefixtures("renamed")
def test_all_replaced_keys_are_told_at_once_before_other_mistakes():
    with pytest.raises(BadParameter) as caught:
        Outer.read({"seats": {"a": {"clock": 0, "pace": 2}}, "inside": {"clock": 0, "clok": 1, "kl": 1}})
    assert str(caught.value) == (
        "3 settings have new names: write inner for inside, seats.a.rate for seats.a.pace, "
        "`loss = { kl_coef = ... }` in inner for inside.kl."
    )


@pytest.mark.usefixtures("renamed")
def test_a_long_list_of_replaced_keys_is_cut():
    with pytest.raises(BadParameter, match=r"^50 settings have new names: write .*, and 10 more\.$"):
        Outer.read({"rows": [{"pace": 1}] * 50})


@pytest.mark.usefixtures("renamed")
def test_replaced_keys_of_a_class_hold_in_its_subclasses():
    assert renamed_keys(Deeper).keys() == {"pace", "kl", "tick", "speed"}
    with pytest.raises(BadParameter, match=r"^There is no setting pace any more: write rate\.$"):
        Deeper.read({"pace": 1})
    with pytest.raises(BadParameter, match=r"^There is no setting table\.speed any more: write table\.rate\.$"):
        Deeper.read({"speed": 1}, "table")


@pytest.mark.usefixtures("renamed")
def test_settings_of_an_earlier_release_are_read_under_their_new_names():
    data = {"inside": {"pace": 2}, "seats": {"a": {"kl": 3}}, "rows": [{"tick": "trial"}], "deeper": None}
    assert Outer.read_old(data) == Outer.read(
        {"inner": {"rate": 2}, "seats": {"a": {"rate": 3}}, "rows": [{"clock": "trial"}]}
    )
    assert data["inside"] == {"pace": 2}
    both = {"inside": {"pace": 2}, "inner": {"clock": 3}}
    assert Outer.read_old(both) == Outer.read({"inner": {"rate": 2, "clock": 3}})


@pytest.mark.usefixtures("renamed")
@pytest.mark.parametrize(
    ("data", "lost"),
    [
        ({"inner": {"pace": 1, "rate": 2}}, "inner.pace (`rate` is given, too, as 2)"),
        ({"inner": {"tick": "never"}}, "inner.tick (the value 'never' has no new name)"),
        ({"inside": {"rate": 2}, "inner": {"rate": 1}}, "inside (`inner.rate` is given, too, as 1)"),
        ({"inside": {"pace": 2}, "inner": {"rate": 1}}, "inside.pace (`rate` is given, too, as 1)"),
    ],
)
def test_settings_that_would_lose_a_value_are_refused(data, lost):
    with pytest.raises(BadParameter) as caught:
        Outer.read_old(data, "old.toml")
    assert str(caught.value) == f"old.toml cannot be upgraded: {lost}."


class Numbers(Settings):
    whole: int = 1
    real: float = 0.5
    perhaps: Annotated[float, Field(ge=0.0)] | None = None
    either: Annotated[int, Field(ge=1)] | Literal["trial"] = 1
    pair: Share | tuple[Share, Share] = 0.5
    named: dict[str, float | None] = Field(default_factory=dict)
    rows: tuple[tuple[int, float], ...] = ()
    inner: Inner | None = None
    switch: bool = False
    any: bool | int = 0
    mixed: tuple[bool, float] = (False, 0.5)
    options: dict[str, Any] = Field(default_factory=dict)


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize(
    ("key", "data"),
    [
        ("whole", lambda truth: {"whole": truth}),
        ("real", lambda truth: {"real": truth}),
        ("perhaps", lambda truth: {"perhaps": truth}),
        ("either", lambda truth: {"either": truth}),
        ("pair", lambda truth: {"pair": truth}),
        ("pair", lambda truth: {"pair": [0.5, truth]}),
        ("named", lambda truth: {"named": {"a": 1.0, "b": truth}}),
        ("rows", lambda truth: {"rows": [[1, 0.5], [truth, 0.5]]}),
        ("inner.rate", lambda truth: {"inner": {"rate": truth}}),
    ],
)
def test_a_boolean_is_no_number(key, data, truth):
    with pytest.raises(BadParameter, match=rf"^The setting {key} cannot be .*{truth}.*: Input should be a number, not"):
        Numbers.read(data(truth))


def test_booleans_stay_where_they_may_stand():
    data = {"switch": True, "any": True, "mixed": [True, 1], "options": {"a": True, "b": [True]}}
    read = Numbers.read(data)
    assert (read.switch, read.any, read.mixed, read.options) == (True, True, (True, 1.0), data["options"])
    assert read.any is True


class Ordered(Settings):
    low: int = 0
    high: int = 1

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low > self.high:
            raise ValueError("`low` is at most `high`")
        return self


class Holder(Settings):
    inner: Ordered | None = None
    named: dict[str, Ordered] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"inner": {"low": 2}}, "In inner, `low` is at most `high`."),
        ({"named": {"a": {"low": 2, "high": 1}}}, "In named.a, `low` is at most `high`."),
    ],
)
def test_settings_of_a_table_that_cannot_stand_together_are_told_without_the_table(data, said):
    with pytest.raises(BadParameter) as caught:
        Holder.read(data)
    assert str(caught.value) == said


class Listed(Settings):
    targets: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("text", "quoted"), [("[here]", '["here"]'), ("[q, 'v']", '["q", "v"]'), ("[here", '["here"]')]
)
def test_a_list_that_a_shell_took_the_quotes_from_is_told_how_to_keep_them(text, quoted):
    with pytest.raises(BadParameter, match=rf"^The setting targets cannot be .*--set 'KEY={re.escape(quoted)}'\.$"):
        Listed.read({"targets": text})
    with pytest.raises(BadParameter, match=r"Input should be a list in brackets, as in \['here'\]\.$"):
        Listed.read({"targets": "here"})


class Shaped(Settings):
    names: tuple[str, ...] = Field(("a",), min_length=1)
    pair: tuple[int, ...] = Field((1, 2), max_length=2)
    shares: Mapping[str, float] = {}
    inner: Inner = Inner()
    inners: tuple[Inner, ...] = ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"names": []}, "The setting names cannot be []: Input should have at least 1 entry."),
        ({"pair": [1, 2, 3]}, "The setting pair cannot be [1, 2, 3]: Input should have at most 2 entries."),
        ({"shares": ["a"]}, "The setting shares cannot be ['a']: Input should be a table, as in { NAME = VALUE }."),
        ({"inner": "x"}, "The setting inner cannot be 'x': Input should be a table, as in { NAME = VALUE }."),
        ({"inners": ["x"]}, "The setting inners.0 cannot be 'x': Input should be a table, as in { NAME = VALUE }."),
    ],
)
def test_tables_and_sizes_are_told_in_the_words_of_a_recipe(data, said):
    with pytest.raises(BadParameter) as refused:
        Shaped.read(data)
    assert str(refused.value) == said
