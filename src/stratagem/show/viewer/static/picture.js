// A picture of the report's kind in a page: title, traces over axes, and the facts without which it cannot be read.
import { html, useEffect, useRef, useState } from './preact-htm.js';
import { Plot } from './plot.js';
import { visible } from './data.js';

/** The facts of a picture in a line. */
export function reading({ unit, n, interval = 'none, one run', chance = 'not measured' }) {
  return `Unit: ${unit || 'none'}. n: ${n}. Interval: ${interval}. Chance level: ${chance}.`;
}

export function Picture({ title, value, traces, layout, facts, label, height, caption = '', kind = '', still = false }) {
  const canvas = useRef(null);
  const plot = useRef(null);
  const [zoomed, setZoomed] = useState(false);
  useEffect(() => {
    plot.current = new Plot(canvas.current, traces, layout, still ? null : (range) => {
      plot.current.zoom(range);
      setZoomed(range != null);
    });
    return () => plot.current.close();
  }, []);
  const content = JSON.stringify([traces, layout]);
  const shown = useRef(content);
  useEffect(() => {
    if (shown.current !== content) plot.current.show(traces, layout);
    shown.current = content;
  }, [content]);
  return html`<figure class=${`plot ${kind}`}>
    <figcaption>${visible(title)}<span class="value">${value}${zoomed && html` <button class="plain-button" onClick=${() => { plot.current.zoom(null); setZoomed(false); }}>All steps</button>`}</span></figcaption>
    <div class="canvas" role="img" aria-label=${visible(label || `${title}. ${facts}`)} ref=${canvas} style=${height ? { '--height': height, minHeight: `${height}px` } : null}></div>
    ${caption && html`<p class="caption">${visible(caption)}</p>`}
    <p class="caption">${visible(facts)}</p></figure>`;
}
