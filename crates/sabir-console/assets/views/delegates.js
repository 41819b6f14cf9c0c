// Who can be asked: what they claim, what was measured, whom they are trusted as, and who handed work
// to whom.

import { post, withQuery } from '../api.js';
import { useAction, useResource } from '../data.js';
import { NONE, clip, count, counted, duration, percent, shortId, shorten, usd, words } from '../format.js';
import { html, useState } from '../lib.js';
import { Badge, Bar, Button, Confirm, Empty, Facts, Failure, Field, Fold, Id, Loaded, Note, Page, Panel, Table, Tabs, Td, Th, Time, Tr } from '../parts.js';
import { goInstead } from '../route.js';
import { announce, dropDraft, useDraft } from '../store.js';
import { Shown, Words } from '../text.js';
import { WorkMap } from './map.js';

export function Delegates({ me, query }) {
  const delegates = useResource('/api/delegates', ['delegates', 'orders']);
  return html`<${Page} title="Delegates" lead="Agents that do work for you: those of this node, and those of others that you have added.">
    <${Loaded} from=${delegates} what="The delegates">${({ delegates: list }) => list.length === 0
      ? html`<${Empty} title="Nobody can be asked yet"><p>Add the address of a node below.</p><//>`
      : html`<div class="cards">${list.map((delegate) => html`<${Card} key=${delegate.delegate_id + delegate.url} delegate=${delegate} onChanged=${delegates.reload} />`)}</div>`}<//>
    <${Add} onAdded=${delegates.reload} />
    <${Delegations} names=${namesOf(delegates.data?.delegates ?? [], me.node)} own=${me.node?.delegate_id} view=${query.get('view') === 'table' ? 'table' : 'map'} />
  <//>`;
}

/** What people call those whose ids stand in the record. */
function namesOf(list, node) {
  const named = list.filter(({ delegate_id: id, name }) => id && name).map(({ delegate_id: id, name }) => [id, name]);
  return new Map([...named, [node?.delegate_id, 'this node']]);
}

function Card({ delegate, onChanged }) {
  const { card = {} } = delegate;
  const [isAsked, ask] = useState(false);
  const name = delegate.name ?? (delegate.delegate_id ? shortId(delegate.delegate_id) : delegate.url);
  // A card may say what is missing in the very words of its node.
  const isSaid = delegate.why && card?.description?.includes(delegate.why);
  const probe = useAction(async () => {
    await post('/api/delegates/probe', { url: delegate.url });
    announce(`${name} was asked.`);
    await onChanged();
  });
  const remove = useAction(async () => {
    await post('/api/delegates/remove', { url: delegate.url });
    ask(false);
    await onChanged();
  });
  const domain = nameOf(delegate.trust_domain ?? card?.trust_domain);
  const modes = card?.supported_payload_modes ?? [];
  return html`<${Panel} title=${name} class="card" actions=${html`<${Badge} state=${delegate.state} />`}>
    ${card?.description && !isSaid && html`<p>${clip(card.description, 400)}</p>`}
    ${delegate.why && delegate.state !== 'ready' && html`<${Note} tone="warn"><p><${Words} text=${delegate.why} /></p><//>`}
    <${Breaker} of=${delegate.breaker} />
    <${Facts} of=${[
      ['Where', html`<span class="breakable" title=${delegate.url}>${delegate.builtin ? 'built into this node' : clip(delegate.url, 80)}</span>`],
      ['Trust domain', domain],
      ['Key', delegate.pinned_key && html`<${Id} of=${delegate.pinned_key} label="its key" />`],
      ['Model', card?.model_family === 'none' ? 'none' : [card?.model_family, card?.model_version].filter(Boolean).join(' ')],
      ['Speaks', modes.map(words).join(', ')],
      ['Id', delegate.delegate_id && html`<${Id} of=${delegate.delegate_id} label="its id" most=${30} />`],
    ]} />
    ${delegate.skills?.length > 0
      ? html`<h3>Skills</h3><ul class="plain skills">${delegate.skills.map((skill) => html`<${Skill} key=${skill.name} skill=${skill} />`)}</ul>`
      : html`<p class="soft">It offers nothing at the moment.</p>`}
    <${Failure} error=${probe.error} what="It did not answer." />
    <div class="actions">
      ${delegate.state !== 'off' && html`<${Button} kind="small" isBusy=${probe.isBusy} busy="Asking" onClick=${probe.run}>Look at its card again<//>`}
      ${!delegate.builtin && html`<${Button} kind="small danger-quiet" onClick=${() => ask(true)}>Remove<//>`}
    </div>
    ${isAsked && html`<${Confirm} title=${`Remove ${name}?`} yes="Remove it" isBusy=${remove.isBusy} error=${remove.error} onYes=${remove.run} onNo=${() => ask(false)}>
      <p>It gets no more work from here. What was measured of it and its key stay known, so that it is recognised when you add it again.</p><//>`}
  <//>`;
}

const nameOf = (domain) => (typeof domain === 'string' ? domain : domain?.name);

