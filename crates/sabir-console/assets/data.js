// How views get what they show, and do what they are told: nothing is shown before the node said it.

import { get } from './api.js';
import { follow, onChange } from './live.js';
import { useCallback, useEffect, useRef, useState } from './lib.js';

/**
 * What a path answers, asked again whenever one of these kinds changes. A later answer replaces an
 * earlier one; while one is under way, further changes lead to one more question and not to many.
 */
export function useResource(path, kinds = []) {
  const [state, set] = useState({ path, data: null, error: null });
  const job = useRef({ path: null, isBusy: false, isStale: false });
  const load = useCallback(async () => {
    const own = job.current;
    if (path == null) return;
    if (own.isBusy && own.path === path) {
      own.isStale = true;
      return;
    }
    own.path = path;
    own.isBusy = true;
    do {
      own.isStale = false;
      const answer = await get(path).then((data) => ({ data, error: null }), (error) => ({ error }));
      if (own.path !== path) return;
      set((before) => ({ path, data: before.path === path ? before.data : null, ...answer }));
    } while (own.isStale);
    own.isBusy = false;
  }, [path]);
  useEffect(() => {
    load();
    return () => {
      // Whoever is under way finds that nobody waits any more.
      job.current.path = null;
      job.current = { path: null, isBusy: false, isStale: false };
    };
  }, [load]);
  const wanted = kinds.join();
  useEffect(() => (wanted ? onChange(wanted.split(','), load) : undefined), [wanted, load]);
  // What another path answered is nothing to show.
  const isOwn = state.path === path;
  return { data: isOwn ? state.data : null, error: isOwn ? state.error : null, reload: load };
}

/**
 * Something that a person starts. One at a time: who presses twice starts it once.
 * `run` answers with what the node said, or `null` after an error, which is kept to be shown.
 */
export function useAction(work) {
  const [state, set] = useState({ isBusy: false, error: null });
  const isBusy = useRef(false);
  const isHere = useRef(true);
  useEffect(() => () => {
    isHere.current = false;
  }, []);
  const latest = useRef(work);
  latest.current = work;
  const run = useCallback(async (...given) => {
    if (isBusy.current) return null;
    isBusy.current = true;
    set({ isBusy: true, error: null });
    let said = null;
    let error = null;
    try {
      said = (await latest.current(...given)) ?? true;
    } catch (failed) {
      error = failed;
    }
    isBusy.current = false;
    if (isHere.current) set({ isBusy: false, error });
    return said;
  }, []);
  const clear = useCallback(() => set({ isBusy: false, error: null }), []);
  return { ...state, run, clear };
}

/** How often a view is drawn anew while rows come in quick succession. */
const FRAME_MS = 40;
/** After so long without a row, what was there before has been told, and what comes is news. */
const QUIET_MS = 400;

/**
 * Adds up the rows of a stream. `begin` makes an empty sum, `add` puts a row into it and answers `END`
 * if none comes behind it; the view is drawn again with the same sum, now and then. `isNews` says
 * whether what was added last came while one looked on, and was not there before.
 */
export function useStream(path, { tags, begin, add }) {
  const sum = useRef(null);
  const [, redraw] = useState(0);
  const [state, setState] = useState('connecting');
  if (sum.current?.path !== path) sum.current = { path, value: begin() };
  useEffect(() => {
    if (path == null) return undefined;
    const own = { path, value: begin() };
    sum.current = own;
    let timer = null;
    let quiet = null;
    const draw = () => {
      timer = null;
      redraw((n) => n + 1);
    };
    const wait = () => {
      if (own.isSettled) return;
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        own.isSettled = true;
      }, QUIET_MS);
    };
    const stop = follow(path, {
      tags,
      pauseWhenHidden: true,
      onState: (state) => {
        setState(state);
        if (state === 'live') wait();
      },
      onRow: (row) => {
        const said = add(own.value, row);
        own.isNews = own.isSettled;
        wait();
        timer ??= setTimeout(draw, FRAME_MS);
        return said;
      },
    });
    return () => {
      clearTimeout(timer);
      clearTimeout(quiet);
      stop();
    };
  }, [path]);
  return { sum: sum.current.value, state, isNews: sum.current.isNews === true };
}
