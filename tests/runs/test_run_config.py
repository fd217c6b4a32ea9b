"""Settings as TOML: every value is there for a reader, and what is read back is what was written."""

import enum
import math
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.settings import Settings
from stratagem.training.runs.config_file import read_settings, settings_toml


class Colour(enum.Enum):
    RED = "red"


class Inner(Settings):
    rate: float = 1e-5
    betas: tuple[float, float] = (0.9, 0.999)
    name: str | None = None


class Group(Settings):
    type: Literal["group"] = "group"
    scaled: bool = True


class Discounted(Settings):
    type: Literal["discounted"] = "discounted"
    gamma: float = 0.99
    inner: Inner = Inner()


Credit = Annotated[Group | Discounted, Field(discriminator="type")]


class Outer(Settings):
    steps: int = 100
    limit: float = math.inf
    text: str = "plain"
    path: Path = Path("runs/one")
    colour: Colour = Colour.RED
    maybe: int | None = None
    learner: Inner = Inner()
    credit: Credit = Group()
    pools: tuple[Credit, ...] = ()
    rows: tuple[tuple[Inner, ...], ...] = ()
    shares: dict[str, float] = Field(default_factory=dict)
    by_seat: dict[int, Inner] = Field(default_factory=dict)
    texts: list[str] = Field(default_factory=list)


FULL = Outer(
    steps=10**30,
    limit=-math.inf,
    text='quotes " and \\ and\nnew\tlines\x7f\x00 and \U0001f3b2',
    maybe=3,
    learner=Inner(rate=5e-324, name="x"),
    credit=Discounted(gamma=-0.0, inner=Inner(betas=(0.0, 1e22))),
    pools=(Group(scaled=False), Discounted(inner=Inner(name="y")), Group()),
    rows=((Inner(), Inner(rate=2)), ()),
    shares={"kuhn/a b": 0.5, "": 1, "plain-one": 2, "é": 3},
    by_seat={0: Inner(), 1: Inner(name="z")},
    texts=["a, b", "]"],
)


def written(settings, folder):
    path = folder / "config.toml"
    path.write_text(settings_toml(settings), encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("settings", [Outer(), FULL], ids=["defaults", "full"])
def test_what_is_read_back_is_what_was_written(settings, tmp_path):
    again = read_settings(Outer, written(settings, tmp_path))
    assert again == settings
    assert type(again.credit) is type(settings.credit)
    assert repr(again) == repr(settings)  # also the sign of a zero


def test_every_value_is_written():
    assert settings_toml(Outer()) == (
        'steps = 100\nlimit = inf\ntext = "plain"\npath = "runs/one"\ncolour = "red"\n# maybe is none\n'
        "pools = []\nrows = []\ntexts = []\n"
        "\n[learner]\nrate = 1e-05\nbetas = [0.9, 0.999]\n# name is none\n"
        '\n[credit]\ntype = "group"\nscaled = true\n'
        "\n[shares]\n\n[by_seat]\n"
    )


def test_tables_in_lists_of_tables_are_theirs(tmp_path):
    text = settings_toml(FULL)
    assert text.count("[[pools]]") == 3
    assert text.count("[pools.inner]") == 1
    assert tomllib.loads(text)["pools"][1]["inner"]["name"] == "y"


@given(text=st.text(), number=st.floats(), key=st.text())
def test_any_text_and_any_number(text, number, key):
    settings = Outer(text=text, limit=number, shares={key: number})
    again = Outer.read(tomllib.loads(settings_toml(settings)))
    assert repr(again) == repr(settings)


class Stubborn(Settings):
    scale: float | None = 1.0
    inner: Inner = Inner()


def test_none_where_it_is_no_default_is_refused():
    assert settings_toml(Stubborn(scale=2.0)).startswith("scale = 2.0")
    with pytest.raises(BadParameter, match=r"^scale cannot be None in a run's settings: TOML has no word for it\.$"):
        settings_toml(Stubborn(scale=None))


class Holes(Settings):
    row: tuple[int | None, ...] = ()


def test_none_in_a_row_is_refused():
    with pytest.raises(BadParameter, match="None cannot be written as TOML"):
        settings_toml(Holes(row=(1, None)))


def test_a_file_that_is_no_toml_or_has_unknown_settings(tmp_path):
    path = tmp_path / "config.toml"
    for spoilt in (b"steps = ", b"\xff", b"steps = 1\nsteps = 2"):
        path.write_bytes(spoilt)
        with pytest.raises(BadRecord, match=r"config\.toml cannot be read as TOML"):
            read_settings(Outer, path)
    path.write_text("[learner]\nspeed = 1")
    with pytest.raises(BadParameter, match=r"There is no setting learner\.speed: there are"):
        read_settings(Outer, path)
    with pytest.raises(BadRecord):
        read_settings(Outer, tmp_path / "none.toml")
