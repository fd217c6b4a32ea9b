"""Legend of an evaluation: sentences about the figures that are printed, and about no others."""

import pytest

import stratagem as sg

SCALED = "On the common scale, that of payoff, pool advantage, shifted payoff, safety, mutual cooperation has payoff 3."
NRA = "NRA: normalised relative advantage, from -1 to 1 (GTBench)."


@pytest.fixture(scope="module")
def found():
    return sg.evaluate("kuhn", "random", episodes=2, chance=False, progress=False)


@pytest.mark.parametrize(("everything", "explained"), [(False, False), (True, True)])
def test_only_the_figures_of_the_printed_tables_are_explained(found, everything, explained):
    legend = found.legend(found.tables() if everything else found.main_tables())
    assert [SCALED in legend, NRA in legend] == [explained, explained]
    assert any(line.startswith("exploitability: gain a round of a best response") for line in legend)


def test_every_figure_of_a_table_has_its_line(found):
    tables = found.tables()
    labels = {figure.label for table in tables for figure in table.figures.values()}
    assert labels <= {line.partition(":")[0] for line in found.legend(tables)}
