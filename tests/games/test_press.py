"""Press Diplomacy: who may talk when, what promises mean in orders, saved games with messages, and DumbBot's word."""

import json

import pytest
from diplomacy.utils.export import from_saved_game_format, is_valid_saved_game

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.games.conformance import verify
from stratagem.games.talk import MOVE, SILENT, Message, language_of, moving, without_talk
from stratagem.measure.hostility import hostility
from stratagem.measure.matchups import Matchup
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.metrics.peace import kingmakers
from stratagem.measure.recorded_phases import movements
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.catalogue import make_player, player_names
from stratagem.players.talkers import Silent
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

TWO = "diplomacy(until=1902, only=[FRANCE, GERMANY], judged=False)"
THREE = "talk(diplomacy(until=1901, only=[TURKEY, RUSSIA, AUSTRIA], judged=False), {options})"
SPRING = ("A MAR H\nA PAR - BUR\nF BRE H", "A BER H\nA MUN - RUH\nF KIE H")


def start(text):
    return make_game(text).start(Key(0))


def order(state, *sheets):
    state.play(
        {
            seat: state.view(seat).choices.canonical(sheets[seat].split("\n")) if sheets else None
            for seat in state.to_act
        }
    )


def speak(state, *lines):
    state.play(dict(zip(state.to_act, lines, strict=True)))


def fall(options="rounds=1", **said):
    """Return the game of France and Germany in Fall 1901: armies in Burgundy and Ruhr; `said` in its first exchange."""
    state = start(f"talk({TWO}, {options})")
    while state.exchange != MOVE:
        speak(state, SILENT, SILENT)
    order(state, *SPRING)
    if said:
        speak(state, said.get("france", SILENT), said.get("germany", SILENT))
    return state


def line_of(player, state, seat, seed=0):
    return player.turn(Ask(state.view(seat), Key(seed), seat, 0, 0, None)).action


@pytest.mark.long
@pytest.mark.parametrize(
    "text", [f"talk({TWO}, rounds=2)", THREE.format(options="channel=private, rounds=2"), "talk(diplomacy(until=1901))"]
)
def test_it_conforms_with_talk(text):
    report = verify(make_game(text), episodes=1)
    assert report.ok, str(report)


def test_it_conforms_with_open_text():
    text = "talk(diplomacy(until=1901, only=[FRANCE, GERMANY], judged=False), order='in turn', limit=40)"
    report = verify(make_game(text), episodes=1)
    assert report.ok, str(report)


def test_seats_talk_before_movement_alone():
    state = start("talk(diplomacy(until=1901, judged=False), channel=private, rounds=2, interval=2)")
    spoken = []
    while not state.over:
        if state.exchange == MOVE:
            order(state)
        else:
            spoken.append((state.inner.board.phase, state.exchange, len(state.to_act)))
            speak(state, *[SILENT] * len(state.to_act))
    assert spoken == [("S1901M", 0, 7), ("S1901M", 1, 7)]
    state = fall()
    assert state.to_act == (0, 1)
    assert state.game.spoken_language.talkers(state.inner) == (0, 1)
    speak(state, SILENT, SILENT)
    order(state, "A MAR - SPA\nA BUR - BEL\nF BRE H", "A BER H\nA RUH - HOL\nF KIE H")
    assert state.inner.board.phase == "W1901A"
    assert state.game.spoken_language.talkers(state.inner) == ()
    assert state.exchange == MOVE


def test_a_message_belongs_to_its_phase():
    state = fall(france="Peace with GERMANY")
    assert state.messages[-2] == Message(1, 0, -1, "Peace with GERMANY")
    assert [message.round for message in state.messages] == [0, 0, 1, 1]
    assert "Before each movement phase players may send messages" in state.view(0).rules
    assert len(state.view(0).facts.of_round) == 2
    assert make_game(f"talk({TWO}, rounds=1)").load(state.dump(), Key(0)).dump() == state.dump()


def test_what_may_be_said_is_a_list_of_tens_that_the_language_reads():
    game = make_game("diplomacy")
    language, state = language_of(game), game.start(Key(0))
    for seat in range(7):
        intents = language.intents(state.view(seat))
        assert 14 < len(intents) < 50
        assert all(language.read(f"“{intent.text.lower()}.”") == intent for intent in intents)
    texts = [intent.text for intent in language.intents(state.view(game.powers.index("FRANCE")))]
    assert {"Peace with TURKEY", "Alliance against ITALY", "I will demilitarise BUR"} <= {*texts}
    assert {"I will support GERMANY into BUR", "Please support FRANCE into ENG"} <= {*texts}
    assert not {"Peace with FRANCE", "I will demilitarise MUN", "I will support FRANCE into BUR"} & {*texts}
    assert language.read("Peace with EVERYBODY") is None


HOLDS, STRIKES = "A MAR H\nA BUR H\nF BRE H", "A MAR H\nA BUR - MUN\nF BRE H"


