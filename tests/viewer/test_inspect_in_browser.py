"""Policies, decisions and checks in a real browser, and planted defects that are found in at most six clicks."""

import re
from dataclasses import replace
from urllib.parse import quote

import pytest
from browser import faults_of_accessibility
from planted import DEFECTS, LAST, LEAK, write_planted
from shown_folder import Parrot, call_of, episodes_of

from stratagem.api.views import open_viewer
from stratagem.language.engines.base import Span
from stratagem.playing.store import write_shard

PATHS = (
    "#/policy?game=kuhn&player=Bluffer",
    f"#/policy?game=kuhn&record=games&player={quote(Parrot.recorded)}",
    "#/decisions?record=games",
    "#/decisions?record=games&regret=0.1&order=regret",
    "#/checks?record=games",
    "#/replay?game=kuhn&player=AlwaysBet&line=8&turn=2",
)
"""Every kind of page."""


class Person:
    """Somebody who counts clicks."""

    def __init__(self, page, address):
        self.page, self.clicks = page, 0
        page.goto(address)

    def click(self, target):
        target.click()
        self.clicks += 1


def seen(page, name):
    """Find the defect on the page, by the check."""
    words = page.get_by_label("Words", exact=True)
    if name == "advantage":
        words.get_by_text("Trained on: advantage").wait_for()
        trained = words.locator(".trained b").inner_text()
        page.keyboard.press("End")
        page.get_by_text("end of the game").wait_for()
        own = page.get_by_role("list", name="Seats").get_by_role("listitem").filter(has_text="model")
        assert own.locator("b").inner_text()[0] != trained[0], "what has won is made less likely"
    if name == "adapter":
        words.get_by_text("update ").wait_for()
    if name == "prompt":
        words.get_by_text("This prompt was cut").wait_for()
        assert words.get_by_text(LAST).count() == 1, "in the complaint alone"
    if name == "hidden":
        words.locator(".own-line", has_text=LEAK).wait_for()
    if name == "mask":
        words.get_by_text("it is outside the set of legal tokens").wait_for()
        assert words.get_by_role("list", name="Tokens of the reply").locator(".outside").count() == 1


@pytest.mark.parametrize("name", DEFECTS)
def test_planted_defect_is_found_in_six_clicks(page, tmp_path, name):
    write_planted(tmp_path / "record", DEFECTS[name])
    with open_viewer(tmp_path, port=0, needs_token=False).server as server:
        person = Person(page, server.url)
        person.click(page.get_by_role("link", name="Checks", exact=True))
        row = page.locator(f"#check-{name}")
        row.get_by_text("fault", exact=True).wait_for()
        assert page.get_by_text("fault", exact=True).count() == 1
        person.click(row.get_by_role("link").first)
        page.get_by_role("heading", name=re.compile("^Turn ")).wait_for()
        seen(page, name)
        assert person.clicks <= 6


def test_filter_of_decisions_is_a_link_and_leads_on(page, address):
    page.goto(f"{address}/#/decisions?record=games")
    page.get_by_label("Illegal replies").check()
    page.get_by_role("status").get_by_text(" of ").wait_for()
    page.locator("select[name=surprise]").select_option("0.01")
    link = page.url
    assert "illegal=1" in link
    assert "surprise=0.01" in link
    page.goto("about:blank")
    page.goto(link)
    told = page.get_by_role("status").get_by_text(" of ").inner_text()
    page.get_by_role("table").get_by_role("link").first.click()
    page.get_by_text(f"Flagged decision 1 of {told.split()[0]}").wait_for()
    first = page.url
    page.get_by_role("link", name="Next flagged decision").click()
    page.get_by_text("Flagged decision 2 of").wait_for()
    assert page.get_by_text("illegal", exact=True).first.is_visible()
    page.keyboard.press("p")
    page.get_by_text("Flagged decision 1 of").wait_for()
    assert page.url == first
    page.get_by_role("link", name="Flagged decision 1 of").click()
    page.get_by_role("heading", name="Decisions").wait_for()
    assert page.url == link


