// One task: who was chosen and why, what happens, and what came of it.

import { get, post } from '../api.js';
import { useAction, useResource, useStream } from '../data.js';
import { clip, count, duration, json, percent, sentence, shortId, usd, words } from '../format.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { END } from '../live.js';
import { Badge, Button, Confirm, Facts, Failure, Fold, Id, Loaded, Note, Page, Panel, Table, Td, Th, Time, Tr } from '../parts.js';
import { go, to } from '../route.js';
import { announce, session } from '../store.js';
import { Prose, Shown } from '../text.js';
import { MatterCard } from './matter.js';
import { Result } from './result.js';
import { chooseFor } from './tasks.js';

const RUNNING = ['running', 'waiting', 'away', 'queued'];
const TAGS = [
  'found', 'unreachable', 'key_pinned', 'chosen', 'trying', 'session_opened', 'progress', 'failed', 'hedging',
  'stopped', 'delivered', 'checking', 'checked', 'resumed', 'away', 'cancelling', 'child', 'child_ended', 'report', 'event',
  'submission', 'session',
];

export function Task({ id }) {
  const path = `/api/orders/${encodeURIComponent(id)}`;
  const order = useResource(path, ['orders', 'inbox']);
  const state = order.data?.state;
  const before = useRef(null);
  useEffect(() => {
    if (state && before.current && before.current !== state) announce(`The task is ${words(state).toLowerCase()}.`);
    before.current = state;
  }, [state]);
  const title = order.data ? clip(order.data.task, 120) || 'A task without words' : 'Task';
  return html`<${Page} title=${title} crumb=${html`<a href=${to('tasks')}>Tasks</a>`}
    actions=${order.data && html`<${Actions} order=${order.data} path=${path} onDone=${order.reload} />`}>
    <${Loaded} from=${order} what="The task">${(found) => html`<${Whole} order=${found} path=${path} reload=${order.reload} />`}<//>
  <//>`;
}

function Actions({ order, path, onDone }) {
  const [isAsked, ask] = useState(false);
  const cancel = useAction(async () => {
    await post(`${path}/cancel`);
    ask(false);
    await onDone();
  });
  const again = useAction(async () => {
    const { id } = await post(`${path}/again`);
    if (id && id !== order.id) go('tasks', id);
    else await onDone();
  });
  if (RUNNING.includes(order.state)) {
    return html`<${Button} kind="danger-quiet" onClick=${() => ask(true)}>Cancel the task<//>
      ${isAsked && html`<${Confirm} title="Cancel this task?" yes="Cancel the task" isBusy=${cancel.isBusy} error=${cancel.error} onYes=${cancel.run} onNo=${() => ask(false)}>
        <p>The delegate is told to stop. What it has done already is not undone.</p><//>`}`;
  }
  return html`<${Button} isBusy=${again.isBusy} onClick=${again.run}>Do it again<//><${Failure} error=${again.error} />`;
}

