// A task for the router becomes a task of the coder's engine. What it may not do alone is approved where
// the task is shown; then it goes on to its end, and the page says who made the result, how, and for what.

import { strict as assert } from 'node:assert';
import { decide, facts, give, joint, killed, stands, told, wish } from './joint.mjs';

const TASK = 'Change the code in the folder and run its tests.';
const COMMAND = 'echo ran >> ran.txt';

await joint({ toTheEnd, takingTurns, whileItWaits, whileItStreams });

async function toTheEnd(visit) {
  const { page } = visit;
  // Nobody says which skill or who: the router finds out.
  const id = await give(visit, { task: TASK });
  await stands(visit, 'Waiting');
  assert.equal(await wish('ran'), 0, 'nothing runs before it was approved');
  await decide(visit, COMMAND, 'Approve');
  await told(visit, 'Half of it is done.');
  await stands(visit, 'Running');
  assert.equal(await wish('ran'), 1);
  await wish('open');
  await stands(visit, 'Done');
  await page.getByRole('region', { name: 'Result' }).getByText('All of it is done.').waitFor();

  const chosen = page.getByRole('region', { name: 'Who was chosen, and why' });
  assert.equal(await chosen.locator('.chosen-name strong').innerText(), 'coder');
  assert.match(await chosen.innerText(), /code/);
  const terms = await facts(visit, 'Terms and cost');
  // Three questions to the model, each with 1200 tokens in and 80 out.
  assert.equal(terms.Tokens, '3,840');
  assert.equal(terms['Negotiated mode'], 'Semantic frame');
  assert.match(terms.Time, /^[\d.]+ (ms|s)$/);
  const made = await facts(visit, 'Provenance');
  assert.deepEqual(
    [made['Made by'], made.Model, made.Mode, made.Checked],
    ['harbor-coder', 'm', 'Semantic frame', 'Unverified'],
  );
  const { cost, payload_mode: mode, provenance } = await visit.see(`/api/orders/${id}`);
  assert.deepEqual([cost.tokens, mode, provenance.produced_by], [3840, 'semantic_frame', 'ldp:delegate:harbor-coder']);
}

/** Two tasks do not change one folder under each other's hands. */
async function takingTurns(visit) {
  const { page } = visit;
  const first = await give(visit, { task: 'Run it first.', skill: 'code' });
  await page.locator('.matter').waitFor();
  const second = await give(visit, { task: 'Run it then.', skill: 'code' });
  await told(visit, `waits until the task ${first.replace('order-', '')} has left the folder`);
  assert.equal(await page.locator('.matter').count(), 0, 'it has not begun');
  for (const [id, ran] of [[first, 2], [second, 3]]) {
    await visit.go(`#/tasks/${id}`);
    await decide(visit, COMMAND, 'Approve');
    await stands(visit, 'Done');
    assert.equal(await wish('ran'), ran);
  }
}

/** What waited is not there any more, was not done, and can be ordered again. */
async function whileItWaits(visit) {
  const { page } = visit;
  await give(visit, { task: TASK });
  await page.locator('.matter').waitFor();
  await killed(visit);
  await told(visit, /Taken up again after the node was started/);
  // The agent hears that its call came to nothing, and makes it once more.
  await decide(visit, COMMAND, 'Approve');
  await stands(visit, 'Done');
  assert.deepEqual((await visit.see('/api/inbox')).matters, []);
  assert.equal(await wish('ran'), 4, 'what nobody approved did not run');
}

/** What was done before stays done, and is not done again. */
async function whileItStreams(visit) {
  await give(visit, { task: TASK });
  await decide(visit, COMMAND, 'Approve');
  await told(visit, 'Half of it is done.');
  await wish('wait', 12);
  await killed(visit);
  await told(visit, /Taken up again after the node was started/);
  await stands(visit, 'Done');
  assert.equal(await wish('ran'), 5);
}
