// The frame around all views: where one is, what waits, whether the node is heard.

import { html, render, useEffect, useRef, useState, classes } from './lib.js';
import { Icon } from './icons.js';
import { Shortcuts } from './keys.js';
import { Boundary, Button, Loading } from './parts.js';
import { GROUPS, PLACES, goInstead, to, useRoute } from './route.js';
import { chooseTheme, connection, isOutdated, isSilent, refresh, session, signOut, spoken, start, theme, useCell } from './store.js';
import { shortId, words } from './format.js';
import { Collection } from './views/collection.js';
import { Collections } from './views/collections.js';
import { Conversation } from './views/conversation.js';
import { Conversations } from './views/conversations.js';
import { Delegates } from './views/delegates.js';
import { Inbox } from './views/inbox.js';
import { Journal } from './views/journal.js';
import { Login } from './views/login.js';
import { Policy } from './views/policy.js';
import { Task } from './views/task.js';
import { Tasks } from './views/tasks.js';
import { Usage } from './views/usage.js';
import { Nowhere } from './views/nowhere.js';

const LISTS = {
  inbox: Inbox, tasks: Tasks, conversations: Conversations, delegates: Delegates,
  collections: Collections, policy: Policy, journal: Journal, usage: Usage,
};
const SINGLES = { tasks: Task, conversations: Conversation, collections: Collection };

function App() {
  const { state, me, error, hasEnded } = useCell(session);
  return html`
    <${Spoken} />
    ${state === 'starting' && html`<main class="alone"><${Loading} what="Asking the node" /></main>`}
    ${state === 'gone' && html`<${Gone} error=${error} />`}
    ${state === 'out' && html`<${Login} error=${error} hasEnded=${hasEnded} />`}
    ${state === 'in' && html`<${Shell} me=${me} />`}`;
}

function Shell({ me }) {
  const route = useRoute();
  const [isOpen, open] = useState(false);
  const [isListed, list] = useState(false);
  const main = useRef(null);
  const here = `${route.place}/${route.id}`;
  const before = useRef(null);
  useEffect(() => {
    open(false);
    // On the first view the page has just been read from its beginning.
    if (before.current !== null && before.current !== here) {
      scrollTo(0, 0);
      main.current.querySelector('h1')?.focus({ preventScroll: true });
    }
    before.current = here;
  }, [here]);
  const skip = (event) => {
    event.preventDefault();
    main.current.focus();
  };
  const escape = (event) => {
    if (event.key === 'Escape' && isOpen) open(false);
  };
  const views = route.id ? SINGLES : LISTS;
  // An address may name anything, also what every object has.
  const View = Object.hasOwn(views, route.place) ? views[route.place] : null;
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="side" onKeyDown=${escape}><div class="side-inner">
      <div class="brand">
        <a class="wordmark" href=${to('inbox')}><img src="/assets/icon.svg" alt="" width="28" height="28" />Sabir</a>
        <${Waiting} counts=${me.counts} />
        <button type="button" class="button quiet menu-button" aria-expanded=${isOpen ? 'true' : 'false'} aria-controls="menu" onClick=${() => open(!isOpen)}>Menu</button>
      </div>
      <div class=${classes('menu', isOpen && 'is-open')} id="menu">
        <nav aria-label="Views">
          ${GROUPS.map(({ title, places }, at) => html`<p class="menu-title" id=${`menu-${at}`}>${title}</p>
            <ul aria-labelledby=${`menu-${at}`}>${places.map((place) => html`<li key=${place}>
              <a href=${to(place)} aria-current=${route.place === place ? 'page' : undefined} onClick=${() => open(false)}>
                <${Icon} name=${place} /><span>${words(place)}</span><${Counter} place=${place} counts=${me.counts} />
              </a></li>`)}</ul>`)}
        </nav>
        <div class="side-foot">
          <${Connection} />
          <p class="node-name" title=${me.node?.delegate_id}>${me.node?.name ?? shortId(me.node?.delegate_id)}<span class="soft">${me.node?.version ? ` · version ${me.node.version}` : ''}</span></p>
          <${Theme} />
          <${Button} kind="quiet small" onClick=${() => list(true)}>Keyboard<//>
          <${Button} kind="quiet small" onClick=${() => signOut().catch(() => refresh())}>Sign out<//>
        </div>
      </div>
    </div></header>
    <${Silence} />
    <${Shortcuts} isOpen=${isListed} onOpen=${() => list(true)} onClose=${() => list(false)} />
    <main id="main" tabindex="-1" ref=${main}>
      <${Outdated} />
      ${View ? html`<${Boundary} key=${here} what="This view"><${View} id=${route.id} query=${route.query} me=${me} /><//>` : html`<${Nowhere} />`}
    </main>
  </div>`;
}

function Counter({ place, counts = {} }) {
  const [number, what] = {
    inbox: [counts.inbox, 'waiting for you'],
    tasks: [counts.orders_running, 'running'],
  }[place] ?? [];
  if (!number) return null;
  return html`<span class=${classes('counter', place === 'inbox' && 'urgent')}>${number}<span class="hidden"> ${what}</span></span>`;
}

/** On a narrow screen the menu is closed, and what waits must be seen all the same. */
function Waiting({ counts = {} }) {
  if (!counts.inbox) return null;
  return html`<a class="waiting" href=${to('inbox')}><span class="counter urgent">${counts.inbox}</span> waiting<span class="hidden"> for you</span></a>`;
}

function Connection() {
  const state = useCell(connection);
  const said = { live: 'Live', connecting: 'Connecting…', lost: 'No connection, trying again' }[state];
  return html`<p class=${classes('connection', state)}><span class="dot" aria-hidden="true"></span>${said}</p>`;
}

/** Said over the page, so that nothing moves. It was read out already. */
function Silence() {
  if (!useCell(isSilent)) return null;
  return html`<p class="silence"><span class="spinner" aria-hidden="true"></span>The node is not heard. What you see may be out of date; it is tried again.</p>`;
}

function Outdated() {
  if (!useCell(isOutdated)) return null;
  return html`<div class="note outdated"><p><strong>The node is of another version now.</strong> This page is that of before.</p>
    <p><${Button} kind="small" onClick=${() => location.reload()}>Load the page anew<//></p></div>`;
}

function Theme() {
  const chosen = useCell(theme);
  return html`<label class="theme">Theme
    <select value=${chosen} onChange=${(event) => chooseTheme(event.target.value)}>
      <option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option>
    </select></label>`;
}

function Spoken() {
  const text = useCell(spoken);
  return html`<div class="hidden" role="status" aria-live="polite">${text}</div>`;
}

function Gone({ error }) {
  return html`<main class="alone"><h1 tabindex="-1">The node does not answer</h1>
    <p>${error?.message}</p>
    <p>Start it with <code>sabir up</code>. This page looks for it every few seconds.</p>
    <p><${Button} kind="primary" onClick=${refresh}>Try again<//></p></main>`;
}

render(html`<${App} />`, document.getElementById('app'));
if (location.hash === '') goInstead(PLACES[0]);
start();
