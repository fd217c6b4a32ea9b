"""Audits of a served player that plays in the game's own prompts, and refuses questions in other words."""

import shutil

import pytest

import stratagem as sg
from stratagem.language.engines.open import tallies
from stratagem.measure.audit.probes.base import FIRST

REFUSES = "It gave no reply to 2 such questions: The server at http://127.0.0.1:"


@pytest.fixture
def audited(serve, tmp_path, as_new_process):
    """Audit a served bot in a folder; each time as in a process of its own."""
    server = serve(["AlwaysBet"])

    def audit(decisions):
        as_new_process()
        player = f"api:AlwaysBet@{server.url}"
        card = sg.audit(player, games="kuhn", decisions=decisions, out=tmp_path / "audit", progress=False).card
        return {figure.name.removeprefix("kuhn."): figure for figure in card.figures}, tallies()[player]

    return audit


@pytest.mark.runs
def test_an_audit_of_a_served_player_measures_what_its_server_answers(audited, tmp_path):
    figures, tally = audited(593)
    assert tally.num_errors == 2 * FIRST
    assert figures["exploitability"].value == pytest.approx(1 / 3)
    assert (figures["illegal"].value, figures["payoff_random"].n) == (0.0, 4)
    unmeasured = {name: figure for name, figure in figures.items() if figure.why_not}
    assert set(unmeasured) == {"words", "rules"}
    for figure in unmeasured.values():
        assert figure.why_not.startswith(REFUSES)
        assert (figure.value, figure.alarm) == (None, False)
    shutil.rmtree(tmp_path / "audit" / "records" / "kuhn-words")
    again, tally = audited(593)
    assert (again, tally.num_requests, tally.num_errors) == (figures, FIRST, FIRST)
