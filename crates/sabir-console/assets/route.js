// Where one is: the part of the address behind the hash. What does not begin with `#/` is no place.

import { useEffect, useState } from './lib.js';

/** All views, in the groups of the menu. */
export const GROUPS = [
  { title: 'Work', places: ['inbox', 'tasks', 'conversations', 'collections'] },
  { title: 'Agents', places: ['delegates'] },
  { title: 'Record', places: ['policy', 'journal', 'usage'] },
];
export const PLACES = GROUPS.flatMap(({ places }) => places);

export function read(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [place, ...rest] = path.split('/');
  let id = rest.join('/');
  try {
    id = decodeURIComponent(id);
  } catch {
    // Then it is an id that nobody has.
  }
  return { place: place || PLACES[0], id, query: new URLSearchParams(query) };
}

/** The address of a place, for links. */
export function to(place, id = '', query = {}) {
  const said = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '' && value != null));
  const text = said.toString();
  return `#/${place}${id ? `/${encodeURIComponent(id)}` : ''}${text ? `?${text}` : ''}`;
}

const watchers = new Set();
const moved = () => {
  if (location.hash === '' || location.hash.startsWith('#/')) watchers.forEach((told) => told(read(location.hash)));
};
addEventListener('hashchange', moved);

/** The view changes at once: whoever clicks twice does not click the second time on what was left. */
export function go(...where) {
  location.hash = to(...where);
  moved();
}

/** As `go`, but the way back does not lead through here. */
export function goInstead(...where) {
  history.replaceState(history.state, '', to(...where));
  moved();
}

/** Opens something over the view. The way back closes it, and so does `closeOver`. */
export function openOver(...where) {
  history.pushState({ isOver: true }, '', to(...where));
  moved();
}

/** `where` is what lies below, for those who came in by a link. */
export function closeOver(...where) {
  if (history.state?.isOver) history.back();
  else goInstead(...where);
}

export function useRoute() {
  const [route, set] = useState(() => read(location.hash));
  useEffect(() => {
    watchers.add(set);
    return () => watchers.delete(set);
  }, []);
  return route;
}
