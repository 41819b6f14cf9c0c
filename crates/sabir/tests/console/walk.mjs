// Through the whole console of a node that was just started: every view, empty and filled, with the
// pointer and with the keyboard.

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { visiting, walk } from './visit.mjs';

const VIEWS = ['inbox', 'tasks', 'conversations', 'delegates', 'collections', 'policy', 'journal', 'usage'];

const plain = (text) => text.replace(/\s+/g, ' ').trim();

const link = process.argv[2];
await visiting(link, async (visit) => {
  const steps = { door, empties, keyboard, theme, question, artifact, examples, task, research, delegates, policy, journal, filled, leave };
  await walk(visit, steps);
});

/** Nobody gets in without the token, and the token does not stay in the address. */
async function door(visit) {
  const { page } = visit;
  visit.expected.push(/401/);
  await page.goto(visit.link.origin);
  await page.getByRole('heading', { name: 'Sign in to this node' }).waitFor();
  await page.getByLabel('Token').fill('not the token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await visit.look('login');
  await visit.signIn();
  visit.expected.length = 0;
  assert.ok(!page.url().includes('token'), page.url());
  const cookie = (await page.context().cookies()).find(({ name }) => name === 'sabir_session');
  assert.ok(cookie?.httpOnly, JSON.stringify(cookie));
  assert.equal(cookie.sameSite, 'Strict');
  const kept = await page.evaluate(() => [...Object.values(localStorage), ...Object.values(sessionStorage)].join());
  assert.ok(!kept.includes(decodeURIComponent(visit.link.hash.replace('#token=', ''))), 'the token is kept in the browser');
  await page.getByText('Live', { exact: true }).waitFor();
}

/** Each view says something useful when there is nothing to show. */
async function empties(visit) {
  for (const view of VIEWS) {
    await visit.go(`#/${view}`);
    assert.match(await visit.page.title(), new RegExp(`^${view}`, 'i'));
    await visit.look(`${view}-empty`);
  }
  await visit.go('#/collections');
  await visit.page.getByRole('button', { name: 'Load the example pages' }).waitFor();
  await visit.go('#/nowhere');
  await visit.page.getByText('The address leads nowhere').waitFor();
}

/** Everything can be reached without a pointer, also on a narrow screen. */
async function keyboard(visit) {
  const { page } = visit;
  await visit.go('#/inbox');
  await page.reload();
  await visit.settle();
  await page.keyboard.press('Tab');
  assert.equal(await visit.focused(), 'a Skip to the content');
  await page.keyboard.press('Enter');
  assert.match(await visit.focused(), /^main#main/);
  await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  assert.equal(await visit.focused(), 'h1 Tasks');

  await page.setViewportSize({ width: 360, height: 740 });
  const menu = page.getByRole('button', { name: 'Menu' });
  const policy = page.getByRole('navigation').getByRole('link', { name: 'Policy' });
  assert.equal(await policy.isVisible(), false);
  await menu.focus();
  await page.keyboard.press('Enter');
  await policy.waitFor();
  assert.equal(await menu.getAttribute('aria-expanded'), 'true');
  await page.keyboard.press('Escape');
  await policy.waitFor({ state: 'hidden' });
  await page.keyboard.press('Enter');
  await policy.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Policy' }).waitFor();
  await policy.waitFor({ state: 'hidden' });
  await page.setViewportSize({ width: 1400, height: 900 });
}

/** A theme that was chosen stays. */
async function theme(visit) {
  const { page } = visit;
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await visit.go('#/inbox');
  const light = await paper();
  await page.getByLabel('Theme').selectOption('dark');
  const dark = await paper();
  assert.notEqual(dark, light);
  await page.reload();
  await visit.settle();
  assert.equal(await paper(), dark);
  await page.getByLabel('Theme').selectOption('system');
  assert.equal(await paper(), light);
}

/** The example pages answer, and each citation opens the words that it cites. */
async function question(visit) {
  const { page } = visit;
  await visit.go('#/collections');
  await page.getByRole('button', { name: 'Load the example pages' }).click();
  await page.getByRole('heading', { name: 'Sources' }).waitFor();
  await visit.settle();
  assert.ok((await page.locator('.sources li').count()) >= 2, 'the pages are there');
  await page.getByLabel('Your question').fill('How long is it from one high water to the next?');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  const cited = page.locator('.answer-box .citations li').first();
  await cited.waitFor();
  await cited.getByText('Verified').waitFor();
  const quote = plain(await cited.locator('blockquote').innerText());
  await visit.look('collection');

  const opener = cited.getByRole('button');
  await opener.focus();
  await page.keyboard.press('Enter');
  const mark = page.locator('dialog mark');
  await mark.waitFor();
  assert.equal(plain(await mark.innerText()), quote);
  await visit.look('passage');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.equal(await opener.evaluate((it) => it === document.activeElement), true, 'the focus comes back');

  // The mark in the text opens the same.
  await page.locator('.answer-box sup a').first().click();
  await mark.waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** A brief is made, shown and saved. */
async function artifact(visit) {
  const { page } = visit;
  await page.getByLabel('Make of the sources').selectOption('executive_brief');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('dialog .prose').first().waitFor();
  await visit.look('artifact');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('dialog').getByRole('link', { name: /as MD$/ }).click(),
  ]);
  assert.match(download.suggestedFilename(), /\.md$/);
  assert.ok(readFileSync(await download.path(), 'utf8').length > 50);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.locator('.artifacts li').first().waitFor();
}

/** What is offered to begin with does what it says; who gives a task that fits nobody is asked who does it. */
async function examples(visit) {
  const { page } = visit;
  await visit.go('#/tasks');
  const task = page.getByLabel('What is to be done');
  const skill = page.getByLabel('Skill');
  await page.getByRole('button', { name: /^Mend a message/ }).click();
  assert.equal(await skill.inputValue(), 'language.repair');
  await page.getByRole('button', { name: /^Count the tokens of “good morning”/ }).click();
  assert.deepEqual([await task.inputValue(), await skill.inputValue()], ['good morning', 'language.tokens']);
  await page.getByRole('button', { name: 'Give the task' }).click();
  await page.locator('.summary .badge', { hasText: 'Done' }).waitFor();
  // Twelve letters: the words themselves, and no question about them.
  await page.getByRole('region', { name: 'Result' }).getByText('"bytes": 12').waitFor();
  await page.locator('.timeline').getByText('Found this node, researcher, coder, linguist').waitFor();

  await visit.go('#/tasks');
  await task.fill('Write me a poem about ships');
  await page.getByRole('button', { name: 'Give the task' }).click();
  await page.locator('.summary .badge', { hasText: 'Failed' }).waitFor();
  await visit.look('task-nobody');
  await page.getByRole('button', { name: 'Choose who does it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
  assert.equal(await task.inputValue(), 'Write me a poem about ships');
  await skill.selectOption('echo');
  await page.getByRole('button', { name: 'Give the task' }).click();
  await page.locator('.summary .badge', { hasText: 'Done' }).waitFor();

  const durations = await page.evaluate(async () => {
    const { duration } = await import('/assets/format.js');
    return [999.6, 59_960, 119_600, 3_599_800].map(duration);
  });
  assert.deepEqual(durations, ['1.0 s', '1 min 0 s', '2 min 0 s', '1 h 0 min']);
}

/** A task goes to a delegate and comes back with all that is known of it. */
async function task(visit) {
  const { page } = visit;
  await visit.go('#/tasks');
  await page.getByLabel('What is to be done').fill('say hello');
  await page.getByText('Who, how and within which limits').click();
  await page.getByLabel('Skill').selectOption('echo');
  await page.getByLabel('Delegate').selectOption({ label: 'node' });
  await page.getByRole('button', { name: 'Give the task' }).click();
  await page.getByRole('heading', { level: 1, name: 'say hello' }).waitFor();
  await page.locator('.summary .badge', { hasText: 'Done' }).waitFor();
  await visit.settle();
  await page.locator('.timeline li').first().waitFor();
  const terms = await page.locator('main').innerText();
  for (const said of ['Negotiated mode', 'Made by', 'Who was chosen, and why', 'Result', 'hello']) {
    assert.ok(terms.includes(said), `${said} is missing:\n${terms}`);
  }
  await visit.look('task');
}

/** The researcher answers from the example pages, and its citations were checked. */
async function research(visit) {
  const { page } = visit;
  await visit.go('#/tasks');
  await page.getByLabel('What is to be done').fill('How long is it from one high water to the next?');
  await page.getByText('Who, how and within which limits').click();
  await page.getByLabel('Skill').selectOption('research');
  await page.getByLabel('Input').fill('{ "brief": true }');
  await page.getByRole('button', { name: 'Give the task' }).click();
  await page.locator('.summary .badge', { hasText: 'Done' }).waitFor();
  const result = page.getByRole('region', { name: 'Result' });
  await result.locator('.citations li').first().getByText('Verified', { exact: true }).waitFor();
  await page.getByText('researcher', { exact: true }).first().waitFor();
  await visit.look('task-research');
  // A citation opens what it cites, at these words.
  const cited = result.locator('.citations li').first();
  const quote = plain(await cited.locator('blockquote').innerText());
  const opener = cited.getByRole('button', { name: /^Open the passage/ });
  await opener.click();
  const mark = page.locator('dialog mark');
  await mark.waitFor();
  assert.equal(plain(await mark.innerText()), quote);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.equal(await opener.evaluate((it) => it === document.activeElement), true, 'the focus comes back');
  // What it made is where it says.
  await result.getByRole('link', { name: 'Open the collection' }).click();
  await page.getByRole('heading', { level: 1, name: 'Harbour' }).waitFor();
  await page.goBack();
  await result.getByRole('link', { name: 'Open what was made' }).click();
  await page.locator('dialog .prose').first().waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** Those of the node are there; one without a model says so; what was done shows on the map. */
async function delegates(visit) {
  const { page } = visit;
  await visit.go('#/delegates');
  for (const name of ['researcher', 'coder', 'linguist']) await page.getByRole('region', { name, exact: true }).waitFor();
  await page.getByRole('region', { name: 'coder', exact: true }).getByText('No model', { exact: true }).waitFor();
  await page.locator('.map-node').first().waitFor();
  await visit.look('delegates');
  await page.getByRole('tab', { name: /^Map/ }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('table', { name: /^Delegations/ }).waitFor();
  await page.getByLabel('Address', { exact: true }).fill('http://127.0.0.1:9');
  visit.expected.push(/50[0-9]|409|400/);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText(/unreachable|was not added|did not answer/i).first().waitFor();
  await visit.settle();
  visit.expected.length = 0;
}

/** The gate says what it would decide, and why. */
async function policy(visit) {
  const { page } = visit;
  await visit.go('#/policy');
  await page.getByLabel('Tool', { exact: true }).fill('shell');
  await page.getByLabel('Arguments', { exact: true }).fill('{"command": ["rm", "-rf", "build"]}');
  await page.getByRole('button', { name: 'Ask the gate' }).click();
  await page.locator('.verdict .badge').waitFor();
  assert.match(await page.locator('.verdict').innerText(), /Asks|Refused/);
  await page.getByLabel('Arguments', { exact: true }).fill('{"command": ');
  await page.getByRole('button', { name: 'Ask the gate' }).click();
  await page.getByText('The arguments are no JSON').waitFor();
  const table = page.getByRole('table', { name: /What the gate says/ });
  await page.getByLabel('Find', { exact: true }).fill('apply_patch');
  assert.ok((await table.getByRole('row').count()) >= 2);
  assert.equal(await table.getByText('shell', { exact: true }).count(), 0);
}

/** A line can be read in four languages, each with its cost. */
async function journal(visit) {
  const { page } = visit;
  await visit.go('#/journal?kind=event');
  await page.locator('.line-button').first().click();
  await page.locator('dialog [role=tab]').first().waitFor();
  const seen = new Set();
  for (const tongue of ['English', 'JSON', 'AXON', 'LLMX']) {
    const tab = page.getByRole('tab', { name: new RegExp(`^${tongue}`) });
    await tab.waitFor();
    assert.match(await tab.innerText(), /\d/, `${tongue} has a price`);
    if (tongue === 'English') await tab.focus();
    else await page.keyboard.press('ArrowRight');
    assert.equal(await tab.getAttribute('aria-selected'), 'true', tongue);
    seen.add(await page.locator('dialog [role=tabpanel] code').first().innerText());
  }
  assert.equal(seen.size, 4, 'the languages differ');
  await visit.look('journal-line');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });

  // A row that is too large for a notation is shown as it is, and says so.
  const rows = /\/api\/journal\/[^/]+\/\d+/;
  await page.route(rows, async (route) => {
    const answer = await route.fetch();
    const json = { ...(await answer.json()), forms: null, tokens: null, why_no_forms: 'it is too large' };
    await route.fulfill({ response: answer, json });
  });
  await page.locator('.line-button').first().click();
  await page.getByText('it is too large').waitFor();
  await page.getByRole('tab', { name: /^JSON/ }).click();
  await page.locator('dialog [role=tabpanel] code').first().waitFor();
  await page.unroute(rows);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** The views once more, now that something has happened. */
async function filled(visit) {
  for (const view of VIEWS) {
    await visit.go(`#/${view}`);
    await visit.look(view);
  }
}

/** Who signs out is out. */
async function leave(visit) {
  const { page } = visit;
  visit.expected.push(/401/);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to this node' }).waitFor();
  assert.equal(await page.evaluate(async () => (await fetch('/api/me')).status), 401);
}
