"""Replies asked of players: what counts, what is one reply, and what is not asked for twice."""

from dataclasses import dataclass, field
from itertools import count

import numpy as np
import pytest

from stratagem.base.errors import CannotCompute
from stratagem.games import Key, make_game
from stratagem.language.engines.base import Call, Capabilities, PolicyId, Prompt, Request, RequestAnswer
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.exploitability.replies import sampled_exploitability
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.sampled.asking import ReplyAsker
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import measured_limits
from stratagem.measure.sampled.questions import questions_of
from stratagem.measure.tree_policy import oracle_of
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import BatchQueue

KUHN = make_game("kuhn")
LONG = "Thinking about it for a while, I come to the conclusion that this is the best that I can play: "


def said(prompt, text):
    return Call(policy=PolicyId("m"), prompt=prompt, text=text)


@dataclass
class IdServer:
    """Says BET in each situation, with ids of its answers by their number and that of the question."""

    ids: object
    name: str = "server"
    asked: dict = field(default_factory=dict)
    traits = Traits(stochastic=True, memory=None, exact=False, repeats=False)

    def turn(self, ask):
        place = self.asked[ask.view.info_key] = self.asked.get(ask.view.info_key, -1) + 1
        call = Call(policy=PolicyId("m"), prompt=Prompt(()), text="BET", answer_id=self.ids(ask.view.info_key, place))
        return Move(ask.view.choices.first, "free", (call,))


@dataclass
class Told:
    """Plays and says what a function of the ask tells; it cannot state its probabilities."""

    tells: object
    stochastic: bool = True
    repeats: bool = False
    name: str = "told"
    asked: list = field(default_factory=list)

    @property
    def traits(self):
        return Traits(stochastic=self.stochastic, memory=None, exact=False, repeats=self.repeats)

    def policy(self, view):
        raise CannotCompute("told tells nothing.")

    def turn(self, ask):
        self.asked.append((ask.view.info_key, ask.key.value))
        action, text = self.tells(ask)
        return Move(action, "free" if action else "illegal", (said(Prompt(()), text),))


def coin(ask):
    return ask.view.choices.sample(ask.key), ""


def asker_of(player, game=KUHN, **options):
    oracle = oracle_of(game)
    return ReplyAsker(player, questions_of(oracle.tree, player), Key(5), **options)


def evenly(asker, count):
    return asker(np.full(len(asker.questions), count))


def test_each_situation_is_asked_as_often_as_told_and_goes_on_from_there():
    player = Told(coin)
    asker = asker_of(player)
    numbers = np.arange(12)
    first, second = asker(numbers), asker(numbers)
    assert asker.questions.sums(first.counts).tolist() == numbers.tolist()
    assert len(player.asked) == len({key for _, key in player.asked}) == 2 * numbers.sum(), "each has a key of its own"
    asked = [known for known, _ in player.asked]
    assert [asked.count(known.view.info_key) for known in asker.questions.sets] == (2 * numbers).tolist()
    assert (first + second).counts.sum() == 2 * numbers.sum()


def test_seats_that_choose_at_once_are_asked_alone():
    player = Told(coin)
    asker = asker_of(player, make_game("ipd(rounds=2)"))
    assert evenly(asker, 1).counts.sum() == len(asker.questions) == len(player.asked)


def test_replies_without_an_action_are_counted_as_the_action_of_the_game():
    asker = asker_of(Told(lambda ask: (None, "I would rather not.")))
    tally = evenly(asker, 3)
    assert tally.legal.sum() == 0
    defaults = [KUHN.default_action(known.view.facts) for known in asker.questions.sets]
    slots = [
        asker.questions.slots[n] + known.actions.index(defaults[n]) for n, known in enumerate(asker.questions.sets)
    ]
    assert tally.counts[slots].tolist() == [3.0] * 12
    assert tally.counts.sum() == 36


def test_last_of_several_attempts_is_the_reply():
    game = make_game("spiel:kuhn_poker")
    assert game.spec.retries == 1
    asker = asker_of(Told(lambda ask: coin(ask) if ask.attempt else (None, "Let me think.")), game)
    assert evenly(asker, 1).legal.sum() == len(asker.questions)


def test_game_without_an_action_for_illegal_replies_is_refused():
    asker = asker_of(Told(lambda ask: (None, "")), make_game("ipd(rounds=1)"))
    with pytest.raises(CannotCompute, match="no action for a reply that is none"):
        evenly(asker, 1)


@pytest.mark.parametrize(
    ("text", "traits", "effective"),
    [
        ("BET", {}, 6.0),  # short replies are alike by nature
        (LONG, {}, 1.0),  # a cache may have given all of them
        (LONG, {"repeats": True}, 6.0),  # each was drawn by a key of its own
        ("BET", {"stochastic": False}, 1.0),  # temperature 0
    ],
)
def test_equal_long_replies_of_a_server_are_one_observation(text, traits, effective):
    asker = asker_of(Told(lambda ask: (ask.view.choices.first, text), **traits))
    assert evenly(asker, 6).num_independent(asker.questions).tolist() == [effective] * 12


