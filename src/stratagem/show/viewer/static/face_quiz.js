// Quiz: a question, its answers, the chosen one and the right one.
import { html } from './preact-htm.js';
import { visible } from './data.js';
import { drawn } from './faces.js';

function QuizFace({ frame }) {
  const answered = frame.chosen != null;
  return html`<div class="quiz"><p class="question">${visible(frame.question)}</p>
    <ol>${frame.answers.map((answer, place) => {
      const [right, chosen] = [place === frame.right, frame.letters[place] === frame.chosen];
      return html`<li class=${answered && right ? 'right' : chosen ? 'wrong' : ''}><b>${frame.letters[place]}</b> ${visible(answer)}
        <span class="mark">${[answered && right && 'right', chosen && 'chosen'].filter(Boolean).join(', ')}</span></li>`;
    })}</ol>${frame.chosen === '' && html`<p class="problem">No legal answer.</p>`}</div>`;
}

export const { mount, render, unmount } = drawn(QuizFace);
