"""Players that ask, and players that fail, and an engine that keeps what it was asked."""

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import BatchQueue
from stratagem.playing.match import Match
from stratagem.playing.seating import rotate_seats


class Fake:
    """Takes its turn with a function of the ask."""

    traits = Traits(memory=None, exact=False)

    def __init__(self, turn, name="fake"):
        self.turn = turn
        self.name = name


def asking(questions=1, name="asking"):
    """Asks so many times a turn, names turn, seat and number in its requests, and plays what it was told last."""

    def turn(ask):
        said = None
        for number in range(questions):
            said = yield (ask.key.value, ask.turn, ask.view.seat, number, ask.view.choices)
        return Move(said, "free")

    return Fake(turn, name)


def told(request):
    """The engine's answer: an action that follows from the request alone."""
    key, _, _, number, choices = request
    return choices.sample(Key(key).at("told", number))


class Engine(BatchQueue):
    """Answers a batch with `told`, and keeps all batches."""

    def __init__(self, answer=told):
        super().__init__(self.answers)
        self.batches = []
        self.answer = answer

    def answers(self, requests):
        self.batches.append(list(requests))
        return [self.answer(request) for request in requests]


def endless(name):
    """Hands of kuhn between random players, as many as are wanted."""
    game = make_game("kuhn(hands=1)")
    return rotate_seats(Match(game, [make_player("random", game)] * 2), 10**9, Key(1), name=name)


def setups(game, players, episodes, seed=1, name="t"):
    """Rotated setups of players, which are names or players."""
    made = make_game(game)
    seated = [make_player(player, made) if isinstance(player, str) else player for player in players]
    return list(rotate_seats(Match(made, seated), episodes, Key(seed), name=name))