@pytest.mark.parametrize(
    ("ids", "effective"),
    [
        (lambda known, place: f"{known}/{place}", 6.0),
        (lambda known, place: known, 1.0),  # a cache gives its answer again, with its id
        (lambda known, place: f"{known}/{place // 2}", 3.0),
        (lambda known, place: "", 6.0),
        (lambda known, place: "chatcmpl", 6.0),  # an id of several answers names none
    ],
)
def test_short_replies_of_one_answer_are_one_observation(ids, effective):
    asker = asker_of(IdServer(ids))
    assert evenly(asker, 6).num_independent(asker.questions).tolist() == [effective] * 12


def test_answers_of_the_pilot_that_come_again_leave_no_lower_limit():
    oracle = oracle_of(KUHN)
    for fresh in (False, True):
        ids = (lambda known, place: f"{known}/{place}") if fresh else (lambda known, place: f"{known}/{place % 3}")
        server = IdServer(ids)
        gain = ResponseGain(oracle, questions_of(oracle.tree, server))
        found = measured_limits(gain, ReplyAsker(server, gain.questions, Key(3)), 240, Key(3))
        assert found.is_fresh is fresh
        assert (found.lower > 0.0) is fresh  # it always takes the first action, which loses


def test_copies_are_counted_by_their_squares():
    """Of six replies three are one and two are another: 36 / (9 + 4 + 1)."""
    texts = iter([LONG + letter for letter in "aaabbc"])
    asker = asker_of(Told(lambda ask: (ask.view.choices.first, next(texts))))
    tally = asker(np.array([6, *[0] * 11]))
    assert tally.num_independent(asker.questions)[0] == pytest.approx(36 / 14)


def test_player_that_always_plays_the_same_is_measured_exactly():
    """Against OpenSpiel-checked exact figures; one reply a situation."""
    bets = make_player("AlwaysBet", KUHN)
    player = Told(lambda ask: (bets.turn(ask).action, ""), stochastic=False, repeats=True)
    found = sampled_exploitability(KUHN, player, Key(1), 5)
    truth = exact(KUHN, bets).exploitability
    assert [found.estimate.low, found.exploitability, found.estimate.high] == [pytest.approx(truth)] * 3
    assert (len(player.asked), found.basis.num_replies, found.basis.num_illegal) == (12, 12, 0)
    moves = {move.info_key: move.action for move in found.moves}
    assert {known: action for known, action in moves.items() if known[0] in "JK" and known[-1] == "B"}


def test_sampled_limits_hold_the_exact_figure():
    uniform = make_player("random", KUHN)
    found = sampled_exploitability(KUHN, Told(lambda ask: (uniform.turn(ask).action, "")), Key(2), 25)
    assert found.estimate.low < exact(KUHN, uniform).exploitability < found.estimate.high
    assert found.basis.legal_only == pytest.approx(found.exploitability)
    assert found.basis.num_replies == 300


class Server:
    """Engine that says something else each time it is asked."""

    name = "server"
    capabilities = Capabilities(masks=False, scores=False, repeats=False)


class Waiting(BatchQueue):
    """Answers some requests at a time, and is interrupted after a number of them."""

    def __init__(self, numbers, stops_at=10**9):
        super().__init__(None)
        self.numbers, self.answered, self.stops_at = numbers, [], stops_at

    def poll(self):
        if len(self.answered) >= self.stops_at:
            raise KeyboardInterrupt
        tickets = list(self._open)[:7]
        return [RequestAnswer(ticket, self.reply(self._open.pop(ticket))) for ticket in tickets]

    def reply(self, request):
        self.answered.append(request.key.value)
        return said(request.prompt, str(next(self.numbers)))


def asking(server):
    def turn(ask):
        call = yield Request(engine=server, prompt=Prompt((("user", ask.view.info_key),)), guide=None, key=ask.key)
        return Move(ask.view.choices.sample(Key(int(call.text))), "free", (call,))

    player = Told(None, name="asking")
    player.turn = turn
    return player


def test_stopped_measurement_goes_on_and_asks_nothing_twice(tmp_path):
    """The replies of the first try are those of the second; the pilot is whole, and the second stage was begun."""
    numbers, player = count(), asking(Server())
    record = ResumableRecord(tmp_path, {})
    first = Waiting(numbers, stops_at=60)
    with pytest.raises(KeyboardInterrupt):
        sampled_exploitability(KUHN, player, Key(3), 10, record=record, queue=first)
    second = Waiting(numbers)
    record = ResumableRecord(tmp_path, {}, resume=True)
    found = sampled_exploitability(KUHN, player, Key(3), 10, record=record, queue=second)
    assert 30 < len(first.answered) < 120
    assert not set(first.answered) & set(second.answered)
    assert len(first.answered) + len(second.answered) == found.basis.num_replies == 120
    third = Waiting(numbers)
    again = sampled_exploitability(
        KUHN, player, Key(3), 10, record=ResumableRecord(tmp_path, {}, resume=True), queue=third
    )
    assert third.answered == []
    assert again == found


def test_model_reads_each_prompt_once_for_512_questions():
    player = make_player("tiny", KUHN)
    asker = asker_of(player)
    read = [player.speaker.engine.reader.num_tokens]
    for times in (2, 30):
        asker.ask(np.full(len(asker.questions), times))
        read.append(player.speaker.engine.reader.num_tokens)
    assert 0 < read[2] - read[1] < 2 * (read[1] - read[0])
