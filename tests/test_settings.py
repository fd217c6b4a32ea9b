"""What is said of wrong settings: one sentence that names the place as it is written, and what may stand there."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field

from stratagem.errors import BadParameter
from stratagem.settings import Settings

Share = Annotated[float, Field(gt=0.0, lt=1.0)]


class Inner(Settings):
    clock: Annotated[int, Field(ge=1)] | Literal["trial"] = 1
    first: Share | tuple[Share, Share] = 0.5
    rate: float | None = None


class Outer(Settings):
    inner: Inner | None = None
    seats: dict[str, Inner] = Field(default_factory=dict)
    rows: tuple[Inner, ...] = ()


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        ({"clock": "episode"}, "clock cannot be 'episode': .* valid integer, .*; or 'trial'.$"),
        ({"clock": 0}, "clock cannot be 0: Input should be greater than or equal to 1; or 'trial'.$"),
        ({"first": 2.0}, "first cannot be 2.0: Input should be less than 1; or a valid tuple.$"),
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


@pytest.mark.parametrize("data", [{"inner": {"clok": 1}}, {"seats": {"a": {"clok": 1}}}, {"rows": [{"clok": 1}]}])
def test_an_unknown_name_is_told_those_beside_it(data):
    with pytest.raises(BadParameter, match=r"^There is no setting \S+\.clok: there are clock, first, rate\.$"):
        Outer.read(data)
