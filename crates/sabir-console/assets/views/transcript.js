// The rows of a conversation, added up to what a person reads: what was said, what ran, what was
// changed. Pure: it draws nothing.

export const TAGS = [
  'session_configured', 'task_started', 'task_complete', 'turn_complete', 'turn_aborted', 'agent_message',
  'agent_message_delta', 'agent_reasoning', 'agent_reasoning_delta', 'exec_approval_request', 'approval_expired',
  'exec_command_begin', 'exec_command_output_delta', 'exec_command_end', 'apply_patch_approval_request',
  'patch_apply_begin', 'patch_apply_end', 'turn_diff', 'plan_update', 'token_count', 'tool_call_begin',
  'tool_call_end', 'tools', 'approvals', 'history', 'warning', 'error', 'background_event', 'stream_error',
  'shutdown_complete', 'submission', 'user_input',
];

/** Of the output of one command, as much as a browser draws quickly. */
const MOST_OUTPUT = 200_000;

export function begin() {
  return {
    items: [], byCall: new Map(), isRunning: false, tokens: null, settings: null, plan: null,
    /** The message or thought that is still being written. */
    open: null,
  };
}

/** Puts one row into the sum. Every item has a `rev`, which grows when it changes. */
export function add(sum, { seq, tag, body }) {
  if (body === null || typeof body !== 'object') return;
  if (body.op) return submitted(sum, seq, body.op);
  const msg = body.msg ?? body;
  switch (msg.type ?? tag) {
    case 'session_configured':
      sum.settings = msg;
      break;
    case 'task_started':
      // The one before it has no end if the node was killed.
      leave(sum);
      sum.isRunning = true;
      break;
    case 'task_complete':
      sum.isRunning = false;
      leave(sum);
      break;
    case 'turn_aborted':
      sum.isRunning = false;
      leave(sum);
      push(sum, seq, { kind: 'note', tone: 'warn', text: ABORTED[msg.reason] ?? `It ended: ${msg.reason}.` });
      break;
    case 'agent_message_delta':
      write(sum, seq, 'agent', msg.delta);
      break;
    case 'agent_message':
      settle(sum, seq, 'agent', msg.message);
      break;
    case 'agent_reasoning_delta':
      write(sum, seq, 'thought', msg.delta);
      break;
    case 'agent_reasoning':
      settle(sum, seq, 'thought', msg.text);
      break;
    case 'exec_approval_request':
      call(sum, seq, msg.call_id, { kind: 'command', command: msg.command, cwd: msg.cwd, reason: msg.reason, state: 'asked' });
      break;
    case 'apply_patch_approval_request':
      call(sum, seq, msg.call_id, { kind: 'patch', changes: msg.changes, reason: msg.reason, state: 'asked' });
      break;
    case 'approval_expired':
      call(sum, seq, msg.call_id, { state: 'expired' });
      break;
    case 'exec_command_begin':
      call(sum, seq, msg.call_id, { kind: 'command', command: msg.command, cwd: msg.cwd, state: 'running' });
      break;
    case 'exec_command_output_delta':
      output(sum, seq, msg);
      break;
    case 'exec_command_end':
      call(sum, seq, msg.call_id, {
        state: msg.exit_code === 0 ? 'done' : 'failed', exitCode: msg.exit_code, durationMs: msg.duration_ms,
        timedOut: msg.timed_out, output: joined(msg).slice(-MOST_OUTPUT), isCut: joined(msg).length > MOST_OUTPUT,
      });
      break;
    case 'patch_apply_begin':
      call(sum, seq, msg.call_id, { kind: 'patch', changes: msg.changes, state: 'running', auto: msg.auto_approved });
      break;
    case 'patch_apply_end':
      call(sum, seq, msg.call_id, { state: msg.success ? 'done' : 'failed', message: msg.message });
      break;
    case 'turn_diff':
      if (msg.unified_diff) push(sum, seq, { kind: 'diff', text: msg.unified_diff });
      break;
    case 'plan_update':
      sum.plan = { explanation: msg.explanation, steps: msg.plan };
      break;
    case 'token_count':
      sum.tokens = msg;
      break;
    case 'tool_call_begin':
      call(sum, seq, msg.call_id, { kind: 'tool', tool: msg.tool, arguments: msg.arguments, state: 'running' });
      break;
    case 'tool_call_end':
      call(sum, seq, msg.call_id, { kind: 'tool', tool: msg.tool, state: msg.success ? 'done' : 'failed', output: msg.output });
      break;
    case 'warning':
    case 'stream_error':
      push(sum, seq, { kind: 'note', tone: 'warn', text: msg.message });
      break;
    case 'error':
      push(sum, seq, { kind: 'note', tone: 'bad', text: msg.message });
      break;
    case 'background_event':
      push(sum, seq, { kind: 'note', tone: '', text: msg.message });
      break;
    default:
      // There will be kinds that this page does not know; it passes over them.
      break;
  }
}

