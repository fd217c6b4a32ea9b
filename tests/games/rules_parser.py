"""Description of a game rebuilt from its rules in words alone, written from the sentences and not from the steps.

Every sentence is needed: a step reads all of its sentences in their order, and what is left over is an error.
"""

import re
from dataclasses import dataclass, field, replace

from stratagem.games.counting import plural_of
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.steps import (
    Ante,
    Bet,
    Choose,
    CountClaim,
    Deal,
    GiftPool,
    Offer,
    PayoffTable,
    Sale,
    Show,
    Showdown,
    Split,
    Swap,
)
from stratagem.games.drawn.steps.choosing import Option

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ROLES = ("first", "second", "third", "fourth")
N = r"(-?\d+(?:\.\d+)?)"
A = r"(-?\d+(?:\.\d+)? \w+)"
WHO = r"(?:(Each|Every) player|The (first|second|third|fourth) player|Player (\d))"
YOU = r"((?:[Yy]ou each|[Yy]ou|[Tt]he (?:first|second|third|fourth) player))"
WORD = r"([A-Za-z][\w-]*(?: [\w-]+)*?)"
LIST = r"(.+?)"


class Unreadable(ValueError):
    """Rules that this parser does not understand."""


def number_of(word):
    """Return the number that a word or its digits name."""
    if word.isdigit():
        return int(word)
    if word not in NUMBERS:
        raise Unreadable(f"no number: {word}")
    return NUMBERS.index(word) + 1


def singular_of(plural):
    """Return the thing that a plural names several of."""
    for one in ("die", f"{plural[:-3]}y", plural[:-1], plural[:-2]):
        if plural_of(one) == plural:
            return one
    raise Unreadable(f"no plural: {plural}")


def role_of(every, role, number):
    """Return the role of one of the three ways to name a player."""
    if every:
        return "each"
    return role or ROLES[int(number) - 1]


def split_list(text):
    """Return the words of a list with commas."""
    return text.split(", ")


@dataclass
class Reader:
    """Sentences that are left, and what was understood of those before."""

    lines: list
    unit: str = ""
    items: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    seats: int = 0
    addresses: bool = False
    """True if the rules speak to the one who reads them."""
    own: str | None = None
    """Role of the one who reads, where the rules speak to a player of several with one seat."""

    def take(self, *patterns):
        """Return the groups of the first of some patterns that the next sentence fits, and go on; None where none."""
        if not self.lines:
            return None
        for pattern in patterns:
            if found := re.fullmatch(pattern, self.lines[0]):
                self.lines.pop(0)
                return found.groups()
        return None

    def need(self, *patterns):
        """Return the groups of the next sentence, which must fit."""
        if (found := self.take(*patterns)) is None:
            raise Unreadable(f"no {patterns[0]!r} in {self.lines[:1]}")
        return found

    def amount(self, text):
        """Return the number of an amount in the game's unit: `1 chip`, `2 chips`."""
        found = re.fullmatch(rf"{N} (\w+)", text)
        if not found or found[2] != (self.unit if found[1] == "1" else plural_of(self.unit)):
            raise Unreadable(f"no amount: {text}")
        return float(found[1])

    def item(self, name):
        """Return the item of a name, in the singular or the plural."""
        for item in self.items:
            if name in (item.name, item.plural):
                return item
        raise Unreadable(f"no item {name}")

    def subject(self, who, verb=""):
        """Return the role of a player who is named to the one addressed; the verb must fit."""
        if verb and verb.endswith("s") != ("player" in who):
            raise Unreadable(f"{who} {verb}")
        if who.lower() == "you each":
            role = "each" if self.seats > 1 else None
        elif who.lower() == "you":
            role = "each" if self.seats == 1 else self.own
        else:
            role = who.split()[1]
            role = None if role == self.own else role
        if role is None:
            raise Unreadable(f"{who} is no player")
        return role

    def worth(self, counted, name):
        """Return the item of a worth, which is a sum where a player holds several of it."""
        item = self.item(name)
        dealt = [step for step in self.steps if isinstance(step, Deal) and step.item == item.name]
        most = max(sum(step.count for step in dealt if step.to in ("each", role)) for role in ROLES[: self.seats])
        if (counted != "number") != (most > 1) or name != (item.name if most == 1 else item.plural):
            raise Unreadable(f"the {counted} of {most} {name}")
        return item.name

    def choice(self, name):
        """Return the choice of a name, also in the plural."""
        for step in self.steps:
            if isinstance(step, Choose) and name in (step.name, plural_of(step.name)):
                return step
        raise Unreadable(f"no choice {name}")

    @property
    def may_leave(self):
        """True if a player can be out of the round."""
        return any(
            isinstance(s, Bet) or (isinstance(s, Choose) and any(o.leaves for o in s.options)) for s in self.steps
        )


