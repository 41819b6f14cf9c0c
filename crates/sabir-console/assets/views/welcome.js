// For whoever is here for the first time: what this is, and what to do first.

import { post } from '../api.js';
import { useAction } from '../data.js';
import { html } from '../lib.js';
import { Button, Failure, Panel } from '../parts.js';
import { go, to } from '../route.js';

/** Its answer stands in one of the example pages. */
export const FIRST_QUESTION = 'How long is it from one high water to the next?';

export function Welcome({ models = [] }) {
  const examples = useAction(async () => {
    const { collection_id: id } = await post('/api/examples');
    go('collections', id, { ask: FIRST_QUESTION });
  });
  const canTalk = models.some(({ provider, ready }) => provider === 'coder' && ready);
  return html`<${Panel} title="Welcome to Sabir" class="welcome">
    <p class="welcome-words">Agents do work for you here: those of this node, and others that you make known. They agree on terms, ask you before they do what could hurt, and leave a record of all of it. Nothing leaves this machine unless you say so.</p>
    <ol class="ways">
      <li>
        <h3>Ask the example pages</h3>
        <p>Four short pages come with the node. Ask them something, and see each citation checked against its page. It takes no network and no model.</p>
        <p><${Button} kind="primary" isBusy=${examples.isBusy} busy="Loading the pages" onClick=${examples.run}>Load the example pages<//></p>
        <${Failure} error=${examples.error} what="The example pages were not loaded." />
      </li>
      <li>
        <h3>Give a task</h3>
        <p>Say what is to be done. The node finds out who can do it, and shows who was chosen, why, and what came of it.</p>
        <p><a class="button" href=${to('tasks')}>Give a task</a></p>
      </li>
      <li>
        <h3>Talk with an agent</h3>
        <p>${canTalk ? 'It reads and changes files in a folder of yours, and asks before it does more.' : 'It works in a folder of yours. For that it needs a model; everything else works without.'}</p>
        <p><a class="button" href=${to('conversations')}>${canTalk ? 'Start a conversation' : 'See what is missing'}</a></p>
      </li>
    </ol>
  <//>`;
}
