"""Sections that packages add stand before the settings; a broken one says so and spoils nothing else."""

from importlib.metadata import EntryPoint

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of
from stratagem.base.registry import Registry
from stratagem.show.html import element
from stratagem.show.reports import catalogue
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section
from stratagem.training.runs.folder import RunFolder


def seed_section(data):
    return Section("seed", "Seed", "The seed of the run.", element("p", str(data.settings["seed"])))


def no_section(data):
    return None


def torn_section(data):
    raise OSError("no such thing")


@pytest.fixture
def of_packages(monkeypatch, tmp_path):
    """The sections of a run that has not begun, with those of packages."""
    recipe = algorithm_of({"algorithm": "reinforce"}).recipe_type.read({**RECIPES["reinforce"], "seed": 7})
    run = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    group = catalogue.PACKAGES.group

    def sections(*values):
        packages = Registry("report section", {}, group)
        packages.entries = {name: EntryPoint(name, value, group) for name, value in values}
        monkeypatch.setattr(catalogue, "PACKAGES", packages)
        return catalogue.sections(RunData(run))

    return sections


def test_a_section_of_a_package_stands_before_the_settings(of_packages):
    plain = [one.name for one in of_packages()]
    found = of_packages(("seed", f"{__name__}:seed_section"), ("none", f"{__name__}:no_section"))
    assert [one.name for one in found] == [*plain[:-2], "seed", *plain[-2:]]
    assert ">7<" in found[-3].body


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(f"{__name__}:torn_section", "OSError: no such thing"), ("no_such_module:section", "ModuleNotFoundError")],
)
def test_a_broken_section_says_so_and_spoils_nothing_else(of_packages, value, sentence):
    plain = [one.name for one in of_packages()]
    found = of_packages(("torn", value))
    assert [one.name for one in found] == [*plain[:-2], "broken-section", *plain[-2:]]
    assert sentence in found[-3].body
