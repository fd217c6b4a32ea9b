"""The architecture page draws the layers and the loop as they are in the code."""

import inspect
import re
from pathlib import Path
from textwrap import dedent

from stratagem.training import loop
from test_architecture import LAYERS

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md").read_text("utf-8")


def test_architecture_page_lists_the_layers_in_order():
    table = PAGE.partition("## The tree")[2].partition("## The loop")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", " ".join(rows))) == LAYERS


def test_architecture_page_has_the_loop_of_the_docstring():
    drawn = re.search(r"(?:^ {4}.*\n)+", inspect.getdoc(loop) or "", re.MULTILINE)
    assert drawn is not None
    assert f"```text\n{dedent(drawn.group())}```\n" in PAGE
