"""Audits of the environments themselves; run by `make test-environments`, skipped where they are not installed."""

import pytest

from stratagem.games.conformance import verify
from stratagem.games.foreign.audit import AUDIT
from stratagem.games.foreign.catalogue import make_foreign

POT = "after [bet] the pot stays at 2, and in OpenSpiel it goes from 2 to 3 (12 of 12 times)"
FOUND = {
    "textarena:KuhnPoker-v0": {"reset": "goes on with", "apart": "Your card is", "rules": POT},
    "textarena:TicTacToe-v0": {"reset": "goes on with"},
    "textarena:ConnectFour-v0": {"reset": "goes on with"},
    "textarena:PigDice-v0": {"reset": "goes on with", "apart": "turn total is"},
    "pettingzoo:tictactoe_v3": {},
    "pettingzoo:connect_four_v3": {},
    "pettingzoo:rps_v2": {},
    "pettingzoo:leduc_holdem_v4": {},
}
"""Text in the detail of each failed check."""


@pytest.mark.parametrize("name", FOUND)
def test_audit_finds_what_the_page_says(name):
    pytest.importorskip(name.partition(":")[0])
    report = verify(make_foreign(name), rules=AUDIT, episodes=10)
    assert set(report.failed) == set(FOUND[name]), str(report)
    for check, says in FOUND[name].items():
        assert says in report[check].detail
