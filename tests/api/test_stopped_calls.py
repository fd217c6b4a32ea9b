"""Calls that are stopped: the exception has the figures of what is finished, and says how the call goes on."""

import pytest

import stratagem as sg
from stratagem.api.stopped import going_on, so_far_of
from stratagem.players.uniform import Random


class Stopping(Random):
    """Player whose decisions are interrupted from one on."""

    asked = 0
    last = 60

    def turn(self, ask):
        type(self).asked += 1
        if self.asked > self.last:
            raise KeyboardInterrupt
        return super().turn(ask)


@pytest.fixture
def stopping(monkeypatch):
    monkeypatch.setattr(Stopping, "asked", 0)
    return Stopping()


def stopped(call):
    with pytest.raises(KeyboardInterrupt) as caught:
        call()
    return so_far_of(caught.value)


def test_interrupted_evaluation_has_the_figures_of_its_finished_episodes(stopping, tmp_path):
    known = stopped(
        lambda: sg.evaluate(
            "kuhn(hands=1)", stopping, opponents=["AlwaysBet"], episodes=200, chance=False, record=tmp_path / "record"
        )
    )
    assert known.folder == tmp_path / "record"
    assert 0 < len(known.episodes) < 200
    result = known.result()
    assert result.broken_off
    assert len(sg.read_record(tmp_path / "record").episodes) == len(known.episodes)


def test_interrupt_before_any_episode_has_no_figures(stopping, monkeypatch):
    monkeypatch.setattr(Stopping, "last", 0)
    known = stopped(lambda: sg.tournament("kuhn(hands=1)", [stopping, "AlwaysBet"], episodes=2))
    assert (list(known.episodes), known.result(), known.folder) == ([], None, None)


def test_interrupted_audit_says_how_it_goes_on(stopping, tmp_path):
    with pytest.raises(KeyboardInterrupt) as caught:
        sg.audit(stopping, games="kuhn", decisions=2000, out=tmp_path / "audit", progress=False)
    assert caught.value.__notes__ == [f"The same call goes on with the audit in {tmp_path / 'audit'}."]
    assert so_far_of(caught.value) is None


def test_a_call_within_a_call_says_once_how_to_go_on():
    with pytest.raises(KeyboardInterrupt) as caught, going_on("Go on."), going_on("Go on."):
        raise KeyboardInterrupt
    assert caught.value.__notes__ == ["Go on."]