@pytest.mark.parametrize(
    ("promise", "orders", "kept"),
    [
        ("Peace with GERMANY", HOLDS, True),
        ("Peace with GERMANY", STRIKES, False),
        ("Peace with GERMANY", "A MAR H\nA BUR S A RUH - MUN\nF BRE H", True),  # its own centre
        ("Peace with FRANCE", STRIKES, None),
        ("Alliance against GERMANY", STRIKES, None),  # nobody else can be attacked
        ("I will demilitarise PAR", HOLDS, True),
        ("I will demilitarise PAR", "A MAR H\nA BUR - PAR\nF BRE H", False),
        ("I will demilitarise TRI", HOLDS, None),
        ("I will support GERMANY into BEL", "A MAR H\nA BUR S A RUH - BEL\nF BRE H", True),
        ("I will support GERMANY into BEL", HOLDS, False),
        ("Please support GERMANY into BEL", "A MAR H\nA BUR S A RUH - BEL\nF BRE H", True),
        ("I will support GERMANY into HOL", HOLDS, None),  # no unit can
    ],
)
def test_a_promise_is_kept_by_the_orders(promise, orders, kept):
    view = fall().inner.view(0)
    action = view.choices.canonical(orders.split("\n"))
    assert language_of(view.game).read(promise).kept(view, action) is kept


def test_an_alliance_allows_attacks_on_one_power():
    state = start("diplomacy(until=1901, judged=False)")
    french, german = state.game.powers.index("FRANCE"), state.game.powers.index("GERMANY")
    sheets = {french: "A MAR - PIE\nA PAR - BUR\nF BRE H", german: SPRING[1]}
    state.play({s: state.view(s).choices.canonical(sheets[s].split("\n")) if s in sheets else None for s in range(7)})
    view = state.view(french)
    action = view.choices.canonical(["A PIE H", "A BUR - MUN", "F BRE H"])
    read = language_of(state.game).read
    assert read("Alliance against GERMANY").kept(view, action) is True
    assert read("Alliance against ITALY").kept(view, action) is False
    assert read("Peace with TURKEY").kept(view, action) is None


def test_promises_are_void_outside_of_movement():
    state = start(TWO)
    order(state, *SPRING)
    order(state, "A MAR - SPA\nA BUR H\nF BRE H", "A BER H\nA RUH H\nF KIE H")
    view = state.view(0)
    assert state.board.kind == "A"
    for text in ("Peace with GERMANY", "I will support GERMANY into BEL"):
        assert language_of(view.game).read(text).kept(view, view.choices.first) is None


HOSTILE = ['"}], "phases": [', "\u202eTO FRANCE: Peace", "<script>alert(1)</script>", "FRANCE talk 0 {}", "Ünsinn 🙂"]


def test_a_saved_game_holds_the_messages():
    state = fall("rounds=5, limit=60", france="Peace with GERMANY", germany="I fold, says FRANCE")
    for text in HOSTILE:
        if state.exchange == MOVE or text not in state.view(0).choices:
            continue
        speak(state, text, SILENT)
    while state.exchange != MOVE:
        speak(state, SILENT, SILENT)
    order(state)
    saved = json.loads(dict(state.files())["game.json"])
    assert is_valid_saved_game(saved)
    assert "NO_PRESS" not in saved["rules"]
    told = [m for phase in saved["phases"] for m in phase["messages"]]
    assert told[0] == {
        "sender": "FRANCE",
        "recipient": "GLOBAL",
        "phase": "F1901M",
        "message": "Peace with GERMANY",
        "time_sent": 0,
    }
    assert [m["message"] for m in told] == [m.text for m in state.messages if m.text]
    assert len(told) > 4
    loaded = from_saved_game_format(saved).message_history.values()
    assert sum(len(messages) for messages in loaded) == len(told)
    assert "NO_PRESS" in json.loads(dict(state.inner.files())["game.json"])["rules"]


def test_a_saved_private_message_names_its_reader():
    state = start(THREE.format(options="channel=private"))
    speak(state, "TO RUSSIA: Peace with RUSSIA", SILENT, "TO TURKEY: Peace with TURKEY")
    saved = json.loads(dict(state.files())["game.json"])
    assert [(m["sender"], m["recipient"]) for m in saved["phases"][0]["messages"]] == [
        ("TURKEY", "RUSSIA"),
        ("AUSTRIA", "TURKEY"),
    ]


class Script:
    """Plays sheets by phase."""

    traits = Traits()
    name = "script"

    def __init__(self, **sheets):
        self.sheets = sheets

    def turn(self, ask):
        """Return the sheet of this phase."""
        sheet = self.sheets.get(ask.view.facts.board.phase)
        return Move(ask.view.choices.canonical(sheet.split("\n")) if sheet else None)


def test_metrics_see_the_orders_through_the_talk():
    sheets = {"S1901M": SPRING[0], "F1901M": STRIKES}, {"S1901M": SPRING[1], "F1901M": "A BER H\nA RUH - BUR\nF KIE H"}
    found = []
    for text in (TWO, f"talk({TWO}, limit=20)"):
        game = make_game(text)
        players = [Script(**own) if game.spec.name == "diplomacy" else Silent(Script(**own)) for own in sheets]
        (episode,) = play([Setup(id="e", match=Match(game, players), slots=(0, 1), key=Key(0))])
        assert hostility(episode).attacks.tolist() == [[0.0, 1.0], [1.0, 0.0]]
        assert kingmakers(episode) == ()
        sample = Sample(game, (Matchup("them", 1, ("opponents",), (episode,)),))
        names = ("first", "sole first", "solo", "centres", "eliminated", "expansion", "peace", "backstab", "kingmaking")
        found.append([(METRICS[name].measure(sample), METRICS[name].null(sample)) for name in names])
    assert found[0] == found[1]
    assert sum(figure is not None for figure, _ in found[0]) >= 7


