"""Memory of a seat from episode to episode, round by round, against the record."""

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import Fake, setups

from stratagem.base.errors import BadParameter, BadRecord, UnknownName
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.prompting.catalogue import make_style
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.players.base import Move
from stratagem.playing.forks import forks, replay
from stratagem.playing.match import Match, Setup
from stratagem.playing.memory import MEMORIES, carry_memory, check_memory, joint_actions
from stratagem.playing.scheduler import play
from stratagem.playing.store import read_episodes, write_shard
from stratagem.playing.workers.shards import play_setups

STYLES = {"none": "base", "last": "state", "episode": "occurrence", "trial": "occurrence"}
"""ShapeLLM's prompt for every memory."""
ASKED = "Reply with C or D only."


class Scribe(Fake):
    """Plays a line of a script each round, nothing legal where it has a dash, and keeps what it was told."""

    def __init__(self, script, style="shapellm-base"):
        super().__init__(self._turn)
        self.script, self.style, self.told = script, make_style(style), []

    def _turn(self, ask):
        (message,) = self.style.messages(ask.view, ask.past)
        self.told.append(message.content)
        said = self.script[len(self.told) - 1]
        return Move(None if said == "-" else said, "free")


def pasts(memories, earlier):
    """Return the memory of every player, by slot."""
    return tuple(carry_memory(memory, earlier, slot) for slot, memory in enumerate(memories))


def trial(memories, scripts, game="ipd-shapellm(rounds=4)", episodes=2):
    """Episodes of one environment, and the players who sat through them."""
    players = [Scribe(s, f"shapellm-{STYLES[m]}") for s, m in zip(scripts, memories, strict=True)]
    match, done = Match(make_game(game), players), []
    for number in range(episodes):
        setup = Setup(id=str(number), match=match, slots=(0, 1), key=Key(number), pasts=pasts(memories, done))
        done += play([setup])
    return done, players


def history(prompt):
    """Return the part of a prompt beside the rules and the question."""
    lines = prompt.splitlines()
    assert lines[-1] == ASKED
    return " ".join(line.removeprefix("How often each pair was played before the last round, yours first: ")
                    for line in lines[5:-1])  # fmt: skip


MINE, THEIRS = "CD-CDDCC", "CCDCDC-D"
"""Episode one: C/C, D/C, a null action, C/C. Episode two: D/D, D/C, a null action, C/D."""
LAST = "Last round you played {}, they played {}.".format
TOLD = {
    "none": [""] * 8,
    "last": ["", LAST("C", "C"), LAST("D", "C"), LAST("D", "C"), "", LAST("D", "D"), LAST("D", "C"), LAST("D", "C")],
    "episode": [
        "",
        LAST("C", "C"),
        "C/C 1, C/D 0, D/C 0, D/D 0. " + LAST("D", "C"),
        "C/C 1, C/D 0, D/C 0, D/D 0. " + LAST("D", "C"),
        "",
        LAST("D", "D"),
        "C/C 0, C/D 0, D/C 0, D/D 1. " + LAST("D", "C"),
        "C/C 0, C/D 0, D/C 0, D/D 1. " + LAST("D", "C"),
    ],
    "trial": [
        "",
        LAST("C", "C"),
        "C/C 1, C/D 0, D/C 0, D/D 0. " + LAST("D", "C"),
        "C/C 1, C/D 0, D/C 0, D/D 0. " + LAST("D", "C"),
        "C/C 1, C/D 0, D/C 1, D/D 0. " + LAST("C", "C"),
        "C/C 2, C/D 0, D/C 1, D/D 0. " + LAST("D", "D"),
        "C/C 2, C/D 0, D/C 1, D/D 1. " + LAST("D", "C"),
        "C/C 2, C/D 0, D/C 1, D/D 1. " + LAST("D", "C"),
    ],
}


@pytest.mark.parametrize("memory", MEMORIES)
def test_two_episodes_as_each_memory_is_told_of_them(memory):
    _, (first, _) = trial([memory, "none"], [MINE, THEIRS])
    assert [history(prompt) for prompt in first.told] == TOLD[memory]


def test_the_other_seat_remembers_the_same_from_its_side():
    _, (first, second) = trial(["trial", "trial"], [MINE, THEIRS])
    assert [history(prompt) for prompt in first.told] == TOLD["trial"]
    assert history(second.told[4]) == "C/C 1, C/D 1, D/C 0, D/D 0. " + LAST("C", "C")
    assert history(second.told[7]) == "C/C 2, C/D 1, D/C 0, D/D 1. " + LAST("C", "D")


def test_a_trial_that_begins_without_a_legal_round_begins_with_the_base_prompt():
    _, (first, _) = trial(["trial", "none"], ["--CD----", "C-CC----"])
    assert [history(prompt) for prompt in first.told] == [
        "", "", "", LAST("C", "C"),
        *["C/C 1, C/D 0, D/C 0, D/D 0. " + LAST("D", "C")] * 4,
    ]  # fmt: skip


