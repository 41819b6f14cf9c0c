// What a delegate delivered: an answer with its citations where it is one, otherwise as it is.

import { clip, counted, json } from '../format.js';
import { html, useState } from '../lib.js';
import { Badge, Boundary, Fold, Note } from '../parts.js';
import { to } from '../route.js';
import { Prose, Shown } from '../text.js';
import { Passage } from './passage.js';

/** Whatever a delegate makes of it, it is there as JSON. */
export function Result({ output }) {
  return html`<${Boundary} what="The result" otherwise=${html`<${Json} value=${output} />`}><${Delivered} output=${output} /><//>`;
}

function Delivered({ output }) {
  if (typeof output === 'string') return html`<${Prose} text=${output} />`;
  if (output && (typeof output.answer === 'string' || idOf(output.artifact))) return html`<${Answer} output=${output} />`;
  const text = output?.text ?? output?.message ?? output?.result ?? output?.instruction;
  const isOnlyText = typeof text === 'string' && Object.keys(output).length <= 2;
  if (isOnlyText) return html`<${Prose} text=${text} /><${Fold} title="As JSON"><${Json} value=${output} /><//>`;
  return html`<${Json} value=${output} />`;
}

function Json({ value }) {
  return html`<pre class="code wrap" tabindex="0" role="group" aria-label="Result as JSON"><code><${Shown} text=${json(value)} /></code></pre>`;
}

/** A delegate names what it made by its id, or by its id and title. */
const idOf = (made) => [made, made?.id].find((id) => typeof id === 'string' && id !== '');
/** Of a list that somebody else wrote, what can be looked into. */
const listOf = (said) => (Array.isArray(said) ? said.filter((it) => it !== null && typeof it === 'object') : []);
const textOf = (said) => (said == null || typeof said === 'string' ? said : json(said));

function Answer({ output }) {
  const [citations, refused, failed] = [output.citations, output.refused, output.failed].map(listOf);
  const collection = idOf(output.collection);
  const artifact = idOf(output.artifact);
  const [passage, open] = useState(null);
  return html`${output.answer ? html`<${Prose} text=${output.answer} />` : html`<p>${artifact ? html`Made: <strong><${Shown} text=${textOf(output.artifact.title) ?? 'an artifact'} /></strong>` : 'The answer is empty.'}</p>`}
    ${failed.length > 0 && html`<${Note} tone="warn" title=${`${counted(failed.length, 'page was', 'pages were')} not captured.`}>
      <ul>${failed.map(({ url, why }, at) => html`<li key=${at}><span class="breakable"><${Shown} text=${textOf(url)} /></span>: <${Shown} text=${textOf(why)} /></li>`)}</ul><//>`}
    ${citations.length > 0 && html`<h3>Citations</h3><ol class="citations">${citations.map((cited, at) => html`<li key=${at}>
      <blockquote><${Shown} text=${textOf(cited.quote)} /></blockquote>
      <p class="citation-foot"><${Badge} state=${cited.status} />
        ${cited.version_id && cited.start != null && html`<button type="button" class="link" onClick=${() => open(cited)} aria-label=${`Open the passage of citation ${cited.number ?? at + 1}`}>Open the passage</button>`}
        <span class="soft">${sourceOf(cited)}</span></p>
    </li>`)}</ol>`}
    ${refused.length > 0 && html`<${Note} tone="bad" title=${refused.length === 1 ? 'One call was refused.' : `${refused.length} calls were refused.`}>
      <ul>${refused.map(({ tool, why }, at) => html`<li key=${at}><code><${Shown} text=${textOf(tool)} /></code>: <${Shown} text=${textOf(why)} /></li>`)}</ul><//>`}
    <p class="actions">
      ${collection && artifact && html`<a class="button primary" href=${to('collections', collection, { artifact })}>Open what was made</a>`}
      ${collection && html`<a class="button" href=${to('collections', collection)}>Open the collection</a>`}
    </p>
    <${Fold} title="As JSON"><${Json} value=${output} /><//>
    ${passage && html`<${Passage} of=${passage} onClose=${() => open(null)} />`}`;
}

function sourceOf({ source, title, url }) {
  const name = textOf(title ?? (typeof source === 'string' ? source : source?.title) ?? url) ?? '';
  const shown = html`<${Shown} text=${clip(name || url, 100)} />`;
  return typeof url === 'string' && /^https?:/.test(url) ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${shown}</a>` : shown;
}
