"""Replays in one file: its script and policy, its data, what it refuses, and hostile texts in it."""

import base64
import gzip
import hashlib
import json
import re
import shutil

import pytest
from page_client import Pages, Wire
from shown_face import make_game_with_face
from shown_folder import HOSTILE, Parrot, episodes_of
from starlette.testclient import TestClient

from stratagem.api.records import read_record
from stratagem.api.views import export_replays
from stratagem.base.consent.table import commanding
from stratagem.base.errors import StratagemError
from stratagem.playing.store import write_shard
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.exporting import jobs, snapshot
from stratagem.show.viewer.exporting.jobs import Export, ask_export, exported_file
from stratagem.show.viewer.exporting.page import UnbundledModule, bundle
from stratagem.show.viewer.jobs import Progress
from stratagem.show.viewer.studio import Studio

SEPARATORS = "</script><!-- </ScRiPt \u2028\u2029 \x00"


def held(file):
    """The data of a file."""
    packed = re.search(r'id="answers">([A-Za-z0-9+/=]+)<', file.read_text("utf-8"))[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_file_holds_what_the_server_answers(shown, tmp_path):
    file = export_replays(shown / "games", tmp_path / "all.html")
    data = held(file)
    client = TestClient(Viewer(Studio(shown / "games")).application(), base_url="http://localhost")
    assert [row["id"] for row in data["rows"]] == list(data["episodes"])
    for name, episode in data["episodes"].items():
        answer = client.get("/api/episode", params={"record": ".", "id": name}).json()
        assert answer.pop("path") == str(shown / "games")
        assert episode["replay"] == answer
        for key, words in episode["words"].items():
            place = dict(zip(("turn", "seat", "attempt"), key.split("."), strict=True))
            assert words == client.get("/api/words", params={"record": ".", "id": name, **place}).json()
    for player in ("", Parrot.recorded):
        listed = client.get("/api/episodes", params={"record": ".", "player": player}).json()["episodes"]
        mine = {row["id"]: row["outcomes"].get(player) for row in data["rows"]}
        assert all(mine[row["id"]] == row["outcome"] for row in listed if player in ("", *row["players"]))


def test_one_episode_is_alone_in_its_file(shown, tmp_path):
    file = export_replays(shown / "games", tmp_path / "one.html", episode="later/0.0")
    data = held(file)
    assert list(data["episodes"]) == ["later/0.0"]
    assert data["library"]["records"][0]["episodes"] == 1
    assert data["library"]["records"][0]["games"] == ["ipd(rounds=4)"]
    replay = data["episodes"]["later/0.0"]["replay"]
    assert (replay["previous"], replay["next"]) == (None, None)
    text = file.read_text("utf-8")
    assert "face_matrix.js" in text
    assert "face_diplomacy.js" not in text, "only the faces that are needed"


def test_episode_is_named_by_its_number_as_in_the_list_of_show(shown, tmp_path):
    ids = [episode.id for episode in read_record(shown / "games").episodes]
    for number, name in enumerate(ids, 1):
        file = export_replays(shown / "games", tmp_path / f"{number}.html", episode=str(number))
        assert list(held(file)["episodes"]) == [name]


def test_run_brings_its_page(shown, tmp_path):
    data = held(export_replays(shown / "runs" / "first", tmp_path / "run.html"))
    assert data["run"]["curves"]["loss"]["points"] == 5
    assert [run["name"] for run in data["library"]["runs"]] == ["."]
    assert "path" not in data["run"]
    assert data["record"] == "record"


def test_records_that_the_pages_add_to_a_run_are_left_out(folder, tmp_path):
    write_shard(folder / "runs" / "first" / "whatif" / "1", 0, episodes_of("kuhn", ["random", "random"], 1))
    assert held(export_replays(folder / "runs" / "first", tmp_path / "run.html"))["record"] == "record"
    write_shard(folder / "games" / "played", 0, episodes_of("kuhn", ["random", "random"], 1))
    assert held(export_replays(folder / "games", tmp_path / "games.html"))["record"] == "."


def test_policy_names_the_only_script_and_style(shown, tmp_path):
    text = export_replays(shown / "games", tmp_path / "all.html").read_text("utf-8")
    policy = re.search(r'http-equiv="content-security-policy" content="([^"]+)"', text)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"connect-src|https?:|'self'", policy)
    for kind in ("script", "style"):
        (inner,) = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert len(re.findall(r"<script", text, re.IGNORECASE)) == 2
    assert not re.search(r'(?:src|href)="(?!data:)', text), "nothing is loaded"


def test_texts_that_end_a_script_stay_in_the_data(tmp_path):
    episode, *_ = episodes_of("kuhn(hands=1)", ["random", "random"], 1)
    episode.players = (f"a {SEPARATORS}", HOSTILE)
    episode.decisions[0].said = SEPARATORS
    episode.id = "odd/0</script>\u2028"
    write_shard(tmp_path / "record", 0, [episode])
    file = export_replays(tmp_path / "record", tmp_path / "odd.html", episode=episode.id)
    text = file.read_text("utf-8")
    assert len(re.findall(r"</script", text, re.IGNORECASE)) == 2
    assert "<!--" not in text
    assert not re.search("[\u2028\u2029\x00]", text)
    replay = held(file)["episodes"][episode.id]["replay"]
    assert replay["players"][1] == HOSTILE


def test_half_a_character_is_kept(shown, tmp_path, monkeypatch):
    """A record has none, but a model's token may."""
    monkeypatch.setattr(snapshot, "shaded_words", lambda *_: ["\ud800"])
    data = held(export_replays(shown / "games", tmp_path / "half.html"))
    assert {words["calls"][0] for episode in data["episodes"].values() for words in episode["words"].values()} == {
        "\ud800"
    }


