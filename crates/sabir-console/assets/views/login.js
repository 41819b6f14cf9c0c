// Signing in, with the token that the node has printed.

import { html, useEffect, useRef, useState } from '../lib.js';
import { Button, Failure, Field } from '../parts.js';
import { useAction } from '../data.js';
import { signIn } from '../store.js';

export function Login({ error, hasEnded }) {
  const [token, type] = useState('');
  const login = useAction(() => signIn(token.trim()));
  const submit = (event) => {
    event.preventDefault();
    if (token.trim()) login.run();
  };
  const heading = useRef(null);
  // What had the focus is gone with the view; who hears the page must learn why.
  useEffect(() => {
    if (hasEnded) heading.current.focus();
  }, []);
  const shown = login.error ?? error;
  return html`<main class="alone">
    <p class="wordmark"><img src="/assets/icon.svg" alt="" width="28" height="28" />Sabir</p>
    <h1 tabindex="-1" ref=${heading}>Sign in to this node</h1>
    ${hasEnded && html`<div class="note warn" role="status"><p><strong>You are signed out.</strong> The node was started anew, or nobody was here for long.</p><p>Sign in, and you are back where you were; what you had typed is still there.</p></div>`}
    <p>When the node starts, <code>sabir up</code> prints a link that signs you in. Open that link, or type its token here.</p>
    <form class="stack" onSubmit=${submit}>
      <${Field} label="Token" help=${html`It is what follows <code>#token=</code> in the link, and stands in the file <code>console.token</code> in the node's home.`}>
        ${(own) => html`<input ...${own} type="password" autocomplete="off" required value=${token} onInput=${(event) => type(event.target.value)} />`}
      <//>
      <${Failure} error=${shown} what="You are not signed in." />
      <div class="actions"><${Button} type="submit" kind="primary" isBusy=${login.isBusy} busy="Signing in">Sign in<//></div>
    </form>
  </main>`;
}
