// What a message in LLMX had done by others stands among the tasks, like everything that is handed on.

import { strict as assert } from 'node:assert';
import { facts, joint, stands } from './joint.mjs';

await joint({ spawned });

async function spawned(visit) {
  const { page } = visit;
  const parts = [
    { task: 'INF(@a>@b): ok', state: 'Done', who: 'harbor-linguist' },
    { task: 'work far away', state: 'Done', who: 'far' },
    { task: 'fly', state: 'Failed' },
  ];
  for (const { task, state, who } of parts) {
    await visit.go('#/tasks');
    await page.getByRole('link', { name: task, exact: true }).click();
    await stands(visit, state);
    await page.locator('.summary').getByText('by an agent').waitFor();
    if (who) assert.equal((await facts(visit, 'Provenance'))['Made by'], who);
    else await page.locator('.note.bad').getByText(/NO_DELEGATE/).waitFor();
  }
}
