"""Prompts of Diplomacy list all possible orders, in every kind of phase."""

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.language.prompting.catalogue import make_style

GAME = make_game("diplomacy(until=1904, judged=False)")


def told(view, style):
    """The blocks of what the seat is told, without the rules and the situation that stand before."""
    return make_style(style).messages(view)[-1].content.partition(view.situation)[2]


def positions():
    """Every decision of a game of random play in which somebody has to retreat, with its phase."""
    state, key, turn = GAME.start(Key(19)), Key(19), 0
    while not state.over:
        views = {seat: state.view(seat) for seat in state.to_act}
        yield from ((state.board.kind, view) for view in views.values())
        state.play({seat: view.choices.sample(key.at(turn, seat)) for seat, view in views.items()})
        turn += 1


def spelt(line):
    """The orders that a line of the compact prompt stands for."""
    unit, _, rest = line.partition(": ")
    return [f"{unit} {one}" if " " in unit else one for one in rest.split(" | ")]


def test_every_order_can_be_written_from_the_compact_prompt():
    kinds = set()
    for kind, view in positions():
        kinds.add(kind)
        lines = [line for line in told(view, "diplomacy-compact").splitlines() if ": " in line]
        sheet = view.game.choices(view.facts)
        assert [sorted(spelt(line)) for line in lines] == [sorted(slot.options) for slot in sheet.slots]
    assert kinds == {"M", "R", "A"}


def test_a_dislodged_unit_is_told_its_own_ways_out():
    """And not the neighbours of the unit that took its place."""
    seen = 0
    for kind, view in positions():
        if kind == "R":
            text = told(view, "diplomacy-windows")
            for slot in view.game.choices(view.facts).slots:
                unit = " ".join(slot.options[0].split(" ")[:2])
                ways = [option.rpartition(" R ")[2] for option in slot.options if " R " in option]
                (line,) = [line for line in text.splitlines() if line.startswith(f"{unit} -> ")]
                assert [way.split(" (")[0] for way in line.partition(" -> ")[2].split(", ")] == (ways or ["nowhere"])
                seen += 1
    assert seen


@pytest.mark.parametrize("style", ["diplomacy-minimal", "diplomacy-counts", "diplomacy-verbose"])
def test_the_other_prompts_are_told_in_every_phase(style):
    assert all(told(view, style).strip() for _, view in positions())


@pytest.mark.parametrize("shows", ["verbose", "compact", "minimal", "windows", "counts"])
def test_a_seat_with_talk_is_asked_for_a_message_and_then_for_orders(shows):
    style = make_style(f"diplomacy-{shows}")
    game = make_game("talk(diplomacy(until=1901, judged=False), channel=both)")
    state = game.start(Key(0))
    view = state.view(0)
    said = style.messages(view)[-1].content
    assert "Write one message, or SILENT" in said
    assert "TO ALL:, TO ENGLAND:" in said
    sentences = [intent.text for intent in game.sayable(game.inner_view(view.facts))]
    assert len(sentences) > 20
    assert all((sentence in said) is (shows in ("verbose", "compact", "windows")) for sentence in sentences[:6])
    assert "without talk" not in "".join(message.content for message in style.messages(view))
    state.play({seat: "TO ALL: Peace with AUSTRIA" if seat else "SILENT" for seat in state.to_act})
    moving = style.messages(state.view(0))[-1].content
    assert 'ENGLAND said: "Peace with AUSTRIA"' in moving
    plain = make_game("diplomacy(until=1901, judged=False)").start(Key(0)).view(0)
    assert moving.endswith(told(plain, f"diplomacy-{shows}"))


@pytest.mark.parametrize(
    ("option", "says"),
    [("limit=30", "at most 30 characters"), ("templates=['{power} or {power}, {province}']", "`{power} or")],
)
def test_a_seat_is_told_how_it_may_speak_freely(option, says):
    view = make_game(f"talk(diplomacy(judged=False), {option})").start(Key(0)).view(0)
    assert says in make_style("diplomacy-minimal").messages(view)[-1].content


def test_talk_around_another_game_is_refused():
    view = make_game("talk(ipd)").start(Key(0)).view(0)
    with pytest.raises(BadParameter, match=r"tells of diplomacy, not of talk\(ipd\)"):
        make_style("diplomacy-compact").messages(view)


def test_surroundings_of_the_first_spring():
    view = next(view for kind, view in positions() if view.facts.power == "FRANCE")
    (message,) = make_style("diplomacy-surroundings").messages(view)
    season, counts, *lines = message.content.split("\n")
    assert season == "Spring 1901, movement. You are FRANCE."
    assert counts.startswith("Centres: AUSTRIA 3, ENGLAND 3,")
    assert counts.endswith("TURKEY 3, nobody 12.")
    assert lines == [
        "BRE: BRE of FRANCE unit FRANCE 2:0:2, ENG 1:1:1, GAS 3:0:1, MAO 1:0:1, PIC 2:0:1.",
        "MAR: MAR of FRANCE unit FRANCE 1:0:1, BUR 2:1:1, GAS 3:0:1, PIE 1:1:1, SPA of nobody 1:0:0.",
        "PAR: PAR of FRANCE unit FRANCE 1:0:2, BRE of FRANCE unit FRANCE 2:0:2, BUR 2:1:1, GAS 3:0:1, PIC 2:0:1.",
    ]


def destinations(slot, mark):
    """Provinces that the orders of a slot move or retreat to, without convoys."""
    orders = [option for option in slot.options if not any(word in option for word in (" S ", " C ", " VIA"))]
    return {order.partition(mark)[2][:3] for order in orders if mark in order}


def test_surroundings_tell_of_every_move_and_its_province():
    kinds = set()
    for kind, view in positions():
        lines = make_style("diplomacy-surroundings").messages(view)[-1].content.split("\n")[2:]
        board, power = view.facts.board, view.facts.power
        for slot, line in zip(view.game.choices(view.facts).slots, lines, strict=True):
            name, _, told = line.removesuffix(".").partition(": ")
            entries = {} if told == "nowhere" else {entry[:3]: entry for entry in told.split(", ")}
            assert name == slot.name
            own = {slot.name[:3]} if kind != "R" else set()
            assert set(entries) == own | destinations(slot, {"M": " - ", "R": " R ", "A": "none"}[kind])
            for place, entry in entries.items():
                owner = board.owners.get(place, "nobody") if place in view.game.centers else None
                unit = board.occupants[place][0] if place in board.occupants else None
                words = [place, *([f"of {owner}"] if owner else []), *([f"unit {unit}"] if unit else [])]
                assert entry.rpartition(" ")[0] == " ".join(words)
                assert (entry.split(":")[-1] == "0") == (owner is not None and owner != power)
                kinds.add(kind)
    assert kinds == {"M", "R", "A"}
