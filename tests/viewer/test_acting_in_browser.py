"""Questions about turns and games of people, in a real browser; `make test-view` has one."""

import re

import pytest
from browser import faults_of_accessibility
from shown_folder import HOSTILE

pytest.importorskip("playwright.sync_api")

TURN = "#/replay?record=games&id=later%2F0.0&turn=2"
"""TitForTat against AlwaysDefect, second of four turns."""


def open_tab(page, address, name, path=TURN):
    page.goto(f"{address}/{path}")
    page.get_by_role("tab", name=name).click()


def test_fork_shows_both_arms_and_leads_to_the_branches(page, address):
    open_tab(page, address, "Change it")
    page.get_by_label("Action of seat 0").select_option("COOPERATE")
    page.get_by_role("button", name="Play on", exact=True).click()
    page.get_by_text("Nothing is random here").wait_for()
    figure = page.get_by_role("figure").filter(has_text="TitForTat")
    assert "3 exact" in figure.inner_text(), "defection for three rounds"
    assert "2 exact" in figure.inner_text(), "one round of the sucker's payoff"
    assert figure.get_by_role("img").get_attribute("aria-label").startswith("Returns of seat 0.")
    page.get_by_role("link", name="Look at the branches").click()
    page.get_by_role("link", name="changed/later/0.0+1/0").click()
    page.get_by_text("Forked at turn 1 from").wait_for()
    page.get_by_role("link", name="later/0.0", exact=True).click()
    page.get_by_role("heading", name="Start of 4 turns").wait_for()
    page.goto(f"{address}/{TURN}")
    page.get_by_role("tab", name="Change it").click()
    page.get_by_role("button", name="Turn 2: seat 0 plays COOPERATE").click()
    page.get_by_text("Nothing is random here").wait_for()


def test_unchanged_turn_and_unknown_player_are_refused_in_words(page, address):
    page.expected = ("400 (Bad Request)",)
    open_tab(page, address, "Change it")
    page.get_by_role("button", name="Play on", exact=True).click()
    page.get_by_role("alert").get_by_text("Nothing is changed").wait_for()
    page.get_by_label("Player of seat 0 from here on").fill("Nobody")
    page.get_by_role("button", name="Play on", exact=True).click()
    page.get_by_role("alert").get_by_text("There is no player of ipd called 'Nobody'").wait_for()


