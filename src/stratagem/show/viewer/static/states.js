// What the boards of our own games show, from the dumped states: each function takes a frame, the board of the episode,
// the frame before, and the turn between them, which is null at the start and where seats only talked.

const zip = ([first, second]) => first.map((one, place) => [one, second[place]]);

const WORDS = { P: 'pass', B: 'bet', C: 'call', F: 'fold' };

function hand({ cards, round, hand: number = round }, line) {
  const opener = round % 2;
  const bets = [...line].map((letter, turn) => ({ seat: (opener + turn) % 2, letter, word: WORDS[letter] }));
  const chips = [0, 1].map((seat) => 1 + bets.filter((bet) => bet.seat === seat && 'BC'.includes(bet.letter)).length);
  return { cards, open: null, opener, chips, hand: number, bets: [bets], folded: line.endsWith('F') ? bets[bets.length - 1].seat : null };
}

/** The hand that a turn was played in, since the state after its end has the next one. */
export function kuhn({ state }, board, before, turn) {
  if (!turn) return hand(state, state.line);
  const dealt = before.state;
  if (state.round === dealt.round && state.line.startsWith(dealt.line)) return hand(dealt, state.line);
  const word = turn.decisions[turn.decisions.length - 1].action || (dealt.line.endsWith('B') ? 'FOLD' : 'PASS');
  return hand(dealt, dealt.line + word[0]);
}

export const matrix = ({ state }, board) => ({ ...board, moves: zip(state.moves) });

export function auction({ state }, { rounds, words }) {
  const past = (state.past[0] || []).map((_, round) => {
    const rows = state.past.map((own) => own[round]);
    const best = rows.map(([, bid, others]) => bid >= Math.max(...others));
    return { values: rows.map(([value]) => value), bids: rows.map(([, bid]) => words[bid - 1]), payoffs: rows.map(([, , , payoff]) => payoff), best };
  });
  return { values: state.over ? null : state.values, past, rounds };
}

export const goods = ({ state }, board) => ({ ...board, gave: state.gave, punished: state.punished });

export const pie = ({ state }, board) => ({ ...board, demands: zip(state.demands) });

export function division({ state: { pool, values, demands } }, board) {
  const deal = (bundles) => pool.every((count, item) => bundles[0][item] + bundles[1][item] <= count);
  return { ...board, pool, values, demands: zip(demands).map((bundles) => ({ bundles, by: null, deal: deal(bundles) })) };
}

export function resistance({ state }, { sizes }) {
  return { ...state, sizes, past: state.past.map(([round, leader, team, approved_by, fails]) => ({ round, leader, team, approved_by, fails })) };
}

/** The round that a turn was played in, since the state after its end has the next one. */
export function senderReceiver({ state }, board, before, turn) {
  if (!turn || state.round === before.state.round) return { ...state, action: null };
  const [drawn, message, action] = state.past[state.past.length - 1];
  return { drawn, message, action, past: state.past };
}
