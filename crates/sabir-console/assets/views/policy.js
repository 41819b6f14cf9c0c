// The gate: what it would say to each tool, what it said, and why.

import { get, post, withQuery } from '../api.js';
import { useAction, useResource } from '../data.js';
import { counted, words } from '../format.js';
import { sendsByKey } from '../keys.js';
import { html, useId, useState } from '../lib.js';
import { Badge, Button, Empty, Facts, Failure, Field, Fold, Id, Loaded, Note, Page, Panel, Table, Td, Th, Time, Tr } from '../parts.js';
import { announce, useDraft } from '../store.js';
import { Shown } from '../text.js';

const PAGE = 15;
const FIRST_ROWS = 24;

export function Policy() {
  const policy = useResource('/api/policy');
  return html`<${Page} title="Policy" lead="One gate decides about every command, patch, tool call and task. Here is what it would say, what it said, and why.">
    <${Try} tools=${policy.data?.table?.map(({ tool }) => tool) ?? []} />
    <${Decisions} />
    <${Loaded} from=${policy} what="The policy">${(found) => html`<${Rules} policy=${found} /><${Truth} table=${found.table ?? []} />`}<//>
  <//>`;
}

function Rules({ policy }) {
  const rules = policy.rules ?? [];
  return html`<${Panel} title="Your rules">
    <p class="soft">They stand in <code class="breakable">${policy.file}</code> and hold beside those of the gate.</p>
    ${policy.changed && html`<${Note} tone="warn"><p>${policy.changed}</p><//>`}
    ${rules.length === 0
      ? html`<${Empty} title="The file says nothing of its own"><p>Only the built-in rules hold. <code>sabir policy show</code> says where the file belongs.</p><//>`
      : html`<ul>${rules.map((rule, at) => html`<li key=${at}>${typeof rule === 'string' ? rule : rule.text ?? rule.says ?? JSON.stringify(rule)}</li>`)}</ul>`}
  <//>`;
}

function Truth({ table }) {
  const [text, type] = useState('');
  const [outcome, choose] = useState('');
  const wanted = text.trim().toLowerCase();
  const rows = table.filter((row) => (!outcome || row.outcome === outcome) && (!wanted || JSON.stringify(row).toLowerCase().includes(wanted)));
  const [isWhole, whole] = useState(false);
  const more = [['situation', 'Case'], ['has_read', 'The model has read'], ['rule', 'Rule']].filter(([name]) => table.some((row) => row[name] != null));
  const shown = isWhole ? rows : rows.slice(0, FIRST_ROWS);
  return html`<${Panel} title="Truth table" note=${`${counted(rows.length, 'row')} of ${table.length}`}>
    <div class="filters">
      <${Field} label="Find">${(own) => html`<input ...${own} type="search" value=${text} onInput=${(event) => type(event.target.value)} />`}<//>
      <${Field} label="Outcome">${(own) => html`<select ...${own} value=${outcome} onChange=${(event) => choose(event.target.value)}>
        <option value="">All</option><option value="allow">Allowed</option><option value="ask">Asks</option><option value="deny">Refused</option></select>`}<//>
    </div>
    ${rows.length === 0
      ? html`<${Empty} title="No row fits"><p>Change what you look for.</p><//>`
      : html`<${Table} label="What the gate says to each tool" head=${['Tool', 'Outcome', ...more.map(([, title]) => title), 'Why']}>${shown.map((row, at) => html`<${Tr} key=${at}>
          <${Th}><code>${row.tool}</code><//><${Td} name="Outcome"><${Badge} state=${row.outcome} /><//>
          ${more.map(([name, title]) => html`<${Td} key=${name} name=${title}>${name === 'rule' ? html`<code>${row[name]}</code>` : row[name]}<//>`)}<${Td} name="Why">${row.why}<//><//>`)}<//>
        ${shown.length < rows.length && html`<div class="actions"><${Button} onClick=${() => whole(true)}>Show all ${rows.length} rows<//></div>`}`}
  <//>`;
}

