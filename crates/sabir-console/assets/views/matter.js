// One thing that waits for a person, with all of what is decided about.

import { post } from '../api.js';
import { useAction } from '../data.js';
import { shortId } from '../format.js';
import { html, useId } from '../lib.js';
import { Badge, Button, Failure, Field, Time } from '../parts.js';
import { to } from '../route.js';
import { announce, dropDraft, useDraft } from '../store.js';
import { Matter as Text, Shown } from '../text.js';

const LABELS = {
  approval: { approve: 'Approve', approve_for_session: 'Approve for this session', deny: 'Deny' },
  question: { approve: 'Yes', approve_for_session: 'Yes, for this session', deny: 'No' },
  blocker: { approve: 'Go on', approve_for_session: 'Go on, for this session', deny: 'Stop' },
};
const DONE = { approve: 'Approved', approve_for_session: 'Approved for the session', deny: 'Denied' };

/** `isHere` when the task or conversation is what one looks at. */
export function MatterCard({ matter, onDecided, level = 2, isHere = false }) {
  const id = useId();
  const draft = `matter ${matter.id}`;
  const [said, say] = useDraft(draft, '');
  const takesWords = matter.kind === 'blocker';
  const decide = useAction(async (decision) => {
    // Who is stopped is told nothing more.
    const words = takesWords && decision !== 'deny' ? said.trim() : '';
    await post(`/api/inbox/${matter.id}`, words ? { decision, words } : { decision });
    dropDraft(draft);
    announce(`${DONE[decision]}: ${matter.title ?? ''}`);
    onDecided?.(matter, decision);
  });
  const isGone = decide.error?.status === 404;
  const labels = LABELS[matter.kind] ?? LABELS.approval;
  const choices = matter.choices?.length ? matter.choices : ['approve', 'deny'];
  const Heading = `h${level}`;
  return html`<article class="panel matter" aria-labelledby=${id}>
    <header class="panel-head">
      <${Heading} id=${id} tabindex="-1"><${Shown} text=${matter.title || 'Something waits for you'} /><//>
      <${Badge} tone="warn">${{ approval: 'Approval', question: 'Question', blocker: 'Blocked' }[matter.kind] ?? matter.kind}<//>
    </header>
    <p class="soft"><${Asker} matter=${matter} isHere=${isHere} /> · asked <${Time} at=${matter.asked_at_ms} /></p>
    <${Text} text=${matter.what} label="What is decided about" />
    <${Failure} error=${isGone ? { message: 'It was decided elsewhere, or taken back. Nothing is left to do.' } : decide.error} what=${isGone ? 'This waits no longer.' : 'Your answer was not taken.'} />
    ${!isGone && takesWords && html`<${Field} label="What the agent is told" optional=${true} help="Without words it does the first of what it would do instead.">${(own) => html`<textarea ...${own} rows="2" maxlength="4000" value=${said} onInput=${(event) => say(event.target.value)}></textarea>`}<//>`}
    ${!isGone && html`<div class="actions">${choices.map((choice) => html`<${Button} key=${choice}
      kind=${choice === 'approve' ? 'primary' : choice === 'deny' ? 'danger-quiet' : ''}
      isBusy=${decide.isBusy} onClick=${() => decide.run(choice)}>${labels[choice] ?? choice}<//>`)}</div>`}
  </article>`;
}

function Asker({ matter, isHere }) {
  const { asker = {} } = matter;
  const order = matter.order_id ?? (asker.type === 'order' ? asker.id : null);
  const session = matter.session_id ?? (asker.type === 'session' ? asker.id : null);
  const parts = [];
  if (asker.type === 'task') {
    parts.push(html`${asker.delegate ? `The ${asker.delegate}` : 'This node'}, for ${shortId(asker.key?.owner)}, skill ${asker.skill}`);
  } else if (asker.type === 'desk') {
    parts.push(asker.collection
      ? html`The desk, in <a href=${to('collections', asker.collection)}>a collection</a>`
      : 'The desk');
  } else if (asker.type === 'session') {
    parts.push('A conversation');
  } else if (asker.type === 'order') {
    parts.push('A task');
  }
  if (order && !isHere) parts.push(html`<a href=${to('tasks', order)}>see the task</a>`);
  if (session && !isHere) parts.push(html`<a href=${to('conversations', session)}>see the conversation</a>`);
  return parts.flatMap((part, at) => (at ? [' · ', part] : [part]));
}
