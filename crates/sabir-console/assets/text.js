// Texts of others, shown so that they cannot pretend: what is hidden in them is spelled out, diffs
// are marked line by line, and Markdown becomes elements without ever being HTML.

import { counted, sentence } from './format.js';
import { classes, html } from './lib.js';

/** What a reader does not see or what turns the direction of text; tabs and line ends are no secret. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
const UNSEEN_ALL = new RegExp(UNSEEN.source, 'gu');
/** These join letters of some scripts and parts of pictures; between others they only hide. */
const JOINERS = '\u200c\u200d\ufe0e\ufe0f';

/** More pieces than anybody looks at one by one. What is beyond them is shown in full, and plainly. */
const MOST_SPELLED = 1_000;
const MOST_LINES = 5_000;
const MOST_LETTERS = 200_000;

function isSecret(text, at, letter) {
  if (letter === '\n' || letter === '\t') return false;
  if (!JOINERS.includes(letter)) return true;
  const before = text[at - 1] ?? '';
  const after = text[at + letter.length] ?? '';
  return before <= '\u007f' || (after <= '\u007f' && letter <= '\u200d');
}

/** Text with everything that is hidden in it spelled out: for what somebody decides about. */
export function Shown({ text }) {
  const whole = String(text ?? '').replace(/\r\n/g, '\n');
  if (!UNSEEN.test(whole)) return whole;
  const [parts, rest] = [[], []];
  let from = 0;
  for (const found of whole.matchAll(UNSEEN_ALL)) {
    const letter = found[0];
    if (!isSecret(whole, found.index, letter)) continue;
    const code = letter.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    const mark = `U+${code}`;
    const before = whole.slice(from, found.index);
    from = found.index + letter.length;
    if (parts.length < MOST_SPELLED) parts.push(before, html`<span class="unseen" title="a character that is not seen">${mark}</span>`);
    else rest.push(before, `[${mark}]`);
  }
  rest.push(whole.slice(from));
  return [...parts, rest.join('')];
}

/** A unified diff, a patch of an agent, or a question about changes of files. */
const LOOKS_LIKE_DIFF = /^(@@ .*@@|--- \S|\*\*\* (Begin Patch|Update File|Add File|Delete File))|^change .*\n(add|delete|change) /m;

export function isDiff(text) {
  return LOOKS_LIKE_DIFF.test(text ?? '');
}

function kindOf(line) {
  if (/^(\+\+\+|---) /.test(line) || /^(diff|index|\*\*\*|add|delete|change) /.test(line)) return 'file';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return '';
}

/** A diff, line by line. The signs stay, so that colour is never the only mark. */
export function Diff({ text, label = 'Changes' }) {
  const lines = String(text ?? '').replace(/\n$/, '').split('\n');
  const rest = lines.splice(MOST_LINES).join('\n');
  return html`<pre class="code diff" tabindex="0" role="group" aria-label=${label}><code>${lines.map(
    (line) => html`<span class=${classes('line', kindOf(line))}><${Shown} text=${line} />${'\n'}</span>`,
  )}${rest && html`<${Shown} text=${rest} />`}</code></pre>`;
}

/** What is decided about, in full: as a diff where it is one. */
export function Matter({ text, label }) {
  return isDiff(text)
    ? html`<${Diff} text=${text} label=${label} />`
    : html`<pre class="code wrap" tabindex="0" role="group" aria-label=${label}><code><${Shown} text=${text} /></code></pre>`;
}

/** What becomes of files, as the engine says it. */
export function Changes({ changes }) {
  return Object.entries(changes ?? {}).map(([path, change]) => {
    const [kind, said] = Object.entries(change)[0] ?? ['', {}];
    const prefixed = (sign) => String(said.content ?? '').replace(/\n$/, '').split('\n').map((line) => sign + line).join('\n');
    const [verb, text] = {
      add: ['new file', prefixed('+')],
      delete: ['deleted', prefixed('-')],
      update: [said.move_path ? `moved to ${said.move_path}` : 'changed', said.unified_diff],
    }[kind] ?? [kind, JSON.stringify(said)];
    return html`<section class="change" key=${path}>
      <p class="change-path"><code><${Shown} text=${path} /></code> <span class="soft">${verb}</span></p>
      <${Diff} text=${text} label=${`Changes of ${path}`} />
    </section>`;
  });
}

/** Where a text is cut that is too long to be drawn in pieces. */
function endOfDrawn(whole) {
  let end = 0;
  for (let lines = 0; lines < MOST_LINES; lines += 1) {
    const next = whole.indexOf('\n', end);
    if (next < 0 || next >= MOST_LETTERS) return whole.length <= MOST_LETTERS ? whole.length : end || MOST_LETTERS;
    end = next + 1;
  }
  return end;
}

/** What a model wrote: paragraphs, lists, headings and code, and nothing that acts. */
export function Prose({ text }) {
  const blocks = [];
  const whole = String(text ?? '').replace(/\r\n?/g, '\n');
  const end = endOfDrawn(whole);
  const lines = whole.slice(0, end).split('\n');
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = line.match(/^\s*(```+|~~~+)/);
    const heading = line.match(/^(#{1,6})\s+(.*)/);
    if (fence) {
      const code = [];
      for (at += 1; at < lines.length && !lines[at].trimStart().startsWith(fence[1]); at += 1) code.push(lines[at]);
      at += 1;
      const body = code.join('\n');
      blocks.push(isDiff(body) ? html`<${Diff} text=${body} />` : html`<pre class="code" tabindex="0"><code>${body}</code></pre>`);
    } else if (heading) {
      blocks.push(html`<p class="prose-heading"><strong>${inline(heading[2])}</strong></p>`);
      at += 1;
    } else if (ITEM.test(line)) {
      const items = [];
      const isOrdered = /^\s*\d/.test(line);
      for (; at < lines.length && ITEM.test(lines[at]); at += 1) {
        items.push(html`<li>${inline(lines[at].replace(ITEM, ''))}</li>`);
      }
      blocks.push(isOrdered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`);
    } else if (line.trim() === '') {
      at += 1;
    } else {
      const paragraph = [];
      while (at < lines.length && lines[at].trim() !== '' && !ITEM.test(lines[at]) && !/^\s*(```|~~~|#{1,6}\s)/.test(lines[at])) {
        paragraph.push(lines[at]);
        at += 1;
      }
      blocks.push(html`<p>${inline(paragraph.join('\n'))}</p>`);
    }
  }
  const rest = whole.slice(end);
  return html`<div class="prose">${blocks}${rest && html`<details class="fold"><summary>The rest, ${counted(rest.length, 'letter')}</summary><pre class="code wrap" tabindex="0"><code>${rest}</code></pre></details>`}</div>`;
}

/** What the node says in a sentence, with commands in it as such. */
export const Words = ({ text }) => inline(sentence(text));

const ITEM = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/;

function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part) => {
    if (part.length > 2 && part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.length > 4 && part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
    return part;
  });
}
