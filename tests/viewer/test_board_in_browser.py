"""The board of audits in a real browser: without faults of accessibility, and no wider than a phone."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import faults_of_accessibility

import stratagem as sg


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """A board of two agents, one of which has a long name."""
    folder = tmp_path_factory.mktemp("board")
    for name, player in {"first": "TightPassive", "second": "noise(noise(NashApprox, p=0.123456789), p=0.1)"}.items():
        sg.audit(player, games="kuhn", decisions=600, out=folder / name, progress=False)
    sg.rank_audits([folder / "first", folder / "second"], html=folder / "page" / "index.html")
    return folder / "page" / "index.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", [(1440, 900), (400, 800)], indirect=True)
def test_board_can_be_read_on_a_phone_and_by_everybody(page, board, scheme):
    page.expected = ("file://",)
    page.emulate_media(color_scheme=scheme)
    page.goto(board.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults_of_accessibility(page) == []
    page.get_by_text("How to exploit it in kuhn").first.click()
    assert page.get_by_role("cell", name="Your card is J. You open this hand.").first.is_visible()
    addresses = page.evaluate("[...document.querySelectorAll('a[download]')].map((link) => link.href)")
    assert len(addresses) == 4
    assert all(Path(unquote(urlsplit(address).path)).is_file() for address in addresses)
