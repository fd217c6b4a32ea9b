// The note and the tags of a run.
import { html, useState } from './preact-htm.js';
import { post } from './jobs.js';
import { live } from './source.js';

export function Notes({ run }) {
  const [note, setNote] = useState(run.note);
  const [tags, setTags] = useState(run.tags.join(', '));
  const [told, setTold] = useState('');
  if (!live) return null;
  const save = async (event) => {
    event.preventDefault();
    setTold('Saving …');
    try {
      const saved = await post('note', { run: run.name, note, tags: tags.split(',') });
      setTags(saved.tags.join(', '));
      setTold('Saved.');
    } catch (error) {
      setTold(error.message);
    }
  };
  return html`<section aria-labelledby="notes"><h2 id="notes">Note and tags</h2><form class="notes" onSubmit=${save}>
    <label>Note<textarea name="note" rows="3" maxlength="4000" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea></label>
    <label>Tags, separated by commas<input type="text" name="tags" value=${tags} onInput=${(event) => setTags(event.target.value)} /></label>
    <div class="head"><button type="submit">Save</button><span role="status" class="dim">${told}</span></div></form></section>`;
}
