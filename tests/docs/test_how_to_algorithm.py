"""The page on adding an algorithm: its files make a package whose algorithm, loss, estimator and section a run uses."""

import re
import tomllib
from pathlib import Path
from shlex import split

import pytest
from typer.main import get_command

from forks import forked_command
from stratagem.cli.main import app
from stratagem.learn.advantages.catalogue import ESTIMATORS
from stratagem.learn.losses.catalogue import LOSSES
from stratagem.playing.store import read_episodes
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-to/add-an-algorithm.md").read_text("utf-8")
VOLUNTEER = f"{ROOT / 'examples/volunteer/volunteer.py'}:Volunteer"
OF_EXAMPLES = ("stratagem.losses", "stratagem.advantages")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def install(target, points):
    """Write a package with the page's modules, and with the loss and the estimator of `examples/`."""
    info = target / "stranger-1.dist-info"
    info.mkdir(parents=True)
    for module in blocks("python"):
        (target / module.splitlines()[0].removeprefix("# ")).write_text(module, "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n")
    lines = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in some.items()) for group, some in points.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))


def stratagem(target, line, cwd):
    return forked_command(*split(line)[1:], work=cwd, scratch=target.parent)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A package with all that the page and `examples/` add."""
    target = tmp_path_factory.mktemp("stranger") / "site"
    declared, _ = blocks("toml")
    examples = tomllib.loads((ROOT / "examples/pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    points = tomllib.loads(declared)["project"]["entry-points"]
    install(target, {**points, **{group: examples[group] for group in OF_EXAMPLES}})
    return target


def test_a_run_uses_a_strangers_algorithm_loss_estimator_and_section(stranger, tmp_path):
    _, recipe = blocks("toml")
    (tmp_path / "versus.toml").write_text(recipe, "utf-8")
    for line in blocks("sh")[0].splitlines():
        status, printed = stratagem(stranger, line, tmp_path)
        assert status == 0, printed
    run = RunFolder.open(tmp_path / "runs/versus")
    told = tomllib.loads((run.path / "config.toml").read_text("utf-8"))
    assert told["algorithm"] == "versus"
    assert (told["versus"]["loss"]["type"], told["versus"]["advantage"]["type"]) == ("awr", "group_median")
    assert {"awr", "group_median"}.isdisjoint({*LOSSES, *ESTIMATORS})
    metrics = read_metrics(run)
    assert len(metrics["kuhn/versus/payoff"].values) == 3
    assert any(metrics["grad_norm"].values)
    assert "loss/weight" in metrics
    (page,) = run.path.glob("*.html")
    assert "Return against the fixed player" in page.read_text("utf-8")
    assert "AlwaysBet" in (run.path / "config.toml").read_text("utf-8")


def test_a_strangers_algorithm_trains_in_several_games(stranger, tmp_path):
    _, recipe = blocks("toml")
    two = recipe.replace('["kuhn(hands=1)"]', f'["kuhn(hands=1)", "{VOLUNTEER}"]').replace("AlwaysBet", "random")
    (tmp_path / "two.toml").write_text(two, "utf-8")
    words = f"stratagem train two.toml --out runs/two --allow-file {VOLUNTEER.rpartition(':')[0]}"
    status, printed = stratagem(stranger, words, tmp_path)
    assert status == 0, printed
    run = RunFolder.open(tmp_path / "runs/two")
    assert {"kuhn/versus/payoff", "volunteer/versus/payoff"} <= set(read_metrics(run))
    seats = {episode.seat_of(0) for episode in read_episodes(run.record) if episode.id.startswith("volunteer/versus/")}
    assert seats == {0, 1, 2}


def test_what_a_strangers_algorithm_lacks_is_refused_by_its_name(stranger, tmp_path):
    _, recipe = blocks("toml")
    (tmp_path / "versus.toml").write_text(recipe.replace('"group_median"', '"gae"'), "utf-8")
    status, printed = stratagem(stranger, "stratagem train versus.toml --dry-run", tmp_path)
    assert status == 2
    assert "needs the column `value`, which versus does not collect" in " ".join(printed.split())


def test_the_commands_of_the_page_exist():
    commands = get_command(app).commands
    assert {split(line)[1] for line in blocks("sh")[0].splitlines()} <= set(commands)
