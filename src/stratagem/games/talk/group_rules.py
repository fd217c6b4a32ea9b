"""Rules by which free text is read in the games with rings and hidden roles, and how their words may be written."""

from __future__ import annotations

from stratagem.games.talk.reading_rules import Rule, asks, plays

_WILL = "(?:i|we) (?:will|shall|am going to|plan to|intend to|promise to|mean to) "
_NOT = "(?:not|never) "
_PLEASE = "(?:please|(?:could|can|would|will) you|you (?:should|must|have to)|i (?:ask|want|need) you to) "
_OR_LESS = "or (?:less|below|lower)"


def _with(rule: Rule, field: str, *phrases: str) -> Rule:
    """Return a rule about actions for the actions of another set, with further phrases."""
    texts = (rule.sentence, *rule.phrases)
    sentence, *own = (text.replace("{action}", f"{{{field}}}") for text in texts)
    return Rule(sentence, (*own, *phrases))


AUCTION = (
    Rule(
        "My value is {value}",
        (
            "my (?:value|valuation)(?: is|:) ~ {value}",
            "i value it at ~ {value}",
            "(?:it|the item) is worth {value} to me",
            "for me (?:it|the item) is worth {value}",
            "i would get {value} out of it",
            "i drew ~ {value}",
            "mine is {value}",
        ),
    ),
    Rule(
        "I will bid at most {bid}",
        (
            f"{_WILL}~ bid (?:at most|no more than) {{bid}}",
            f"{_WILL}~ bid {{bid}} at most",
            f"{_WILL}{_NOT}(?:go|bid) above {{bid}}",
            f"{_WILL}stay at {{bid}} {_OR_LESS}",
            "my bid will not exceed {bid}",
            "{bid} is the most that i will bid",
            "expect at most {bid} from me",
        ),
    ),
    Rule(
        "Please bid at most {bid}",
        (
            f"{_PLEASE}~ bid (?:at most|no more than) {{bid}}",
            f"{_PLEASE}~ bid {{bid}} at most",
            "do not (?:go|bid) above {bid}",
            f"keep your bid at {{bid}} {_OR_LESS}",
            f"{_PLEASE}stay at {{bid}} {_OR_LESS}",
            "let me have it: bid {bid} at most",
        ),
    ),
)
DICE = (
    Rule(
        "My die is {die}",
        (
            "my die (?:is|shows|came up) ~ {die}",
            "i (?:rolled|have|got) ~ {die}",
            "(?:there is|it is) ~ {die} (?:in my cup|under my cup|on my side)",
            "what i rolled is ~ {die}",
        ),
    ),
    Rule(
        "I will bid {bid}",
        (
            f"{_WILL}~ (?:bid|say) {{bid}}",
            f"{_WILL}raise ~ {{bid}}",
            "my next bid (?:is|will be) {bid}",
            "(?:expect|count on me to bid) {bid}",
        ),
    ),
    Rule(
        "I will say {call}",
        (
            f"{_WILL}(?:say|call) ~ {{call}}",
            f"{_WILL}challenge you: {{call}}",
            "i do not believe you, so i will say {call}",
        ),
    ),
)
RESISTANCE = (
    Rule(
        "Player {seat} is a spy",
        (
            "(?:player|seat) {seat} is (?:a spy|one of the spies|1 of the spies)",
            "watch out for player {seat}, a spy",
            "player {seat} works for the other side",
            "player {seat} has betrayed us",
        ),
    ),
    Rule(
        "Player {seat} is loyal",
        (
            "(?:player|seat) {seat} is (?:loyal|no spy|not a spy|(?:one|1) of us|on our side)",
            "i (?:trust|vouch for) player {seat}",
            "you can rely on player {seat}",
        ),
    ),
    _with(plays(""), "vote", "my vote is to {vote}"),
    _with(plays("play "), "card", "my card will be ~ {card}", f"{_WILL}put in ~ {{card}}"),
    _with(asks(""), "vote", "let us all {vote}"),
    _with(asks("play "), "card"),
)
GOODS_WORDS = {"CONTRIBUTE": ("pay in",), "KEEP": ("hold back",)}
_NUMBERS, _FACES = ("1", "2"), ("ones", "twos", "threes", "fours", "fives", "sixes")
DICE_BIDS = {
    f"{count}x{face}": (f"{count} {name}", f"{count} {name[:-1]}")
    for count in _NUMBERS
    for face, name in enumerate(_FACES, 1)
}
"""Bids in words, numbers in figures: a reader has written them so."""