def test_environments_side_by_side_remember_themselves_alone():
    scripts = [("CCCC", "CCCC"), ("DDDD", "CCCC")]
    before = [trial(["trial", "none"], script, episodes=1)[0] for script in scripts]
    heard = []
    listening = Fake(lambda ask: heard.append(ask.past.counts) or Move("C"))
    match = Match(make_game("ipd-shapellm(rounds=4)"), [listening, None])
    listed = [
        Setup(id=str(number), match=match, slots=(0, 1), key=Key(1), pasts=pasts(["trial", "none"], done))
        for number, done in enumerate(before)
    ]
    assert [episode.pasts[0] for episode in play_setups(listed)] == [carry_memory("trial", done, 0) for done in before]
    assert heard == [{("C", "C"): 4}] * 4 + [{("D", "C"): 4}] * 4


GAMES = [
    "ipd-shapellm",
    "imp",
    "ipd(continuation=0.7)",
    "icg(labels_second=[N,M])",
    "auction(seats=3)",
    "negotiation-v1",
]


def clumsy(ask):
    return Move(None) if ask.key.unit() < 0.2 else Move(ask.view.choices.sample(ask.key))


@pytest.mark.parametrize("game", GAMES)
def test_counts_equal_a_recount_of_the_record(game):
    seats = make_game(game).spec.seats
    done = list(play(setups(game, [Fake(clumsy)] * seats, 40)))
    assert len({episode.slots for episode in done}) == seats
    for slot in range(seats):
        past = carry_memory("trial", done, slot)
        recount, last, rounds = Counter(), None, 0
        for episode in done:
            for turn in range(len(episode.rounds)):
                rows = {row.slot: row.action for row in episode.decisions if row.turn == turn}
                rounds += 1
                if None not in rows.values():
                    last = (rows.pop(slot), *(action for _, action in sorted(rows.items())))
                    recount[last] += 1
        assert past == Past(recount, last, rounds)
        assert 0 < sum(past.counts.values()) < past.rounds


@pytest.mark.parametrize("game", ["ipd-shapellm", "imp", "icg(labels_second=[N,M])"])
def test_counts_equal_what_the_seats_saw_at_the_end(game):
    done = list(play(setups(game, [Fake(clumsy)] * 2, 12)))
    for slot in (0, 1):
        seen = Counter()
        for episode in done:
            facts = replay(episode).view(episode.seat_of(slot)).facts
            pairs = zip(facts.mine, facts.theirs, strict=True)
            seen.update((facts.labels[mine], facts.their_labels[theirs]) for mine, theirs in pairs)
        assert carry_memory("trial", done, slot).counts == seen


def test_of_several_attempts_the_last_counts():
    game = make_game("ipd-shapellm(rounds=3)")
    match = Match(game, [Fake(lambda ask: Move("C" if ask.attempt else None)), None])
    match.retries = 1
    (episode,) = play([Setup(id="x", match=match, slots=(0, 1), key=Key(1))])
    assert len(episode.decisions) == 9
    assert carry_memory("trial", [episode], 0) == Past({("C", "C"): 3}, ("C", "C"), 3)


@pytest.mark.parametrize("memory", ["none", "last", "episode"])
def test_only_a_trial_is_carried_over(memory):
    done = list(play(setups("ipd-shapellm", ["Random", "Random"], 2)))
    assert carry_memory(memory, done, 0) is NOTHING
    assert carry_memory("trial", [], 0) == NOTHING
    assert pasts([memory, "trial"], done) == (NOTHING, carry_memory("trial", done, 1))


def mindful(ask):
    """Plays what follows from what it sees and remembers, and now and then nothing."""
    number = Key(0).at(f"{ask.view.info_key} {ask.past}").integer(5)
    return Move([None, "C", "C", "D", "D"][number])


def environment(before=3):
    """A match of such players, and a table whose seats remember `before` episodes."""
    match = Match(make_game("ipd-shapellm"), [Fake(mindful), Fake(mindful)])
    done = []
    for number in range(before):
        now = pasts(["trial", "trial"], done)
        done += play([Setup(id=f"e{number}", match=match, slots=(0, 1), key=Key(number), pasts=now)])
    return match, done


@pytest.mark.parametrize("at", [0, 1, 7, 19])
def test_a_forked_table_goes_on_as_the_unforked_one(at):
    match, done = environment()
    parent = done[-1]
    assert parent.pasts[0].counts
    (fork,) = play(forks(parent, match, 1, Key(5), at=at))
    (again,) = play(forks(fork, match, 1, Key(6), at=19, parents={parent.id: parent}))
    assert fork.pasts == parent.pasts == again.pasts
    assert fork.decisions == [row for row in parent.decisions if row.turn >= at]
    assert again.decisions == parent.decisions[-2:]
    family = {episode.id: episode for episode in (parent, fork)}
    for slot in (0, 1):
        whole = carry_memory("trial", done, slot)
        assert carry_memory("trial", [*done[:-1], fork], slot, family) == whole
        assert carry_memory("trial", [*done[:-1], again], slot, family) == whole


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_of_a_fork_that_is_cut_short_only_what_led_to_its_end_counts(rounds):
    match, (*_, parent) = environment()
    (setup,) = forks(parent, match, 1, Key(5), at=7)
    (fork,) = play([replace(setup, rounds=rounds)])
    led = list(joint_actions(parent, 0))[: 7 + rounds]
    assert list(joint_actions(fork, 0, {parent.id: parent})) == led
    assert carry_memory("trial", [fork], 0, {parent.id: parent}).rounds == 7 + rounds


