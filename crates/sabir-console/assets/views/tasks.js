// Tasks that were handed to the node's router, and the form that hands it one more.

import { fresh, get, post, withQuery } from '../api.js';
import { useAction, useResource } from '../data.js';
import { clip, counted, duration, shortId, usd } from '../format.js';
import { sendsByKey } from '../keys.js';
import { html, useRef, useState } from '../lib.js';
import { Badge, Button, Empty, Failure, Field, Fold, Loaded, Page, Panel, Time } from '../parts.js';
import { go, to } from '../route.js';
import { dropDraft, keepDraft, useDraft } from '../store.js';

const PAGE = 30;

export function Tasks({ query }) {
  const orders = useResource(withQuery('/api/orders', { limit: PAGE }), ['orders']);
  const [older, add] = useState([]);
  const [isAll, all] = useState(false);
  const more = useAction(async (before) => {
    const { orders: found } = await get(withQuery('/api/orders', { limit: PAGE, before }));
    add((known) => [...known, ...found]);
    all(found.length < PAGE);
  });
  return html`<${Page} title="Tasks" lead="Say what is to be done. The node finds out who can do it, agrees on terms, and shows what came of it.">
    <${TaskForm} isFirst=${orders.data?.orders.length === 0} isOpen=${query.get('choose') === 'skill'} />
    <${Loaded} from=${orders} what="The tasks">${({ orders: newest }) => {
      const known = new Set(newest.map(({ id }) => id));
      const list = [...newest, ...older.filter(({ id }) => !known.has(id))];
      if (list.length === 0) {
        return html`<${Empty} title="No task was given yet">
          <p>Type one above, or take an example. The researcher and the linguist work without a model; questions are answered from your <a href=${to('collections')}>collections</a>, such as the example pages.</p>
        <//>`;
      }
      return html`<section aria-labelledby="given"><h2 id="given" class="section-title">Given so far</h2>
        <ul class="list">${list.map((order) => html`<${Row} key=${order.id} order=${order} />`)}</ul>
        <${Failure} error=${more.error} what="Older tasks cannot be shown." />
        ${!isAll && list.length >= PAGE && html`<div class="actions"><${Button} isBusy=${more.isBusy} onClick=${() => more.run(list.at(-1).id)}>Show older ones<//></div>`}
      </section>`;
    }}<//>
  <//>`;
}

export function Row({ order }) {
  const { chosen, cost = {} } = order;
  return html`<li class="list-item">
    <a class="list-main" href=${to('tasks', order.id)}>${clip(order.task, 160) || 'A task without words'}</a>
    <span class="list-side"><${Badge} state=${order.state} /></span>
    <span class="list-note">
      ${order.skill && html`<span>${order.skill}</span>`}
      ${chosen && html`<span>${chosen.name ?? shortId(chosen.delegate_id)}</span>`}
      ${cost?.tokens != null && html`<span>${counted(cost.tokens, 'token')}</span>`}
      ${cost?.usd != null && html`<span>${usd(cost.usd)}</span>`}
      ${order.ended_at_ms && html`<span>${duration(order.ended_at_ms - order.created_at_ms)}</span>`}
      ${order.children?.length > 0 && html`<span>${counted(order.children.length, 'subtask')}</span>`}
      <span><${Time} at=${order.created_at_ms} /></span>
    </span>
  </li>`;
}

/** What the node can do without a model. The linguist takes the whole text for what it is asked about. */
const EXAMPLES = [
  { label: 'Count the tokens of “good morning”', task: 'good morning', skill: 'language.tokens' },
  { label: 'Mend a message in AXON', task: 'INF(@monitor->@ops): alert{level:3}', skill: 'language.repair' },
];

const EMPTY = { task: '', skill: '', to: '', strategy: '', budget_tokens: '', deadline_secs: '', verify: '', input: '' };

/** Begins a task with these words, for somebody who has to choose who does it. */
export function chooseFor(task) {
  keepDraft('task', { ...EMPTY, task });
  go('tasks', '', { choose: 'skill' });
}

