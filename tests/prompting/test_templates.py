"""Templates: their language, its mistakes as sentences, what they cannot say, and the styles of the papers."""

import re
import tomllib
from itertools import islice
from pathlib import Path

import pytest

import stratagem as sg
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound, read_any, recipe_of
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.named_files import naming
from stratagem.cli.main import main
from stratagem.games import Key, make_game
from stratagem.games.disguise import generate_disguise
from stratagem.games.random_play import random_views
from stratagem.language.prompting.catalogue import PAPERS, make_style
from stratagem.language.prompting.past import Past
from stratagem.language.prompting.templates.coverage import find_omissions
from stratagem.language.prompting.templates.facts import facts_by_name
from stratagem.language.prompting.templates.style import MOST_CHARACTERS, template_style
from stratagem.learn.demonstrations.scripted import reasons, reply
from stratagem.measure.prompts import digest_of
from stratagem.players.catalogue import make_player
from stratagem.training.runs.folder import RunFolder

GAMES = (
    *("ipd", "ipd-shapellm", "kuhn", "auction", "public-goods", "negotiation-v1", "negotiation-v2", "resistance"),
    *("sender-receiver", "tic-tac-toe", "connect-four", "breakthrough", "nim", "pig", "kuhn-spiel", "leduc"),
    *("liars-dice", "blind-auction", "bargaining", "goofspiel", "diplomacy(judged=False)", "talk(ipd, limit=20)"),
)
SCOPAL = (
    *("tic-tac-toe", "breakthrough", "connect-four", "kuhn", "kuhn-spiel", "nim", "liars-dice"),
    *("prisoners-dilemma", "blind-auction", "pig", "ipd"),
)


def seen(game, turns=12, seed=3):
    game = make_game(game)
    return list(islice(random_views(game.start(Key(seed).at("chance")), Key(seed).at("turn"), turns), turns))


def written(text, view, past=None, head=""):
    (message,) = template_style("mine.txt", f"{head}\n[user]\n{text}").messages(view, *([past] if past else []))
    return message.content


@pytest.fixture
def kuhn():
    return next(view for view in seen("kuhn") if view.facts.facing_bet)


def test_template_writes_facts_conditions_and_loops(kuhn):
    facts = kuhn.facts
    assert written("{card}: {each actions}{number}. {item}{between}, {end}", kuhn) == f"{facts.card}: 1. FOLD, 2. CALL"
    assert (
        written("{if facing_bet}bet{else}free{end} {if not facing_bet}a{end}{if opens}b{end}", kuhn).split()[0] == "bet"
    )
    assert written(f"{{if card is {facts.card}}}yes{{else}}no{{end}}", kuhn) == "yes"
    assert written(f"{{if card is not {facts.card}}}yes{{else}}no{{end}}", kuhn) == "no"
    assert written("{if has card}{if has die}{die}{else}card{end}{end}{{card}}", kuhn) == "card{card}"


def test_lines_of_blocks_leave_no_empty_lines(kuhn):
    text = "first\n{if facing_bet}\n  {each actions}\n- {item}\n{end}\n{end}\nlast"
    assert written(text, kuhn) == "first\n- FOLD\n- CALL\nlast"


