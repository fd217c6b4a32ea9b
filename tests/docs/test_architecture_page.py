"""The architecture page draws the layers and the loop as they are in the code."""

import inspect
import re
from pathlib import Path
from textwrap import dedent

import stratagem
from stratagem.training import loop
from test_architecture import LAYERS, STOREYS

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md").read_text("utf-8")


ROWS = re.findall(r"^\| (`.*?) \|(.*)\|(.*)\|(.*)\|$", PAGE.partition("## The storeys")[2], re.MULTILINE)[
    : len(STOREYS) - 1
]
SOURCE = Path(stratagem.__file__).parent


def _names(cell):
    return re.findall(r"`([\w./]+)`", cell)


def test_architecture_page_lists_the_storeys_in_order():
    assert tuple(name for first, *_ in ROWS for name in _names(first)) == STOREYS


def test_architecture_page_names_the_rooms_of_each_storey():
    rooms = [layer.split(".") for layer in LAYERS if "." in layer and (SOURCE / layer.replace(".", "/")).is_dir()]
    held = {_names(first)[0]: _names(content) for first, content, *_ in ROWS}
    assert [(storey, room) for storey, room in rooms if room not in held[storey]] == []


def test_architecture_page_leads_to_three_files_of_each_storey():
    for first, *_, begin in ROWS[1:]:
        files = _names(begin)
        assert len(files) == 3
        assert [file for file in files if not (SOURCE / _names(first)[0] / file).is_file()] == []


def test_architecture_page_has_the_loop_of_the_docstring():
    drawn = re.search(r"(?:^ {4}.*\n)+", inspect.getdoc(loop) or "", re.MULTILINE)
    assert drawn is not None
    assert f"```text\n{dedent(drawn.group())}```\n" in PAGE
