// Requests that do something, and jobs of the server: their progress, their price, and a button to cancel.
import { html, useEffect, useState } from './preact-htm.js';
import { api, count, number, visible } from './data.js';
import { ask, base } from './source.js';

const PAUSE = 300;

/** Ask the server to do something; an error is its sentence. */
export async function post(name, body) {
  let response;
  try {
    response = await fetch(`${base}api/do/${name}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  } catch {
    throw new Error('The server does not answer.');
  }
  const data = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(data.error || 'The server refused this.');
  return data;
}

/** A job of the server: `start(name, body)` begins one, and what the server says of it follows. */
export function useJob() {
  const [job, setJob] = useState(null);
  const [error, setError] = useState('');
  const open = Boolean(job) && ['waiting', 'running'].includes(job.state);
  useEffect(() => {
    if (!open) return undefined;
    const timer = setTimeout(async () => {
      try {
        const { data, error: refused } = await ask(api('job', { id: job.id }));
        if (refused) throw new Error(refused);
        setJob(data);
      } catch (failure) {
        setError(failure.message || 'The server does not answer.');
        setJob(null);
      }
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [job]);
  const asking = async (name, body) => {
    setError('');
    try {
      setJob(await post(name, body));
    } catch (failure) {
      setError(failure.message);
    }
  };
  return { job, error, open, start: asking, cancel: () => asking('cancel', { id: job.id }), clear: () => setJob(null) };
}

export function priceText(price) {
  const tokens = price.tokens ? `, at most ${count(price.tokens, 'token')}` : '';
  const money = price.money != null ? `, at most ${number(price.money, 4)} ${visible(price.currency) || 'in the currency of your prices'}`
    : price.servers ? '; its price in money is not known' : '';
  return `${count(price.calls, 'call')}${tokens}${money}`;
}

/** What is going on, or the price before it goes on; `accept` starts the job again with the price accepted. */
export function JobState({ state, accept, verb, noun = 'branch', nouns = noun === 'branch' ? 'branches' : undefined }) {
  const { job, error, open, cancel } = state;
  if (error) return html`<p class="problem" role="alert">${visible(error)}</p>`;
  if (!job) return null;
  if (open) return html`<div class="job" role="status"><progress aria-label="Progress" max=${job.total || 1} value=${job.total ? job.done : undefined}></progress>
    <span>${job.state === 'waiting' ? 'Waiting for another job' : job.total ? `${number(job.done)} of ${count(job.total, noun, nouns)}` : 'Getting ready'}</span>
    <button type="button" onClick=${cancel}>Cancel</button></div>`;
  if (job.state === 'priced') return html`<div class="job price" role="status"><p><b>This asks ${job.price.players.map(visible).join(' and ')}:</b> about ${priceText(job.price)}.
    ${job.price.servers ? ` After ${count(job.price.most_calls, 'call')} it is ended.` : ' The model runs on this machine.'}</p>
    <button type="button" class="main" onClick=${() => accept(job.price.calls)}>${verb} for ${count(job.price.calls, 'call')}${job.price.money != null ? `, at most ${number(job.price.money, 4)} ${visible(job.price.currency)}` : ''}</button></div>`;
  if (job.state === 'failed') return html`<p class="problem" role="alert">${visible(job.sentence)}</p>`;
  if (job.state === 'cancelled') return html`<p class="dim" role="status">Cancelled.</p>`;
  return null;
}
