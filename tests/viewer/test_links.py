"""Links of the pages: every route for every role, what each place at a table is told, and when a link is revoked."""

import re
import time

import pytest
from page_client import ADDRESS, Pages
from starlette.testclient import TestClient

from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.guard import COOKIE
from stratagem.show.viewer.links import GRACE, Links
from stratagem.show.viewer.routes import ACTIONS, ROLES, roles_of
from stratagem.show.viewer.studio import Studio

TOKEN = "the-token-of-the-operator"
SECRETS = ("AlwaysBet", "kuhn/", str(TOKEN), "later/0.0", "runs/first")
"""Words that no link of a table may lead to while the game goes on."""


class GuardedPages(Pages):
    """Pages that ask for a token, with guests who have cookies of their own."""

    def __init__(self, root):
        super().__init__(root, token=TOKEN)
        self.http.get(f"/?token={TOKEN}")

    def sit(self, game="kuhn(hands=1)", seat=0, **players):
        """Open a table; return its id and the links of its places."""
        body = {"game": game, "seat": seat, "players": {"1": "person"} | players}
        table = self.do("sit", **body)["id"]
        links = self.get("table", id=table)["links"]
        return table, {one["seat"]: one["address"] for one in links}

    def stranger(self):
        return TestClient(self.http.app, base_url=ADDRESS)

    def guest(self, address):
        """Another browser that has opened a link."""
        return Guest(self.stranger(), address)


class Guest:
    """Browser of a guest; all paths are below that of the link."""

    def __init__(self, http, address):
        self.http, self.address = http, address
        self.path = address.partition("?")[0]
        self.opened = http.get(address, follow_redirects=False)

    def get(self, path, **query):
        return self.http.get(self.path + path.lstrip("/"), params=query)

    def do(self, act, **body):
        return self.http.post(f"{self.path}api/do/{act}", json=body, headers={"origin": ADDRESS})

    def call(self, path):
        """Ask for a route as the pages would."""
        return self.do(path.removeprefix(ACTIONS)) if path.startswith(ACTIONS) else self.get(path)

    def events(self):
        return self.get("/api/table").json()["events"]


@pytest.fixture
def studio(folder):
    pages = GuardedPages(folder)
    yield pages
    pages.studio.close()


def wait_for(event, events, seconds=60.0):
    """The event of this name when it has been told."""
    until = time.monotonic() + seconds
    while True:
        told = [one for one in events() if one["event"] == event]
        if told:
            return told[-1]
        assert time.monotonic() < until, events()
        time.sleep(0.05)


def play_to_the_end(studio, table, guest):
    answered, until = set(), time.monotonic() + 60
    while studio.get("table", id=table)["open"]:
        assert time.monotonic() < until
        asked = [(None, one) for one in studio.get("table", id=table)["events"] if one["event"] == "ask"]
        asked += [(guest, one) for one in guest.events() if one["event"] == "ask"]
        for who, one in asked:
            if (who, one["number"]) not in answered:
                answered.add((who, one["number"]))
                reply = {"number": one["number"], "text": one["choices"]["actions"][0]}
                guest.do("reply", **reply) if who else studio.do("reply", id=table, **reply)
        time.sleep(0.05)


def routes_of(application):
    return [re.sub(r"\{[^}]*\}", "*", route.path) for route in application.routes]


def listed(path):
    """The entry of a route in the table of roles; those of the files of the pages are one."""
    return path if path in ROLES else f"{path.rpartition('/')[0]}/*"


def test_every_route_has_an_entry_and_every_entry_a_route(studio):
    assert {listed(path) for path in routes_of(studio.http.app)} == set(ROLES)


def test_route_without_an_entry_is_for_the_operator_alone():
    for path in ("/api/new", "/api/do/new", "/pages/a/b/card.html", "/static/a/b", "/at/a/api/table", "", "//"):
        assert roles_of(path) == {"operator"}


