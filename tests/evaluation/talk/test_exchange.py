"""Exact figures of an exchange against an enumeration of all plays by loops of its own."""

from itertools import product
from math import log

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.games.base import View
from stratagem.games.talk import MOVE, SILENT, Promise
from stratagem.measure.talk.talk_tree import TalkTree
from stratagem.measure.talk.tree_source import exchange_figures
from stratagem.players.catalogue import make_player

KUHN = "talk(kuhn(hands=1), before=round, order='in turn', intents=[state])"
PLEAS = "talk(ipd(rounds=2), intents=[move, ask])"
ONCE = "talk(ipd(rounds=1))"
TWICE = "talk(ipd(rounds=1), rounds=2)"
NASH, MIXED = "NashApprox", "obliging(Mixed(p=0.2), p=0.5)"


def starts(game):
    """Return every deal of one card each, or the one start of a game without chance, with its probability."""
    if "kuhn" not in game.spec.name:
        return [(1.0, game.start(Key(0)))]
    deals = {}
    for number in range(200):
        state = game.start(Key(number))
        deals[tuple(state.view(seat).facts.inner.card for seat in (0, 1))] = state
    assert len(deals) == 6
    return [(1 / 6, state) for state in deals.values()]


def quiet(view, places):
    """Return a view with silence in some places of the talk."""
    said = tuple(m._replace(text="") if n in places else m for n, m in enumerate(view.facts.messages))
    return View(view.game, view.seat, view.facts._replace(messages=said))


class Enumeration:
    """All plays of two players, one by one."""

    def __init__(self, text, players, speaker, number):
        self.game = make_game(text)
        self.players = [make_player(player, self.game) for player in players]
        self.speaker, self.number = speaker, number

    def mix(self, state, seat, deaf=()):
        view = state.view(seat)
        places = range(len(view.facts.messages)) if deaf == "all" else deaf
        places = [n for n in places if deaf != "all" or view.facts.messages[n].sender != seat]
        return {a: p for a, p in self.players[seat].policy(quiet(view, places)).items() if p > 0}

    def after(self, state, fixed=None, deaf=()):
        """Yield the next positions with probabilities; `fixed` sets actions, the reader hears nothing in `deaf`."""
        sets = {seat: {action: 1.0} for seat, action in (fixed or {}).items()}
        mixes = [
            (sets.get(seat) or self.mix(state, seat, deaf * (seat != self.speaker))).items() for seat in state.to_act
        ]
        for joint in product(*mixes):
            copy, p = state.fork(), 1.0
            for _, share in joint:
                p *= share
            actions = {seat: action for seat, (action, _) in zip(state.to_act, joint, strict=True)}
            result = copy.play(actions)
            yield p, copy, actions, result.payoffs

    def value(self, state, fixed=None, deaf=()):
        """Return the expected returns from here on."""
        if state.over:
            return 0.0, 0.0
        total = [0.0, 0.0]
        for p, after, _, paid in self.after(state, fixed, deaf):
            later = self.value(after, None, deaf)
            for seat in (0, 1):
                total[seat] += p * (paid[seat] + later[seat])
        return tuple(total)

    def occasions(self, p=1.0, state=None, spoken=0, history=()):
        """Yield the positions at which the speaker speaks for the time that is measured."""
        if state is None:
            for share, start in starts(self.game):
                yield from self.occasions(share, start)
        elif not state.over:
            speaks = state.exchange != MOVE and self.speaker in state.to_act
            if speaks and spoken == self.number:
                yield p, state, history
            else:
                for share, after, actions, _ in self.after(state):
                    yield from self.occasions(p * share, after, spoken + speaks, (*history, tuple(actions.items())))

    def lines(self):
        """Yield each message with its probability, its position, its public history and its place in the talk."""
        for p, state, history in self.occasions():
            place = len(state.messages) + state.to_act.index(self.speaker)
            for line, share in self.mix(state, self.speaker).items():
                yield p * share, state, history, line, place

    def first_moves(self, state, fixed=None, made=()):
        """Return the distribution of both seats' first moves."""
        if len(made) == 2 or state.over:
            return {frozenset(made): 1.0}
        found = {}
        for p, after, actions, _ in self.after(state, fixed):
            seen = dict(made)
            if state.exchange == MOVE:
                seen = {**actions, **seen}
            for plays, share in self.first_moves(after, None, tuple(seen.items())).items():
                found[plays] = found.get(plays, 0.0) + p * share
        return found

    def bound(self, kind):
        """Return the probability of what is bound, what is kept of it, and what would be after silence."""
        total = [0.0, 0.0, 0.0]
        for p, state, _, line, place in self.lines():
            intent = self.game.spoken_language.read(line)
            if isinstance(intent, Promise) and intent.kind == kind:
                for share, after, _, _ in self.after(state, {self.speaker: line}):
                    row = self.first_bound(p * share, after, intent, self.speaker ^ (kind == "ask"), place)
                    total = [a + b for a, b in zip(total, row, strict=True)]
        return total

    def first_bound(self, p, state, intent, seat, place):
        if state.over:
            return 0.0, 0.0, 0.0
        if state.exchange == MOVE and seat in state.to_act:
            inner = state.inner.view(seat)
            if all(intent.kept(inner, action) is not None for action in inner.choices):
                shares = [
                    sum(q for action, q in self.players[seat].policy(view).items() if intent.kept(inner, action))
                    for view in (state.view(seat), quiet(state.view(seat), [place]))
                ]
                return p, *(p * share for share in shares)
        rows = [self.first_bound(p * q, after, intent, seat, place) for q, after, _, _ in self.after(state)]
        return tuple(map(sum, zip(*rows, strict=True)))


