// A reply token by token. A long one is drawn in blocks, and only those that are near the screen.
import { html, useEffect, useRef, useState } from './preact-htm.js';

const BLOCK = 200;

/** Blocks of tokens; those far from the screen keep their height and have no content. */
export function Blocks({ tokens, draw, label }) {
  const box = useRef(null);
  const heights = useRef([]);
  const [near, setNear] = useState(() => new Set([0]));
  const starts = Array.from({ length: Math.ceil(tokens.length / BLOCK) }, (_, place) => place * BLOCK);
  const long = starts.length > 1;
  useEffect(() => {
    if (!long) return undefined;
    const watch = new IntersectionObserver((seen) => setNear((old) => {
      const now = new Set(old);
      for (const one of seen) {
        const place = Number(one.target.dataset.block);
        if (one.isIntersecting) now.add(place);
        else if (now.delete(place)) heights.current[place] = one.boundingClientRect.height;
      }
      return now;
    }), { root: box.current, rootMargin: '600px 0px' });
    box.current.querySelectorAll('[data-block]').forEach((block) => watch.observe(block));
    return () => watch.disconnect();
  }, [tokens]);
  const some = (start) => tokens.slice(start, start + BLOCK).map((token, place) => draw(token, start + place));
  return html`<div class="reply" role="list" aria-label=${label} ref=${box} tabindex=${long ? '0' : null}>${long
    ? starts.map((start, block) => html`<div role="presentation" key=${block} data-block=${block} style=${near.has(block) ? {} : { height: `${heights.current[block] || 200}px` }}>${near.has(block) && some(start)}</div>`)
    : some(0)}</div>`;
}