@pytest.mark.parametrize("role", ["operator", "observer", "seat", "nobody"])
def test_all_routes_for_all_roles(studio, role):
    _, links = studio.sit()
    who = {
        "operator": lambda: Guest(studio.http, f"/?token={TOKEN}"),
        "observer": lambda: studio.guest(links[None]),
        "seat": lambda: studio.guest(links[1]),
        "nobody": lambda: Guest(studio.stranger(), links[1].partition("?")[0]),
    }[role]()
    paths = [
        path.replace("*", "x") for path in routes_of(studio.http.app) if path not in ("/api/live", f"{ACTIONS}leave")
    ]
    assert len(paths) > 80
    for path in [*paths, "/api/live", f"{ACTIONS}leave"]:
        if role == "operator" and path == "/api/live":
            continue  # it never ends
        status = who.call(path).status_code
        expected = 401 if role == "nobody" else 403
        assert (status == expected) is (role not in roles_of(path)), (path, status)
        assert status < 500


def test_rights_of_guests_are_few():
    allowed = {role: {path for path, roles in ROLES.items() if role in roles} for role in ("seat", "observer")}
    assert allowed["seat"] == {"/", "/static/*", "/api/table", "/api/do/reply", "/api/do/leave"}
    assert allowed["observer"] == {"/", "/static/*", "/faces/*", "/api/table", "/api/whole"}


def test_token_of_a_guest_is_exchanged_for_a_cookie_of_its_path(studio):
    _, links = studio.sit()
    guest = studio.guest(links[1])
    cookie = guest.opened.headers["set-cookie"]
    name = guest.path.strip("/").removeprefix("at/")
    assert (guest.opened.status_code, guest.opened.headers["location"]) == (303, guest.path)
    assert cookie.startswith(f"{COOKIE}_8150_{name}=")
    assert {f"Path={guest.path}", "HttpOnly", "SameSite=lax"} <= set(cookie.split("; "))
    token = guest.address.partition("token=")[2]
    assert len(token) >= 32
    assert token not in cookie
    assert len({TOKEN, *(one.partition("token=")[2] for one in links.values())}) == 3


def test_roles_in_one_browser_do_not_overwrite_each_other(studio):
    table, links = studio.sit()
    for address in links.values():
        assert studio.http.get(address).status_code == 200
    roles = [studio.http.get(f"{address.partition('?')[0]}api/table").json()["role"] for address in links.values()]
    assert roles == ["seat", "observer"]
    assert studio.get("table", id=table)["role"] == "operator"


def test_link_of_a_seat_lets_one_browser_in(studio):
    """The operator knows the link, and cannot read the guest's hand by it."""
    table, links = studio.sit()
    assert studio.stranger().head(links[1], follow_redirects=False).status_code == 401, "a look is no opening"
    guest = studio.guest(links[1])
    assert studio.http.get(links[1]).status_code == 401
    assert studio.http.get(f"{guest.path}api/table").status_code == 401
    assert studio.guest(links[1]).opened.status_code == 401
    told = {one["seat"]: one for one in studio.get("table", id=table)["links"]}
    assert (told[1]["taken"], told[1]["address"]) == (True, "")
    assert guest.http.get(links[1]).status_code == 200, "the same browser may open it again"
    assert studio.guest(links[None]).get("/api/table").status_code == 200
    assert studio.guest(links[None]).get("/api/table").status_code == 200, "many may observe"


def test_no_page_of_the_operator_holds_the_guests_hand(studio):
    table, links = studio.sit()
    guest = studio.guest(links[1])
    own = wait_for("ask", lambda: studio.get("table", id=table)["events"])
    studio.do("reply", id=table, number=own["number"], text="PASS")
    hand = re.search("Your card is (.)", wait_for("ask", guest.events)["situation"])[1]
    for asked in ({"seat": "1"}, {"seat": ""}, {"seen": "0"}):
        assert studio.get("table", id=table, **asked)["events"][0]["seat"] == 0
    heard = "".join(studio.heard)
    assert "Your card is" in heard
    assert f"Your card is {hand}" not in heard


def test_guest_is_told_the_own_view_and_no_names(studio):
    table, links = studio.sit("tic-tac-toe")
    guest = studio.guest(links[1])
    ask = wait_for("ask", lambda: studio.get("table", id=table)["events"])
    assert ask["drawn"]["face"] == "grid"
    studio.do("reply", id=table, number=ask["number"], text=ask["choices"]["actions"][0])
    told = wait_for("ask", guest.events)["drawn"]
    moved = [event["drawn"] for event in studio.get("table", id=table)["events"] if event["event"] == "moved"]
    assert told == moved[1], "this game hides nothing"
    _, links = studio.sit("public-goods", **{"2": "first-legal"})
    guest = studio.guest(links[1])
    begun = wait_for("begun", guest.events)
    assert begun["players"] == ["seat 0", "seat 1", "seat 2"]
    assert begun["game"] == "public-goods"
    assert "first-legal" not in guest.get("/api/table").text


