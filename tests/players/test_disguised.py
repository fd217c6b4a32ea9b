"""Players under a disguise: they see and say other words, and scripted players are what they were."""

import pytest
from transcripts import play, random_states
from ventriloquist import Ventriloquist, player_of, turn_of

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.disguise import generate_disguise
from stratagem.games.key import Key
from stratagem.language.prompting.past import Past
from stratagem.players.base import Ask, Scripted, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.disguised import Disguised, disguise_player, disguised_past
from stratagem.players.human import at_keyboard

HAND, IPD = make_game("kuhn(hands=1)"), make_game("ipd-shapellm")
WORDS = dict(generate_disguise(HAND, 2).words)


class Reads(Scripted):
    """Plays the action that its texts name after `may`, and keeps what it saw."""

    traits = Traits(reads_words=True)

    def __init__(self):
        self.seen = []

    def strategy(self, view):
        self.seen.append(f"{view.rules} {view.situation} {list(view.choices)}")
        return next(word for word in view.rules.replace(",", " ").split() if word in view.choices)


@pytest.mark.parametrize("name", ["NashApprox", "random", "first-legal", "mcts:3", "noise(Bluffer, p=0.3)"])
def test_a_player_that_reads_no_words_plays_as_before(name):
    player = make_player(name, HAND)
    for seed in range(6):
        assert play(HAND, [disguise_player(player, 2), player], seed) == play(HAND, [player, player], seed)


def test_a_reader_sees_other_words_and_plays_the_same_game():
    plain, hidden = Reads(), Reads()
    for seed in range(12):
        assert play(HAND, [Disguised(hidden, 2)] * 2, seed) == play(HAND, [plain] * 2, seed)
    assert "BET" in " ".join(plain.seen)
    text = " ".join(hidden.seen)
    assert not {"BET", "PASS", "FOLD", "CALL", "bet", "poker", "chip"} & set(text.replace(".", " ").split())
    assert WORDS["bet"].upper() in text


def test_plain_words_are_illegal_under_a_disguise():
    class Says(Scripted):
        traits = Traits(reads_words=True)

        def strategy(self, view):
            return "BET"

    view = HAND.start(Key(1)).view(0)
    move = Disguised(Says(), 2).turn(Ask(view, Key(0), 0, 0, 0, None))
    assert (move.action, move.said) == (None, "BET")
    with pytest.raises(BadParameter, match="'BET' is none of the choices"):
        Disguised(Says(), 2).policy(view)


def test_reading_texts_must_be_declared():
    class Undeclared(Reads):
        traits = Traits()

    with pytest.raises(BadParameter, match=r"must declare it: Traits\(reads_words=True\)"):
        Disguised(Undeclared(), 2).policy(HAND.start(Key(1)).view(0))


def test_a_model_is_prompted_in_other_words_and_read_back():
    player, prompts = make_player("tiny", HAND), []
    under = disguise_player(player, 2)
    for state in random_states(HAND, episodes=2):
        view = state.view(state.to_act[0])
        mix = under.policy(view)
        assert set(mix) == set(view.choices)
        assert sum(mix.values()) == pytest.approx(1.0)
        seen = generate_disguise(HAND, 2).view(view)
        prompts += [message.content for message in player.speaker.style.messages(seen)]
        assert player.policy(seen) == pytest.approx({_said(action, seen): p for action, p in mix.items()})
        turn = under.turn(Ask(view, Key(5), 0, 0, 0, None))
        assert next(turn).prompt.tokens == player.speaker.prompt(seen).tokens
    assert not {"BET", "PASS", "FOLD", "CALL", "bet", "poker", "chip"} & set(" ".join(prompts).split())


def _said(action, seen):
    return next(there for there in seen.choices if seen.plain_action(there) == action)


@pytest.mark.parametrize(
    ("mode", "style", "lines", "action"),
    [
        ("free", "plain", [WORDS["bet"].upper()], "BET"),
        ("free", "plain", [f"I {WORDS['pass']}."], "PASS"),
        ("free", "plain", ["BET"], None),
        ("recover", "plain", ["well", WORDS["bet"].upper()], "BET"),
        ("constrained", "reasoned", [f"Well.\nAction: {WORDS['bet'].upper()}"], "BET"),
        ("direct", "gtbench", [WORDS["pass"].upper()], "PASS"),
    ],
)
def test_replies_of_every_mode_are_read_in_other_words(mode, style, lines, action):
    player = player_of(Ventriloquist(lines), mode, style, max_new_tokens=40)
    assert turn_of(Disguised(player, 2), HAND).action == action


@pytest.mark.parametrize(
    ("game", "style"),
    [
        ("ipd-shapellm", "shapellm-state"),
        ("ipd-shapellm", "shapellm-occurrence"),
        ("kuhn", "brief"),
        ("diplomacy", "diplomacy-counts"),
    ],
)
def test_a_style_in_plain_words_is_refused(game, style):
    with pytest.raises(BadParameter, match="take a prompt style that reads nothing else"):
        make_player(f"disguise(tiny(style={style}), seed=1)", make_game(game))


@pytest.mark.parametrize("style", ["plain", "plain(listed=False)", "bare", "gtbench", "reasoned"])
def test_styles_that_read_texts_are_admitted(style):
    assert make_player(f"disguise(tiny(style={style}), seed=1)", HAND)


def test_earlier_episodes_are_told_in_other_words():
    disguise = generate_disguise(IPD, 1)
    words = {plain: new.capitalize() for plain, new in disguise.words}
    past = Past({("C", "D"): 2, ("D", "D"): 1}, ("C", "D"), 3)
    c, d = words["C"], words["D"]
    assert disguised_past(past, disguise) == Past({(c, d): 2, (d, d): 1}, (c, d), 3)
    assert disguised_past(Past(rounds=2), disguise) == Past(rounds=2)


def test_names_make_the_player_again(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[words]\nBET = "ZUG"\n')
    for name in (
        "disguise(kuhn/NashApprox, seed=3)",
        "noise(disguise(tiny, seed=0), p=0.1)",
        f"disguise(tiny, file={str(path)!r})",
    ):
        player = make_player(name, HAND)
        assert player.name == name
        assert make_player(player.name, HAND) == player
    assert disguise_player(make_player("noise(tiny, p=0.1)", HAND), 0).name == "noise(disguise(tiny, seed=0), p=0.1)"
    assert at_keyboard(make_player("disguise(human)", HAND))


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[words]\nBET = "ZUG"\n')
    player = make_player(f"disguise(tiny, file={str(path)!r})", HAND)
    assert player.disguise(HAND).words == (("bet", "zug"),)
    path.write_text('[words]\nBET = "ZOGG"\n')
    assert player.disguise(HAND).words == (("bet", "zogg"),)


@pytest.mark.parametrize(
    ("name", "game", "why"),
    [
        ("disguise(random, seed=-1)", "kuhn", "`seed` of at least 0"),
        ("disguise(random, file=3)", "kuhn", "`file` as a path"),
        ("disguise(random, file=/nowhere.toml)", "kuhn", "cannot be read"),
        ("disguise(disguise(random))", "kuhn", "only once"),
        ("disguise(noise(disguise(random)))", "kuhn", "only once"),
        ("disguise(random)", "spiel:kuhn_poker(players=3)", "told by its name"),
        ("disguise(tiny(mode=single))", "kuhn", "actions of one token each"),
    ],
)
def test_what_cannot_be_disguised_is_one_sentence(name, game, why):
    with pytest.raises(StratagemError, match=why):
        make_player(name, make_game(game))
