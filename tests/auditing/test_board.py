"""Board of agents: a page with its files, which shows foreign names as text and reaches no network."""

import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from zipfile import ZipFile

import pytest

import stratagem as sg
from stratagem.base.errors import BadRecord
from stratagem.measure.audit.card import FILE
from stratagem.measure.resumable import PLAN

HOSTILE = "</td><script>alert(1)</script><img src=//evil onerror=x>\u202e\"'&"
NAMES = ("TightPassive", "PotControl")


@pytest.fixture(scope="module")
def audits(tmp_path_factory):
    """Folders of two audits in Kuhn poker, and of one in the dilemma with a seed of its own."""
    folder = tmp_path_factory.mktemp("audits")
    for name in NAMES:
        sg.audit(name, games="kuhn", decisions=300, out=folder / name, progress=False)
    sg.audit("AlwaysCooperate", games="ipd(rounds=3)", decisions=600, seed=7, out=folder / "ipd", progress=False)
    return [folder / name for name in (*NAMES, "ipd")]


class Page(HTMLParser):
    """Elements of a page by their tags, and the text of its cells by row."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.rows, self._cell = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if self._cell and tag == "small":
            self.rows[-1][-1] += " "
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        self._cell = self._cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self._cell:
            self.rows[-1][-1] += data

    def values(self, attribute):
        return [found[attribute] for _, found in self.elements if attribute in found]


@pytest.fixture(scope="module")
def page(audits, tmp_path_factory):
    path = tmp_path_factory.mktemp("board") / "a board.html"
    sg.rank_audits(audits, html=path)
    return path


def test_each_game_has_its_ranks_beside_random_play_and_the_equilibrium(page):
    rows = [row for row in Page(page.read_text()).rows if len(row) == 9]
    kuhn, dilemma = (list(part) for part in (rows[:5], rows[5:]))
    assert kuhn[0][:3] == ["agent", "rank", "exploitability"]
    assert [row[:3] for row in kuhn[1:]] == [
        ["an equilibrium, or perfect play", "–", "0.000"],
        ["kuhn/PotControl", "1", "0.167 0.167 … 0.167"],
        ["kuhn/TightPassive", "2", "0.250 0.250 … 0.250"],
        ["random play", "–", "0.458"],
    ]
    assert [row[0] for row in dilemma][1::2] == ["an equilibrium, or perfect play", "ipd/AlwaysCooperate"]
    assert kuhn[2][-1] == "0, the default"
    assert dilemma[-1][-1] == "7, own choice"
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d", row[-2]) for row in (kuhn[2], dilemma[-1]))


def test_page_names_command_strategy_and_a_picture_for_each_game(page):
    text = page.read_text()
    found = Page(text)
    assert "stratagem audit TightPassive --games kuhn --decisions 300 --seed 0 --out FOLDER" in text
    assert ["seat 0", "Your card is J. You open this hand.", "BET"] in found.rows
    assert [tag for tag, _ in found.elements].count("svg") == 2
    assert "kuhn/PotControl 0.167" in text


def test_links_lead_to_files_with_the_digests_that_the_page_shows(page, audits):
    text = page.read_text()
    links = [href for href in Page(text).values("href") if not href.startswith("#")]
    assert len(links) == 6
    for href in links:
        assert href.startswith("a%20board_files/")
        file = page.parent / href.replace("%20", " ")
        digest = sha256(file.read_bytes()).hexdigest()
        assert digest in text
        assert digest[:16] in file.name
    cards = {json.dumps(json.loads(path.read_text())) for path in page.parent.glob("*/card-*.json")}
    assert cards == {json.dumps(json.loads((folder / FILE).read_text())) for folder in audits}


def test_an_unpacked_record_is_an_audit_that_goes_on(page, tmp_path):
    for archive in page.parent.glob("*/audit-*.zip"):
        with ZipFile(archive) as packed:
            packed.extractall(tmp_path / archive.stem)
    folders = sorted(tmp_path.glob("*"))
    assert len(sg.rank_audits(folders).places) == 3
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert {FILE, "evaluation.json", "000000.parquet"} <= names
    assert not {"card.html", "lock", "pace.json"} & names
    again = sg.audit("TightPassive", games="kuhn", decisions=300, out=_of("TightPassive", folders), progress=False)
    assert again.card.by_name["kuhn.exploitability"].value == pytest.approx(0.25)


def _of(agent, folders):
    (found,) = (one for one in folders if agent in json.loads((one / FILE).read_text())["agent"])
    return found


def test_equal_audits_give_equal_bytes(page, audits, tmp_path):
    sg.rank_audits(audits, html=tmp_path / "a board.html")
    written = {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert written == {file.name: file.read_bytes() for file in page.parent.rglob("*") if file.is_file()}


def test_page_reaches_no_network_and_runs_nothing(page):
    found = Page(page.read_text())
    tags = {tag for tag, _ in found.elements}
    assert not tags & {"script", "link", "iframe", "img", "object"}
    assert found.values("src") == []
    assert not any(re.match(r"(?i)\s*([a-z]+:|//)", href) for href in found.values("href"))
    (policy,) = (one["content"] for tag, one in found.elements if tag == "meta" and "http-equiv" in one)
    assert policy.startswith("default-src 'none'; script-src 'none'")


def hostile_copy(folder, audits):
    """Write an audit whose every text is hostile, as a stranger may send it."""
    folder.mkdir()
    data = json.loads((audits[0] / FILE).read_text())
    data["agent"], data["notes"], data["cost"]["currency"] = HOSTILE, [HOSTILE], HOSTILE
    data["cost"]["money"] = 1.0
    data["made_by"] = {"stratagem": HOSTILE, "commit": HOSTILE, "date": HOSTILE}
    data["strategies"] = {HOSTILE: [{"seat": 0, "situation": HOSTILE, "action": HOSTILE}]}
    for figure in data["figures"]:
        figure["unit"] = HOSTILE
    (folder / FILE).write_text(json.dumps(data))
    plan = json.loads((audits[0] / "evaluation.json").read_text())
    (folder / "evaluation.json").write_text(json.dumps({**plan, "player": HOSTILE, "games": [HOSTILE], "probes": 3}))
    (folder / "records").mkdir()
    return folder


def test_hostile_texts_are_shown_as_text(audits, tmp_path):
    hostile = hostile_copy(tmp_path / "hostile", audits)
    sg.rank_audits([audits[1], hostile], html=tmp_path / "board.html")
    text = (tmp_path / "board.html").read_text()
    assert "<script" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 8
    assert not [name for _, found in Page(text).elements for name in found if name.startswith("on")]


def test_a_linked_card_of_a_folder_is_refused(audits, tmp_path):
    (tmp_path / FILE).symlink_to(audits[0] / FILE)
    with pytest.raises(BadRecord, match=r"card\.json is a link"):
        sg.rank_audits([audits[1], tmp_path], html=tmp_path / "board.html")
    assert not (tmp_path / "board_files").exists()
    assert sg.rank_audits([audits[1], tmp_path]).places  # nothing is published
    sg.rank_audits([audits[1], tmp_path / FILE], html=tmp_path / "board.html")  # named itself, it is read


@pytest.mark.parametrize("named", [False, True])
def test_a_linked_plan_of_a_folder_is_not_published(named, audits, tmp_path):
    (tmp_path / "secret.json").write_text('{"player": "a secret", "games": ["kuhn"]}')
    hostile = hostile_copy(tmp_path / "hostile", audits)
    (hostile / PLAN).unlink()
    (hostile / PLAN).symlink_to(tmp_path / "secret.json")
    sg.rank_audits([audits[1], hostile / FILE if named else hostile], html=tmp_path / "page" / "board.html")
    assert "a secret" not in (tmp_path / "page" / "board.html").read_text("utf-8")


def test_links_of_a_disk_are_not_packed(audits, tmp_path):
    """A stranger's folder may link to a file of whoever makes the board."""
    (tmp_path / "secret.json").write_text("secret")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key.json").write_text("secret")
    hostile = hostile_copy(tmp_path / "hostile", audits)
    (hostile / "records" / "one.json").symlink_to(tmp_path / "secret.json")
    (hostile / "records" / "two").symlink_to(tmp_path / "secrets")
    (hostile / "private.json").write_text("secret")
    sg.rank_audits([audits[1], hostile], html=tmp_path / "page" / "board.html")
    names = [name for file in tmp_path.glob("page/*/audit-*.zip") for name in ZipFile(file).namelist()]
    assert names.count(FILE) == 2
    assert not [name for name in names if "one" in name or "key" in name or "private" in name]


def test_a_card_alone_has_no_record(audits, tmp_path):
    (tmp_path / "alone.json").write_bytes((audits[0] / FILE).read_bytes())
    sg.rank_audits([audits[1] / FILE, tmp_path / "alone.json"], html=tmp_path / "board.html")
    rows = Page((tmp_path / "board.html").read_text()).rows
    assert ["record", "not given"] in rows
    assert ["command", "not given"] in rows
    assert len(list(tmp_path.glob("board_files/audit-*.zip"))) == 1


def test_a_page_that_cannot_be_written_is_one_sentence(audits, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(sg.StratagemError, match="file"):
        sg.rank_audits(audits, html=tmp_path / "file" / "board.html")


def test_a_board_of_another_figure_says_nothing_about_exploitability(audits, tmp_path):
    sg.rank_audits(audits, "kuhn.payoff_random", html=tmp_path / "board.html")
    text = (tmp_path / "board.html").read_text()
    assert "How much an opponent gains who knows" not in text
    heading, *ranked = [row for row in Page(text).rows if len(row) == 9]
    assert heading[2] == "payoff against random play"
    assert [row[1] for row in ranked if row[1] != "–"] == ["1 to 2", "1 to 2"]
