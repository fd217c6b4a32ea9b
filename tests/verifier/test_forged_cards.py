"""Forgeries of a real audit: each is found by `stratagem verify`, with a sentence that names it."""

import ast
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stratagem as sg
from stratagem.base.manifest import DIGESTS, write_digests
from stratagem.cli.main import main
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.kuhn.players import NashApprox
from stratagem.measure.audit.asked_again import detectable_share
from stratagem.measure.statistics import sign_flip_p
from stratagem.players.base import Move, Traits
from stratagem.players.wrappers import Noisy
from stratagem.verifier.drawn_tests import ORDERS, around_p, sign_flips
from stratagem.verifier.figures import excess_figures, holm_values, wilson_limits
from stratagem.verifier.small_tree import EndsWalk

FIT = "This shows that figures and record fit together, and not that"
VERIFY = Path(__file__).parents[2] / "src" / "stratagem" / "verifier"
NOISY = "noise(TightValue, p=0.2)"


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Audits of an agent without chance, of a noisy one, and of one with illegal replies."""
    place = tmp_path_factory.mktemp("audits")
    sg.audit("TightValue", games="kuhn", decisions=400, out=place / "certain", progress=False)
    sg.audit(NOISY, games="kuhn", decisions=600, seed=3, out=place / "noisy", progress=False)
    sg.audit(NOISY, games="kuhn", decisions=600, seed=4, out=place / "other", progress=False)
    sg.audit(Clumsy(), games="kuhn", decisions=600, out=place / "clumsy", progress=False)
    program = {"write_exploiter": place / "rules.py", "progress": False}
    sg.audit("TightValue", games="kuhn", decisions=400, out=place / "with exact rules", **program)
    short = {"games": "kuhn-spiel", "decisions": 240}
    sg.audit("tiny(max_new_tokens=2)", arena=True, out=place / "in an arena", **short, **program)
    sg.audit(NOISY, games="kuhn", decisions=600, against="TightValue", out=place / "compared", progress=False)
    sg.audit("mcts:1", out=place / "by search", progress=False, **short)
    return place


@dataclass(frozen=True)
class Clumsy(NashApprox):
    """Plays an equilibrium, and gives an illegal reply now and then."""

    def turn(self, ask):
        return Move(None, said="pardon?") if ask.key.at("clumsy").unit() < 0.1 else super().turn(ask)


@pytest.fixture
def folder(honest, tmp_path):
    """A copy of an audit, to be changed."""

    def copy(name="noisy"):
        return Path(shutil.copytree(honest / name, tmp_path / name))

    return copy


def forge_card(folder, change, *, sign=True):
    card = json.loads((folder / "card.json").read_text())
    change(card, {figure["name"]: figure for figure in card["figures"]})
    (folder / "card.json").write_text(json.dumps(card))
    if sign:
        write_digests(folder)


def shards(folder, probe, table, game="kuhn"):
    return sorted((folder / "records" / f"{game}-{probe}" / table).glob("*.parquet"))


def shard(folder, probe, table, number=0):
    return shards(folder, probe, table)[number]


def forge_rows(path, change):
    table = pq.read_table(path)
    rows = change(table.to_pylist())
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, compression="zstd", write_page_checksum=True)


def verdict(folder):
    found = sg.verify_figures(folder, progress=False)
    assert found.exit_status == 1
    assert not found
    return found.first_lines()[0] + "\n" + "\n".join(check.detail for check in found.checks)


def faults(folder):
    """Return the details of the checks that differ, by name."""
    found = sg.verify_figures(folder, progress=False)
    assert found.exit_status == 1
    return {check.name: check.detail for check in found.checks if check.agreement == "differs"}


@pytest.mark.parametrize("name", ["certain", "noisy", "other", "clumsy"])
def test_an_honest_card_agrees_with_its_record(honest, name):
    found = sg.verify_figures(honest / name, progress=False)
    assert found.ok, found
    assert found.faults == ()
    assert found.exit_status == 0
    assert "agrees with its record: 14 figures and parts are recomputed, 2 are not" in found.first_lines()[0]
    left = {check.name for check in found.checks if check.agreement == "not recomputed"}
    assert left == {"requests", "texts"}
    assert "not that the agent gave these replies" in found.remarks()[-1]
    assert sg.verify_figures(honest / name / "card.json", progress=False).ok, "the card itself leads to its folder"


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("with exact rules", {"kuhn.exploiter"}),
        ("in an arena", {"kuhn-spiel.exploiter"}),
        ("by search", set()),  # its replies do not tell that it could have failed
        ("compared", {"baseline: requests", "baseline: texts"}),
    ],
)
def test_an_honest_card_of_another_agent_agrees_with_its_record(honest, name, left):
    found = sg.verify_figures(honest / name, progress=False)
    assert found.ok, found
    assert {one.name for one in found.checks if one.agreement == "not recomputed"} == {"requests", "texts", *left}


@pytest.mark.parametrize(
    "parts",
    [
        {"exploitability": "lower", "payoff_random": "value", "payoff_strong": "holm_p"},
        {"exploitability": "upper", "payoff_random": "upper", "payoff_strong": "n"},
    ],
)
def test_a_changed_difference_is_found(folder, parts):
    at = folder("compared")

    def change(card, figures):
        for name, part in parts.items():
            figures[f"kuhn.{name}.against"][part] += 1 if part == "n" else 0.02

    forge_card(at, change)
    details = faults(at)
    for name, part in parts.items():
        assert f"`{part}` is " in details[f"kuhn.{name}.against"]


def test_a_difference_that_was_taken_out_is_found(folder):
    at = folder("compared")
    gone = "kuhn.payoff_random.against"
    forge_card(at, lambda card, figures: card["figures"].remove(figures[gone]))
    assert f"{gone} differs" in verdict(at)


def test_another_baseline_is_found(folder):
    at, other = folder("compared"), folder("noisy")
    shutil.rmtree(at / "against")
    shutil.copytree(other, at / "against")
    write_digests(at)
    assert "The card in the folder against has another agent than this card asks for." in verdict(at)
    forge_card(at, lambda card, figures: card.update(baseline="noise(kuhn/TightValue, p=0.2)"))
    assert "The card in the folder against has another seed than this card asks for." in verdict(at)


def test_a_baseline_within_a_baseline_is_not_read(folder):
    at = folder("compared")
    (at / "against" / "against").symlink_to(at)
    found = sg.verify_figures(at, progress=False)
    assert found.ok
    assert not any(check.name.startswith("baseline: baseline") for check in found.checks)


@pytest.mark.parametrize("size", [3, 8, 20])
def test_signs_are_flipped_as_by_the_other_code(size):
    gaps = np.random.default_rng(size).normal(0.3, 1.0, size)
    known = sign_flips(gaps)
    assert known.low <= sign_flip_p(gaps, Key(1)) <= known.high
    assert (known.low == known.high) == (size < 14)


@pytest.mark.parametrize("part", ["lower", "upper", "chance", "p"])
def test_a_changed_limit_of_an_agent_that_forfeits_is_found(folder, part):
    at = folder("in an arena")
    forge_card(at, lambda card, figures: figures["kuhn-spiel.exploitability"].update({part: 0.01}))
    assert f"`{part}` is 0.01 in the card" in verdict(at)


def test_a_forfeit_that_became_a_legal_reply_is_found(folder):
    at = folder("in an arena")

    def change(rows):
        row = [row for row in rows if row["action"] is None and row["slot"] == 0][-1]
        row["action"], row["how"] = "Pass", "free"
        return rows

    paths = shards(at, "replies", "decisions", "kuhn-spiel")
    forge_rows(next(path for path in paths if None in pq.read_table(path)["action"].to_pylist()), change)
    write_digests(at)
    said = verdict(at)
    assert "kuhn-spiel.exploitability differs" in said
    assert "kuhn-spiel.illegal differs" in said


def test_every_figure_of_the_card_has_a_row(honest):
    card = json.loads((honest / "clumsy" / "card.json").read_text())
    found = sg.verify_figures(honest / "clumsy", progress=False)
    assert {figure["name"] for figure in card["figures"]} <= {row["name"] for row in found.rows()}
    (illegal,) = [check for check in found.checks if check.name == "kuhn.illegal"]
    assert illegal.card == illegal.recomputed > 0.02


@pytest.mark.parametrize("probe", ["replies", "matches"])
def test_a_changed_reply_is_found_though_the_manifest_was_renewed(folder, probe):
    at = folder()

    def change(rows):
        row = next(row for row in rows if row["info_key"] == "J:" and row["slot"] == 0)
        row["action"] = {"BET": "PASS", "PASS": "BET"}[row["action"]]
        return rows

    forge_rows(shard(at, probe, "decisions"), change)
    assert "decisions/000000.parquet has" in verdict(at)
    write_digests(at)
    said = verdict(at)
    assert DIGESTS not in said
    named = "kuhn.exploitability differs" if probe == "replies" else "kuhn: record of matches differs"
    assert named in said
    if probe == "matches":
        assert re.search(r"turn \d+ lacks a decision|The payoffs of .* do not follow from its decisions", said)


def test_changed_payoffs_are_found(folder):
    at = folder()

    def change(rows):
        rows[0]["payoffs"] = [pay + sign * 1.0 for pay, sign in zip(rows[0]["payoffs"], (1, -1), strict=True)]
        return rows

    forge_rows(shard(at, "matches", "episodes"), change)
    write_digests(at)
    assert "do not follow from its decisions" in verdict(at)


def test_a_file_of_the_same_size_is_found(folder):
    at = folder()
    text = (at / "card.json").read_text()
    (at / "card.json").write_text(text.replace('"seed": 3', '"seed": 4'))
    assert "card.json has changed" in verdict(at)


def test_a_dropped_illegal_reply_is_found(folder):
    at = folder("clumsy")
    path = shard(at, "replies", "decisions")
    bad = [row["episode"] for row in pq.read_table(path).to_pylist() if row["action"] is None][-1]
    for table in ("decisions", "episodes"):
        column = "episode" if table == "decisions" else "id"
        forge_rows(shard(at, "replies", table), lambda rows, column=column: [row for row in rows if row[column] != bad])
    write_digests(at)
    said = verdict(at)
    assert "kuhn.illegal differs" in said
    assert "is missing, or is there twice" in said or "`n` is" in said
    assert "`decisions` is" in said, "the cost counts it, too"


def test_an_illegal_reply_that_became_legal_is_found(folder):
    at = folder("clumsy")

    def change(rows):
        row = next(row for row in rows if row["action"] is None)
        row["action"] = "PASS" if row["info_key"].count("B") == 0 else "FOLD"
        return rows

    forge_rows(shard(at, "replies", "decisions"), change)
    write_digests(at)
    assert "is recorded as illegal with the action" in verdict(at)


@pytest.mark.parametrize(
    "parts",  # of the p one at a time: each changes the Holm p of the others
    [
        {
            "exploitability": ("lower", -0.01),
            "illegal": ("p", -0.5),
            "dominated": ("value", -0.01),
            "sequence": ("value", 0.2),
            "excess_loss": ("value", 0.01),
            "payoff_random": ("lower", 0.05),
            "payoff_strong": ("value", 0.05),
        },
        {
            "exploitability": ("upper", -0.01),
            "illegal": ("upper", -0.001),
            "dominated": ("lower", -0.01),
            "change": ("p", -0.3),
            "played": ("value", 0.01),
            "excess_loss": ("lower", 0.3),
        },
        {"exploitability": ("value", -0.01), "sequence": ("p", -0.3)},
        {"exploitability": ("chance", 0.1), "played": ("p", -0.3)},
        {"exploitability": ("n", 1), "played": ("holm_p", -0.4)},
        {"exploitability": ("p", 0.3)},
    ],
)
def test_a_changed_number_of_the_card_is_found(folder, parts):
    at = folder()

    def change(card, figures):
        for name, (part, by) in parts.items():
            figure = figures[f"kuhn.{name}"]
            assert figure[part] is not None
            figure[part] += by

    forge_card(at, change)
    details = faults(at)
    for name, (part, _) in parts.items():
        said = rf"`(holm_)?{part.removeprefix('holm_')}` is .* in the card, and .* by the record"
        assert re.search(said, details[f"kuhn.{name}"])


def test_the_opponent_of_the_excess_loss_is_the_one_that_the_card_names_where_both_paid_the_same(folder, monkeypatch):
    at = folder()
    told = json.loads((at / "card.json").read_text())["figures"]
    named = next(figure for figure in told if figure["name"] == "kuhn.excess_loss")

    def equal(answers, bouts, share):
        found = excess_figures(answers, bouts, share)
        own = next(one for one in found if abs(one["value"] - named["value"]) < 1e-9)
        for one in found:
            one["p"] = own["p"]
            one["value"] = named["value"] + (1e-12 if one is own else 0.0)
        return found

    monkeypatch.setattr("stratagem.verifier.figures.excess_figures", equal)
    assert sg.verify_figures(at, progress=False).ok


def test_another_opponent_of_the_excess_loss_is_found(folder):
    at = folder()

    def change(card, figures):
        told = figures["kuhn.excess_loss"]
        (told["episode"],) = {figures[f"kuhn.payoff_{name}"]["episode"] for name in ("random", "strong")} - {
            told["episode"]
        }

    forge_card(at, change)
    assert "kuhn.excess_loss differs" in verdict(at)


def test_a_hidden_alarm_is_found(folder):
    at = folder("certain")

    def change(card, figures):
        assert figures["kuhn.exploitability"]["alarm"]
        figures["kuhn.exploitability"]["alarm"] = False

    forge_card(at, change)
    assert "`alarm` is False in the card, and True by the record" in verdict(at)


def test_a_value_beside_a_reason_why_there_is_none_is_found(folder):
    at = folder()
    forge_card(at, lambda card, figures: figures["kuhn.exploitability"].update(value=0.0, why_not="It is secret."))
    assert "kuhn.exploitability differs" in verdict(at)


def test_a_figure_that_was_taken_out_is_found(folder):
    at = folder("clumsy")
    forge_card(
        at, lambda card, _: card["figures"].remove(next(f for f in card["figures"] if f["name"] == "kuhn.illegal"))
    )
    assert "kuhn.illegal differs" in verdict(at)
    assert "The card lacks this figure." in verdict(at)


def test_a_probe_that_was_taken_out_is_found(folder):
    at = folder()
    forge_card(at, lambda card, _: card["probes"]["kuhn"].pop("matches"))
    assert "records/kuhn-matches belongs to no probe of the card." in verdict(at)


def test_changed_moves_of_the_exploiter_and_cost_are_found(folder):
    at = folder("certain")

    def change(card, _):
        card["strategies"]["kuhn"][0]["action"] = "BET"
        card["cost"]["decisions"] -= 1

    forge_card(at, change)
    said = verdict(at)
    assert "kuhn: strategy differs" in said
    assert "cost differs" in said


def test_a_card_of_another_audit_is_found(folder):
    at, other = folder("noisy"), folder("other")
    shutil.copy(other / "card.json", at / "card.json")
    assert "card.json has" in verdict(at)
    write_digests(at)
    said = verdict(at)
    assert "evaluation.json has other seed than the card." in said
    assert "was not drawn by the seed of the card." in said
    assert "kuhn.exploitability differs" in said


def test_a_record_of_another_audit_is_found(folder):
    at, other = folder("noisy"), folder("other")
    shutil.rmtree(at / "records")
    shutil.copytree(other / "records", at / "records")
    write_digests(at)
    assert "records/kuhn-matches is of another audit." in verdict(at)


def _rename(folder):
    forge_card(folder, lambda card, figures: card.update(agent="gpt-9"))


def _swap_seats(folder):
    def swap(rows):
        return [{**row, "slots": row["slots"][::-1]} if "/random/" in row["id"] else row for row in rows]

    forge_rows(shard(folder, "matches", "episodes"), swap)
    write_digests(folder)


def _take_matches_of_another_seed(folder):
    record = folder / "records" / "kuhn-matches"
    plan = (record / "evaluation.json").read_text()
    shutil.rmtree(record)
    shutil.copytree(folder.parent / "other" / "records" / "kuhn-matches", record)
    (record / "evaluation.json").write_text(plan)
    write_digests(folder)


def _drop_a_deal(folder):
    for table, column in (("episodes", "id"), ("decisions", "episode")):
        forge_rows(
            shard(folder, "matches", table),
            lambda rows, column=column: [row for row in rows if "/random/0." not in row[column]],
        )
    name = "kuhn/noise(kuhn/TightValue, p=0.2)/random/1.0"
    forge_card(folder, lambda card, figures: figures["kuhn.payoff_random"].update(episode=name))


def _drop_last_replies(folder):
    for table, column in (("episodes", "id"), ("decisions", "episode")):
        for path in sorted((folder / "records" / "kuhn-replies" / table).glob("*.parquet")):
            forge_rows(
                path,
                lambda rows, column=column: [row for row in rows if not re.search(r"/ask/.*/[1-9][0-9]$", row[column])],
            )
    write_digests(folder)


def _change_planned_decisions(folder):
    forge_card(folder, lambda card, figures: card["probes"]["kuhn"].update(replies=70))


def test_a_baseline_that_was_taken_out_is_found(folder):
    path = folder()
    forge_card(path, lambda card, figures: card.update(baseline="random"))
    assert "baseline" in verdict(path)


def test_asking_another_agent_than_that_of_the_card_is_refused(folder):
    path = folder()
    forge_card(path, lambda card, figures: card.update(agent="gpt-9"))
    with pytest.raises(sg.StratagemError, match="not the agent of its card"):
        sg.verify_figures(path, ask=5, progress=False)


def test_a_card_of_an_earlier_version_is_one_sentence(folder):
    path = folder()
    forge_card(path, lambda card, figures: card.update(card=2))
    with pytest.raises(sg.StratagemError, match="version 2"):
        sg.verify_figures(path, progress=False)


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (_rename, "not to the agent of the card"),
        (_swap_seats, "are not those of its turn"),
        (_take_matches_of_another_seed, "was not drawn by the seed of the card"),
        (_drop_a_deal, "is missing, or is there twice"),
        (_drop_last_replies, "fewer than"),
        (_change_planned_decisions, "another number of decisions"),
    ],
)
def test_a_forgery_that_keeps_figures_and_record_together_is_found(folder, forge, sentence):
    path = folder()
    folder("other")
    forge(path)
    assert sentence in verdict(path)


def test_a_missing_shard_is_found(folder):
    at = folder()
    for table in ("episodes", "decisions", "calls", "timings", "prompts"):
        shard(at, "replies", table, -1).unlink()
    assert "is missing" in verdict(at)
    write_digests(at)
    said = verdict(at)
    assert "differs" in said
    assert "cost" in said


def test_a_missing_record_is_found(folder):
    at = folder()
    shutil.rmtree(at / "records" / "kuhn-replies")
    write_digests(at)
    assert "records/kuhn-replies is missing." in verdict(at)


@pytest.mark.parametrize("name", ["card.json", "evaluation.json", "records/kuhn-replies/decisions/000000.parquet"])
def test_a_cut_file_is_found(folder, name):
    at = folder()
    os.truncate(at / name, (at / name).stat().st_size // 2)
    assert f"{name} has" in verdict(at)
    write_digests(at)
    assert "cannot be read" in verdict(at)


def test_a_cut_or_missing_manifest_is_found(folder):
    at = folder()
    os.truncate(at / DIGESTS, (at / DIGESTS).stat().st_size - 1)
    assert f"its {DIGESTS} cannot be read" in verdict(at)
    (at / DIGESTS).unlink()
    assert f"{DIGESTS} is missing" in verdict(at)


def test_a_manifest_that_was_changed_by_hand_is_found(folder):
    at = folder()
    data = json.loads((at / DIGESTS).read_text())
    data["files"].pop("card.json")
    (at / DIGESTS).write_text(json.dumps(data))
    assert f"its {DIGESTS} is not as it was written" in verdict(at)


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "records/../../secret"])
def test_a_manifest_leads_nowhere_else(folder, name):
    import hashlib

    at = folder()
    (at.parent / "secret").write_text("s")
    files = {**json.loads((at / DIGESTS).read_text())["files"], name: [1, hashlib.sha256(b"s").hexdigest()]}
    own = hashlib.blake2b(json.dumps(files, sort_keys=True).encode(), digest_size=16).hexdigest()
    (at / DIGESTS).write_text(json.dumps({"files": files, "own": own}))
    assert f"names '{name}', which is not in the folder" in verdict(at)


def test_a_link_and_a_new_shard_are_found(folder):
    at = folder()
    card = at / "evaluation.json"
    card.rename(at.parent / "evaluation.json")
    card.symlink_to(at.parent / "evaluation.json")
    shutil.copy(shard(at, "matches", "episodes"), at / "records" / "kuhn-matches" / "episodes" / "000009.parquet")
    said = verdict(at)
    assert "evaluation.json is a link" in said
    assert "records/kuhn-matches/episodes/000009.parquet is not named" in said


def test_a_huge_file_is_not_read(folder):
    at = folder()
    os.truncate(at / "card.json", 1 << 40)
    said = verdict(at)
    assert "card.json has 1,099,511,627,776 bytes" in said
    assert "larger than 128 MiB" in said


def test_a_table_that_unfolds_is_not_read(folder, monkeypatch):
    from stratagem.verifier import audit_record

    monkeypatch.setattr(audit_record, "LARGEST", 1 << 10)
    assert "holds more than 0 MiB, and is not read" in verdict(folder())


def test_the_command_ends_with_the_verdict(folder, capsys):
    at = folder()
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(at), "--json"])
    assert ended.value.code == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["ok"]
    assert shown["files"] == []
    forge_card(at, lambda card, figures: figures["kuhn.illegal"].update(upper=0.001))
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(at)])
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert said.startswith("The card of noise(kuhn/TightValue, p=0.2) does not agree with its record:")
    assert "fit together" not in said


def test_what_agreement_does_not_show_is_said_of_cards_and_runs(folder):
    run = sg.verify_figures(VERIFY.parent / "demo" / "kuhn-demo", progress=False)
    assert sg.verify_figures(folder(), progress=False).remarks()[-1].startswith(f"{FIT} the agent gave these replies:")
    assert replace(run, faults=()).remarks() == [
        f"{FIT} the training played these games: a signature of the manifest says who vouches for it."
    ]


def test_an_unfinished_audit_is_told_how_it_goes_on(folder):
    at = folder()
    for name in ("card.json", "digests.json"):
        (at / name).unlink()
    with pytest.raises(sg.StratagemError, match="is not finished: the command that began it goes on with it"):
        sg.verify_figures(at, progress=False)


def test_a_folder_without_a_card_is_refused(tmp_path):
    with pytest.raises(sg.StratagemError, match="There is no card of an audit and no run in"):
        sg.verify_figures(tmp_path)


def test_asking_again_finds_a_record_of_another_agent(folder):
    at = folder()
    found = sg.verify_figures(at, ask=40, progress=False)
    assert found.asked.equal == found.asked.asked == 40
    assert found.asked.detectable == pytest.approx(1 - 0.05 ** (1 / 40))
    plan = json.loads((at / "evaluation.json").read_text())
    for path in at.rglob("evaluation.json"):
        path.write_text(path.read_text().replace(plan["player"], "AlwaysBet"))
    forge_card(at, lambda card, figures: card.update(agent="kuhn/AlwaysBet"))
    forged = sg.verify_figures(at, ask=40, progress=False)
    assert forged.exit_status == 1
    assert forged.asked.equal < 40
    assert not forged.asked.ok


def test_a_model_is_compared_by_a_permutation_test(honest, monkeypatch):
    """A player that need not repeat itself is tested by its shares; here it is the noisy one, declared to be such."""
    monkeypatch.setattr(NashApprox, "traits", replace(NashApprox.traits, repeats=False))
    monkeypatch.setattr(Noisy, "traits", property(lambda self: Traits(stochastic=True, repeats=False)))
    found = sg.verify_figures(honest / "noisy", ask=60, progress=False).asked
    assert not found.repeats
    assert found.p > 0.05
    assert 0.0 < found.detectable < 1.0
    assert "60 replies agree with the record (p = " in found.sentence()


def test_asking_again_asks_for_permission(folder, tmp_path):
    at = folder()
    (tmp_path / "own.py").write_text("raise SystemExit('it was run')\n")
    for path in at.rglob("evaluation.json"):
        data = json.loads(path.read_text())
        path.write_text(json.dumps({**data, "player": f"{tmp_path}/own.py:play"}))
    with pytest.raises(sg.StratagemError, match=r"own\.py"):
        sg.verify_figures(at, ask=5, progress=False)


def test_the_smallest_difference_falls_with_the_number_of_replies():
    old = [[0, 1] * 20, [0, 0, 0, 1] * 10]
    few, many = (detectable_share(old, [size, size], Key(1)) for size in (8, 60))
    assert many < few <= 1.0


def test_the_verifier_shares_the_rules_alone():
    """Nothing of `measure`, `playing` or `players` is imported, nor the trees that the audit walks.

    The estimated size of a tree goes into no figure: by it a game is refused.
    """
    allowed = (
        "base.",
        "games.base",
        "games.bounded",
        "games.drawn.d",
        "games.enumeration",
        "games.key",
        "games.rounds",
        "games.tree_size",
        "verifier.",
    )
    for path in VERIFY.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("stratagem"):
                assert f"{node.module}.".removeprefix("stratagem.").startswith(allowed), (path.name, node.module)
            elif isinstance(node, ast.Import):
                assert not any(alias.name.startswith("stratagem") for alias in node.names), path.name


@pytest.mark.parametrize("game", ["kuhn(hands=1)", "kuhn", "kuhn-spiel", "ipd(rounds=3)", "icg(rounds=2)"])
def test_random_play_is_as_exploitable_as_by_the_other_code(game):
    walk = EndsWalk(make_game(game))
    rows = [np.array([action is not None for action in known.actions]) / len(known.legal) for known in walk.sets]
    even = np.concatenate(rows)
    gain, _ = walk.gain(even, [walk.best_response(even, seat) for seat in (0, 1)])
    assert gain == pytest.approx(float(sg.exploitability(game, "random")))


def test_known_values_of_the_limits():
    assert wilson_limits(10, 100) == pytest.approx((0.05522914, 0.17436566), abs=1e-8)  # Wilson 1927, as in R's binom
    assert holm_values({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    assert around_p(1.0, ORDERS).low > 0.99
    assert around_p(0.5, ORDERS).low == pytest.approx(0.42, abs=0.01)


def test_a_run_is_checked(tmp_path):
    run = shutil.copytree(VERIFY.parent / "demo" / "kuhn-demo", tmp_path / "run")
    write_digests(run)
    found = sg.verify_figures(run, progress=False)
    assert found.ok, found
    names = {check.name: check.agreement for check in found.checks}
    assert names["kuhn: run:.@560: exploitability"] == "agrees"
    assert names["kuhn: run:.@560: payoffs and rates"] == "not recomputed"
    recipe = run / "config.toml"
    shared = recipe.read_text()
    for temperature, agreement in ((0.7, "agrees"), (0.2, "not recomputed")):
        tables = f"\n[interaction]\ntemperature = 0.7\n[final_evaluation]\ntemperature = {temperature}\n"
        recipe.write_text(shared + tables)
        checks = {check.name: check for check in sg.verify_figures(run, progress=False).checks}
        assert checks["kuhn: run:.@560: exploitability"].agreement == agreement
    recipe.write_text(shared)
    policy = run / "policies" / "kuhn-000560.json"
    data = json.loads(policy.read_text())
    data["policy"]["J:"] = {"PASS": 1.0, "BET": 0.0}
    policy.write_text(json.dumps(data))
    said = verdict(run)
    assert "policies/kuhn-000560.json has" in said
    assert "kuhn: run:.@560: exploitability differs" in said
    os.truncate(next(run.rglob("adapter_model.safetensors")), 100)
    assert "adapter_model.safetensors has 100 bytes" in verdict(run)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_signed_manifest_is_known_and_a_changed_one_is_not(folder):
    at, key = folder(), folder("certain").parent / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", key, "-n", "stratagem", DIGESTS], cwd=at, check=True, capture_output=True
    )
    (at.parent / "signers").write_text(f"me@example.org {key.with_suffix('.pub').read_text()}")
    check = ["ssh-keygen", "-Y", "verify", "-f", at.parent / "signers", "-I", "me@example.org", "-n", "stratagem"]

    def status():
        with (at / DIGESTS).open("rb") as file:
            return subprocess.run([*check, "-s", at / f"{DIGESTS}.sig"], stdin=file, capture_output=True).returncode

    assert status() == 0
    assert sg.verify_figures(at, progress=False).ok, "the signature beside it is no fault"
    forge_card(at, lambda card, figures: figures["kuhn.illegal"].update(upper=0.001))
    assert status() != 0
