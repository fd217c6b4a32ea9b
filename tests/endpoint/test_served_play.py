"""Play through an endpoint pays what play in one process pays, deal by deal."""

import pytest
from remote_seat import RemoteSeat

import stratagem as sg
from stratagem.games.key import Key
from stratagem.games.kuhn.players import NashApprox
from stratagem.players.base import Move, draw


def payoffs(game, players, episodes):
    """Payoffs of keyed deals by seat, by the id of the episode: a server's answers end them in any order."""
    result = sg.play(game, players, episodes=episodes, seed=11, progress=False)
    assert sum(total.illegal_turns for total in result.totals()) == 0
    return {episode.id: episode.payoffs for episode in result.episodes}


class ShortKeys(NashApprox):
    """NashApprox that draws by the 31 bits of its key that an `api:` player sends as the seed."""

    def turn(self, ask):
        plan = self.strategy(ask.view)
        return Move(plan if isinstance(plan, str) else draw(plan, Key(ask.key.value & 0x7FFF_FFFF)))


def through(server, client, names, sends):
    return [RemoteSeat(client(server), name, sends) for name in names]


@pytest.mark.parametrize("sends", ["state", "prompt"])
def test_bots_that_mix_pay_the_same_through_the_openai_client(kuhn, client, sends):
    seats = through(kuhn, client, ["NashApprox", "Bluffer"], sends)
    assert payoffs("kuhn", seats, 4) == payoffs("kuhn", ["NashApprox", "Bluffer"], 4)
    told = seats[0].answers[0]
    assert told.to_dict()["stratagem"] == {"player": "kuhn/NashApprox@1", "position": sends, "how": ["scripted"]}
    assert (told.model, told.usage.total_tokens) == ("NashApprox", 0)


def test_an_api_player_pays_the_same_against_a_served_bot(kuhn):
    played = [f"api:NashApprox@{kuhn.url}", "Bluffer"]
    assert payoffs("kuhn", played, 4) == payoffs("kuhn", [ShortKeys(), "Bluffer"], 4)


@pytest.mark.long
def test_two_hundred_deals_pay_the_same_through_every_door(serve, client):
    server = serve(["NashApprox", "Bluffer", "CallingStation", "AlwaysBet", "mcts:20", "ismcts:20"])
    url = server.url
    local = payoffs("kuhn", ["NashApprox", "Bluffer"], 200)
    for sends in ("state", "prompt"):
        assert payoffs("kuhn", through(server, client, ["NashApprox", "Bluffer"], sends), 200) == local
    assert payoffs("kuhn", [f"api:NashApprox@{url}", "Bluffer"], 200) == payoffs("kuhn", [ShortKeys(), "Bluffer"], 200)
    api = [f"api:CallingStation@{url}", f"api:AlwaysBet@{url}"]
    assert payoffs("kuhn", api, 200) == payoffs("kuhn", ["CallingStation", "AlwaysBet"], 200)
    assert payoffs("kuhn", through(server, client, ["mcts:20", "ismcts:20"], "state"), 20) == payoffs(
        "kuhn", ["mcts:20", "ismcts:20"], 20
    )
