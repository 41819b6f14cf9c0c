// A journal in which a byte was changed: the console names the row that the command names.

import { strict as assert } from 'node:assert';
import { joint, wish } from './joint.mjs';

const ROW = process.argv[3];

await joint({ changed });

async function changed(visit) {
  const { page } = visit;
  await visit.go('#/journal?journal=node');
  await page.getByRole('button', { name: 'Check the chain' }).click();
  await page.getByText(`Line ${ROW} was changed.`).waitFor();
  await page.getByRole('button', { name: `Show line ${ROW}` }).click();
  await page.locator('dialog').getByText('Does not follow the line before').waitFor();
  await visit.look('journal-changed');
  const { code, stderr } = await wish('sabir', 'audit', 'verify');
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`the journal was changed at entry ${ROW}:`));
}
