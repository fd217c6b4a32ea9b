// A face is an ES module with `mount(box, episode)`, `render(box, step)` and `unmount(box)`.
import { html, render } from './preact-htm.js';

/** Make a face from a component, which gets the parts of a step and the episode; `read` makes its frames from those of Python. */
export function drawn(Component, read = (frame) => frame) {
  const episodes = new WeakMap();
  const readAt = (episode, place) => {
    const { frame, before, turn } = stepAt(episode, place);
    return read(frame, episode.board, before, turn);
  };
  return {
    mount: (box, episode) => { episodes.set(box, { ...episode, frames: episode.frames.map((_, place) => readAt(episode, place)) }); },
    render: (box, { position, turn }) => {
      const episode = episodes.get(box);
      const [frame, before] = [episode.frames[position], position ? episode.frames[position - 1] : null];
      render(html`<${Component} position=${position} turn=${turn} frame=${frame} before=${before} episode=${episode} />`, box);
    },
    unmount: (box) => render(null, box),
  };
}

/** Whether the seats only sent messages in the turn that leads to a position, so the board shows no move. */
export function talked(episode, position) {
  return position > 0 && episode.frames[position]?.talked === true;
}

/** The step of a replay at a position: 0 is the start, k is after turn k. */
export function stepAt(episode, position) {
  return {
    position,
    frame: episode.frames[position],
    before: position ? episode.frames[position - 1] : null,
    turn: position && !talked(episode, position) ? episode.turns[position - 1] : null,
  };
}
