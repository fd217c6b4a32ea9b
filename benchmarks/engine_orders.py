"""Legal orders in the shape of Diplomacy's: the strings that the benchmark of constrained decoding works on.

One power's units stand in western Europe beside others', and may hold, move, go by convoy, support and carry. Many of
the orders are the beginning of another: `A PAR S A MAR` and `A PAR S A MAR - BUR`, `A BRE - LON` and `A BRE - LON VIA`.
"""

from __future__ import annotations

from collections.abc import Iterator

BORDERS = (
    "BRE-PAR BRE-PIC BRE-GAS BRE-ENG BRE-MAO PIC-PAR PIC-BUR PIC-BEL PIC-ENG PAR-BUR PAR-GAS GAS-BUR GAS-MAR GAS-SPA "
    "GAS-MAO MAR-BUR MAR-SPA MAR-PIE MAR-LYO BUR-BEL BUR-RUH BUR-MUN BEL-HOL BEL-RUH BEL-NTH BEL-ENG HOL-RUH HOL-KIE "
    "HOL-NTH HOL-HEL RUH-KIE RUH-MUN KIE-MUN KIE-BER KIE-HEL KIE-DEN MUN-BER MUN-TYR MUN-BOH SPA-POR SPA-MAO SPA-WES "
    "SPA-LYO POR-MAO PIE-TYR PIE-TUS PIE-VEN PIE-LYO LON-WAL LON-YOR LON-NTH LON-ENG WAL-LVP WAL-YOR WAL-ENG WAL-IRI "
    "LVP-YOR LVP-EDI LVP-IRI LVP-NAO YOR-EDI YOR-NTH EDI-NTH EDI-NWG ENG-NTH ENG-IRI ENG-MAO IRI-MAO IRI-NAO MAO-NAO "
    "MAO-WES MAO-NAF NTH-HEL NTH-DEN NTH-NWY NTH-NWG WES-LYO WES-TUN WES-TYS LYO-TYS LYO-TUS HEL-DEN"
)
SEAS = frozenset(("ENG", "IRI", "MAO", "NAO", "NTH", "HEL", "NWG", "WES", "LYO", "TYS"))
INLAND = frozenset(("PAR", "BUR", "RUH", "MUN", "BOH", "TYR"))
OWN = (
    "A PAR",
    "A GAS",
    "A BRE",
    "A PIC",
    "A BEL",
    "A BUR",
    "A HOL",
    "A MAR",
    "F ENG",
    "F NTH",
    "F MAO",
    "F SPA",
    "F LYO",
)
OTHERS = (
    "A RUH",
    "A MUN",
    "A KIE",
    "F LON",
    "A WAL",
    "F IRI",
    "A POR",
    "A PIE",
    "F WES",
    "F HEL",
    "A YOR",
    "F TUS",
    "A EDI",
    "A DEN",
)


def _neighbours() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for border in BORDERS.split():
        one, other = border.split("-")
        found.setdefault(one, []).append(other)
        found.setdefault(other, []).append(one)
    return found


NEAR = _neighbours()


def steps(unit: str) -> list[str]:
    """Where a unit can go by itself: armies on land, fleets at sea and along the coast."""
    kind, place = unit.split()
    return [to for to in NEAR[place] if to not in (SEAS if kind == "A" else INLAND)]


def voyages(unit: str) -> list[str]:
    """Where an army can be carried over one sea that has a fleet in it."""
    kind, place = unit.split()
    fleets = {fleet.split()[1] for fleet in (*OWN, *OTHERS) if fleet.startswith("F")}
    seas = [sea for sea in NEAR[place] if kind == "A" and sea in SEAS & fleets]
    coasts = (to for sea in seas for to in NEAR[sea] if to not in SEAS | INLAND and to != place)
    return list(dict.fromkeys(coasts))


def legal(unit: str) -> Iterator[str]:
    """Every order of a unit."""
    yield f"{unit} H"
    yield from (f"{unit} - {to}" for to in steps(unit))
    yield from (f"{unit} - {to} VIA" for to in voyages(unit))
    for other in (*OWN, *OTHERS):
        if other == unit:
            continue
        if other.split()[1] in steps(unit):
            yield f"{unit} S {other}"
        yield from (f"{unit} S {other} - {to}" for to in steps(other) if to in steps(unit))
        if unit.startswith("F") and (sea := unit.split()[1]) in SEAS:
            yield from (
                f"{unit} C {other} - {to}" for to in voyages(other) if {sea} <= {*NEAR[to]} & {*NEAR[other[2:]]}
            )


def sheet() -> dict[str, list[str]]:
    """The orders of each unit of the power."""
    return {unit: list(legal(unit)) for unit in OWN}


def strings() -> list[str]:
    """All of them in one list."""
    return [order for orders in sheet().values() for order in orders]
