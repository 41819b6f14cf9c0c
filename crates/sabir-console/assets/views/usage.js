// Tokens and costs over time.

import { withQuery } from '../api.js';
import { useResource } from '../data.js';
import { clock, count, day, shortId, usd, usdMark } from '../format.js';
import { html, useState } from '../lib.js';
import { Empty, Field, Loaded, Page, Panel, Table, Tabs, Td, Th, Tr } from '../parts.js';
import { goInstead } from '../route.js';
import { Plot } from './plot.js';

const SPANS = { 1: 'One day', 7: 'A week', 30: 'Thirty days', 90: 'Ninety days' };

export function Usage({ query }) {
  const days = SPANS[query.get('days')] ? Number(query.get('days')) : 30;
  const choose = (next) => goInstead('usage', '', { days: next });
  const usage = useResource(withQuery('/api/usage', { days }), ['orders', 'sessions']);
  return html`<${Page} title="Usage" lead="What models and delegates took, in tokens and in dollars, by their own word.">
    <div class="filters"><${Field} label="How far back">${(own) => html`<select ...${own} value=${days} onChange=${(event) => choose(event.target.value)}>
      ${Object.entries(SPANS).map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}</select>`}<//></div>
    <${Loaded} from=${usage} what="The usage">${({ series = [], totals = {}, step_ms: step }) => series.length === 0
      ? html`<${Empty} title="Nothing was used in this time"><p>Tokens are counted when a model answers or a delegate says what it took.</p><//>`
      : html`<${Totals} series=${series} totals=${totals} /><${Over} series=${series} days=${days} step=${step ?? DAY_MS} />`}<//>
  <//>`;
}

const DAY_MS = 86_400_000;
const nameOf = (row) => (row.delegate ? shortId(row.delegate) : row.model) ?? 'unknown';
const sum = (rows, name) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);

function Totals({ series, totals }) {
  const of = (name) => totals[name] ?? sum(series, name);
  return html`<dl class="totals">
    <div><dt>Tokens</dt><dd>${count(totals.tokens ?? of('input_tokens') + of('output_tokens'))}</dd></div>
    <div><dt>of these in</dt><dd>${count(of('input_tokens'))}</dd></div>
    <div><dt>of these out</dt><dd>${count(of('output_tokens'))}</dd></div>
    <div><dt>Cost</dt><dd>${usd(of('usd'))}</dd></div>
  </dl>`;
}

/** Every step of the time that was asked for, also those in which nothing was used. */
function steps(series, days, step) {
  const last = Math.max(Math.floor(Date.now() / step) * step, ...series.map((row) => row.at_ms));
  const first = Math.min(last - days * DAY_MS + step, ...series.map((row) => row.at_ms));
  return Array.from({ length: Math.round((last - first) / step) + 1 }, (_, at) => first + at * step);
}

/** The node adds up by hours of a day, or by days as they are at Greenwich. */
function Over({ series, days, step }) {
  const rows = series.map((row) => ({
    ...row, at: row.at_ms, name: nameOf(row), tokens: row.tokens ?? (row.input_tokens ?? 0) + (row.output_tokens ?? 0),
  })).sort((a, b) => a.at - b.at || a.name.localeCompare(b.name));
  const names = [...new Set(rows.map(({ name }) => name))].sort();
  const times = steps(series, days, step);
  const line = (name, field) => times.map((at) => rows.find((row) => row.at === at && row.name === name)?.[field] ?? 0);
  const label = step < DAY_MS ? clock : day;
  return html`
    <${Chart} title="Tokens" field="tokens" times=${times} names=${names} rows=${rows} label=${label} show=${count} mark=${count}
      values=${(name) => line(name, 'tokens')} head=${['Tokens', 'In', 'Out']}
      cells=${(row) => [count(row.tokens), count(row.input_tokens), count(row.output_tokens)]} />
    <${Chart} title="Cost" field="usd" times=${times} names=${names} rows=${rows} label=${label} show=${usd} mark=${usdMark}
      values=${(name) => line(name, 'usd')} head=${['Cost']} cells=${(row) => [usd(row.usd)]} />`;
}

function Chart({ title, field, times, names, rows, label, show, mark, values, head, cells }) {
  const [view, choose] = useState('plot');
  return html`<${Panel} title=${title}>
    <${Tabs} label=${`Ways to look at it: ${title}`} chosen=${view} onChoose=${choose} tabs=${[{ name: 'plot', title: 'Plot' }, { name: 'table', title: 'Table' }]}>
      ${view === 'plot' && rows.every((row) => !row[field])
        ? html`<${Empty} title="Nothing to draw"><p>Nobody said that anything was used. The built-in model takes no tokens and costs nothing.</p><//>`
        : view === 'plot' ? html`<${Plot} times=${times} lines=${names.map((name) => ({ name, values: values(name) }))} show=${show} mark=${mark} when=${label} label=${`${title} over time. The table has the same numbers.`} />`
        : html`<${Table} scrolls=${true} label=${`${title} over time`} head=${['When', 'Who', ...head.map((text) => ({ text, class: 'number' }))]}>
            ${[...rows].reverse().map((row) => html`<${Tr} key=${row.at + row.name}><${Td} name="When">${label(row.at)}<//><${Th}>${row.name}<//>${cells(row).map((cell, at) => html`<${Td} key=${at} name=${head[at]} class="number">${cell}<//>`)}<//>`)}<//>`}
    <//>
  <//>`;
}
