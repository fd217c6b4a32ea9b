"""Replies of an agent by kind: those of its opponents count for nothing, whichever seat it has."""

from types import SimpleNamespace

from stratagem.measure.validity import validity


def row(seat, how, num_prompt):
    call = SimpleNamespace(num_prompt=num_prompt, num_reply=2, ms=1.0, finish="length" if how == "illegal" else "done")
    return SimpleNamespace(seat=seat, how=how, calls=(call,))


def test_only_replies_of_the_agent_are_counted():
    """The agent has slot 0: seat 0 in the first episode, seat 1 in the second."""
    episodes = [
        SimpleNamespace(
            slots=slots, group=f"deal/{slots[0]}", decisions=[row(agent, "free", 10), row(other, "illegal", 99)]
        )
        for slots, agent, other in (((0, 1), 0, 1), ((1, 0), 1, 0))
    ]
    found = validity([SimpleNamespace(episodes=episodes)])
    assert (found.num_decisions, found.prompt_tokens) == (2, 10.0)
    assert (found.shares["free"].mean, found.shares["illegal"].mean) == (1.0, 0.0)
    assert found.ends["length"].mean == 0.0
