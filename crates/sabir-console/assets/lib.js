// One door to the vendored libraries, so that no view names a file of theirs.

import { Component, Fragment, h, render } from './vendor/preact.js';
import {
  useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState,
} from './vendor/hooks.js';
import htm from './vendor/htm.js';

export const html = htm.bind(h);

export {
  Component, Fragment, render,
  useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState,
};

/** The names of classes that hold, in one text. */
export function classes(...names) {
  return names.filter(Boolean).join(' ');
}