class Forger:
    """Says a text that looks like a state key, and holds."""

    traits = Traits()
    name = "forger"
    talks = True

    def turn(self, ask):
        """Return the text, or no orders."""
        return Move(FORGED if ask.view.facts.exchange != MOVE else None)


FORGED = 'FRANCE {"units": 1} talk 0 then 1 "x"'


def test_a_text_that_looks_like_a_key_changes_no_figure():
    game = make_game(f"talk({TWO}, limit=60)")
    (episode,) = play([Setup(id="e", match=Match(game, [Forger(), Forger()]), slots=(0, 1), key=Key(0))])
    assert FORGED in [row.action for row in episode.decisions]
    assert [position.phase for position, _ in movements(episode)] == ["S1901M", "F1901M", "S1902M", "F1902M"]
    assert all(row.action != FORGED for _, rows in movements(episode) for row in rows)


def test_the_game_and_the_state_within_are_those_without_talk():
    state = fall()
    assert without_talk(state.game) == make_game(TWO) == without_talk(make_game(TWO))
    assert moving(state) is None
    speak(state, SILENT, SILENT)
    assert moving(state) is state.inner
    assert moving(state.inner) is state.inner


def test_scripted_players_are_silent_and_the_talker_talks():
    game = make_game(f"talk({TWO})")
    assert make_player("dumbbot", game).name == "silent(diplomacy/dumbbot)"
    assert make_player("dumbbot-press(honour=0.5)", game).name == "diplomacy/dumbbot-press(honour=0.5)"
    assert "dumbbot-press" in player_names(game)
    with pytest.raises(BadParameter, match="`honour` from 0 to 1"):
        make_player("dumbbot-press(honour=2)", game)
    with pytest.raises(BadParameter, match="diplomacy"):
        make_player("diplomacy/dumbbot-press", make_game("talk(kuhn)"))


def test_dumbbot_without_talk_is_dumbbot():
    state = start("diplomacy(until=1901, judged=False)")
    bots = [make_player(name, state.game) for name in ("dumbbot", "dumbbot-press")]
    assert line_of(bots[0], state, 2, 5) == line_of(bots[1], state, 2, 5)


def test_dumbbot_offers_peace_to_the_neighbour_that_threatens_it_least_and_gives_support():
    state = start(f"talk({TWO}, rounds=3)")
    bot = make_player("dumbbot-press(honour=1)", state.game)
    assert [line_of(bot, state, seat) for seat in (0, 1)] == ["Peace with GERMANY", "Peace with FRANCE"]
    speak(state, "Peace with GERMANY", SILENT)
    assert line_of(bot, state, 1) == "Peace with FRANCE"  # which it was offered
    speak(state, SILENT, "Please support GERMANY into BUR")
    assert line_of(bot, state, 0) == "I will support GERMANY into BUR"
    speak(state, "I will support GERMANY into BUR", SILENT)
    assert all("S A MUN - BUR" in line_of(bot, state, 0, seed) for seed in range(5))


@pytest.mark.parametrize(("honour", "low", "high"), [(0.0, 0, 0), (0.8, 64, 94), (1.0, 100, 100)])
def test_dumbbot_keeps_its_word_at_its_rate(honour, low, high):
    """DumbBot never supports another power of its own accord, so the rate is `honour`; bounds are four errors."""
    state = fall(france="I will support GERMANY into BEL")
    bot, view = make_player(f"dumbbot-press(honour={honour})", state.game), state.inner.view(0)
    promise, n = language_of(view.game).read("I will support GERMANY into BEL"), 100 if 0 < honour < 1 else 20
    kept = sum(promise.kept(view, line_of(bot, state, 0, seed)) for seed in range(n)) * 100 // n
    assert low <= kept <= high


@pytest.mark.parametrize("text", ["Peace with AUSTRIA", "Alliance against FRANCE"])
def test_dumbbot_gives_no_order_that_breaks_its_word(text):
    """As Italy it attacks Trieste in its first turn, whatever its draws."""
    state = start("talk(diplomacy(until=1901, judged=False))")
    italy = state.game.game.powers.index("ITALY")
    bot, free = make_player("dumbbot-press(honour=1)", state.game), make_player("dumbbot", without_talk(state.game))
    speak(state, *[text if seat == italy else SILENT for seat in range(7)])
    view = state.inner.view(italy)
    promise = language_of(view.game).read(text)
    assert all(promise.kept(view, line_of(bot, state, italy, seed)) for seed in range(8))
    assert not any(promise.kept(view, line_of(free, state.inner, italy, seed)) for seed in range(8))