def parse_rules(text):
    """Return the description that rules in words tell, and the seat that they address."""
    reader = Reader(text.split("\n"))
    reader.addresses = text.startswith("Play ")
    if found := reader.take(r"Play (.+) as (?:one of (\w+) players|the only player)\."):
        often, players = found
    else:
        players, often = reader.need(
            r"A game for (\w+) players? in (.+)\.", r"This game has (\w+) players? and takes (.+)\."
        )
    last = re.fullmatch(r"You are the (\w+) player\.", reader.lines[-1]) if reader.lines else None
    reader.own = last[1] if reader.addresses and last and players else None
    cut, count, fewer = re.fullmatch(r"(up to |at most )?(\w+) rounds?( or fewer)?", often).groups()
    reader.seats, rounds, continuation = number_of(players or "one"), number_of(count), 1.0
    if cut or fewer:
        continuation = float(
            reader.need(
                rf"After a round another one follows with probability {N}\.",
                rf"The chance of another round after a round is {N}\.",
                rf"You go on after a round with probability {N}, and otherwise stop\.",
            )[0]
        )
    turns = reader.take(
        r"The players take turns to be the first player, from round to round\.",
        r"The place of the first player goes from player to player with every round\.",
        r"With every round the next of you is the first player\.",
    )
    forget = reader.take(
        r"Only the present round is seen\.",
        r"Earlier rounds are not seen any more\.",
        r"You forget every round once it is over\.",
    )
    (units,) = reader.need(
        r"Your payoff is counted in (\w+)\.",
        r"Payoffs are counted in (\w+)\.",
        r"Count what you earn in (\w+)\.",
    )
    reader.unit = singular_of(units)
    while item := read_item(reader):
        reader.items.append(item)
    if rounds > 1:
        reader.need(r"In every round:", r"This is what happens in each round:", r"In each round do this:")
    while step := read_step(reader):
        reader.steps.append(step)
    seat = read_end(reader, several=rounds > 1 and forget is None, turns=turns is not None)
    if reader.lines:
        raise Unreadable(f"left over: {reader.lines[0]}")
    return GameDescription(
        name="Rebuilt",
        items=tuple(reader.items),
        steps=tuple(reader.steps),
        seats=reader.seats,
        rounds=rounds,
        continuation=continuation,
        turns=turns is not None,
        forget=forget is not None,
        unit=reader.unit,
    ), seat


def read_end(reader, *, several, turns):
    """Read the sentences after the steps; return the seat that they address, or None where it changes."""
    if several:
        reader.need(
            r"After each round every player learns its own payoff of the round\.",
            r"When a round is over, each player is told what it has earned in it\.",
            r"After each round you learn what it paid you\.",
        )
    if reader.may_leave and reader.seats > 1:
        reader.need(
            r"As soon as one player is left in a round, nothing more is dealt or chosen in it\.",
            r"Once a single player is left, the round has no more deals and choices\.",
            r"Stop dealing and choosing in a round when only one of you is left\.",
        )
    if turns:
        return None
    role, number = reader.need(r"You are the (\w+) player\.|You are player (\d)\.")
    return ROLES.index(role) if role else int(number) - 1


def read_values(text):
    """Return the values of an item: numbers if all are."""
    values = split_list(text)
    return tuple(map(int, values)) if all(re.fullmatch(r"-?\d+", value) for value in values) else tuple(values)


def read_item(reader):
    """Read the sentence about a kind of thing that is dealt."""
    if found := reader.take(
        rf"Each (\w+) shows one of these, all equally likely and from low to high: {LIST}\.",
        rf"The (\w+) has these equally likely values, the lowest first: {LIST}\.",
        rf"Any (\w+) shows with equal chance one of these, low to high: {LIST}\.",
    ):
        return DealtItem(found[0], read_values(found[1]), again=True)
    if found := reader.take(
        rf"The deck of (\w+) has (\w+) of each of these, from low to high: {LIST}\.",
        rf"There is a deck of (\w+), (\w+) of every value, the lowest first: {LIST}\.",
        rf"Take (\w+) from a deck of (\w+) each, from low to high: {LIST}\.",
    ):
        plural, copies, listed = found
        values, *suits = re.split(r" in each of the suits |, in every suit of |, in each of these suits: ", listed)
        return DealtItem(
            singular_of(plural),
            read_values(values),
            number_of(copies),
            tuple(split_list(suits[0])) if suits else (),
        )
    return None


