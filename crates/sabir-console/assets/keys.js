// What can be done with the keyboard alone, and the list of it. Keys without Ctrl do nothing while one
// types, and can be switched off: who speaks to a machine would press them by accident.

import { html, useEffect, useRef, useState } from './lib.js';
import { Dialog } from './parts.js';
import { go } from './route.js';

const PLACE_OF = {
  i: 'inbox', t: 'tasks', c: 'conversations', o: 'collections', d: 'delegates', p: 'policy', j: 'journal', u: 'usage',
};
const KEPT = 'sabir.shortcuts';
/** Between `g` and the letter behind it. */
const TOGETHER_MS = 1_500;

function areOff() {
  try {
    return localStorage.getItem(KEPT) === 'off';
  } catch {
    return false;
  }
}

const isTyping = (target) => target instanceof Element && target.closest('input, textarea, select, [contenteditable]');

/** The ear for the keys, and the list of them. */
export function Shortcuts({ isOpen, onOpen, onClose }) {
  const [isOff, off] = useState(areOff);
  const began = useRef(0);
  useEffect(() => {
    if (isOff) return undefined;
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      const isSecond = performance.now() - began.current < TOGETHER_MS;
      began.current = 0;
      const place = isSecond && PLACE_OF[event.key];
      if (place) go(place);
      else if (event.key === 'g') began.current = performance.now();
      else if (event.key === '?') onOpen();
      else if (event.key === '/') document.querySelector('main :is(input[type=search], textarea, input[type=text])')?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [isOff]);
  const toggle = (event) => {
    const next = !event.target.checked;
    off(next);
    try {
      if (next) localStorage.setItem(KEPT, 'off');
      else localStorage.removeItem(KEPT);
    } catch {
      // Then it holds for this page only.
    }
  };
  if (!isOpen) return null;
  return html`<${Dialog} title="Keyboard" onClose=${onClose}>
    <dl class="keys">
      ${Object.entries(PLACE_OF).map(([key, place]) => html`<div key=${key}><dt><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>Go to ${place}</dd></div>`)}
      <div><dt><kbd>/</kbd></dt><dd>Type into the first field of the view</dd></div>
      <div><dt><kbd>?</kbd></dt><dd>Show this list</dd></div>
      <div><dt><kbd>Ctrl</kbd> <kbd>Enter</kbd></dt><dd>Send what you type</dd></div>
      <div><dt><kbd>Esc</kbd></dt><dd>Close what lies over the page</dd></div>
    </dl>
    <label class="check"><input type="checkbox" checked=${!isOff} onChange=${toggle} />Listen to keys without Ctrl</label>
  <//>`;
}

/** For `onKeyDown` of a form: Ctrl and Enter send it, also from a field of several lines. */
export function sendsByKey(event) {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}
