"""Checks of an environment of another package: those of all games, and some of its own.

An environment declares nothing of illegal replies, rules as texts, bounds and sums of payoffs, so checks of these are
left out. Its chance is a seed, of which no outcomes can be enumerated.
"""

from __future__ import annotations

from stratagem.games.conformance import varying
from stratagem.games.conformance.report import BrokenRule, NotApplicable, PlayedPath
from stratagem.games.conformance.shrinking import ConformanceRule
from stratagem.games.conformance.verify import RULES
from stratagem.games.conformance.walk import VerifiedGame, every_episode
from stratagem.games.foreign import oracle
from stratagem.games.foreign.environment import Environment, unlike, version_of
from stratagem.games.foreign.game import ForeignGame, ForeignState
from stratagem.games.key import Key

_SEED = 7


def environment(case: VerifiedGame) -> str:
    """Check that an episode begins with a seat to act, and describe the environment."""
    env = _game(case).make_environment()
    env.reset(_SEED)
    if env.to_act is None:
        raise BrokenRule("the episode is over when it begins", case.latest)
    return f"{env.package} {version_of(env.package)}, {case.game.spec.seats} seats"


def seed(case: VerifiedGame) -> str:
    """Check that two environments with one seed, one after the other, are alike."""
    return every_episode(case, lambda case, key: _compare(case, key, "of two environments with one seed"))


def reset(case: VerifiedGame) -> str:
    """Check that one environment, reset with the same seed, begins and goes on as before."""
    return every_episode(
        case, lambda case, key: _compare(case, key, "after a second reset with the same seed", anew=False)
    )


def apart(case: VerifiedGame) -> str:
    """Check that an environment goes on as before while another one is in progress."""
    says = "beside another environment in progress, which draws from the same generator,"
    return every_episode(case, lambda case, key: _compare(case, key, says, beside=True))


def _compare(case: VerifiedGame, key: Key, says: str, *, anew: bool = True, beside: bool = False) -> None:
    """Play an episode two times and compare what is shown."""
    *_, last = case.walk(key)
    assert isinstance(last.state, ForeignState)
    seed = last.state.seed
    actions = [action for move in last.transcript.actions for action in move.values() if action is not None]
    env, game = _game(case).make_environment(), _game(case)
    first = _observations_of(env, actions, seed)
    second = _observations_of(
        game.make_environment() if anew else env, actions, seed, game.make_environment() if beside else None
    )
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        if one != other:
            raise BrokenRule(
                f"{says} the texts differ: {unlike(one, other)}", PlayedPath(key, last.transcript.actions[:number])
            )


def _observations_of(env: Environment, actions: list[str], seed: int, other: Environment | None = None) -> list[str]:
    """Play actions as far as they are legal, and return what was shown to the seat to act in each position."""
    env.reset(seed)
    shown = []
    for number, action in enumerate([*actions, ""]):
        seat = env.to_act
        shown.append("" if seat is None else env.shown(seat))
        if other is not None:
            other.reset(seed + 1 + number)
        if seat is None or (env.legal() is not None and action not in (env.legal() or ())) or env.step(action):
            break
    return shown + [""] * (len(actions) + 1 - len(shown))


def chance(case: VerifiedGame) -> str:
    """Check that other seeds deal otherwise, where OpenSpiel's game has chance."""
    if _game(case).translation is None:
        raise NotApplicable("no table says whether it has chance")
    return varying.varies(case)


def _game(case: VerifiedGame) -> ForeignGame:
    if not isinstance(case.game, ForeignGame):
        raise NotApplicable("it is no environment of another package")
    return case.game


def _rule_of_games(name: str, *needs: str) -> ConformanceRule:
    """Return a check of all games, with the checks of environments that it needs."""
    (rule,) = (rule for rule in RULES if rule.name == name)
    return rule._replace(needs=needs)


AUDIT: tuple[ConformanceRule, ...] = (
    ConformanceRule("environment", environment),
    _rule_of_games("spec"),
    _rule_of_games("ends"),
    _rule_of_games("legal", "ends"),
    _rule_of_games("results", "legal"),
    _rule_of_games("choices", "legal"),
    _rule_of_games("hidden", "legal"),
    ConformanceRule("seed", seed, ("legal",)),
    ConformanceRule("reset", reset, ("seed",)),
    ConformanceRule("apart", apart, ("seed",)),
    _rule_of_games("forks", "seed", "apart"),  # a fork is another environment beside the first
    _rule_of_games("dump", "forks"),
    _rule_of_games("views", "forks"),
    ConformanceRule("varies", chance, ("results",)),
    ConformanceRule("rules", oracle.rules, ("ends",)),
)
"""Checks by name, foundations first."""
