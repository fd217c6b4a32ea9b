// Draws every picture of a report; the pictures of a group show the same steps.
import { Plot } from './plot.js';

const touch = matchMedia('(pointer: coarse)').matches;
const groups = new Map();
const figures = [...document.querySelectorAll('figure.plot')];

for (const figure of figures) {
  const { traces, layout } = JSON.parse(figure.querySelector('script').textContent);
  const group = figure.matches('.policy') ? figure : figure.closest('.facets') || figure;
  const plots = groups.get(group) || groups.set(group, []).get(group);
  const zoom = (range) => plots.forEach((plot) => plot.zoom(range));
  plots.push(new Plot(figure.querySelector('.canvas'), traces, layout, touch || figure.matches('.policy') ? null : zoom));
}
const all = [...groups.values()].flat();
const widths = all.map((plot) => plot.canvas.clientWidth);  // all before the first is drawn, so the page is laid out once
all.forEach((plot, place) => plot.resize(widths[place]));
document.documentElement.dataset.drawn = String(figures.filter((figure) => figure.querySelector('.plot-area')).length);
