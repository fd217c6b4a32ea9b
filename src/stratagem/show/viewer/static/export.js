// A button that writes replays into one file, as `stratagem view --export` does.
import { html, useEffect } from './preact-htm.js';
import { count } from './data.js';
import { JobState, useJob } from './jobs.js';

export function Export({ record, episode, label }) {
  const state = useJob();
  const { job, open } = state;
  const done = job?.state === 'done' ? job.result : null;
  const address = done && `/exports/${done.id}`;
  useEffect(() => {
    if (address) location.assign(address);  // it is saved, so the page stays
  }, [address]);
  return html`<div class="export"><button type="button" disabled=${open} onClick=${() => state.start('export', { record, episode })}>${label}</button>
    <${JobState} state=${state} noun="game" />
    ${done && html`<p role="status"><a href=${address}>Saved</a>: ${count(done.episodes, 'game')}, ${(done.bytes / 1e6).toFixed(1)} MB. The file needs no network.</p>`}</div>`;
}
