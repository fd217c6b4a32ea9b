// What the boards of OpenSpiel's games show, from who made which move: pairs of a player, -1 for chance, and a number of the
// engine. Each function takes a frame, the board of the episode with the engine's parameters, and the frame before.

const RANKS = 'JQK';
const made = (moves) => moves.filter(([player]) => player >= 0);
/** A card that a seat does not see is null. */
const rank = (card) => (card == null ? null : RANKS[card]);
const drawnBy = (moves) => moves.filter(([player]) => player < 0).map(([, number]) => number);

function cells(rows, columns, fill) {
  return Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => fill(row, column)));
}

const letters = (count, first) => Array.from({ length: count }, (_, place) => String.fromCharCode(first.charCodeAt(0) + place));

function ticTacToe({ moves }) {
  const board = cells(3, 3, () => '.');
  moves.forEach(([player, cell]) => { board[Math.floor(cell / 3)][cell % 3] = 'XO'[player]; });
  return { columns: letters(3, 'A'), rows: ['1', '2', '3'], cells: board, kind: 'marks' };
}

function connectFour({ moves }, { rows, columns }) {
  const board = cells(rows, columns, () => '.');
  moves.forEach(([player, column]) => { board.findLast((row) => row[column] === '.')[column] = 'XO'[player]; });
  return { columns: letters(columns, '1'), rows: board.map(() => ''), cells: board, kind: 'discs' };
}

/** A move is its row, its column, one of six directions, and whether it captures. */
function breakthrough({ moves }, { rows, columns }) {
  const board = cells(rows, columns, (row) => (row < 2 ? 'b' : row >= rows - 2 ? 'w' : '.'));
  moves.forEach(([player, number]) => {
    const [square, direction] = [Math.floor(number / 12), Math.floor(number / 2) % 6];
    const [row, column] = [Math.floor(square / columns), square % columns];
    board[row][column] = '.';
    board[row + (direction < 3 ? 1 : -1)][column + (direction % 3) - 1] = 'bw'[player];
  });
  return { columns: letters(columns, 'a'), rows: board.map((_, row) => String(rows - row)), cells: board, kind: 'pawns' };
}

const GRIDS = { tic_tac_toe: ticTacToe, connect_four: connectFour, breakthrough };
export const grid = (frame, board) => GRIDS[board.game](frame, board);

export function nim({ moves }, { pile_sizes }) {
  const piles = pile_sizes.split(';').map(Number);
  moves.forEach(([, number]) => { piles[number % piles.length] -= Math.floor(number / piles.length) + 1; });
  return { piles };
}

/** To roll is 0; a throw of 1 loses the total of the turn, which then passes on. */
export function pig({ moves }, { winscore, piglet }, before) {
  const scores = [0, 0];
  let [total, mover] = [0, 0];
  moves.forEach(([player, number]) => {
    if (player >= 0 && number === 0) return;
    if (player >= 0) scores[mover] += total;
    const passes = player >= 0 || number === 0;
    total = passes ? 0 : total + (piglet ? 1 : number + 1);
    if (passes) mover = 1 - mover;
  });
  const [roll, thrown] = before ? moves.slice(before.moves.length) : [];
  return { scores, total, mover, die: roll && roll[1] === 0 && thrown ? thrown[1] + 1 : null, goal: winscore };
}

export function liarsDice({ moves }, { dice_sides, numdice, players }) {
  const liar = dice_sides * numdice * players;
  const bids = made(moves).filter(([, number]) => number !== liar).map(([, number]) => [Math.floor(number / dice_sides) + 1, (number % dice_sides) + 1]);
  return { dice: drawnBy(moves).map((number) => (number == null ? null : number + 1)), bids, called: made(moves).some(([, number]) => number === liar) ? bids.length % 2 : null };
}

/** The last prize and the last cards go by themselves. */
export function goofspiel({ moves }, { num_cards, points_order }) {
  const all = Array.from({ length: num_cards }, (_, place) => place + 1);
  const played = [0, 1].map((seat) => moves.filter(([player]) => player === seat).map(([, number]) => number + 1));
  const turned = drawnBy(moves).map((number) => number + 1);
  const is_last = played[0].length >= num_cards - 1;
  const order = points_order === 'ascending' ? all : points_order === 'descending' ? [...all].reverse() : [...turned, ...(is_last ? all.filter((prize) => !turned.includes(prize)) : [])];
  const left = (seat) => all.filter((card) => !played[seat].includes(card));
  if (is_last) [0, 1].map(left).forEach((cards, seat) => played[seat].push(...cards));
  const points = [0, 1].map((seat) => played[seat].reduce((sum, card, turn) => sum + (card > played[1 - seat][turn] ? order[turn] : 0), 0));
  return { hands: [0, 1].map(left), prizes: order.slice(0, played[0].length + 1), points };
}

export function firstSealedAuction({ moves, state }, { players }) {
  const [values, winner] = [drawnBy(moves).slice(0, players), drawnBy(moves)[players]];
  const bids = made(moves).map(([, bid]) => String(bid ?? '?'));
  const seats = values.map((_, seat) => seat);
  const row = { values, bids: seats.map((seat) => bids[seat] ?? null), best: seats.map((seat) => seat === winner), payoffs: seats.map((seat) => (winner == null ? null : state.paid[seat])) };
  return { values: bids.length ? null : values, past: bids.length ? [row] : [], rounds: 1 };
}

/** An offer is what its seat takes; the rest is the other's. */
export function bargaining({ pool, values, offers, agreed, over }, { items }) {
  const demands = offers.map((own, turn) => {
    const rest = pool.map((count, item) => count - own[item]);
    const is_last = turn === offers.length - 1;
    return { bundles: turn % 2 ? [rest, own] : [own, rest], by: turn % 2, deal: !is_last ? false : agreed ? true : over ? false : null };
  });
  return { items, pool, values, demands, rounds: null };
}

const seated = (words) => words.map((word, turn) => ({ seat: turn % 2, word }));

export function kuhnPoker({ moves }) {
  const line = made(moves).map(([, number]) => 'pb'[number]).join('');
  const chips = [0, 1].map((seat) => 1 + Number([...line].some((letter, turn) => letter === 'b' && turn % 2 === seat)));
  return { cards: drawnBy(moves).map(rank), open: null, opener: 0, chips, hand: 0,
    bets: [seated([...line].map((letter) => ({ p: 'pass', b: 'bet' })[letter]))], folded: ['bp', 'pbp'].includes(line) ? (line.length - 1) % 2 : null };
}

/** A raise is of 2 chips in the first round, and of 4 in the second. */
export function leducPoker({ moves }) {
  const [first, second, open] = drawnBy(moves).map((card) => rank(card == null ? null : Math.floor(card / 2)));
  const turned = open ? moves.findLastIndex(([player]) => player < 0) : moves.length;
  const rounds = [moves.slice(0, turned), moves.slice(turned)].map((part) => made(part).map(([, number]) => ['fold', 'call', 'raise'][number]));
  const chips = [1, 1];
  let folded = null;
  rounds.forEach((words, round) => words.forEach((word, turn) => {
    const own = turn % 2;
    if (word === 'fold') folded = own;
    else chips[own] = chips[1 - own] + (word === 'raise' ? 2 + 2 * round : 0);
  }));
  return { cards: [first, second], open: open ?? null, opener: 0, chips, hand: 0, folded, bets: rounds.map(seated) };
}
