"""Published tables: what a paper printed, and which runs and figures of runs answer to it.

The file of a paper of this project is `recipes/papers/NAME/published.toml`, and anybody may write another. A table that
cannot be asked of runs says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from stratagem.base.consent.needs import texts_of
from stratagem.base.consent.table import note_named, settle
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.files import parse_toml, read_small, reason
from stratagem.base.settings import Settings
from stratagem.training.shipped import PAPERS, PUBLISHED

ScaleName = Literal["tiny", "cpu", "gpu"]
SCALES: tuple[ScaleName, ...] = ("tiny", "cpu", "gpu")
"""Scales of a reproduction, from minutes on a laptop to the paper's own models."""
_SUFFIX = ".toml"
_NUMBER = re.compile(r"([+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*|\.\d+))([KM]?)")
_THOUSANDS = {"": 1.0, "K": 1e3, "M": 1e6}
MOST_SEEDS = 1000
"""Largest number of seeds of a table."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
_RUN = re.compile(r"\{([^{}]+)\}")
"""Name of a run in braces, which stands for its folder."""


class PublishedColumn(Settings):
    """Column of a published table, and the figure of a run that answers to it."""

    name: str
    """Name of the figure, in words."""
    at: str
    """Path of the figure among the final figures of a run. A word in braces is a field of the row's `at`."""
    factor: float = 1.0
    """Factor from the unit of the run to that of the paper."""
    compared: bool = True
    """False where the printed figure is of other games or opponents, so that a difference would say nothing."""
    chance: str | float | None = None
    """Chance level: a number in the paper's unit, or the path of a figure of the run."""


class PublishedRow(Settings):
    """Row of a published table: its printed figures, and the run that answers to them."""

    label: str
    """Name of the row, in words."""
    run: str = ""
    """Name of the run among `runs`, or of one of `evaluations`."""
    cannot: str = ""
    """Reason why no run answers to this row, in place of a run."""
    model: str = ""
    """Name of the model among `models`; empty for the paper's only one."""
    at: dict[str, str | int] = Field(default={})
    """Fields of the paths of the columns."""
    published: tuple[str, ...]
    """Printed figures, one for each column, as they are printed; empty where there is none."""
    chance: tuple[float | None, ...] = ()
    """Chance levels of this row, one for each column, where they are not those of the columns."""
    spread: tuple[tuple[float, float], ...] = ()
    """Range in which a figure of one seed is expected, for each column; a figure outside is an alarm. Without it
    there is none."""
    seeds: int | None = Field(default=None, ge=1, le=MOST_SEEDS)
    """Number of seeds in the paper, where it is not that of the table."""
    compared: bool = True
    """False where the printed figures are of other games or opponents, so that a difference would say nothing."""


class PublishedTable(Settings):
    """Table or figure of a paper."""

    id: str
    """Name in the paper, such as `2`, `A.7` or `figure-3`."""
    title: str
    """Contents, in a few words."""
    place: str
    """Section or page of the paper."""
    seeds: int = Field(default=1, ge=1, le=MOST_SEEDS)
    """Number of seeds in the paper."""
    printed_in: str = ""
    """Place of the figures in the text, and why they are not at the table, such as an image; empty where they are."""
    differs: tuple[str, ...] = ()
    """Differences from the paper in this table, each a sentence."""
    cannot: str = ""
    """Reason why no run answers to this table, with the feature that is missing; empty where runs do."""
    columns: tuple[PublishedColumn, ...] = ()
    """Columns, in the paper's order."""
    rows: tuple[PublishedRow, ...] = ()
    """Rows, in the paper's order."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.cannot) == bool(self.rows):
            raise ValueError(f"table {self.id} has rows, or a reason in `cannot`: give one of the two")
        for row in self.rows:
            if len(row.published) != len(self.columns):
                raise ValueError(
                    f"the row {row.label!r} has {len(row.published)} figures for {len(self.columns)} columns"
                )
            if row.chance and len(row.chance) != len(self.columns):
                raise ValueError(f"the row {row.label!r} has chance levels for {len(row.chance)} columns")
            if row.spread and len(row.spread) != len(self.columns):
                raise ValueError(f"the row {row.label!r} has a spread for {len(row.spread)} columns")
            if bool(row.cannot) == bool(row.run):
                raise ValueError(f"the row {row.label!r} has a run, or a reason in `cannot`: give one of the two")
            for text in row.published:
                printed_value(text)
        return self

    @property
    def runs(self) -> list[tuple[str, str]]:
        """Runs of the rows, each with its model, in their order and each once."""
        return list(dict.fromkeys((row.run, row.model) for row in self.rows if row.run))


class RunOfPaper(Settings):
    """Training run of a paper."""

    recipes: tuple[str, ...]
    """Recipes that are composed before that of the model, by paths from the paper's folder or names of recipes."""
    set: dict[str, Any] = Field(default={})
    """Changed settings. In a text, the name of a run in braces is its folder, as in `{self-play}/steps/0.parquet`."""
    after: str = ""
    """Name of the run whose model this one starts from; empty without one."""
    start: str = "start"
    """Label of that run's model, such as `start` or `best`."""
    scales: dict[ScaleName, dict[str, Any]] = Field(default={})
    """Further changed settings by scale."""
    scale_recipes: dict[ScaleName, tuple[str, ...]] = Field(default={})
    """Recipes of this run in place of those of the scale, such as other rates for a game."""

    @property
    def needs(self) -> list[str]:
        """Names of the runs that come before this one: whose model it starts from, and whose files it reads."""
        return list(dict.fromkeys([*filter(None, [self.after]), *runs_in(self.set), *runs_in(self.scales)]))


