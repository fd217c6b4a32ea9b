// Sender and receiver: the state and both best actions on a line, the message, and the action.
import { html } from './preact-htm.js';
import { number, short, visible } from './data.js';
import { drawn } from './faces.js';
import { senderReceiver } from './states.js';
import { History, Seat } from './parts.js';

const [LEFT, RIGHT, Y] = [28, 372, 176];

function SenderReceiverFace({ frame, episode }) {
  const { states, bias, rounds } = episode.board;
  const most = states - 1;
  const x = (value) => LEFT + (Math.max(-0.2, Math.min(most + 0.2, value)) / most) * (RIGHT - LEFT);
  const every = Math.ceil(states / 12);
  const hidden = frame.drawn == null;
  const told = `${hidden ? 'The sender alone sees the state.' : `The state is ${frame.drawn}; the sender would like ${number(frame.drawn + bias)}.`} ${frame.message == null ? 'No message yet.' : `The message is ${visible(frame.message)}.`}${frame.action == null ? '' : ` The receiver chooses ${frame.action}.`}`;
  return html`<svg class="talk" viewBox="0 0 400 236" role="img" aria-label=${told}>
    <text class="name" x="8" y="22">${short(episode.players[0])}, sender</text><text class="name" x="392" y="22" text-anchor="end">${short(episode.players[1])}, receiver</text>
    ${frame.message != null && html`<g class="bubble"><rect x="70" y="44" width="260" height="44" rx="22" /><text x="200" y="72" text-anchor="middle">${visible(frame.message).slice(0, 28)}</text></g>`}
    <line class="axis" x1=${LEFT} x2=${RIGHT} y1=${Y} y2=${Y} />
    ${Array.from({ length: states }, (_, state) => state % every === 0 && html`<g class="tick"><line x1=${x(state)} x2=${x(state)} y1=${Y - 5} y2=${Y + 5} /><text x=${x(state)} y=${Y + 26} text-anchor="middle">${state}</text></g>`)}
    ${!hidden && html`<circle class="state s1" cx=${x(frame.drawn)} cy=${Y} r="9" /><text class="tag" x=${x(frame.drawn)} y=${Y + 46} text-anchor="middle">state</text>
    <path class="ideal s0" d=${`M${x(frame.drawn + bias)} ${Y - 10}l9 -14h-18z`} />`}
    ${frame.action != null && html`<path class="chosen s1" d=${`M${x(frame.action)} ${Y - 12}l10 -18h-20z`} /><text class="tag" x=${x(frame.action)} y=${Y - 36} text-anchor="middle">action ${frame.action}</text>`}
  </svg>
  <p class="betting"><span><${Seat} seat=${0} />wants ${hidden ? `the state + ${number(bias)}` : `${number(frame.drawn + bias)} (hollow mark)`}</span><span><${Seat} seat=${1} />wants ${hidden ? '' : `${number(frame.drawn)}, `}the state</span></p>
  ${rounds > 1 && html`<${History} label=${`States and actions so far: ${frame.past.map((row) => `${row[0]} and ${row[2]}`).join('; ') || 'none'}`} counts=${false}
    tracks=${[{ steps: frame.past.map(([state, , action]) => [Math.abs(state - action) <= 0.5 ? 'a0' : 'a1', action, `state ${state}, action ${action}`]) }]} />`}`;
}

export const { mount, render, unmount } = drawn(SenderReceiverFace, senderReceiver);