def read_step(reader):
    """Read the sentences of the next step; None where there is none."""
    for read in (
        read_ante,
        read_deal,
        read_show,
        read_swap,
        read_bet,
        read_choice,
        read_claims,
        read_offers,
        read_showdown,
        read_sale,
        read_split,
        read_pool,
        read_table,
    ):
        if step := read(reader):
            return step
    return None


def read_ante(reader):
    """Chips of every player into the pot."""
    if found := reader.take(rf"Each player puts {A} into the pot\.", rf"Every player pays {A} to the pot\."):
        return Ante(reader.amount(found[0]))
    if found := reader.take(rf"(You each|You) put {A} into the pot\."):
        reader.subject(found[0], "put")
        return Ante(reader.amount(found[1]))
    return None


def read_deal(reader):
    """Pieces for all to see, or for one player."""
    if found := reader.take(r"(\d+) (\w+) (is|are) (rolled|thrown|laid open|put face up) for all to see\."):
        item = reader.item(found[1])
        if item.again != (found[3] in ("rolled", "thrown")) or (found[0] == "1") != (found[2] == "is"):
            raise Unreadable("a deal of another item")
        return Deal(item.name, "all", int(found[0]))
    if found := reader.take(
        rf"{WHO} (?:gets|is dealt) (\d+) (\w+) (?:that this player alone sees|hidden from the others)\."
    ):
        return Deal(reader.item(found[4]).name, role_of(*found[:3]), int(found[3]))
    if found := reader.take(r"(You each|You) see (\d+) (\w+), (rolled in the open|dealt face up)\."):
        item = reader.item(found[2])
        reader.subject(found[0], "see")
        if item.again != (found[3] == "rolled in the open"):
            raise Unreadable("a deal of another item")
        return Deal(item.name, "all", int(found[1]))
    if found := reader.take(rf"{YOU} (gets?) (\d+) (\w+)(, which nobody else sees| and see only your own)\."):
        role = reader.subject(*found[:2])
        if (role == "each" and reader.seats > 1) != ("own" in found[4]):
            raise Unreadable("a deal to others")
        return Deal(reader.item(found[3]).name, role, int(found[2]))
    return None


def read_show(reader):
    """Hands that are shown."""
    if found := reader.take(rf"{WHO} (?:shows|reveals) the (\w+) in hand to all\."):
        return Show(reader.item(found[3]).name, role_of(*found[:3]))
    if found := reader.take(rf"{YOU} (shows?) everybody the (\w+) in hand\."):
        return Show(reader.item(found[2]).name, reader.subject(*found[:2]))
    return None


def read_swap(reader):
    """Exchange of the latest piece."""
    found = reader.take(
        rf"{WHO}( in turn)? says (.+) to keep the latest (\w+), or (.+?)(?:, at the price of {A} for the pot,)? "
        rf"to lay it "
        r"aside for a new one, which only this player sees\.",
        rf"{WHO}(, one after another,)? chooses (.+) \(nothing changes\) or (?=.*the latest (\w+))(.+) "
        rf"\(the latest \w+ "
        rf"goes out of play and a hidden new one replaces it(?: for {A} to the pot)?\)\.",
    )
    if not found:
        return read_own_swap(reader)
    role = role_of(*found[:3])
    if (role == "each") != bool(found[3]):
        raise Unreadable("an order of one player")
    return Swap(reader.item(found[5]).name, role, found[4], found[6], reader.amount(found[7]) if found[7] else 0.0)


def read_own_swap(reader):
    """Exchange of the latest piece, as it is told to those who may make it."""
    found = reader.take(
        rf"(?:(In turn), w|W)ith (.+) {YOU} keeps? (?:the|your) latest (\w+); with (.+) {YOU}(?: pays? {A} into the "
        rf"pot,)? lays? it aside and draws? a new one that nobody else sees\."
    )
    if not found:
        return None
    turn, keep, who, item, swap, again, cost = found
    role = "each" if turn and reader.seats > 1 else reader.subject(who)
    if who != again or (turn and who != "you"):
        raise Unreadable("a swap of two players")
    return Swap(reader.item(item).name, role, keep, swap, reader.amount(cost) if cost else 0.0)


