"""Questions of steps about their description and the round in play: items, roles, earlier choices."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.games.base import Seat
from stratagem.games.drawn.description import GameDescription, RoundState, Step
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.wordings import ROLES, Role, Words


def item_number(game: GameDescription, step: Step, field: str, name: str) -> int:
    """Return the number of an item by its name; refused where the game has none of this name."""
    number = game.item_numbers.get(name)
    if number is not None:
        return number
    known = ", ".join(item.name for item in game.items) or "none"
    raise step.refuse(field, f"no item {name!r} (the game has {known})")


def check_role(game: GameDescription, step: Step, field: str, role: str) -> None:
    """Refuse a role that no seat of the game has."""
    known = ("each", *ROLES[: game.seats])
    if role not in known:
        raise step.refuse(field, f"the role {role!r}, which is none of {', '.join(known)},")


def step_of_choice(game: GameDescription, step: Step, field: str, name: str, number: int) -> int:
    """Return the number of the earlier step whose choices have a name."""
    place = game.choice_numbers.get(name, number)
    if place < number:
        return place
    known = [other.name for other in game.steps[:number] if other.name]
    raise step.refuse(field, f"no earlier choice {name!r} (before it stand {', '.join(known) or 'none'})")


def check_worth(game: GameDescription, step: Step, field: str, name: str, number: int) -> None:
    """Refuse an item whose number pays somebody, where its values are names, or not every player has one."""
    item = item_number(game, step, field, name)
    if not game.dealt_before(number, item):
        raise step.refuse(field, f"the item {name}, which not every player has been dealt,")
    if not game.items[item].is_counted:
        raise step.refuse(field, f"a worth that counts, and the values of the item {name} are no numbers,")


def may_hold_several(game: GameDescription, item: DealtItem) -> bool:
    """Return whether some player is dealt more than one piece of an item."""
    dealt = [step for step in game.steps if step.do == "deal" and getattr(step, "item", "") == item.name]
    return any(
        sum(getattr(step, "count", 1) for step in dealt if getattr(step, "to", "") in ("each", role)) > 1
        for role in ROLES[: game.seats]
    )


def say_worth(game: GameDescription, step: Step, key: str, words: Words, **fields: str) -> str:
    """Return the sentence of what an item of `step.worth` multiplies: its number, or the sum of several."""
    item = game.items[item_number(game, step, "worth", getattr(step, "worth", ""))]
    if may_hold_several(game, item):
        return words.say(f"{key}_sum", plural=item.plural, **fields)
    return words.say(key, item=item.name, **fields)


def share_lost(total: float, totals: Sequence[float]) -> float:
    """Return the share of the best sum of payoffs that a sum lacks; 1 is a sum of 0, or the worst if it is below 0."""
    best, worst = max(totals), min(0.0, *totals)
    return (best - total) / (best - worst) if best > worst else 0.0


def seats_of(state: RoundState, role: Role) -> tuple[Seat, ...]:
    """Return the seats of a role in the order of the round, without those that are out."""
    order, out = state.order, state.out
    if role == "each":
        return order if True not in out else tuple([seat for seat in order if not out[seat]])
    seat = order[ROLES.index(role)]
    return () if out[seat] else (seat,)