function Whole({ order, path, reload }) {
  const inbox = useResource(RUNNING.includes(order.state) ? '/api/inbox' : null, ['inbox']);
  const own = (inbox.data?.matters ?? []).filter((matter) => matter.order_id === order.id || matter.asker?.id === order.id);
  const { chosen, cost = {}, provenance } = order;
  const settle = () => {
    inbox.reload();
    reload();
  };
  return html`
    <div class="summary">
      <${Badge} state=${order.state} />
      <span>given <${Time} at=${order.created_at_ms} /></span>
      ${order.ended_at_ms && html`<span>took ${duration(order.ended_at_ms - order.created_at_ms)}</span>`}
      ${order.by && order.by !== 'person' && order.by !== 'page' && html`<span>by ${{ agent: 'an agent', mcp: 'a program over MCP', a2a: 'an agent over A2A' }[order.by] ?? order.by}</span>`}
      ${order.skill && html`<span>skill <strong>${order.skill}</strong></span>`}
      ${order.parent && html`<span>part of ${parentOf(order.parent)}</span>`}
      <span><a href=${to('journal', '', { session: order.session_id ?? order.id })}>in the journal</a></span>
      <${Id} of=${order.id} label="the name of the task" />
    </div>
    ${order.task?.length > 120 && html`<${Fold} title="The task in full"><${Prose} text=${order.task} /><//>`}
    ${own.length > 0 && html`<div class="stack">${own.map((matter) => html`<${MatterCard} key=${matter.id} matter=${matter} isHere=${true} onDecided=${settle} />`)}</div>`}
    ${order.error && html`<${Note} tone="bad" title=${{ cancelled: 'It was cancelled.', interrupted: 'It was interrupted.' }[order.state] ?? 'It was not done.'}><p>${messageOf(order.error)}</p>
      ${order.error.code === 'SKILL_NEEDED' && html`<p>Nobody could tell from its words who should do it.</p><p><${Button} kind="small" onClick=${() => chooseFor(order.task)}>Choose who does it<//></p>`}<//>`}
    ${order.output != null && html`<${Panel} title="Result"><${Result} output=${order.output} /><//>`}
    <div class="columns">
      <div class="stack">
        <${Progress} path=${`${path}/events`} isRunning=${RUNNING.includes(order.state)} />
        ${order.children?.length > 0 && html`<${Panel} title="Subtasks" note="each goes its own way"><${Tree} children=${order.children} depth=${0} /><//>`}
        ${order.attempts?.length > 0 && html`<${Attempts} attempts=${order.attempts} />`}
      </div>
      <div class="stack">
        ${chosen && html`<${Chosen} chosen=${chosen} />`}
        <${Panel} title="Terms and cost">
          <${Facts} of=${[
            ['Negotiated mode', order.payload_mode && words(order.payload_mode)],
            ['Tokens', count(cost?.tokens)],
            ['Cost', usd(cost?.usd)],
            ['Time', duration(cost?.latency_ms)],
            ['Within the budget', cost?.within_budget == null ? null : cost.within_budget ? 'yes' : 'no'],
          ]} />
          <p class="soft">Tokens and dollars are the delegate's word; the time is ours.</p>
        <//>
        <${Provenance} provenance=${provenance} checks=${order.checks} />
      </div>
    </div>`;
}

const CREW = ['researcher', 'coder', 'linguist'];

/** Those of this node as they are called here: their ids are long, and alike. */
function called(id) {
  const own = session.get().me?.node?.delegate_id;
  if (!own || !String(id ?? '').startsWith(own)) return shortId(id);
  if (id === own) return 'this node';
  return CREW.find((name) => id === `${own}-${name}`) ?? shortId(id);
}

/** An agent in a conversation hands work on, too. */
const parentOf = (parent) => (parent.startsWith('order-')
  ? html`<a href=${to('tasks', parent)}>a larger task</a>`
  : html`<a href=${to('conversations', parent)}>a conversation</a>`);
const messageOf = (error) => (typeof error === 'string' ? sentence(error) : `${sentence(error.message ?? json(error))}${error.code ? ` (${error.code})` : ''}`);

function Chosen({ chosen }) {
  const ranking = chosen.ranking ?? [];
  const hasWhy = ranking.some(({ why }) => why);
  return html`<${Panel} title="Who was chosen, and why">
    <p class="chosen-name"><strong>${chosen.name ?? shortId(chosen.delegate_id)}</strong>${chosen.address && html` <span class="soft breakable">${chosen.address}</span>`}</p>
    <${Reckoning} text=${chosen.why} title="How it was weighed" />
    ${ranking.length > 0 && html`<${Table} label="Ranking of the candidates" head=${['Delegate', { text: 'Score', class: 'number' }, ...(hasWhy ? ['Why'] : [])]}>
      ${ranking.map(({ delegate_id, name, score, why }) => html`<${Tr} key=${delegate_id}>
        <${Th}>${name ?? called(delegate_id)}<//><${Td} name="Score" class="number">${typeof score === 'number' ? score.toFixed(3) : '–'}<//>${hasWhy && html`<${Td} name="Why">${whyOf(why)}<//>`}<//>`)}
    <//>`}
  <//>`;
}

/** The first line says it, and the others how it came about. */
function Reckoning({ text, title }) {
  const [first, ...more] = plainNames(text).trim().split('\n');
  const rest = more.join('\n');
  return html`<p><${Shown} text=${first} /></p>
    ${rest.trim() && html`<${Fold} title=${title}><p class="as-typed soft"><${Shown} text=${rest} /></p><//>`}`;
}

const plainNames = (text) => String(text ?? '').replaceAll('ldp:delegate:', '');

/** The router gives its reasons as numbers; a server may have put them into words already. */
function whyOf(why) {
  if (why == null || typeof why === 'string') return why ?? '';
  const { estimate = {}, claims = {} } = why;
  return [
    estimate.quality != null && `quality ${percent(estimate.quality)}`,
    claims.quality != null && `claims ${percent(claims.quality)}`,
    estimate.reliability != null && `succeeds ${percent(estimate.reliability)}`,
    estimate.latency_ms != null && duration(estimate.latency_ms),
    estimate.cost_usd != null && usd(estimate.cost_usd),
    estimate.outcomes != null && `from ${estimate.outcomes.toFixed(0)} outcomes`,
  ].filter(Boolean).join(', ');
}

function Attempts({ attempts }) {
  return html`<${Panel} title="Attempts">
    <${Table} label="Attempts, in order" head=${['Delegate', 'Outcome', { text: 'Time', class: 'number' }, 'Error']}>
      ${attempts.map((attempt, at) => html`<${Tr} key=${at}>
        <${Th}>${called(attempt.delegate_id)}<//>
        <${Td} name="Outcome"><${Badge} state=${attempt.outcome} /><//>
        <${Td} name="Time" class="number">${duration(attempt.latency_ms)}<//>
        <${Td} name="Error">${attempt.error ? messageOf(attempt.error) : '–'}<//><//>`)}
    <//>
  <//>`;
}

function Provenance({ provenance, checks = [] }) {
  if (!provenance && !checks?.length) return null;
  const of = provenance ?? {};
  const status = of.verification_status ?? of.verification;
  return html`<${Panel} title="Provenance">
    ${provenance && html`<${Facts} of=${[
      ['Made by', shortId(of.produced_by)],
      ['Model', of.model_version],
      ['Mode', of.payload_mode_used && words(of.payload_mode_used)],
      ['Checked', status && html`<${Badge} state=${status} tone=${/peer|tool|human/.test(status) ? 'good' : 'warn'} />`],
      ['Checked by', of.verified_by],
      ['Own confidence', of.confidence != null ? percent(of.confidence) : null],
      ['Contract', of.contract_satisfied == null ? null : of.contract_satisfied ? 'kept' : `broken: ${(of.contract_violations ?? []).join(', ')}`],
      ['When', of.timestamp && html`<${Time} at=${Date.parse(of.timestamp)} exact=${true} />`],
      ['Signed', of.signature ? html`<${Id} of=${of.signature.public_key ?? of.signature} label="the key that signed it" />` : null],
    ]} />`}
    ${of.lineage?.length > 0 && html`<${Fold} title="Through whose hands it went"><ol>${of.lineage.map((hop, at) => html`<li key=${at}>${shortId(hop.delegate_id)}: ${hop.step}</li>`)}</ol><//>`}
    ${checks?.length > 0 && html`<h3>Checks</h3><ul class="plain checks">${checks.map((check, at) => html`<li key=${at}>
      <${Badge} state=${check.outcome ?? (check.passed ? 'passed' : 'failed')} /> <span>${words(check.status)} by ${check.by}</span>
      ${check.detail && html`<p class="soft">${check.detail}</p>`}</li>`)}</ul>`}
  <//>`;
}

/** Subtasks, each with its own; those of a subtask are asked for when it is opened. */
function Tree({ children, depth }) {
  return html`<ul class="tree">${children.map((child) => html`<${Branch} key=${child.id} child=${child} depth=${depth} />`)}</ul>`;
}

function Branch({ child, depth }) {
  const [isOpen, open] = useState(false);
  const [below, put] = useState(null);
  const look = useAction(async () => put(await get(`/api/orders/${encodeURIComponent(child.id)}`)));
  const toggle = () => {
    open(!isOpen);
    if (!below) look.run();
  };
  return html`<li>
    <div class="branch">
      <button type="button" class="button quiet small twist" aria-expanded=${isOpen ? 'true' : 'false'} aria-label=${`Subtasks of ${child.task ?? child.id}`} onClick=${toggle}>${isOpen ? '▾' : '▸'}</button>
      <a href=${to('tasks', child.id)}>${child.task ? clip(child.task, 100) : `Subtask …${child.id.slice(-6)}`}</a>
      <span class="soft">${shortId(child.delegate)}</span>
      <${Badge} state=${child.state} />
      ${child.capacity && html`<span class="soft capacity">${capacityOf(child.capacity)}</span>`}
    </div>
    <${Failure} error=${look.error} />
    ${isOpen && below && (below.children?.length > 0
      ? html`<${Tree} children=${below.children} depth=${depth + 1} />`
      : html`<p class="soft tree-none">It has no subtasks.</p>`)}
  </li>`;
}

/** What a card says that its delegate takes on, beside what it has of ours. */
function capacityOf({ tasks_at_once: most, in_use: used }) {
  return `has ${count(used)} of ours, ${most == null ? 'and does not say how many it takes' : `works on ${count(most)} at once`}`;
}

const begin = () => [];
const add = (rows, row) => {
  rows.push(row);
  return row.tag === 'report' ? END : null;
};

function Progress({ path, isRunning }) {
  const { sum: rows, state } = useStream(path, { tags: TAGS, begin, add });
  const news = gathered(rows).map((row) => [row, tell(row)]).filter(([, told]) => told);
  const share = rows.findLast(({ body }) => typeof body?.progress === 'number')?.body.progress;
  return html`<${Panel} title="What happened" note=${isRunning ? { live: 'live', connecting: 'connecting…', lost: 'connection lost' }[state] : null}>
    ${isRunning && typeof share === 'number' && html`<progress max="1" value=${share} aria-label="Progress">${percent(share)}</progress>`}
    ${news.length === 0
      ? html`<p class="soft">${isRunning ? 'Nothing was told yet.' : 'Nothing was written down about its course.'}</p>`
      : html`<ol class="timeline">${news.map(([row, { text, tone, more }]) => html`<li key=${row.seq} class=${tone}>
          <${Reckoning} text=${text} title="Why" />${more && html`<${Fold} title="Details"><pre class="code wrap" tabindex="0"><code>${json(more)}</code></pre><//>`}
        </li>`)}</ol>`}
  <//>`;
}

/** Those who were found one after the other stand in one line, with the keys that were new. */
function gathered(rows) {
  const lines = [];
  for (const row of rows) {
    const last = lines.at(-1);
    if (last?.found && row.tag === 'found') last.found.push(row.body);
    else if (last?.found && row.tag === 'key_pinned') last.pinned.push(row.body);
    else lines.push(row.tag === 'found' ? { ...row, found: [row.body], pinned: [] } : row);
  }
  return lines;
}

const namesOf = (said) => said.map((it) => it.msg ?? it).map((it) => called(it.delegate_id ?? it.delegate)).join(', ');

/** A row in words. */
function tell({ tag, body, found = [], pinned = [] }) {
  if (body === null || typeof body !== 'object') return tag ? { text: `${words(tag)}: ${body ?? ''}`, tone: '' } : null;
  const said = body.msg ?? body;
  const who = called(said.delegate_id ?? said.delegate);
  const kind = tag || said.event || said.type;
  switch (kind) {
    case 'found': return {
      text: `Found ${found.length > 1 ? namesOf(found) : `${who} at ${said.address}`}${pinned.length ? `; remembered the ${pinned.length > 1 ? 'keys' : 'key'} of ${namesOf(pinned)}, seen for the first time` : ''}`,
      tone: '',
    };
    case 'unreachable': return { text: `${said.address} cannot be reached: ${messageOf(said.error ?? '')}`, tone: 'warn' };
    case 'key_pinned': return { text: `Remembered the key of ${who}, seen for the first time`, tone: '' };
    case 'chosen': return { text: `Chose: ${said.why}`, tone: 'busy' };
    case 'trying': return { text: `Asking ${who}`, tone: 'busy' };
    case 'session_opened': return { text: `Agreed with ${who} to speak in ${words(said.mode).toLowerCase()}`, tone: '' };
    case 'progress': {
      if (said.message == null && said.state == null) return null;
      const what = said.message ?? words(said.state);
      return { text: `${who}: ${what}`, tone: said.state === 'waiting_for_approval' ? 'warn' : '' };
    }
    case 'failed': return { text: `${who} failed: ${messageOf(said.error ?? '')}`, tone: 'bad' };
    case 'hedging': return { text: `It takes long; asking ${who} as well`, tone: 'warn' };
    case 'stopped': return { text: `Told ${who} to stop, because another delivered`, tone: '' };
    case 'delivered': return { text: `${who} delivered`, tone: 'good' };
    case 'checking': return { text: `Checking by ${said.by}`, tone: 'busy' };
    case 'checked': return { text: `Check by ${said.by}: ${words(said.outcome ?? (said.passed ? 'passed' : 'failed')).toLowerCase()}${said.detail ? ` (${said.detail})` : ''}`, tone: said.passed ? 'good' : 'bad' };
    case 'resumed': return { text: `Taken up again after the node was started: ${said.why}`, tone: 'warn' };
    case 'away': return { text: `${said.why}. It is asked again.`, tone: 'warn' };
    case 'cancelling': return { text: 'Somebody cancelled it', tone: 'warn' };
    case 'child': return { text: `Handed on a part: ${said.task}`, tone: 'busy' };
    case 'child_ended': return { text: `A part is ${words(said.state).toLowerCase()}${said.delegate_id ? `, by ${who}` : ''}`, tone: said.state === 'done' ? 'good' : 'warn' };
    case 'report': return { text: said.error ? `${words(said.state ?? 'failed')}: ${messageOf(said.error)}` : words(said.state ?? 'done'), tone: said.error ? 'bad' : 'good' };
    case 'submission': case 'session': case '': case undefined: return null;
    default: return { text: said.message ?? words(kind), tone: '', more: said };
  }
}