def test_guest_is_told_the_own_payoff_and_not_the_record(studio):
    table, links = studio.sit()
    guest, observer = studio.guest(links[1]), studio.guest(links[None])
    assert observer.get("/api/whole").status_code == 400
    assert not re.search(r"card|\b[JQK]\b|PASS|BET", observer.get("/api/table").text)
    play_to_the_end(studio, table, guest)
    over, full = wait_for("over", guest.events), wait_for("over", lambda: studio.get("table", id=table)["events"])
    assert over == {"event": "over", "finished": True, "payoff": full["payoffs"][1]}
    ends = [wait_for("end", read) for read in (guest.events, lambda: studio.get("table", id=table)["events"])]
    assert ends[0] == ends[1], "it shows the cards of both"
    assert wait_for("over", observer.events)["payoffs"] == full["payoffs"]
    whole = observer.get("/api/whole").json()
    assert (whole["id"], whole["previous"], whole["next"]) == (full["episode"], None, None)
    assert whole["frames"][0]["state"]["cards"]
    assert "path" not in whole
    assert guest.get("/api/whole").status_code == 403


def test_observer_sees_the_board_of_a_game_that_hides_nothing(studio):
    _, links = studio.sit("tic-tac-toe")
    observer = studio.guest(links[None])
    turn = wait_for("turn", observer.events)
    assert (turn["drawn"]["face"], turn["seat"]) == ("grid", 0)
    assert observer.do("reply", number=1, text="1").status_code == 403


def test_choice_of_a_seat_is_not_public_before_the_others_have_chosen(studio):
    seen = set()
    for choice in ("COOPERATE", "DEFECT"):
        table, links = studio.sit("ipd(rounds=2)")
        ask = wait_for("ask", lambda table=table: studio.get("table", id=table)["events"])
        studio.do("reply", id=table, number=ask["number"], text=choice)
        wait_for("ask", studio.guest(links[1]).events)
        observer = studio.guest(links[None])
        assert wait_for("turn", lambda observer=observer: [one for one in observer.events() if one.get("seat") == 1])
        seen.add(observer.get("/api/table").text)
    assert len(seen) == 1


def test_leaving_closes_the_own_seat_only(studio):
    table, links = studio.sit("public-goods", **{"2": "person"})
    first, second = studio.guest(links[1]), studio.guest(links[2])
    wait_for("begun", second.events)
    assert first.do("leave").status_code == 200
    for again in (first.get("/api/table"), first.get("/"), first.do("reply", number=1, text="0"), first.do("leave")):
        assert again.status_code == 401
    assert first.http.get(links[1]).status_code == 401
    assert studio.stranger().get(links[1]).status_code == 401
    assert second.get("/api/table").json()["open"]
    assert second.events()[-1] == {"event": "gone", "seat": 1}
    assert studio.get("table", id=table)["open"]
    assert wait_for("gone", lambda: studio.get("table", id=table)["events"])["seat"] == 1


def test_end_of_the_table_revokes_the_links_of_its_seats(studio):
    now = [100.0]
    studio.studio.links.clock = lambda: now[0]
    table, links = studio.sit("public-goods", **{"2": "person"})
    guest = studio.guest(links[1])
    wait_for("begun", guest.events)
    studio.do("leave", id=table)
    left = wait_for("left", guest.events)
    assert left["sentence"] == "The game was ended by the person who opened it."
    assert studio.guest(links[2]).opened.status_code == 401, "nobody sits down any more"
    assert guest.do("reply", number=1, text="0").status_code == 400
    now[0] += GRACE + 1
    assert guest.get("/api/table").status_code == 401


