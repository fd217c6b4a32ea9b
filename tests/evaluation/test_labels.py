"""Choosing labels: what is asked, how it is read, and which pair is nearest to a target."""

import itertools
import json
import math
import xml.etree.ElementTree as ElementTree

import pytest
from label_maps import BINS, density, letters, maps_json
from label_picture import picture
from label_record import Asked, resumed, scan_json
from label_worlds import Formula, scene, spoken

from stratagem.base.errors import BadParameter, BadRecord, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.language.engines.base import PLAIN
from stratagem.language.prompting.catalogue import make_style
from stratagem.measure.labels import (
    PAIRS,
    TARGETS,
    LabelReading,
    divergence,
    num_batches,
    rank,
    scan,
    scene_of,
)

TABLE_14 = {
    "ipd": {
        ("H", "K"): (0.60, 0.89, 0.89, 0.70, 0.68),
        ("N", "Y"): (0.68, 0.38, 0.87, 0.58, 0.77),
        ("I", "X"): (0.12, 0.21, 0.75, 0.34, 0.24),
    },
    "imp": {
        ("S", "Y"): (0.71, 0.78, 0.87, 0.57, 0.70),
        ("N", "Y"): (0.48, 0.32, 0.60, 0.56, 0.66),
        ("N", "M"): (0.30, 0.20, 0.36, 0.13, 0.18),
    },
    "icg": {
        ("T", "K"): (0.61, 0.90, 0.87, 0.82, 0.82),
        ("N", "M"): (0.41, 0.40, 0.71, 0.37, 0.61),
        ("T", "F"): (0.24, 0.47, 0.47, 0.02, 0.11),
    },
}
"""ShapeLLM's Table 14: the first action's probabilities under the pairs that its Table 13 chose."""


def of(first, second=None):
    """A reading in which nothing else is said unless told."""
    return LabelReading(tuple(first), tuple(1 - p for p in first) if second is None else tuple(second))


def whole(engine, asked=None, pairs=PAIRS, **options):
    found = {}
    for some in scan(engine, asked or scene(), pairs, **options):
        found.update(some)
    return found


def prompts(asked, labels=("K", "X")):
    """Return the seat's prompts in the five states."""
    return [asked.style.messages(view)[-1].content for view in asked.views(labels)]


def test_every_ordered_pair_of_capitals_is_asked_about_once():
    assert len(PAIRS) == len(set(PAIRS)) == 650
    assert all(a != b and a.isupper() and b.isupper() for a, b in PAIRS)
    found = whole(Formula())
    assert list(found) == list(PAIRS)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_five_prompts_put_ones_own_action_first(seat):
    asked = scene(seat=seat)
    texts = prompts(asked)
    assert asked.states == ("start", "C/C", "C/D", "D/C", "D/D")
    assert "Last round" not in texts[0]
    for text, (mine, theirs) in zip(texts[1:], itertools.product("KX", repeat=2), strict=True):
        assert f"Last round you played {mine}, they played {theirs}." in text


def test_both_players_go_by_the_pair_whatever_the_game_calls_them():
    asked = scene("ipd-shapellm(labels=[U,V], labels_second=[Y,Z])")
    assert asked.states == ("start", "Y/U", "Y/V", "Z/U", "Z/V")
    for text in prompts(asked):
        assert "both choose K or X" in text
        assert not {"U", "V", "Z"} & set(text)


def test_the_seat_asked_is_told_its_own_payoffs():
    told = "If you play K and they play K, you get {} and they get {}."
    assert told.format("1", "-1") in prompts(scene("imp", seat=0))[0]
    assert told.format("-1", "1") in prompts(scene("imp", seat=1))[0]


def test_a_question_is_one_token_of_the_whole_vocabulary():
    engine = Formula()
    whole(engine, pairs=[("K", "X")], adapter="trained")
    (requests,) = engine.batches
    assert len(requests) == 5
    for request in requests:
        assert request.nodes == (((), (ord("K"), ord("X")), False),)
        assert request.adapter == "trained"
        assert request.sampling == PLAIN


def test_a_reading_is_what_the_model_says():
    read = whole(Formula(), pairs=[("B", "D")])["B", "D"]
    assert read.first == pytest.approx((0.002, 0.004, 0.004, 0.002, 0.002))
    assert read.second == pytest.approx((0.004, 0.004, 0.004, 0.008, 0.008))
    assert read.legal == pytest.approx((0.006, 0.008, 0.008, 0.010, 0.010))
    assert read.share == pytest.approx((1 / 3, 1 / 2, 1 / 2, 1 / 5, 1 / 5))


@pytest.mark.parametrize("batch", [1, 7, 25, 1000])
def test_batches_change_nothing(batch):
    engine, said = Formula(), []
    pairs = PAIRS[:40]
    found = whole(engine, pairs=pairs, batch=batch, progress=said.append)
    assert found == whole(Formula(), pairs=pairs)
    assert len(engine.batches) == len(said) == num_batches(pairs, batch) == math.ceil(40 / batch)
    assert said[0] == "labels from A/B"