def test_what_is_remembered_changes_what_is_played():
    match, done = environment()
    (other,) = play([Setup(id="other", match=match, slots=(0, 1), key=Key(2))])
    assert other.decisions != done[-1].decisions


def test_pasts_are_kept_on_disk(tmp_path):
    _, done = environment()
    done[0] = replace(done[0], pasts=(NOTHING, Past({("a/b", "ü"): 2**40}, ("a/b", "ü"), 2**41)))
    assert done[1].pasts != done[2].pasts != ()
    write_shard(tmp_path, 0, [*done, *play(setups("kuhn", ["random", "random"], 2))])
    read = list(read_episodes(tmp_path))
    assert read[:3] == done
    assert [episode.pasts for episode in read[3:]] == [(), ()]
    (fork,) = play(forks(read[2], environment(0)[0], 1, Key(5), at=9))
    assert fork.decisions == done[2].decisions[18:]


def of_version_2(path):
    """The file as it was before there were pasts."""
    table = pq.read_table(path).replace_schema_metadata({b"stratagem_schema_version": b"2"})
    pq.write_table(table.drop_columns([name for name in ["pasts"] if name in table.column_names]), path)


def test_records_of_before_are_read_too(tmp_path):
    done = list(play(setups("ipd", ["random", "random"], 4)))
    write_shard(tmp_path, 0, done)
    write_shard(tmp_path, 1, [])
    for path in tmp_path.glob("*/*.parquet"):
        of_version_2(path)
    assert "pasts" not in pq.read_schema(tmp_path / "episodes" / "000000.parquet").names
    assert list(read_episodes(tmp_path)) == done


def test_a_record_of_now_without_pasts_is_refused(tmp_path):
    write_shard(tmp_path, 0, list(play(setups("ipd", ["random", "random"], 2))))
    path = tmp_path / "episodes" / "000000.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["pasts"]), path)
    with pytest.raises(BadRecord, match="has no column pasts"):
        list(read_episodes(tmp_path))


def test_other_readers_see_a_list_of_counts(tmp_path):
    _, done = environment(2)
    write_shard(tmp_path, 0, done)
    (_, (first, _)) = pa.table(pq.read_table(tmp_path / "episodes")).column("pasts").to_pylist()
    assert {tuple(row["joint"]): row["count"] for row in first["counts"]} == done[1].pasts[0].counts


@pytest.mark.parametrize(
    ("memory", "style", "game", "said"),
    [
        ("none", "plain", "ipd", "a style that tells of no round of the episode, and this one tells of all rounds"),
        ("last", "shapellm-base", "ipd", "tells of the last round of the episode, and this one tells of no round"),
        ("trial", "shapellm-state", "ipd", "tells of all rounds of the episode, and this one tells of the last round"),
        ("trial", "plain", "ipd", "which this style does not tell of: take a style"),
        ("trial", "shapellm-occurrence", "kuhn", "in kuhn they take turns"),
    ],
)
def test_memories_that_a_style_or_a_game_does_not_admit_are_refused(memory, style, game, said):
    with pytest.raises(BadParameter, match=said):
        check_memory(memory, make_style(style), make_game(game))


@pytest.mark.parametrize("memory", MEMORIES)
def test_memories_that_fit_are_not_refused(memory):
    check_memory(memory, make_style(f"shapellm-{STYLES[memory]}"), make_game("ipd-shapellm"))
    check_memory("episode", make_style("plain"), make_game("kuhn"))


def test_a_memory_that_does_not_exist_is_refused():
    with pytest.raises(UnknownName, match="no memory called 'trail': did you mean trial"):
        carry_memory("trail", [], 0)
    with pytest.raises(UnknownName, match="episode, last, none, trial"):
        check_memory("x", make_style("plain"), make_game("ipd"))


def test_what_cannot_be_counted_is_one_sentence():
    kuhn = list(play(setups("kuhn", ["random", "random"], 1)))
    with pytest.raises(BadRecord, match="turns at which not every seat chose"):
        carry_memory("trial", kuhn, 0)
    bare = list(play(setups("ipd", ["random", "random"], 1), detail=False))
    with pytest.raises(BadRecord, match="recorded without its decisions, so they cannot be counted"):
        carry_memory("trial", bare, 0)
    match, done = environment()
    (fork,) = play(forks(done[-1], match, 1, Key(5), at=4))
    with pytest.raises(BadRecord, match="forked from e2, which is not among the episodes given"):
        list(joint_actions(fork, 0))


def test_pasts_are_one_for_each_player():
    match, _ = environment(0)
    with pytest.raises(BadParameter, match="x has 2 players and 1 pasts"):
        Setup(id="x", match=match, slots=(0, 1), key=Key(1), pasts=(NOTHING,))