def test_loops_within_loops_have_lists_of_their_items():
    view = seen("diplomacy(judged=False)", 1)[0]
    told = written("{each places}{place}={each possible_orders}{item};{end}\n{end}", view)
    assert told == "\n".join(
        f"{slot.name}=" + "".join(f"{option};" for option in slot.options) for slot in view.choices.slots
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{crad}", "There is no fact 'crad' for line 3 of the template mine.txt in kuhn: the facts are actions, card,"),
        ("{if opens}{else}{their_card}{end}", "no fact 'their_card'"),
        ("{if crad}{end}", "no fact 'crad'"),
        ("{each actions}{crad}{end}", "no fact 'crad'"),
        ("{actions}", r"is a list: write \{each actions\}\{item\}\{end\}"),
        ("{each card}x{end}", "is no list"),
        ("{if opens}", r"\{if opens\} is not closed"),
        ("{end}", "ends nothing"),
        ("{each actions}{else}{end}", "does not belong to"),
        ("{card", "not closed or not opened"),
        ("}", "not closed or not opened"),
        ("{card.upper}", "is nothing that a template can say"),
        ("{card.__class__}", "is nothing that a template can say"),
        ("{card()}", "is nothing that a template can say"),
        ("{card + 1}", "is nothing that a template can say"),
        ("{card!r}", "is nothing that a template can say"),
        ("{card:>9999999}", "is nothing that a template can say"),
        ("{__import__}", "no fact '__import__'"),
        ("{facts}", "no fact 'facts'"),
        ("{if not has card}{card}{end}{if has crad}{card.x}{end}", "is nothing that a template can say"),
        ("{if not card is K}{end}", "compares and asks at once"),
        ("{if opens}" * 9 + "{end}" * 9, "more than 8 conditions and loops"),
        ("", "writes no text"),
    ],
)
def test_mistake_of_a_template_is_one_sentence(kuhn, text, sentence):
    with pytest.raises(BadParameter, match=sentence) as found:
        written(text, kuhn)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("text", ["mark = 3\n[user]\nx", "marks = 'x'\n[user]\nx", "no toml\n[user]\nx", "just text"])
def test_head_that_is_none_is_one_sentence(text):
    with pytest.raises(BadParameter) as found:
        template_style("mine.txt", text)
    assert "mine.txt" in str(found.value)
    assert "\n" not in str(found.value)


