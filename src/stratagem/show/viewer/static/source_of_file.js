// Where data and faces come from in a file that `--export` wrote: the file itself, unpacked as `held`, with `need` for its modules.
export const live = false;
export const base = '/';

const SHOWN = 50;

function counted(names) {
  const counts = {};
  for (const name of [...names].sort()) counts[name] = (counts[name] || 0) + 1;
  return counts;
}

/** Episodes by the same filter as the server's. */
function listed({ player = '', opponent = '', game = '', purpose = '', outcome = '', illegal = '', text = '', order = '', offset = 0, limit = SHOWN }) {
  const told = (row) => row.outcomes[player] || row.outcomes[''];
  const part = text.toLowerCase();
  const meets = (row) => row.players.filter((name) => name === opponent).length >= (opponent === player ? 2 : 1);
  const wrong = (row) => row.num_illegal.some((count) => count > 0);
  const parents = new Set(purpose || text ? [] : held.rows.map((row) => row.parent));
  const rows = held.rows.filter((row) => row.purpose !== 'warm_up' || !parents.has(row.id));
  const found = rows.filter((row) => (!game || row.game === game) && (!purpose || row.purpose === purpose)
    && (!player || row.players.includes(player)) && (!opponent || meets(row)) && (illegal !== '1' || wrong(row)) && (!outcome || told(row) === outcome)
    && (!part || [row.id, ...row.players].some((name) => name.toLowerCase().includes(part))));
  const shown = order === 'newest' ? [...found].reverse() : found;
  return {
    total: rows.length, folded: held.rows.length - rows.length, found: found.length, offset: Number(offset),
    episodes: shown.slice(Number(offset), Number(offset) + Number(limit)).map((row) => ({ ...row, outcome: told(row) })),
    games: counted(held.rows.map((row) => row.game)), players: counted(held.rows.flatMap((row) => row.players)),
    purposes: counted(held.rows.map((row) => row.purpose)), illegal: held.rows.filter(wrong).length,
    outcomes: counted(held.rows.filter((row) => !player || row.players.includes(player)).map(told)),
  };
}

const ANSWERS = {
  library: () => held.library,
  run: () => held.run,
  report: ({ section = 'summary' }) => held.report[section] && { section: { name: section, ...held.report[section] },
    sections: Object.entries(held.report).map(([name, { title }]) => ({ name, title })) },
  episodes: listed,
  episode: ({ id }) => held.episodes[id] && held.episodes[id].replay,
  words: ({ id, turn, seat, attempt }) => held.episodes[id] && held.episodes[id].words[`${turn}.${seat}.${attempt}`],
};

export async function ask(address) {
  const [, name, query] = address.match(/^\/api\/(\w+)\??(.*)$/) || [];
  const data = name in ANSWERS ? ANSWERS[name](Object.fromEntries(new URLSearchParams(query))) : null;
  return data ? { data, error: '' } : { data: null, error: 'This file does not hold that.' };
}

export async function load(address) {
  return need(address);
}

const { rows, record } = held;
if (rows.length === 1 && !location.hash) history.replaceState(null, '', `#/replay?${new URLSearchParams({ record, id: rows[0].id })}`);
