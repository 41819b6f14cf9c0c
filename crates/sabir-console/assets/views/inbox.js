// What waits for a person.

import { withQuery } from '../api.js';
import { useResource } from '../data.js';
import { counted } from '../format.js';
import { html, useEffect, useRef } from '../lib.js';
import { Empty, Loaded, Loading, Page } from '../parts.js';
import { to } from '../route.js';
import { announce } from '../store.js';
import { Hints } from './hints.js';
import { MatterCard } from './matter.js';
import { Row } from './tasks.js';
import { Welcome } from './welcome.js';

const LATELY = 5;

export function Inbox({ me }) {
  const inbox = useResource('/api/inbox', ['inbox']);
  const list = useRef(null);
  const seen = useRef(null);
  const matters = inbox.data?.matters;
  useEffect(() => {
    if (!matters) return;
    const news = seen.current && matters.filter(({ id }) => !seen.current.has(id));
    if (news?.length) announce(`${counted(news.length, 'new matter waits', 'new matters wait')} for you: ${news[0].title ?? ''}`);
    seen.current = new Set(matters.map(({ id }) => id));
  }, [matters]);
  // What had the focus goes away with its answer; the next one takes it.
  const decided = async (matter) => {
    const at = matters.findIndex(({ id }) => id === matter.id);
    await inbox.reload();
    setTimeout(() => {
      const headings = list.current?.querySelectorAll('.matter h2') ?? [];
      (headings[Math.min(at, headings.length - 1)] ?? document.querySelector('main h1'))?.focus();
    });
  };
  return html`<${Page} title="Inbox" lead="Approvals, questions and blockers that wait for you. Nothing of it happens until you say so.">
    <${Loaded} from=${inbox} what="The inbox">${({ matters }) => matters.length === 0
      ? html`<${Quiet} me=${me} />`
      : html`<div class="stack" ref=${list}>${matters.map((matter) => html`<${MatterCard} key=${matter.id} matter=${matter} onDecided=${decided} />`)}</div>`}<//>
  <//>`;
}

/** Nothing waits. Who has done nothing yet is shown how to begin, others what they did last. */
function Quiet({ me }) {
  const orders = useResource(withQuery('/api/orders', { limit: LATELY }), ['orders']);
  const sessions = useResource(withQuery('/api/sessions', { limit: 1 }), ['sessions']);
  const collections = useResource(withQuery('/api/collections', { limit: 1 }), ['collections']);
  const all = [orders.data?.orders, sessions.data?.sessions, collections.data?.collections];
  const isNew = all.every((list) => list?.length === 0);
  // Until that is known, nothing is said that would be taken back.
  if ([orders, sessions, collections].some(({ data, error }) => !data && !error)) return html`<${Loading} what="Looking around" />`;
  const lately = orders.data?.orders ?? [];
  // The first one is what the welcome begins with.
  const hints = (me.hints ?? []).filter(({ command }) => command !== 'sabir collection example');
  return html`
    ${isNew ? html`<${Welcome} models=${me.models} />` : html`<${Empty} title="Nothing waits for you">
      <p>When a task or a conversation needs your word, it appears here and in the menu.</p>
      <p><a href=${to('tasks')}>Give a task</a>, <a href=${to('conversations')}>start a conversation</a>, or <a href=${to('collections')}>ask a collection</a>.</p>
    <//>`}
    ${lately.length > 0 && html`<section aria-labelledby="lately"><h2 id="lately" class="section-title">Tasks of late</h2>
      <ul class="list">${lately.map((order) => html`<${Row} key=${order.id} order=${order} />`)}</ul></section>`}
    <${Hints} hints=${hints} />`;
}