def read_bet(reader):
    """Betting in turn."""
    if not reader.take(
        r"Then there is betting in turn, from the first player on, until all who are left have put in the same\."
        r"()",
        r"A betting round follows: from the first player on, one after another, until nobody has to match more\.()",
        r"Now bet in turn, the first player first, until nobody left must match more\.()",
    ):
        return None
    check, bet, size = reader.need(
        rf"With nothing to match, a player says (.+) to put in nothing, or (.+) to put in {A}\.",
        rf"If there is nothing to match, the choice is (.+) \(add nothing\) or (.+) \(add {A}\)\.",
        rf"With no bet to match, (.+) puts in nothing and (.+) puts in {A}\.",
    )
    fold, comma, call, _, more, again = reader.need(
        rf"With a bet to match, a player says (.+?) to leave the round(,| or) (.+?) to match it(, or (.+?) to match "
        rf"it and "
        rf"put in {A} more)?\.",
        rf"If there is a bet to match, the choice is (.+?) \(leave the round\)(,| or) (.+?) \(match\)( or (.+?) "
        rf"\(match and "
        rf"add {A}\))?\.",
        rf"Against a bet, (.+?) takes you out of the round(,| and) (.+?) matches it( and (.+?) matches it and puts in "
        rf"{A} more)?\.",
    )
    if (comma == ",") != bool(more) or (more and again != size):
        raise Unreadable("a raise of another size")
    most = 1
    if more:
        most = int(
            reader.need(
                r"There are (\d+) bets and raises in it at most\.",
                r"At most (\d+) bets and raises are made here\.",
                r"(\d+) bets and raises are the limit\.",
            )[0]
        )
    else:
        reader.need(
            r"There is one bet in it at most\.()", r"At most one bet is made here\.()", r"One bet is the limit\.()"
        )
    if bool(more) != (most > 1):
        raise Unreadable("a raise that cannot be made")
    step = Bet(reader.amount(size), most, check, bet, fold, call)
    return replace(step, raise_word=more) if more else step


def read_choice(reader):
    """Choice of one player or of all, its terms, and who sees it when."""
    found = reader.take(
        rf"(?:(At the same time|In turn) (each) player|The (first|second|third|fourth) player|Player (\d)) chooses a "
        rf"(\w+): {LIST}\."
    )
    if found is None:
        other = reader.take(
            r"The (\w+): (?:(all at once|one after another), (every) player|the (\w+) player|player (\d)) picks one of "
            rf"{LIST}\."
        )
        if not other:
            return read_own_choice(reader)
        name, how, every, role, number, listed = other
    else:
        how, every, role, number, name, listed = found
    by = role_of(every, role, number)
    if (by == "each") != bool(how):
        raise Unreadable("an order of one player")
    return read_options(reader, name, by, how in ("At the same time", "all at once"), listed)


def read_own_choice(reader):
    """Choice as it is told to those who make it."""
    if found := reader.take(rf"{YOU} (has|have) one (\w+) to choose: {LIST}\."):
        by = reader.subject(found[0], found[1])
        if by == "each":
            raise Unreadable("an order of one player")
        return read_options(reader, found[2], by, False, found[3])
    found = reader.take(rf"(You each c|C)hoose one (\w+)( at the same time| in turn|): {LIST}\.")
    if not found:
        return None
    who, name, how, listed = found
    if (reader.seats == 1) != (who == "C") or (who != "C" and not how):
        raise Unreadable("an order of one player")
    return read_options(reader, name, "each", how in (" at the same time", ""), listed)


def read_options(reader, name, by, together, listed):
    """Read the terms of the options of a choice, and who sees it when."""
    together = together or by != "each"
    words = split_list(listed)
    options, pot, needs_item = [Option(word) for word in words], False, "card"
    for place, option in enumerate(options):
        word = re.escape(option.word)
        if terms := reader.take(rf"{word} ((?:costs|takes|means|is open|needs) .+)\."):
            told = terms[0]
        elif terms := reader.take(rf"With {word} {YOU} ((?:pays?|loses?|leaves?|needs?) .+)\."):
            told = terms[1]
            if terms[0] == "you each" or ((by == "each") and terms[0] != "you"):
                raise Unreadable("terms of one player")
            if by != "each" and reader.subject(terms[0], told.split()[0]) != by:
                raise Unreadable("terms of another player")
        if terms:
            options[place], own_pot, own_item = read_terms(reader, option, told)
            pot, needs_item = pot or own_pot, own_item or needs_item
    shown = read_sight(reader)
    if shown == "at once" and by != "each":
        shown = "after"
    return Choose(name, tuple(options), by, together, shown, pot, needs_item)