def test_size_of_a_prompt_is_bounded(kuhn):
    text = "{each actions}" * 8 + "x" * (MOST_CHARACTERS // 100) + "{end}" * 8
    with pytest.raises(BadParameter, match="more than 200,000 characters"):
        written(text, kuhn)
    view = seen("diplomacy(judged=False)", 1)[0]
    with pytest.raises(BadParameter, match="repeats its parts more than 100,000 times"):
        written("{each actions}" * 4 + "{end}" * 4 + "x", view)
    assert written("{each actions}" * 2 + "{end}" * 2 + "x", view) == "x"
    loops = "{each actions}" * 7 + "{if card}{end}" * 1000 + "{end}" * 7  # 128 times 1,000 conditions
    with pytest.raises(BadParameter, match="repeats its parts more than 100,000 times"):
        written(loops, kuhn)


@pytest.mark.parametrize("game", GAMES)
def test_every_fact_of_a_game_can_be_written_in_every_situation(game):
    def tell(fact):
        return f"{{each {fact.name}}}{''.join(map(tell, fact.items))}{{end}}" if fact.items else f"{{{fact.name}}}"

    for view in seen(game, 40):
        text = "".join(f"{fact.name}: {tell(fact)}\n" for fact in facts_by_name(view).values())
        assert view.rules in written(text, view)


@pytest.mark.parametrize("game", ["kuhn", "kuhn-spiel", "leduc", "auction", "negotiation-v2", "resistance"])
def test_facts_are_the_same_for_every_state_that_the_seat_cannot_tell_apart(game):
    def values(view):
        return {
            name: written(f"{name}{{each {name}}}{''.join(f'{{{i.name}}}' for i in fact.items if not i.items)}{{end}}"
                          if fact.items else f"{name}{{{name}}}", view)
            for name, fact in facts_by_name(view).items()
        }  # fmt: skip

    state = make_game(game).start(Key(5).at("chance"))
    for turn in range(6):
        if state.over:
            break
        for seat in state.to_act:
            for draw in range(4):
                other = state.resample(seat, Key(draw).at("other"))
                assert values(other.view(seat)) == values(state.view(seat))
        state.play({s: state.view(s).choices.sample(Key(5).at("move", turn, s)) for s in state.to_act})


def test_disguise_hides_the_facts_of_the_game(kuhn):
    seen_so = generate_disguise(kuhn.game, 1).view(kuhn)
    assert written("{rules}", seen_so) == seen_so.rules != kuhn.rules
    for name in ("card", "game", "state"):
        with pytest.raises(BadParameter, match=f"no fact '{name}' .* in a game under a disguise"):
            written(f"{{{name}}}", seen_so)


def test_memory_of_earlier_episodes_is_told_only_where_the_head_says_so():
    view = make_game("ipd-shapellm(labels=(C, D))").start(Key(0)).view(0)
    past = Past({("C", "D"): 2, ("D", "D"): 1}, ("C", "D"), 3)
    text = "{each occurrences}{mine}{theirs}:{times} {end}{last_mine}{last_theirs}."
    assert written(text, view, past) == "."
    assert written(text, view, past, "earlier_episodes = true") == "CC:0 CD:1 DC:0 DD:1 CD."
    assert written("{each memory}{actions} {times};{end}", view, past, "earlier_episodes = true") == "C/D 2;D/D 1;"


def test_shapellm_prompts_of_the_paper_tell_what_the_style_tells():
    view = make_game("ipd-shapellm(labels=(C, D))").start(Key(0)).view(0)
    past = Past({("C", "D"): 2, ("D", "D"): 1}, ("C", "D"), 3)
    for shows in ("base", "state", "occurrence"):
        ours, papers = make_style(f"shapellm-{shows}"), make_style(f"shapellm-paper-{shows}")
        assert (ours.memory, ours.recalls) == (papers.memory, papers.recalls)
        (text,) = (message.content for message in papers.messages(view, past))
        assert "C/C: 3/3, C/D: 0/4, D/C: 4/0, D/D: 1/1." in text
        assert ("CC:0, CD:1, DC:0, DD:1." in text) is (shows == "occurrence")
        assert ("<STATE>You played C" in text) is (shows == "occurrence")
        assert text.endswith("Answer with C or D and nothing else.")


MARKDOWN = "|   | **C** | **D** |\n|---|---|---|\n| **C** | (3, 3) | (0, 4) |\n| **D** | (4, 0) | (1, 1) |"


@pytest.mark.parametrize(
    ("variant", "part"),
    [
        ("table", f"points:\n\n{MARKDOWN}\n\n"),
        ("switched", "actions D, C. A round gives these points: D/D: 1/1, D/C: 4/0, C/D: 0/4, C/C: 3/3."),
        ("system", "C/C: 3/3, C/D: 0/4, D/C: 4/0, D/D: 1/1."),
    ],
)
def test_shapellm_prompts_of_the_paper_have_variants(variant, part):
    """Figures 5, 7 and 11; history and question are those of the other prompts."""
    view = make_game("ipd-shapellm(labels=(C, D))").start(Key(0)).view(0)
    past = Past({("C", "D"): 2, ("D", "D"): 1}, ("C", "D"), 3)
    for shows in ("state", "occurrence"):
        plain, style = make_style(f"shapellm-paper-{shows}"), make_style(f"shapellm-paper-{shows}-{variant}")
        assert (plain.memory, plain.recalls) == (style.memory, style.recalls)
        (message,), messages = plain.messages(view, past), style.messages(view, past)
        roles = ["system", "user"] if variant == "system" else ["user"]
        assert [one.role for one in messages] == roles
        assert part in messages[0].content
        assert messages[-1].content.endswith(message.content.partition("D/D: 1/1.\n")[2])


def test_shapellm_prompts_of_the_paper_say_own_labels():
    """Labels of Table 13 are those of a whole prompt; the other player has its own."""
    game = make_game("ipd-shapellm(labels=(C, D), labels_second=(H, K))")
    past = Past({("K", "C"): 2, ("H", "D"): 1}, ("K", "C"), 3)
    view = game.start(Key(0)).view(1)
    for variant in ("", "-table", "-switched", "-system"):
        whole = " ".join(one.content for one in make_style(f"shapellm-paper-occurrence{variant}").messages(view, past))
        assert "HH:0, HK:1, KH:1, KK:0." in whole
        assert "<STATE>You played K in the last round, and the other player played H." in whole
        assert not {"C", "D"} & set(re.findall(r"\b[A-Z]\b", whole.replace("A round", "")))
    payoffs = "[((1,-1),(0,0),(0,0)),((0,0),(1,-1),(0,0))]"
    uneven = make_game(f"matrix(payoffs={payoffs}, labels=(A, B), labels_second=(X, Y, Z))").start(Key(0)).view(0)
    assert written("{each payoffs}{mine}{theirs_as_own} {end}", uneven) == "AX AY AZ BX BY BZ "


@pytest.mark.parametrize("game", SCOPAL)
def test_scopal_prompts_of_the_paper_list_moves_and_no_legal_moves(game):
    style = make_style("scopal-paper")
    for view in seen(game, 8):
        system, user = style.messages(view)
        assert (system.role, user.role) == ("system", "user")
        told = user.content.replace(view.rules, "")
        assert not set(told.split()) & {"<" + action + ">" for action in view.choices}
        assert told.endswith("as in <MOVE>, on the last line.")
    if game == "tic-tac-toe":
        assert "The moves of the other player so far: " in told
        assert "  A B C" not in told


def test_bets_of_kuhn_poker_are_those_of_each_seat():
    for name in ("kuhn", "kuhn-spiel"):
        state = make_game(name).start(Key(0).at("chance"))
        for move in ("PASS", "BET"):
            state.play({state.to_act[0]: move})
        told = written(
            "own {each own_moves}{item}{end}, other {each other_moves}{item}{end}", state.view(state.to_act[0])
        )
        assert told == "own PASS, other BET"
    state = make_game("kuhn").start(Key(0).at("chance"))
    state.play({0: "BET"})
    assert (
        written("own {each own_moves}{item}{end}, other {each other_moves}{item}{end}", state.view(1))
        == "own , other BET"
    )


def test_moves_of_a_board_game_are_those_of_each_seat():
    state = make_game("tic-tac-toe").start(Key(0))
    for seat, move in ((0, "A1"), (1, "B2"), (0, "C3")):
        state.play({seat: move})
    text = (
        "{each own_moves}{item} {end}/{each other_moves}{item} {end}/{last_other_move}/{each moves}{own}{action} {end}"
    )
    assert written(text, state.view(1)) == "B2 /A1 C3 /C3/noA1 yesB2 noC3 "


def test_diplomacy_prompt_of_the_paper_lists_the_orders_and_asks_for_reasons_first():
    style = make_style("diplomacy-paper")
    assert (style.mark, style.close) == ("<orders>\n", "</orders>")
    for view in seen("diplomacy(judged=False)", 30):
        (message,) = style.messages(view)
        assert all(option in message.content for slot in view.choices.slots for option in slot.options)
        assert f"Power: {view.facts.power}\nPhase: {view.facts.board.phase}\n" in message.content
        assert f"Give your reasons first. Then write {view.choices.fill} orders" in message.content


def test_styles_of_the_papers_are_templates_without_words_of_code():
    assert [make_style(name).name for name in PAPERS] == [*PAPERS]


def test_coverage_names_the_facts_that_a_text_never_tells():
    views_seen = seen("kuhn", 40)
    whole = template_style("a.txt", "[user]\n{rules}{situation}{choices}")
    assert not list(find_omissions(whole, views_seen))
    part = list(find_omissions(template_style("b.txt", "[user]\n{card}"), views_seen))
    assert (
        part[0] == "Facts of the game that the text never names: own_moves, other_moves, seat, line, opens, facing_bet."
    )
    assert part[1].startswith("The text never names the rules")
    assert part[2] == "The text never names the legal actions."
    assert part[3].startswith("Two situations have the same prompt: ")
    assert not list(find_omissions(make_style("bare"), views_seen))


def test_template_file_is_a_style_wherever_a_style_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text("[user]\nMy card: {card}. {choices}")
    with pytest.raises(SystemExit) as ended:
        main(["prompt", "kuhn", "--style", "template:mine.txt", "--turns", "1"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "My card: " in out
    assert "Facts of the game that the text never names: own_moves" in out
    shown = sg.prompt("kuhn", "template:mine.txt", turns=1)
    assert shown.prompts[0].messages[0].content.startswith("My card: ")
    assert shown.untold
    player = make_player("lm(tiny, style=template:mine.txt, mode=direct)", make_game("kuhn"))
    (chat,) = player.prompts_in([seen("kuhn", 1)[0]])
    assert chat[0][1].startswith("My card: ")
    before = digest_of([chat])
    Path("mine.txt").write_text("[user]\nCard {card}. {choices}")
    again = make_player("lm(tiny, style=template:mine.txt, mode=direct)", make_game("kuhn"))
    assert digest_of(again.prompts_in([seen("kuhn", 1)[0]])).digest != before.digest


def test_file_that_is_no_template_is_not_read_as_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadParameter, match=r"There is no template 'mine.txt': tried .*mine.txt"):
        make_style("template:mine.txt")
    Path("key.pem").write_text("secret")
    with pytest.raises(BadParameter, match=r"a text file whose name ends in .txt"):
        make_style("template:key.pem")
    Path("notes.txt").write_text("secret")
    with pytest.raises(BadParameter, match="has no message") as found:
        make_style("template:notes.txt")
    assert "secret" not in str(found.value)
    Path("large.txt").write_text("x" * 70_000)
    with pytest.raises(BadParameter, match="larger than"):
        make_style("template:large.txt")
    Path("bytes.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(BadParameter, match="cannot be read as text"):
        make_style("template:bytes.txt")
    with pytest.raises(UnknownName, match=r"template:FILE.txt|did you mean"):
        make_style("templat")


def test_run_keeps_a_copy_of_its_template_and_goes_on_with_it(tmp_path, monkeypatch):
    (tmp_path / "recipes").mkdir()
    recipe = tmp_path / "recipes" / "r.toml"
    recipe.write_text('algorithm = "sepo"\nmodel = "tiny"\ngames = ["kuhn(hands=1)"]\nstyle = "template:mine.txt"\n')
    (tmp_path / "recipes" / "mine.txt").write_text("[user]\nMy card: {card}. {choices}")
    monkeypatch.chdir(tmp_path)
    with naming():
        made = read_any(recipe)
        run = RunFolder.create(tmp_path / "run", made, made.seed, "a test")
        bound(made, run)
    (file,) = run.info().files
    assert (file.name, file.copied_as) == ("mine.txt", "mine.txt")
    assert (run.path / "files" / "mine.txt").read_text().startswith("[user]")
    (tmp_path / "recipes" / "mine.txt").write_text("[user]\nAnother text, {card}.")
    monkeypatch.chdir("/")
    with naming():
        style = make_style(recipe_of(run).style)
        assert style.messages(seen("kuhn", 1)[0])[0].content.startswith("My card: ")
    assert "template:mine.txt" in tomllib.loads((run.path / "config.toml").read_text())["style"]


@pytest.mark.runs
def test_model_trained_with_a_template_plays_with_the_copy_of_its_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text("[user]\nMy card: {card}. {choices}")
    settings = {"algorithm": "sepo", "model": "tiny", "style": "template:mine.txt", **RECIPES["sepo"]}
    recipe = algorithm_of(settings).recipe_type.read(settings)
    bound(recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test")).train()
    Path("mine.txt").unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    player = make_player(f"run:{tmp_path / 'run'}@last", make_game("kuhn(hands=1)"))
    (chat,) = player.prompts_in([seen("kuhn(hands=1)", 1)[0]])
    assert chat[0][1].startswith("My card: ")
    assert "template" not in player.name


def test_replies_to_learn_from_reason_where_a_template_says_so():
    """SEPO's replies have a trace before the action (section 3.5), although its prompt has no mark."""
    assert reasons(make_style("sepo-paper"))
    assert not reasons(make_style("scopal-paper"))
    assert not reasons(make_style("plain"))
    assert reply(make_style("sepo-paper"), "DEFECT", "Nobody answers.") == "Nobody answers.\nDEFECT"
