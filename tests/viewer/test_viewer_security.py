"""Guards of the pages: refused hosts, origins and names, the token, and the policy of a page."""

import re
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from page_client import Pages
from shown_folder import episodes_of, write_run
from starlette.testclient import TestClient

from stratagem.api.views import open_viewer
from stratagem.base.errors import BadParameter, BadRecord, StratagemError
from stratagem.cli.main import main
from stratagem.playing.store import write_shard
from stratagem.show.reports.report import report_html
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.exporting.page import export
from stratagem.show.viewer.files import STATIC
from stratagem.show.viewer.guard import COOKIE
from stratagem.show.viewer.studio import Studio
from stratagem.show.web.server import Server
from stratagem.training.runs.folder import RunFolder

SCRIPTS = {
    "index.html": '<script type="module" src="/static/main.js">',
    "guest.html": '<script type="module" src="static/guest.js">',
}


@pytest.fixture(scope="module")
def client(shown):
    return TestClient(Viewer(Studio(shown)).application(), base_url="http://127.0.0.1:8150")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8150"}, 200),
        ({"host": "[::1]:8150"}, 200),
        ({"host": "evil.example:8150"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "192.168.0.7:8150"}, 421),
        ({"host": ""}, 421),
        ({"host": "evil@127.0.0.1"}, 421),
        ({"origin": "http://127.0.0.1:8150"}, 200),
        ({"origin": "http://127.0.0.1:9"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 200),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/library"])
def test_foreign_hosts_and_origins_are_refused(client, path, headers, status):
    assert client.get(path, headers=headers).status_code == status


def test_pages_are_only_read(client):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert client.request(method, "/api/library").status_code == 405


def test_every_answer_has_the_policy(client):
    for path in ("/", "/static/main.js", "/api/library", "/api/run?name=none", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_cards_and_reports_have_no_origin(client):
    card = client.get("/pages/audit/card.html")
    assert card.text == "<script>document.title='card'</script>"
    policy = card.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy


@pytest.mark.parametrize(
    "name",
    ["/pages/../secret.txt", "/pages/%2e%2e/secret.txt", "/pages/runs/first/run.json", "/static/../app.py",
     "/static/%2e%2e%2fapp.py", "/pages//etc/passwd", "/api/../secret.txt"],
)  # fmt: skip
def test_names_do_not_lead_out_of_the_folder(client, shown, name):
    (shown.parent / "secret.txt").write_text("hidden content")
    answer = client.get(name)
    assert answer.status_code == 404
    assert "hidden content" not in answer.text


def test_links_out_of_the_folder_are_not_followed(shown, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "games").symlink_to(shown / "games")
    (tmp_path / "card.html").write_text("secret")
    (root / "card.html").symlink_to(tmp_path / "card.html")
    with pytest.raises(StratagemError, match="There is nothing to show"):
        open_viewer(root)


LINKED = ("evaluation.json", "view.json", "policies/1.json", "policies", "steps", "record/calls/000000.parquet")


@pytest.mark.parametrize("name", LINKED)
def test_run_or_record_with_a_link_out_of_its_folder_is_listed_and_not_read(tmp_path, monkeypatch, name):
    """Pages, reports and exports are handed on: a file of the reader's has no place in them."""
    run = tmp_path / "runs" / "linked"
    write_run(run)
    write_shard(run / "record", 0, episodes_of("kuhn(hands=1)", ["random", "random"]))
    elsewhere = tmp_path / "mine"
    if (run / name).exists():
        (run / name).rename(elsewhere)
    else:
        elsewhere.write_text("{}") if name.endswith(".json") else elsewhere.mkdir()
    (run / name).parent.mkdir(exist_ok=True)
    (run / name).symlink_to(elsewhere)
    pages = Pages(tmp_path / "runs")
    (row,) = (row for row in pages.get("library")["runs"] if row["name"] == "linked")
    assert row["state"] == "damaged"
    assert f"{run / name} is a link out of the folder" in row["sentence"]
    assert "is a link out of" in pages.get("run", 400, name="linked")["error"]
    with pytest.raises(BadRecord, match="is a link out of the folder"):
        report_html(RunFolder(run))
    if name.startswith("record/"):
        with pytest.raises(BadRecord, match="is a link out of the folder"):
            export(run / "record", tmp_path / "export.html")
    monkeypatch.setattr("stratagem.training.runs.folder.is_trusted", lambda folder: True)
    assert [row["state"] for row in pages.get("library")["runs"]] == ["finished"]


@pytest.mark.parametrize(("host", "address"), [("0.0.0.0", "192.168.0.7"), ("127.0.0.1", "127.0.0.1")])
def test_token_is_needed_on_this_machine_and_beyond(shown, host, address):
    client = TestClient(Viewer(Studio(shown), host, "secret").application(), base_url=f"http://{address}:8150")
    assert client.get("/api/library").status_code == 401
    assert client.get("/?token=wrong").status_code == 401
    assert client.get("/api/library", headers={"authorization": "Bearer secret"}).status_code == 200
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    first = client.get("/?token=secret", follow_redirects=False)
    assert first.status_code == 303
    assert first.headers["location"] == "/"
    assert first.headers["set-cookie"].startswith(f"{COOKIE}_8150=")
    assert "secret" not in first.headers["set-cookie"], "who reads the cookie has not the token"
    assert {"HttpOnly", "SameSite=strict"} <= set(first.headers["set-cookie"].split("; "))
    assert client.get("/api/library").status_code == 200
    assert client.get("/?token=secret", follow_redirects=False).status_code == 200, "the link opens it again"
    assert TestClient(client.app, base_url=f"http://{address}:8150").get("/api/library").status_code == 401


def test_cookie_of_another_viewer_opens_nothing(shown):
    one, other = (
        TestClient(Viewer(Studio(shown), token="secret").application(), base_url="http://127.0.0.1:8150") for _ in "ab"
    )
    one.get("/?token=secret")
    for name, value in one.cookies.items():
        other.cookies.set(name, value)
    assert other.get("/api/library").status_code == 401


def test_another_user_of_this_machine_cannot_read_or_act(shown):
    """By curl alone, without the printed link: neither a page, nor an answer, nor an action."""
    with open_viewer(shown, port=0).server as server:
        for path in ("/", "/api/library", "/api/game?name=kuhn", "/static/main.js", "/pages/audit/card.html"):
            with pytest.raises(HTTPError, match="401"):
                urlopen(server.url + path)
        headers = {"content-type": "application/json", "origin": server.url, "sec-fetch-site": "same-origin"}
        with pytest.raises(HTTPError, match="401"):
            urlopen(Request(f"{server.url}/api/do/sit", b"{}", headers))


def test_pages_without_a_token_are_for_this_machine_alone(shown):
    with open_viewer(shown, port=0, needs_token=False).server as server, urlopen(f"{server.url}/api/library") as answer:
        assert answer.status == 200
    with pytest.raises(BadParameter, match=r"for this machine alone: leave out the host 0\.0\.0\.0"):
        open_viewer(shown, "0.0.0.0", 0, needs_token=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_viewer_draws_a_token(shown, host):
    with open_viewer(shown, host, 0).server as server:
        assert server.url.startswith(f"http://{host}:")
    first, second = (open_viewer(shown, host, 0) for _ in range(2))
    first.server.close()
    second.server.close()
    assert len(first.url.split("token=")[1]) >= 32
    assert first.url.split("token=")[1] != second.url.split("token=")[1]


def test_files_of_the_pages_are_small_and_load_nothing_from_elsewhere():
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < 314_000
    for path in STATIC.iterdir():
        text = path.read_text("utf-8")
        if path.suffix == ".html":
            assert re.findall(r"<script[^>]*>", text) == [SCRIPTS[path.name]]
            assert "style=" not in text
            assert " on" not in "".join(re.findall(r"<[^>]*>", text))
        if path.suffix in (".js", ".css") and path.name != "preact-htm.js":
            assert "innerHTML" not in text
            assert "dangerouslySet" not in text
            assert not re.search(r"https?://|\beval\(|new Function|@import|url\(", text), path.name


@pytest.mark.parametrize(("words", "end"), [((), r"/\?token=[\w-]{32,}"), (("--no-token",), "/")])
def test_the_command_prints_its_address(shown, monkeypatch, capsys, words, end):
    def wait(server):
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "wait", wait)
    with pytest.raises(SystemExit) as ended:
        main(["view", str(shown), "--port", "0", *words])
    printed = capsys.readouterr().out
    assert ended.value.code == 0
    assert re.search(rf" at http://127\.0\.0\.1:\d+{end}$", printed.strip())


def test_a_folder_without_anything_to_show_is_one_sentence(tmp_path, capsys):
    for folder, sentence in ((tmp_path, "There is nothing to show in"), (tmp_path / "none", "There is no folder")):
        with pytest.raises(SystemExit) as ended:
            main(["view", str(folder)])
        assert ended.value.code == 2
        assert sentence in capsys.readouterr().err
