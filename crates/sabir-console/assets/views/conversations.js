// Conversations with an agent on this machine.

import { post, withQuery } from '../api.js';
import { useAction, useResource } from '../data.js';
import { clip } from '../format.js';
import { sendsByKey } from '../keys.js';
import { html, useState } from '../lib.js';
import { Badge, Button, Copied, Empty, Failure, Field, Fold, Loaded, Note, Page, Panel, Time } from '../parts.js';
import { go, to } from '../route.js';
import { dropDraft, useDraft } from '../store.js';
import { Words } from '../text.js';

const PAGE = 50;
/** The node tells no more at once. */
const MOST = 500;

export function Conversations({ me }) {
  const [limit, show] = useState(PAGE);
  const sessions = useResource(withQuery('/api/sessions', { limit }), ['sessions']);
  return html`<${Page} title="Conversations" lead="Talk with an agent that works in a folder of this machine. It asks before it does what it must ask for.">
    <${Start} models=${me.models} hints=${me.hints} />
    <${Loaded} from=${sessions} what="The conversations">${({ sessions: list }) => list.length === 0
      ? html`<${Empty} title="No conversation yet"><p>Say above what you want, and one begins. Those that were begun on the command line appear here as well.</p><//>`
      : html`<section aria-labelledby="talks"><h2 id="talks" class="section-title">So far</h2><ul class="list">${list.map((session) => html`<li class="list-item" key=${session.id}>
          <a class="list-main" href=${to('conversations', session.id)}>${clip(session.title, 160) || 'Without a title'}</a>
          <span class="list-side">${(session.running || session.state === 'running') ? html`<${Badge} state="running" />` : session.live ? html`<${Badge} tone="good">Open<//>` : null}</span>
          <span class="list-note">
            ${session.model && html`<span>${session.model}</span>`}
            ${session.cwd && html`<span class="breakable">${session.cwd}</span>`}
            <span><${Time} at=${session.updated_at_ms ?? session.created_at_ms} /></span>
          </span></li>`)}</ul>
          ${list.length >= limit && limit < MOST && html`<div class="actions"><${Button} onClick=${() => show(MOST)}>Show older ones<//></div>`}</section>`}<//>
  <//>`;
}

function Start({ models = [], hints = [] }) {
  // What answers from collections does not talk.
  const talkers = models.filter(({ provider }) => provider !== 'researcher');
  const ready = talkers.filter((model) => model.ready);
  const ways = hints.filter(({ command }) => command?.startsWith('sabir up') || command?.startsWith('sabir config'));
  const [form, set] = useDraft('conversation', { text: '', model: '', cwd: '' });
  const change = (name) => (event) => set({ ...form, [name]: event.target.value });
  const start = useAction(async () => {
    const wanted = { text: form.text.trim() };
    if (form.model) wanted.model = form.model;
    if (form.cwd.trim()) wanted.cwd = form.cwd.trim();
    const { id } = await post('/api/sessions', wanted);
    dropDraft('conversation');
    go('conversations', id);
  });
  const submit = (event) => {
    event.preventDefault();
    start.run();
  };
  return html`<${Panel} title="Start a conversation">
    ${ready.length === 0 && html`<${Note} tone="warn" title="An agent needs a model, and there is none yet.">
      ${talkers.map(({ provider, why }) => html`<p key=${provider}><${Words} text=${why} /></p>`)}
      ${ways.map(({ title, command }) => html`<p key=${title}>${title}: <code>${command}</code> <${Copied} text=${command} label="the command" /></p>`)}
      <p>Everything else works without one: <a href=${to('collections')}>collections</a>, and <a href=${to('tasks')}>tasks</a> for the researcher and the linguist.</p>
    <//>`}
    <form class="stack" onSubmit=${submit} onKeyDown=${sendsByKey}>
      <${Field} label="What do you want">${(own) => html`<textarea ...${own} rows="3" required value=${form.text} onInput=${change('text')}></textarea>`}<//>
      <${Fold} title="Model and folder">
        <div class="field-grid">
          <${Field} label="Model" help="The first that is ready, if you choose none.">${(own) => html`<select ...${own} value=${form.model} onChange=${change('model')}>
            <option value="">The usual one</option>${ready.map(({ provider, model }) => html`<option key=${provider + model} value=${model}>${model}</option>`)}</select>`}<//>
          <${Field} label="Folder" optional=${true} help="A whole path. Without one, where the node was started.">${(own) => html`<input ...${own} type="text" spellcheck=${false} value=${form.cwd} onInput=${change('cwd')} />`}<//>
        </div>
      <//>
      <${Failure} error=${start.error} what="The conversation did not begin." />
      <div class="actions"><${Button} type="submit" kind="primary" isBusy=${start.isBusy} busy="Starting">Start<//></div>
    </form>
  <//>`;
}
