"""Players of the sender-receiver game: codes, best answers to them, exact exploitability, and bad options."""

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import View, make_game
from stratagem.games.sender_receiver import RECEIVER, SENDER, SILENT, SenderReceiverFacts
from stratagem.games.sender_receiver.players import block_numbers
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.exact import exact
from stratagem.players.catalogue import make_player
from stratagem.players.pools import pools

GAME = make_game("sender-receiver")


def plays(name, seat, state=None, message=None, game=GAME):
    """The policy of a player who sees this."""
    return make_player(name, game).policy(View(game, seat, SenderReceiverFacts(seat, 0, state, message, ())))


def code(name, game=GAME):
    """The only message of each state."""
    return [message for state in range(game.states) for message in plays(name, SENDER, state, game=game)]


def answers(name, game=GAME):
    """The only answer to each message but silence, and that to silence."""
    return [float(a) for m in (*game.messages, SILENT) for a in plays(name, RECEIVER, message=m, game=game)]


@pytest.mark.parametrize(
    ("name", "states", "heard"),
    [
        ("Honest", [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 2.5]),
        ("Inverter", [3, 4, 5, 0, 1, 2], [3, 4, 5, 0, 1, 2, 2.5]),
        ("Exaggerator", [1, 2, 3, 4, 5, 5], [2.5, 0, 1, 2, 3, 4.5, 2.5]),
        ("Equilibrium", [0, 0, 3, 3, 3, 3], [0.5, 0.5, 3.5, 3.5, 3.5, 3.5, 3.5]),
        ("Equilibrium(blocks=1)", [2, 2, 2, 2, 2, 2], [2.5] * 7),
        ("Liar(p=0)", [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 2.5]),
    ],
)
def test_code_and_the_best_answer_to_it(name, states, heard):
    assert code(name) == [f"STATE {state}" for state in states]
    assert answers(name) == heard


def test_babbler_tells_nothing_and_ignores_everything():
    assert plays("Babbler", SENDER, 0) == plays("Babbler", SENDER, 5) == dict.fromkeys(GAME.choices_of(SENDER), 1 / 7)
    assert answers("Babbler") == [2.5] * 7


def test_liar_lies_at_its_rate_and_discounts_what_it_hears():
    mix = plays("Liar(p=0.4)", SENDER, 2)
    assert mix["STATE 2"] == pytest.approx(0.6)
    assert [mix[f"STATE {other}"] for other in (0, 1, 3, 4, 5)] == pytest.approx([0.08] * 5)
    # the mean given STATE 5 is .6 * 5 + .08 * (0 + 1 + 2 + 3 + 4) = 3.8
    assert answers("Liar(p=0.4)")[5] == 4.0


@pytest.mark.parametrize("bias", [0.5, 0.75, 1.0, 1.5, 2.0])
def test_equilibria_have_no_exploitability(bias):
    game = make_game(f"sender-receiver(bias={bias})")
    for blocks in (0, *block_numbers(6, bias)):
        assert exact(game, make_player(f"Equilibrium(blocks={blocks})", game)).nash_conv == pytest.approx(0, abs=1e-12)
    assert exact(game, make_player("Babbler", game)).nash_conv == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("labels", "bias", "blocks"), [(1, 0.5, 2), (2, 0.5, 3), (9, 0.75, 3), (4, 1.0, 2)])
def test_equilibrium_uses_labels_and_silence(labels, bias, blocks):
    game = make_game(f"sender-receiver(labels={labels}, bias={bias})")
    assert len(set(code("Equilibrium", game))) == blocks
    assert exact(game, make_player("Equilibrium", game)).nash_conv == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("name", "nash_conv"), [("Honest", 5 / 6), ("Inverter", 5 / 6), ("Exaggerator", 0.625)])
def test_other_codes_are_exploitable_at_bias_one(name, nash_conv):
    """Five of six senders gain 1 by naming the next state up; the receivers answer their codes as well as they can."""
    assert exact(GAME, make_player(name, GAME)).nash_conv == pytest.approx(nash_conv)


def test_exaggeration_pays_against_a_believer():
    def payoffs(sender, receiver):
        figures = expected_payoffs(GAME, [make_player(sender, GAME), make_player(receiver, GAME)])
        return figures.per_round(SENDER), figures.per_round(RECEIVER)

    assert payoffs("Honest", "Honest") == pytest.approx((-1.0, 0.0))
    assert payoffs("Exaggerator", "Honest") == pytest.approx((-1 / 6, -5 / 6))
    assert payoffs("Honest", "Babbler") == pytest.approx((-35 / 12 - 1, -35 / 12))
    assert payoffs("Inverter", "Honest")[1] == pytest.approx(-9.0)


def test_rounds_change_nothing_for_these_players():
    game = make_game("sender-receiver(rounds=3)")
    assert exact(game, make_player("Equilibrium", game)).nash_conv == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("game", "player", "sentence"),
    [
        ("sender-receiver", "Equilibrium(blocks=3)", "its equilibria have 1, 2 blocks"),
        ("sender-receiver(labels=1, bias=0)", "Equilibrium(blocks=3)", "its equilibria have 1, 2 blocks"),
        ("sender-receiver", "Equilibrium(blocks=-1)", "`blocks` of at least 0"),
        ("sender-receiver", "Liar(p=2)", "`p` from 0 to 1"),
        ("sender-receiver(labels=3)", "Honest", "makes statements"),
    ],
)
def test_players_that_do_not_fit_are_refused(game, player, sentence):
    with pytest.raises(BadParameter, match=sentence):
        make_player(player, make_game(game))


@pytest.mark.parametrize("text", ["sender-receiver", "sender-receiver(labels=3)", "sender-receiver(bias=3)"])
def test_pools_can_play(text):
    game = make_game(text)
    assert all(pool.make(game) or not pool.players for pool in pools(game).values())
