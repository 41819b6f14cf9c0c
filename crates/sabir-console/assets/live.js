// What the node sends by itself: the rows of one journal session as they are committed, and hints
// that something changed. Both go on where they stopped after the connection was lost.

import { get } from './api.js';

/** The shortest and the longest wait before a stream that the node refused is asked for again. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

export const END = 'end';

/**
 * Follows a stream. `onRow` is given `{ seq, tag, body }` once for every row, in order; `onState` is
 * given `connecting`, `live` or `lost`. Who answers `END` to a row wants no more: the browser has few
 * connections to give. Returns what ends it.
 */
export function follow(path, { tags, onRow, onState = () => {}, pauseWhenHidden = false }) {
  let last = 0;
  let source = null;
  let timer = null;
  let wait = FIRST_WAIT_MS;
  let ended = false;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const row = (tag) => (event) => {
    const seq = Number(event.lastEventId);
    // A server that begins again from the start tells nothing new.
    if (seq && seq <= last) return;
    if (seq) last = seq;
    let body;
    try {
      body = JSON.parse(event.data);
    } catch {
      body = event.data;
    }
    if (onRow({ seq, tag, body }) === END) stop();
  };
  const again = () => {
    onState('lost');
    close();
    timer = setTimeout(async () => {
      // Whether the node is gone or the person is signed out, this says so to whoever listens.
      await get('/api/me').catch(() => {});
      if (!ended && !source) open();
    }, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  };
  const open = () => {
    if (ended) return;
    close();
    onState('connecting');
    source = new EventSource(last ? `${path}?after=${last}` : path);
    source.onopen = () => {
      wait = FIRST_WAIT_MS;
      onState('live');
    };
    // The engine tells of its own errors under the same name as the browser.
    const told = row('error');
    source.addEventListener('error', (event) => {
      if (event instanceof MessageEvent) return told(event);
      if (source?.readyState === EventSource.CLOSED) return again();
      onState('connecting');
    });
    source.addEventListener('message', row(''));
    for (const tag of tags) {
      if (tag !== 'error' && tag !== 'message') source.addEventListener(tag, row(tag));
    }
  };
  // A browser allows few connections to one place; pages that nobody looks at leave theirs to others.
  const look = () => {
    if (document.hidden) close();
    else if (!source) open();
  };
  if (pauseWhenHidden) document.addEventListener('visibilitychange', look);
  const stop = () => {
    ended = true;
    document.removeEventListener('visibilitychange', look);
    close();
  };
  open();
  return stop;
}

const KINDS = ['inbox', 'orders', 'sessions', 'collections', 'delegates', 'decisions'];
const listeners = new Set();

/** Calls `told` whenever one of these kinds changed, or may have while the connection was lost. */
export function onChange(kinds, told) {
  const listener = { kinds, told };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Listens to what changes on the node. */
export function followChanges(onState) {
  let wasLive = false;
  return follow('/api/changes', {
    tags: KINDS,
    onRow: ({ tag, body }) => tell(tag, body),
    pauseWhenHidden: true,
    onState: (state) => {
      // What changed while nobody listened is not told again.
      if (state === 'live' && wasLive) KINDS.forEach((kind) => tell(kind, {}));
      wasLive ||= state === 'live';
      onState(state);
    },
  });
}

function tell(kind, body) {
  for (const { kinds, told } of [...listeners]) {
    if (kinds.includes(kind)) told(kind, body);
  }
}
