"""Rules by which free text is read, for the sentences that several languages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_WILL = (
    "(?:i|we) (?:will|shall|am going to|are going to|plan to|intend to|promise to|mean to|am about to) (?:now |then )?"
)
_PLEASE = (
    "(?:please|kindly|(?:could|can|would|will) you|you (?:should|must|have to|need to|had better)|"
    "i (?:ask|want|need|beg|urge|would like|expect) you to) "
)
_AT_MOST = "(?:at most|no more than|not more than|up to|a maximum of|only) {amount}"
_TAKE = "(?:demand|ask for|take|claim|want|keep|request)"
_HELP = "(?:support|back|help)"
_NOT = "(?:not|never) "


class Rule(NamedTuple):
    """Sentence of a language with fields, and the phrases that mean it."""

    sentence: str
    phrases: tuple[str, ...]


def plays(verb: str) -> Rule:
    """Return the rule of a promised action: `I will play {action}` for the verb `play `."""
    return Rule(
        f"I will {verb}{{action}}",
        (
            _WILL + "~ {action}",
            "going to ~ {action}",
            "i have made up my mind to ~ {action}",
            "my (?:next )?(?:move|choice|action|plan)(?: for this (?:one|1))?(?: will be| is)(?: to)? ~ {action}",
            "(?:count on|expect|trust) (?:me to|me for) ~ {action}",
            "expect {action} (?:from me|when it is my turn)",
            "you have my word: ~ {action}",
            "you will see me ~ {action}",
            "{action} is what i have (?:settled on|chosen)",
            "i (?:choose|pick|go for|am going for|go with) ~ {action}",
            "i am ~ (?:picking|choosing|going for) ~ {action}",
        ),
    )


PLAYS_NO_OTHER = Rule(
    "I will play {other}",
    (
        f"{_WILL}never ~ {{other}}",
        "no way (?:that )?i ~ {other}",
        "i have no intention (?:to|of) ~ {other}",
        "i am never going to ~ {other}",
        "not (?:have to )?fear that i ~ {other}",
    ),
)
"""Rule of a game with two actions: not to play one, called `other`, is to play the other."""


def asks(verb: str) -> Rule:
    """Return the rule of a request for an action."""
    return Rule(
        f"Please {verb}{{action}}",
        (
            _PLEASE + "~ {action}",
            "let us (?:both )?~ {action}",
            "i hope you ~ {action}",
            "do me a favou?r and ~ {action}",
            "best for both of us if you ~ {action}",
            "i am asking you to ~ {action}",
            "(?:how about you|would you mind) ~ {action}",
            "be so kind as to ~ {action}",
            "{action}, i beg you",
        ),
    )


HAS_CARD = Rule(
    "My card is {card}",
    (
        "my (?:card|hand)(?: is| was|:) ~ {card}",
        "(?:i|we) (?:have|hold|got|am holding|am looking at|was dealt|drew|am sitting on) ~ {card}",
        "(?:the |a )?{card} is (?:my card|mine|what i (?:hold|have)|in my hand)",
        "(?:they|the dealer) (?:dealt|gave) me ~ {card}",
        "what i was (?:given|dealt) is ~ {card}",
        "you are up against ~ {card}",
        "{card} for me",
        "it is (?:the|a) {card}",
    ),
)
AT_MOST = (
    Rule(
        "I will demand at most {amount}",
        (
            f"{_WILL}~ {_TAKE} {_AT_MOST}",
            f"{_WILL}~ {_TAKE} {{amount}} or (?:less|fewer)",
            f"{_WILL}~ {_TAKE} {{amount}} at (?:the very )?most",
            f"i {_TAKE} {_AT_MOST}",
            "i am fine with {amount} or (?:less|fewer)",
            "my demand will not exceed {amount}",
            "you will not see me go above {amount}",
            f"{{amount}} is the most (?:that )?i will {_TAKE}",
            "i (?:cap|limit) my (?:share|demand) (?:at|to) {amount}",
        ),
    ),
    Rule(
        "Please demand at most {amount}",
        (
            f"{_PLEASE}~ {_TAKE} {_AT_MOST}",
            f"{_PLEASE}~ {_TAKE} {{amount}} or (?:less|fewer)",
            f"do not {_TAKE} more than {{amount}}",
            "keep your demand at {amount} or (?:below|less)",
            f"{_PLEASE}limit yourself to {{amount}}",
            "take {amount} at most",
            "{amount} is (?:plenty|enough) for you",
        ),
    ),
)
LEFT_ITEMS = (
    Rule(
        "I value the {item} most",
        (
            "i (?:value|want|like|prize|love|need) ~ {item} (?:the )?(?:most|best|above all)",
            "(?:the )?{item} (?:are|is) (?:worth (?:the )?most|most valuable|what i want most|my favourites?)",
            "i care (?:most|mostly) about ~ {item}",
            "nothing matters more to me than ~ {item}",
            "all about ~ {item}",
            "my (?:top )?priority is ~ {item}",
            "i would pick ~ {item} first",
        ),
    ),
    Rule(
        "I will demand no {item}",
        (
            f"{_WILL}{_TAKE} (?:no|none of the) {{item}}",
            f"{_WILL}{_NOT}{_TAKE} ~ {{item}}",
            "(?:i )?leave (?:you )?all (?:of )?the {item}",
            "you (?:can|may) (?:have|keep|take) (?:all )?(?:of )?the {item}",
            "(?:the )?{item} are all yours",
            "keep (?:all|every one) of the {item}",
            "i am happy to give up ~ {item}",
            "no {item} for me",
            "my demand will not include ~ {item}",
        ),
    ),
    Rule(
        "Please demand no {item}",
        (
            f"{_PLEASE}(?:do )?{_NOT}{_TAKE} ~ {{item}}",
            f"{_PLEASE}{_TAKE} (?:no|none of the) {{item}}",
            "(?:please )?leave me (?:all )?(?:of )?the {item}",
            "could i have all ~ {item}",
            "hands off ~ {item}",
            "let me have ~ {item}",
            f"do not {_TAKE} any of ~ {{item}}",
        ),
    ),
)
_MINE = "my (?:units|armies|fleets|army|fleet|troops)"
PRESS = (
    Rule(
        "Peace with {power}",
        (
            "(?:peace|truce|a non-aggression pact|a ceasefire) (?:with|towards) ~ {power}",
            f"{_WILL}{_NOT}(?:attack|invade|harm|move against|fight) ~ {{power}}",
            f"{_WILL}leave {{power}} (?:alone|in peace)",
            f"{_MINE} will not (?:touch|attack|enter) {{power}}",
            "{power} has nothing to fear from me",
            "i offer {power} (?:a truce|peace)",
            "no hostilities between {power} and me",
            "i have no designs on {power}",
        ),
    ),
    Rule(
        "Alliance against {power}",
        (
            "(?:alliance|ally|allies|allied|pact|join|join me|join forces|team up|work together) ~ against ~ {power}",
            "(?:let us|we should|we will) ~ (?:attack|fight|crush|destroy) ~ {power}",
            "(?:the (?:two|2) of us|we) could take {power} apart",
            "gang up on {power}",
            "{power} is our common enemy",
            "coalition ~ (?:to stop|against) {power}",
            "i am with you in a war (?:on|against) {power}",
        ),
    ),
    Rule(
        "I will demilitarise {province}",
        (
            f"{_WILL}(?:demilitarise|demilitarize|stay out of|keep out of|leave) ~ {{province}}(?: empty| alone)?",
            f"{_WILL}keep ~ {{province}} (?:empty|free|clear)",
            f"{_WILL}{_NOT}(?:move|go|march|sail) (?:in)?to ~ {{province}}",
            f"{_WILL}{_NOT}(?:enter|occupy) ~ {{province}}",
            "i am (?:keeping|staying) (?:clear|out) of {province}",
            "none of my (?:units|armies|fleets) (?:goes|go|moves|move) (?:in)?to {province}",
            "{province} will see no (?:troops|units)",
            "{province} be a neutral zone",
        ),
    ),
    Rule(
        "I will support {power} into {province}",
        (
            f"{_WILL}~ {_HELP} {{power}} ~ (?:into|to|in) {{province}}",
            "{power}, you (?:have|get) my support (?:for|into) {province}",
            "my (?:army|fleet) supports {power} (?:in)?to {province}",
            "i lend {power} a hand in {province}",
        ),
    ),
    Rule(
        "Please support {power} into {province}",
        (
            f"{_PLEASE}~ {_HELP} {{power}} ~ (?:into|to|in) {{province}}",
            f"{_PLEASE}~ {_HELP} ~ {{power}} on {{province}}",
            "your support for {power} ~ (?:into|to|in) {province}",
            "help {power} take {province}",
        ),
    ),
)
NATIONS = {
    "AUSTRIA": ("austrian", "austrians"),
    "ENGLAND": ("english", "britain"),
    "FRANCE": ("french",),
    "GERMANY": ("german", "germans"),
    "ITALY": ("italian", "italians"),
    "RUSSIA": ("russian", "russians"),
    "TURKEY": ("turkish", "turk", "turks"),
}
"""Other names of the powers of the standard map."""
CARD_NAMES = {"J": ("jack", "knave"), "Q": ("queen",), "K": ("king",)}
KUHN_WORDS = {"PASS": ("check",), "BET": ("raise",), "FOLD": ("give up",), "CALL": ("see your bet",)}
DILEMMA_WORDS = {"COOPERATE": ("cooperation", "be nice"), "DEFECT": ("defection", "betray")}


def spellings(words: Sequence[str], others: Mapping[str, Sequence[str]] | None = None) -> dict[str, tuple[str, ...]]:
    """Return the spellings of each word of a set: itself, and others that mean it."""
    return {word: (word, *(others or {}).get(word, ())) for word in words}
