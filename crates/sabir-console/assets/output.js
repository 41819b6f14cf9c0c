// What a command printed. Long output keeps to a box of a few lines, at its end, so that nothing jumps
// while it grows and when it is done; who wants all of it opens the box.

import { counted } from './format.js';
import { classes, html, useLayoutEffect, useRef, useState } from './lib.js';
import { Copied } from './parts.js';

/** More lines than this do not fit into the closed box. */
const FEW = 12;
/** How near to the end one must be to be taken along. */
const NEAR_PX = 24;

export function Output({ text, label }) {
  const [isWhole, whole] = useState(false);
  const box = useRef(null);
  const isAtEnd = useRef(true);
  const shown = plain(text);
  const lines = shown.split('\n').length;
  const isLong = lines > FEW || shown.length > FEW * 200;
  useLayoutEffect(() => {
    if (isAtEnd.current && !isWhole) box.current.scrollTop = box.current.scrollHeight;
  }, [shown, isWhole]);
  const scrolled = () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
  };
  return html`<div class="output-part">
    <pre class=${classes('code output wrap', isWhole && 'is-whole')} ref=${box} tabindex="0" role="group" aria-label=${label} onScroll=${scrolled}><code>${shown}</code></pre>
    ${isLong && html`<p class="output-foot"><span class="soft">${counted(lines, 'line')}</span>
      <button type="button" class="link" aria-expanded=${isWhole ? 'true' : 'false'} onClick=${() => whole(!isWhole)}>${isWhole ? 'Show the end only' : 'Show all'}</button>
      <${Copied} text=${shown} label="the output" /></p>`}
  </div>`;
}

/** Colours, titles and the like, as terminals read them. */
const STEERING = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Without what steers a terminal: colours, and lines that were written over. */
export function plain(text) {
  return String(text ?? '').replace(STEERING, '').replace(/\r\n/g, '\n').replace(/[^\n]*\r(?=[^\n])/g, '').replace(/\r/g, '').replace(/\n+$/, '');
}
