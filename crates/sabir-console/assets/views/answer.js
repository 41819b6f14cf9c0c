// An answer with its citations, each of which opens the passage that it cites, and with what the model
// wanted to do.

import { clip, counted, words } from '../format.js';
import { html } from '../lib.js';
import { Badge, Fold, Note, SafeHtml, Table, Td, Th, Tr } from '../parts.js';
import { Prose, Shown } from '../text.js';

/** What it is called where models have names. */
const BUILT_IN = 'extractive';

export function Answer({ answer, onPassage, level = 4 }) {
  const Heading = `h${level}`;
  const { citations = [], calls = [], notes = [] } = answer;
  const cite = (number) => {
    const cited = citations.find((it) => (it.n ?? it.number) === number);
    if (cited) onPassage(cited);
  };
  const refused = (calls ?? []).filter(({ outcome }) => outcome === 'deny' || outcome === 'refused');
  return html`<div class="answer">
    ${answer.title && html`<p class="answer-title"><${Shown} text=${answer.title} /></p>`}
    ${answer.html != null ? html`<${SafeHtml} text=${answer.html} onCite=${cite} />` : answer.text ? html`<${Prose} text=${answer.text} />` : null}
    ${refused.length > 0 && html`<${Note} tone="bad" title=${`${counted(refused.length, 'call was', 'calls were')} refused by the gate.`}>
      <ul>${refused.map(({ tool, why, reason }, at) => html`<li key=${at}><code>${tool}</code>: <${Shown} text=${why ?? reason} /></li>`)}</ul><//>`}
    ${(notes ?? []).length > 0 && html`<${Note} tone="warn"><ul>${notes.map((note, at) => html`<li key=${at}><${Shown} text=${note} /></li>`)}</ul><//>`}
    ${(citations ?? []).length > 0 && html`<${Heading} class="small-title">Citations<//><ol class="citations">${citations.map((cited) => {
      const number = cited.n ?? cited.number;
      return html`<li key=${number} value=${number}>
        <blockquote><${Shown} text=${clip(cited.quote, 400)} /></blockquote>
        <p class="citation-foot"><${Badge} state=${cited.status} />
          ${cited.version_id && cited.start != null
            ? html`<button type="button" class="link" onClick=${() => onPassage(cited)} aria-label=${`Open the passage of citation ${number} in ${cited.title || 'its source'}`}>${clip(cited.title, 80) || 'Open the passage'}</button>`
            : html`<span class="soft">${clip(cited.title, 80) || 'It cannot be looked up.'}</span>`}</p>
      </li>`;
    })}</ol>`}
    ${(calls ?? []).length > 0 && html`<${Fold} title=${`${counted(calls.length, 'call')} that the model proposed`}>
      <${Table} label="Calls that the model proposed" head=${['Tool', 'Outcome', 'Why']}>${calls.map(({ tool, outcome, why, reason, approval }, at) => html`<${Tr} key=${at}>
        <${Th}><code>${tool}</code><//><${Td} name="Outcome"><${Badge} state=${outcome} />${approval && approval !== 'not_needed' && html` <span class="soft">${words(approval)}</span>`}<//><${Td} name="Why"><${Shown} text=${why ?? reason} /><//><//>`)}<//><//>`}
    ${answer.model && html`<p class="soft">${answer.model === BUILT_IN ? 'Answered by the built-in model: it chooses sentences of the sources, and writes none.' : `Answered by ${answer.model}`}</p>`}
  </div>`;
}