class EvaluationOfPaper(Settings):
    """Evaluation after training, in games or against opponents that the run's own final evaluation does not have."""

    run: str
    """Name of the run whose models play."""
    stages: tuple[str, ...] = Field(min_length=1)
    """Labels of its models, such as `base` and `kto`."""
    games: tuple[str, ...] = Field(min_length=1)
    """Games."""
    opponents: tuple[str, ...] = Field(min_length=1)
    """Opponents; a word in braces is the folder of that run with the same seed, as in `run:{grpo}@grpo`. Paths of
    figures name them as they are written here."""
    episodes: int = Field(default=100, ge=1)
    """Number of episodes against each opponent."""
    metrics: tuple[str, ...] = ("payoff",)
    """Metrics beside the win rates."""
    temperature: float | None = None
    """Sampling temperature of all models of runs; by default that of their training."""


class ScaleOfPaper(Settings):
    """Scale of a reproduction: the recipes of its model and its sizes, over those of the paper."""

    recipes: tuple[str, ...]
    """Recipes that are composed last, in place of the model's."""
    differs: tuple[str, ...]
    """Differences from the paper, each a sentence."""
    opponents: dict[str, str] = Field(default={})
    """Opponents by the names that evaluations and paths of figures have for them, as in `{ search = "mcts:10" }`."""
    decode_speed: float = Field(default=0.0, ge=0.0)
    """Sampled tokens a second that were measured at this scale, for the estimate of hours; 0 where none were."""
    learn_speed: float = Field(default=0.0, ge=0.0)
    """Tokens of training a second that were measured at this scale."""
    measured: str = ""
    """Machine on which the speeds were measured."""


