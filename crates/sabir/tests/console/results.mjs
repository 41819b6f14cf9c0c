// Results of every shape and length: what a delegate delivers, a page shows, whatever it is.

import { strict as assert } from 'node:assert';
import { give, joint, stands } from './joint.mjs';

/** What programs print, and what of it must be seen. */
const ODD = [
  [{ answer: '', artifact: { id: 'a', title: ['x'] } }, 'Made'],
  [{ answer: 'yes', citations: { 0: 'none' }, refused: 7, failed: [null, 'x', { url: {}, why: 3 }] }, 'yes'],
  [{ answer: 'yes', citations: [null, { quote: {}, status: [], source: { title: 1 } }] }, 'yes'],
  [{ text: 'as text', message: null }, 'as text'],
  [{ result: { deep: [[[]]] }, constructor: 'c', toString: null }, '"deep"'],
];

const result = (visit) => visit.page.getByRole('region', { name: 'Result', exact: true });

await joint({ odd, long, hidden });

async function odd(visit) {
  for (const [input, seen] of ODD) {
    await give(visit, { task: 'say it', skill: 'say', input });
    await stands(visit, 'Done');
    await result(visit).getByText(seen).first().waitFor();
    assert.equal(await visit.page.getByText('cannot be shown').count(), 0, JSON.stringify(input));
  }
}

/** Far more lines than a page can have elements: the first are drawn, and the rest is there. */
async function long(visit) {
  await give(visit, { task: 'count', skill: 'count' });
  await stands(visit, 'Done');
  await result(visit).getByText(/^The rest, /).click();
  const { items, text } = await result(visit).evaluate((region) => ({
    items: region.querySelectorAll('li').length,
    text: region.textContent,
  }));
  assert.ok(items > 1_000 && items < 10_000, `${items} items`);
  assert.ok(text.includes('200000'), 'the last line is there');
}

/** What is hidden is spelled out, also where there is more of it than of anything else. */
async function hidden(visit) {
  await give(visit, { task: 'hide', skill: 'say', input: { a: `x${'\u200b'.repeat(50_000)}y` } });
  await stands(visit, 'Done');
  const { marks, text } = await result(visit).evaluate((region) => ({
    marks: region.querySelectorAll('.unseen').length,
    text: region.textContent,
  }));
  assert.ok(marks > 100 && marks < 5_000, `${marks} marks`);
  assert.equal(text.split('U+200B').length - 1, 50_000);
}
