"""An exported file in a real browser, opened from the disk; `make test-view` runs it."""

import shutil
from urllib.parse import quote

import pytest
from shown_folder import HOSTILE, episodes_of

from stratagem.api.views import export_replays
from stratagem.playing.store import write_shard
from stratagem.show.viewer.exporting import snapshot

playwright = pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A page that may ask for files of the disk only, and must not report an error."""
    page, faults = browser.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None)
    yield page
    assert faults == []
    page.close()


def test_one_replay_opens_from_the_disk(page, shown, tmp_path):
    file = export_replays(shown / "games", tmp_path / "replay.html", episode="game/0.0")
    page.goto(file.as_uri())
    page.get_by_role("heading", name="Start of").wait_for()
    assert page.get_by_role("img", name="Hand 1").is_visible()
    for turn in range(1, 12):
        page.keyboard.press("ArrowRight")
        page.get_by_role("heading", name=f"Turn {turn} of").wait_for()
        page.get_by_text("Probability of the whole reply").or_(page.get_by_text("No model decided")).wait_for()
        if page.get_by_role("list", name="Tokens of the reply").get_by_role("listitem").count() == 2:
            break
    else:
        pytest.fail("no reply was told token by token")
    assert page.get_by_text("What if").count() == 0
    assert page.get_by_role("link", name="Play", exact=True).count() == 0
    assert f"turn={turn}" in page.url
    page.reload()
    page.get_by_role("heading", name=f"Turn {turn} of").wait_for()


def test_record_is_searched_without_a_server(page, shown, tmp_path):
    page.goto(export_replays(shown / "games", tmp_path / "all.html").as_uri())
    page.get_by_role("link", name="Games", exact=True).click()
    page.get_by_role("status").get_by_text("8 episodes", exact=True).wait_for()
    page.locator("select[name=game]").select_option("ipd(rounds=4)")
    page.get_by_role("status").get_by_text("2 of 8 episodes").wait_for()
    page.get_by_role("link", name="later/0.0").click()
    page.get_by_role("link", name="Episode 1 of 2 in the list").wait_for()
    page.get_by_role("heading", name="Start of").wait_for()
    page.keyboard.press("End")
    page.get_by_text("end of the game").wait_for()


def test_run_shows_its_curves_without_a_server(page, shown, tmp_path):
    page.goto(export_replays(shown / "runs" / "first", tmp_path / "run.html").as_uri())
    page.get_by_role("link", name="this run", exact=True).click()
    page.get_by_role("img", name="kuhn/exact/exploitability: 0.500 at step 0").wait_for()
    page.get_by_role("link", name="Its report").click()
    page.get_by_role("link", name="Metrics over training").click()
    page.get_by_role("img", name="Exact exploitability").wait_for()
    page.get_by_role("link", name="this run", exact=True).first.click()
    page.get_by_role("link", name="Its games").click()
    page.get_by_role("link", name="game/0.0").wait_for()


def test_hostile_texts_of_a_file_are_only_shown(page, tmp_path, monkeypatch):
    episode, *_ = episodes_of("kuhn(hands=1)", ["random", "random"], 1)
    text = f"{HOSTILE}</script><script>document.title='owned'</script>\u2028\u2029"
    episode.players = (text, "random@1")
    episode.id = "</script><script>document.title='owned'</script>"
    write_shard(tmp_path / "record", 0, [episode])
    answer = snapshot.replay_episode
    monkeypatch.setattr(snapshot, "replay_episode", lambda *asked: answer(*asked) | {"game": "half \ud800 </script>"})
    file = export_replays(tmp_path / "record", tmp_path / "odd.html")
    page.goto(f"{file.as_uri()}#/replay?record=.&id={quote(episode.id)}&turn=1")
    page.get_by_role("heading", name="half").wait_for()
    assert "owned" not in page.title()
    shown = page.locator("body").inner_text()
    assert "\\u{d800}" in shown
    assert "\\u{2028}" in shown
    assert "\u202e" not in shown
    assert page.locator("script").count() == 2