function TaskForm({ isFirst, isOpen }) {
  const delegates = useResource('/api/delegates', ['delegates']);
  const [form, set] = useDraft('task', EMPTY);
  // The same key until it was taken: who presses again after an error does not order twice.
  const key = useRef(fresh());
  const change = (name) => (event) => {
    key.current = fresh();
    set({ ...form, [name]: event.target.value });
  };
  const give = useAction(async () => {
    const order = { task: form.task.trim() };
    for (const name of ['skill', 'to', 'strategy', 'verify']) if (form[name].trim()) order[name] = form[name].trim();
    for (const name of ['budget_tokens', 'deadline_secs']) if (form[name] !== '') order[name] = Number(form[name]);
    if (form.input.trim()) {
      try {
        order.input = JSON.parse(form.input);
      } catch (error) {
        throw new Error(`The input is no JSON: ${error.message}.`);
      }
    }
    const { id } = await post('/api/orders', order, { 'idempotency-key': key.current });
    key.current = fresh();
    dropDraft('task');
    go('tasks', id);
  });
  const submit = (event) => {
    event.preventDefault();
    give.run();
  };
  const ready = (delegates.data?.delegates ?? []).filter(({ state }) => state === 'ready');
  const skills = [...new Set(ready.flatMap(({ skills = [] }) => skills.map(({ name }) => name)))].sort();
  const examples = EXAMPLES.filter(({ skill }) => skills.includes(skill));
  const take = (example) => {
    key.current = fresh();
    set({ ...EMPTY, ...example });
  };
  return html`<${Panel} title="Give a task">
    <form class="stack" onSubmit=${submit} onKeyDown=${sendsByKey}>
      <${Field} label="What is to be done">${(own) => html`<textarea ...${own} rows="3" required value=${form.task} onInput=${change('task')}></textarea>`}<//>
      ${isFirst && examples.length > 0 && html`<div class="examples"><span class="soft">For example:</span> ${examples.map(({ label, ...example }) => html`<button type="button" class="button small" key=${label} onClick=${() => take(example)}>${label}</button>`)}</div>`}
      <${Fold} title="Who, how and within which limits" open=${isOpen || form.skill !== ''}>
        <div class="field-grid">
          <${Field} label="Skill" optional=${true} help="Without one, the node takes the one that fits.">
            ${(own) => html`<select ...${own} value=${form.skill} onChange=${change('skill')}><option value="">Whatever fits</option>${skills.map((name) => html`<option key=${name}>${name}</option>`)}</select>`}<//>
          <${Field} label="Delegate" optional=${true} help="Without one, the best by record and claims.">
            ${(own) => html`<select ...${own} value=${form.to} onChange=${change('to')}><option value="">Whoever is best</option>${ready.map(({ url, name, delegate_id, builtin }) => html`<option key=${delegate_id} value=${builtin ? name : url}>${name ?? shortId(delegate_id)}</option>`)}</select>`}<//>
          <${Field} label="Choose by" help="What counts most when there are several.">
            ${(own) => html`<select ...${own} value=${form.strategy} onChange=${change('strategy')}><option value="">A balance of all</option><option value="quality">Quality</option><option value="cost">Cost</option><option value="latency">Speed</option></select>`}<//>
          <${Field} label="Check of the result" help="Who looks at it besides who made it.">
            ${(own) => html`<select ...${own} value=${form.verify} onChange=${change('verify')}><option value="">Nobody</option><option value="human">You, in the inbox</option><option value="peer">Another delegate</option></select>`}<//>
          <${Field} label="Most tokens" optional=${true} help="It ends when they are used up.">
            ${(own) => html`<input ...${own} type="number" min="1" step="1" inputmode="numeric" value=${form.budget_tokens} onInput=${change('budget_tokens')} />`}<//>
          <${Field} label="Most seconds" optional=${true} help="After this the result is worth nothing.">
            ${(own) => html`<input ...${own} type="number" min="1" step="1" inputmode="numeric" value=${form.deadline_secs} onInput=${change('deadline_secs')} />`}<//>
        </div>
        <${Field} label="Input" optional=${true} help="A JSON object with the fields of the skill, for skills that take more than words.">
          ${(own) => html`<textarea ...${own} class="mono" rows="3" spellcheck=${false} value=${form.input} onInput=${change('input')}></textarea>`}<//>
      <//>
      <${Failure} error=${give.error} what="The task was not taken." />
      <div class="actions"><${Button} type="submit" kind="primary" isBusy=${give.isBusy} busy="Handing it over">Give the task<//></div>
    </form>
  <//>`;
}
