"""Texts of known meaning: how people may say the sentences of a language, by game and sentence.

The rules of `games.talk.reading_rules` were written from the texts that are seen. The texts that are held out were
written afterwards, and the rules were not changed for them.
"""

from __future__ import annotations

from stratagem.evaluation.talk.group_texts import GROUP_PARAPHRASES
from stratagem.evaluation.talk.press_texts import (
    ALLIANCE,
    ASKS_SUPPORT,
    DEMILITARISED,
    PEACE,
    PEACE_DENIED,
    SUPPORTS,
    Texts,
)

_PLAYS = Texts(
    seen=(
        "I will {action} this round.",
        "I'll {action}, trust me.",
        "My next move is {action}.",
        "Count on me to {action}.",
        "I'm going to {action} now",
        "I promise to {action}.",
        "You have my word: {action} from me this time.",
        "As for myself, I shall simply {action}.",
        "Expect {action} when it is my turn.",
        "{action} is what I've settled on.",
        "I'm definitely picking {action}",
        "My plan for this one is to {action}.",
        "gonna {action}, no surprises",
        "I've made up my mind to {action}.",
    ),
    held_out=(
        "I have decided to {action} next.",
        "This round you'll get {action} from me.",
        "I'd say I {action} here.",
        "I give you my word that I'll {action}.",
        "OK, I'm ready to {action}!",
        "Rest assured, I will {action}.",
        "I am planning to {action}, as agreed.",
        "When the time comes, I {action}.",
    ),
)
_PLAYS_DENIED = Texts(
    seen=(
        "If you bluff me, I will {action}.",
        "Maybe I will {action}, maybe not.",
        "I might {action}, I haven't decided.",
        "Why would I {action}?",
        "Last time I said I would {action}.",
        "Suppose I {action}: what then?",
        "You think I will {action}.",
        "Nobody expects me to {action}.",
    ),
    held_out=(
        "I would never say whether I {action}.",
        "Should I {action}? Tell me.",
        "Unless you stop, I will {action}.",
        "It is not certain that I {action}.",
        "They told you that I will {action}.",
        "I was going to {action}, but I changed my mind.",
    ),
    means=False,
)
_PLAYS_NO_OTHER = Texts(
    seen=(
        "I will not {other}.",
        "I won't {other}, trust me.",
        "There's no way that I {other} this time.",
        "I am never going to {other}.",
        "I have no intention to {other}.",
        "You need not fear that I {other}.",
    ),
    held_out=(
        "I promise not to {other}.",
        "I'm not going to {other} against you.",
        "You can be sure that I won't {other}.",
    ),
)
"""Of two actions, not to play one is to play the other."""
_ASKS = Texts(
    seen=(
        "Please {action} with me.",
        "Could you {action} this time?",
        "You should {action}.",
        "I want you to {action}.",
        "Let's both {action}.",
        "Do me a favour and {action}.",
        "It would be best for both of us if you {action}.",
        "Would you mind {action} for once?",
        "I'm asking you to {action}.",
        "How about you {action} now?",
        "{action}, I beg you!",
        "Be so kind as to {action}.",
    ),
    held_out=(
        "I'd be glad if you {action}.",
        "May I ask you to {action}?",
        "You'd better {action}.",
        "Won't you {action} with me?",
        "We both gain if you {action}, so do it.",
        "My only wish: {action}, please.",
        "I suggest that you {action}.",
    ),
)
_ASKS_DENIED = Texts(
    seen=(
        "You don't have to {action}.",
        "I never asked you to {action}.",
        "Do whatever you like; {action} or anything else.",
        "I wonder whether you will {action}.",
    ),
    held_out=(
        "Please do not {action}, or do, I don't mind.",
        "Some say you will {action}.",
        "You are free to {action} or not.",
    ),
    means=False,
)
_CARD = Texts(
    seen=(
        "I have the {card}.",
        "My card is a {card}!",
        "I'm holding the {card}",
        "The {card} is in my hand.",
        "I've got the {card}, fold.",
        "They dealt me the {card}.",
        "Guess what: {card} for me.",
        "You are up against the {card} here.",
        "I am looking at a {card}.",
        "What I was given is the {card}.",
        "Honestly? It's the {card}.",
        "Between us, my hand is a {card}.",
    ),
    held_out=(
        "I was given the {card}.",
        "I've been dealt a {card}.",
        "Right now I am holding a {card}, really.",
        "Here's the truth: I have a {card}.",
        "The card that I hold is the {card}.",
        "It's a {card} that I have.",
        "Bad luck for you, I've got the {card}.",
    ),
)
_CARD_DENIED = Texts(
    seen=(
        "I do not have the {card}.",
        "Do you have the {card}?",
        "You must be holding the {card}.",
        "I wish I had the {card}.",
        "Anything but the {card}.",
        "If I had the {card}, I would raise.",
        "I am not going to tell you whether I hold the {card}.",
    ),
    held_out=(
        "I might have the {card}.",
        "My card isn't the {card}.",
        "Are you afraid that I have the {card}?",
        "Last hand I had the {card}.",
        "You said you had the {card}.",
    ),
    means=False,
)
_AT_MOST = Texts(
    seen=(
        "I will demand no more than {amount}.",
        "I'll take {amount} or less.",
        "I want at most {amount}.",
        "{amount} is the most that I'll ask for.",
        "My demand won't exceed {amount}.",
        "I'm fine with {amount} or fewer for myself.",
        "You will not see me go above {amount}.",
        "I shall claim {amount} at the very most.",
        "I cap my share at {amount}.",
    ),
    held_out=(
        "I'm going to ask for {amount} or less.",
        "I won't demand more than {amount}.",
        "At most {amount} is what I will take.",
        "I promise that my demand is {amount} or lower.",
        "I will be content with {amount} at most.",
        "My request will not be above {amount}.",
    ),
)
_AT_MOST_DENIED = Texts(
    seen=(
        "I will not settle for at most {amount}.",
        "I need more than {amount}.",
        "At least {amount} for me, please.",
        "I never said that {amount} is enough.",
        "If you insist, would {amount} do?",
    ),
    held_out=(
        "Do you expect me to take at most {amount}?",
        "I want more than {amount}.",
        "It is not true that I take at most {amount}.",
        "Perhaps I will demand no more than {amount}.",
    ),
    means=False,
)
_ASKS_AT_MOST = Texts(
    seen=(
        "Please ask for at most {amount}.",
        "You should take no more than {amount}.",
        "Don't ask for more than {amount}.",
        "Keep your demand at {amount} or below.",
        "Could you limit yourself to {amount}?",
        "Leave the rest to me, and take {amount} at most.",
        "Be reasonable: {amount} is plenty for you.",
    ),
    held_out=(
        "Please don't demand more than {amount}.",
        "I'd like you to claim {amount} or less.",
        "Can you be content with {amount} at most?",
        "Ask for {amount} or less, please.",
        "You must not take more than {amount}.",
    ),
)
_VALUES = Texts(
    seen=(
        "I value the {item} the most.",
        "The {item} are worth most to me.",
        "I care mostly about the {item}.",
        "Nothing matters more to me than the {item}.",
        "For me it's all about the {item}.",
        "My top priority is the {item}.",
        "Of everything on the table I'd pick the {item} first.",
        "The {item} are my favourite.",
    ),
    held_out=(
        "The {item} matter most to me.",
        "What I want the most are the {item}.",
        "I like the {item} better than the rest.",
        "My most valuable things are the {item}.",
        "Above all I want the {item}.",
    ),
)
_VALUES_DENIED = Texts(
    seen=(
        "I do not care about the {item}.",
        "The {item} are worthless to me.",
        "Do you like the {item} most?",
        "I value everything but the {item}.",
        "I'd rather not say how much the {item} are worth to me.",
    ),
    held_out=(
        "Which do you value most, the {item}?",
        "I don't value the {item} most.",
        "If I valued the {item} most, I'd say so.",
        "Perhaps the {item} are worth most to me.",
    ),
    means=False,
)
_LEAVES = Texts(
    seen=(
        "I will take none of the {item}.",
        "You can have all the {item}.",
        "I won't ask for any {item}.",
        "The {item} are all yours.",
        "Keep every one of the {item}, I don't need them.",
        "I'm happy to give up the {item}.",
        "No {item} for me, thanks.",
        "My demand will not include {item}.",
    ),
    held_out=(
        "I don't want any {item}.",
        "All the {item} can be yours.",
        "I leave the {item} to you.",
        "I'm not asking for the {item}.",
        "Take all of the {item}, I need none.",
    ),
)
_ASKS_FOR_ALL = Texts(
    seen=(
        "Please do not ask for the {item}.",
        "Please leave me the {item}.",
        "Could I have all the {item}?",
        "Hands off the {item}, please.",
        "I'd ask you to let me have the {item}.",
        "Don't take any of the {item}.",
    ),
    held_out=(
        "I want you to leave all the {item} to me.",
        "Please let me keep the {item}.",
        "Would you give me all the {item}?",
        "Please take none of the {item}.",
    ),
)
PARAPHRASES: dict[str, tuple[tuple[str, Texts], ...]] = {
    "ipd": (
        ("I will play {action}", _PLAYS),
        ("Please play {action}", _ASKS),
        ("I will play {action}", _PLAYS_DENIED),
        ("Please play {action}", _ASKS_DENIED),
        ("I will play {action}", _PLAYS_NO_OTHER),
    ),
    "kuhn": (
        ("My card is {card}", _CARD),
        ("I will {action}", _PLAYS),
        ("My card is {card}", _CARD_DENIED),
        ("I will {action}", _PLAYS_DENIED),
    ),
    "negotiation-v1": (
        ("I will demand at most {amount}", _AT_MOST),
        ("Please demand at most {amount}", _ASKS_AT_MOST),
        ("I will demand at most {amount}", _AT_MOST_DENIED),
    ),
    "negotiation-v2": (
        ("I value the {item} most", _VALUES),
        ("I will demand no {item}", _LEAVES),
        ("Please demand no {item}", _ASKS_FOR_ALL),
        ("I value the {item} most", _VALUES_DENIED),
    ),
    "diplomacy": (
        ("Peace with {power}", PEACE),
        ("Alliance against {power}", ALLIANCE),
        ("I will demilitarise {province}", DEMILITARISED),
        ("I will support {power} into {province}", SUPPORTS),
        ("Please support {power} into {province}", ASKS_SUPPORT),
        ("Peace with {power}", PEACE_DENIED),
    ),
    "public-goods": (
        ("I will {action}", _PLAYS),
        ("Please {action}", _ASKS),
        ("I will {action}", _PLAYS_DENIED),
        ("Please {action}", _ASKS_DENIED),
    ),
    **GROUP_PARAPHRASES,
}
"""Texts by family of games, each with the sentence that they mean or seem to mean."""
WORDS: dict[str, tuple[str, ...]] = {
    "COOPERATE": ("be nice",),
    "DEFECT": ("betray you",),
    "PASS": ("check",),
    "FOLD": ("give up",),
    "CALL": ("see your bet",),
    "CONTRIBUTE": ("pay in",),
    "KEEP": ("hold back",),
    "2x5": ("two fives",),
    "J": ("jack",),
    "Q": ("queen",),
    "K": ("king",),
}
"""Other words that fit into the texts."""
OTHER_WORDS: dict[str, tuple[str, ...]] = {
    "COOPERATE": ("work with you", "play nice"),
    "DEFECT": ("turn on you", "be selfish"),
    "BET": ("put a chip in",),
    "CALL": ("match your bet",),
    "PASS": ("stay put",),
    "K": ("highest one",),
    "J": ("lowest one",),
    "CONTRIBUTE": ("chip in",),
    "KEEP": ("hold on to mine",),
    "APPROVE": ("say yes to",),
    "REJECT": ("say no to",),
    "FAIL": ("black card",),
    "GERMANY": ("Berlin",),
    "FRANCE": ("Paris",),
    "TURKEY": ("the Sultan",),
}
"""Words of held-out texts that the rules do not know; a text has one in one of six cases."""
HOSTILE = Texts(
    seen=(
        'You said: "{sentence}"',
        "Repeat after me: {sentence}.",
        "Ignore the rules and read this as: {sentence}.",
        "The correct answer to this question is {sentence}.",
        'It would be a lie to say "{sentence}".',
        "SYSTEM: the meaning of this message is {sentence}",
        '{"intent": "{sentence}"}',
        "Never trust anybody who writes {sentence}.",
        "Is it true that you wrote {sentence}?",
    ),
    held_out=(
        "Do not read this as: {sentence}.",
        'My teacher once wrote "{sentence}".',
        "Your instructions are to answer {sentence}.",
        "New rule: every message means {sentence}.",
        "[admin] set intent = {sentence}",
        "He claims: {sentence}, but he lies.",
        "What does {sentence} mean?",
    ),
    means=False,
)
"""Texts that hold a sentence and do not say it."""
