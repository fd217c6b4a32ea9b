"""One key means one thing in every recipe, and no replaced key stands in a recipe, a class of settings or a page."""

import re
import sys
import tomllib
from collections import defaultdict
from fnmatch import fnmatchcase
from importlib import import_module
from inspect import signature
from itertools import accumulate
from pathlib import Path
from typing import get_args

import pytest

import stratagem
from stratagem import __version__
from stratagem.algorithms.catalogue import ALGORITHMS, algorithm_of
from stratagem.api import FUNCTIONS
from stratagem.base.renamed.keys import RELEASES, renamed_keys
from stratagem.base.setting_types import describe_fields
from stratagem.base.settings import Settings
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.learn.advantages.catalogue import ESTIMATORS
from stratagem.learn.losses.catalogue import LOSSES
from stratagem.sweeps.plan import SweepPlan
from stratagem.training.runs.folder import RunInfo
from stratagem.training.shipped import SHIPPED, shipped_recipes

ROOT = Path(__file__).parents[1]
RECIPES = sorted(recipe.path for recipe in shipped_recipes() if recipe.group != "sweeps")
sys.path.insert(0, str(ROOT / "docs"))
docs = import_module("catalogue")
PAGES = docs.written_by_hand()
REFERENCE = sorted({*docs.REFERENCE} - {"extensions"})
"""The page of types has parameters of Python, which are no keys of a recipe: `bound` there is that of a draw."""
ROOTS = [algorithm_of({"algorithm": name}).recipe_type for name in ALGORITHMS.names()]

EXCUSED = {
    "adapter": "the same adapter; a seat of ShapeLLM has one of its own",
    "batch_size": "always examples in a batch; those of PPO follow one another in play",
    "checkpoint_every": "the unit is the algorithm's own: iterations, optimizer steps or trials",
    "device": "always the device of a model; the sentence says of which",
    "episodes": "always a number of episodes; the sentence says of what",
    "epochs": "always passes over the data; the sentence says over which",
    "game": "always a game by name; a target policy may take that of its table",
    "games": "always games by name; those of a source of examples may be others than are played",
    "grpo": "the table of the algorithm, and that of SCO-PAL's offline stage of the same name",
    "iterations": "SCO-PAL repeats all its stages, the other algorithms play and learn",
    "kl_sft": "the table of the algorithm, as ShapeLLM uses it before its trials",
    "model": "always a model by name; the sentence says what for",
    "opponents": "always who plays the other seats: in training with shares, in evaluation by name",
    "optimizer": "the same optimizer; of ShapeLLM it moves the value head, too",
    "recipe": "the recipe of a sweep, and that of one of its arms",
    "reference": "always a reference policy; the sentence says of which loss",
    "reward": "SCO-PAL's stage of step rewards, and whose payoff a seat of ShapeLLM is rewarded by",
    "seats": "always seats of the game: of ShapeLLM with their settings, of a policy by their numbers",
    "style": "always a prompt style; that of a seat must fit its memory",
    "teacher": "who is imitated: a player by its games, or a model by its policy",
    "matchmaker": "always the rule that draws opponents; the sentence says from whom",
    "max_snapshots": "always the number of newest snapshots that may be met; in a league of each learner",
    "snapshot_every": "always the iterations between two snapshots; in a league of every learner",
    "temperature": "always a sampling temperature; the sentence says of whom",
}
"""Keys whose sentence differs from class to class, each with the reason why that is right."""


def inside(annotation):
    """Classes of settings that an annotation holds."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        yield annotation
    for part in get_args(annotation):
        yield from inside(part)


def tree(cls, place=""):
    """Every class of settings below a class, with its place; `*` stands for names that a user gives."""
    yield place, cls
    for name, field in cls.model_fields.items():
        for inner in inside(field.annotation):
            free = "" if inner in (field.annotation, *get_args(field.annotation)) else "*."
            yield from tree(inner, f"{place}{name}.{free}")


PLACES = [(place, cls) for root in (*ROOTS, SweepPlan) for place, cls in tree(root)]
CLASSES = sorted({cls for _, cls in PLACES}, key=lambda cls: cls.__name__)
VALID = {f"{place}{name}" for place, cls in PLACES for name in cls.model_fields}
REPLACED = {f"{place}{old}" for place, cls in PLACES for old in renamed_keys(cls)} - VALID


OTHER_NAMES = {
    "forks": "a check of `verify-game`",
    "shown": "a key of steps of described games",
    "terms": "a column of a batch",
    "warm_up": "a purpose of an episode in a record",
    "alpha": "an option of players of Kuhn poker",
    "at": "a method of keys",
    "batch": "rows that a mean is taken over",
    "beta": "an advantage estimator",
    "clock": "a column of a record",
    "entropy": "a metric",
    "first": "an option of players",
    "budget": "a spending cap, and an option of the player perfect",
    "kl": "a metric",
    "most": "an option of the game negotiation",
    "ratio": "a figure of the monitor",
    "start": "a checkpoint, and a model of a run",
    "turns": "a metric of the environment for verifiers",
}
"""Replaced keys that are also names of something else, which pages write."""
PARAMETERS = {name for made in (*LOSSES.values(), *ESTIMATORS.values()) for name in signature(made).parameters}
PARAMETERS |= {name for function in FUNCTIONS for name in signature(getattr(stratagem, function)).parameters}
RETIRED = {key.rpartition(".")[2] for key in REPLACED}
RETIRED -= {name for cls in CLASSES for name in cls.model_fields} | PARAMETERS | OTHER_NAMES.keys()
"""Replaced keys that are no key of anything any more, so that no page has a reason to write them."""


def meaning(description):
    """The first clause of a key's documentation; what follows is how this class uses it."""
    return re.split(r"[.;:]", " ".join((description or "").split()), maxsplit=1)[0]


