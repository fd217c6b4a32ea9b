"""The pages in a real browser; `make test-view` has one."""

import re
from urllib.parse import quote

import pytest
from browser import faults_of_accessibility
from shown_folder import HOSTILE, Parrot, add_step, episodes_of

from stratagem.api.views import open_viewer
from stratagem.playing.store import write_shard

pytest.importorskip("playwright.sync_api")


PATHS = (
    "",
    "#/games?record=games",
    "#/run?name=runs%2Ffirst",
    "#/runs?runs=%5B%22runs%2Ffirst%22%5D",
    "#/population?kind=record&name=games&game=kuhn",
    "#/replay?record=games&id=game%2F0.0&turn=2",
    "#/replay?record=games&id=later%2F0.0&turn=3",
)
"""Every kind of page."""


def open_game(page, address, name):
    """Go from the overview to an episode as a person does."""
    page.goto(address)
    page.get_by_role("link", name="Games", exact=True).click()
    page.get_by_role("link", name=name).click()
    page.get_by_role("heading", name="Start of").wait_for()


def test_overview_leads_to_runs_games_and_cards(page, address):
    page.goto(address)
    page.get_by_role("link", name="runs/first", exact=True).click()
    page.get_by_role("heading", name="runs/first").wait_for()
    assert page.get_by_role("img", name="kuhn/exact/exploitability: 0.500 at step 0, 0.100 at step 4").is_visible()
    page.go_back()
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Card of the audit").click()
    popup.value.wait_for_load_state()
    assert popup.value.title() == "card"
    assert popup.value.evaluate("self.origin") == "null"


def test_filter_is_a_link(page, address):
    page.goto(f"{address}/#/games?record=games")
    page.get_by_label("With illegal replies").check()
    page.get_by_text("of 8 episodes").wait_for()
    page.locator("select[name=game]").select_option("kuhn")
    page.locator("select[name=player]").select_option(Parrot.recorded)
    page.get_by_role("status").get_by_text("6 of 8 episodes").wait_for()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("status").get_by_text("6 of 8 episodes").wait_for()
    assert page.get_by_label("With illegal replies").is_checked()
    page.get_by_label("Search").fill("nobody")
    page.get_by_text("No episode passes this filter").wait_for()
    page.get_by_role("link", name="Clear the filter").click()
    page.get_by_role("status").get_by_text("8 episodes", exact=True).wait_for()


def listed_ids(page):
    """Ids of the episodes of the list, once it stands."""
    page.locator("table.episodes tbody th").first.wait_for()
    return page.locator("table.episodes tbody th").all_inner_texts()


def test_episodes_around_are_those_of_the_filtered_list(page, address):
    page.goto(f"{address}/#/games?record=games&game=ipd%28rounds%3D4%29&order=newest")
    ids = listed_ids(page)
    assert len(ids) == 2
    page.locator("table.episodes tbody th a").first.click()
    page.get_by_role("link", name="Episode 1 of 2 in the list").wait_for()
    assert page.get_by_role("link", name="Previous episode").count() == 0
    page.keyboard.press("n")
    page.get_by_role("link", name="Episode 2 of 2 in the list").wait_for()
    assert page.get_by_role("heading", level=1).inner_text().endswith(ids[1])
    assert page.get_by_role("link", name="Next episode").count() == 0
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="Turn 1 of").wait_for()
    page.keyboard.press("p")
    page.get_by_role("link", name="Episode 1 of 2 in the list").click()
    page.get_by_role("status").get_by_text("2 of 8 episodes").wait_for()


def test_a_replay_leads_back_to_the_page_of_the_list_that_has_its_episode(page, folder, address):
    write_shard(folder / "games", 2, episodes_of("kuhn", ["random", "random"], 60, name="more"))
    page.goto(f"{address}/#/games?record=games&game=kuhn&offset=50")
    page.get_by_role("link", name="more/25.0").click()
    page.get_by_role("link", name="Episode 57 of 66 in the list").click()
    page.get_by_text("51 to 66").wait_for()


def test_episodes_around_are_those_of_the_record_without_a_filter_or_where_the_list_has_moved(page, address):
    page.goto(f"{address}/#/games?record=games")
    ids = listed_ids(page)
    for query in ("", f"&list={quote('record=games&game=kuhn')}&place=3"):
        page.goto(f"{address}/#/replay?record=games&id={quote(ids[0])}{query}")
        page.get_by_role("link", name="All episodes").wait_for()
        page.get_by_role("link", name="Next episode").wait_for()
        page.keyboard.press("n")
        page.get_by_role("link", name="Previous episode").wait_for()
        assert page.get_by_role("heading", level=1).inner_text().endswith(ids[1])