def test_labels_of_several_tokens_are_left_out():
    found = whole(Formula())
    unusable = [pair for pair, read in found.items() if read is None]
    assert unusable == [pair for pair in PAIRS if "Q" in pair]
    assert len(rank(found, (0.5,) * 5)) == 600


def test_a_letter_that_the_tokenizer_cannot_write_is_left_out():
    engine = Formula()
    encode = engine.vocabulary.encode
    engine.vocabulary.encode = lambda text: encode(text.replace("Z", "z"))
    assert [pair for pair, read in whole(engine).items() if read is None] == [
        pair for pair in PAIRS if set(pair) & {"Q", "Z"}
    ]


def test_the_divergence_is_from_the_target_to_the_model():
    read = of((0.5, 0.5, 0.5, 0.5, 0.9))
    half, ninth = 0.75 * math.log(1.5) + 0.25 * math.log(0.5), 0.75 * math.log(0.75 / 0.9) + 0.25 * math.log(2.5)
    assert divergence((0.75,) * 5, read) == pytest.approx((4 * half + ninth) / 5)
    assert divergence(read.share, read) == 0.0
    assert divergence((1.0,) * 5, of((0.25,) * 5)) == pytest.approx(math.log(4))
    assert divergence((0.0,) * 5, of((0.0,) * 5)) == 0.0
    assert divergence((0.5,) * 5, of((1.0,) * 5)) == math.inf


def test_what_is_said_beside_the_labels_does_not_count():
    read = of((0.3,) * 5, (0.1,) * 5)
    assert divergence((0.5,) * 5, read) == pytest.approx(divergence((0.5,) * 5, of((0.75,) * 5)))
    assert divergence((0.5,) * 5, of((0.0,) * 5, (0.0,) * 5)) == math.inf


@pytest.mark.parametrize("game", TABLE_14)
def test_of_the_papers_pairs_each_is_the_nearest_to_its_target(game):
    found = {labels: of(share) for labels, share in TABLE_14[game].items()}
    assert [rank(found, (target,) * 5)[0].labels for target in TARGETS] == list(found)


def test_the_nearest_comes_first_and_ties_go_by_the_alphabet():
    found = {("B", "A"): of((0.6,) * 5), ("A", "B"): of((0.6,) * 5), ("C", "A"): of((0.5,) * 5), ("D", "A"): None}
    assert [pair.labels for pair in rank(found, (0.5,) * 5)] == [("C", "A"), ("A", "B"), ("B", "A")]
    assert rank(found, (0.5,) * 5)[1].kl == pytest.approx(0.5 * math.log(0.25 / 0.24))


def test_pairs_that_are_hardly_ever_said_can_be_left_out():
    found = {("A", "B"): of((0.1,) * 5, (0.1,) * 5), ("C", "D"): of((0.4,) * 5, (0.3,) * 5)}
    assert [pair.labels for pair in rank(found, (0.5,) * 5, min_legal=0.3)] == [("C", "D")]
    assert len(rank(found, (0.5,) * 5, min_legal=0.2)) == 2


@pytest.mark.parametrize(
    ("game", "style", "seat", "sentence"),
    [
        ("kuhn", "plain", 0, "matrix games of two actions a seat"),
        (
            "matrix(payoffs=[[(1, 1), (0, 0), (2, 2)], [(1, 1), (2, 1), (0, 0)]], labels_second=[A,B,C])",
            "plain",
            0,
            "two",
        ),
        ("prisoners-dilemma", "plain", 0, "over after one round"),
        ("ipd-shapellm", "reasoned", 0, "'Action:' comes before the action"),
        ("ipd-shapellm", "shapellm-state", 2, "seats 0 and 1, not 2"),
    ],
)
def test_games_and_styles_that_have_no_five_prompts(game, style, seat, sentence):
    with pytest.raises(BadParameter, match=sentence):
        scene_of(make_game(game), make_style(style), seat)


def test_a_model_without_probabilities_is_refused():
    with pytest.raises(CannotCompute, match="formula does not tell"):
        whole(Formula(scores=False))
    engine = Formula()
    engine.node = lambda prompt, ask: (math.nan, 0.0)
    with pytest.raises(CannotCompute, match="no numbers"):
        whole(engine)


def test_densities_count_pairs_by_both_probabilities():
    found = {
        ("A", "B"): of((0.92,), (0.03,)),
        ("B", "A"): of((0.91,), (0.04,)),
        ("C", "A"): of((0.0,), (1.0,)),
        ("D", "A"): None,
    }
    counts = density(found, 0)
    assert counts[0][18] == 2
    assert counts[BINS - 1][0] == 1
    assert sum(map(sum, counts)) == 3


