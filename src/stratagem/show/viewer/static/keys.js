// Keys of a page: what each does, but where a person types or a control has a use of its own for them.
import { useLayoutEffect, useRef } from './preact-htm.js';

const TYPED = 'input:not([type=range]), textarea, select, summary, [role=tab]';

/** Listen while this is on the page: `keys` maps the name of a key to what it does, or to nothing. */
export function useKeys(keys) {
  const held = useRef(keys);
  useLayoutEffect(() => {  // at once, and not after the next paint: what is seen can be pressed
    held.current = keys;
  });
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest(TYPED)) return;
      if (event.key === ' ' && event.target.closest('button, a')) return;
      const act = held.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