const ABORTED = {
  interrupted: 'It was interrupted.', replaced: 'It ended, because something else was asked for.',
  reconfigured: 'It ended, because the settings changed.', shutdown: 'It ended, because the node was shut down.',
};

function submitted(sum, seq, op) {
  if (op.type === 'user_input') {
    const text = (op.items ?? []).map((item) => item.text ?? `[${item.type}]`).join('\n');
    push(sum, seq, { kind: 'person', text });
  } else if (op.type === 'run_user_shell_command') {
    push(sum, seq, { kind: 'person', text: `! ${op.command}` });
  } else if (op.type === 'exec_approval' || op.type === 'patch_approval') {
    const item = sum.byCall.get(op.call_id);
    if (item?.state === 'asked') call(sum, seq, op.call_id, { state: op.decision });
  }
}

function push(sum, seq, item) {
  close(sum);
  const whole = { id: seq, rev: 0, ...item };
  sum.items.push(whole);
  return whole;
}

function close(sum) {
  if (sum.open) sum.open.isOpen = false;
  if (sum.open) sum.open.rev += 1;
  sum.open = null;
}

/** An item of which nothing more will be heard. */
export function cutOff(item) {
  return item.state === 'running' || item.state === 'asked' ? { ...item, state: 'cut' } : item;
}

/** The task is over: nothing of it runs any more or waits for an answer. */
function leave(sum) {
  close(sum);
  for (const item of sum.byCall.values()) {
    const { state } = cutOff(item);
    if (state === item.state) continue;
    item.state = state;
    item.rev += 1;
  }
}

function write(sum, seq, kind, delta) {
  if (sum.open?.kind !== kind) sum.open = push(sum, seq, { kind, text: '', isOpen: true });
  sum.open.text += delta;
  sum.open.rev += 1;
}

/** The whole text replaces what was written of it, or what was stored without its parts. */
function settle(sum, seq, kind, text) {
  if (sum.open?.kind === kind) {
    sum.open.text = text;
    close(sum);
  } else {
    push(sum, seq, { kind, text });
  }
}

function call(sum, seq, id, change) {
  let item = sum.byCall.get(id);
  if (!item) {
    if (!change.kind) return;
    item = push(sum, seq, { callId: id, output: '' });
    sum.byCall.set(id, item);
  }
  for (const [name, value] of Object.entries(change)) if (value !== undefined && value !== null) item[name] = value;
  item.rev += 1;
}

function output(sum, seq, { call_id, chunk }) {
  const item = sum.byCall.get(call_id);
  if (!item) return;
  const all = item.output + chunk;
  item.isCut ||= all.length > MOST_OUTPUT;
  item.output = all.slice(-MOST_OUTPUT);
  item.rev += 1;
}

function joined({ stdout = '', stderr = '' }) {
  return [stdout, stderr].filter(Boolean).join(stdout.endsWith('\n') ? '' : '\n');
}
