"""Talk as part of any game: messages, and languages whose sentences have a meaning."""

from stratagem.games.talk.catalogue import language_of
from stratagem.games.talk.game import Talk
from stratagem.games.talk.language import Asks, Intent, Language, MoveRequest, Plays, Promise, Statement
from stratagem.games.talk.message import ALL, MOVE, SILENT, Message, TalkFacts
from stratagem.games.talk.state import TalkState
from stratagem.games.talk.within import moving, talk_in, talk_state_of, without_talk

__all__ = [
    "ALL",
    "MOVE",
    "SILENT",
    "Asks",
    "Intent",
    "Language",
    "Message",
    "MoveRequest",
    "Plays",
    "Promise",
    "Statement",
    "Talk",
    "TalkFacts",
    "TalkState",
    "language_of",
    "moving",
    "talk_in",
    "talk_state_of",
    "without_talk",
]
