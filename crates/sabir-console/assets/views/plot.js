// A plot over time. The library draws on a canvas and knows no style sheets, so colours are looked up
// for it, and again when the theme changes.

import { html, useEffect, useRef, useState } from '../lib.js';
import { Loading } from '../parts.js';
import { theme, useCell } from '../store.js';

const HEIGHT = 260;
const HUES = ['--plot-1', '--plot-2', '--plot-3', '--plot-4', '--plot-5', '--plot-6'];

/** Seconds between marks below the plot: hours of a day, days of more. */
const STEPS = [3_600, 7_200, 14_400, 21_600, 86_400, 172_800, 604_800, 1_209_600];

let library = null;

export function Plot({ times, lines, show, mark, when, label }) {
  const box = useRef(null);
  const [uPlot, have] = useState(null);
  const [hidden, hide] = useState([]);
  const [pointed, point] = useState(null);
  const chosen = useCell(theme);
  useEffect(() => {
    library ??= import('../vendor/uplot.js');
    library.then((it) => have(() => it.default));
  }, []);
  const drawn = JSON.stringify([times, lines, hidden]);
  useEffect(() => {
    if (!uPlot) return undefined;
    const seen = lines.filter(({ name }) => !hidden.includes(name));
    const place = box.current;
    const plot = new uPlot(options(place, { seen, lines, mark, when, uPlot, point }), [times.map((ms) => ms / 1_000), ...seen.map(({ values }) => values)], place);
    const observer = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
    observer.observe(place);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [uPlot, drawn, chosen]);
  const toggle = (name) => hide(hidden.includes(name) ? hidden.filter((it) => it !== name) : [...hidden, name]);
  return html`<div class="plot">
    ${!uPlot && html`<${Loading} what="Drawing" />`}
    <div class="plot-box" ref=${box} role="img" aria-label=${label}></div>
    <p class="readout soft">${pointed == null || times[pointed] == null
      ? 'Point at the plot to read its numbers.'
      : `${when(times[pointed])}: ${lines.filter(({ name }) => !hidden.includes(name)).map(({ name, values }) => `${name} ${show(values[pointed])}`).join(', ')}`}</p>
    <div class="legend" role="group" aria-label="Shown in the plot">${lines.map(({ name }, at) => html`<label key=${name}>
      <input type="checkbox" checked=${!hidden.includes(name)} onChange=${() => toggle(name)} /><span class=${`swatch hue-${(at % HUES.length) + 1}`} aria-hidden="true"></span>${name}</label>`)}</div>
  </div>`;
}

/** A colour of the style sheet as the canvas understands it. */
function colour(box, name) {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  box.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function options(box, { seen, lines, mark: said, when, uPlot, point }) {
  const ink = colour(box, '--ink-soft');
  const grid = { stroke: colour(box, '--line'), width: 1 };
  const font = '12px system-ui, sans-serif';
  const hue = (name) => colour(box, HUES[lines.findIndex((line) => line.name === name) % HUES.length]);
  const isNarrow = box.clientWidth < 480;
  return {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    cursor: { y: false },
    hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? null)] },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { stroke: ink, grid: { show: false }, ticks: grid, font, space: isNarrow ? 70 : 90, incrs: STEPS, values: (_, marks) => marks.map((mark) => when(mark * 1_000)) },
      { stroke: ink, grid, ticks: { show: false }, font, size: 70, values: (_, marks) => marks.map((mark) => said(mark)) },
    ],
    series: [{}, ...seen.map(({ name }) => ({
      label: name, stroke: hue(name), width: 2, points: { show: seen[0].values.length <= 40, size: 6 }, paths: uPlot.paths.linear(),
    }))],
  };
}
