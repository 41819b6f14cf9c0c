// The researcher captures three pages, answers with citations that were checked, and saves a brief. One
// of the pages orders the model about: what it proposes is refused, and the page says what and why.

import { strict as assert } from 'node:assert';
import { decide, give, joint, killed, stands, told, wish } from './joint.mjs';

const SITE = `http://${process.argv[3]}`;
const QUESTION = 'When do spring tides come, and what helps a harbour?';

await joint({ researched, whileItCaptures, whileItAnswers });

async function researched(visit) {
  const { page } = visit;
  await research(visit, 'Tides', ['/tides', '/harbour', '/soup']);
  // What the gate does not refuse by itself, the person does.
  await decide(visit, 'collection.create', 'Deny');
  await decide(visit, 'source.capture', 'Deny');
  await stands(visit, 'Done');
  for (const path of ['/tides', '/harbour', '/soup']) await told(visit, `captured ${SITE}${path}`);
  const result = page.getByRole('region', { name: 'Result' });
  await cited(visit);
  // The calls that did not happen, each with its reason.
  const refused = result.locator('.note.bad');
  for (const tool of ['browser.navigate', 'collection.create', 'source.capture']) {
    const line = refused.getByRole('listitem').filter({ hasText: tool });
    assert.match(await line.innerText(), new RegExp(`${tool}: .{10,}`), tool);
  }
  await visit.look('task-refused');
  const { output } = await visit.see(`/api/orders/${decodeURIComponent(new URL(page.url()).hash.slice('#/tasks/'.length))}`);
  await result.getByRole('link', { name: 'Open what was made' }).click();
  await page.locator('dialog .prose').first().waitFor();
  await page.keyboard.press('Escape');
  // The gate's own record says the same.
  await visit.go('#/policy');
  const table = page.getByRole('table', { name: /^Decisions/ });
  for (const { tool, why } of output.refused) {
    const row = table.getByRole('row').filter({ hasText: tool }).filter({ hasText: 'Refused' });
    await row.filter({ hasText: why }).first().waitFor();
  }
  assert.equal(await wish('visits', '/steal'), 0);
  assert.deepEqual((await collections(visit)).map(({ title, name }) => title ?? name), ['Tides'], 'nothing else was made');
}

/** Pages that were there are not fetched again; the one that was on its way is. */
async function whileItCaptures(visit) {
  await research(visit, 'Piers', ['/tides', '/harbour', '/held']);
  await told(visit, `captured ${SITE}/tides`);
  await told(visit, `captured ${SITE}/harbour`);
  await wish('visited', '/held');
  await killed(visit, () => wish('open'));
  await goesOn(visit);
  // Once for each collection, and no more.
  assert.deepEqual([await wish('visits', '/tides'), await wish('visits', '/harbour'), await wish('visits', '/held')], [2, 2, 2]);
  assert.equal(await sources(visit, 'Piers'), 3);
}

/** The question is put again, and has one answer and one brief. */
async function whileItAnswers(visit) {
  const before = await wish('asked');
  await wish('hold', true);
  await research(visit, 'Moon', ['/tides', '/harbour']);
  await wish('wait', before);
  await killed(visit, () => wish('hold', false));
  await goesOn(visit);
  assert.equal(await sources(visit, 'Moon'), 2);
  assert.deepEqual([await wish('visits', '/tides'), await wish('visits', '/harbour')], [3, 3]);
}

function research(visit, collection, paths) {
  const sources = paths.map((path) => SITE + path);
  return give(visit, { task: QUESTION, skill: 'research', input: { question: QUESTION, sources, collection, brief: true } });
}

async function goesOn(visit) {
  await told(visit, /was stopped in the middle of it, and does it again/);
  await stands(visit, 'Done');
  await cited(visit);
}

async function cited(visit) {
  const citations = visit.page.getByRole('region', { name: 'Result' }).locator('.citations li');
  await citations.nth(1).waitFor();
  assert.equal(await citations.count(), 2);
  assert.equal(await citations.getByText('Verified', { exact: true }).count(), 2);
}

async function collections(visit) {
  return (await visit.see('/api/collections')).collections;
}

/** How many sources a collection has; and it has one brief. */
async function sources(visit, name) {
  const found = (await collections(visit)).find((it) => (it.title ?? it.name) === name);
  const { sources: all, artifacts } = await visit.see(`/api/collections/${found.id}`);
  assert.equal(artifacts.length, 1, 'one brief');
  return all.length;
}
