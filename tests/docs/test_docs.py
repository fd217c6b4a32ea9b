"""The words around the code: generated pages are current, outputs are what is printed, links and commands exist."""

import re
import sys
from importlib import import_module
from pathlib import Path
from shlex import split

import pytest
from typer.main import get_command

from stratagem.cli.main import app, spread
from stratagem.games import game_names, make_game
from stratagem.games.catalogue import GAMES
from stratagem.players.catalogue import PLAYERS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
catalogue = import_module("catalogue")
shown = import_module("chapters.shown")

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
TARGETS = re.findall(r"^([a-z0-9-]+):.*## (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
COMMANDS = get_command(app).commands
OTHERS = ("pip install ./examples", ". .venv/bin/activate")


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", catalogue.REFERENCE)
def test_reference_pages_are_what_the_code_says(name):
    committed = (ROOT / "docs" / "reference" / f"{name}.md").read_text("utf-8")
    assert catalogue.REFERENCE[name]() == committed, "run `make docs`"


@pytest.mark.parametrize("name", catalogue.REFERENCE)
def test_no_default_is_computed_from_the_machine(name):
    committed = (ROOT / "docs" / "reference" / f"{name}.md").read_text("utf-8")
    assert re.findall(r"= \d+\.\d{6,}", committed) == [], "another machine has another reference page"


def test_every_reference_page_but_the_glossary_is_generated():
    pages = {path.stem for path in (ROOT / "docs" / "reference").glob("*")}
    assert pages == {*catalogue.REFERENCE, "glossary"}


@pytest.mark.parametrize("path", catalogue.written_by_hand(), ids=named)
def test_shown_outputs_are_what_commands_and_programs_print(path):
    page = path.read_text("utf-8")
    assert shown.refreshed(page) == page, "run `make docs`"


def test_an_output_that_is_out_of_date_is_found():
    page = "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n"
    assert shown.refreshed(page) == page.replace("41", "42")


def test_a_program_that_breaks_is_found():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        shown.refreshed("```python\n1 / 0\n```\n")
    with pytest.raises(RuntimeError, match="no option"):
        shown.refreshed("```sh\nstratagem play 'ipd(turns=3)' --players TitForTat\n```\n")


def anchors(path):
    """Where a link into a page can lead: its headings as GitHub turns them into addresses."""
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_links_lead_somewhere(path):
    for link in LINK.findall(path.read_text("utf-8")):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        page = (path.parent / target).resolve() if target else path
        assert page.exists(), f"{named(path)} links to {link}"
        assert not anchor or anchor in anchors(page), f"{named(path)} links to {link}"


def test_the_index_leads_to_every_page():
    linked = {(ROOT / "docs" / link).resolve() for link in LINK.findall((ROOT / "docs/index.md").read_text("utf-8"))}
    assert {path for path in PAGES if "docs" in path.parts and path.name != "index.md"} <= linked


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_commands_exist(path, monkeypatch):
    monkeypatch.setattr("stratagem.workers.ray_cluster.find_spec", lambda name: name)  # no command is run
    for line in shown.commands(path.read_text("utf-8")):
        program, *words = split(line, comments=True)
        if program == "make":
            assert set(words) <= {name for name, _ in TARGETS}, line
        elif program == "stratagem":
            command, *arguments = spread(words)
            COMMANDS[command].make_context(command, arguments)
        elif program == "python":
            assert (ROOT / words[0]).is_file(), line
        else:
            assert line in OTHERS


@pytest.mark.parametrize("line", ["stratagem sweep", "stratagem eval kuhn --player X --speed 3"])
def test_a_command_that_does_not_exist_is_found(line):
    command, *arguments = split(line)[1:]
    with pytest.raises(Exception, match=r"Missing (argument|option|parameter)|No such option"):
        COMMANDS[command].make_context(command, arguments)


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_contributing_shows_the_examples_as_they_are(name):
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert f"```python\n{(ROOT / 'examples' / name).read_text('utf-8')}```\n" in page


def test_contributing_shows_the_entry_points_as_they_are():
    declared = (ROOT / "examples" / "pyproject.toml").read_text("utf-8")
    entry_points = declared[declared.index("[project.entry-points") :]
    assert f"```toml\n{entry_points}```\n" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for page in (ROOT / "docs" / "how-to").glob("add-a-*.md"):
        block, *_ = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        assert block in entry_points


def test_contributing_lists_every_make_target():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert set(re.findall(r"^\| `make ([a-z0-9-]+)`", page, re.MULTILINE)) == {name for name, _ in TARGETS} - {"help"}


@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/first-training.md"])
def test_the_commands_of_the_demo_are_shown_as_they_are(page):
    demo = (ROOT / "Makefile").read_text("utf-8").partition("\ndemo:")[2].partition("\n\n")[0]
    typed = re.findall(r"\$\(BIN\)/(stratagem .*)", demo)
    assert [line.split()[1] for line in typed] == ["train", "eval", "report"]
    assert set(typed) <= set(shown.commands((ROOT / page).read_text("utf-8")))


def test_every_game_and_every_player_has_an_entry():
    games, players = ((ROOT / "docs/reference" / f"{name}.md").read_text("utf-8") for name in ("games", "players"))
    assert all(f"\n## {name}\n" in games for name in GAMES)
    assert all(f"| `{name.rpartition('/')[2]}" in players for name in PLAYERS)


def test_public_modules_have_the_names_that_they_declare():
    public = import_module("chapters.python").MODULES
    modules = [import_module(name) for name in ("stratagem", *public)]
    assert [
        f"{module.__name__}.{name}" for module in modules for name in module.__all__ if not hasattr(module, name)
    ] == []


def test_the_games_page_has_the_rules_of_the_game():
    game = make_game("kuhn")
    assert "kuhn" in game_names()
    assert game.rules(0) in (ROOT / "docs/reference/games.md").read_text("utf-8")


def test_what_is_shown_comes_from_the_tree_under_test():
    page = "```python\nimport stratagem\nprint(stratagem.__file__)\n```\n\n```text\n```\n"
    assert f"\n{ROOT / 'src' / 'stratagem' / '__init__.py'}\n" in shown.refreshed(page)
