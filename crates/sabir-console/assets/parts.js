// What views are made of.

import { NONE, ago, count, date, isMoment, shortId, shorten, words } from './format.js';
import { Icon } from './icons.js';
import { Component, classes, html, useEffect, useId, useLayoutEffect, useRef, useState } from './lib.js';
import { announce, session, useCell } from './store.js';
import { Words } from './text.js';

/** The head of a view. Focus goes to its heading whenever one comes here. */
export function Page({ title, lead, crumb, actions, children, class: more }) {
  const text = typeof title === 'string' ? title : 'Sabir';
  // Who works in another tab sees there that something waits.
  const waiting = useCell(session).me?.counts?.inbox;
  useEffect(() => {
    document.title = `${waiting ? `(${waiting}) ` : ''}${text} · Sabir`;
  }, [text, waiting]);
  return html`<div class=${classes('page', more)}>
    <header class="page-head">
      <div class="page-words">
        ${crumb && html`<p class="crumb">${crumb}</p>`}
        <h1 tabindex="-1">${title}</h1>
        ${lead && html`<p class="lead">${lead}</p>`}
      </div>
      ${actions && html`<div class="actions">${actions}</div>`}
    </header>
    ${children}
  </div>`;
}

/** A part of a view, under a heading of its own. */
export function Panel({ title, note, actions, children, level = 2, id, tone, class: more }) {
  const own = useId();
  const Heading = `h${level}`;
  return html`<section class=${classes('panel', tone, more)} id=${id} aria-labelledby=${own}>
    <header class="panel-head">
      <${Heading} id=${own}>${title}<//>
      ${note && html`<span class="soft">${note}</span>`}
      ${actions && html`<div class="actions">${actions}</div>`}
    </header>
    ${children}
  </section>`;
}

/** A button that keeps the focus while it works. */
export function Button({ kind = '', isBusy = false, busy, onClick, children, type = 'button', ...rest }) {
  const press = (event) => {
    // The second click of a double one may meet what has taken the place of the first: another matter.
    if (isBusy || event.detail > 1) {
      event.preventDefault();
      return;
    }
    onClick?.(event);
  };
  return html`<button type=${type} class=${classes('button', kind)} aria-disabled=${isBusy ? 'true' : undefined} onClick=${press} ...${rest}>
    ${isBusy && html`<span class="spinner" aria-hidden="true"></span>`}${isBusy && busy ? busy : children}
  </button>`;
}

/** A field with its label, and what is to be known before one types. */
export function Field({ label, help, optional, children, class: more }) {
  const id = useId();
  return html`<div class=${classes('field', more)}>
    <label for=${id}>${label}${optional && html` <span class="soft">(optional)</span>`}</label>
    ${help && html`<p class="help" id=${`${id}-help`}>${help}</p>`}
    ${children({ id, 'aria-describedby': help ? `${id}-help` : undefined })}
  </div>`;
}

