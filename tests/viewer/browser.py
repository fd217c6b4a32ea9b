"""Chromium for tests: it or axe-core may be missing on a machine of one's own, and not where changes are checked."""

import os
import shutil
from pathlib import Path

import pytest


def lacking(what, way_out="make test-view fetches it"):
    """Skip a test with the reason, or fail where `CI` is set."""
    sentence = f"{what} is not here: {way_out}."
    if os.environ.get("CI"):
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def launch(started):
    """Start Debian's Chromium, or else the one that Playwright has fetched."""
    path = shutil.which("chromium") or started.chromium.executable_path
    if not Path(path).exists():
        lacking("Chromium")
    return started.chromium.launch(executable_path=path, args=["--no-sandbox"])


def axe():
    """Return the script of axe-core, which finds faults of accessibility."""
    path = Path(os.environ.get("STRATAGEM_AXE", "no-axe"))
    if not path.is_file():
        lacking("axe-core")
    return path.read_text("utf-8")


def faults_of_accessibility(page):
    """Return what axe-core complains about in a page, one line a fault."""
    page.evaluate(axe())
    found = page.evaluate("axe.run().then((result) => result.violations)")
    return [f"{page.url}: {fault['id']}, {fault['nodes'][0]['html']}" for fault in found]
