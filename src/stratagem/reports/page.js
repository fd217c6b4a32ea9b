"use strict";
// Draws every picture in the colours of the page's theme, and again when the theme changes.
(() => {
  const figures = [...document.querySelectorAll("figure.plot")];
  const touch = matchMedia("(pointer: coarse)").matches;

  const colour = (role) => getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim();

  function trace(given) {
    const { role, ...own } = given;
    const paint = colour(role);
    const drawn = { hoverlabel: { namelength: -1 }, ...own };
    drawn.marker = { color: paint, size: 5, ...own.marker };
    if (own.marker?.line) drawn.marker.line = { color: paint, ...own.marker.line };
    drawn.line = { color: paint, width: role === "train" ? 1.4 : role === "edge" ? 0 : 2.2 };
    if (own.fill) drawn.fillcolor = paint;
    if (own.fill || role === "edge") drawn.opacity = 0.45;
    if (role === "edge") drawn.mode = "lines";
    return drawn;
  }

  function axis(given) {
    return {
      gridcolor: colour("rule"), zerolinecolor: colour("rule"), linecolor: colour("rule"), automargin: true,
      fixedrange: touch, ...given,
    };
  }

  function upright(step) {
    return { type: "line", x0: step, x1: step, yref: "paper", y0: 0, y1: 1, line: { color: colour("good"), width: 1.5, dash: "dash" } };
  }

  function layout(given) {
    const { marks = [], zero = false, ...own } = given;
    const shapes = marks.map(upright);
    if (zero) shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: 0, y1: 0, line: { color: colour("dim"), width: 1 } });
    return {
      margin: { l: 46, r: 10, t: 10, b: 30 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: 11.5, color: colour("ink") },
      hovermode: "x", hoverlabel: { font: { size: 12 } }, dragmode: touch ? false : "zoom",
      legend: { orientation: "h", x: 0, y: -0.16, yanchor: "top", font: { size: 11.5 } },
      ...own, shapes, xaxis: axis(own.xaxis), yaxis: axis(own.yaxis),
    };
  }

  function draw(figure) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const canvas = figure.querySelector(".canvas");
    return Plotly.react(canvas, data.traces.map(trace), layout(data.layout), { displayModeBar: false, responsive: true });
  }

  // the pictures of a group show the same steps, also after one of them was zoomed
  function follow(canvas, changes) {
    const low = changes["xaxis.range[0]"], high = changes["xaxis.range[1]"];
    const whole = changes["xaxis.autorange"];
    if (low === undefined && !whole) return;
    for (const other of canvas.closest(".facets").querySelectorAll(".canvas")) {
      const [from, to] = other.layout.xaxis.range;
      if (other === canvas || (from === low && to === high)) continue;
      Plotly.relayout(other, whole ? { "xaxis.autorange": true } : { "xaxis.range": [low, high] });
    }
  }

  for (const figure of figures) {
    draw(figure);
    const canvas = figure.querySelector(".canvas");
    if (figure.closest(".facets") && !figure.matches(".policy")) canvas.on("plotly_relayout", (changes) => follow(canvas, changes));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach(draw));
  document.documentElement.dataset.drawn = String(figures.length);
})();