def test_keys_move_and_the_address_holds_the_turn(page, address):
    open_game(page, address, "game/0.0")
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="Turn 1 of").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="Turn 2 of").wait_for()
    assert "turn=2" in page.url
    page.keyboard.press("End")
    page.get_by_text("end of the game").wait_for()
    turns = int(re.match(r"Turn \d+ of (\d+)", page.get_by_role("heading", name="Turn").first.inner_text())[1])
    page.keyboard.press("ArrowLeft")
    told = f"Turn {turns - 1} of {turns}"
    page.get_by_role("heading", name=told).wait_for()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("heading", name=told).wait_for()
    page.keyboard.press("Home")
    page.get_by_role("heading", name="Start of").wait_for()


def test_play_runs_to_the_end(page, address):
    page.goto(f"{address}/#/games?record=games&game=ipd%28rounds%3D4%29")
    page.get_by_role("link", name="later/0.0").click()
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    page.get_by_text("end of the game").wait_for(timeout=5000)
    page.get_by_role("button", name="Play").wait_for()
    assert "turn=4" in page.url


def test_words_are_told_token_by_token(page, address):
    open_game(page, address, "game/0.0")
    tokens = page.get_by_role("list", name="Tokens of the reply").get_by_role("listitem")
    for turn in range(1, 12):
        page.keyboard.press("ArrowRight")
        page.get_by_role("heading", name=f"Turn {turn} of").wait_for()
        page.get_by_text("Probability of the whole reply").or_(page.get_by_text("No model decided")).wait_for()
        if tokens.count() == 2:
            break
    tokens.nth(0).hover()
    page.get_by_text("probability 25.0 %; 2 tokens were allowed").wait_for()
    tokens.nth(1).focus()
    page.get_by_text("the only legal token, not sampled.", exact=False).last.wait_for()


def test_hostile_texts_are_only_shown(page, address):
    open_game(page, address, "game/0.0")
    page.keyboard.press("ArrowRight")
    page.get_by_text("<script>").first.wait_for()
    page.keyboard.press("End")
    assert page.title() == "Replay · Stratagem"
    assert page.locator("img").count() == 1, "the icon"
    assert page.locator("script").count() == 1
    text = page.locator("body").inner_text()
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\\u{202e}" in text
    assert HOSTILE not in text


def test_live_curve_follows_within_two_seconds(page, address, folder):
    page.goto(f"{address}/#/run?name=runs%2Ffirst")
    page.get_by_text("0.100 at step 4").wait_for()
    add_step(folder / "runs" / "first", 9)
    page.get_by_text("0.050 at step 9").wait_for(timeout=2000)


@pytest.mark.parametrize("page", [(390, 844)], indirect=True)
@pytest.mark.parametrize("path", PATHS)
def test_phone_shows_everything_without_scrolling_sideways(page, address, path):
    page.goto(f"{address}/{path}")
    page.get_by_role("heading").nth(1).or_(page.get_by_role("link", name="game/0.0")).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_fault_of_accessibility(browser, address, scheme):
    page = browser.new_context(color_scheme=scheme).new_page()
    for path in PATHS:
        page.goto(f"{address}/{path}")
        page.get_by_role("heading").nth(1).or_(page.get_by_role("link", name="game/0.0")).first.wait_for()
        page.wait_for_timeout(300)
        assert faults_of_accessibility(page) == []


def test_first_paint_of_a_record_is_fast(page, address):
    times = []
    for _ in range(4):  # the best of four, since the machine may be busy
        page.goto("about:blank")
        page.goto(f"{address}/#/games?record=games")
        page.get_by_role("link", name="game/0.0").wait_for()
        times.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    assert min(times) < 1000


def test_server_that_ends_is_told(browser, folder, capfd):
    opened = open_viewer(folder, port=0, needs_token=False)
    page = browser.new_page()
    page.goto(opened.url)
    page.get_by_role("heading", name="Overview").wait_for()
    opened.server.close()
    page.get_by_text("not connected").wait_for()
    page.close()
    assert capfd.readouterr().err == ""


def test_two_viewers_are_open_in_one_browser_by_their_links(browser, folder):
    context = browser.new_context()
    first, second = (open_viewer(folder, port=0) for _ in range(2))
    pages = [context.new_page() for _ in range(2)]
    for page, opened in zip(pages, (first, second), strict=True):
        page.goto(opened.url)
        page.get_by_role("heading", name="Overview").wait_for()
    for page in pages:  # the cookie of the second has not replaced that of the first
        page.reload()
        page.get_by_role("heading", name="Overview").wait_for()
        assert "token" not in page.url
    for opened in (first, second):
        opened.server.close()
    context.close()


def test_command_of_a_replay_works_from_any_folder(page, address, folder):
    page.goto(f"{address}/#/replay?record=games&id=later%2F0.0")
    command = page.locator("p.copy code").inner_text()
    assert command == f"stratagem show {folder / 'games'} --episode later/0.0"


def test_first_tab_skips_the_navigation(page, address):
    page.goto(f"{address}/")
    page.get_by_role("heading", name="Overview").wait_for()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the page")
    assert skip.evaluate("link => link === document.activeElement && link.getBoundingClientRect().left >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    assert page.url == f"{address}/"