def read_terms(reader, option, text):
    """Read the cost of an option, whether it leaves the round, and what it needs."""
    cost, pot, leaves, needs, item = 0.0, False, False, (), ""
    left = text
    if found := re.match(rf"costs {A}( for the pot| to the pot|, which nobody gets,?| to nobody)(?: and )?", left):
        cost, pot, left = reader.amount(found[1]), "pot" in found[2], left[found.end() :]
    elif found := re.match(rf"(?:pays? {A} into the pot|loses? {A})(?: and )?", left):
        cost, pot, left = reader.amount(found[1] or found[2]), bool(found[1]), left[found.end() :]
    if found := re.match(
        r"(takes the player out of the round|means to leave the round|leaves? the round)(?: and )?", left
    ):
        leaves, left = True, left[found.end() :]
    if found := re.match(r"(?:is open only to a holder of the|needs? the) (\w+) (.+?)(?: in hand)?$", left):
        item, needs, left = reader.item(found[1]).name, tuple(found[2].split(" or ")), ""
    if left:
        raise Unreadable(f"terms: {text}")
    return replace(option, cost=cost, leaves=leaves, needs=needs), pot, item


def read_sight(reader):
    """Read when the others see a choice."""
    for shown, *patterns in (
        (
            "at once",
            r"All players see it straight away\.()",
            r"Everybody sees it immediately\.()",
            r"(?:You|You each) see it right away\.()",
        ),
        (
            "after",
            r"All players see it when all have chosen\.()",
            r"It becomes known once everybody has chosen\.()",
            r"(?:You|You each) see it after the last choice\.()",
        ),
        (
            "end",
            r"All players see it at the end of the round\.()",
            r"It becomes known when the round ends\.()",
            r"(?:You|You each) see it when the round ends\.()",
        ),
        ("never", r"The others never see it\.()", r"It stays hidden from the others\.()", r"Nobody else sees it\.()"),
    ):
        if reader.take(*patterns):
            return shown
    raise Unreadable(f"no sentence about who sees a choice: {reader.lines[:1]}")


def read_claims(reader):
    """Claims until one is doubted."""
    found = reader.take(
        r"Then the players make claims in turn, from the first player on, about the (\d+) (\w+) together\.",
        r"Claims follow, one after another and begun by the first player, about all (\d+) (\w+)\.",
        r"Take turns, the first player first, to claim something about all (\d+) (\w+) together\.",
    )
    if not found:
        return None
    many, item = int(found[0]), reader.item(found[1])
    word, number, value, least, shown = reader.need(
        r"(\w+) (\d+)(?:x| )([\w-]+) claims that at least (\d+) of them show ([\w-]+)\.",
        r"By (\w+) (\d+)(?:x| )([\w-]+) one states that (\d+) or more of them show ([\w-]+)\.",
        r"If you say (\w+) (\d+)(?:x| )([\w-]+), you claim that (\d+) or more of them show ([\w-]+)\.",
    )
    dealt = sum(
        step.count * (reader.seats if step.to == "each" else 1)
        for step in reader.steps
        if isinstance(step, Deal) and step.item == item.name
    )
    if not (int(number) == int(least) == many == dealt and value == shown == str(item.values[-1])):
        raise Unreadable("an example that is no claim of this game")
    wild = reader.take(
        r"([\w-]+) counts as every value\.",
        r"A ([\w-]+) stands for any value\.",
        r"Count ([\w-]+) as whatever value is claimed\.",
    )
    reader.need(
        r"Every claim must be higher than the one before: a larger number of any value, or the same number of a higher "
        r"value\.",
        r"Each claim beats the last one, by a larger number with any value or by a higher value with the same number\.",
        r"Go above the latest claim: name a larger number of any value, or the same number of a higher value\.",
    )
    (doubt,) = reader.need(
        r"Instead of a claim a player may say (\w+) about the latest claim, which ends the claims\.",
        r"To doubt the latest claim and end the claims, a player says (\w+) in place of a claim\.",
        r"Or say (\w+) to the latest claim, which doubts it and ends the claims\.",
    )
    won, lost = reader.need(
        rf"If that claim is true, the doubter pays its maker {A}; if it is false, its maker pays the doubter "
        rf"{A}\.",
        rf"A true claim wins its maker {A} from the doubter, a false one costs the maker {A}, paid to the "
        r"doubter\.",
        rf"When you doubt a true claim, you pay its maker {A}; when you doubt a false one, its maker pays you {A}\.",
    )
    if won != lost:
        raise Unreadable("two stakes")
    return CountClaim(item.name, wild[0] if wild else "", reader.amount(won), word, doubt)