def test_link_opens_no_other_table(studio):
    other, _ = studio.sit("kuhn(hands=2)")
    table, links = studio.sit("kuhn(hands=2)")
    guest = studio.guest(links[1])
    wait_for("begun", guest.events)
    assert guest.get("/api/table", id=other).json()["events"][0]["seat"] == 1
    begun = studio.get("table", id=other)["events"]
    guest.do("reply", id=other, number=1, text="PASS")
    guest.do("leave", id=other)
    assert studio.get("table", id=other)["open"]
    assert [one["event"] for one in studio.get("table", id=other)["events"]][: len(begun)] == [
        one["event"] for one in begun
    ]
    assert studio.get("table", id=table)["events"][-1] == {"event": "gone", "seat": 1}


def test_guessed_and_mixed_links_open_nothing(studio):
    _, links = studio.sit()
    guest, stranger = studio.guest(links[1]), studio.stranger()
    seat, observer = (links[place].partition("?")[0] for place in (1, None))
    token = links[None].partition("token=")[2]
    for address in (
        f"{seat}?token={token}",
        f"{seat}?token=",
        f"{seat}?token={TOKEN}",
        f"{observer}?token={TOKEN}",
        f"/?token={token}",
        f"{observer}?token={token[:-1]}",
        "/at/0000000000000000/?token=",
        "/at/",
        "/at//",
        f"{seat}../../api/library",
        f"{seat}%2e%2e/%2e%2e/api/library",
        f"/at{seat}api/table",
    ):
        assert stranger.get(address).status_code == 401, address
    for name, value in guest.http.cookies.items():
        stranger.cookies.set(name, value)
        stranger.cookies.set(f"{COOKIE}_8150", value)
    assert stranger.get("/api/library").status_code == 401
    assert stranger.get(f"{observer}api/table").status_code == 401
    bearer = {"authorization": f"Bearer {token}"}
    assert studio.stranger().get(f"{observer}api/table", headers=bearer).status_code == 401
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "POST"):
        assert guest.http.request(method, f"{guest.path}api/table").status_code == 405


def test_pages_of_a_guest_hold_nothing_of_the_folder(studio):
    _, links = studio.sit()
    guest = studio.guest(links[1])
    wait_for("begun", guest.events)
    heard = guest.get("/").text + guest.get("/api/table").text + guest.get("/api/library").text
    assert not any(word in heard for word in SECRETS)
    assert "api/library" not in guest.get("/").text


def test_guest_on_another_machine_needs_the_link_alone(folder):
    address = "http://192.168.0.7:8150"
    opened = Studio(folder)
    application = Viewer(opened, "0.0.0.0", TOKEN).application()
    operator, guest, stranger = (TestClient(application, base_url=address) for _ in range(3))
    operator.get(f"/?token={TOKEN}")
    body = {"game": "kuhn(hands=1)", "seat": 0, "players": {"1": "person"}}
    table = operator.post("/api/do/sit", json=body, headers={"origin": address}).json()["id"]
    link = operator.get("/api/table", params={"id": table}).json()["links"][0]["address"]
    page = guest.get(link)
    assert page.status_code == 200
    scripts = re.findall('(?:src|href)="([^"]*)"', page.text)
    assert "static/guest.js" in scripts
    for name in scripts:
        assert guest.get(page.url.join(name)).status_code == 200, name
    path = link.partition("?")[0]
    assert guest.get(f"{path}api/table").json()["role"] == "seat"
    assert stranger.get(f"{path}api/table").status_code == 401
    assert guest.get("/api/library").status_code == 401
    opened.close()


def test_links_are_random_and_expire():
    now = [0.0]
    links = Links(clock=lambda: now[0])
    made = [links.grant("seat", "table", 1) for _ in range(50)]
    assert len({secret for link in made for secret in (link.token, link.session, link.id)}) == 150
    links.end_seats("table")
    assert not any(link.opens(token) for link in made for token in (link.token, "", "x"))
    assert links.find(made[0].id) is made[0]
    now[0] = GRACE
    assert links.find(made[0].id) is None
    assert links.of_table("table") == []


def test_end_of_a_game_leaves_the_links_of_other_tables():
    links = Links()
    ended, other = links.grant("seat", "one", 0), links.grant("seat", "two", 0)
    links.end_seats("one")
    assert not ended.token
    assert other.opens(other.token)
    assert links.of_table("two") == [other]
