// What an agent may not do alone waits for a person: in a conversation, and in a task that went to
// the coder. Both are answered where they are shown.

import { strict as assert } from 'node:assert';
import { visiting, walk } from './visit.mjs';

const [link, workspace] = process.argv.slice(2);
await visiting(link, async (visit) => {
  await visit.signIn();
  await walk(visit, { conversation, task, blocker, usage });
});

async function conversation(visit) {
  const { page } = visit;
  await visit.go('#/conversations');
  await page.getByLabel('What do you want').fill('Greet me in a file.');
  await page.getByText('Model and folder').click();
  await page.getByLabel('Folder').fill(workspace);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const matter = page.locator('.matter');
  await matter.waitFor();
  const place = new URL(page.url()).hash;
  assert.match(await matter.innerText(), /talked\.txt[^]*\+hello/, 'all of it is shown');
  await page.locator('.transcript').getByText('Waits for approval').waitFor();
  // It waits in the inbox as well, and the menu says so.
  await page.getByRole('navigation').getByRole('link', { name: /Inbox.*1/ }).click();
  await matter.waitFor();
  await visit.look('inbox-waiting');
  await visit.go(place);
  await matter.waitFor();
  await visit.look('conversation-waiting');
  await matter.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.locator('.transcript').getByText('There is one file now.').waitFor();
  await matter.waitFor({ state: 'detached' });
  const command = page.locator('.call', { has: page.getByText('ls', { exact: true }) });
  await command.getByText(/exit code/).waitFor();
  await page.getByText('Waiting for you', { exact: true }).waitFor();
  // What was whole is read out.
  await page.getByRole('status').filter({ hasText: 'The agent says' }).waitFor({ state: 'attached' });
  // The same after the page is opened anew.
  await page.reload();
  await page.locator('.transcript').getByText('There is one file now.').waitFor();
  assert.equal(await page.locator('.transcript > li.said').count(), 2);
  await visit.look('conversation');
}

async function task(visit) {
  const { page } = visit;
  await visit.go('#/tasks');
  await page.getByLabel('What is to be done').fill('Greet me in another file.');
  await page.getByText('Who, how and within which limits').click();
  await page.getByLabel('Skill').selectOption('code');
  await page.getByRole('button', { name: 'Give the task' }).click();
  const matter = page.locator('.matter');
  await matter.waitFor();
  assert.match(await matter.innerText(), /delegated\.txt[^]*\+hello/, 'all of it is shown');
  await visit.look('task-waiting');
  await matter.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.locator('.summary .badge', { hasText: 'Done' }).waitFor();
  await page.getByRole('region', { name: 'Result' }).getByText('The file is there.').waitFor();
  const shown = await page.locator('main').innerText();
  for (const said of ['Negotiated mode', 'Tokens', 'Made by', 'Who was chosen, and why']) {
    assert.ok(shown.includes(said), `${said} is missing:\n${shown}`);
  }
  await visit.look('task-approved');
}

/** An agent that cannot go on is told what to do, in words. */
async function blocker(visit) {
  const { page } = visit;
  await visit.go('#/tasks');
  await page.getByLabel('What is to be done').fill('Send it to the printer.');
  await page.getByText('Who, how and within which limits').click();
  await page.getByLabel('Skill').selectOption('code');
  await page.getByRole('button', { name: 'Give the task' }).click();
  const matter = page.locator('.matter');
  await matter.getByText('Blocked', { exact: true }).waitFor();
  await matter.getByLabel('What the agent is told').fill('Take the one in the hall.');
  await visit.look('task-blocked');
  // What is typed is still there after a look elsewhere.
  const place = new URL(page.url()).hash;
  await visit.go('#/inbox');
  await visit.go(place);
  assert.equal(await matter.getByLabel('What the agent is told').inputValue(), 'Take the one in the hall.');
  await matter.getByRole('button', { name: 'Go on', exact: true }).click();
  await page.locator('.summary .badge', { hasText: 'Done' }).waitFor();
  await page.getByRole('region', { name: 'Result' }).getByText('It is printed.').waitFor();
}

async function usage(visit) {
  const { page } = visit;
  await visit.go('#/usage');
  await page.locator('.uplot canvas').first().waitFor();
  await visit.look('usage-plot');
  const tokens = page.getByRole('region', { name: 'Tokens', exact: true });
  await tokens.getByRole('tab', { name: 'Table' }).click();
  assert.match(await tokens.getByRole('table').innerText(), /1,280|2,560|3,840|\d,\d{3}/);
}
