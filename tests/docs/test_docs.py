"""The words around the code: generated pages are current, outputs are what is printed, links and commands exist."""

import re
import sys
from importlib import import_module
from pathlib import Path
from shlex import split

import pytest
from typer.main import get_command

from stratagem.cli.main import app
from stratagem.cli.plural import spread
from stratagem.games import game_names, make_game
from stratagem.games.catalogue import GAMES
from stratagem.players.catalogue import PLAYERS

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "site")]
catalogue = import_module("catalogue")
shown = import_module("chapters.shown")
lead_to_pages = import_module("reference").lead_to_pages

REFERENCE = ROOT / "docs" / "reference"
PAGES = [ROOT / "AGENTS.md", *catalogue.written_by_hand()]
LINK = re.compile(r'\[[^\]]+\]\(([^)\s]+)(?: "[^"]*")?\)')
TARGETS = re.findall(r"^([a-z0-9-]+):.*## (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
COMMANDS = get_command(app).commands
DEAR = {
    "README.md",
    "CONTRIBUTING.md",
    "docs/explanation/diplomacy.md",
    "docs/explanation/exploitability.md",
    "docs/explanation/talk.md",
    "docs/how-to/a-whole-game.md",
    "docs/how-to/add-a-game.md",
    "docs/how-to/add-a-suite.md",
    "docs/how-to/audit-in-unseen-games.md",
    "docs/how-to/check-a-game.md",
    "docs/how-to/compare-two-players.md",
    "docs/how-to/record-and-read.md",
    "docs/how-to/remote-models.md",
    "docs/how-to/reproduce-a-paper.md",
    "docs/how-to/serve-a-player.md",
    "docs/how-to/use-a-language-model.md",
    "docs/how-to/write-a-game-as-data.md",
    "docs/results/sco-pal.md",
    "docs/tutorials/first-evaluation.md",
}
"""Pages whose programs take over a second together."""
OTHERS = ("pip install ./examples", ". .venv/bin/activate")


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", catalogue.REFERENCE)
def test_no_default_is_computed_from_the_machine(name):
    page = catalogue.reference_page(name)
    assert re.findall(r"= \d+\.\d{6,}", page) == [], "another machine has another reference page"


@pytest.mark.parametrize("name", catalogue.REFERENCE)
def test_links_of_the_reference_lead_somewhere(name):
    follow(ROOT / "docs" / "reference" / f"{name}.md", catalogue.reference_page(name))


def test_the_reference_of_a_command_leads_to_the_guides_that_show_it():
    sections = catalogue.reference_page("command-line").split("\n## stratagem ")[1:]
    led = {section.partition("\n")[0]: re.findall(r"\]\(\.\./([\w/-]+\.md)\)", section) for section in sections}
    assert [name for name, places in led.items() if not places] == []
    for name, places in led.items():
        assert all(f"stratagem {name}" in (ROOT / "docs" / place).read_text("utf-8") for place in places)
    assert led["sweep"][0] == "how-to/sweep.md"


def test_the_list_of_the_reference_has_every_page():
    listed = (ROOT / "docs" / "reference" / "README.md").read_text("utf-8")
    assert {*re.findall(r"^## (.+)$", listed, re.MULTILINE)} == {*catalogue.REFERENCE}
    assert all(f"\n## {name}\n\n`{name}.md`: " in listed for name in catalogue.REFERENCE)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.runs] * (named(path) in DEAR)) for path in catalogue.written_by_hand()],
    ids=named,
)
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


