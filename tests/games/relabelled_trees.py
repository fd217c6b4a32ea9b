"""Trees of the same game under other names, orders and scales, and trees of slightly other games.

A nested tree is made of nodes (CHANCE, probabilities, children), (seat, set, children) and (TERMINAL, returns).
"""

from collections import defaultdict

import numpy as np

from stratagem.games.tree import CHANCE, TERMINAL, GameTree, RoundKind
from stratagem.games.tree_sets import InformationSets, SetColumns


def nested(tree, node=0):
    """Return the nodes of a tree from one on, as tuples in tuples."""
    mover = int(tree.mover[node])
    if mover == TERMINAL:
        return (TERMINAL, tree.returns[node].tolist())
    children = [nested(tree, child) for child in tree.children(node)]
    if mover == CHANCE:
        first = int(tree.first_child[node])
        return (CHANCE, tree.probability[first : first + len(children)].tolist(), children)
    return (mover, int(tree.information_set[node]), children)


def changed(node, change):
    """Return a nested tree with every node changed, the leaves first."""
    if node[0] == TERMINAL:
        return change(node)
    return change((node[0], node[1], [changed(child, change) for child in node[2]]))


def laid_out(root, game, num_seats):
    """Return the game tree of a nested one."""
    columns = defaultdict(list)
    depths, layer, sets, sizes, seats, before = [0], [(root, -1, 0, 1.0, (-1,) * num_seats)], {}, [], [], []
    first = 1
    while layer:
        after = []
        for node, parent, choice, probability, recall in layer:
            number, children = len(columns["parent"]), node[2] if node[0] != TERMINAL else []
            known = -1
            if node[0] >= 0:
                known = sets.setdefault(node[1], len(sets))
                if known == len(sizes):
                    sizes.append(len(children))
                    seats.append(node[0])
                    before.append(recall[node[0]])
                assert (sizes[known], seats[known], before[known]) == (len(children), node[0], recall[node[0]])
            values = {
                "parent": parent,
                "mover": node[0],
                "information_set": known,
                "choice": choice,
                "probability": probability,
                "first_child": first + len(after),
                "num_children": len(children),
                "returns": node[1] if node[0] == TERMINAL else [0.0] * num_seats,
                "rounds": 1,
            }
            for name, value in values.items():
                columns[name].append(value)
            for place, child in enumerate(children):
                own = tuple((known, place) if seat == node[0] else last for seat, last in enumerate(recall))
                after.append((child, number, place, node[1][place] if node[0] == CHANCE else 1.0, own))
        first += len(after)
        depths.append(len(columns["parent"]))
        layer = after
    arrays = {name: np.array(values) for name, values in columns.items()}
    starts = np.cumsum([0, *sizes])
    slots = [-1 if one == -1 else int(starts[one[0]]) + one[1] for one in before]
    options = [OptionsOf(size) for size in range(max(sizes, default=0) + 1)]
    of_sets = SetColumns(
        seat=np.array(seats, dtype=np.int64),
        before=np.array(slots, dtype=np.int64),
        turn=np.zeros(len(sizes), dtype=np.int64),
        option=np.array(sizes, dtype=np.int64),
        node=np.zeros(len(sizes), dtype=np.int64),
        options=options,
    )
    known = InformationSets(game, None, of_sets, arrays["parent"], arrays["choice"], arrays["information_set"])
    return GameTree(
        game=game, depths=np.array(depths), information_sets=known, kinds=(RoundKind(1.0, (0,), known),), **arrays
    )


class OptionsOf:
    """Actions of a set, by number."""

    def __init__(self, size):
        self.actions = self.moves = tuple(f"action {number}" for number in range(size))


def relabelled(root, rng, num_seats):
    """Return a nested tree under other names and scales: actions, outcomes, sets, seats and payoffs."""
    seats = rng.permutation(num_seats).tolist()
    scales, shifts = rng.uniform(0.5, 9.0, num_seats), rng.uniform(-5.0, 5.0, num_seats)
    orders, names = {}, {}

    def change(node):
        if node[0] == TERMINAL:
            returns = [0.0] * num_seats
            for seat, value in enumerate(node[1]):
                returns[seats[seat]] = float(value * scales[seat] + shifts[seat])
            return (TERMINAL, returns)
        if node[0] == CHANCE:
            order = rng.permutation(len(node[2]))
            return (CHANCE, [node[1][place] for place in order], [node[2][place] for place in order])
        order = orders.setdefault(node[1], rng.permutation(len(node[2])))
        name = names.setdefault(node[1], float(rng.random()))
        return (seats[node[0]], name, [node[2][place] for place in order])

    return changed(root, change)


def with_chance_in_steps(root):
    """Return a nested tree whose outcomes of chance are drawn one after the other: this one, or a later one."""

    def change(node):
        if node[0] != CHANCE or len(node[2]) < 3:
            return node
        rest = 1.0 - node[1][0]
        later = change((CHANCE, [share / rest for share in node[1][1:]], node[2][1:]))
        return (CHANCE, [node[1][0], rest], [node[2][0], later])

    return changed(root, change)


def with_forced_moves(root):
    """Return a nested tree in which each decision follows a move without an alternative."""
    return changed(root, lambda node: (node[0], ("forced", node[1]), [node]) if node[0] >= 0 else node)


def with_hidden_coins(root):
    """Return a nested tree whose ends follow a coin that nobody sees, and that changes no mean."""

    def change(node):
        if node[0] != TERMINAL:
            return node
        ends = [(TERMINAL, [value + step for value in node[1]]) for step in (-1.0, 3.0)]
        return (CHANCE, [0.75, 0.25], ends)

    return changed(root, change)


def with_public_coin(root):
    """Return a nested tree that is played in one of two copies, by a coin that all seats see."""
    copies = [changed(root, lambda node, side=side: (node[0], (side, node[1]), node[2]) if node[0] >= 0 else node)
              for side in (0, 1)]  # fmt: skip
    return (CHANCE, [0.3, 0.7], copies)


def with_one_payoff(root, rng, num_seats):
    """Return a nested tree in which one seat gets a bit less at one end that neither bounds its range."""
    ends = []
    changed(root, lambda node: ends.append(node) or node if node[0] == TERMINAL else node)
    seat, place = int(rng.integers(num_seats)), int(rng.integers(len(ends)))
    met = iter(range(len(ends)))

    def change(node):
        if node[0] != TERMINAL or next(met) != place:
            return node
        return (TERMINAL, [value - 0.01 * (own == seat) for own, value in enumerate(node[1])])

    return changed(root, change)


def with_other_chance(root):
    """Return a nested tree whose first chance node has its first outcome a bit more often."""
    if root[0] == CHANCE:
        shares = [share + (0.01 if place == 0 else -0.01 / (len(root[1]) - 1)) for place, share in enumerate(root[1])]
        return (CHANCE, shares, root[2])
    return root


def with_told_set(root, number):
    """Return a nested tree in which a set that no other follows is told apart: its first node, and the others."""
    met = []

    def change(node):
        if node[0] < 0 or node[1] != number:
            return node
        met.append(node)
        return (node[0], ("first", number) if len(met) == 1 else number, node[2])

    return changed(root, change)
