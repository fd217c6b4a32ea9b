"""A player whose moves carry model calls, made up from its dice alone."""

from fakes import Fake, setups

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Sampling, Span
from stratagem.players.base import Move
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

LATER = "That was no action."


def call_of(text, key, messages=(("user", "Your move?"),)):
    """A call whose tokens are the letters of its text: the first is forced, the second drawn from a set."""
    tokens = tuple(map(ord, text))
    drawn = [-key.at("logprob", place).unit() for place in range(len(tokens))]
    return Call(
        policy=PolicyId("tiny", "blue", 3),
        prompt=Prompt(messages, tuple(range(sum(len(content) for _, content in messages)))),
        text=text,
        tokens=tokens,
        spans=(Span("forced", 0, 1), Span("sampled", 1, len(tokens))),
        sampler_logprobs=(0.0, *drawn[1:]),
        allowed=(None, (tokens[1], 7, 9), *[None] * (len(tokens) - 2)),
        sampling=Sampling(0.7, top_k=40),
        num_prompt=12,
        num_reply=len(tokens),
        ms=1000.0 * key.at("ms").unit(),
    )


def elicited(ask):
    """A reply that is no action, and, asked again, one that is."""
    action = ask.view.choices.sample(ask.key)
    asked = (("user", ask.view.situation),)
    first = call_of("Well, now", ask.key, asked)
    again = (*asked, ("assistant", first.text), ("user", LATER))
    return Move(action, "recovered", (first, call_of(action, ask.key.at("again"), again)))


def talker():
    """Makes two calls a turn."""
    return Fake(elicited, "talker")


def talks(name):
    """Hands of kuhn between a talker and a scripted player, as many as are wanted."""
    game = make_game("kuhn(hands=1)")
    scripted = Fake(lambda ask: Move(ask.view.choices.first))
    return rotate_seats(Match(game, [talker(), scripted]), 10**9, Key(1), name=name)


def talked(count=6, seed=1):
    """Episodes of kuhn between a talker and random play."""
    return list(play(setups("kuhn", [talker(), "random"], count, seed)))


def calls_in(episodes):
    """Every call of the episodes, in the order of decisions."""
    return [call for episode in episodes for row in episode.decisions for call in row.calls]
