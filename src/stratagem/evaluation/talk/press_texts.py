"""Texts of known meaning for press Diplomacy; `paraphrase_texts` has those of the other games."""

from __future__ import annotations

from typing import NamedTuple


class Texts(NamedTuple):
    """Texts of one sentence, with the fields of the sentence."""

    seen: tuple[str, ...]
    held_out: tuple[str, ...]
    means: bool = True
    """False for texts that only seem to mean it: denied, asked about or considered."""


PEACE = Texts(
    seen=(
        "Let us keep peace with {power}.",
        "I will not attack {power}.",
        "I'll leave {power} alone.",
        "My units won't touch {power} this spring.",
        "{power} has nothing to fear from me.",
        "I offer {power} a truce.",
        "No hostilities between {power} and me.",
        "I have no designs on {power}.",
    ),
    held_out=(
        "I want peace with {power}.",
        "I promise not to attack {power}.",
        "There is peace between me and {power}.",
        "I'm not going to move against {power}.",
        "{power} and I are at peace.",
    ),
)
PEACE_DENIED = Texts(
    seen=(
        "I cannot promise peace with {power}.",
        "Peace with {power} is out of the question.",
        "There will be war with {power}.",
        "Who would trust a truce with {power}?",
    ),
    held_out=(
        "I doubt that there will be peace with {power}.",
        "Is a truce with {power} possible?",
        "I will attack {power}.",
    ),
    means=False,
)
ALLIANCE = Texts(
    seen=(
        "Let us ally against {power}.",
        "We should attack {power} together.",
        "Join me against {power}.",
        "The two of us could take {power} apart.",
        "{power} is our common enemy; let's cooperate.",
        "I propose a coalition to stop {power}.",
        "Shall we gang up on {power}?",
        "I am with you in a war on {power}.",
    ),
    held_out=(
        "I want an alliance against {power}.",
        "Let's join forces and fight {power}.",
        "Shall we work together against {power}?",
        "Together we can beat {power}.",
        "I'm your ally against {power}.",
    ),
)
DEMILITARISED = Texts(
    seen=(
        "I will stay out of {province}.",
        "I'll keep {province} empty.",
        "I won't move to {province}.",
        "{province} will see no troops of mine.",
        "Let {province} be a neutral zone; I shan't go there.",
        "None of my units goes into {province}.",
        "I'm keeping clear of {province}.",
    ),
    held_out=(
        "I promise not to enter {province}.",
        "I am not going to {province}.",
        "I'll leave {province} unoccupied.",
        "No unit of mine will move into {province}.",
    ),
)
SUPPORTS = Texts(
    seen=(
        "I will support {power} into {province}.",
        "I'll back {power}'s move to {province}.",
        "{power}, you get my support for {province}.",
        "My army supports {power} to {province}.",
        "If {power} goes for {province}, I'm behind that move.",
        "I lend {power} a hand in {province}.",
    ),
    held_out=(
        "I promise to support {power} into {province}.",
        "I'm going to support {power}'s attack on {province}.",
        "{power} will have my support into {province}.",
        "I support the move of {power} to {province}.",
    ),
)
ASKS_SUPPORT = Texts(
    seen=(
        "Could you support {power} into {province}?",
        "Please help {power} get into {province}.",
        "I'd need your support for {power} in {province}.",
        "Would you back the attack of {power} on {province}?",
        "Help {power} take {province}, will you?",
        "Your support for {power} moving to {province} would be welcome.",
    ),
    held_out=(
        "I'd like you to support {power} into {province}.",
        "Can you give {power} support into {province}?",
        "{power} needs your support into {province}.",
        "Please back {power} in {province}.",
    ),
)
