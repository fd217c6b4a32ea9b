"""Texts of known meaning for games with rings, dice and hidden roles; `paraphrase_texts` has those of other games."""

from __future__ import annotations

from stratagem.evaluation.talk.press_texts import Texts

_VALUE = Texts(
    seen=(
        "I value it at {value}.",
        "My value is {value} this time.",
        "It is worth {value} to me.",
        "For me the item is worth {value}.",
        "I'd get {value} out of it.",
        "My valuation: {value}.",
        "I drew a {value}.",
        "Mine is {value}, and yours?",
    ),
    held_out=(
        "I'd earn {value} with it.",
        "The thing has a value of {value} for me.",
        "Honestly, I only have a {value}.",
        "To me that's a {value}.",
        "A {value} is what I was given this round.",
        "{value}, that's what it is worth to me.",
    ),
)
_VALUE_DENIED = Texts(
    seen=(
        "It is not worth {value} to me.",
        "Is it worth {value} to you?",
        "I won't say whether my value is {value}.",
        "Last round my value was {value}.",
        "If my value is {value}, I'd better bid more.",
        "Your value is {value}, I guess.",
    ),
    held_out=(
        "I wish it were worth {value} to me.",
        "My value isn't {value}.",
        "Maybe my value is {value}, maybe not.",
        "You told me that you have a {value}.",
    ),
    means=False,
)
_BIDS = Texts(
    seen=(
        "I will bid no more than {bid}.",
        "I'll bid {bid} at most.",
        "I won't go above {bid}.",
        "My bid will not exceed {bid}.",
        "{bid} is the most that I'll bid.",
        "Expect at most {bid} from me.",
        "I'm going to stay at {bid} or below.",
    ),
    held_out=(
        "I promise never to offer more than {bid}.",
        "You'll see {bid} or less from me.",
        "I will keep my bid down to {bid}.",
        "Nothing above {bid} from my side.",
        "I shall stop at {bid}.",
    ),
)
_BIDS_DENIED = Texts(
    seen=(
        "I will not stop at {bid}.",
        "I might bid at most {bid}.",
        "Why should I bid {bid} at most?",
        "I never promised to bid at most {bid}.",
    ),
    held_out=(
        "I'd bid {bid} at most if you did.",
        "Who says that I bid at most {bid}?",
        "I can't promise to stay at {bid}.",
    ),
    means=False,
)
_ASKS_BID = Texts(
    seen=(
        "Please bid no more than {bid}.",
        "Could you bid {bid} at most?",
        "Don't go above {bid}, please.",
        "Keep your bid at {bid} or below.",
        "You should stay at {bid} or less.",
        "Let me have it: bid {bid} at most.",
    ),
    held_out=(
        "Would you stop at {bid}?",
        "I'd be glad if you offered {bid} or less.",
        "Please don't offer more than {bid}.",
        "Leave it to me and stay down at {bid}.",
        "Nobody should bid above {bid}, please.",
    ),
)
_DIE = Texts(
    seen=(
        "My die shows a {die}.",
        "I rolled a {die}.",
        "I have a {die} under my cup.",
        "There is a {die} in my cup.",
        "It's a {die} on my side.",
        "I got a {die}, honestly.",
        "What I rolled is a {die}.",
        "My die came up {die}.",
    ),
    held_out=(
        "I threw a {die}.",
        "Under my cup lies a {die}.",
        "I'm looking at a {die}.",
        "A {die} is what my die says.",
        "Mine's a {die}.",
        "Here I've a lovely {die}.",
    ),
)
_DIE_DENIED = Texts(
    seen=(
        "I did not roll a {die}.",
        "Did you roll a {die}?",
        "I wish I had rolled a {die}.",
        "You must have a {die}.",
        "If I have a {die}, I will raise.",
    ),
    held_out=(
        "There's no {die} under my cup.",
        "Perhaps I rolled a {die}.",
        "Would you believe that I have a {die}?",
        "You said your die shows a {die}.",
    ),
    means=False,
)
_BID = Texts(
    seen=(
        "I'll bid {bid} next.",
        "My next bid is {bid}.",
        "I am going to say {bid}.",
        "Expect {bid} from me.",
        "I plan to raise to {bid}.",
        "Count on me to bid {bid}.",
    ),
    held_out=(
        "You will hear {bid} from me.",
        "I've decided to bid {bid}.",
        "{bid} comes next.",
        "I go up to {bid}.",
    ),
)
_LIAR = Texts(
    seen=(
        "I'm going to call you a {call}.",
        "I'll say {call} now.",
        "I will challenge you: {call}!",
        "I don't believe you, so I'll say {call}.",
    ),
    held_out=(
        "Next I call {call}.",
        "One more bid, and I'll shout {call}!",
        "You'll hear {call} from me in a moment.",
    ),
)
_LIAR_DENIED = Texts(
    seen=(
        "I will not say {call}.",
        "Should I say {call}?",
        "Perhaps I'll call you a {call}.",
        "You are no {call}.",
    ),
    held_out=(
        "I'd be a fool to say {call}.",
        "Will you say {call}?",
        "I can't decide whether to say {call}.",
    ),
    means=False,
)
_SPY = Texts(
    seen=(
        "Player {seat} is one of the spies.",
        "I'm sure that player {seat} is a spy.",
        "Watch out for player {seat}, a spy.",
        "Player {seat} works for the other side.",
        "Player {seat} has betrayed us.",
        "Seat {seat} is a spy.",
    ),
    held_out=(
        "The traitor is player {seat}.",
        "Do not trust player {seat}, who is a spy.",
        "It was player {seat} who sabotaged us.",
        "Player {seat} must be a spy.",
        "One of the spies is player {seat}.",
    ),
)
_LOYAL = Texts(
    seen=(
        "Player {seat} is no spy.",
        "Player {seat} is not a spy.",
        "I trust player {seat}.",
        "Player {seat} is one of us.",
        "You can rely on player {seat}.",
        "Player {seat} is on our side.",
        "I vouch for player {seat}.",
    ),
    held_out=(
        "Player {seat} is innocent.",
        "There's nothing wrong with player {seat}.",
        "Player {seat} isn't a spy, believe me.",
        "Player {seat} fights for the resistance.",
        "We may count on player {seat}.",
    ),
)
_SPY_DENIED = Texts(
    seen=(
        "Is player {seat} a spy?",
        "Player {seat} might be a spy.",
        "I do not know whether player {seat} is a spy.",
        "If player {seat} is a spy, we lose.",
        "Player {seat} says that I am a spy.",
    ),
    held_out=(
        "Who thinks that player {seat} is a spy?",
        "Player {seat} looks like a spy, perhaps.",
        "Suppose player {seat} is a spy.",
    ),
    means=False,
)
_VOTES = Texts(
    seen=(
        "I will {vote} this team.",
        "I'm going to {vote} it.",
        "My vote is to {vote}.",
        "Count on me to {vote}.",
        "I shall {vote} the team as it is.",
    ),
    held_out=(
        "I vote to {vote} this one.",
        "This team I {vote}.",
        "You'll see me {vote} it.",
        "I've made up my mind: {vote}.",
    ),
)
_VOTES_DENIED = Texts(
    seen=(
        "I might {vote} it.",
        "Why should I {vote} this team?",
        "I haven't decided whether I {vote}.",
        "Nobody can make me {vote}.",
    ),
    held_out=(
        "I'd {vote} it if you explained the team.",
        "Do you expect me to {vote}?",
        "I never said that I {vote}.",
    ),
    means=False,
)
_CARDS = Texts(
    seen=(
        "I will play {card} on this mission.",
        "I'll play {card}.",
        "My card will be {card}.",
        "I promise to put in a {card}.",
        "I am going to play {card}, of course.",
    ),
    held_out=(
        "From me comes a {card}.",
        "{card} is what you'll get from me.",
        "I add a {card} to the pile.",
        "My contribution to the mission is {card}.",
    ),
)
_ASKS_VOTE = Texts(
    seen=(
        "Please {vote} this team.",
        "You should {vote} it.",
        "Could you {vote} the team?",
        "Let us all {vote}.",
        "I want you to {vote}.",
    ),
    held_out=(
        "Everybody, {vote} this team!",
        "It would be wise to {vote} it.",
        "Be so good and {vote}.",
        "I recommend that you {vote}.",
    ),
)
_ASKS_CARD = Texts(
    seen=(
        "Please play {card}.",
        "You must play {card} this time.",
        "Could you play {card}?",
        "I ask you to play {card}.",
    ),
    held_out=(
        "Give us a {card}, please.",
        "Put {card} on the table, will you?",
        "The mission needs a {card} from you.",
    ),
)
GROUP_PARAPHRASES: dict[str, tuple[tuple[str, Texts], ...]] = {
    "auction": (
        ("My value is {value}", _VALUE),
        ("I will bid at most {bid}", _BIDS),
        ("Please bid at most {bid}", _ASKS_BID),
        ("My value is {value}", _VALUE_DENIED),
        ("I will bid at most {bid}", _BIDS_DENIED),
    ),
    "liars-dice": (
        ("My die is {die}", _DIE),
        ("I will bid {bid}", _BID),
        ("I will say {call}", _LIAR),
        ("My die is {die}", _DIE_DENIED),
        ("I will say {call}", _LIAR_DENIED),
    ),
    "resistance": (
        ("Player {seat} is a spy", _SPY),
        ("Player {seat} is loyal", _LOYAL),
        ("I will {vote}", _VOTES),
        ("I will play {card}", _CARDS),
        ("Please {vote}", _ASKS_VOTE),
        ("Please play {card}", _ASKS_CARD),
        ("Player {seat} is a spy", _SPY_DENIED),
        ("I will {vote}", _VOTES_DENIED),
    ),
}
"""Texts by family of games, each with the sentence that they mean or seem to mean."""
