// Everything that was written down, and each line of it in four languages.

import { get, withQuery } from '../api.js';
import { useAction, useResource } from '../data.js';
import { clip, count, counted, percent } from '../format.js';
import { Component, html, useEffect, useState } from '../lib.js';
import { Badge, Bar, Button, Dialog, Empty, Facts, Failure, Field, Id, Loaded, Note, Page, Tabs, Time } from '../parts.js';
import { closeOver, go, openOver, to } from '../route.js';
import { Shown } from '../text.js';

const PAGE = 50;
/** Who looks far back gets more at once. */
const MOST = 500;
const KINDS = ['session', 'submission', 'event', 'item', 'turn', 'approval', 'note', 'peer'];
const TONGUES = [['english', 'English'], ['json', 'JSON'], ['axon', 'AXON'], ['llmx', 'LLMX']];

export function Journal({ query }) {
  const journals = useResource('/api/journals', ['orders', 'sessions', 'inbox', 'delegates', 'decisions']);
  const list = journals.data?.journals ?? [];
  const name = query.get('journal') ?? list[0]?.name;
  const wanted = { kind: query.get('kind') ?? '', session: query.get('session') ?? '', q: query.get('q') ?? '' };
  const seq = query.get('seq');
  const place = (change) => ['journal', '', { journal: query.get('journal'), ...wanted, seq: '', ...change }];
  const show = (change) => go(...place(change));
  return html`<${Page} title="Journal" lead="Nothing happens here that is not written down first. Each line can be read as English, JSON, AXON or LLMX.">
    <${Loaded} from=${journals} what="The journals">${() => list.length === 0
      ? html`<${Empty} title="There is no journal yet"><p>It begins with the first task or conversation.</p><//>`
      : html`<${Filters} list=${list} name=${name} wanted=${wanted} onShow=${show} />
          <${Check} key=${`check ${name}`} name=${name} onOpen=${(at) => openOver(...place({ journal: name, seq: at }))} />
          <${Lines} key=${`${name}|${wanted.kind}|${wanted.session}|${wanted.q}`} name=${name} wanted=${wanted} last=${list.find((it) => it.name === name)?.last_seq} onOpen=${(at) => openOver(...place({ journal: name, seq: at }))} />
          ${seq && html`<${Line} name=${name} seq=${seq} onClose=${() => closeOver(...place({}))} />`}`}<//>
  <//>`;
}