/** Whether it gets work after it failed. A breaker is a word, or a state with its numbers. */
function Breaker({ of }) {
  if (!of) return null;
  const [state, said] = typeof of === 'string' ? [of, {}] : of.state ? [of.state, of] : Object.entries(of)[0] ?? [];
  const name = String(state ?? '').toLowerCase();
  if (!name || name === 'closed' || name === 'admitted') return null;
  const until = said?.until_ms ?? said?.until;
  const text = {
    failing: said?.failures > 1 ? `The last ${counted(said.failures, 'attempt')} failed.` : 'The last attempt failed.',
    open: 'It failed several times in a row and rests: no work goes to it.',
    probing: 'It rested after failures; one attempt shows whether it is back.',
  }[name] ?? words(name);
  return html`<${Note} tone="warn"><p>${text}${typeof until === 'number' && html` Until <${Time} at=${until} exact=${true} />.`}</p><//>`;
}

/** What it says of itself above, what came of it below. Where neither is known, nothing is drawn. */
function Skill({ skill }) {
  const { claimed = {}, measured } = skill;
  const gap = measured && claimed?.quality != null && measured.quality != null ? measured.quality - claimed.quality : null;
  return html`<li class="skill">
    <p class="skill-name"><strong>${skill.name}</strong>${gap != null && gap < -0.1 && html` <${Badge} tone="warn">Below its claim<//>`}</p>
    ${skill.description && html`<p class="soft">${clip(skill.description, 240)}</p>`}
    ${claimed?.quality == null && !measured ? html`<p class="soft">It claims nothing, and nothing was measured yet.</p>` : html`<${Bar} label="Claimed" share=${claimed?.quality} text=${claimed?.quality == null ? 'no claim' : percent(claimed.quality)} />
    <${Bar} label="Measured" tone="strong" share=${measured?.quality ?? measured?.success} text=${measured ? percent(measured.quality ?? measured.success) : 'nothing yet'} />
    <${Fold} title="Numbers">
      <${Table} scrolls=${true} label=${`Claimed and measured: ${skill.name}`} head=${['Measure', { text: 'Claimed', class: 'number' }, { text: 'Measured', class: 'number' }]}>
        ${[
          ['Quality', percent(claimed?.quality), percent(measured?.quality)],
          ['Success', NONE, percent(measured?.success)],
          ['Time', duration(claimed?.latency_ms), duration(measured?.latency_ms)],
          ['Cost', usd(claimed?.cost), usd(measured?.cost)],
          ['Outcomes', NONE, count(measured?.count ?? 0)],
        ].map(([name, said, seen]) => html`<${Tr} key=${name}><${Th}>${name}<//><${Td} class="number">${said}<//><${Td} class="number">${seen}<//><//>`)}
      <//>
    <//>`}
  </li>`;
}

function Add({ onAdded }) {
  const [url, type] = useDraft('delegate', '');
  const add = useAction(async () => {
    await post('/api/delegates', { url: url.trim() });
    type('');
    dropDraft('delegate');
    announce('The delegate was added.');
    await onAdded();
  });
  const submit = (event) => {
    event.preventDefault();
    add.run();
  };
  return html`<${Panel} title="Add a delegate">
    <form class="stack" onSubmit=${submit}>
      <${Field} label="Address" help="Such as http://127.0.0.1:7421, ldp://host:7420, or the address of an A2A agent or an MCP server. Its key is remembered when it is seen first.">
        ${(own) => html`<input ...${own} type="text" inputmode="url" spellcheck=${false} required value=${url} onInput=${(event) => type(event.target.value)} />`}<//>
      <${Failure} error=${add.error} what="It was not added." />
      <div class="actions"><${Button} type="submit" isBusy=${add.isBusy} busy="Asking it">Add<//></div>
    </form>
  <//>`;
}

function Delegations({ own, names, view }) {
  const delegations = useResource(withQuery('/api/delegations', { limit: 500 }), ['orders', 'delegates']);
  const show = (next) => goInstead('delegates', '', { view: next === 'map' ? '' : next });
  const nameOf = (id) => names.get(id) ?? shorten(shortId(id), 24);
  return html`<${Panel} title="Who handed work to whom">
    <${Loaded} from=${delegations} what="The delegations">${({ edges }) => edges.length === 0
      ? html`<${Empty} title="No work was handed over yet"><p>When a task is given, it shows here who did it for whom.</p><//>`
      : html`<${Tabs} label="Ways to look at it" chosen=${view} onChoose=${show} tabs=${[{ name: 'map', title: 'Map' }, { name: 'table', title: 'Table', note: count(edges.length) }]}>
          ${view === 'map' ? html`<${WorkMap} edges=${edges} own=${own} nameOf=${nameOf} />` : html`<${Edges} edges=${edges} nameOf=${nameOf} />`}<//>`}<//>
  <//>`;
}

function Edges({ edges, nameOf }) {
  return html`<${Table} label="Delegations, the newest first" head=${['From', 'To', 'Skill', 'Outcome', { text: 'Tokens', class: 'number' }, { text: 'Cost', class: 'number' }, { text: 'Time', class: 'number' }, 'When']}>
    ${edges.map((edge) => html`<${Tr} key=${edge.id}>
      <${Td} name="From"><span title=${edge.from}>${nameOf(edge.from)}</span><//><${Td} name="To"><span title=${edge.to}>${nameOf(edge.to)}</span><//><${Td} name="Skill"><${Shown} text=${edge.skill} /><//>
      <${Td} name="Outcome"><${Badge} state=${edge.status} /><//><${Td} name="Tokens" class="number">${count(edge.tokens)}<//><${Td} name="Cost" class="number">${usd(edge.usd)}<//>
      <${Td} name="Time" class="number">${duration(edge.latency_ms)}<//><${Td} name="When"><${Time} at=${edge.at_ms} /><//><//>`)}
  <//>`;
}
