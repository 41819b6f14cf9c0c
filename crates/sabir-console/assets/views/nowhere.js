// An address that leads nowhere.

import { html } from '../lib.js';
import { Empty, Page } from '../parts.js';
import { to } from '../route.js';

export function Nowhere() {
  return html`<${Page} title="There is no such view">
    <${Empty} title="The address leads nowhere">
      <p>Choose a view from the menu, or go to the <a href=${to('inbox')}>inbox</a>.</p>
    <//>
  <//>`;
}
