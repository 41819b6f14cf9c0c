// What people do to a page without thinking: they click twice, go back, load it anew, lose their
// session in the middle of a sentence, open it in two tabs, and paste what nobody expected.

import { strict as assert } from 'node:assert';
import { visiting, walk } from './visit.mjs';

const heading = (page, name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const task = (page) => page.getByLabel('What is to be done');

const link = process.argv[2];
await visiting(link, async (visit) => {
  await visit.signIn();
  const steps = { welcome, shortcuts, history, twice, refused, ended, tabs, passages, lines, copied, strange };
  await walk(visit, steps);
});

/** Whoever is here for the first time is told what this is, and the first thing to do is one click. */
async function welcome(visit) {
  const { page } = visit;
  const panel = page.getByRole('region', { name: 'Welcome to Sabir' });
  await panel.waitFor();
  assert.equal(await panel.locator('.button.primary').count(), 1, 'one thing stands out');
  await visit.look('welcome');
  await panel.getByRole('button', { name: 'Load the example pages' }).click();
  await page.getByRole('heading', { name: 'Sources' }).waitFor();
  // A question stands there already: one more click, and there is an answer.
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.locator('.answer-box .citations li').first().getByText('Verified').waitFor();
  await visit.go('#/inbox');
  await page.getByText('Nothing waits for you').waitFor();
  assert.equal(await panel.count(), 0, 'nobody is welcomed twice');
}

/** Keys lead everywhere, do nothing while one types, and can be switched off. */
async function shortcuts(visit) {
  const { page } = visit;
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await heading(page, 'Tasks');
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  await page.keyboard.press('/');
  await page.keyboard.type('g j ? /');
  assert.equal(await task(page).inputValue(), 'g j ? /');
  await task(page).fill('');
  await page.getByRole('heading', { level: 1 }).focus();
  await page.keyboard.press('?');
  const dialog = page.locator('dialog');
  await dialog.waitFor();
  await visit.look('shortcuts');
  await dialog.getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.keyboard.press('?');
  await page.getByRole('button', { name: 'Keyboard' }).click();
  await dialog.waitFor();
  await heading(page, 'Tasks');
  await dialog.getByRole('checkbox').check();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

/** Back and forward lead where one was, and what one had begun to type is still there. */
async function history(visit) {
  const { page } = visit;
  await visit.go('#/tasks');
  await task(page).fill('half a sentence');
  await visit.go('#/usage?days=7');
  assert.equal(await page.getByLabel('How far back').inputValue(), '7');
  await page.goBack();
  await heading(page, 'Tasks');
  assert.equal(await task(page).inputValue(), 'half a sentence');
  await page.goForward();
  await heading(page, 'Usage');
}

/** Who clicks twice gives one task. */
async function twice(visit) {
  const { page } = visit;
  const sent = [];
  const note = (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  };
  await visit.go('#/tasks');
  await task(page).fill('say hello twice');
  await page.getByText('Who, how and within which limits').click();
  await page.getByLabel('Skill').selectOption('echo');
  page.on('request', note);
  await page.getByRole('button', { name: 'Give the task' }).dblclick();
  await heading(page, 'say hello twice');
  await page.locator('.summary .badge', { hasText: 'Done' }).waitFor();
  page.off('request', note);
  assert.deepEqual(sent, ['/api/orders']);
  await visit.go('#/tasks');
  assert.equal(await page.locator('.list-item', { hasText: 'say hello twice' }).count(), 1);
  assert.equal(await task(page).inputValue(), '', 'what was sent is no draft any more');
}

/** What the node does not take stays where it was typed, with the reason below it. */
async function refused(visit) {
  const { page } = visit;
  await visit.go('#/tasks');
  await task(page).fill('wait for me');
  await page.route('**/api/orders', (route) => route.fulfill({
    status: 503, contentType: 'application/json', body: JSON.stringify({ error: { code: 'busy', message: 'too much is under way' } }),
  }), { times: 1 });
  visit.expected.push(/503/);
  await task(page).press('Control+Enter');
  await page.getByRole('alert').getByText('Too much is under way').waitFor();
  assert.equal(await task(page).inputValue(), 'wait for me');
  visit.expected.length = 0;
}

/** Whoever is signed out in the middle is told why, and is back where they were when they return. */
async function ended(visit) {
  const { page } = visit;
  visit.expected.push(/401/);
  await signedOut(page);
  // It has the focus once it is drawn.
  await page.locator('h1:focus').filter({ hasText: 'Sign in to this node' }).waitFor();
  await visit.look('signed-out');
  const token = decodeURIComponent(visit.link.hash.replace('#token=', ''));
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await heading(page, 'Tasks');
  assert.equal(await task(page).inputValue(), 'wait for me');
  // The link does the same in a page that is open already.
  await signedOut(page);
  await page.evaluate((hash) => {
    location.hash = hash;
  }, visit.link.hash);
  await heading(page, 'Tasks');
  assert.equal(await task(page).inputValue(), 'wait for me');
  assert.equal(new URL(page.url()).hash, '#/tasks');
  visit.expected.length = 0;
  // Who leaves by themselves leaves nothing behind.
  visit.expected.push(/401/);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').fill(token);
  assert.equal(await page.getByText('You are signed out.').count(), 0);
  await page.keyboard.press('Enter');
  await heading(page, 'Tasks');
  assert.equal(await task(page).inputValue(), '');
  visit.expected.length = 0;
}

/** The next request of the page is refused, whether a key makes it or the page itself is faster. */
async function signedOut(page) {
  await task(page).focus();
  await page.context().clearCookies();
  await page.keyboard.press('Control+Enter');
  await page.getByText('You are signed out.').waitFor();
}

/** A second tab that signs in by the link takes nothing from the first. */
async function tabs(visit) {
  const { page } = visit;
  await visit.go('#/collections');
  visit.expected.push(/40[13]/);
  const second = await page.context().newPage();
  await second.goto(String(visit.link));
  await second.locator('.shell h1').waitFor();
  await page.getByLabel('Name').fill('Of the first tab');
  await page.getByRole('button', { name: 'Begin', exact: true }).click();
  await heading(page, 'Of the first tab');
  // The other one hears of it.
  await second.evaluate(() => {
    location.hash = '#/collections';
  });
  await second.getByRole('link', { name: 'Of the first tab' }).waitFor();
  await second.close();
  visit.expected.length = 0;
}

/** A passage has an address: it is there after the page was loaded anew, and the way back closes it. */
async function passages(visit) {
  const { page } = visit;
  await visit.go('#/collections');
  await page.locator('.list-main', { hasNotText: 'first tab' }).first().click();
  await page.getByLabel('Your question').fill('How long is it from one high water to the next?');
  await page.keyboard.press('Control+Enter');
  const opener = page.locator('.answer-box .citations li').first().getByRole('button');
  await opener.click();
  const mark = page.locator('dialog mark');
  await mark.waitFor();
  const quote = await mark.innerText();
  await page.goBack();
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.equal(await opener.evaluate((it) => it === document.activeElement), true, 'the focus comes back');
  await page.goForward();
  await mark.waitFor();
  await page.reload();
  await mark.waitFor();
  assert.equal(await mark.innerText(), quote);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByLabel('Your question').waitFor();
}

/** So has a line of the journal; and marking its words does not close it. */
async function lines(visit) {
  const { page } = visit;
  await visit.go('#/journal?kind=event');
  await page.locator('.line-button').first().click();
  const dialog = page.locator('dialog');
  await dialog.locator('[role=tab]').first().waitFor();
  assert.match(page.url(), /seq=\d+/);
  const box = await dialog.locator('pre').first().boundingBox();
  await page.mouse.move(box.x + 20, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(2, 2);
  await page.mouse.up();
  assert.equal(await dialog.count(), 1, 'it stays open');
  await page.reload();
  await dialog.locator('[role=tab]').first().waitFor();
  await page.mouse.click(2, 2);
  await dialog.waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).hash, '#/journal?kind=event');
}

/** Long names are short on the page and whole on the clipboard. */
async function copied(visit) {
  const { page } = visit;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await visit.go('#/tasks');
  await page.locator('.list-main').first().click();
  await page.getByRole('button', { name: 'Copy the name of the task' }).click();
  await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' });
  const id = decodeURIComponent(new URL(page.url()).hash.split('/').at(-1));
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), id);
  assert.ok(!(await page.locator('.summary .id').innerText()).includes(id));
}

/** Words without a place to break, and words from right to left, stay inside of the page. */
async function strange(visit) {
  const { page } = visit;
  const names = ['w'.repeat(180), 'ميناء المدينة القديمة 42'];
  for (const name of names) {
    await visit.go('#/collections');
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Begin', exact: true }).click();
    await heading(page, name);
    await visit.look(`strange-${names.indexOf(name)}`);
  }
  await visit.go('#/collections');
  await visit.look('strange');
}
