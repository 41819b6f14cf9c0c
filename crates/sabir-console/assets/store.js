// What the whole page knows: who is signed in, whether the node is heard, and how it looks.

import { ApiError, get, post, setCsrf, whenSignedOut } from './api.js';
import { followChanges, onChange } from './live.js';
import { useCallback, useEffect, useState } from './lib.js';

/** A value that views can watch. */
function cell(value) {
  const watchers = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const told of [...watchers]) told(next);
    },
    watch(told) {
      watchers.add(told);
      return () => watchers.delete(told);
    },
  };
}

export function useCell(it) {
  const [, redraw] = useState(0);
  const shown = it.get();
  useEffect(() => {
    const again = () => redraw((n) => n + 1);
    // It may have changed between the drawing and now.
    if (!Object.is(it.get(), shown)) again();
    return it.watch(again);
  }, [it]);
  return shown;
}

/** `{ state: 'starting' | 'out' | 'in' | 'gone', me, error, hasEnded }` */
export const session = cell({ state: 'starting' });
/** `connecting`, `live` or `lost`. */
export const connection = cell('connecting');
/** Whether the node is of another version than this page. */
export const isOutdated = cell(false);
let version = null;
/** Whether the node has not been heard for so long that a person should know. */
export const isSilent = cell(false);
/** What is read out to those who do not see it. */
export const spoken = cell('');
/** `system`, `light` or `dark`. */
export const theme = cell(document.documentElement.dataset.theme ?? 'system');

export function announce(text) {
  // The same words twice would not be read again.
  spoken.set(spoken.get() === text ? `${text}\u00a0` : text);
}

/** What was typed and not sent yet. It outlives a view and a session that ended, but not the page. */
const drafts = new Map();

/** As `useState`, for what a person types: it is there again when they come back. */
export function useDraft(name, empty) {
  const [value, set] = useState(() => drafts.get(name) ?? empty);
  const put = useCallback((next) => set((before) => {
    const after = typeof next === 'function' ? next(before) : next;
    drafts.set(name, after);
    return after;
  }), [name]);
  return [value, put];
}

/** As if it had been typed there. */
export function keepDraft(name, value) {
  drafts.set(name, value);
}

/** It was sent. */
export function dropDraft(name) {
  drafts.delete(name);
}

export function chooseTheme(next) {
  try {
    if (next === 'system') localStorage.removeItem('sabir.theme');
    else localStorage.setItem('sabir.theme', next);
  } catch {
    // Then it holds for this page only.
  }
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  theme.set(next);
}

let stopChanges = null;

/** Signs in with the link's token if there is one, and finds out who is here. */
export async function start() {
  whenSignedOut(() => leave(session.get().state === 'in'));
  // Of those who chose the system's theme, also when it changes.
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    if (theme.get() === 'system') {
      theme.set('');
      theme.set('system');
    }
  });
  // The link may also be opened in a page that is there already, which then stays where it was.
  addEventListener('hashchange', ({ oldURL }) => signInByLink(new URL(oldURL).hash));
  addEventListener('visibilitychange', () => {
    // Somebody may have signed in elsewhere meanwhile.
    if (!document.hidden && session.get().state === 'out') refresh();
  });
  // A page that nobody looks at leaves its stream to others; its title says all the same what waits.
  setInterval(() => {
    const { state } = session.get();
    if (state === 'gone' || (document.hidden && state === 'in')) refresh();
  }, ASK_AGAIN_MS);
  if (!(await signInByLink())) await refresh();
}

const ASK_AGAIN_MS = 10_000;

async function signInByLink(place = '') {
  const token = tokenOfLink(place.startsWith('#/') ? place : '#/');
  if (!token) return false;
  await signIn(token).catch(async (error) => {
    // An old link, or one of somebody else's making, signs nobody out.
    await refresh();
    if (session.get().state !== 'in') session.set({ state: 'out', error });
  });
  return true;
}

export async function signIn(token) {
  await post('/api/login', { token });
  await refresh();
  const { state, error } = session.get();
  if (state !== 'in') throw error ?? new ApiError(401, '', 'The node let nobody in.');
}

export async function signOut() {
  await post('/api/logout');
  drafts.clear();
  leave(false);
}

/** Asks again who is signed in and what waits. */
export async function refresh() {
  try {
    const me = await get('/api/me');
    setCsrf(me.csrf);
    version ??= me.node?.version;
    isOutdated.set(version !== me.node?.version);
    session.set({ state: 'in', me });
    stopChanges ??= followChanges(heard);
  } catch (error) {
    if (error.status === 401) return;
    const known = session.get();
    if (known.state === 'in') return;
    session.set({ state: 'gone', error });
  }
}

/** Opened twice at once, one of them would wait for the other's answer for nothing. */
let asking = null;
onChange(['inbox', 'orders', 'delegates'], () => {
  asking ??= refresh().finally(() => {
    asking = null;
  });
});

/** Shorter silences are those of a page that was just opened, or looked at again. */
const PATIENCE_MS = 2_500;
let silence = null;

function heard(state) {
  connection.set(state);
  if (state === 'live') {
    clearTimeout(silence);
    silence = null;
    if (isSilent.get()) announce('The node is connected again.');
    isSilent.set(false);
  } else {
    silence ??= setTimeout(() => {
      silence = null;
      if (document.hidden) return;
      isSilent.set(true);
      announce('The connection to the node is lost.');
    }, PATIENCE_MS);
  }
}

/** `hasEnded`: not by the person's own will. */
function leave(hasEnded) {
  stopChanges?.();
  stopChanges = null;
  connection.set('connecting');
  clearTimeout(silence);
  silence = null;
  isSilent.set(false);
  const before = session.get();
  if (before.state !== 'out') session.set({ state: 'out', hasEnded });
}

/** The token stands behind the hash, which browsers send to nobody. It is taken out at once. */
function tokenOfLink(place) {
  const found = location.hash.match(/^#token=(.+)$/);
  if (!found) return null;
  history.replaceState(null, '', `${location.pathname}${place}`);
  try {
    return decodeURIComponent(found[1]);
  } catch {
    return found[1];
  }
}