def read_offers(reader):
    """Offers in turn about a sum."""
    found = reader.take(
        rf"Then two players divide {A}\.",
        rf"Next, {A} are to be divided by two players\.",
        rf"Divide {A} with the other player\.",
    )
    if not found:
        return None
    total = reader.amount(found[0])
    offer, least, again, most, step = reader.need(
        r"The first player makes an offer, (\w+) (\d+) to (\w+) (\d+) in steps of (\d+): what the other is to get\.",
        r"The first player says how much the other is to get, from (\w+) (\d+) to (\w+) (\d+) in steps of (\d+)\.",
        rf"{'You make' if reader.own == 'first' else 'The first player makes'} the first offer of what the other is to "
        r"get, (\w+) (\d+) to (\w+) (\d+) in steps of (\d+)\.",
    )
    accept, reject = reader.need(
        r"The other says (\w+) to get that and leave the rest to the offerer, or (\w+)\.",
        r"The answer is (\w+) \(the other gets that, the offerer the rest\) or (\w+)\.",
        r"When you are made an offer, say (\w+) to get that and leave the other the rest, or (\w+)\.",
    )
    if offer != again or least != "0" or float(most) != total:
        raise Unreadable("offers that do not go from nothing to all")
    turns, shrink = 1, 0.0
    if more := reader.take(
        rf"After {reject} the other makes the next offer; there are at most (\d+) offers\.",
        rf"After {reject} it is the other's turn to offer, up to (\d+) offers in all\.",
        rf"Whoever says {reject} makes the next offer, up to offer number (\d+)\.",
    ):
        turns = int(more[0])
        if turns < 2:
            raise Unreadable("one offer that is followed by another")
        if less := reader.take(
            rf"With every {reject} the sum shrinks by {A}\.",
            rf"Each {reject} makes the sum smaller by {A}\.",
            rf"The sum loses {A} with every {reject}\.",
        ):
            shrink = reader.amount(less[0])
    first, second = reader.need(
        rf"If the last offer is answered by {reject}, the first player gets {A} and the second player gets "
        rf"{A}\.",
        rf"When {reject} answers the last offer, the first player receives {A} and the second one {A}\.",
        rf"If the last offer gets {reject}, the first player gets {A} and the second player {A}\.",
    )
    worth = reader.take(
        r"What a player gets of the sum is multiplied by the (number|sum of the numbers) of that player's (\w+)\.",
        r"Each part of the sum counts times the (number|total) of its owner's (\w+)\.",
        r"Multiply what you get of the sum by the (number|sum of the numbers) of your (\w+)\.",
    )
    amounts = (reader.amount(first), reader.amount(second))
    return Offer(
        int(total),
        int(step),
        turns,
        shrink,
        amounts,
        reader.worth(*worth) if worth else "",
        offer,
        accept,
        reject,
    )


ORDERS = (
    (
        "pair",
        r"a (\w+) of the same value as an open one",
        r"a (\w+) whose value is also open",
        r"a (\w+) equal in value to an open one",
    ),
    (
        "suit",
        r"a (\w+) of the same suit as an open one",
        r"a (\w+) whose suit is also open",
        r"a (\w+) of the suit of an open one",
    ),
    (
        "near",
        r"the (\w+) nearest in value to an open one",
        r"the (\w+) closest to an open value",
        r"the (\w+) closest in value to an open one",
    ),
    ("sum", r"the largest sum of (\w+)", r"the highest total of (\w+)", r"the highest sum of (\w+)"),
    ("high", r"the highest (\w+)", r"the largest (\w+)"),
    ("low", r"the lowest (\w+)", r"the smallest (\w+)"),
)


def read_order(reader, text):
    """Return the item and the order that a phrase names."""
    for order, *patterns in ORDERS:
        for pattern in patterns:
            if found := re.fullmatch(pattern, text):
                return reader.item(found[1]).name, order
    raise Unreadable(f"no order: {text}")


def read_showdown(reader):
    """Winner of the pot."""
    found = reader.take(
        r"At the end the pot goes to the player who is left alone, or among those who are left to the one with (.+)\.",
        r"Finally the last player left takes the pot; if several are left, it is won by (.+)\.",
        r"If all others have left, you win the pot; if not, among those left you win it with (.+)\.",
    )
    if not found:
        return None
    item, first = read_order(reader, found[0])
    orders = [first]
    while more := reader.take(
        r"If that is equal, (.+) wins\.", r"A tie is broken by (.+)\.", r"If you tie in that, you win with (.+)\."
    ):
        other, order = read_order(reader, more[0])
        if other != item:
            raise Unreadable("two items")
        orders.append(order)
    reader.need(
        r"Equal hands share the pot\.()",
        r"Hands that stay equal split the pot\.()",
        r"If you still tie, share the pot\.()",
    )
    if any(isinstance(step, Choose) and any(option.leaves for option in step.options) for step in reader.steps):
        reader.need(
            rf"If nobody is left, all get their {plural_of(reader.unit)} back\.()",
            rf"Without anybody left, {plural_of(reader.unit)} go back to their players\.()",
            rf"If all of you have left, take back the {plural_of(reader.unit)} that you put in\.()",
        )
    shown = reader.take(
        r"Their hands are shown to all\.()",
        r"The hands that are compared become known to all\.()",
        r"Lay open the hands that you compare\.()",
    )
    return Showdown(item, tuple(orders), shown is not None)


