// One collection: its sources, questions about them, and what was made of it.

import { post } from '../api.js';
import { useAction, useResource } from '../data.js';
import { clip, counted, words } from '../format.js';
import { sendsByKey } from '../keys.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { Badge, Button, Dialog, Empty, Failure, Field, Loaded, Note, Page, Panel, SafeHtml, Time } from '../parts.js';
import { closeOver, openOver, to } from '../route.js';
import { announce, dropDraft, useDraft } from '../store.js';
import { Prose, Shown } from '../text.js';
import { Answer } from './answer.js';
import { Passage } from './passage.js';

const FORMATS = ['md', 'txt', 'json', 'csv', 'pdf'];

export function Collection({ id, query }) {
  const path = `/api/collections/${encodeURIComponent(id)}`;
  const collection = useResource(path, ['collections']);
  // What was just answered stands below its question, and need not stand twice.
  const [fresh, shown] = useState(null);
  const artifact = query.get('artifact');
  const passage = passageOf(query);
  const look = (which) => openOver('collections', id, { artifact: which });
  const open = ({ version_id: version, start, end }) => openOver('collections', id, { artifact, version, start, end });
  return html`<${Page} title=${collection.data?.name ?? 'Collection'} crumb=${html`<a href=${to('collections')}>Collections</a>`}>
    <${Loaded} from=${collection} what="The collection">${(found) => html`
      <div class="columns main-first">
        <div class="stack">
          <${Ask} path=${path} suggested=${query.get('ask') ?? ''} hasSources=${found.sources?.length > 0} onAnswer=${shown} onAsked=${collection.reload} onPassage=${open} />
          <${Talk} chat=${found.chat} fresh=${fresh} onPassage=${open} />
        </div>
        <div class="stack">
          <${Sources} path=${path} sources=${found.sources ?? []} onChanged=${collection.reload} onPassage=${open} />
          <${Artifacts} path=${path} artifacts=${found.artifacts ?? []} kinds=${found.transforms ?? []} hasSources=${found.sources?.length > 0} onMade=${collection.reload} onOpen=${look} />
        </div>
      </div>`}<//>
    ${artifact && html`<${Artifact} id=${artifact} onClose=${() => closeOver('collections', id)} onPassage=${open} />`}
    ${passage && html`<${Passage} key=${JSON.stringify(passage)} of=${passage} onClose=${() => closeOver('collections', id, { artifact })} />`}
  <//>`;
}

/** What an address says about a passage, so that it can be handed on. */
function passageOf(query) {
  const version = query.get('version');
  const place = (name) => (query.get(name) ? Number(query.get(name)) : null);
  return version ? { version_id: version, start: place('start'), end: place('end') } : null;
}

/** Something to ask may come with the address; a person sends it. */
function Ask({ path, suggested, hasSources, onAnswer, onAsked, onPassage }) {
  const [question, type] = useDraft(`${path}/ask`, suggested);
  const [answer, put] = useState(null);
  const box = useRef(null);
  const ask = useAction(async () => {
    put(null);
    onAnswer(null);
    const said = await post(`${path}/ask`, { question: question.trim() });
    put({ ...said, question: question.trim() });
    dropDraft(`${path}/ask`);
    onAnswer(said.chat_id);
    announce(`There is an answer, with ${counted(said.citations?.length ?? 0, 'citation')}.`);
    await onAsked();
  });
  useEffect(() => {
    if (answer) box.current?.querySelector('h3')?.focus();
  }, [answer]);
  const submit = (event) => {
    event.preventDefault();
    ask.run();
  };
  return html`<${Panel} title="Ask">
    <form class="stack" onSubmit=${submit} onKeyDown=${sendsByKey}>
      <${Field} label="Your question" help=${hasSources ? 'It is answered from the sources of this collection, with citations.' : 'There is no source yet: capture one first.'}>
        ${(own) => html`<textarea ...${own} rows="2" required value=${question} onInput=${(event) => type(event.target.value)}></textarea>`}<//>
      <${Failure} error=${ask.error} what="There is no answer." />
      <div class="actions"><${Button} type="submit" kind="primary" isBusy=${ask.isBusy} busy="Reading the sources">Ask<//></div>
    </form>
    ${answer && html`<div class="answer-box" ref=${box}><h3 tabindex="-1">${answer.question}</h3><${Answer} answer=${answer} onPassage=${onPassage} /></div>`}
  <//>`;
}