class PublishedPaper(Settings):
    """Paper: its tables, the runs that they need, and the scales at which these can be made."""

    name: str
    """Name of the system, such as ShapeLLM."""
    title: str
    """Title of the paper."""
    text: str = ""
    """Name of the file of its text, in which the printed figures are checked."""
    captions: Literal["above", "below"] = "above"
    """Place of the captions of its tables."""
    differs: tuple[str, ...] = ()
    """Differences from the paper in every table, each a sentence."""
    models: dict[str, tuple[str, ...]]
    """Recipes of each model of the paper, for the scale `gpu`. The first model is that of rows without one."""
    model_settings: tuple[str, ...] = ("model",)
    """Places of the settings of a recipe that name the model."""
    scales: dict[ScaleName, ScaleOfPaper]
    """Scales in place of the paper's models; `gpu` may add recipes to them."""
    runs: dict[str, RunOfPaper] = Field(default={})
    """Runs by name."""
    evaluations: dict[str, EvaluationOfPaper] = Field(default={})
    """Evaluations by name; a row may name one in place of a run."""
    tables: tuple[PublishedTable, ...]
    """Tables and figures."""

    @model_validator(mode="after")
    def _plain_names(self) -> Self:
        """Refuse names that cannot be those of folders and files."""
        names = [*self.runs, *self.evaluations, *self.models, *(table.id for table in self.tables)]
        ids = [table.id.casefold() for table in self.tables]
        if len(set(ids)) < len(ids):
            raise ValueError("two tables have one id")
        if "gpu" in self.scales and self.runs and not self.models:
            raise ValueError("the scale gpu has no model in `models`")
        if bad := [name for name in names if not _NAME.fullmatch(name)]:
            raise ValueError(f"{bad[0][:60]!r} is no name of a run, model or table: use letters, digits, - _ and .")
        return self

    @model_validator(mode="after")
    def _names(self) -> Self:
        for table in self.tables:
            for name, model in table.runs:
                if name not in self.runs and name not in self.evaluations:
                    names = ", ".join([*self.runs, *self.evaluations])
                    raise ValueError(f"table {table.id} names no run {name!r}: there are {names}")
                if model and model not in self.models:
                    raise ValueError(f"table {table.id} names no model {model!r}: there are {', '.join(self.models)}")
        self._check_order()
        for name, evaluation in self.evaluations.items():
            if evaluation.run not in self.runs or name in self.runs:
                raise ValueError(f"the evaluation {name} needs a run, and a name that no run has")
            named = runs_in([evaluation.opponents, *(scale.opponents for scale in self.scales.values())])
            if unknown := [other for other in named if other not in self.runs]:
                raise ValueError(f"the evaluation {name} has an opponent of {unknown[0]!r}, which is no run")
        return self

    def _check_order(self) -> None:
        """Refuse a run that reads files of itself, or of a run that comes later."""
        before = set[str]()
        for name, run in self.runs.items():
            if later := [other for other in run.needs if other not in before]:
                raise ValueError(f"the run {name} starts from {later[0]!r} or reads its files: name that run before it")
            before.add(name)

    @model_validator(mode="after")
    def _paths(self) -> Self:
        """Refuse a path with a field that neither the row nor the runs have."""
        for table in self.tables:
            for row in (row for row in table.rows if row.run):
                for column in table.columns:
                    for template in (column.at, column.chance):
                        if isinstance(template, str):
                            self.path(template, row)
        return self

    def path(self, template: str, row: PublishedRow) -> str:
        """Fill the fields of a row into a path; the name of a run in braces stays, as in `run:{grpo}@last`.

        This is no format of Python's, whose widths and attributes the file of a stranger could use.
        """
        for name in _RUN.findall(template):
            if name not in row.at and name not in self.runs:
                raise ValueError(f"the row {row.label!r} lacks the field {name!r} of the path {template!r}")
        return _RUN.sub(lambda found: str(row.at.get(found[1], found[0])), template)

    def table(self, name: str) -> PublishedTable:
        """Find a table by its name in the paper."""
        for table in self.tables:
            if table.id.casefold() == name.casefold():
                return table
        raise UnknownName(f"table of {self.name}", name, [table.id for table in self.tables])


def runs_in(value: object) -> list[str]:
    """Return the names of the runs whose folders the texts of settings name in braces."""
    return list(dict.fromkeys(name for text in texts_of(value) for name in _RUN.findall(text)))


def with_folders(value: Any, folders: Mapping[str, Path]) -> Any:
    """Put folders of runs in place of their names in braces, in all texts of settings."""
    if isinstance(value, str):
        return _RUN.sub(lambda name: str(folders[name[1]]), value)
    if isinstance(value, Mapping):
        return {key: with_folders(inner, folders) for key, inner in value.items()}
    return [with_folders(inner, folders) for inner in value] if isinstance(value, list | tuple) else value


def printed_value(text: str) -> float | None:
    """Read the first number of a printed figure, such as `3.96 ± 0.02`, `1,721` or `4.67M`; None if it has none."""
    if not text:
        return None
    if (found := _NUMBER.search(text.replace("\u2212", "-"))) is None:
        raise ValueError(f"{text!r} is no printed figure: it has no number")
    return float(found[1].replace(",", "")) * _THOUSANDS[found[2]]


def paper_names() -> list[str]:
    """Return the short names of the papers, which are those of their folders."""
    return sorted(path.parent.name for path in PAPERS.glob(f"*/{PUBLISHED}"))


def file_of(name: str) -> Path:
    """Return the file of a paper: that of a shipped one by its short name, or a user's own by its path."""
    if name.endswith(_SUFFIX):
        return Path(name)
    if name not in paper_names():
        raise UnknownName("paper", name, paper_names())
    return PAPERS / name / PUBLISHED


def read_paper(path: Path) -> PublishedPaper:
    """Read the published tables in a file; what a user's own file names is asked for before it is used."""
    try:
        data = parse_toml(read_small(path))
    except (OSError, ValueError) as error:
        raise BadParameter(f"The published tables {path} cannot be read: {reason(error)}.") from error
    note_named(path, texts_of(data))
    settle([path.resolve()])
    return PublishedPaper.read(data)


def all_tables() -> Iterator[tuple[str, PublishedPaper, PublishedTable]]:
    """Yield every table of every paper, with the short name of its paper."""
    for name in paper_names():
        paper = read_paper(file_of(name))
        for table in paper.tables:
            yield name, paper, table
