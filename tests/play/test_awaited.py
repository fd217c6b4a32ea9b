"""A table in an event loop of others plays exactly as the scheduler plays it."""

import asyncio

import pytest
from fakes import Engine, Fake, asking, setups, told
from talking import call_of

from stratagem.games.catalogue import make_game
from stratagem.language.decoding.guides import OneToken
from stratagem.language.engines.base import Prompt, Request
from stratagem.language.engines.streaming import BatchEngine
from stratagem.players.base import Move
from stratagem.playing.asking import answered_here, play_awaited
from stratagem.playing.scheduler import play


@pytest.mark.parametrize("game", ["kuhn", "ipd(rounds=4)", "public-goods", "tic-tac-toe"])
def test_awaited_episode_equals_that_of_the_scheduler(game):
    seats = make_game(game).spec.seats
    plans = setups(game, [asking(2), *[asking(name="other")] * (seats - 1)], 3 * seats)
    together = []

    async def answers(requests):
        await asyncio.sleep(0)
        together.append(len(requests))
        return [told(request) for request in requests]

    async def awaited():
        return await asyncio.gather(*[play_awaited(setup, answers) for setup in plans])

    by_id = {episode.id: episode for episode in play(plans, Engine())}
    assert asyncio.run(awaited()) == [by_id[setup.id] for setup in plans]
    assert max(together) == (1 if game in ("kuhn", "tic-tac-toe") else seats)


def test_missing_answer_is_a_defect():
    async def answers(requests):
        return []

    with pytest.raises(ValueError, match="zip"):
        asyncio.run(play_awaited(setups("kuhn", [asking(), asking()], 1)[0], answers))


class First(BatchEngine):
    """Engine that answers every request with the last word of its prompt."""

    name = "first"

    def answer(self, requests):
        return [call_of(request.prompt.messages[-1][1].split()[-1], request.key) for request in requests]


def test_request_of_an_engine_of_ours_is_answered_here():
    engine, seen = First(), []

    def turn(ask):
        prompt = Prompt((("user", ask.view.choices.sample(ask.key)),))
        call = yield Request(engine=engine, prompt=prompt, guide=OneToken(), key=ask.key)
        return Move(call.text, "free", (call,))

    async def answers(requests):
        seen.extend(calls := [answered_here(request) for request in requests])
        return calls

    (plan,) = setups("ipd(rounds=3)", [Fake(turn), Fake(turn)], 1)[:1]
    episode = asyncio.run(play_awaited(plan, answers))
    assert episode == next(play([plan]))
    assert [row.calls[0] for row in episode.decisions] == seen
    assert len(seen) == 6
