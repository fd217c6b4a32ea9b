"""Build the pages of former releases into the site, each from its commit: `releases.py SITE`.

What was built stays, since the pages of a release do not change. The build reads the release's own pages and settings,
with the tools of today; it runs `conf.py` of that commit and nothing else.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
RELEASES = {"0.2.0": "972c4813ad65"}
"""The commit of each former release, by its version."""


def read_tree(commit: str) -> bytes | None:
    """Return the files of a commit as an archive, or None where the history here does not reach it."""
    found = subprocess.run(["git", "archive", "--format=tar", commit], cwd=ROOT, capture_output=True)
    return None if found.returncode else found.stdout


def build(archive: bytes, target: Path) -> None:
    """Build the pages of an archive; a build that fails or is killed leaves no folder of its name."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name, "tree")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(tree, filter="data")
        built = Path(name, "site")
        arguments = ["-q", "-c", str(tree / "docs/site"), "-d", str(Path(name, "build")), str(tree), str(built)]
        subprocess.run([sys.executable, "-m", "sphinx", *arguments], cwd=tree, check=True)
        shutil.copytree(tree / "docs/images", built / "docs/images", dirs_exist_ok=True)
        move(built, target)


def move(built: Path, target: Path) -> None:
    """Move a folder, perhaps from another disk, so that it appears as a whole in place of what lies there."""
    partial = target.with_name(f".{target.name}")
    for old in (partial, target):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(built, partial)
    partial.rename(target)


def main(site: Path) -> None:
    """Build each release that the site does not have."""
    for version, commit in RELEASES.items():
        if (site / version / "index.html").exists():
            continue
        archive = read_tree(commit)
        if archive is None:
            print(f"The pages of {version} are left out: this clone lacks their commit (git fetch --unshallow).")
            continue
        build(archive, site / version)
        print(f"Built the pages of {version}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
