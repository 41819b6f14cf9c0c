// Speaks with the node: JSON there and back, and errors as something to show a person. It knows no
// view.

/** Why something could not be had. `status` is 0 when the node did not answer at all. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let csrf = '';
let onSignedOut = () => {};

/** What changes of state have to carry. */
export function setCsrf(token) {
  csrf = token ?? '';
}

/** Called when the node says that nobody is signed in. */
export function whenSignedOut(told) {
  onSignedOut = told;
}

export function get(path) {
  return request('GET', path);
}

export async function post(path, body = {}, headers = {}) {
  const send = () => request('POST', path, body, { ...headers, 'x-sabir-csrf': csrf });
  try {
    return await send();
  } catch (error) {
    if (error.code !== 'csrf') throw error;
    // Another tab has signed in since, and this one has the word of before. Nothing was done yet.
    setCsrf((await get('/api/me')).csrf);
    return send();
  }
}

/** A path with what is asked for; what is empty is left out. */
export function withQuery(path, query) {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') said.set(name, String(value));
  }
  const text = said.toString();
  return text ? `${path}?${text}` : path;
}

/** A text that nobody else has, also where the browser calls the page insecure. */
export function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function request(method, path, body, headers = {}) {
  const init = { method, headers: { accept: 'application/json', ...headers }, cache: 'no-store' };
  if (body !== undefined) {
    init.headers['content-type'] = 'application/json';
    init.body = JSON.stringify(body);
  }
  let response;
  let text;
  try {
    response = await fetch(path, init);
    text = await response.text();
  } catch {
    throw new ApiError(0, 'unreachable', 'The node does not answer. Is `sabir up` still running?');
  }
  let said = null;
  try {
    said = text === '' ? null : JSON.parse(text);
  } catch {
    if (response.ok) throw new ApiError(response.status, 'unreadable', 'The node answered with something that is no JSON.');
  }
  if (response.ok) return said;
  const message = said?.error?.message ?? `The node answered ${response.status} and gave no reason.`;
  const error = new ApiError(response.status, said?.error?.code ?? '', message);
  if (response.status === 401 && path !== '/api/login') onSignedOut(error);
  throw error;
}
