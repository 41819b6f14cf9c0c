// Collections of sources.

import { post, withQuery } from '../api.js';
import { useAction, useResource } from '../data.js';
import { counted } from '../format.js';
import { html, useState } from '../lib.js';
import { Button, Empty, Failure, Field, Loaded, Page, Panel, Time } from '../parts.js';
import { go, to } from '../route.js';
import { dropDraft, useDraft } from '../store.js';
import { FIRST_QUESTION } from './welcome.js';

const PAGE = 100;
/** The node tells no more at once. */
const MOST = 500;

export function Collections() {
  const [limit, show] = useState(PAGE);
  const collections = useResource(withQuery('/api/collections', { limit }), ['collections']);
  const examples = useAction(async () => {
    const said = await post('/api/examples');
    go('collections', said.collection_id, { ask: FIRST_QUESTION });
  });
  const load = html`<${Button} isBusy=${examples.isBusy} busy="Loading the pages" kind=${collections.data?.collections?.length ? '' : 'primary'} onClick=${examples.run}>Load the example pages<//>`;
  return html`<${Page} title="Collections" lead="Collect pages, ask about them, and see every citation checked against what was captured.">
    <${Failure} error=${examples.error} what="The example pages were not loaded." />
    <${Loaded} from=${collections} what="The collections">${({ collections: list }) => list.length === 0
      ? html`<${Empty} title="Nothing is collected yet" actions=${load}>
          <p>The example pages come with the node: no network and no model are needed. Load them, ask a question, and see the passages that the answer cites.</p>
        <//>`
      : html`<ul class="list">${list.map((collection) => html`<li class="list-item" key=${collection.id}>
          <a class="list-main" href=${to('collections', collection.id)}>${collection.name}</a>
          <span class="list-note">
            <span>${counted(collection.counts?.sources ?? collection.sources, 'source')}</span>
            ${collection.counts?.artifacts != null && html`<span>${counted(collection.counts.artifacts, 'artifact')}</span>`}
            <span><${Time} at=${collection.updated_at_ms ?? collection.created_at_ms} /></span>
          </span></li>`)}</ul>
          ${list.length >= limit && limit < MOST && html`<div class="actions"><${Button} onClick=${() => show(MOST)}>Show more<//></div>`}`}<//>
    <${Make} extra=${collections.data?.collections?.length ? load : null} />
  <//>`;
}

function Make({ extra }) {
  const [name, type] = useDraft('collection', '');
  const make = useAction(async () => {
    const said = await post('/api/collections', { name: name.trim() });
    dropDraft('collection');
    go('collections', said.id);
  });
  const submit = (event) => {
    event.preventDefault();
    make.run();
  };
  return html`<${Panel} title="Begin a collection">
    <form class="stack" onSubmit=${submit}>
      <${Field} label="Name">${(own) => html`<input ...${own} type="text" required value=${name} onInput=${(event) => type(event.target.value)} />`}<//>
      <${Failure} error=${make.error} what="It was not made." />
      <div class="actions"><${Button} type="submit" isBusy=${make.isBusy} busy="Making it">Begin<//>${extra}</div>
    </form>
  <//>`;
}