def read_lone_bid(reader):
    """The price of a bid beside which there is no other."""
    found = reader.need(
        rf"A bid beside which there is no other pays {A}\.",
        rf"If there is a single bid, its buyer pays {A}\.",
        rf"If yours is the only bid, you pay {A}\.",
    )
    return reader.amount(found[0])


PRICES = (
    (
        "first",
        r"The winner pays its own bid\.()",
        r"The buyer pays what it bid\.()",
        r"If you buy, you pay your own bid\.()",
    ),
    (
        "second",
        rf"The winner pays the second-highest bid(?:, but at least {A})?\.",
        rf"The buyer pays the next bid below, or an equal one(?:, but at least {A})?\.",
        rf"If you buy, you pay the second-highest bid(?:, but not less than {A})?\.",
    ),
    (
        "all",
        r"Every player pays its own bid, winner or not\.()",
        r"All pay what they bid, buyer or not\.()",
        r"You pay your own bid whether you buy or not\.()",
    ),
    (
        "lost",
        r"The winner pays nothing; all others pay their own bids\.()",
        r"The buyer pays nothing, and everybody else pays what it bid\.()",
        r"If you buy, you pay nothing; if not, you pay your own bid\.()",
    ),
)
"""The rules of a sale's price, each with its sentence in every wording."""


def read_sale(reader):
    """An auction's payment."""
    units = plural_of(reader.unit)
    pairs = reader.take(
        rf"In {units} these bids are: (.+)\.",
        rf"The bids stand for {units}: (.+)\.",
        rf"Your bids mean these {units}: (.+)\.",
    )
    found = reader.take(
        r"A thing is sold to the highest (\w+); (to each player it is worth the (?:number|sum of the numbers) of "
        r"that player's|to every player it is worth the sum of the numbers of all players') (\w+)\.",
        r"The highest (\w+) buys a thing; (its worth to a player is the (?:number|total) of the player's own|its "
        r"worth is the same for all, the sum of the) (\w+)(?: of all players)?\.",
        r"You buy a thing if your (\w+) is the highest; (to you it is worth the (?:number|sum of the numbers) of your|"
        r"to you all it is worth the sum of the numbers of all players') (\w+)\.",
    )
    if not found:
        if pairs:
            raise Unreadable("amounts without a sale")
        return None
    bid, worth, item = reader.choice(found[0]), "common" if " all" in found[1] else "own", reader.item(found[2])
    if worth == "own":
        reader.worth("number" if "the number of" in found[1] else "sum", found[2])
    price, least = next(
        ((price, told[0]) for price, *patterns in PRICES if (told := reader.take(*patterns))), (None, None)
    )
    if price is None:
        raise Unreadable(f"no price: {reader.lines[:1]}")
    alone = read_lone_bid(reader) if price == "second" and reader.may_leave else None
    reserve = reader.take(
        rf"Nothing is sold below {A}\.",
        rf"A bid under {A} buys nothing\.",
        rf"No bid below {A} buys\.",
    )
    (paid,) = reader.need(
        r"Several highest bids share the thing( and what the winner pays|)\.",
        r"If several bids are the highest, the thing( and what its buyer pays are| is) divided equally\.",
        r"If several bids are highest, their makers share the thing( and its price|)\.",
    )
    if (price == "all") != (" and " not in paid):
        raise Unreadable("a price that is shared where each pays its own")
    if price == "second" and least != (reserve and reserve[0]):
        raise Unreadable("a price below the reserve")
    if alone is not None and alone != (reader.amount(reserve[0]) if reserve else 0.0):
        raise Unreadable("another price of a bid alone than the reserve")
    amounts = tuple(float(pair.rpartition(" ")[2]) for pair in split_list(pairs[0])) if pairs else ()
    if pairs and [pair.rpartition(" ")[0] for pair in split_list(pairs[0])] != [option.word for option in bid.options]:
        raise Unreadable("amounts of other bids")
    return Sale(bid.name, amounts, item.name, worth, price, reader.amount(reserve[0]) if reserve else 0.0)