def test_letters_are_the_first_label_by_row():
    found = whole(Formula())
    table = letters(found, 3)
    expected = [spoken(letter, "you played D") for letter in "BD"]
    assert table[1][3] == pytest.approx(expected[0] / sum(expected))
    assert all(table[place][place] is None for place in range(26))
    assert sum(cell is not None for row in table for cell in row) == 600
    assert list(maps_json(found, scene().states)) == ["start", "C/C", "C/D", "D/C", "D/D"]


def test_the_picture_shows_every_pair_and_every_cell():
    found = whole(Formula())
    root = ElementTree.fromstring(picture(found, scene().states, ("C", "D"), "a <model> & its game"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    tips = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "a <model> & its game" in texts
    assert "after D/C" in texts
    assert tips.count("B/D: 0.333") == 1
    assert sum(":" in tip for tip in tips) == 5 * 600
    assert sum(int(tip.split()[0]) for tip in tips if "pairs" in tip) == 5 * 600


def test_a_picture_of_nothing_can_be_drawn():
    root = ElementTree.fromstring(picture({}, scene().states, ("C", "D"), "nothing"))
    assert "nothing" in [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def asking(model="formula", style="shapellm-state", **options):
    return Asked(model, style, scene(style=style, **options))


def test_a_scan_is_kept_and_gone_on_with(tmp_path):
    path, found = tmp_path / "scan.json", whole(Formula(), pairs=PAIRS[:60])
    path.write_text(json.dumps(scan_json(asking(), found, {})))
    assert resumed(path, asking()) == found
    assert resumed(tmp_path / "none.json", asking()) == {}


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (asking(model="tiny"), "another model, 'formula' and not 'tiny'"),
        (asking(seat=0), "another seat"),
        (asking(game="icg"), "another game"),
        (asking(style="shapellm-base"), "another style"),
    ],
    ids=["model", "seat", "game", "style"],
)
def test_a_scan_of_something_else_is_refused(tmp_path, other, sentence):
    path = tmp_path / "scan.json"
    path.write_text(json.dumps(scan_json(asking(), whole(Formula(), pairs=PAIRS[:5]), {})))
    with pytest.raises(BadRecord, match=sentence):
        resumed(path, other)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:300],
        lambda text: "[]",
        lambda text: "\udcff",
        lambda text: text.replace('["A", "B"]', '["A", "A"]'),
        lambda text: text.replace('["A", "B"]', '["A", "BC"]'),
        lambda text: text.replace('"first": [', '"first": [null, '),
        lambda text: text.replace('"first": [', '"first": [0.1, '),
        lambda text: text.replace('"first": [0.', '"first": [7.'),
        lambda text: text.replace('"pairs": [', '"pairs": [3, '),
        lambda text: "[" * 100_000,
    ],
)
def test_a_file_that_is_no_scan_is_refused(tmp_path, spoil):
    path = tmp_path / "scan.json"
    text = json.dumps(scan_json(asking(), whole(Formula(), pairs=PAIRS[:5]), {}))
    assert spoil(text) != text
    path.write_text(spoil(text), errors="surrogateescape")
    with pytest.raises(BadRecord, match="holds no scan"):
        resumed(path, asking())
    path.write_text(text)
    assert len(resumed(path, asking())) == 5


def test_the_best_and_the_maps_are_told_once_all_pairs_are_known():
    found = whole(Formula())
    best = {(0.5,) * 5: rank(found, (0.5,) * 5)[:2]}
    data = scan_json(asking(), found, best)
    assert data["complete"]
    assert len(data["pairs"]) + len(data["unusable"]) == 650
    (told,) = data["targets"]
    assert told["target"] == [0.5] * 5
    assert [pair["kl"] for pair in told["best"]] == [pair.kl for pair in best[(0.5,) * 5]]
    assert set(data["maps"]["C/D"]) == {"density", "letters"}
    some = scan_json(asking(), dict(itertools.islice(found.items(), 649)), best)
    assert not some["complete"]
    assert not {"targets", "maps"} & set(some)


def test_a_real_engine_says_what_the_model_says():
    import torch

    from stratagem.language.engines.transformers_engine import TransformersEngine
    from stratagem.language.models.load import load

    lm = load("tiny")
    pairs = [("C", "D"), ("D", "C"), ("Q", "Z")]
    found = whole(TransformersEngine(lm), pairs=pairs)
    for labels in pairs:
        for state, text in enumerate(prompts(scene(), labels)):
            tokens = lm.chat([{"role": "user", "content": text}])
            with torch.no_grad():
                says = lm.model(torch.tensor([tokens])).logits[0, -1].double().softmax(-1)
            (first,), (second,) = (lm.encode(label) for label in labels)
            assert found[labels].first[state] == pytest.approx(says[first].item(), rel=1e-4)
            assert found[labels].second[state] == pytest.approx(says[second].item(), rel=1e-4)
