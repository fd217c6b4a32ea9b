"""The table of runs, runs over one another, populations and notes in a real browser."""

import pytest
from browser import faults_of_accessibility
from shown_folder import HOSTILE, write_run

pytest.importorskip("playwright.sync_api")


@pytest.fixture
def several(folder):
    """The folder with more runs: two seeds of a recipe, and another recipe."""
    write_run(folder / "runs" / "second", seed=4)
    write_run(folder / "runs" / "third", seed=3, batch=2)
    return folder


def test_runs_are_overlaid_with_bands_and_what_differs(several, page, address):
    page.goto(address)
    for name in ("first", "second", "third"):
        page.get_by_label(f"Choose runs/{name}").check()
    page.get_by_role("link", name="Compare 3 chosen").click()
    page.get_by_role("heading", name="3 runs over one another").wait_for()
    picture = page.get_by_role("img", name="kuhn/exact/exploitability")
    assert (
        "n: 2 seeds and 1 run. Interval: 95 % over seeds, Student’s t; none for a run alone."
        in picture.get_attribute("aria-label")
    )
    page.get_by_text("1 setting that only some of the runs have").click()
    assert page.get_by_role("row", name="batch").inner_text().split() == ["batch", "–", "–", "2"]
    picture.locator(".area").wait_for()
    assert picture.locator(".way").count() == 2
    page.get_by_label("Every run for itself").check()
    picture.locator(".way").nth(2).wait_for(state="attached")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("heading", name="3 runs over one another").wait_for()


def test_values_are_told_under_the_pointer_and_steps_can_be_seen_larger(page, address):
    page.goto(f"{address}/#/run?name=runs%2Ffirst")
    picture = page.get_by_role("img", name="kuhn/exact/exploitability")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 60)
    picture.get_by_text("step 4", exact=True).wait_for()
    assert "0.100" in picture.locator(".tip").inner_text()
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    page.mouse.up()
    page.get_by_role("button", name="All steps").click()
    assert page.get_by_role("button", name="All steps").count() == 0


def test_table_of_runs_is_filtered_and_sorted_by_its_address(several, page, address):
    page.goto(address)
    page.get_by_role("button", name="Step", exact=True).click()
    page.get_by_label("Search").fill("thi")
    page.get_by_role("status").get_by_text("1 of 3 runs").wait_for()
    assert "sort=step" in page.url
    assert "text=thi" in page.url
    page.reload()
    page.get_by_role("status").get_by_text("1 of 3 runs").wait_for()
    page.get_by_label("Search").fill("")
    page.get_by_label("New since yesterday (3)").check()
    page.get_by_role("status").get_by_text("3 runs", exact=True).wait_for()


def test_note_and_tags_are_saved_and_found(page, address, folder):
    page.goto(f"{address}/#/run?name=runs%2Ffirst")
    page.get_by_label("Note", exact=True).fill(f"Look {HOSTILE}")
    page.get_by_role("textbox", name="Tags").fill("baseline, kuhn")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    write_run(folder / "runs" / "second")
    page.goto(f"{address}/")
    page.get_by_role("link", name="baseline").click()
    page.get_by_role("status").get_by_text("1 of 2 runs").wait_for()
    assert page.get_by_text("Look <img").is_visible()
    assert page.title() == "Overview · Stratagem"


@pytest.mark.parametrize("page", [(1440, 900), (390, 844)], indirect=True)
def test_sections_of_a_report_are_pages_with_links_of_their_own(page, address):
    page.goto(f"{address}/#/run?name=runs%2Ffirst")
    page.get_by_role("link", name="Metrics over training").click()
    page.get_by_role("heading", name="Metrics over training").wait_for()
    page.get_by_role("img", name="Exact exploitability").locator(".way").first.wait_for(state="attached")
    assert "section=curves" in page.url
    page.reload()
    page.get_by_role("link", name="Findings of the checks").click()
    page.get_by_role("heading", name="Findings of the checks").wait_for()
    assert "Look <img" in page.locator(".report").inner_text()
    assert page.title() == "Report · Stratagem"
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert faults_of_accessibility(page) == []


def test_button_saves_one_game_as_a_file(page, address, tmp_path):
    page.goto(f"{address}/#/replay?record=games&id=later%2F0.0")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export this game as one file").click()
    page.get_by_role("status").get_by_text("1 game").wait_for()
    saved.value.save_as(tmp_path / "game.html")
    assert 'id="answers"' in (tmp_path / "game.html").read_text("utf-8")
    assert saved.value.suggested_filename.endswith("games-later-0.0.html")


def test_address_without_a_name_says_where_to_choose(page, address):
    for path, said in {"/runs": "press Compare", "/replay": "names no episode", "/report": "names no run"}.items():
        page.goto(f"{address}/#{path}")
        page.get_by_text(said).wait_for()


def test_cycles_and_the_mixture_stand_below_the_cross_play(page, address):
    page.goto(f"{address}/#/population?kind=record&name=games&game=kuhn")
    page.get_by_role("img", name="Share in the mixture").locator(".mark").first.wait_for(state="attached")
    assert faults_of_accessibility(page) == []


def test_cell_of_a_heat_map_leads_to_its_games(page, address):
    page.goto(f"{address}/#/population?kind=record&name=games&game=kuhn")
    page.get_by_role("link", name="NashApprox against parrot").click()
    page.get_by_role("status").get_by_text("6 of 8 episodes").wait_for()
    page.go_back()
    page.get_by_role("img", name="Elo by maximum likelihood").wait_for()
    assert "<script>" in page.locator("body").inner_text()
    assert page.title() == "Population · Stratagem"


def test_population_of_nothing_says_what_makes_one(page, tmp_path):
    from stratagem.api.views import open_viewer

    write_run(tmp_path / "run")
    with open_viewer(tmp_path, port=0, needs_token=False).server as server:
        page.goto(f"{server.url}/#/population")
        page.get_by_text("There is no cross-play here").wait_for()


def test_run_without_a_metric_says_so(page, address, folder):
    (folder / "runs" / "first" / "metrics.jsonl").write_text("")
    page.goto(f"{address}/#/run?name=runs%2Ffirst")
    section = page.locator("section[aria-labelledby=curves]")
    section.wait_for()
    assert section.inner_text().split("\n")[-1] == "No metrics have been logged yet."
