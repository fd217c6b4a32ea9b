"""The Resistance, a game of hidden roles: rules here, and beside them players and face."""

from stratagem.games.resistance.rules import (
    CARDS,
    FAIL,
    PAIRS,
    SEATS,
    SIZES,
    SUCCESS,
    VOTES,
    Proposal,
    Resistance,
    ResistanceFacts,
    ResistanceState,
    Team,
    possible_spies,
    team_of,
    write_proposal,
)

__all__ = [
    "CARDS",
    "FAIL",
    "PAIRS",
    "SEATS",
    "SIZES",
    "SUCCESS",
    "VOTES",
    "Proposal",
    "Resistance",
    "ResistanceFacts",
    "ResistanceState",
    "Team",
    "possible_spies",
    "team_of",
    "write_proposal",
]