/** What was asked before, the newest first. An answer stands below its question. */
function Talk({ chat, fresh, onPassage }) {
  const turns = [];
  for (const entry of chat ?? []) {
    if (entry.role === 'user') turns.push({ id: entry.id, question: entry.text, at: entry.at_ms, answers: [] });
    else if (entry.role !== 'assistant') continue;
    else if (turns.length) turns.at(-1).answers.push(entry);
    else turns.push({ id: entry.id, question: '', at: entry.at_ms, answers: [entry] });
  }
  const before = turns.filter((turn) => !fresh || ![turn, ...turn.answers].some(({ id }) => id === fresh)).reverse();
  if (before.length === 0) return null;
  return html`<section aria-labelledby="asked"><h2 id="asked" class="section-title">Asked before</h2>
    ${before.map((turn, at) => html`<details class="panel turn" key=${turn.id ?? at} open=${at === 0 && !fresh}>
      <summary><h3><${Shown} text=${turn.question || 'An answer'} /></h3> <span class="soft"><${Time} at=${turn.at} /></span></summary>
      ${turn.answers.map((answer, index) => html`<${Answer} key=${index} answer=${answer} onPassage=${onPassage} />`)}
      ${turn.answers.length === 0 && html`<p class="soft">It was not answered.</p>`}
    </details>`)}
  </section>`;
}

function Sources({ path, sources, onChanged, onPassage }) {
  const [text, type] = useDraft(`${path}/capture`, '');
  const [missed, tellMissed] = useState([]);
  const capture = useAction(async () => {
    tellMissed([]);
    const inputs = text.split(/\s+/).filter(Boolean);
    const said = await post(`${path}/capture`, { inputs });
    const failed = (said?.sources ?? []).filter(({ status }) => status === 'failed' || status === 'waits');
    tellMissed(failed);
    type(failed.map(({ url }) => url).join('\n'));
    await onChanged();
    announce(failed.length ? `${counted(failed.length, 'page was', 'pages were')} not captured.` : 'The pages were captured.');
  });
  const submit = (event) => {
    event.preventDefault();
    capture.run();
  };
  return html`<${Panel} title="Sources" note=${counted(sources.length, 'source')}>
    ${sources.length === 0
      ? html`<${Empty} title="No source yet"><p>Type the address of a page below.</p><//>`
      : html`<ul class="plain sources">${sources.map((source) => html`<li key=${source.id}>
          <p class="source-title">${source.version_id || source.current_version
            ? html`<button type="button" class="link" onClick=${() => onPassage({ version_id: source.version_id ?? source.current_version, title: source.title })}>${clip(source.title || source.url, 120)}</button>`
            : html`<span>${clip(source.title || source.url, 120)}</span>`}
            ${source.status !== 'captured' && source.status !== 'ready' && html` <${Badge} state=${source.status} />`}</p>
          <p class="soft breakable" title=${source.url}>${placeOf(source.url)}</p>
          ${source.fault && html`<p class="bad-text">${source.fault.text ?? source.fault}</p>`}
        </li>`)}</ul>`}
    <form class="stack" onSubmit=${submit} onKeyDown=${sendsByKey}>
      <${Field} label="Pages to capture" help="One address on each line. They are fetched by this node and by nobody else.">
        ${(own) => html`<textarea ...${own} rows="2" class="mono" spellcheck=${false} required value=${text} onInput=${(event) => type(event.target.value)}></textarea>`}<//>
      <${Failure} error=${capture.error} what="They were not captured." />
      ${missed.length > 0 && html`<${Note} tone="bad" title=${`${counted(missed.length, 'page was', 'pages were')} not captured.`}>
        <ul>${missed.map(({ url, why }) => html`<li key=${url}><span class="breakable">${url}</span>: ${why}</li>`)}</ul><//>`}
      <div class="actions"><${Button} type="submit" isBusy=${capture.isBusy} busy="Fetching">Capture<//></div>
    </form>
  <//>`;
}

