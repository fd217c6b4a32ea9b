"""A small training record of a made-up model, and five defects that are planted in it."""

import math
import pickle
from dataclasses import replace
from functools import cache

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Sampling, Span
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import write_shard

STEPS, EPISODES, GROUP = 4, 64, 8
TOKENS = {"PASS": 1, "BET": 2, "FOLD": 3, "CALL": 4}
LAST = "Reply with one of your legal actions."
LEAK = "The other player holds"


class Model:
    """A player whose calls are written by hand."""

    name = "model"
    recorded = "model@1"
    traits = Traits()

    def turn(self, ask):
        return Move(ask.view.choices.sample(ask.key), "constrained")


def call_of(view, action, version):
    """A healthy call: a whole prompt, one token of the legal ones, and a probability that each update changes."""
    legal = tuple(sorted(TOKENS[one] for one in view.choices))
    told = f"{view.situation}\nLegal actions: {', '.join(view.choices)}.\n{LAST}"
    return Call(
        policy=PolicyId("parrot", "policy", version),
        prompt=Prompt((("system", "You play Kuhn poker."), ("user", told))),
        text=action,
        tokens=(TOKENS[action],),
        spans=(Span("sampled", 0, 1),),
        sampler_logprobs=(math.log(0.5) - 0.05 * version,),
        allowed=(legal,),
        sampling=Sampling(1.0),
        num_prompt=40,
        num_reply=1,
    )


def step_of(number):
    """The episodes of a step, with calls and advantages; they are played once, and every test gets its own."""
    return pickle.loads(played(number))


@cache
def played(number):
    """The same as bytes."""
    game = make_game("kuhn(hands=1)")
    match = Match(game, [Model(), make_player("NashApprox", game)])
    episodes = list(play(list(rotate_seats(match, EPISODES // 2, Key(number), name=f"step-{number}"))))
    episodes.sort(key=lambda episode: episode.slots)
    for place, episode in enumerate(episodes):
        episode.purpose, episode.group = "train", f"step-{number}/{place // GROUP}"
    for episode in episodes:
        group = [other.payoffs[other.seat_of(0)] for other in episodes if other.group == episode.group]
        for state, rows in steps(episode):
            for row in rows:
                if row.slot == 0:
                    row.calls = (call_of(state.view(row.seat), row.action, number),)
                    row.advantage = episode.payoffs[row.seat] - sum(group) / len(group)
    return pickle.dumps(episodes)


def own_rows(episodes):
    return [row for episode in episodes for row in episode.decisions if row.slot == 0]


def changed(row, **fields):
    """Change the call behind a decision."""
    row.calls = (replace(row.calls[0], **fields),)


def healthy(number, episodes):
    """Nothing is wrong."""


def flipped_advantage(number, episodes):
    """The sign of all advantages is wrong."""
    for row in own_rows(episodes):
        row.advantage *= -1.0


def dead_adapter(number, episodes):
    """Updates are counted and change nothing."""
    for row in own_rows(episodes):
        changed(row, sampler_logprobs=(math.log(0.5),))


def truncated_prompt(number, episodes):
    """One prompt ends in the middle of a line."""
    if number == 2:
        row = own_rows(episodes)[5]
        system, (role, said) = row.calls[0].prompt.messages
        changed(row, prompt=Prompt((system, (role, said[: said.index(LAST) - 12]))))


def leaked_card(number, episodes):
    """From step 1 on the prompt says what the other player holds."""
    for episode in episodes if number >= 1 else ():
        for state, rows in steps(episode):
            for row in (row for row in rows if row.slot == 0):
                system, (role, said) = row.calls[0].prompt.messages
                card = state.cards[1 - row.seat]
                changed(row, prompt=Prompt((system, (role, f"{LEAK} {card}.\n{said}"))))


def wrong_mask(number, episodes):
    """A token was sampled that no legal action begins with."""
    if number == 3:
        row = own_rows(episodes)[4]
        changed(row, tokens=(9,), text="?")


DEFECTS = {
    "advantage": flipped_advantage,
    "adapter": dead_adapter,
    "prompt": truncated_prompt,
    "hidden": leaked_card,
    "mask": wrong_mask,
}
"""Planted defects by the check that finds them."""


def write_planted(folder, plant):
    """Write the record with one defect."""
    for number in range(STEPS):
        episodes = step_of(number)
        plant(number, episodes)
        write_shard(folder, number, episodes)