def test_running_fork_is_cancelled(page, address):
    open_tab(page, address, "Change it", "#/replay?record=games&id=game%2F0.0&turn=2")
    page.get_by_label("Player of seat 0 from here on").fill("mcts:100000")
    page.get_by_label("Player of seat 1 from here on").fill("mcts:100000")
    page.get_by_label("Branches").fill("1000")
    page.get_by_role("button", name="Play on", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled.").wait_for()
    assert page.get_by_role("button", name="Cancel").count() == 0


def test_probabilities_of_a_decision(page, address):
    open_tab(page, address, "How likely")
    page.get_by_label("Player", exact=True).fill("random")
    page.get_by_role("button", name="Ask").click()
    bars = page.get_by_role("list", name="Probabilities of random").get_by_role("listitem")
    bars.first.wait_for()
    assert [re.sub(r"\s+", " ", text) for text in bars.all_inner_texts()] == [
        "COOPERATE 50.0 %",
        "DEFECT played 50.0 %",
    ]


def test_position_is_taught(page, address, folder):
    open_tab(page, address, "Teach this")
    page.get_by_label("It should play").select_option("COOPERATE")
    page.get_by_label("Prompt style").select_option("reasoned")
    page.get_by_label("Reasoning before the action").fill("Trust first.")
    page.get_by_role("button", name="Add to the demonstrations").click()
    page.get_by_text("has 1 example").wait_for()
    assert '"content": "Trust first.\\nAction: COOPERATE"' in (folder / "taught.jsonl").read_text()


def test_keys_of_the_replay_stay_out_of_fields(page, address):
    open_tab(page, address, "Change it")
    field = page.get_by_label("Player of seat 0 from here on")
    field.fill("noise Grim")
    field.press("ArrowLeft")
    field.press("Home")
    field.press(" ")
    assert field.input_value() == " noise Grim"
    assert "turn=2" in page.url


def sit(page, address, game, player="AlwaysBet", summary="Kuhn poker, "):
    page.goto(f"{address}/#/play")
    page.get_by_label("Game", exact=True).fill(game)
    page.get_by_role("paragraph").get_by_text(summary).wait_for()
    page.get_by_label("Player of seat 1").fill(player)
    page.get_by_role("button", name="Sit down").click()
    page.get_by_role("heading", name="Your turn").wait_for()


def choose(page):
    """Take the first choice in one step, if there is one: the next look may find another question."""
    page.evaluate("document.querySelector('.answers button:enabled')?.click()")
    page.wait_for_timeout(100)


def play_to_the_end(page):
    end = page.get_by_role("link", name="Look at the whole game")
    for _ in range(600):
        if end.is_visible():
            return
        choose(page)
    end.wait_for()


def test_game_is_played_to_its_replay(page, address):
    sit(page, address, "kuhn(hands=1)")
    page.get_by_text("Or in words").click()
    page.get_by_label("Your reply").fill(HOSTILE)
    page.get_by_role("button", name="Send").click()
    page.get_by_role("alert").get_by_text("is no legal action: play PASS, BET.").wait_for()
    assert page.get_by_label("Or in words").input_value() == HOSTILE
    assert page.title() == "Play · Stratagem"
    card = page.get_by_text("Your card is").inner_text()[13]
    board = page.get_by_role("img", name=f"Seat 0 has {card}, seat 1 has a hidden card.")
    board.wait_for()
    assert [box.text_content() for box in board.locator(".rank").all()] == ["?", card]
    play_to_the_end(page)
    page.get_by_role("heading", name=re.compile("You won|You lost")).wait_for()
    moves = page.get_by_role("table", name="Regret of each move").get_by_role("row")
    moves.nth(1).wait_for()
    assert moves.count() > 2
    page.get_by_role("link", name="Look at the whole game").click()
    page.get_by_role("heading", name="Start of").wait_for()
    assert f"Seat 0 has {card}, seat 1 has" in page.get_by_role("img", name="Hand 1").get_attribute("aria-label")


@pytest.mark.parametrize("page", [(390, 844)], indirect=True)
def test_regrets_of_a_player_with_a_long_name_fit_a_phone(page, address):
    sit(page, address, "kuhn(hands=1)", "noise(noise(noise(AlwaysBet, p=0.001), p=0.002), p=0.003)")
    play_to_the_end(page)
    page.get_by_role("table", name="Regret of each move").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


RESISTANCE = "resistance(missions=1)"


def sit_at_five(page, address, game, seat):
    page.goto(f"{address}/#/play")
    page.get_by_label("Game", exact=True).fill(game)
    page.get_by_label("Player of seat 4").wait_for()
    page.get_by_role("radio").nth(seat).check()
    for field in page.locator("input[list=players]").all():
        field.fill("first-legal")
    page.get_by_role("button", name="Sit down").click()


def run_clock(page):
    """Answer a question, and let time run only as far as the steps of this go: no pause is measured."""
    page.get_by_role("button", name="REJECT").wait_for()
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.get_by_role("button", name="REJECT").click()
    while not page.locator(".over").count():
        page.clock.run_for(200)
        page.wait_for_timeout(30)  # the answers of the server come by a clock of their own
        yield page.locator(".sight").inner_text(), page.get_by_role("button", name="Skip").count()


def test_moves_of_others_come_one_after_another(page, address):
    page.clock.install()
    sit_at_five(page, address, RESISTANCE, 4)
    page.clock.run_for(2000)
    told = list(run_clock(page))
    mission, rest = (next(text for text, _ in told if line in text) for line in ("on the mission is", "is over"))
    waits = [text for text, can_be_skipped in told if can_be_skipped]
    assert waits.count(mission) > 1, "the mission is shown for a while before its end"
    assert rest.count("\n") >= 2
    assert page.get_by_role("button", name="Skip").count() == 0, "the end needs no skip"


@pytest.mark.parametrize("key", ["", " ", "Escape"])
def test_pauses_are_skipped(page, address, key):
    page.clock.install()
    sit_at_five(page, address, RESISTANCE, 4)
    page.clock.run_for(2000)
    skipped = 0
    for _, can_be_skipped in run_clock(page):
        if can_be_skipped:
            skipped += 1
            skip = page.get_by_role("button", name="Skip")
            page.keyboard.press(key) if key else skip.click()
            skip.wait_for(state="hidden")  # time stands still
    page.get_by_role("heading", name="How it ended").wait_for()
    assert skipped, "there is a pause to skip"


def test_reader_who_wants_no_motion_waits_for_nothing(browser, address):
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.clock.install()
    sit_at_five(page, address, RESISTANCE, 4)
    page.clock.run_for(2000)
    assert {can_be_skipped for _, can_be_skipped in run_clock(page)} == {0}
    page.context.close()


def test_end_shows_what_was_hidden(page, address):
    """Until then no answer of the server has another card, nor a letter that could stand for one."""
    heard = []
    page.on("response", lambda answer: heard.append(answer) if "/api/table" in answer.url else None)
    sit(page, address, "kuhn(hands=1)")
    card = page.get_by_text("Your card is").inner_text()[13]
    page.get_by_role("heading", name="What you see").wait_for()
    play_to_the_end(page)
    page.get_by_role("heading", name="How it ended").wait_for()
    board = page.get_by_role("img", name=re.compile(f"Seat 0 has {card}, seat 1 has [JQK]"))
    board.wait_for()
    (other,) = [box.text_content() for box in board.locator(".rank").all() if box.text_content() != card]
    events = [event for answer in heard for event in answer.json()["events"]]
    end = next(place for place, event in enumerate(events) if event["event"] == "end")
    boards = [event["drawn"]["frames"][0]["state"]["cards"] for event in events[:end] if "drawn" in event]
    assert len(boards) > 1
    assert all(cards == [card, None] for cards in boards)
    assert {card, other} < set("JQK")


def test_score_adds_up_the_games_of_a_table(page, address):
    sit(page, address, "kuhn(hands=1)")
    scores, total = [], 0
    for number in (1, 2, 3):
        play_to_the_end(page)
        rows = page.locator(".over .players li")
        total += int(rows.first.locator("b").inner_text().replace("\u2212", "-"))
        if number > 1:
            page.get_by_text(f"Score of {number} games").wait_for()
            told = page.get_by_text(f"Score of {number} games").locator("b").all_inner_texts()
            scores.append([int(text.replace("\u2212", "-")) for text in told] == [total, -total])
        page.get_by_role("button", name="Play again").click()
        page.get_by_role("heading", name="What you see").wait_for()
        page.get_by_text(f"Score of {number} game").wait_for()
    assert scores == [True, True]


def test_board_is_drawn_where_nothing_is_hidden(page, address):
    sit(page, address, "tic-tac-toe", "random", "Three in a row")
    page.get_by_role("img", name="Board.").wait_for()
    play_to_the_end(page)


def test_person_takes_a_seat_of_a_recorded_turn(page, address):
    open_tab(page, address, "Sit down here")
    page.get_by_role("button", name="Sit down").click()
    page.get_by_role("heading", name="Your turn").wait_for()
    play_to_the_end(page)
    page.get_by_role("link", name="Look at the whole game").click()
    page.get_by_text("Forked at turn 1 from").wait_for()


def test_two_people_play_by_links(browser, page, address):
    sit(page, address, "kuhn(hands=1)", "person")
    other = browser.new_context().new_page()
    other.goto(page.get_by_label("Link: Seat 1", exact=True).input_value())
    other.get_by_text("seat 1, against seat 0").wait_for()
    page.get_by_text("somebody sits there").wait_for()
    cards = set()
    for _ in range(300):
        for one in (page, other):
            cards |= {text[13] for text in one.get_by_text("Your card is").all_inner_texts()}
            choose(one)
        if other.get_by_role("heading", name="The game is over").is_visible():
            break
    assert len(cards) == 2
    page.get_by_role("heading", name=re.compile("You won|You lost")).wait_for()
    assert other.get_by_role("link").count() == 0, "a guest is led nowhere else"


def test_table_survives_a_new_look_and_can_be_left(page, address):
    sit(page, address, "kuhn(hands=2)")
    page.reload()
    page.get_by_role("heading", name="Your turn").wait_for()
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Sit down").wait_for()


TABS = ("Change it", "How likely", "Teach this", "Sit down here")


@pytest.mark.parametrize("page", [(390, 844)], indirect=True)
def test_phone_shows_questions_and_tables_without_scrolling_sideways(page, address):
    for name in TABS:
        open_tab(page, address, name)
        page.get_by_role("tab", name=name, selected=True).wait_for()
        page.get_by_text("Loading").wait_for(state="hidden")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, name
    sit(page, address, "kuhn(hands=1)")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_questions_and_tables_have_no_fault_of_accessibility(browser, address, scheme):
    page = browser.new_context(color_scheme=scheme).new_page()
    for name in TABS:
        open_tab(page, address, name)
        page.get_by_role("tab", name=name, selected=True).wait_for()
        page.get_by_text("Loading").wait_for(state="hidden")
        assert faults_of_accessibility(page) == [], name
    open_tab(page, address, "Change it")
    page.get_by_label("Action of seat 0").select_option("COOPERATE")
    page.get_by_role("button", name="Play on", exact=True).click()
    page.get_by_text("Nothing is random here").wait_for()
    assert faults_of_accessibility(page) == []
    sit(page, address, "kuhn(hands=1)")
    assert faults_of_accessibility(page) == []
