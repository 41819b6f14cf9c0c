// Who handed work to whom, drawn: from left to right, thicker where there was more of it. The table
// beside it says the same in words.

import { counted, shorten } from '../format.js';
import { html } from '../lib.js';

const COLUMN = 310;
const ROW = 68;
const WIDTH = 180;
const HEIGHT = 42;
/** Beside the last column, for lines within it. */
const ROOM = 110;
const BAD = /fail|unreach|refus|error/;

export function WorkMap({ edges, own, nameOf }) {
  const { nodes, lines, width, height } = layout(edges, own);
  const most = Math.max(...lines.map(({ count }) => count));
  const said = lines.map(({ from, to, count, failed }) => `${nameOf(from)} to ${nameOf(to)}, ${counted(count, 'task')}${failed ? `, ${failed} failed` : ''}`).join('; ');
  return html`<div class="map" tabindex="0" role="region" aria-label="Map of delegations">
    <svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${`Who handed work to whom: ${said}.`}>
      <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" class="map-tip" /></marker></defs>
      ${lines.map(({ key, path, count, failed, x, y }) => html`<g key=${key} class=${failed ? 'map-line has-failed' : 'map-line'}>
        <path d=${path} stroke-width=${1.5 + (3 * count) / most} marker-end="url(#tip)" />
        <text x=${x} y=${y} text-anchor="middle" dominant-baseline="central">${count}${failed ? `, ${failed} failed` : ''}</text>
      </g>`)}
      ${nodes.map(({ id, x, y }) => html`<g key=${id} class=${id === own ? 'map-node own' : 'map-node'}>
        <rect x=${x} y=${y} width=${WIDTH} height=${HEIGHT} rx="8" />
        <text x=${x + WIDTH / 2} y=${y + HEIGHT / 2} text-anchor="middle" dominant-baseline="central">${shorten(nameOf(id), 20)}</text>
        <title>${id}</title>
      </g>`)}
    </svg>
  </div>`;
}

/** Places for everybody: a step to the right for each hand that work went through. */
function layout(edges, own) {
  const sums = {};
  for (const { from, to, status } of edges) {
    const key = JSON.stringify([from, to]);
    sums[key] ??= { key, from, to, count: 0, failed: 0 };
    sums[key].count += 1;
    if (BAD.test(String(status))) sums[key].failed += 1;
  }
  const pairs = Object.values(sums);
  const ids = [...new Set(pairs.flatMap(({ from, to }) => [from, to]))];
  const level = {};
  const begins = ids.filter((id) => id === own || !pairs.some(({ from, to }) => to === id && from !== id));
  // Where everybody was given work by somebody, one of them has to stand first.
  let wave = begins.length ? begins : ids.slice(0, 1);
  for (let depth = 0; wave.length; depth += 1) {
    for (const id of wave) level[id] ??= depth;
    const next = pairs.filter(({ from }) => wave.includes(from)).map(({ to }) => to);
    wave = [...new Set(next)].filter((id) => level[id] === undefined);
    // Those that no way leads to from the first begin a way of their own.
    if (!wave.length) wave = ids.filter((id) => level[id] === undefined).slice(0, 1);
  }
  const rows = {};
  const tallest = Math.max(...ids.map((id) => ids.filter((other) => level[other] === level[id]).length));
  const place = {};
  for (const id of ids) {
    const column = ids.filter((other) => level[other] === level[id]).length;
    const row = (rows[level[id]] = (rows[level[id]] ?? -1) + 1);
    place[id] = { id, x: 20 + level[id] * COLUMN, y: 30 + (row + (tallest - column) / 2) * ROW };
  }
  const lines = pairs.map((pair) => ({ ...pair, ...curve(place[pair.from], place[pair.to]) }));
  const width = ROOM + WIDTH + Math.max(...Object.values(level)) * COLUMN;
  return { nodes: Object.values(place), lines, width, height: 60 + (tallest - 1) * ROW + HEIGHT };
}

/** Numbers stand near those who got the work, where the lines are apart. */
const NEAR_END = 0.62;

function curve(a, b) {
  const y = (it) => it.y + HEIGHT / 2;
  const right = a.x + WIDTH;
  if (a === b) {
    return { path: `M${right} ${y(a) - 10}c34 -14 34 34 2 20`, x: right + 42, y: y(a) };
  }
  if (b.x > a.x) {
    const [x1, x2] = [right, b.x - 2];
    const middle = (x1 + x2) / 2;
    // Both controls lie in the middle, so that x runs evenly enough to place the number by it.
    const t = NEAR_END;
    const along = (from, control1, control2, until) => (1 - t) ** 3 * from + 3 * (1 - t) ** 2 * t * control1 + 3 * (1 - t) * t ** 2 * control2 + t ** 3 * until;
    return {
      path: `M${x1} ${y(a)}C${middle} ${y(a)} ${middle} ${y(b)} ${x2} ${y(b)}`,
      x: along(x1, middle, middle, x2), y: along(y(a), y(a), y(b), y(b)),
    };
  }
  if (b.x === a.x) {
    // To somebody on the same step: around on the right, further out the further it is.
    const out = right + 26 + Math.abs(y(b) - y(a)) / 5;
    return { path: `M${right} ${y(a)}C${out} ${y(a)} ${out} ${y(b)} ${right + 2} ${y(b)}`, x: (right + 3 * out) / 4, y: (y(a) + y(b)) / 2 };
  }
  const [x1, x2] = [a.x + WIDTH / 2, b.x + WIDTH / 2];
  const low = Math.max(a.y, b.y) + HEIGHT + 26;
  return { path: `M${x1} ${a.y + HEIGHT}C${x1} ${low} ${x2} ${low} ${x2} ${b.y + HEIGHT + 2}`, x: (x1 + x2) / 2, y: low - 8 };
}
