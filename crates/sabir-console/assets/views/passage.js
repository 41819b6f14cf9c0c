// A captured source, with the cited words marked. Places count the bytes of the captured text.

import { useResource } from '../data.js';
import { html, useEffect, useRef } from '../lib.js';
import { Dialog, Facts, Loaded, Note, Time } from '../parts.js';
import { Shown } from '../text.js';

export function Passage({ of, onClose }) {
  const version = useResource(`/api/versions/${encodeURIComponent(of.version_id)}`);
  return html`<${Dialog} wide=${true} title=${version.data?.title || 'Source'} onClose=${onClose}>
    <${Loaded} from=${version} what="The source">${(found) => html`<${Text} found=${found} of=${of} />`}<//>
  <//>`;
}

function Text({ found, of }) {
  const mark = useRef(null);
  const cut = of.start == null ? null : split(found.text, of.start, of.end);
  useEffect(() => {
    mark.current?.scrollIntoView({ block: 'center' });
    mark.current?.focus({ preventScroll: true });
  }, []);
  return html`
    <${Facts} of=${[
      ['Address', /^https?:/.test(found.url ?? '') ? html`<a class="breakable" href=${found.url} target="_blank" rel="noopener noreferrer">${found.url}</a>` : found.url],
      ['Captured', html`<${Time} at=${found.captured_at_ms} exact=${true} />`],
    ]} />
    ${of.start != null && !cut && html`<${Note} tone="bad"><p>The cited place lies outside of this text.</p><//>`}
    <div class="source-text" tabindex="0" role="region" aria-label="Captured text">${cut
      ? html`<${Shown} text=${cut.before} /><mark ref=${mark} tabindex="-1"><${Shown} text=${cut.marked} /></mark><${Shown} text=${cut.after} />`
      : html`<${Shown} text=${found.text} />`}</div>`;
}

/** The text before, at and after a place of bytes. None if there is no such place. */
export function split(text, start, end) {
  const bytes = new TextEncoder().encode(text ?? '');
  if (!(start >= 0 && end > start && end <= bytes.length)) return null;
  const part = (from, until) => new TextDecoder().decode(bytes.subarray(from, until));
  return { before: part(0, start), marked: part(start, end), after: part(end) };
}
