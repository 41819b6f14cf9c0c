// What the console shows of an order, its parts, the gate's decisions and the rows, held against what the
// commands print as JSON.

import { strict as assert } from 'node:assert';
import { decide, facts, give, joint, killed, sabir, stands } from './joint.mjs';

await joint({ agreed, whileRowsAreWritten });

async function agreed(visit) {
  const { page } = visit;
  const id = await give(visit, { task: 'Change the code, and have a part of it said.', skill: 'code' });
  await decide(visit, 'echo ran', 'Approve');
  await decide(visit, 'echo ran', 'Approve');
  await stands(visit, 'Done');
  await theOrder(visit, id);
  await theRows(visit, id);
  await theDecisions(visit);
  await theChains(visit);
}

/** Rows that were shown before the kill are what the commands show after it. */
async function whileRowsAreWritten(visit) {
  const { page } = visit;
  const id = await give(visit, { task: 'Say something.', skill: 'chatter' });
  await page.locator('.timeline li').nth(8).waitFor();
  const before = await timeline(visit);
  await killed(visit);
  await stands(visit, 'Interrupted');
  const [order] = await sabir('explain', id, '--json');
  assert.equal(order.state, 'interrupted');
  assert.match(order.why, /^INTERRUPTED: /);
  const note = page.locator('.note.bad').filter({ hasText: 'INTERRUPTED' });
  await note.waitFor();
  // The page writes a sentence, and the code behind it.
  const bare = (text) => plain(text).toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim();
  const why = order.why.replace(/^INTERRUPTED: /, '');
  assert.equal(bare(await note.locator('p').last().innerText()), bare(`${why} INTERRUPTED`));
  // What happened is told once more, after how it stands.
  await page.locator('.timeline li').nth(before.length - 1).waitFor();
  const after = await timeline(visit);
  assert.deepEqual(after.slice(0, before.length), before, 'nothing that was shown is gone');
  await theRows(visit, id);
  await theChains(visit);
}

/** `sabir explain` about the order and about its part. */
async function theOrder(visit, id) {
  const { page } = visit;
  await visit.go(`#/tasks/${id}`);
  const [said] = await sabir('explain', id, '--json');
  const badge = async () => (await page.locator('.summary .badge').innerText()).toLowerCase();
  assert.equal(said.what, 'order');
  assert.equal(said.state, await badge());
  const terms = await facts(visit, 'Terms and cost');
  assert.equal(said.tokens, terms.Tokens.replaceAll(',', ''));
  assert.equal(said.payload_mode.replace('_', ' '), terms['Negotiated mode'].toLowerCase());
  const made = await facts(visit, 'Provenance');
  assert.equal(said.done_by, `ldp:delegate:${made['Made by']}`);
  const chosen = page.getByRole('region', { name: 'Who was chosen, and why' });
  const why = [chosen.locator('.chosen-name + p'), chosen.locator('.as-typed')].map((part) => part.textContent());
  assert.equal(plain(said.chosen_because.replaceAll('ldp:delegate:', '')), plain((await Promise.all(why)).join(' ')));
  assert.equal(said.skill, await page.locator('.summary strong').innerText());

  const branch = page.getByRole('region', { name: 'Subtasks' }).locator('.branch');
  assert.equal(await branch.count(), 1);
  const child = decodeURIComponent((await branch.getByRole('link').getAttribute('href')).replace('#/tasks/', ''));
  const [part] = await sabir('explain', child, '--json');
  assert.equal(part.for, id);
  assert.equal(part.state, (await branch.locator('.badge').innerText()).toLowerCase());
  assert.equal(part.done_by, `ldp:delegate:${(await branch.locator('.soft').first().innerText()).trim()}`);
  assert.ok(part.headline.includes(await branch.getByRole('link').innerText()), part.headline);
}

/** `sabir log` and `sabir replay` about the rows of the order. */
async function theRows(visit, id) {
  const { page } = visit;
  const logged = await sabir('log', '--session', id, '-n', '100000', '--json');
  await visit.go(`#/journal?session=${id}`);
  const older = page.getByRole('button', { name: /older/ });
  const lines = page.locator('.line-button');
  await lines.first().waitFor();
  while (await older.count()) {
    const count = await lines.count();
    await older.click();
    await page.waitForFunction((before) => document.querySelectorAll('.line-button').length > before || !document.querySelector('main').innerText.includes('older'), count);
  }
  const shown = await lines.evaluateAll((all) => all.map((line) => ({
    seq: Number(line.querySelector('.line-seq').textContent),
    kind: line.querySelector('.line-kind').textContent.trim(),
  })));
  const said = logged.map(({ seq, kind, tag }) => ({ seq, kind: tag ? `${kind} · ${tag}` : kind })).reverse();
  assert.deepEqual(shown, said);

  const replayed = [await sabir('replay', '--session', id, '--json')].flat();
  const events = logged.filter(({ kind }) => kind === 'event').map(({ tag }) => tag);
  assert.deepEqual(replayed.map(({ event, msg }) => event ?? msg.type), events);
  await visit.go(`#/tasks/${id}`);
  const last = replayed.at(-1);
  await stands(visit, last.state[0].toUpperCase() + last.state.slice(1));
}

/** `sabir audit list` about what the gate decided, with its rule. */
async function theDecisions(visit) {
  const { page } = visit;
  await visit.go('#/policy');
  const rows = page.getByRole('table', { name: /^Decisions/ }).locator('tbody tr');
  await rows.first().waitFor();
  const shown = await rows.evaluateAll((all) => all.map((row) => {
    const cell = (name) => {
      const words = row.querySelector(`[data-name="${name}"]`).cloneNode(true);
      words.querySelectorAll('button').forEach((button) => button.remove());
      return words.textContent.trim();
    };
    return { tool: row.querySelector('th').textContent.trim(), outcome: cell('Outcome'), rule: cell('Rule'), who: cell('Who'), call: cell('Call') };
  }));
  const listed = await sabir('audit', 'list', '--json', '-n', '1000');
  const said = listed.map((row) => ({
    tool: row.subject,
    outcome: { allow: 'Allowed', deny: 'Refused', ask: 'Asks' }[row.outcome],
    rule: row.rule,
    who: row.actor,
    call: row.call_id,
  }));
  assert.deepEqual(shown, said.reverse());
  assert.ok(shown.some(({ tool, outcome }) => tool === 'shell' && outcome === 'Asks'), JSON.stringify(shown));
  const explained = await sabir('explain', 'c-1', '--json');
  assert.ok(JSON.stringify(explained).includes('shell'));
}

/** `sabir audit verify` about every journal. */
async function theChains(visit) {
  const { page } = visit;
  const verified = await sabir('audit', 'verify', '--json');
  assert.equal(verified.result, 'whole');
  const chains = [{ name: 'node', ...verified }, ...verified.journals, { name: 'audit', entries: verified.library.decisions, head: verified.library.head }];
  for (const { name, entries, head } of chains.filter((chain) => chain.head)) {
    await visit.go(`#/journal?journal=${name}`);
    await page.getByRole('button', { name: 'Check the chain' }).click();
    const note = page.locator('.note.good');
    await note.waitFor();
    const words = plain(await note.innerText());
    assert.ok(words.includes(head) && words.includes(entries === 0 ? 'no line' : entries.toLocaleString('en')), `${name}: ${words}`);
  }
}

function plain(text) {
  return text.replace(/\s+/g, ' ').trim();
}

function timeline(visit) {
  return visit.page.locator('.timeline li').evaluateAll((all) => all.map((it) => it.innerText));
}
