// One conversation, live.

import { post } from '../api.js';
import { useAction, useResource, useStream } from '../data.js';
import { clip, count, counted, duration, json } from '../format.js';
import { sendsByKey } from '../keys.js';
import { Component, classes, html, useEffect, useLayoutEffect, useRef, useState } from '../lib.js';
import { Output } from '../output.js';
import { Badge, Button, Failure, Field, Fold, Id, Loading, Page, Panel } from '../parts.js';
import { to } from '../route.js';
import { announce, useDraft } from '../store.js';
import { Changes, Diff, Prose, Shown } from '../text.js';
import { MatterCard } from './matter.js';
import { TAGS, add, begin, cutOff } from './transcript.js';

/** How near to the end one must be to be taken along when something is added. */
const NEAR_PX = 160;

export function Conversation({ id }) {
  const path = `/api/sessions/${encodeURIComponent(id)}`;
  const session = useResource(path, ['sessions']);
  const inbox = useResource('/api/inbox', ['inbox']);
  const { sum, state, isNews } = useStream(`${path}/events`, { tags: TAGS, begin, add });
  const matters = (inbox.data?.matters ?? []).filter((matter) => matter.session_id === id || (matter.asker?.type === 'session' && matter.asker.id === id));
  useFollowed(sum);
  useSpoken(sum, isNews, matters);
  const known = session.data ?? {};
  const settings = sum.settings ?? known;
  // The rows end where a node was killed. Then nobody holds the session, and nothing of it goes on.
  const isCut = useLasting(sum.isRunning && known.held === false);
  const isRunning = sum.isRunning && !isCut;
  return html`<${Page} class="talk" title=${clip(known.title, 120) || 'Conversation'} crumb=${html`<a href=${to('conversations')}>Conversations</a>`}>
    ${session.error && html`<${Failure} error=${session.error} what="The conversation cannot be shown." onRetry=${session.reload} />`}
    <div class="summary">
      ${isRunning ? html`<${Badge} state="running">Working<//>` : isCut ? html`<${Badge} tone="warn">Cut off<//>` : html`<${Badge} tone="">Waiting for you<//>`}
      <span>${{ live: 'live', connecting: 'connecting…', lost: 'connection lost, trying again' }[state]}</span>
      ${settings.model && html`<span>${settings.model}</span>`}
      ${settings.cwd && html`<span class="breakable">${settings.cwd}</span>`}
      ${settings.sandbox_policy?.mode && html`<span>${settings.sandbox_policy.mode}</span>`}
      ${sum.tokens && html`<span>${counted(sum.tokens.total.input + sum.tokens.total.output, 'token')}</span>`}
      <span><a href=${to('journal', '', { session: id })}>in the journal</a></span>
      <${Id} of=${id} label="the name of the conversation" />
    </div>
    ${sum.plan && html`<${Plan} plan=${sum.plan} />`}
    <section aria-label="Transcript">
      ${sum.items.length === 0 && (state === 'live' ? html`<p class="soft">Nothing was said yet.</p>` : html`<${Loading} what="Reading the conversation" />`)}
      <ol class="transcript">${sum.items.map((item) => html`<${Line} key=${item.id} item=${item} rev=${item.rev} isCut=${isCut} />`)}</ol>
      ${isCut && html`<div class="note warn" role="status"><p>The node was stopped in the middle of this. What the agent had done is done, and what it was at is not known to have ended. Say something, and it goes on from here.</p></div>`}
    </section>
    ${matters.length > 0 && html`<section aria-label="Waiting for you" class="stack">${matters.map((matter) => html`<${MatterCard} key=${matter.id} matter=${matter} isHere=${true} onDecided=${inbox.reload} />`)}</section>`}
    <${Composer} path=${path} isRunning=${isRunning} />
  <//>`;
}

/** Rows and what is known of a session come by two ways, one a little after the other. */
const BETWEEN_MS = 1_500;

/** Whether something holds, and has for a while. */
function useLasting(holds) {
  const [lasts, set] = useState(false);
  useEffect(() => {
    if (!holds) return set(false);
    const timer = setTimeout(() => set(true), BETWEEN_MS);
    return () => clearTimeout(timer);
  }, [holds]);
  return holds && lasts;
}