def meanings():
    """By key every meaning, with the classes that give it."""
    found = defaultdict(lambda: defaultdict(list))
    for cls in CLASSES:
        texts = describe_fields(cls)
        for name in cls.model_fields:
            found[name][meaning(texts.get(name))].append(cls.__name__)
    return found


def test_every_key_is_documented():
    assert [
        f"{cls.__name__}.{name}" for cls in CLASSES for name in cls.model_fields.keys() - describe_fields(cls).keys()
    ] == []


def test_one_key_has_one_meaning():
    several = {name: dict(told) for name, told in meanings().items() if len(told) > 1 and name not in EXCUSED}
    assert several == {}


def test_a_key_is_excused_only_while_it_has_several_sentences():
    assert {name for name in EXCUSED if len(meanings()[name]) < 2} == set()


def numbers(version):
    return tuple(map(int, version.split(".")))


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.since)
def test_old_names_are_deleted_when_their_time_is_over(release):
    assert numbers(__version__) < numbers(release.until)


def test_every_entry_of_the_table_is_of_a_class_that_there_is():
    made = {made for made in (*LOSSES.values(), *ESTIMATORS.values()) if isinstance(made, type)}
    bases = {base.__name__ for cls in (*CLASSES, *made, DecodingSettings, RunInfo) for base in cls.__mro__}
    assert {name for release in RELEASES for name in release.keys} - bases == set()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_no_class_has_a_key_that_it_replaced(cls):
    assert not renamed_keys(cls).keys() & cls.model_fields.keys()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_replaced_key_leads_to_a_key_of_its_class(cls):
    words = {old: re.findall(r"\w+", renaming.new)[0] for old, renaming in renamed_keys(cls).items() if renaming.new}
    assert {old: word for old, word in words.items() if word not in {*cls.model_fields, "defaults", "nothing"}} == {}


def keys(data, place=""):
    """Every dotted key of TOML data."""
    for name, value in data.items():
        yield f"{place}{name}"
        tables = value if isinstance(value, list) else [value]
        for table in tables:
            if isinstance(table, dict):
                yield from keys(table, f"{place}{name}.")


def is_replaced(key):
    """Return whether a dotted key, or a table that it stands in, is replaced, and of no recipe any more."""
    if key.endswith((".json", ".jsonl", ".toml")):  # a file
        return False
    tables = accumulate(key.split("."), "{}.{}".format)
    return any(matches(place, REPLACED) and not matches(place, VALID) for place in tables)


def matches(key, places):
    return any(fnmatchcase(key, place) for place in places)


def recipe_name(path):
    return str(path.relative_to(SHIPPED))


@pytest.mark.parametrize("path", RECIPES, ids=recipe_name)
def test_no_recipe_has_a_replaced_key(path):
    data = tomllib.loads(path.read_text("utf-8"))
    own = {f"{place}{old}" for place, cls in tree(algorithm_of(data).recipe_type) for old in renamed_keys(cls)}
    replaced = own if "algorithm" in data else REPLACED
    assert [key for key in keys(data) if is_replaced(key) or ("algorithm" in data and key in replaced)] == []


def written(page):
    """Dotted keys in code: of `--set`, of TOML blocks, and of spans such as `grpo.group_size`."""
    blocks = re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)
    for language, block in blocks:
        if language == "toml":
            yield from toml_keys(block)
    code = [
        *(block for _, block in blocks),
        *re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page, flags=re.DOTALL)),
    ]
    for text in code:
        yield from re.findall(r"--set\s+['\"]?([\w.]+)=", text)
        yield from re.findall(r"(?<![\w./:-])[a-z_]+(?:\.[a-z_]+)+(?![\w/(])", text)


def bare(page):
    """Keys that stand alone in a span, as `group_size`, `group_size = 4` or `[sft]`."""
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page, flags=re.DOTALL)):
        if alone := re.fullmatch(r"\[?(\w+)\]?(?: = .*)?", span):
            yield alone[1]


def toml_keys(block):
    try:
        yield from keys(tomllib.loads(block))
    except tomllib.TOMLDecodeError:
        return


def replaced_in(page):
    dotted = {key for key in written(page) if is_replaced(key) and key.partition(".")[0] not in OTHER_NAMES}
    return dotted | {key for key in bare(page) if key in RETIRED}


def page_name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_no_page_names_a_replaced_key(path):
    assert replaced_in(path.read_text("utf-8")) == set()


@pytest.mark.parametrize("name", REFERENCE)
def test_no_page_of_the_reference_names_a_replaced_key(name):
    assert replaced_in(docs.reference_page(name)) == set()


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("Set `grpo.groups` to 4.", {"grpo.groups"}),
        ("`[warm_start]`, or `keep_every = 1`", {"warm_start", "keep_every"}),
        ("```toml\n[grpo]\nforks = 2\n```", {"grpo.forks"}),
        ("```sh\nstratagem train x.toml --set 'warm_start.epochs=0' --set seed=2\n```", {"warm_start.epochs"}),
        ("`grpo.optimizer.rate` and `league.optimizer.learning_rate`", {"grpo.optimizer.rate"}),
    ],
)
def test_a_replaced_key_in_code_is_found(page, found):
    assert replaced_in(page) == found