function Decisions() {
  const newest = useResource(withQuery('/api/decisions', { limit: PAGE }), ['decisions']);
  const [older, add] = useState([]);
  const [isAll, all] = useState(false);
  const more = useAction(async (before) => {
    const { decisions } = await get(withQuery('/api/decisions', { limit: PAGE, before }));
    add((known) => [...known, ...decisions]);
    all(decisions.length < PAGE);
  });
  return html`<${Panel} title="Recent decisions">
    <${Loaded} from=${newest} what="The decisions">${({ decisions }) => {
      const known = new Set(decisions.map(({ seq }) => seq));
      const rows = [...decisions, ...older.filter(({ seq }) => !known.has(seq))];
      if (rows.length === 0) return html`<${Empty} title="Nothing was decided yet"><p>Every call that an agent or a model proposes leaves a row here.</p><//>`;
      return html`<${Table} label="Decisions, the newest first" head=${['Tool', 'Outcome', 'Why', 'When', { text: 'Rule', class: 'wide-only' }, { text: 'Who', class: 'wide-only' }, { text: 'Call', class: 'wide-only' }]}>${rows.map((row) => html`<${Tr} key=${row.seq}>
          <${Th}><code><${Shown} text=${row.tool} /></code><//><${Td} name="Outcome"><${Badge} state=${row.outcome} /><//><${Td} name="Why" class="why"><div><${Shown} text=${row.why ?? row.reason_code} />${row.approval && row.approval !== 'not_needed' && html` <span class="soft">(${words(row.approval).toLowerCase()})</span>`}${row.explanation && html`<${Fold} title="Explain"><p class="as-typed"><${Shown} text=${row.explanation} /></p><//>`}</div><//>
          <${Td} name="When"><${Time} at=${row.at_ms} /><//><${Td} name="Rule" class="wide-only"><code>${row.rule}</code><//><${Td} name="Who" class="wide-only breakable"><${Shown} text=${row.actor} /><//><${Td} name="Call" class="wide-only"><${Id} of=${row.call_id} label="the name of the call" most=${14} /><//><//>`)}<//>
        <${Failure} error=${more.error} what="Older ones cannot be shown." />
        ${!isAll && rows.length >= PAGE && html`<div class="actions"><${Button} isBusy=${more.isBusy} onClick=${() => more.run(rows.at(-1).seq)}>Show older ones<//></div>`}`;
    }}<//>
  <//>`;
}

function Try({ tools }) {
  const list = useId();
  const [form, set] = useDraft('call', { tool: '', arguments: '{}', untrusted: '', typed: '' });
  const [said, put] = useState(null);
  const change = (name) => (event) => set({ ...form, [name]: event.target.value });
  const check = useAction(async () => {
    put(null);
    let given;
    try {
      given = JSON.parse(form.arguments.trim() || '{}');
    } catch (error) {
      throw new Error(`The arguments are no JSON: ${error.message}.`);
    }
    const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);
    const call = { tool: form.tool.trim(), arguments: given };
    if (lines(form.untrusted).length) call.untrusted = lines(form.untrusted);
    if (lines(form.typed).length) call.typed = lines(form.typed);
    const decision = await post('/api/policy/check', call);
    put(decision);
    announce(`The gate says: ${decision.outcome}.`);
  });
  const submit = (event) => {
    event.preventDefault();
    check.run();
  };
  return html`<${Panel} title="Try a call" note="nothing is done or stored">
    <form class="stack" onSubmit=${submit} onKeyDown=${sendsByKey}>
      <div class="field-grid">
        <${Field} label="Tool" help="Such as shell, apply_patch, read or browser.navigate.">${(own) => html`<input ...${own} type="text" list=${list} spellcheck=${false} autocomplete="off" required value=${form.tool} onInput=${change('tool')} />
          <datalist id=${list}>${[...new Set(tools)].map((tool) => html`<option key=${tool} value=${tool}></option>`)}</datalist>`}<//>
        <${Field} label="Arguments" help='A JSON object, such as {"command": ["rm", "-rf", "build"]}.'>${(own) => html`<textarea ...${own} class="mono" rows="2" spellcheck=${false} value=${form.arguments} onInput=${change('arguments')}></textarea>`}<//>
      </div>
      <${Fold} title="What the model has read, and what you typed">
        <div class="field-grid">
          <${Field} label="Documents of strangers" optional=${true} help="One name on each line.">${(own) => html`<textarea ...${own} rows="2" value=${form.untrusted} onInput=${change('untrusted')}></textarea>`}<//>
          <${Field} label="What you have typed" optional=${true} help="Addresses in it count as yours.">${(own) => html`<textarea ...${own} rows="2" value=${form.typed} onInput=${change('typed')}></textarea>`}<//>
        </div>
      <//>
      <${Failure} error=${check.error} what="The gate could not judge it." />
      <div class="actions"><${Button} type="submit" isBusy=${check.isBusy} busy="Asking the gate">Ask the gate<//></div>
    </form>
    ${said && html`<div class="verdict"><p><${Badge} state=${said.outcome} /> <code>${said.tool ?? form.tool}</code></p>
      <p>${said.why ?? said.reason}</p>
      <${Facts} of=${[['Rule', said.rule && html`<code>${said.rule}</code>`], ['What it can do', said.labels?.join(', ')], ['What would change it', said.remedy]]} />
      ${said.misfit && html`<${Note} tone="warn"><p>Such a call would not come so far: ${said.misfit}</p><//>`}
      ${said.explanation && html`<${Fold} title="Explain"><p class="as-typed"><${Shown} text=${said.explanation} /></p><//>`}</div>`}
  <//>`;
}
