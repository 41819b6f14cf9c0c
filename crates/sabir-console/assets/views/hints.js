// What the node suggests to do next.

import { html } from '../lib.js';
import { Copied, Panel } from '../parts.js';
import { Words } from '../text.js';

export function Hints({ hints }) {
  if (!hints?.length) return null;
  return html`<${Panel} title="Next steps" class="hints">
    <ul class="plain">${hints.map(({ title, text, command }) => html`<li key=${title}>
      <p><strong>${title}</strong></p>
      <p><${Words} text=${text} /></p>
      ${command && html`<p class="command"><code>${command}</code> <${Copied} text=${command} label="the command" /></p>`}
    </li>`)}</ul>
  <//>`;
}
