"""A folder to look at."""

import shutil
from pathlib import Path

import pytest
from shown_folder import Parrot, episodes_of, write_run

from stratagem.play.store import write_shard


@pytest.fixture(scope="package")
def shown(tmp_path_factory):
    """The folder, for tests that leave it as it is."""
    root = tmp_path_factory.mktemp("shown")
    write_shard(root / "games", 0, episodes_of("kuhn", [Parrot(), "NashApprox"], 6))
    write_shard(root / "games", 1, episodes_of("ipd(rounds=4)", ["TitForTat", "AlwaysDefect"], name="later"))
    write_run(root / "runs" / "first")
    write_shard(root / "runs" / "first" / "record", 0, episodes_of("tic-tac-toe", ["random", "random"]))
    (root / "audit").mkdir()
    (root / "audit" / "card.html").write_text("<script>document.title='card'</script>", encoding="utf-8")
    return root


@pytest.fixture
def folder(shown, tmp_path):
    """A copy of the folder that a test may change."""
    return Path(shutil.copytree(shown, tmp_path / "shown"))
