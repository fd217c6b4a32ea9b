"""Rows of a population that cannot play in the league of a recipe, as after an edit of its file."""

from __future__ import annotations

from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.errors import BadRecord
from stratagem.games.bounded import make_bounded_game
from stratagem.league.member import Member
from stratagem.players.pools import make_bot


def admit(recipe: LeagueRecipe, member: Member) -> None:
    """Refuse a member that says otherwise than the recipe who learns, or that cannot play its game."""
    _check_learner(recipe, member)
    _check_snapshot(recipe, member)
    if member.player:
        make_bot(member.player, make_bounded_game(recipe.games[0]))


def _check_learner(recipe: LeagueRecipe, member: Member) -> None:
    """Refuse a row that learns, unless the recipe has that learner in that role."""
    if not member.learns:
        return
    if member.name not in recipe.learners:
        raise BadRecord(f"It learns, and the learners of the recipe are {', '.join(recipe.learners)}.")
    if member.role != (role := recipe.learners[member.name].role):
        raise BadRecord(f"Its role is {member.role}, and the recipe says {role}.")


def _check_snapshot(recipe: LeagueRecipe, member: Member) -> None:
    """Refuse a snapshot of nobody, which no table would show, and the name of a snapshot that is still to come."""
    if member.parent and member.parent not in recipe.learners:
        known = ", ".join(recipe.learners)
        raise BadRecord(
            f"Its parent is {member.parent}, and the learners of the recipe are {known}: leave `parent` out."
        )
    if not member.parent and member.name.rpartition("-")[0] in recipe.learners:
        raise BadRecord("A snapshot of a learner has such a name: give it another.")
