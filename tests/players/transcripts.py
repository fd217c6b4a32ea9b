"""Play by hand: the shortest way from players and a seed to what they did."""

from collections.abc import Sequence
from dataclasses import replace

from stratagem.games.base import View
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Ask, Move


class Fixed:
    """Plays the letters of a text, C for the first action and D for the second."""

    def __init__(self, letters):
        self.letters = letters

    def turn(self, ask):
        return Move(list(ask.view.choices)["CD".index(self.letters[ask.turn])])


def play(game, players: Sequence, seed=1):
    """Play a game out; the actions of every turn by seat, and what every turn paid."""
    key, turn, actions, payoffs = Key(seed), 0, [], []
    state = game.start(key.at("chance"))
    while not state.over:
        moves = {
            seat: players[seat].turn(Ask(state.view(seat), key, seat, turn, 0, state)).action for seat in state.to_act
        }
        actions.append(moves)
        payoffs.append(state.play(moves).payoffs)
        turn += 1
    return actions, payoffs


def advantage(game, opponent, agent, seed=1):
    """Return the opponent's payoff a round less the agent's, in seat 1."""
    _, payoffs = play(game, [agent, opponent], seed)
    return sum(theirs - mine for mine, theirs in payoffs) / len(payoffs)


def assert_plays(player, *, against, gives, game="ipd", seed=1):
    """Against these moves the player makes those, from either seat."""
    rules = replace(make_game(game), rounds=len(against))
    for seat in (0, 1):
        players = [Fixed(against), Fixed(against)]
        players[seat] = player
        actions, _ = play(rules, players, seed)
        labels = list(rules.seat_labels(seat))
        assert "".join("CD"[labels.index(moves[seat])] for moves in actions) == gives


def view_of(game, facts):
    """The view that these facts make."""
    return View(game, facts.seat, facts)


def random_states(game, seed=1, episodes=4):
    """Every state of some episodes in which all play at random."""
    for episode in range(episodes):
        key = Key(seed).at(episode)
        state, turn = game.start(key.at("chance")), 0
        while not state.over:
            yield state
            state = state.fork()
            moves = {seat: state.view(seat).choices.sample(key.at("move", turn, seat)) for seat in state.to_act}
            state.play(moves)
            turn += 1