/** What went wrong, where it happened, and what can be done. */
export function Failure({ error, what, onRetry }) {
  if (!error) return null;
  return html`<div class="note bad" role="alert">
    <p><strong>${what ?? 'That did not work.'}</strong> <${Words} text=${error.message} /></p>
    ${onRetry && html`<p><${Button} kind="small" onClick=${onRetry}>Try again<//></p>`}
  </div>`;
}

/**
 * What others sent may have a shape that nobody thought of. Then the part that stumbled over it says so,
 * and everything around it goes on.
 */
export class Boundary extends Component {
  static getDerivedStateFromError(error) {
    return { error };
  }

  render({ what, otherwise, children }, { error }) {
    if (!error) return children;
    const again = () => this.setState({ error: null });
    return html`<${Failure} error=${{ message: `It has a shape that this page does not know: ${error?.message ?? error}` }} what=${`${what} cannot be shown.`} onRetry=${again} />${otherwise}`;
  }
}

export function Note({ tone = '', title, children }) {
  return html`<div class=${classes('note', tone)}>${title && html`<p><strong>${title}</strong></p>`}${children}</div>`;
}

/** Nothing is here, and what to do about it. */
export function Empty({ title, children, actions }) {
  return html`<div class="empty">
    <p class="empty-title">${title}</p>
    ${children}
    ${actions && html`<div class="actions">${actions}</div>`}
  </div>`;
}

/** Shown until the node has answered. */
export function Loading({ what = 'Loading' }) {
  return html`<div class="loading" role="status"><span class="spinner" aria-hidden="true"></span> ${what}…</div>`;
}

/** What was asked for, or why it is not there yet. */
export function Loaded({ from, what, children }) {
  if (from.data != null) {
    return html`${from.error && html`<${Failure} error=${from.error} what="This may be out of date." onRetry=${from.reload} />`}${children(from.data)}`;
  }
  if (from.error) return html`<${Failure} error=${from.error} what=${`${what} cannot be shown.`} onRetry=${from.reload} />`;
  return html`<${Loading} what=${`Loading ${what.toLowerCase()}`} />`;
}

const TONES = {
  good: ['done', 'ready', 'allow', 'approved', 'verified', 'delivered', 'passed', 'ok', 'completed', 'captured', 'closed', 'live', 'success'],
  warn: ['waiting', 'ask', 'asked', 'no_model', 'repaired', 'ambiguous', 'interrupted', 'away', 'requested', 'failing', 'probing', 'stopped', 'not_made', 'pending', 'unverified'],
  bad: ['failed', 'deny', 'denied', 'refused', 'unreachable', 'unknown_source', 'open', 'error', 'expired', 'aborted', 'unattended'],
  busy: ['running', 'working', 'queued', 'capturing', 'in_progress', 'hedging'],
};
const WORDS = {
  allow: 'Allowed', deny: 'Refused', ask: 'Asks', no_model: 'No model', not_made: 'Not made',
  unknown_source: 'Unknown source', approved_for_session: 'Approved for the session',
};

export function toneOf(state) {
  return Object.keys(TONES).find((tone) => TONES[tone].includes(state)) ?? '';
}

/** A state in a word. The sign before it says the same without colour. */
export function Badge({ state, children, tone }) {
  const name = String(state ?? '').replace(/-/g, '_').toLowerCase();
  return html`<span class=${classes('badge', tone ?? toneOf(name))}>${children ?? WORDS[name] ?? words(name)}</span>`;
}

let minute = null;
const clocks = new Set();

/** A moment, as long ago as it is. */
export function Time({ at, exact = false }) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const tick = () => redraw((n) => n + 1);
    clocks.add(tick);
    minute ??= setInterval(() => clocks.forEach((told) => told()), 30_000);
    return () => {
      clocks.delete(tick);
      if (clocks.size === 0) {
        clearInterval(minute);
        minute = null;
      }
    };
  }, []);
  if (!isMoment(at)) return NONE;
  return html`<time datetime=${new Date(at).toISOString()} title=${date(at)}>${exact ? date(at) : ago(at)}</time>`;
}

/**
 * A table. Where there is little room, its rows become blocks and each cell names its column; the
 * roles keep it a table for those who hear it. Rows are made of `Tr`, `Th` and `Td`.
 */
export function Table({ label, head, children, scrolls = false }) {
  const box = useRef(null);
  const canScroll = useScrolling(box);
  return html`<div class=${classes('table-box', !scrolls && 'stacks')} ref=${box} tabindex=${canScroll ? 0 : undefined} role=${canScroll ? 'region' : undefined} aria-label=${canScroll ? label : undefined}>
    <table role="table" aria-label=${label}>
      <thead role="rowgroup"><tr role="row">${head.map((cell) => {
        const { text, class: name } = typeof cell === 'string' ? { text: cell } : cell;
        return html`<th scope="col" role="columnheader" class=${name}>${text}</th>`;
      })}</tr></thead>
      <tbody role="rowgroup">${children}</tbody>
    </table>
  </div>`;
}

/** Whether a box holds more than it shows. Only then the keyboard has to get to it. */
function useScrolling(box) {
  const [canScroll, set] = useState(false);
  useLayoutEffect(() => {
    const look = () => set(box.current.scrollWidth > box.current.clientWidth + 1);
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    observer.observe(box.current.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return canScroll;
}

export const Tr = ({ children }) => html`<tr role="row">${children}</tr>`;
export const Th = ({ children }) => html`<th scope="row" role="rowheader">${children}</th>`;
export const Td = ({ name, children, class: more }) => html`<td role="cell" data-name=${name} class=${more}>${children}</td>`;

/** Names and values. What has no value is left out. */
export function Facts({ of }) {
  const known = of.filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== NONE);
  return html`<dl class="facts">${known.map(
    ([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** Several views of one thing; arrows move between them. */
export function Tabs({ label, tabs, chosen, onChoose, children }) {
  const id = useId();
  const bar = useRef(null);
  const move = (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.name === chosen);
    const last = tabs.length - 1;
    const next = Number.isFinite(step) ? (at + step + tabs.length) % tabs.length : step > 0 ? last : 0;
    onChoose(tabs[next].name);
    bar.current?.children[next]?.focus();
  };
  return html`<div class="tabs">
    <div class="tab-bar" role="tablist" aria-label=${label} ref=${bar} onKeyDown=${move}>
      ${tabs.map(({ name, title, note }) => html`<button type="button" role="tab" key=${name} id=${`${id}-${name}`}
        aria-selected=${name === chosen ? 'true' : 'false'} aria-controls=${`${id}-panel`}
        tabindex=${name === chosen ? 0 : -1} onClick=${() => onChoose(name)}>
        ${title}${note != null && html` <span class="soft">${note}</span>`}
      </button>`)}
    </div>
    <div role="tabpanel" id=${`${id}-panel`} aria-labelledby=${`${id}-${chosen}`} tabindex="0">${children}</div>
  </div>`;
}

/** A window over the page. The browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, onClose, children, actions, wide = false }) {
  const box = useRef(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    onClose();
  };
  // Who marks words and lets go beside the window does not mean to close it.
  const pressed = useRef(null);
  const press = (event) => {
    pressed.current = event.target;
  };
  const aside = (event) => {
    if (event.target === box.current && pressed.current === box.current) onClose();
  };
  return html`<dialog ref=${box} class=${wide ? 'wide' : undefined} aria-labelledby=${id} onCancel=${cancel} onPointerDown=${press} onClick=${aside}>
    <div class="dialog-body">
      <div class="dialog-head">
        <h2 id=${id}>${title}</h2>
        <button type="button" class="button quiet" onClick=${onClose}>Close</button>
      </div>
      ${children}
      ${actions && html`<div class="actions">${actions}</div>`}
    </div>
  </dialog>`;
}

/** Asks before something cannot be taken back. The safe answer has the focus. */
export function Confirm({ title, children, yes, onYes, onNo, isBusy, error }) {
  return html`<${Dialog} title=${title} onClose=${onNo}>
    ${children}
    <${Failure} error=${error} />
    <div class="actions">
      <${Button} onClick=${onNo} autofocus>Keep it<//>
      <${Button} kind="danger" isBusy=${isBusy} onClick=${onYes}>${yes}<//>
    </div>
  <//>`;
}

/** Something long, closed until it is wanted. */
export function Fold({ title, open = false, children, class: more }) {
  return html`<details class=${classes('fold', more)} open=${open}><summary>${title}</summary>${children}</details>`;
}

/** A text that can be taken along. Where the browser forbids it, the text can still be marked. */
export function Copied({ text, label }) {
  const [isDone, done] = useState(false);
  if (!navigator.clipboard) return null;
  const copy = () => navigator.clipboard.writeText(text).then(() => {
    done(true);
    announce('Copied.');
    setTimeout(() => done(false), 2_000);
  }, () => {});
  return html`<button type="button" class="button quiet small copy" onClick=${copy} title=${isDone ? 'Copied' : `Copy ${label}`}><${Icon} name=${isDone ? 'check' : 'copy'} /><span class="hidden">${`Copy ${label}`}</span></button>`;
}

/** A name that a machine gave: in short, whole when one points at it, and to be taken along. */
export function Id({ of, label, most }) {
  if (!of) return NONE;
  return html`<span class="id"><span class="mono" title=${of}>${shorten(shortId(of), most)}</span><${Copied} text=${of} label=${label} /></span>`;
}

/** A share of one as a bar, beside its number. */
export function Bar({ share, tone, text, label }) {
  const width = typeof share === 'number' ? `${Math.max(0, Math.min(1, share)) * 100}%` : '0%';
  return html`<span class="bar"><span class="bar-name">${label}</span><span class="bar-track" aria-hidden="true"><span class=${classes('bar-fill', tone)} style=${{ width }}></span></span><span class="bar-text">${text}</span></span>`;
}

export function Tokens({ value }) {
  return html`<span class="number">${count(value)}</span>`;
}

/** HTML that the node made of a document; nothing else may come here. Addresses outside open beside. */
export function SafeHtml({ text, onCite }) {
  const follow = (event) => {
    const link = event.target.closest?.('a[href]');
    if (!link) return;
    const cited = link.getAttribute('href').match(/^#s-cite-(\d+)$/);
    event.preventDefault();
    if (cited) onCite?.(Number(cited[1]));
    else window.open(link.href, '_blank', 'noopener,noreferrer');
  };
  return html`<div class="prose" onClick=${follow} dangerouslySetInnerHTML=${{ __html: text ?? '' }}></div>`;
}