function Filters({ list, name, wanted, onShow }) {
  const [text, type] = useState(wanted.q);
  const [session, typeSession] = useState(wanted.session);
  useEffect(() => {
    type(wanted.q);
    typeSession(wanted.session);
  }, [wanted.q, wanted.session]);
  const submit = (event) => {
    event.preventDefault();
    onShow({ q: text.trim(), session: session.trim() });
  };
  return html`<form class="filters" role="search" onSubmit=${submit}>
    <${Field} label="Journal">${(own) => html`<select ...${own} value=${name} onChange=${(event) => onShow({ journal: event.target.value })}>${list.map((it) => html`<option key=${it.name} value=${it.name}>${it.name} (${count(it.last_seq)})</option>`)}</select>`}<//>
    <${Field} label="Kind">${(own) => html`<select ...${own} value=${wanted.kind} onChange=${(event) => onShow({ kind: event.target.value })}><option value="">All</option>${KINDS.map((kind) => html`<option key=${kind}>${kind}</option>`)}</select>`}<//>
    <${Field} label="Session">${(own) => html`<input ...${own} type="text" spellcheck=${false} value=${session} onInput=${(event) => typeSession(event.target.value)} />`}<//>
    <${Field} label="Words">${(own) => html`<input ...${own} type="search" value=${text} onInput=${(event) => type(event.target.value)} />`}<//>
    <div class="actions"><${Button} type="submit">Search<//>${(wanted.q || wanted.session || wanted.kind) && html`<${Button} kind="quiet" onClick=${() => onShow({ q: '', session: '', kind: '' })}>Show all<//>`}</div>
  </form>`;
}

/** Whether every line is still what was written, from the first to the last. */
function Check({ name, onOpen }) {
  const [found, put] = useState(null);
  const check = useAction(async () => put(await get(`/api/journal/${encodeURIComponent(name)}/check`)));
  return html`<div class="stack" role="status" aria-label="The chain">
    <div class="actions"><${Button} kind="small" isBusy=${check.isBusy} busy="Checking" onClick=${check.run}>Check the chain<//></div>
    <${Failure} error=${check.error} what="The chain cannot be checked." />
    ${found?.result === 'whole' && html`<${Note} tone="good" title="The journal is whole."><p>${counted(found.entries, 'line')} follow each other. The last hash is <span class="breakable mono">${found.head}</span>.</p><//>`}
    ${found?.result === 'tampered' && html`<${Note} tone="bad" title=${found.seq ? `Line ${found.seq} was changed.` : 'It was changed.'}>
      <p>${[found.place, found.why].filter(Boolean).join(': ')}.</p>
      ${found.seq && html`<p><${Button} kind="small" onClick=${() => onOpen(found.seq)}>Show line ${found.seq}<//></p>`}<//>`}
  </div>`;
}

function Lines({ name, wanted, last, onOpen }) {
  const path = `/api/journal/${encodeURIComponent(name)}`;
  const first = useResource(withQuery(path, { ...wanted, limit: PAGE }));
  // `next` is where older lines begin: not known before one has asked, and none at the end.
  const [{ older, next }, put] = useState({ older: [], next: undefined });
  const more = useAction(async (before) => {
    const said = await get(withQuery(path, { ...wanted, limit: Math.min(MOST, PAGE + 2 * older.length), before }));
    put(({ older: known }) => ({ older: [...known, ...newestFirst(said.lines)], next: said.next ?? null }));
  });
  const top = first.data ? newestFirst(first.data.lines)[0]?.seq ?? 0 : null;
  const isFiltered = wanted.q || wanted.session || wanted.kind;
  return html`
    ${top !== null && last > top && !isFiltered && html`<p class="newer"><${Button} kind="small" onClick=${first.reload}>Show ${counted(last - top, 'newer line')}<//></p>`}
    <${Loaded} from=${first} what="The lines">${({ lines, next: first }) => {
      const place = next === undefined ? first : next;
      const known = new Set(lines.map((line) => line.seq));
      const rows = [...newestFirst(lines), ...older.filter((line) => !known.has(line.seq))];
      const button = place != null && html`<div class="actions"><${Button} isBusy=${more.isBusy} onClick=${() => more.run(place)}>Look further back<//></div>`;
      if (rows.length === 0) return html`<${Empty} title="No line fits"><p>${isFiltered ? 'Change what you look for.' : 'Nothing was written into this journal yet.'}</p><//>${button}`;
      return html`<ol class="lines" aria-label="Lines, the newest first">${rows.map((line) => html`<${Row} key=${line.seq} line=${line} onOpen=${onOpen} />`)}</ol>
        <${Failure} error=${more.error} what="Older lines cannot be shown." />
        ${button}`;
    }}<//>`;
}

/** Where what a session is about can be seen. */
const placeOf = (session) => (session.startsWith('order-')
  ? html`<a href=${to('tasks', session)}>see the task</a>`
  : html`<a href=${to('conversations', session)}>see the conversation</a>`);

/** A line in the list. What was written down does not change, so it is drawn once: there may be thousands. */
class Row extends Component {
  shouldComponentUpdate() {
    return false;
  }

  render({ line, onOpen }) {
    return html`<li>
      <button type="button" class="line-button" onClick=${() => onOpen(line.seq)}>
        <span class="line-seq mono">${line.seq}</span>
        <span class="line-kind">${line.kind}${line.tag ? ` · ${line.tag}` : ''}</span>
        <span class="line-summary"><${Shown} text=${clip(line.summary, 220)} /></span>
        <span class="line-when soft"><${Time} at=${line.at_ms} /></span>
      </button></li>`;
  }
}

const newestFirst = (lines) => [...lines].sort((a, b) => b.seq - a.seq);

function Line({ name, seq, onClose }) {
  const line = useResource(`/api/journal/${encodeURIComponent(name)}/${encodeURIComponent(seq)}`);
  const [tongue, speak] = useState('english');
  return html`<${Dialog} wide=${true} title=${`${name}, line ${seq}`} onClose=${onClose}>
    <${Loaded} from=${line} what="The line">${({ line: row, forms: said, tokens: cost, why_no_forms: why, vocabulary, hash, is_sound: isSound }) => {
      // A row that is too large for a notation has neither.
      const [forms, tokens] = [{ json: row?.body, ...said }, cost ?? {}];
      const most = Math.max(1, ...TONGUES.map(([key]) => tokens[key] ?? 0));
      return html`
        <${Facts} of=${[
          ['Kind', [row?.kind, row?.tag].filter(Boolean).join(' · ')],
          ['When', html`<${Time} at=${row?.at_ms} exact=${true} />`],
          ['Session', row?.session_id && html`<${Id} of=${row.session_id} label="the name of the session" most=${30} /> ${placeOf(row.session_id)}`],
          ['Key', row?.key && html`<span class="breakable mono"><${Shown} text=${row.key} /></span>`],
          ['Hash', hash && html`<${Id} of=${hash} label="the hash" most=${30} />`],
          ['Chain', isSound == null ? null : html`<${Badge} state=${isSound ? 'ok' : 'failed'}>${isSound ? 'Follows the line before' : 'Does not follow the line before'}<//>`],
        ]} />
        <${Tabs} label="Languages" chosen=${tongue} onChoose=${speak} tabs=${TONGUES.map(([key, title]) => ({ name: key, title, note: tokens[key] == null ? '–' : count(tokens[key]) }))}>
          ${forms[tongue] == null
            ? html`<p class="soft">This line cannot be said in this language${why ? `: ${why}` : ''}.</p>`
            : html`<pre class="code wrap tall" tabindex="0" role="group" aria-label="The line"><code><${Shown} text=${typeof forms[tongue] === 'string' ? forms[tongue] : JSON.stringify(forms[tongue], null, 2)} /></code></pre>`}
        <//>
        <h3>What it costs in tokens</h3>
        <div class="bars">${TONGUES.map(([key, title]) => html`<${Bar} key=${key} label=${title} tone=${key === tongue ? 'strong' : ''} share=${(tokens[key] ?? 0) / most} text=${tokens[key] == null ? '–' : `${count(tokens[key])}${tokens.json ? ` (${percent(tokens[key] / tokens.json)})` : ''}`} />`)}</div>
        <p class="soft">Shares are of what JSON takes.${vocabulary ? ` Counted with the vocabulary ${vocabulary}.` : ''}</p>`;
    }}<//>
  <//>`;
}
