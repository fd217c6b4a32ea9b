"""Disguises: the same game in other words, proved on its tree, and refused where it would be another game."""

from dataclasses import dataclass, replace
from operator import attrgetter

import pytest

from stratagem.base.errors import BadParameter, BadRecord, CannotCompute
from stratagem.games import Flat, Key, Sheet, Slot, View, make_game
from stratagem.games.disguise import Disguise, by_hand, generate_disguise, prove, read_disguise, vocabulary_of
from stratagem.games.disguise.disguise import DisguisedView
from stratagem.games.disguise.proof import NoIsomorphism, every_state
from stratagem.games.disguise.vocabulary import play_randomly
from stratagem.games.kuhn import Kuhn, KuhnFacts

HAND = make_game("kuhn(hands=1)")
QUEEN = View(HAND, 1, KuhnFacts(1, "Q", "B", opens=False))


def test_a_view_in_other_words():
    words = {"pass": "mob", "bet": "zug", "call": "rul", "fold": "nem", "Q": "tiv", "chip": "sol"}
    seen = by_hand(HAND, words).view(QUEEN)
    assert seen.situation == "Your card is Tiv. The other player zug."
    assert "The opener may MOB or ZUG 1 sol; after a mob the other may MOB or ZUG." in seen.rules
    assert seen.choices == Flat(("NEM", "RUL"))
    assert seen.plain_action("RUL") == "CALL"
    assert seen.plain_action("CALL") is seen.plain_action("ZUG") is None


def test_a_generated_disguise_changes_words_order_and_score_by_its_seed():
    disguise = generate_disguise(HAND, 3)
    assert disguise == generate_disguise(HAND, 3) != generate_disguise(HAND, 4)
    assert [plain for plain, _ in disguise.words] == list(vocabulary_of(HAND))
    assert {generate_disguise(HAND, seed).times for seed in range(30)} <= {2, 3, 4, 5, 7, 10}
    first = {
        generate_disguise(HAND, seed).view(QUEEN).plain_action(generate_disguise(HAND, seed).view(QUEEN).choices.first)
        for seed in range(9)
    }
    assert first == {"FOLD", "CALL"}
    unit, times, plus = disguise.unit, disguise.times, disguise.plus
    assert disguise.view(QUEEN).rules.endswith(
        f"Your score is counted in {unit}: you begin with {plus:g} {unit}, and every payoff under these rules is "
        f"multiplied by {times:g} and added."
    )


def test_a_list_has_one_order_in_all_situations():
    disguise = generate_disguise(make_game("negotiation-v1"), 1)
    long, short = Flat(map(str, range(11))), Flat(map(str, range(3, 7)))
    assert [action for action in disguise.choices(long) if action in short] == list(disguise.choices(short))
    assert list(disguise.choices(long)) != list(long)


@pytest.mark.parametrize("name", ["facts", "state_key", "info_key", "game.rules", "game.hands"])
def test_nothing_in_plain_words_can_be_read(name):
    with pytest.raises(BadParameter, match="texts and choices of its view only"):
        attrgetter(name)(generate_disguise(HAND, 0).view(QUEEN))


def test_the_declaration_of_a_disguised_game_has_no_words():
    spec = generate_disguise(HAND, 0).view(QUEEN).game.spec
    assert (spec.name, spec.family, spec.summary, spec.reference, spec.unit) == ("a game", "a game", "", "", "")
    assert (spec.seats, spec.retries, spec.bounds) == (2, HAND.spec.retries, HAND.spec.bounds)


def test_a_sheet_goes_there_and_back():
    game = make_game("diplomacy(until=1901)")
    disguise = generate_disguise(game, 2)
    for state in play_randomly(game, Key(4)):
        view = state.view(state.to_act[0])
        seen = disguise.view(view)
        for number in range(5):
            action = seen.choices.sample(Key(number))
            assert seen.plain_action(action) in view.choices
        assert seen.plain_action(view.choices.first) is None


def test_lines_that_slots_share_are_one_action():
    homes = Sheet([Slot("PAR", ("A PAR B", "WAIVE")), Slot("MAR", ("A MAR B", "F MAR B", "WAIVE"))], fill=1)
    disguise = Disguise((("PAR", "xu"), ("MAR", "yu"), ("WAIVE", "wu"), ("A", "au")), order=5)

    class Builds(Kuhn):
        def choices(self, facts):
            return homes

    seen = disguise.view(View(Builds(), 0, None))
    assert {seen.plain_action(action) for action in seen.choices} == set(homes)


# --- proof

TREES = {"kuhn(hands=1)": 24, "kuhn": 144, "kuhn-spiel": 24, "ipd(rounds=2)": 10, "prisoners-dilemma": 2}


@pytest.mark.parametrize("name", TREES)
def test_small_trees_are_walked_whole(name):
    game = make_game(name)
    proof = prove(generate_disguise(game, 1), game, budget=2_000)
    assert (proof.nodes, proof.episodes) == (TREES[name], 0)
    assert str(proof) == f"proved on all {TREES[name]} decision nodes"


def test_larger_trees_are_sampled():
    proof = prove(generate_disguise(make_game("nim"), 1), make_game("nim"), budget=100, episodes=2)
    assert str(proof) == f"checked on {proof.nodes} decision nodes of 2 episodes"


def test_a_tree_beyond_the_budget_is_refused():
    with pytest.raises(CannotCompute, match="larger than the budget"):
        list(every_state(make_game("diplomacy"), 500))