def test_same_record_makes_the_same_file(shown, tmp_path):
    first, second = (export_replays(shown / "games", tmp_path / name) for name in ("a.html", "b.html"))
    assert first.read_bytes() == second.read_bytes()


def test_face_of_a_stranger_is_in_the_file(tmp_path):
    with commanding():
        name = make_game_with_face(tmp_path)
        source = (tmp_path / "goods.js").read_text()
        source = (
            f"import {{ visible }} from '/static/data.js';\n{source}const end = visible('</SCRIPT><!-- <script>');\n"
        )
        (tmp_path / "goods.js").write_text(source)
        write_shard(tmp_path / "record", 0, episodes_of(name, ["random"] * 3, 1)[:1])
        text = export_replays(tmp_path / "record", tmp_path / "own.html").read_text("utf-8")
        assert "Two of three must give." in text
        assert len(re.findall("</script", text, re.IGNORECASE)) == 2
        assert len(re.findall("<script", text, re.IGNORECASE)) == 2
        assert "<!--" not in text
        (tmp_path / "goods.js").write_text("import { x } from './other.js';\nexport const mount = x;\n")
        with pytest.raises(UnbundledModule, match=r"it imports /faces/other\.js, which is no module of the pages"):
            export_replays(tmp_path / "record", tmp_path / "own.html")


@pytest.mark.parametrize(
    ("folder", "episode", "sentence"),
    [
        ("none", "", "There is no folder"),
        ("", "", "has 2 records: an export is of one, so name a record or its run."),
        ("audit", "", "has no record: an export is of one"),
        ("games", "nobody", "There is no recorded episode called 'nobody': name one by its id, such as 'game/0.0'."),
        ("games", "9", "There is no episode called '9': name one by its id, or by its number, 1 to 8."),
        ("games", "0", "There is no episode called '0': name one by its id, or by its number, 1 to 8."),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(shown, tmp_path, folder, episode, sentence):
    with pytest.raises(StratagemError) as raised:
        export_replays(shown / folder, tmp_path / "x.html", episode=episode)
    assert sentence in str(raised.value)
    assert not (tmp_path / "x.html").exists()


def test_a_record_that_is_too_large_names_the_way_out(shown, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "LARGEST", 1000)
    with pytest.raises(StratagemError, match=r"The 8 episodes .* name one with `episode`\."):
        export_replays(shown / "games", tmp_path / "x.html")
    with pytest.raises(StratagemError, match="is a folder: name a file"):
        export_replays(shown / "games", tmp_path)


MODULES = {
    "/static/a.js": "import { two as deux, three } from './b.js';\nimport whole from './c.js';\n"
    "export const { x, y: z } = { x: deux, y: three };\nexport default function main() { return whole + x + z; }\n",
    "/static/b.js": "const two = 2;\nexport { two };\nexport async function later() {}\nexport const three = 3;\n"
    "export class Four {}\n",
    "/static/c.js": "export default 10;\n",
    "/static/loop.js": "import { y } from './loop2.js';\n",
    "/static/loop2.js": "import { x } from './loop.js';\n",
    "/static/odd.js": "export * from './b.js';\n",
}


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script")
def test_bundle_runs_as_its_modules_would(tmp_path):
    import subprocess

    script = bundle(MODULES, "/static/a.js") + "\nconst a = need('/static/a.js'), b = need('/static/b.js');\n"
    script += "console.log(a.default(), a.x, a.z, typeof b.later, typeof b.Four, b.three, 'later' in a);"
    told = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["15", "2", "3", "function", "function", "3", "false"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("loop", "it imports itself by way of /static/loop2.js"),
        ("odd", "write \"export * from './b.js';\" as one import or export a line"),
        ("none", "it imports /static/none.js"),
    ],
)
def test_module_that_cannot_be_bundled_says_why(name, sentence):
    with pytest.raises(UnbundledModule) as raised:
        bundle(MODULES, f"/static/{name}.js")
    assert sentence in str(raised.value)


def test_page_asks_for_a_file_by_a_job(folder, tmp_path):
    """The job is done in this process; its connection hears of each episode."""
    wire = Wire()
    told = ask_export(Export(root=folder, record="games", episode="later/0.0"), wire)
    assert (told["episodes"], wire.sent) == (1, [Progress(1, 1)])
    client = TestClient(Viewer(Studio(folder)).application(), base_url="http://localhost")
    answer = client.get(f"/exports/{told['id']}")
    assert answer.headers["content-disposition"] == 'attachment; filename="shown-games-later-0.0.html"'
    assert "sandbox" in answer.headers["content-security-policy"]
    assert list(held(exported_file(told["id"]))["episodes"]) == ["later/0.0"]
    for name in ("0" * 16, "x", f"{told['id']}x"):
        assert client.get(f"/exports/{name}").status_code == 404
    pages = Pages(folder)
    assert "later/0.0" in pages.do("export", 404, record="games", episode="later/0.9")["error"]


def test_only_the_newest_exports_are_kept(folder, monkeypatch):
    monkeypatch.setattr(jobs, "MOST_EXPORTS", 2)
    names = [ask_export(Export(root=folder, record="games", episode="later/0.0"), Wire())["id"] for _ in range(3)]
    with pytest.raises(StratagemError):
        exported_file(names[0])
    assert exported_file(names[2]).is_file()


def test_file_of_a_run_has_its_report(shown, tmp_path):
    data = held(export_replays(shown / "runs" / "first", tmp_path / "run.html"))
    assert {"summary", "curves", "settings"} <= set(data["report"])
    assert data["report"]["curves"]["title"] == "Metrics over training"