def read_split(reader):
    """Demands that fit a sum."""
    found = reader.take(
        rf"If all players' (\w+) together are at most {A}, each player gets the (\w+) that this player chose; "
        rf"otherwise each player gets {A}\.",
        rf"Each player receives the chosen (\w+), provided that the sum of all is at most {A}(); with a larger sum "
        rf"everybody receives {A}\.",
        rf"You get the (\w+) that you chose if all (?=\w+ add up to {A} )(\w+) add up to .+ or less; if they add up "
        rf"to more, (?:you each|you) get {A}\.",
    )
    if not found:
        return None
    name, total, again, other = found
    choice = reader.choice(name)
    if again and {name, again} != {choice.name, plural_of(choice.name)}:
        raise Unreadable("two demands")
    name = choice.name
    worth = reader.take(
        rf"What a player gets for {name} is multiplied by the (number|sum of the numbers) of that player's (\w+)\.",
        rf"The gain from {name} counts times the (number|total) of its owner's (\w+)\.",
        rf"Multiply what you get for {name} by the (number|sum of the numbers) of your (\w+)\.",
    )
    if reader.may_leave:
        reader.need(
            r"A player who made no choice gets nothing\.()",
            r"Without a choice there is no gain\.()",
            r"You get nothing if you made no choice\.()",
        )
    return Split(choice.name, reader.amount(total), reader.worth(*worth) if worth else "", reader.amount(other))


def read_pool(reader):
    """Gifts to a common pool."""
    found = reader.take(
        rf"Each player pays the chosen (\w+); the sum of all, times {N}, is shared equally by all players\.",
        rf"What players chose as (\w+) is taken from them, multiplied by {N}, and given back in equal parts to all "
        r"players\.",
        rf"You pay the (\w+) that you chose; the sum of all, multiplied by {N}, comes back to you all in equal parts\.",
    )
    return GiftPool(reader.choice(found[0]).name, float(found[1])) if found else None


def read_table(reader):
    """Payments by a table."""
    found = reader.take(
        r"Payment by a table: each line has (.+), and after the colon what (.+) get\.",
        r"A table pays\. Its lines list (.+); the numbers after the colon go to (.+)\.",
        r"Find the line of (.+); after the arrow it pays (.+)\.",
    )
    if not found:
        return None
    over = [read_dimension(reader, name) for name in re.split(r"(?:, | and )(?=the|your|\w+ of player)", found[0])]
    roles = re.split(r", | and ", found[1])
    if [role.removeprefix("the ") for role in roles] not in (
        [f"{role} player" for role in ROLES[: reader.seats]],
        [f"player {number}" for number in range(1, reader.seats + 1)],
        ["you" if role == reader.own else f"{role} player" for role in ROLES[: reader.seats]],
    ):
        raise Unreadable(f"payments to {roles}")
    cells = {}
    while row := reader.take(r"- (.+): (.+)", r"(.+) -> (.+)"):
        labels, amounts = tuple(split_list(row[0])), tuple(map(float, split_list(row[1])))
        if labels in cells:
            raise Unreadable(f"two lines of {labels}")
        cells[labels] = amounts
    if reader.may_leave:
        reader.need(
            r"It pays nothing if one of these players is out\.()",
            r"Without one of them there is no payoff\.()",
            r"No line counts if one of these players is out\.()",
        )
    labels = [values for _, values in over]
    return PayoffTable(tuple(name for name, _ in over), nest(cells, labels))


def nest(cells, labels, before=()):
    """Return the amounts of a table as lists in lists."""
    if not labels:
        if before not in cells:
            raise Unreadable(f"no line of {before}")
        return cells.pop(before)
    nested = tuple(nest(cells, labels[1:], (*before, label)) for label in labels[0])
    if not before and cells:
        raise Unreadable(f"lines of {[*cells]}")
    return nested


def read_dimension(reader, text):
    """Return what a column of a table depends on, and its values."""
    if found := re.fullmatch(r"the open (\w+)|the (\w+) that is open", text):
        item = reader.item(found[1] or found[2])
        return f"all.{item.name}", [*map(str, item.values)]
    if reader.own and (found := re.fullmatch(r"your (\w+)", text)):
        role, name = reader.own, found[1]
    elif found := re.fullmatch(r"the (\w+) player's (\w+)|(\w+) of player (\d)", text):
        role, name = (found[1], found[2]) if found[1] else (ROLES[int(found[4]) - 1], found[3])
    else:
        raise Unreadable(f"no column: {text}")
    if name in [item.name for item in reader.items]:
        return f"{role}.{name}", [*map(str, reader.item(name).values)]
    return f"{role}.{name}", [option.word for option in reader.choice(name).options]