@pytest.mark.parametrize(
    "pairs", [(("J", "kazu"), ("Q", "kazu")), (("pass", "kazu"), ("bet", "kazu")), (("J", "queen"), ("Q", "Queen"))]
)
def test_words_that_are_not_one_to_one_make_another_game(pairs):
    with pytest.raises(NoIsomorphism, match="makes another game of kuhn"):
        prove(Disguise(pairs), HAND)


@pytest.mark.parametrize("swapped", ["PASS", "CALL"])
def test_actions_of_every_list_go_back_to_themselves(swapped, monkeypatch):
    """`CALL` stands in a list that is met after another one, and in most situations not for the first time."""

    def plain_action(view, action):
        homes = {view.disguise.translate_cached(home): home for home in ("PASS", "BET", "CALL", "FOLD")}
        other = {"PASS": "BET", "BET": "PASS"} if swapped == "PASS" else {"CALL": "FOLD", "FOLD": "CALL"}
        return other.get(homes[action], homes[action])

    monkeypatch.setattr(DisguisedView, "plain_action", plain_action)
    with pytest.raises(NoIsomorphism, match="does not go back to"):
        prove(generate_disguise(HAND, 1), HAND)


def test_a_list_whose_order_tells_something_is_found():
    @dataclass(frozen=True, kw_only=True)
    class Telling(Kuhn):
        def choices(self, facts):
            return super().choices(facts) if facts.line or facts.card == "J" else Flat(("BET", "PASS"))

        def situation(self, facts):
            return "Choose." if not facts.line else super().situation(facts)

    game = Telling(hands=1)
    assert prove(replace(generate_disguise(HAND, 1), order=None), game).nodes
    with pytest.raises(NoIsomorphism, match="read alike"):
        prove(generate_disguise(HAND, 1), game)


# --- vocabularies


def test_words_of_actions_are_found_where_a_game_declares_none():
    @dataclass(frozen=True, kw_only=True)
    class Undeclared(Kuhn):
        def vocabulary(self):
            return ()

    assert vocabulary_of(Undeclared(hands=1)) == ("bet", "call", "fold", "pass")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("spiel:kuhn_poker(players=3)", "told by its name"),
        ("matrix(payoffs=[[(1, 1), (0, 2)]], labels=['1'], labels_second=['1', '2'])", "its actions are numbers"),
    ],
)
def test_a_game_without_other_words_is_refused(name, why):
    with pytest.raises(CannotCompute, match=why):
        vocabulary_of(make_game(name))


@pytest.mark.parametrize("words", [("", "bet"), ("bet", 3), ("/bet",)])
def test_a_vocabulary_has_words(words):
    @dataclass(frozen=True, kw_only=True)
    class Odd(Kuhn):
        def vocabulary(self):
            return words

    with pytest.raises(BadParameter, match="must be a tuple of words"):
        vocabulary_of(Odd(hands=1))


# --- by hand


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"BET": "ZUG", "PASS": "zug"}, "one to one, and 'zug' would stand for two words"),
        ({"RAISE": "ZUG"}, "has no word 'RAISE' to rename; its words are pass, bet, fold, call, j, q, k"),
        ({"BET": "PASS"}, "one to one, and 'pass' is a word that the game keeps"),
        ({"BET": "opener"}, "'opener' is a word that the game keeps"),
        ({"BET": "ZUG 7"}, "words of letters alone"),
        ({"BET": ""}, "words of letters alone"),
        ({"BET": "ZUG", "bet": "MOB"}, "one new word for each"),
    ],
)
def test_what_is_no_isomorphism_is_refused_in_one_sentence(words, why):
    with pytest.raises(BadParameter, match=why):
        by_hand(HAND, words)


def test_words_may_be_exchanged_for_each_other():
    disguise = by_hand(HAND, {"PASS": "BET", "BET": "PASS", "FOLD": "CALL", "CALL": "FOLD"})
    assert list(disguise.view(QUEEN).choices) == ["CALL", "FOLD"]
    assert prove(disguise, HAND).nodes == 24


def test_a_file_in_toml_or_json(tmp_path):
    toml, json = tmp_path / "mine.toml", tmp_path / "mine.json"
    toml.write_text('times = 3\nplus = 5\nunit = "tals"\norder = 7\n[words]\nBET = "ZUG"\n')
    json.write_text('{"times": 3, "plus": 5, "unit": "tals", "order": 7, "words": {"BET": "ZUG"}}')
    assert read_disguise(toml, HAND) == read_disguise(json, HAND) == Disguise((("bet", "zug"),), 7, "tals", 3.0, 5.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("seed = 1", "no setting 'seed'; its settings are words, order, unit, times, plus"),
        ("words = 3", "a table `words`"),
        ("[words]\nBET = 3", "a table `words`"),
        ("order = 1.5", "`order` as a whole number"),
        ("times = true\nunit = 'tals'", "`times` and `plus` as numbers"),
        ("times = -1\nunit = 'tals'", "of at least 0"),
        ("times = 0\nunit = 'tals'", "`times` above 0"),
        ("times = 2", "a `unit` for the score"),
        ("plus = nan\nunit = 'tals'", "`times` and `plus` as numbers"),
        ("words", "is no TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, text, why):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises((BadParameter, BadRecord), match=why):
        read_disguise(path, HAND)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(BadRecord, match="cannot be read: No such file"):
        read_disguise(tmp_path / "none.toml", HAND)