def anchors(page):
    """Where a link into a page can lead: its headings as GitHub turns them into addresses."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def follow(path, page):
    """Follow the links of a page, on a code host and, where they lead to the reference, on the site."""
    shown_there = lead_to_pages(page, named(path.with_suffix("")))
    for link in {*LINK.findall(page), *LINK.findall(shown_there)}:
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        found = (path.parent / target).resolve() if target else path
        generated = found.parent == REFERENCE and found.stem in catalogue.REFERENCE
        assert generated or found.exists(), f"{named(path)} links to {link}"
        text = catalogue.reference_page(found.stem) if generated else anchor and found.read_text("utf-8")
        assert not anchor or anchor in anchors(text), f"{named(path)} links to {link}"


@pytest.mark.parametrize("path", dict.fromkeys((*PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md")), ids=named)
def test_links_lead_somewhere(path):
    page = path.read_text("utf-8")
    pages = "|".join(catalogue.REFERENCE)
    assert not re.search(rf"\]\([\w./]*reference/(?:{pages})\.md", page), "link to `reference/README.md#NAME`"
    follow(path, page)


def test_the_index_leads_to_every_page():
    linked = {(ROOT / "docs" / link).resolve() for link in LINK.findall((ROOT / "docs/index.md").read_text("utf-8"))}
    assert {path for path in PAGES if path.is_relative_to(ROOT / "docs") and path.name != "index.md"} <= linked


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_commands_exist(path, monkeypatch):
    monkeypatch.setattr("stratagem.playing.workers.ray_cluster.find_spec", lambda name: name)  # no command is run
    for line in shown.commands(path.read_text("utf-8")):
        program, *words = split(line, comments=True)
        if program == "make":
            assert set(words) <= {name for name, _ in TARGETS}, line
        elif program == "stratagem" and words:  # alone it opens the shipped run
            command, *arguments = spread(words)
            COMMANDS[command].make_context(command, arguments)
        elif program == "python":
            assert (ROOT / words[0]).is_file(), line
        else:
            assert line in {*OTHERS, "stratagem"}


@pytest.mark.parametrize("line", ["stratagem sweep", "stratagem eval kuhn --player X --speed 3"])
def test_a_command_that_does_not_exist_is_found(line):
    command, *arguments = split(line)[1:]
    with pytest.raises(Exception, match=r"Missing (argument|option|parameter)|No such option"):
        COMMANDS[command].make_context(command, arguments)


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_one_page_shows_each_example_as_it_is(name):
    example = f"```python\n{(ROOT / 'examples' / name).read_text('utf-8')}```\n"
    assert len([page for page in PAGES if example in page.read_text("utf-8")]) == 1


def test_contributing_shows_the_entry_points_as_they_are():
    declared = (ROOT / "examples" / "pyproject.toml").read_text("utf-8")
    entry_points = declared[declared.index("[project.entry-points") :]
    assert f"```toml\n{entry_points}```\n" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    extensions = {*(ROOT / "docs" / "how-to").glob("add-a-*.md")} - {ROOT / "docs" / "how-to" / "add-a-viewer-page.md"}
    for page in extensions:
        block, *_ = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        assert block in entry_points


def test_make_says_what_every_target_does():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    phony = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    assert {name for name, _ in TARGETS} == phony - {"everything"}
    named_there = re.findall(r"^\| `make ([a-z0-9-]+)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert set(named_there) < phony


@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/first-training.md"])
def test_the_commands_of_the_demo_are_shown_as_they_are(page):
    demo = (ROOT / "Makefile").read_text("utf-8").partition("\ndemo:")[2].partition("\n\n")[0]
    typed = re.findall(r"\$\(BIN\)/(stratagem .*)", demo)
    assert [line.split()[1] for line in typed] == ["train", "eval", "report"]
    assert set(typed) <= set(shown.commands((ROOT / page).read_text("utf-8")))


def test_every_game_and_every_player_has_an_entry():
    games, players = map(catalogue.reference_page, ("games", "players"))
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
    assert game.rules(0) in catalogue.reference_page("games")


def test_what_is_shown_comes_from_the_tree_under_test():
    page = "```python\nimport stratagem\nprint(stratagem.__file__)\n```\n\n```text\n```\n"
    assert f"\n{ROOT / 'src' / 'stratagem' / '__init__.py'}\n" in shown.refreshed(page)