PRESSED_WHEN_SEEN = """([text, key]) => new MutationObserver((_, watch) => {
    if (!document.body.innerText.includes(text)) return;
    watch.disconnect();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""
"""Press a key at the first moment at which a text is on the page."""


def test_keys_work_as_soon_as_a_flagged_decision_is_seen(page, address):
    page.goto(f"{address}/#/decisions?record=games&illegal=1")
    page.get_by_role("table").get_by_role("link").first.click()
    page.get_by_role("link", name="Next flagged decision").click()
    page.get_by_text("Flagged decision 2 of").wait_for()
    page.evaluate(PRESSED_WHEN_SEEN, ["Flagged decision 3 of", "p"])
    page.get_by_role("link", name="Next flagged decision").click()
    page.wait_for_url(lambda link: "at=2" in link)
    page.wait_for_url(lambda link: "at=1" in link)
    page.get_by_text("Flagged decision 2 of").wait_for()


def test_regret_leads_to_the_exploiting_line(page, address):
    page.goto(f"{address}/#/policy?game=kuhn&player=AlwaysBet")
    page.get_by_role("heading", name="Worst 10 information sets").wait_for()
    assert page.get_by_text("0.333", exact=True).first.is_visible()
    worst = page.locator(".set").first
    assert worst.get_by_label("PASS: 0 %, equilibrium").or_(worst.get_by_label("FOLD: 0 %, equilibrium")).count() == 1
    worst.get_by_role("link", name="Replay the exploiting line").click()
    page.get_by_role("heading", name="Start of").wait_for()
    page.keyboard.press("End")
    page.get_by_text("end of the game").wait_for()
    page.get_by_role("link", name="Back to the policy").click()
    page.get_by_role("heading", name="Worst 10").wait_for()


def test_policy_of_replies_says_how_many(page, address):
    page.goto(f"{address}/#/policy")
    page.locator("select[name=source]").select_option(label="kuhn/NashApprox in games")
    page.get_by_text("biased upwards").wait_for()
    page.get_by_text("Replies counted").wait_for()


def test_policy_of_another_player_is_computed_on_demand(page, address):
    page.goto(f"{address}/#/policy?game=kuhn")
    page.get_by_label("Player", exact=True).fill("mcts:10")
    page.get_by_role("button", name="Compute its policy").click()
    page.get_by_text("cannot state its probabilities").wait_for(timeout=60_000)
    page.get_by_label("Player", exact=True).fill("noise(Bluffer, p=0.1)")
    page.get_by_role("button", name="Compute its policy").click()
    page.get_by_text("computed on demand").wait_for(timeout=60_000)
    page.get_by_role("heading", name="Worst 10").wait_for()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.get_by_text("Policy of noise(").wait_for()


def test_long_reply_is_drawn_in_part(page, tmp_path):
    episodes = episodes_of("kuhn(hands=1)", [Parrot(), "NashApprox"], 2)
    row = next(row for row in episodes[0].decisions if row.slot == 0)
    size = 5000
    row.calls = (
        replace(
            call_of(row),
            tokens=(1,) * size,
            text="B" * size,
            spans=(Span("sampled", 0, size),),
            sampler_logprobs=(-0.1,) * size,
            allowed=(None,) * size,
        ),
    )
    write_shard(tmp_path, 0, episodes)
    place = 1 + sorted({one.turn for one in episodes[0].decisions}).index(row.turn)
    with open_viewer(tmp_path, port=0, needs_token=False).server as server:
        page.goto(f"{server.url}/#/replay?record=.&id={episodes[0].id}&turn={place}&seat={row.seat}.{row.attempt}")
        tokens = page.get_by_role("list", name="Tokens of the reply")
        tokens.get_by_role("listitem").first.wait_for()
        page.wait_for_timeout(200)
        assert 200 <= tokens.get_by_role("listitem").count() <= 2000
        tokens.evaluate("box => { box.scrollTop = box.scrollHeight; }")
        page.get_by_label("Token 5000,").wait_for()
        assert tokens.get_by_role("listitem").count() <= 2000


@pytest.mark.parametrize("page", [(390, 844)], indirect=True)
@pytest.mark.parametrize("path", PATHS)
def test_phone_shows_pages_without_scrolling_sideways(page, address, path):
    page.goto(f"{address}/{path}")
    page.get_by_role("heading").nth(1).or_(page.get_by_role("table")).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_fault_of_accessibility(browser, address, scheme):
    page = browser.new_context(color_scheme=scheme).new_page()
    for path in PATHS:
        page.goto(f"{address}/{path}")
        page.get_by_role("heading").nth(1).or_(page.get_by_role("table")).first.wait_for()
        page.wait_for_timeout(300)
        assert faults_of_accessibility(page) == []
