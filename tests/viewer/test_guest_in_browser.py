"""A guest with a link to one seat who tries everything else, in a real browser; `make test-view` has one."""

import re

import pytest
from browser import faults_of_accessibility

from stratagem.api.views import open_viewer
from stratagem.show.viewer.routes import ROLES

pytest.importorskip("playwright.sync_api")

TRY = """
async ([method, path]) => {
  try {
    const sent = method === 'POST' ? { headers: { 'content-type': 'application/json' }, body: '{}' } : {};
    const answer = await fetch(path, { method, ...sent });
    return [answer.status, await answer.text()];
  } catch (error) {
    return [0, String(error)];
  }
}
"""


@pytest.fixture
def studio(folder, browser):
    """The operator's page at a table with one guest, the links of the table, and a way to open other browsers."""
    opened = open_viewer(folder, port=0)
    with opened.server as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(opened.url)
        yield page, server.url, opened.url.partition("token=")[2]
        context.close()


def sit(page, address, game="kuhn(hands=1)"):
    """Sit down with one other person, and return the links."""
    page.goto(f"{address}/#/play")
    page.get_by_label("Game", exact=True).fill(game)
    page.get_by_label("Player of seat 1").wait_for()
    page.get_by_label("Player of seat 1").fill("person")
    page.get_by_role("button", name="Sit down").click()
    page.get_by_role("heading", name="Your turn").wait_for()
    return {name: page.get_by_label(f"Link: {name}", exact=True).input_value() for name in ("Seat 1", "To observe")}


def come(browser, link):
    """Open a link in a browser of its own; the texts of all that it is sent are kept."""
    page = browser.new_context().new_page()
    page.answers = []
    page.on("response", lambda answer: page.answers.append((answer.status, answer.url)))
    page.goto(link)
    return page


def attempt(page, path, method="GET"):
    return page.evaluate(TRY, [method, path])


def choose(page):
    page.evaluate("document.querySelector('.answers button:enabled')?.click()")
    page.wait_for_timeout(100)


def test_guest_who_tries_everything_gets_the_own_view_only(browser, studio):
    page, address, token = studio
    other_links = sit(page, address)
    other = re.search("table=(\\w+)", page.url)[1]
    links = sit(page, address)
    own = re.search("table=(\\w+)", page.url)[1]
    guest = come(browser, links["Seat 1"])
    guest.get_by_role("heading", name="The others decide").wait_for()
    base = guest.evaluate("location.pathname")
    assert guest.url == address + base, "the token does not stay in the address"
    assert guest.evaluate("document.cookie") == ""
    assert guest.evaluate("Object.keys(sessionStorage).length + Object.keys(localStorage).length") == 0
    assert [answer for answer in guest.answers if answer[0] >= 400] == [], "the page itself asks for nothing else"

    for route, roles in ROLES.items():
        method = "POST" if route.startswith("/api/do/") else "GET"
        path = route.replace("*", "card.html")
        assert attempt(guest, path, method)[0] == 401, f"{path} is the operator's"
        if "seat" not in roles:
            status, text = attempt(guest, base + path[1:], method)
            assert (status, text) == (403, "This link does not open that."), path

    observed, seat = (other_links[name].removeprefix(address) for name in ("To observe", "Seat 1"))
    secret = links["Seat 1"].partition("token=")[2]
    for path in (
        observed.partition("?")[0] + "api/table",
        seat.partition("?")[0] + "api/table",
        f"{seat.partition('?')[0]}?token={secret}",
        f"/?token={secret}",
        f"{address}/api/table?id={own}",
        f"/api/table?id={other}",
        "/at/" + "0" * 16 + "/api/table",
        base + "..%2f..%2fapi/library",
        f"/at{base}api/table",
    ):
        assert attempt(guest, path)[0] in (401, 403), path
    status, text = attempt(guest, f"{base}api/table?id={other}&seat=0&role=operator")
    assert status == 200
    assert '"seat":1' in text
    assert not re.search('"seat":0|AlwaysBet|human|"players":\\["(?!seat 0)|links|token', text)
    for kind, source in (("EventSource", f"{base}api/live"), ("WebSocket", f"ws{address[4:]}{base}api/table")):
        opened = guest.evaluate(
            "([kind, source]) => new Promise((done) => { const one = new window[kind](source);"
            " one.onopen = () => done(true); one.onerror = () => done(false); })",
            [kind, source],
        )
        assert not opened, kind
    assert attempt(guest, address.replace("127.0.0.1", "localhost") + "/api/library")[0] == 0, "another origin"

    page.reload()
    page.get_by_role("heading", name="Your turn").wait_for()
    choose(page)
    guest.get_by_role("heading", name="Your turn").wait_for()
    hand = guest.get_by_text("Your card is").inner_text()[13]
    mine = page.get_by_text("Your card is").inner_text()[13]
    assert mine != hand
    assert f"Your card is {hand}" not in attempt(page, f"/api/table?id={own}&seat=1")[1]
    assert attempt(page, links["Seat 1"])[0] == 401, "a seat that is taken opens to nobody, the operator neither"
    assert attempt(page, f"{base}api/table")[0] == 401

    session = guest.context.cookies()
    guest.get_by_role("button", name="Leave").click()
    guest.get_by_text("You have left").wait_for()
    for path in (base, f"{base}api/table", links["Seat 1"]):
        assert attempt(guest, path)[0] == 401, path
    assert attempt(guest, f"{base}api/do/reply", "POST")[0] == 401
    replayed = browser.new_context()
    replayed.add_cookies(session)
    again = replayed.new_page()
    assert again.goto(address + base).status == 401
    assert again.goto(links["Seat 1"]).status == 401
    page.get_by_text("Seat 1 has left").wait_for()
    page.goto(f"{address}/#/play?table={other}")
    page.get_by_role("heading", name="Your turn").wait_for()
    assert token not in guest.content()