/** Whoever reads the end is taken along; whoever reads further up is left alone. */
function useFollowed(sum) {
  const size = sum.items.length + sum.items.reduce((all, item) => all + item.rev, 0);
  const wasNear = useRef(true);
  useEffect(() => {
    const look = () => {
      wasNear.current = document.documentElement.scrollHeight - innerHeight - scrollY < NEAR_PX;
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  useLayoutEffect(() => {
    if (wasNear.current && size > 0) scrollTo(0, document.documentElement.scrollHeight);
  }, [size]);
}

/** What is whole is read out, and nothing of what was there before one came. */
function useSpoken(sum, isNews, matters) {
  const last = sum.items.findLast((item) => item.kind === 'agent' && !item.isOpen);
  useEffect(() => {
    if (last && isNews) announce(`The agent says: ${clip(last.text, 300)}`);
  }, [last?.id]);
  const waiting = matters.length;
  const before = useRef(0);
  useEffect(() => {
    if (waiting > before.current) announce('The agent asks for your approval, at the end of the transcript.');
    before.current = waiting;
  }, [waiting]);
}

/** One item. It is drawn again only when it has changed, so that a long transcript stays quick. */
class Line extends Component {
  shouldComponentUpdate(next) {
    return next.rev !== this.props.rev || next.item !== this.props.item || next.isCut !== this.props.isCut;
  }

  render({ item: whole, isCut }) {
    const item = isCut ? cutOff(whole) : whole;
    switch (item.kind) {
      case 'person': return html`<li class="said person"><p class="who">You</p><div class="prose"><p class="as-typed"><${Shown} text=${item.text} /></p></div></li>`;
      case 'agent': return html`<li class=${classes('said', 'agent', item.isOpen && 'is-open')}><p class="who">Agent</p><${Prose} text=${item.text} /></li>`;
      case 'thought': return html`<li class="done-thing"><${Fold} title="Thinking" class="soft"><${Prose} text=${item.text} /><//></li>`;
      case 'command': return html`<li class="done-thing"><${Command} item=${item} /></li>`;
      case 'patch': return html`<li class="done-thing"><${Patch} item=${item} /></li>`;
      case 'tool': return html`<li class="done-thing"><${Tool} item=${item} /></li>`;
      case 'diff': return html`<li class="done-thing"><${Fold} title="All changes of this task"><${Diff} text=${item.text} label="All changes of this task" /><//></li>`;
      case 'note': return html`<li class=${classes('note', item.tone)}><p><${Shown} text=${item.text} /></p></li>`;
      default: return null;
    }
  }
}

const STATES = {
  asked: ['warn', 'Waits for approval'], running: ['busy', 'Running'], done: ['good', 'Done'], failed: ['bad', 'Failed'],
  expired: ['bad', 'Nobody answered'], cut: ['warn', 'Cut off'], denied: ['bad', 'Denied'], abort: ['bad', 'Denied'],
  approved: ['good', 'Approved'], approved_for_session: ['good', 'Approved for the session'],
};

function State({ of }) {
  const [tone, text] = STATES[of] ?? ['', of];
  return html`<${Badge} tone=${tone}>${text}<//>`;
}

function Command({ item }) {
  const text = (item.command ?? []).map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`)).join(' ');
  return html`<div class="call">
    <p class="call-head"><code class="call-what"><${Shown} text=${text} /></code><${State} of=${item.state} /></p>
    <p class="soft">${[item.cwd && `in ${item.cwd}`, item.exitCode != null && `exit code ${item.exitCode}`, item.timedOut && 'timed out', item.durationMs != null && duration(item.durationMs), item.reason].filter(Boolean).join(' · ')}</p>
    ${item.output && html`<${Output} text=${item.output} label="Output of the command" />`}
    ${item.isCut && html`<p class="soft">What it printed before is in the journal.</p>`}
  </div>`;
}

function Patch({ item }) {
  const files = Object.keys(item.changes ?? {});
  return html`<div class="call">
    <p class="call-head"><span>${item.state === 'asked' ? 'Wants to change' : 'Changes'} ${counted(files.length, 'file')}</span><${State} of=${item.state} /></p>
    ${item.reason && html`<p class="soft">${item.reason}</p>`}
    ${item.message && item.state === 'failed' && html`<p class="bad-text">${item.message}</p>`}
    <${Fold} title=${files.length === 1 ? files[0] : counted(files.length, 'file')} open=${files.length <= 3}><${Changes} changes=${item.changes} /><//>
  </div>`;
}

function Tool({ item }) {
  return html`<div class="call">
    <p class="call-head"><span><code class="call-what">${item.tool}</code></span><${State} of=${item.state} /></p>
    <${Fold} title="Arguments and result">
      <pre class="code wrap" tabindex="0" role="group" aria-label="Arguments"><code><${Shown} text=${json(item.arguments)} /></code></pre>
      ${item.output && html`<${Output} text=${item.output} label="Result" />`}
    <//>
  </div>`;
}

function Plan({ plan }) {
  const done = plan.steps.filter(({ status }) => status === 'completed').length;
  return html`<${Panel} title="Plan" note=${`${count(done)} of ${count(plan.steps.length)} done`}>
    ${plan.explanation && html`<p class="soft">${plan.explanation}</p>`}
    <ol class="plan">${plan.steps.map(({ step, status }, at) => html`<li key=${at} class=${status}><span class="hidden">${{ pending: 'To do: ', in_progress: 'In progress: ', completed: 'Done: ' }[status]}</span>${step}</li>`)}</ol>
  <//>`;
}

function Composer({ path, isRunning }) {
  const [text, type] = useDraft(path, '');
  const box = useRef(null);
  const send = useAction(async () => {
    await post(`${path}/input`, { text: text.trim() });
    // What was typed while it was sent was not sent.
    type((now) => (now === text ? '' : now));
  });
  const interrupt = useAction(() => post(`${path}/interrupt`));
  const submit = async (event) => {
    event.preventDefault();
    if (text.trim() === '') return;
    await send.run();
    box.current?.querySelector('textarea')?.focus();
  };
  return html`<form class="composer" ref=${box} onSubmit=${submit} onKeyDown=${sendsByKey}>
    <${Field} label="Your message" help="Ctrl and Enter send it.">${(own) => html`<textarea ...${own} rows="2" value=${text} onInput=${(event) => type(event.target.value)}></textarea>`}<//>
    <${Failure} error=${send.error} what="Your message was not taken; it still stands above." />
    <${Failure} error=${interrupt.error} what="It could not be interrupted." />
    <div class="actions">
      <${Button} type="submit" kind="primary" isBusy=${send.isBusy} busy="Sending">Send<//>
      ${isRunning && html`<${Button} kind="danger-quiet" isBusy=${interrupt.isBusy} onClick=${interrupt.run}>Interrupt<//>`}
    </div>
  </form>`;
}
