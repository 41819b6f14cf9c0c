// An agent splits its task: a part for a delegate of this node, a part for a node in another trust
// domain. The page shows each part with who has it and how much that one takes on; limits hold; and
// whichever node is killed, the page says what became of it.

import { strict as assert } from 'node:assert';
import { give, joint, killed, sabir, stands, told, wish } from './joint.mjs';

const FAR = process.argv[3];
const TASK = { task: 'Split the work of this code.', skill: 'code', tokens: 5000, seconds: 600 };

await joint({ meet, split, tooDeep, nearKilled, farKilled });

/** A person makes the other node known. */
async function meet(visit) {
  const { page } = visit;
  await visit.go('#/delegates');
  await page.getByLabel('Address', { exact: true }).fill(FAR);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('elsewhere').first().waitFor();
}

async function split(visit) {
  const { page } = visit;
  const id = await give(visit, TASK);
  const far = await atWork(visit, 1);
  await part(visit, 'harbor-linguist').getByText('Done', { exact: true }).waitFor();
  // It has one of ours, and its card says that it takes three.
  await part(visit, 'far').getByText('has 1 of ours, works on 3 at once').waitFor();
  // It wanted more than its parent has left, and was given that.
  const { request, parent } = await visit.see(`/api/orders/${far}`);
  assert.equal(parent, id);
  assert.ok(request.budget_tokens > 0 && request.budget_tokens <= 5000 - 1280, `${request.budget_tokens} tokens`);
  assert.ok(request.deadline_secs > 0 && request.deadline_secs <= 600, `${request.deadline_secs} s`);
  assert.equal((await termsOf(far)).policy.budget.max_tokens, request.budget_tokens, 'the other node holds it to that');
  await stands(visit, 'Running');
  await wish('release');
  // Its parts wake it.
  await stands(visit, 'Done');
  const result = await page.getByRole('region', { name: 'Result' }).innerText();
  assert.match(result, /It came back: [^]*valid[^]* and the far work is done/);
  await told(visit, 'A part is done, by far');
  assert.equal(await wish('ran'), 1);
}

/** Orders are nested four deep, and the next is refused with a code that its agent is told. */
async function tooDeep(visit) {
  const { page } = visit;
  await give(visit, { task: 'dig at depth 0', skill: 'code' });
  await stands(visit, 'Done');
  assert.match(await page.getByRole('region', { name: 'Result' }).innerText(), /TOO_DEEP: orders are nested 4 deep/);
  for (const depth of [1, 2, 3, 4]) await page.getByRole('button', { name: `Subtasks of dig at depth ${depth}` }).click();
  await page.getByText('It has no subtasks.').waitFor();
  assert.equal(await page.getByText('dig at depth 5').count(), 0);
}

/** The agent goes on after the restart; what it had handed on is not done a second time. */
async function nearKilled(visit) {
  await give(visit, TASK);
  const far = await atWork(visit, 2);
  await killed(visit);
  await told(visit, /Taken up again after the node was started/);
  // Nobody waits any more for what it handed on: that is taken back, and the agent goes on without it.
  await stands(visit, 'Done');
  await part(visit, 'far').getByText(/^(Cancelled|Interrupted)$/).waitFor();
  await visit.go(`#/tasks/${far}`);
  await told(visit, /Taken up again after the node was started/);
  assert.equal(await wish('ran'), 2);
}

/** The other node is waited for. It says what it was cut short in, and the agent goes on with that. */
async function farKilled(visit) {
  const { page } = visit;
  await give(visit, TASK);
  const far = await atWork(visit, 3);
  await wish('kill far');
  await part(visit, 'far').getByText('Away', { exact: true }).waitFor();
  await stands(visit, 'Running');
  await wish('start far');
  await part(visit, 'far').getByText('Interrupted', { exact: true }).waitFor();
  await stands(visit, 'Done');
  assert.match(await page.getByRole('region', { name: 'Result' }).innerText(), /was not done: INTERRUPTED/);
  await visit.go(`#/tasks/${far}`);
  await stands(visit, 'Interrupted');
  await told(visit, /cannot be reached now: [^]*It is asked again/);
  assert.equal(await wish('ran'), 3, 'it was not begun a second time');
}

/** The subtask that this delegate has. */
function part(visit, who) {
  const panel = visit.page.getByRole('region', { name: 'Subtasks' });
  return panel.locator('.branch').filter({ has: visit.page.getByText(who, { exact: true }) });
}

/** Waits until the other node was given so many parts and works on the last, and says which order that is. */
async function atWork(visit, times) {
  const row = part(visit, 'far');
  await row.getByText('Running', { exact: true }).waitFor();
  const order = decodeURIComponent((await row.getByRole('link').getAttribute('href')).replace('#/tasks/', ''));
  await wish('runs', times);
  return order;
}

/** What the other node was told when it took the task. */
async function termsOf(order) {
  const task = order.replace('order-', '');
  const { code, stdout, stderr } = await wish('sabir far', 'log', '--journal', 'node', '--kind', 'peer', '--grep', `"started"`, '-n', '500', '--json');
  assert.equal(code, 0, stderr);
  const rows = stdout.trim().split('\n').map((line) => JSON.parse(line));
  for (const { journal, seq } of rows) {
    const row = await wish('sabir far', 'log', `${journal}/${seq}`, '--json');
    const started = JSON.parse(JSON.parse(row.stdout).body).flat().find((it) => it.record === 'started' && it.key.id === task);
    if (started) return started.contract;
  }
  throw new Error(`the other node has no task ${task}`);
}