def entropy(masses):
    total = sum(masses)
    return -sum(p / total * log(p / total) for p in masses if p > 0)


def summed(rows):
    found = {}
    for key, p in rows:
        found[key] = found.get(key, 0.0) + p
    return list(found.values())


@pytest.mark.parametrize(
    ("text", "players", "speaker", "number"),
    [
        (KUHN, (f"liar({NASH})", f"believer({NASH})"), 0, 0),
        (KUHN, (f"believer({NASH})", f"liar({NASH}, p=0.5)"), 1, 0),
        (ONCE, ("honest(Mixed(p=0.3))", MIXED), 0, 0),
        (ONCE, (MIXED, "random"), 1, 0),
        pytest.param(PLEAS, ("honest(Mixed(p=0.3))", MIXED), 0, 0, marks=pytest.mark.long),
        pytest.param(PLEAS, (MIXED, "honest(Mixed(p=0.3))"), 1, 1, marks=pytest.mark.long),
        pytest.param(TWICE, ("random", MIXED), 0, 1, marks=pytest.mark.long),
        pytest.param(TWICE, ("babbler(Mixed(p=0.4))", "random"), 1, 0, marks=pytest.mark.long),
    ],
)
def test_the_tree_and_the_loops_agree(text, players, speaker, number):
    loops = Enumeration(text, players, speaker, number)
    found = exchange_figures(TalkTree(loops.game, loops.players), speaker, number)
    lines, order = list(loops.lines()), (speaker, 1 - speaker)
    spoken = sum(p for p, *_, line, _ in lines if line != SILENT)
    assert found.messages == pytest.approx(spoken / sum(row[0] for row in lines))

    histories = {}
    for p, state, history, line, _ in lines:
        histories.setdefault(history, []).append((p, state.view(speaker).info_key, line))
    information = 0.0
    for rows in histories.values():
        views, said, both = (summed((row[part], row[0]) for row in rows) for part in (1, 2, slice(1, None)))
        information += sum(views) * (entropy(views) + entropy(said) - entropy(both))
    assert found.state_information == pytest.approx(information / sum(row[0] for row in lines), abs=1e-9)

    for kind, figures in (("move", (found.keeping, found.keeping_lift)), ("ask", (found.met, found.met_lift))):
        p, kept, silent = loops.bound(kind)
        assert figures == ((None, None) if not p else pytest.approx((kept / p, (kept - silent) / p)))

    variation, by_table, by_reader = 0.0, [0.0, 0.0], [0.0, 0.0]
    for p, state, _, line, place in lines:
        if line == SILENT:
            continue
        said, silence = (loops.first_moves(state, {speaker: said}) for said in (line, SILENT))
        variation += p * sum(abs(said.get(k, 0) - silence.get(k, 0)) for k in {*said, *silence}) / 2
        heard, nothing, deaf = (
            loops.value(state, {speaker: line}),
            loops.value(state, {speaker: SILENT}),
            loops.value(state, {speaker: line}, (place,)),
        )
        for place_of, seat in enumerate(order):
            by_table[place_of] += p * (heard[seat] - nothing[seat])
            by_reader[place_of] += p * (heard[seat] - deaf[seat])
    if spoken:
        assert found.effect_on_table == pytest.approx(variation / spoken)
        assert found.gain_by_table == pytest.approx([gain / spoken for gain in by_table])
        assert found.gain_by_reader == pytest.approx([gain / spoken for gain in by_reader])

    begun = starts(loops.game)
    values, deaf = (
        [sum(p * loops.value(state, None, how)[seat] for p, state in begun) for seat in order] for how in ((), "all")
    )
    assert found.returns == pytest.approx(values)
    assert found.gullibility == pytest.approx(deaf[1] - values[1])


def test_the_second_of_two_speakers_knows_the_first_message_and_is_measured_given_it():
    """It sees nothing but the first message, so given that message its own tells nothing."""
    loops = Enumeration("talk(ipd(rounds=1), order='in turn')", ("babbler(random)", "babbler(random)"), 1, 0)
    found = exchange_figures(TalkTree(loops.game, loops.players), 1)
    assert found.state_information == pytest.approx(0.0, abs=1e-9)
    assert found.action_information == pytest.approx(0.0, abs=1e-9)


def test_there_is_no_exchange_after_the_last():
    loops = Enumeration(ONCE, ("random", "random"), 0, 0)
    with pytest.raises(BadParameter, match=r"Seat 0 says nothing in exchange 2 of .+: its last one is exchange 1\.$"):
        exchange_figures(TalkTree(loops.game, loops.players), 0, 1)


def test_a_promise_binds_the_first_decision_alone():
    """One talk before two rounds: the alternating player keeps its word in the first alone."""
    game = "talk(ipd(rounds=2), interval=2, who=[0], intents=[move])"
    loops = Enumeration(game, ("honest(AlternateDefect)", "random"), 0, 0)
    found = exchange_figures(TalkTree(loops.game, loops.players), 0)
    assert (found.keeping, found.keeping_lift, found.met) == (1.0, 0.0, None)
