// Values as people read them. What is not known is a dash, never a zero.

export const NONE = '–';

const WHOLE = new Intl.NumberFormat('en');
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
/** Dates end somewhere, and others may say anything. */
const LATEST_MS = 8.64e15;
export const isMoment = (ms) => isNumber(ms) && Math.abs(ms) <= LATEST_MS;

export function count(value) {
  return isNumber(value) ? WHOLE.format(Math.round(value)) : NONE;
}

/** `3 sources`, `1 source`, `no sources`. */
export function counted(value, one, many = `${one}s`) {
  if (!isNumber(value)) return `${NONE} ${many}`;
  return `${value === 0 ? 'no' : WHOLE.format(value)} ${value === 1 ? one : many}`;
}

export function usd(value) {
  if (!isNumber(value)) return NONE;
  if (value === 0) return '$0';
  if (value < 0.0001) return '< $0.0001';
  return `$${value < 1 ? value.toFixed(4) : value.toFixed(2)}`;
}

/** As short as it can be said, for marks beside a plot. */
export function usdMark(value) {
  return isNumber(value) ? `$${Number(value.toFixed(6))}` : NONE;
}

export function percent(value) {
  return isNumber(value) ? `${Math.round(value * 100)} %` : NONE;
}

export function duration(ms) {
  if (!isNumber(ms)) return NONE;
  // Rounded before it is cut into units: nobody says `1 min 60 s`.
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (Math.round(ms / 100) < 600) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const date = (ms) => (isMoment(ms) ? DATE.format(ms) : NONE);
export const clock = (ms) => (isMoment(ms) ? CLOCK.format(ms) : NONE);
/** A day as the node counts them, which is that of Greenwich. */
export const day = (ms) => (isMoment(ms) ? DAY.format(ms) : NONE);

export function ago(ms, now = Date.now()) {
  if (!isMoment(ms)) return NONE;
  const seconds = Math.round((ms - now) / 1_000);
  const size = Math.abs(seconds);
  if (size < 45) return 'just now';
  if (size < 2_700) return AGO.format(Math.round(seconds / 60), 'minute');
  if (size < 79_200) return AGO.format(Math.round(seconds / 3_600), 'hour');
  if (size < 2_592_000) return AGO.format(Math.round(seconds / 86_400), 'day');
  return DATE.format(ms);
}

/** The last part of a delegate's id, which is what people call it. */
export function shortId(id) {
  return String(id ?? '').replace(/^ldp:delegate:/, '') || NONE;
}

/** What the node says begins with a small letter; on the page it stands alone. */
export function sentence(text) {
  const said = String(text ?? '');
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** A long id with its middle left out; those that are made of random digits differ at their end. */
export function shorten(text, most = 22) {
  const whole = String(text ?? '');
  if (whole.length <= most) return whole;
  const end = Math.floor(most / 3);
  return `${whole.slice(0, most - end - 1)}…${whole.slice(-end)}`;
}

/** The beginning of a long text, on one line. */
export function clip(text, most) {
  const line = String(text ?? '').replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}

/** `executive_brief` as `Executive brief`. */
export function words(name) {
  const text = String(name ?? '').replace(/[_-]+/g, ' ').trim();
  return text ? text[0].toUpperCase() + text.slice(1) : NONE;
}

export function json(value) {
  return JSON.stringify(value, null, 2) ?? '';
}
