"""Layout of a board and of a sheet of orders as arrays of whole numbers."""

from __future__ import annotations

UNIT, POWER, LOST, LOSER, REFUGES, OWNER, CLOCK = range(7)
"""Rows of a board, by province: node and power of the unit; node, power and possible retreats of the dislodged unit (a
bit for each node in its reach); owner of the centre. The last row has the year, the phase, and whether it is over."""
NUM_ROWS = 7
YEAR, PHASE, OVER = range(3)
"""Places in the row CLOCK."""
SPRING, SPRING_RETREATS, FALL, FALL_RETREATS, WINTER = range(5)
"""Phases of a year."""
HOLD, MOVE, SUPPORT_HOLD, SUPPORT_MOVE, CONVOY, RETREAT, DISBAND, BUILD = range(1, 9)
"""Kinds of orders; 0 is no order."""
KIND, WHOM, WHERE, EXTRA = range(4)
"""Columns of orders, by province of the unit.

| kind | WHOM | WHERE | EXTRA |
| --- | --- | --- | --- |
| move, retreat | node | province | 1 for VIA |
| support | province of the unit | province | node of the coast that it names, or -1 |
| convoy | province of the army | province | |
| build | node | | |
"""
BOUNCE, VOID, CUT, DISLODGED, NO_CONVOY, DISRUPTED, DISBANDED, MAYBE = (1 << bit for bit in range(8))
"""Bits of a result."""
NUM_POWERS = 7
WIN = 18
"""Centres that win alone."""