/** The address of a page; of a file only its name, because the whole path says little. */
function placeOf(address) {
  return /^https?:/.test(address ?? '') ? clip(address, 120) : String(address ?? '').split('/').at(-1);
}

function Artifacts({ path, artifacts, kinds, hasSources, onMade, onOpen }) {
  const [kind, choose] = useState(kinds.includes('executive_brief') ? 'executive_brief' : kinds[0]);
  const make = useAction(async () => {
    const said = await post(`${path}/transform`, { kind });
    announce('It is made.');
    await onMade();
    const id = said?.artifact?.id ?? said?.artifact ?? said?.id;
    if (typeof id === 'string') onOpen(id);
  });
  const submit = (event) => {
    event.preventDefault();
    make.run();
  };
  return html`<${Panel} title="Made of it" note=${artifacts.length ? counted(artifacts.length, 'artifact') : null}>
    ${artifacts.length > 0 && html`<ul class="plain artifacts">${artifacts.map((artifact) => html`<li key=${artifact.id}>
      <p><button type="button" class="link" onClick=${() => onOpen(artifact.id)}>${clip(artifact.title, 120)}</button>
        ${artifact.status && artifact.status !== 'completed' && html` <${Badge} state=${artifact.status} />`}</p>
      ${artifact.fault && html`<p class="bad-text">${artifact.fault.text}</p>`}
      <p class="soft">${words(artifact.kind)} · <${Time} at=${artifact.created_at_ms} /></p>
      <${Downloads} id=${artifact.id} title=${artifact.title} />
    </li>`)}</ul>`}
    <form class="stack" onSubmit=${submit}>
      <${Field} label="Make of the sources">${(own) => html`<select ...${own} value=${kind} onChange=${(event) => choose(event.target.value)}>${kinds.map((name) => html`<option key=${name} value=${name}>${words(name)}</option>`)}</select>`}<//>
      ${!hasSources && html`<p class="soft">There is nothing to make it of yet.</p>`}
      <${Failure} error=${make.error} what="It was not made." />
      <div class="actions"><${Button} type="submit" isBusy=${make.isBusy} busy="Making it">Make it<//></div>
    </form>
  <//>`;
}

function Downloads({ id, title }) {
  return html`<p class="downloads"><span class="soft">Save as</span> ${FORMATS.map((format) => html`<a key=${format} download=""
    href=${`/api/artifacts/${encodeURIComponent(id)}/file?format=${format}`} aria-label=${`Save ${title} as ${format.toUpperCase()}`}>${format.toUpperCase()}</a>`)}</p>`;
}

function Artifact({ id, onClose, onPassage }) {
  const artifact = useResource(`/api/artifacts/${encodeURIComponent(id)}`);
  const cite = (number) => {
    const cited = artifact.data?.citations?.find((it) => (it.n ?? it.number) === number);
    if (cited) onPassage(cited);
  };
  return html`<${Dialog} wide=${true} title=${artifact.data?.title ?? 'Artifact'} onClose=${onClose}>
    <${Loaded} from=${artifact} what="It">${(found) => html`
      ${found.html != null ? html`<${SafeHtml} text=${found.html} onCite=${cite} />` : html`<${Prose} text=${found.text ?? ''} />`}
      <${Answer} level=${3} answer=${{ citations: found.citations }} onPassage=${onPassage} />
      <${Downloads} id=${id} title=${found.title} />`}<//>
  <//>`;
}

