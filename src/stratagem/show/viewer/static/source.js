// Where data and faces come from: the server of this page. A file that `--export` wrote has another source in it.

/** True where there is a server that can be asked again. */
export const live = true;

/** The path of this page: a link to a table has one of its own, which all its requests begin with. */
export const base = location.pathname.replace(/[^/]*$/, '');

/** The answer of the server to an address: its data, or an error in a sentence. */
export async function ask(address, options = {}) {
  const response = await fetch(address, options);
  const data = await response.json();
  return response.ok ? { data, error: '' } : { data: null, error: data.error };
}

/** The module of a face. */
export const load = (address) => import(base + address.slice(1));
