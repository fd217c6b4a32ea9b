"""The table of runs, runs over one another, populations and notes in a real browser."""

import pytest
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
    assert "n: 2, 1 seeds. Interval: 95 % over seeds" in picture.get_attribute("aria-label")
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
    assert page.title() == "Stratagem"


def test_cell_of_a_heat_map_leads_to_its_games(page, address):
    page.goto(f"{address}/#/population?kind=record&name=games&game=kuhn")
    page.get_by_role("link", name="kuhn/NashApprox against parrot").click()
    page.get_by_role("status").get_by_text("6 of 8 episodes").wait_for()
    page.go_back()
    page.get_by_role("img", name="Elo by maximum likelihood").wait_for()
    assert "<script>" in page.locator("body").inner_text()
    assert page.title() == "Stratagem"


def test_population_of_nothing_says_what_makes_one(page, tmp_path):
    from stratagem.viewer.opening import open_viewer

    write_run(tmp_path / "run")
    with open_viewer(tmp_path, port=0).server as server:
        page.goto(f"{server.url}/#/population")
        page.get_by_text("There is no cross-play here").wait_for()
