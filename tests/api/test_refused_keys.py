"""Players whose text holds a key are refused before anything is written."""

import pytest

import stratagem as sg
from stratagem.base.errors import StratagemError

KEYED = [
    "api:bet@http://me:sk-SECRET@127.0.0.1:9/v1",
    "api:bet@http://sk-SECRET@127.0.0.1:9/v1",
    "api:bet@http://127.0.0.1:9/v1?api_key=sk-SECRET",
    "api:bet@http://127.0.0.1:9/v1#sk-SECRET",
    "lm(api:bet@http://127.0.0.1:9/v1, api_key=sk-SECRET)",
    "noise(api:bet@http://me:sk-SECRET@127.0.0.1:9/v1, p=0.1)",
    "http:http://me:sk-SECRET@127.0.0.1:9/act",
    "http:http://127.0.0.1:9/act?token=sk-SECRET",
    "http:http://127.0.0.1:9/act#sk-SECRET",
]
CALLS = {
    "eval": lambda keyed, at: sg.evaluate("kuhn", keyed, episodes=2, record=at, progress=False),
    "eval, opponent": lambda keyed, at: sg.evaluate("kuhn", "random", opponents=keyed, record=at, progress=False),
    "eval, exploiter": lambda keyed, at: sg.evaluate("kuhn", "random", exploitability=keyed, record=at, progress=False),
    "tournament": lambda keyed, at: sg.tournament("kuhn", keyed, episodes=2, record=at, progress=False),
    "play": lambda keyed, at: sg.play("kuhn", [keyed, "random"], record=at, progress=False),
    "audit": lambda keyed, at: sg.audit(keyed, games="kuhn", out=at, progress=False),
    "audit, baseline": lambda keyed, at: sg.audit("random", games="kuhn", against=keyed, out=at, progress=False),
    "exploit": lambda keyed, at: sg.exploitability("kuhn", keyed, effort=2, record=at),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("keyed", KEYED)
def test_nothing_is_written_for_a_player_that_is_refused(call, keyed, tmp_path):
    with pytest.raises(StratagemError) as caught:
        CALLS[call](keyed, tmp_path / "record")
    assert "SECRET" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