def test_observer_sees_the_whole_game_at_its_end_alone(browser, studio):
    page, address, _ = studio
    links = sit(page, address)
    guest, observer = come(browser, links["Seat 1"]), come(browser, links["To observe"])
    observer.get_by_text("This game hides something from each seat").wait_for()
    assert "card" not in attempt(observer, observer.evaluate("location.pathname") + "api/table")[1]
    assert attempt(observer, observer.evaluate("location.pathname") + "api/whole")[0] == 400
    for _ in range(200):
        choose(page)
        choose(guest)
        if guest.get_by_role("heading", name="The game is over").is_visible():
            break
    guest.get_by_text("It paid you").wait_for()
    observer.get_by_role("heading", name="the whole game").wait_for()
    label = observer.get_by_role("img", name="Hand 1").get_attribute("aria-label")
    assert re.search("Seat 0 has [JQK], seat 1 has [JQK]", label)
    observer.get_by_role("region", name="Log").get_by_role("link").last.click()
    observer.get_by_role("heading", name=re.compile("^Turn")).wait_for()
    assert attempt(observer, "/api/library")[0] == 401
    page.get_by_role("link", name="Look at the whole game").wait_for()


@pytest.mark.parametrize("game", ["kuhn(hands=1)", "tic-tac-toe"])
def test_pages_of_links_fit_a_phone(browser, studio, game):
    page, address, _ = studio
    for link in sit(page, address, game).values():
        guest = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
        guest.goto(link)
        guest.get_by_role("heading", name=game.partition("(")[0]).wait_for()
        guest.wait_for_timeout(500)
        assert guest.evaluate("document.documentElement.scrollWidth") == 390
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_text("somebody sits there").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_pages_of_links_have_no_fault_of_accessibility(browser, studio):
    page, address, _ = studio
    for link in sit(page, address, "tic-tac-toe").values():
        guest = come(browser, link)
        guest.get_by_role("heading", name="tic-tac-toe").wait_for()
        assert faults_of_accessibility(guest) == []
