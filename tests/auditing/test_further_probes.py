"""Probes of files and packages: each has decisions of its own, so that it moves no other figure."""

from dataclasses import replace
from pathlib import Path

import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter
from stratagem.games import make_game
from stratagem.games.talk import Talk
from stratagem.measure.audit.card import read_card
from stratagem.measure.audit.compare import left_out
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.probes import catalogue

MIRROR = str(Path(__file__).resolve().parents[2] / "examples" / "mirror_probe.py") + ":Mirror"
GAMES = ["ipd(rounds=3)", "kuhn(hands=1)"]


def audited(player, *probes, **options):
    return sg.audit(player, games=GAMES, decisions=2400, probes=probes, progress=False, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of an audit of the random player with the probe of a file, and its card."""
    folder = tmp_path_factory.mktemp("mirror") / "audit"
    return folder, audited("random", MIRROR, out=folder).card


def test_further_probe_moves_no_other_figure(folder):
    plain, more = audited("random").card, folder[1]
    names = [figure.name for figure in plain.figures]
    assert [more.by_name[name] for name in names] == [*plain.figures]
    assert {*more.by_name} - {*names} == {"ipd(rounds=3).pay_mirror"}


def test_mirror_of_tit_for_tat_cooperates():
    figure = sg.audit("TitForTat", games=GAMES[0], decisions=1200, probes=MIRROR, progress=False).card.by_name
    assert figure["ipd(rounds=3).pay_mirror"].value == 3.0


def test_card_has_the_decisions_of_each_probe_and_is_read_again(folder):
    out, made = folder
    assert made.probes["kuhn(hands=1)"] == {"replies": 540, "matches": 240}
    assert made.probes["ipd(rounds=3)"] == {"replies": 540, "matches": 240, "mirror": 60}
    assert read_card(out) == made
    assert made.not_measured["kuhn(hands=1).mirror"] == "In a zero-sum game copies have 0 on average."


def test_comparison_names_the_probes_that_only_one_audit_made(folder, tmp_path):
    sg.audit("random", games=GAMES, decisions=2000, progress=False, out=tmp_path / "two")
    found = sg.compare_audits(folder[0], tmp_path / "two")
    assert "ipd(rounds=3).pay_mirror" not in [change.name for change in found.changes]
    assert found.remarks()[1:] == left_out(found.before, found.after)
    assert left_out(found.before, found.after)[2] == (
        "ipd(rounds=3): only the first audit made the probe mirror, so it is left out."
    )
    assert "asked for 540 decisions in the first audit and 450 in the second" in found.remarks()[1]
    assert left_out(replace(found.before, probes={}), found.after) == [], "a card of an earlier version has none"


def test_conditions_may_name_its_figures():
    held = sg.audit(
        "AlwaysDefect",
        games=GAMES[0],
        decisions=1200,
        probes=MIRROR,
        fail_if="ipd(rounds=3).pay_mirror < 2",
        progress=False,
    )
    assert held.outcomes == {"ipd(rounds=3).pay_mirror < 2": "holds"}


def test_shares_of_the_probes_of_a_model_are_all_of_a_game():
    exclusive = {"bound"}  # it applies where the situations cannot be asked about
    shares = {probe.name: probe.share for probe in catalogue.PROBES if probe.name not in exclusive}
    assert sum(shares.values()) == pytest.approx(1.0)
    talk = make_game("talk(kuhn(hands=1))")
    assert isinstance(talk, Talk)
    assert sum(probe.share for probe in catalogue.probes_of(talk)) - 0.45 == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("name = 'words'", "has the name words, which a probe of ours has"),
        ("quantities = {'exploitability': 'safety'}", "has the name exploitability, which a probe of ours has"),
        ("quantities = {'x': 'beauty'}", "has the group 'beauty': there are exploitability, safety"),
        ("share = 2.0", "needs `share` as a number above 0, at most 1, not 2.0"),
        ("share = 'all'", "needs `share` as a number above 0, at most 1, not 'all'"),
    ],
)
def test_wrong_declaration_is_one_sentence(tmp_path, change, says):
    text = Path(MIRROR.partition(":")[0]).read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(f"{text}\n\nclass Mine(Mirror):\n    {change}\n", encoding="utf-8")
    sg.allow(tmp_path / "mine.py")
    with pytest.raises(BadParameter, match=says):
        plan_audit("random", GAMES, 1200, probes=[f"{tmp_path / 'mine.py'}:Mine"])


def test_class_without_the_members_is_refused(tmp_path):
    (tmp_path / "bare.py").write_text("class Bare:\n    name = 'bare'\n", encoding="utf-8")
    sg.allow(tmp_path / "bare.py")
    with pytest.raises(BadParameter, match="lacks share, quantities, why_not, measure: it needs name, share"):
        plan_audit("random", GAMES, 1200, probes=[f"{tmp_path / 'bare.py'}:Bare"])
