// Rows of every kind that a busy node has, each in four languages: what the page shows is what the
// commands say, word for word and token for token.

import { strict as assert } from 'node:assert';
import { decide, found, give, joint, killed, sabir, stands, wish } from './joint.mjs';

const WORKSPACE = process.argv[3];
const TONGUES = { English: 'english', JSON: 'json', AXON: 'axon', LLMX: 'llmx' };

await joint({ busy, everyKind, whileRowsAreWritten });

/** An order for the coder's engine, a conversation, and a message for the linguist. */
async function busy(visit) {
  const { page } = visit;
  await give(visit, { task: 'Run it.', skill: 'code' });
  await decide(visit, 'echo ran', 'Approve');
  await stands(visit, 'Done');
  await visit.go('#/conversations');
  await page.getByLabel('What do you want').fill('Run it here.');
  await page.getByText('Model and folder').click();
  await page.getByLabel('Folder').fill(WORKSPACE);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await decide(visit, 'echo ran', 'Approve');
  await page.locator('.transcript').getByText('All of it is done.').waitFor();
  await page.getByText('Waiting for you', { exact: true }).waitFor();
  await give(visit, { task: 'INF(@a>@b): ok', skill: 'language.check' });
  await stands(visit, 'Done');
}

async function everyKind(visit) {
  const { page } = visit;
  const rows = await oneOfEach(visit);
  const kinds = new Set(rows.map(({ kind }) => kind));
  for (const kind of ['session', 'submission', 'event', 'item', 'turn', 'approval', 'peer', 'decision']) {
    assert.ok(kinds.has(kind), `no row is a ${kind}: ${[...kinds]}`);
  }
  const texts = [];
  const costs = [];
  for (const { journal, seq } of rows) {
    const place = `${journal}/${seq}`;
    const { forms, tokens } = await sabir('log', place, '--json');
    await visit.go(`#/journal?journal=${encodeURIComponent(journal)}&seq=${seq}`);
    await page.getByRole('heading', { name: `${journal}, line ${seq}` }).waitFor();
    for (const [title, tongue] of Object.entries(TONGUES)) {
      const tab = page.getByRole('tab', { name: new RegExp(`^${title}`) });
      await tab.click();
      const cost = await tab.locator('.soft').innerText();
      assert.equal(cost.replaceAll(',', ''), String(tokens[tongue]), `${place} in ${title}`);
      // What is not seen is spelled out on the page.
      const shown = await page.locator('dialog [role=tabpanel] code').first().evaluate((code) => {
        const copy = code.cloneNode(true);
        copy.querySelectorAll('.unseen').forEach((it) => it.replaceWith(String.fromCodePoint(parseInt(it.textContent.slice(2), 16))));
        return copy.textContent;
      });
      assert.equal(shown, forms[tongue].replace(/\r\n/g, '\n'), `${place} in ${title}`);
      texts.push(forms[tongue].trimEnd());
      costs.push(tokens[tongue]);
    }
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  }
  assert.deepEqual(await wish('tokens', ...texts), costs, 'sabir tokens counts the same');
}

/** The journal that was open while it was written is whole afterwards, and has all that was shown. */
async function whileRowsAreWritten(visit) {
  const { page } = visit;
  await give(visit, { task: 'Say something.', skill: 'chatter' });
  await page.locator('.timeline').getByText('node: step 3').or(page.locator('.timeline').getByText('step 3')).first().waitFor();
  const order = decodeURIComponent(new URL(page.url()).hash.slice('#/tasks/'.length));
  await visit.go(`#/journal?session=${order}`);
  const lines = page.locator('.line-button');
  await lines.nth(5).waitFor();
  const seen = await lines.evaluateAll((all) => all.map((it) => it.innerText.split('\n').slice(0, 2).join(' ')));
  await killed(visit);
  // More was written before the end than one page shows.
  const { lines: kept } = await visit.see(`/api/journal/node?session=${order}&limit=500`);
  const after = kept.map(({ seq, kind, tag }) => `${seq} ${kind}${tag ? ` · ${tag}` : ''}`);
  for (const line of seen) assert.ok(after.includes(line), `it was shown, and is gone: ${line}`);
  for (const journal of ['node', 'coder', 'linguist']) await whole(visit, journal);
  await visit.go(`#/tasks/${order}`);
  await stands(visit, 'Interrupted');
  await page.locator('.note.bad').getByText(/INTERRUPTED/).waitFor();
  await found(visit);
}

async function whole(visit, journal) {
  await visit.go(`#/journal?journal=${journal}`);
  await visit.page.getByRole('button', { name: 'Check the chain' }).click();
  await visit.page.getByText('The journal is whole.').waitFor();
}

/** A row of each kind and tag, of each journal. */
async function oneOfEach(visit) {
  const { journals } = await visit.see('/api/journals');
  const rows = [];
  for (const { name } of journals) {
    const { lines } = await visit.see(`/api/journal/${name}?limit=500`);
    const seen = new Set();
    for (const { seq, kind, tag } of lines) {
      if (seen.has(`${kind} ${tag}`)) continue;
      seen.add(`${kind} ${tag}`);
      rows.push({ journal: name, seq, kind });
    }
  }
  return rows;
}
