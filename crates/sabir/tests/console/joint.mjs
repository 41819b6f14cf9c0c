// What the scripts about the joints share: a person who gives tasks and watches them, in a page that
// stays open while nodes are killed and started; and wishes, which whoever runs the script fulfils.

import { strict as assert } from 'node:assert';
import { createInterface } from 'node:readline';
import { visiting, walk } from './visit.mjs';

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Asks whoever runs the script for something, and waits until it is done. */
export async function wish(what, ...more) {
  console.log(JSON.stringify([what, ...more]));
  return JSON.parse((await answers.next()).value);
}

/** What a command prints as JSON: one value, or one on each line. */
export async function sabir(...args) {
  const { code, stdout, stderr } = await wish('sabir', ...args);
  assert.equal(code, 0, `sabir ${args.join(' ')}: ${stderr}`);
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }
}

/** Signs in, does these steps, and ends. */
export async function joint(steps) {
  await visiting(process.argv[2], async (visit) => {
    await visit.signIn();
    await walk(visit, steps);
  });
  // Nobody has to be asked any more, and that line would stay open.
  process.exit(0);
}

/** Gives a task as a person does, and says which order it became. */
export async function give(visit, { task, skill, tokens, seconds, input }) {
  const { page } = visit;
  await visit.go('#/tasks');
  await page.getByLabel('What is to be done').fill(task);
  await page.getByText('Who, how and within which limits').click();
  if (skill) await page.getByLabel('Skill').selectOption(skill);
  if (tokens) await page.getByLabel('Most tokens').fill(String(tokens));
  if (seconds) await page.getByLabel('Most seconds').fill(String(seconds));
  if (input) await page.getByLabel('Input').fill(JSON.stringify(input));
  await page.getByRole('button', { name: 'Give the task' }).click();
  await page.waitForURL(/#\/tasks\/order-/);
  const id = orderOf(page);
  await visit.settle();
  return id;
}

export const orderOf = (page) => decodeURIComponent(new URL(page.url()).hash.replace('#/tasks/', ''));

/** Waits until the task that is looked at has this state. */
export async function stands(visit, state) {
  await visit.page.locator('.summary .badge').getByText(state, { exact: true }).waitFor();
}

/** Waits until the course of the task that is looked at says this. */
export async function told(visit, words) {
  await visit.page.locator('.timeline').getByText(words).first().waitFor();
}

/** Waits for the question, looks at all of it, and answers. */
export async function decide(visit, shows, answer) {
  const matter = visit.page.locator('.matter').filter({ hasText: shows });
  await matter.waitFor();
  await matter.getByRole('button', { name: answer, exact: true }).click();
}

/** Names and values under a heading. */
export async function facts(visit, region) {
  const rows = visit.page.getByRole('region', { name: region, exact: true }).locator('dl.facts > div');
  await rows.first().waitFor();
  return Object.fromEntries(await rows.evaluateAll((all) => all.map((row) => [
    row.querySelector('dt').innerText.trim(), row.querySelector('dd').innerText.trim(),
  ])));
}

/**
 * Kills the node with the page open, does something while nobody is there, and starts it again. The page
 * finds it, and stays where it was.
 */
export async function killed(visit, meanwhile = async () => {}) {
  const { page } = visit;
  const place = new URL(page.url()).hash;
  // Whatever is asked while nobody is there fails, and that is what is tested.
  visit.expected.push(/ERR_|401|Failed to load/);
  await wish('kill');
  await page.getByText(/No connection|Connecting/).waitFor();
  await meanwhile();
  await wish('start');
  await found(visit);
  await visit.go(place);
}

/** Until the page is connected; a node that forgot who was signed in says so, and the link still holds. */
export async function found(visit) {
  const { page } = visit;
  const live = page.getByText('Live', { exact: true });
  const out = page.getByRole('heading', { name: 'Sign in to this node' });
  await live.or(out).first().waitFor();
  if (await out.isVisible()) await visit.signIn();
  await live.waitFor();
}
