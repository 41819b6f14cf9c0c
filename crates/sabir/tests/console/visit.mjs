// A visit to the console in a real browser, by somebody who lets nothing pass: an error in the
// console of the browser, a request to elsewhere, a view that is wider than the screen, and whatever
// axe-core finds are failures. It knows how to look, not what to look for.

import { strict as assert } from 'node:assert';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const packages = createRequire(join(told('SABIR_TESTS_BROWSER_DRIVER'), 'package.json'));
const { chromium } = packages('playwright-core');
const axe = readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8');

/** Far more than anything needs, even on a machine that is busy with something else. */
const PATIENCE_MS = 60_000;
const WIDTHS = [360, 768, 1440];
const THEMES = ['light', 'dark'];

export function told(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

/** Starts a browser, does the work, and ends it whatever happens. */
export async function visiting(link, work) {
  const pictures = told('SABIR_TESTS_PICTURES');
  mkdirSync(pictures, { recursive: true });
  // A browser that belongs to root does not start inside of its own sandbox.
  const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath: told('SABIR_TESTS_BROWSER'), args, timeout: 2 * PATIENCE_MS });
  try {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, acceptDownloads: true });
    context.setDefaultTimeout(PATIENCE_MS);
    const visit = new Visit(await context.newPage(), new URL(link), pictures);
    await work(visit);
    visit.assertQuiet();
  } finally {
    await browser.close();
  }
}

/** Does these steps, one after the other, and says which are done. One that fails leaves a picture. */
export async function walk(visit, steps) {
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step(visit);
      visit.assertQuiet();
    } catch (error) {
      await visit.page.screenshot({ path: join(visit.pictures, `failed-${name}.png`), fullPage: true }).catch(() => {});
      throw new Error(`${name}: ${error.message}`, { cause: error });
    }
    console.log(name);
  }
}

class Visit {
  /** What may go wrong from here on, because it is what is tested. */
  expected = [];
  problems = [];
  findings = new Set();

  constructor(page, link, pictures) {
    this.page = page;
    this.link = link;
    this.pictures = pictures;
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.#note(`${message.type()}: ${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.#note(`error: ${error.stack ?? error}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http') && url.origin !== link.origin) this.problems.push(`a request left the node: ${url}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 500) this.#note(`${response.status()}: ${response.url()}`);
    });
  }

  #note(text) {
    if (!this.expected.some((pattern) => pattern.test(text))) this.problems.push(text);
  }

  assertQuiet() {
    assert.deepEqual(this.problems, []);
  }

  /** Signs in with the link that the node gave. */
  async signIn() {
    await this.page.goto(String(this.link));
    await this.page.locator('.shell h1').waitFor();
  }

  /** Goes where a link of the page would lead, and waits until it is there. */
  async go(place) {
    await this.page.evaluate((hash) => {
      location.hash = hash;
    }, place);
    await this.settle();
  }

  /** Waits until the view has what it shows. */
  async settle() {
    await this.page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main .loading, dialog .loading'));
    await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  }

  /** What the node says to the page at this path. */
  see(path) {
    return this.page.evaluate(async (from) => (await fetch(from)).json(), path);
  }

  /** Looks at what is shown in every width and both themes: pictures, width, axe-core. */
  async look(name) {
    for (const theme of THEMES) {
      await this.page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      for (const width of WIDTHS) {
        await this.page.setViewportSize({ width, height: 900 });
        await this.settle();
        const where = `${name}, ${theme}, ${width} px`;
        const beyond = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(beyond, 0, `${where}: wider than the screen by ${beyond} px`);
        // What stays at the top of the screen would be drawn in the middle of the picture.
        await this.page.evaluate(() => scrollTo(0, 0));
        await this.page.screenshot({ path: join(this.pictures, `${name}-${theme}-${width}.png`), fullPage: true });
        await this.#check(where);
      }
    }
    await this.page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
    await this.page.setViewportSize({ width: 1400, height: 900 });
    assert.deepEqual([...this.findings], [], name);
  }

  async #check(where) {
    if (!(await this.page.evaluate(() => 'axe' in window))) await this.page.evaluate(axe);
    const violations = await this.page.evaluate(async () => {
      const { violations: found } = await window.axe.run(document, { resultTypes: ['violations'] });
      // Documents of others have the headings that they have.
      const isOurs = (id) => ({ target }) => id !== 'heading-order' || !document.querySelector(target[0])?.closest('.prose');
      return found
        .map(({ id, impact, help, nodes }) => ({ id, impact, help, where: nodes.filter(isOurs(id)).map(({ html }) => html.slice(0, 200)).slice(0, 3) }))
        .filter(({ where }) => where.length > 0);
    });
    for (const { id, impact, help, where: nodes } of violations) {
      this.findings.add(`${where}: ${impact} ${id}: ${help}\n  ${nodes.join('\n  ')}`);
    }
  }

  /** What has the focus, in words. */
  focused() {
    return this.page.evaluate(() => {
      const at = document.activeElement;
      return `${at.tagName.toLowerCase()}${at.id ? `#${at.id}` : ''} ${(at.getAttribute('aria-label') ?? at.textContent ?? '').trim().slice(0, 60)}`.trim();
    });
  }
}
