"""Random play of a game by its own choices."""

from stratagem.games.key import Key


def joint_action(state, key):
    return {seat: state.view(seat).choices.sample(key.at(seat)) for seat in state.to_act}


def playthrough(game, seed, moves=10_000):
    """The state at the end, everybody's payoff, and the joint actions."""
    state, totals, actions = game.start(Key(seed)), [0.0] * game.spec.seats, []
    while not state.over and len(actions) < moves:
        actions.append(joint_action(state, Key(seed).at("players", len(actions))))
        result = state.play(actions[-1])
        assert result.closed == state.over
        totals = [had + paid for had, paid in zip(totals, result.payoffs, strict=True)]
    return state, totals, actions
