// Looks at one document and finds things in it again. It runs in a world of its own: the page shares
// the elements, but none of these functions and none of JavaScript's own.
//
// Elements named like properties (`<input name="children">`) change what a form or a document
// answers. So everything is asked through the getters of the prototypes, never of the element.
//
// The value of this expression is an object; Rust holds it and calls its functions.
(() => {
  'use strict';

  const getter = (type, name) => {
    const get = Object.getOwnPropertyDescriptor(type.prototype, name).get;
    return (it) => get.call(it);
  };
  const method = (type, name) => {
    const call = type.prototype[name];
    return (it, ...rest) => call.apply(it, rest);
  };

  const firstChild = getter(Node, 'firstChild');
  const nextSibling = getter(Node, 'nextSibling');
  const parentNode = getter(Node, 'parentNode');
  const nodeType = getter(Node, 'nodeType');
  const nodeValue = getter(Node, 'nodeValue');
  const isConnected = getter(Node, 'isConnected');
  const ownerRoot = method(Node, 'getRootNode');
  const tagOf = getter(Element, 'localName');
  const shadowOf = getter(Element, 'shadowRoot');
  const outerHtml = getter(Element, 'outerHTML');
  const attribute = method(Element, 'getAttribute');
  const hasAttribute = method(Element, 'hasAttribute');
  const matches = method(Element, 'matches');
  const query = method(Element, 'querySelector');
  const queryAll = method(Element, 'querySelectorAll');
  const boxOf = method(Element, 'getBoundingClientRect');
  const boxesOf = method(Element, 'getClientRects');
  const isVisible = method(Element, 'checkVisibility');
  const scrollIntoView = method(Element, 'scrollIntoView');
  const focus = method(HTMLElement, 'focus');
  const dispatch = method(EventTarget, 'dispatchEvent');
  const titleOf = getter(Document, 'title');
  const bodyOf = getter(Document, 'body');
  const rootOf = getter(Document, 'documentElement');
  const focused = getter(Document, 'activeElement');
  const hitIn = (root, x, y) =>
    (nodeType(root) === 9 ? Document : ShadowRoot).prototype.elementFromPoint.call(root, x, y);
  const styleOf = (it) => window.getComputedStyle(it);

  // A page may be without end. What lies behind this many elements is not looked at.
  const MOST_NODES = 60000;
  const MOST_NODES_OF_ONE = 4000;

  const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'head', 'iframe', 'object',
    'embed', 'canvas', 'svg', 'math', 'video', 'audio', 'picture', 'source', 'track', 'map', 'option',
    'optgroup', 'datalist', 'textarea']);
  const BLOCKS = new Set(['p', 'li', 'blockquote', 'pre', 'dd', 'dt', 'td', 'th', 'figcaption',
    'caption', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
  const CLICKABLE_ROLES = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem',
    'menuitemcheckbox', 'menuitemradio', 'option', 'textbox', 'searchbox', 'combobox', 'slider',
    'spinbutton', 'treeitem']);
  const TYPED = new Set(['text', 'search', 'email', 'url', 'tel', 'password', 'number']);
  const PICKED = new Set(['date', 'datetime-local', 'month', 'week', 'time', 'color', 'range']);

  const table = new Map();
  const known = new Map();
  let nextHandle = 1;

  const squeeze = (text) => text.replace(/[\s\u00a0]+/g, ' ').trim();
  const cut = (text, most) => {
    if (text.length <= most) return text;
    const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
    return text.slice(0, Math.max(0, end));
  };
  const fail = (code, message) => ({ error: { code, message: cut(squeeze(message), 300) } });
  const isElement = (it) => nodeType(it) === 1;
  const isHtml = (it) => it instanceof HTMLElement;
  const roleOf = (it) => (attribute(it, 'role') || '').trim().split(/\s+/)[0].toLowerCase();

  const handleFor = (it) => {
    let id = known.get(it);
    if (!id) {
      id = 'h' + nextHandle++;
      known.set(it, id);
      table.set(id, it);
    }
    return id;
  };

  // How much is seen of an element, with all that is around it, and how much that is blurred.
  const shares = new Map();
  const shareOf = (it) => {
    const chain = [];
    let share = { opacity: 1, blur: 0 };
    for (let up = it; up; up = parentNode(up) || up.host) {
      if (!isElement(up)) continue;
      if (shares.has(up)) {
        share = shares.get(up);
        break;
      }
      chain.push(up);
    }
    while (chain.length > 0) {
      const next = chain.pop();
      const style = styleOf(next);
      let { opacity, blur } = share;
      opacity *= Number(style.opacity);
      for (const [, name, part] of style.filter.matchAll(/(opacity|blur)\(\s*([\d.e+-]+)(?:px)?\s*\)/g)) {
        if (name === 'blur') blur += Number(part);
        else opacity *= Number(part);
      }
      share = { opacity, blur };
      shares.set(next, share);
    }
    return share;
  };

  // Any colour that a style can have, as red, green, blue and how much of it is seen, up to 1.
  const colors = new Map();
  const brush = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const colorOf = (text) => {
    let color = colors.get(text);
    if (!color) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = '#000';
      brush.fillStyle = text;
      brush.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
      color = [red, green, blue, alpha / 255];
      if (colors.size < 4000) colors.set(text, color);
    }
    return color;
  };
  const COLOR = /(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix)\([^()]*(?:\([^()]*\)[^()]*)*\)|#[0-9a-f]{3,8}\b|\b(?:transparent|white|black)\b/gi;
  const colorsIn = (text) => (text.slice(0, 4000).match(COLOR) || []).map(colorOf);
  const over = (top, under, share) => {
    const alpha = top[3] * share;
    return [0, 1, 2].map((part) => top[part] * alpha + under[part] * (1 - alpha)).concat(1);
  };
  const light = (color) => {
    const [red, green, blue] = color.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  // Whether nobody could tell the one from the other. Colours of the same light differ if their
  // parts do.
  const isLike = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05) < 1.2 &&
      [0, 1, 2].every((part) => Math.abs(one[part] - other[part]) < 40);
  };

  // What has a colour or a picture of its own: it may lie behind words that it does not hold.
  const painted = [];
  const PICTURES = new Set(['img', 'video', 'canvas', 'svg', 'picture', 'iframe', 'object', 'embed']);
  const notePaint = (it) => {
    if (painted.length >= 2000) return;
    const style = styleOf(it);
    const isPicture = PICTURES.has(tagOf(it)) || style.backgroundImage !== 'none';
    const color = colorOf(style.backgroundColor);
    if (isPicture || color[3] > 0.05) {
      painted.push({ it, isPicture, color, isBehind: Number(style.zIndex) < 0 });
    }
  };

  // What is behind the words of an element: a colour, or nothing if that cannot be said. `base` is
  // the element whose colour it is.
  const groundOf = (it) => {
    const layers = [];
    let base = null;
    for (let up = it; up; up = parentNode(up) || up.host) {
      if (!isElement(up)) continue;
      const style = styleOf(up);
      if (style.backgroundImage !== 'none' && !/text/.test(style.backgroundClip)) {
        const parts = colorsIn(style.backgroundImage);
        if (/url\(|element\(|paint\(|image-set\(/.test(style.backgroundImage) ||
          parts.some((part) => part[3] > 0.05)) return null;
      }
      const color = colorOf(style.backgroundColor);
      if (color[3] > 0.01 && !/text/.test(style.backgroundClip)) layers.push(color);
      if (color[3] > 0.99) {
        base = up;
        break;
      }
    }
    let ground = [255, 255, 255, 1];
    const root = rootOf(document);
    if (!base && root && /dark/.test(styleOf(root).colorScheme) &&
      window.matchMedia('(prefers-color-scheme: dark)').matches) ground = [18, 18, 18, 1];
    while (layers.length > 0) ground = over(layers.pop(), ground, 1);
    return { color: ground, base };
  };

  // Whether words of this colour cannot be told from what is behind them.
  const vanishes = (it, style, rects) => {
    const share = shareOf(it).opacity;
    const ground = groundOf(it);
    const fill = colorOf(style.webkitTextFillColor || style.color);
    let inks = [fill];
    if (fill[3] * share < 0.05) {
      if (!/text/.test(style.backgroundClip)) inks = [];
      else if (/url\(/.test(style.backgroundImage)) return false;
      else inks = [colorOf(style.backgroundColor), ...colorsIn(style.backgroundImage)];
    }
    if (style.textShadow !== 'none') inks.push(...colorsIn(style.textShadow));
    if (parseFloat(style.webkitTextStrokeWidth) > 0) inks.push(colorOf(style.webkitTextStrokeColor));
    inks = inks.filter((ink) => ink[3] * share >= 0.05);
    if (inks.length === 0) return true;
    if (!ground) return false;
    const isLost = (color) => inks.every((ink) => isLike(over(ink, color, share), color));
    if (!isLost(ground.color)) return false;
    // Something else may lie between: a picture, a bar.
    const x = (rects[0].left + rects[0].right) / 2;
    const y = (rects[0].top + rects[0].bottom) / 2;
    return !painted.some(({ it: other, isPicture, color, isBehind }) => {
      if (inside(other, it) || inside(it, other)) return false;
      if (ground.base && (isBehind || !inside(ground.base, other))) return false;
      const box = boxOf(other);
      return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom &&
        (isPicture || !isLost(over(color, ground.color, 1)));
    });
  };

  // Lengths as computed styles tell them, in pixels of a side.
  const lengths = (text, sides) => text.split(/[\s,]+/).filter((word) => word)
    .map((word, index) => {
      const side = sides[index % sides.length];
      return word.endsWith('%') ? parseFloat(word) * side / 100 : parseFloat(word);
    });

  // Whether a shape leaves nothing of the box.
  const isClippedAway = (path, box) => {
    const shape = /^([a-z]+)\((.*)\)/.exec(path);
    if (!shape) return false;
    const inner = shape[2].replace(/\b(round|at)\b.*$/, '').replace(/^(evenodd|nonzero),/, '');
    const { width, height } = box;
    if (shape[1] === 'inset') {
      const words = inner.split(/\s+/).filter((word) => word);
      const at = (...places) => words[places.find((place) => place < words.length)];
      const [top, bottom] = lengths(at(0) + ' ' + at(2, 0), [height]);
      const [right, left] = lengths(at(1, 0) + ' ' + at(3, 1, 0), [width]);
      return top + bottom >= height - 1 || left + right >= width - 1;
    }
    if (shape[1] === 'circle' || shape[1] === 'ellipse') {
      return lengths(inner, [width, height]).some((radius) => radius < 1);
    }
    if (shape[1] === 'polygon') {
      const all = lengths(inner, [width, height]);
      const span = (from) => {
        const some = all.filter((value, index) => index % 2 === from);
        return Math.max(...some) - Math.min(...some);
      };
      return all.length >= 2 && all.length <= 1000 && (span(0) < 1 || span(1) < 1);
    }
    if (shape[1] === 'path') {
      const drawn = /^(?:(evenodd|nonzero),\s*)?["'](.*)["']$/.exec(shape[2]);
      const way = new Path2D(drawn ? drawn[2].slice(0, 20000) : '');
      const steps = [...Array(25).keys()].map((step) => (step + 0.5) / 25);
      return !steps.some((across) => steps.some((down) =>
        brush.isPointInPath(way, across * width, down * height, (drawn && drawn[1]) || 'nonzero')));
    }
    if (shape[1] === 'url') {
      const name = /^["']?#([^"']+)["']?$/.exec(shape[2]);
      const clip = name && Document.prototype.getElementById.call(document, name[1]);
      if (!clip) return false;
      return !Array.from(queryAll(clip, '*')).slice(0, 200).some((part) => {
        const area = part instanceof SVGGraphicsElement ? part.getBBox() : null;
        return area && area.width > 0 && area.height > 0;
      });
    }
    // A shape that we cannot read may leave nothing.
    return shape[1] === 'shape';
  };

  // Whether a mask leaves nothing, as far as can be said. One that is a picture may.
  const isMaskedAway = (style) => {
    const image = style.maskImage || style.webkitMaskImage || 'none';
    if ((style.webkitMaskBoxImageSource || 'none') !== 'none') return true;
    if (image === 'none') return false;
    if (/url\(|element\(|paint\(|image-set\(/.test(image)) return true;
    if (/(^|[\s,])0(px|%)?($|[\s,])/.test(style.maskSize || '')) return true;
    return !colorsIn(image).some((color) => color[3] >= 0.05);
  };

  // Whether an element shows its back.
  const turnedAway = (style) => {
    let matrix = new DOMMatrix();
    const turn = /^(?:(x|y|z|(?:[\d.e+-]+\s+){2}[\d.e+-]+)\s+)?([\d.e+-]+)deg$/.exec(style.rotate);
    if (turn) {
      const axes = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
      const axis = axes[turn[1] || 'z'] || turn[1].split(/\s+/).map(Number);
      matrix = matrix.rotateAxisAngle(...axis, Number(turn[2]));
    }
    if (style.transform !== 'none') matrix = matrix.multiply(new DOMMatrix(style.transform));
    return matrix.m33 < 0;
  };

  // Whether a transform leaves nothing of the area.
  const isFlattened = (style) => {
    const matrix = /^matrix(3d)?\((.*)\)$/.exec(style.transform);
    if (matrix) {
      const all = matrix[2].split(',').map(Number);
      const [a, b, c, d] = matrix[1] ? [all[0], all[1], all[4], all[5]] : all;
      if (Math.abs(a * d - b * c) < 0.003) return true;
    }
    if (style.backfaceVisibility === 'hidden' && turnedAway(style)) return true;
    return style.scale !== 'none' &&
      style.scale.split(/\s+/).slice(0, 2).some((part) => Math.abs(parseFloat(part)) < 0.05);
  };

  // 'gone': nothing below is seen either. 'mute': the element's own words are not seen.
  const hiding = (it) => {
    const style = styleOf(it);
    if (style.display === 'none' || style.contentVisibility === 'hidden') return 'gone';
    if (style.display !== 'contents' && !isVisible(it)) return 'gone';
    const share = shareOf(it);
    if (share.opacity < 0.05 || isFlattened(style)) return 'gone';
    if (isMaskedAway(style)) return 'gone';
    if (/url\(/.test(style.filter) && it !== rootOf(document) && it !== bodyOf(document)) return 'gone';
    if (matches(it, 'dialog:not([open])')) return 'gone';
    if (matches(it, 'details:not([open]) > :not(summary)')) return 'gone';
    if (matches(it, 'details:not([open])')) return 'mute';
    const box = boxOf(it);
    const clip = /^rect\((.*)\)$/.exec(style.clip);
    if (clip && ['absolute', 'fixed'].includes(style.position)) {
      const [top, right, bottom, left] = clip[1].split(/[\s,]+/).map(parseFloat);
      if (right - left <= 1 || bottom - top <= 1) return 'gone';
    }
    if (isClippedAway(style.clipPath, box)) return 'gone';
    if (style.display !== 'contents') {
      const clips = style.overflowX !== 'visible' || style.overflowY !== 'visible';
      if (clips && (box.width <= 1 || box.height <= 1)) return 'gone';
      const isFixed = style.position === 'fixed';
      const root = rootOf(document);
      const [x, y] = isFixed ? [0, 0] : [window.scrollX, window.scrollY];
      const width = Math.max(window.innerWidth, isFixed || !root ? 0 : root.scrollWidth);
      const height = Math.max(window.innerHeight, isFixed || !root ? 0 : root.scrollHeight);
      if (box.width > 0 && box.height > 0 && (box.right + x <= 0 || box.bottom + y <= 0 ||
        box.left + x >= width || box.top + y >= height)) return 'gone';
      if (style.display !== 'inline' && box.width < 1 && box.height < 1) return 'mute';
    }
    if (style.visibility !== 'visible') return 'mute';
    if (parseFloat(style.fontSize) < 2) return 'mute';
    if (share.blur > parseFloat(style.fontSize) * 0.2) return 'mute';
    return '';
  };

  // What is left of a rectangle inside of another.
  const meet = (one, other) => ({
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  });
  const ENDLESS = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };

  // As far as the page can be scrolled, seen from where it stands now.
  const pageArea = () => {
    const root = document.scrollingElement || rootOf(document);
    const width = Math.max(window.innerWidth, root ? root.scrollWidth : 0);
    const height = Math.max(window.innerHeight, root ? root.scrollHeight : 0);
    const isLeftward = root && styleOf(root).direction === 'rtl';
    const left = isLeftward ? window.innerWidth - width - window.scrollX : -window.scrollX;
    return { left, top: -window.scrollY, right: left + width, bottom: height - window.scrollY };
  };

  const holdsAbsolute = (style) => style.position !== 'static' || holdsFixed(style);
  const holdsFixed = (style) => style.transform !== 'none' || style.perspective !== 'none' ||
    style.filter !== 'none' || style.rotate !== 'none' || style.scale !== 'none' ||
    style.translate !== 'none' || /paint|layout|strict|content/.test(style.contain) ||
    /transform|filter|perspective/.test(style.willChange);

  // What of the window and the page the insides of an element can be seen in.
  const areas = new Map();
  const areaOf = (it) => {
    const chain = [];
    for (let up = it; up; up = parentNode(up) || up.host) {
      if (!isElement(up)) continue;
      if (areas.has(up)) break;
      chain.push(up);
    }
    while (chain.length > 0) {
      const next = chain.pop();
      areas.set(next, meet(areaAround(next), ownArea(next)));
    }
    return areas.get(it) || ENDLESS;
  };
  const areaAround = (it) => {
    const { position } = styleOf(it);
    for (let up = parentNode(it) || it.host; up; up = parentNode(up) || up.host) {
      if (!isElement(up)) continue;
      const style = styleOf(up);
      const holds = position === 'fixed' ? holdsFixed(style)
        : position === 'absolute' ? holdsAbsolute(style) : true;
      if (holds || style.display === 'contents' && position !== 'fixed' && position !== 'absolute') {
        return areas.get(up) || ENDLESS;
      }
    }
    return position === 'fixed'
      ? { left: 0, top: 0, right: window.innerWidth, bottom: window.innerHeight } : pageArea();
  };
  const ownArea = (it) => {
    if (it === rootOf(document) || it === bodyOf(document)) return ENDLESS;
    const style = styleOf(it);
    if (style.display === 'contents' || style.display === 'inline') return ENDLESS;
    const cuts = /paint|strict|content/.test(style.contain) || style.contentVisibility === 'auto';
    const box = boxOf(it);
    const along = (overflow, start, end, scrolled, whole) => {
      if (!cuts && overflow === 'visible') return [-Infinity, Infinity];
      // What can be scrolled to can be seen, if there is anything to scroll in.
      if (/auto|scroll/.test(overflow) && end - start >= 2) return [start - scrolled, start - scrolled + whole];
      return [start, end];
    };
    const [left, right] = along(style.overflowX, box.left, box.right, it.scrollLeft, it.scrollWidth);
    const [top, bottom] = along(style.overflowY, box.top, box.bottom, it.scrollTop, it.scrollHeight);
    return { left, top, right, bottom };
  };

  // Whether anybody could read a text where it stands: as large as letters are, in an area that is
  // shown, and not in the colour of what is behind.
  const shown = new Map();
  const range = document.createRange();
  const isShown = (text) => {
    let answer = shown.get(text);
    if (answer === undefined) {
      answer = readable(text);
      shown.set(text, answer);
    }
    return answer;
  };
  const readable = (text) => {
    const letters = nodeValue(text).slice(0, 4000).replace(/[\s\p{M}\p{Cf}]/gu, '');
    if (!letters) return true;
    let parent = parentNode(text);
    if (parent && !isElement(parent)) parent = parent.host;
    if (!parent || !isElement(parent)) return true;
    range.selectNodeContents(text);
    const rects = Array.from(range.getClientRects()).slice(0, 400);
    const area = areaOf(parent);
    const lit = rects.map((rect) => meet(rect, area))
      .filter(({ left, top, right, bottom }) => right - left >= 1 && bottom - top >= 1.5);
    if (lit.length === 0) return false;
    let length = 0;
    let height = 0;
    for (const { width, height: tall } of rects) {
      length += Math.max(width, tall);
      height = Math.max(height, Math.min(width, tall));
    }
    const count = Math.min(Array.from(letters).length, 4000);
    // One letter on the other.
    if (rects.length < 400 && count > 2 && length < count * height * 0.1) return false;
    if (height < 1.5 && count > 1) return false;
    const style = styleOf(parent);
    if (count > 2 && parseFloat(style.letterSpacing) < parseFloat(style.fontSize) * -0.3) return false;
    return !vanishes(parent, style, lit);
  };

  // Calls `enter` and `leave` for elements and `text` for text nodes, in reading order, without
  // recursion. `enter` returns false to leave out what is inside.
  const walk = (start, budget, enter, leave, text) => {
    const stack = [[start, false]];
    let left = budget;
    while (stack.length > 0) {
      const [node, isDone] = stack.pop();
      if (isDone) {
        leave(node);
        continue;
      }
      if (--left < 0) return false;
      const type = nodeType(node);
      if (type === 3) {
        text(node);
        continue;
      }
      if (type !== 1 && type !== 11) continue;
      if (type === 1) {
        if (enter(node) === false) continue;
        stack.push([node, true]);
      }
      const children = [];
      const shadow = type === 1 ? shadowOf(node) : null;
      // Children of an element with a shadow are shown where its slots are; we read them after it.
      if (shadow) children.push(shadow);
      for (let child = firstChild(node); child; child = nextSibling(child)) {
        children.push(child);
        if (children.length > left) break;
      }
      while (children.length > 0) stack.push([children.pop(), false]);
    }
    return true;
  };

  const isBreak = (it) => {
    const tag = tagOf(it);
    if (tag === 'br') return true;
    const display = styleOf(it).display;
    return !display.startsWith('inline') && display !== 'contents' && display !== 'table-cell';
  };

  // The words of one element, as `seen` found them.
  const wordsOf = (start, seen, most) => {
    let words = '';
    walk(start, MOST_NODES_OF_ONE,
      (it) => {
        if (words.length > most * 2 || !seen.has(it) || SKIPPED.has(tagOf(it))) return false;
        if (words && !words.endsWith(' ')) words += tagOf(it) === 'br' || isBreak(it) ? ' ' : '';
        return true;
      },
      (it) => { if (words && !words.endsWith(' ') && isBreak(it)) words += ' '; },
      (it) => {
        const parent = parentNode(it);
        if (words.length <= most * 2 && (!isElement(parent) || seen.get(parent) !== 'mute') &&
          isShown(it)) {
          words += cut(nodeValue(it), most * 2);
        }
      });
    return cut(squeeze(words), most);
  };

  const labelOf = (it, seen) => {
    const by = attribute(it, 'aria-labelledby');
    if (by) {
      const root = ownerRoot(it);
      const words = by.split(/\s+/).slice(0, 8)
        .map((id) => root.getElementById && Document.prototype.getElementById.call(document, id))
        .filter((found) => found).map((found) => wordsOf(found, seen, 160)).join(' ');
      if (squeeze(words)) return cut(squeeze(words), 160);
    }
    const own = attribute(it, 'aria-label');
    if (own && squeeze(own)) return cut(squeeze(own), 160);
    if (it instanceof HTMLInputElement || it instanceof HTMLSelectElement ||
      it instanceof HTMLTextAreaElement) {
      const labels = it.labels;
      if (labels && labels.length > 0) {
        const words = wordsOf(labels[0], seen, 160);
        if (words) return words;
      }
    }
    for (const name of ['placeholder', 'title', 'alt']) {
      const words = attribute(it, name);
      if (words && squeeze(words)) return cut(squeeze(words), 160);
    }
    return '';
  };

  const impliedRole = (it) => {
    const role = roleOf(it);
    if (role) return role;
    const tag = tagOf(it);
    if (tag === 'a') return 'link';
    if (tag === 'button' || tag === 'summary') return 'button';
    if (tag === 'select') return it.multiple ? 'listbox' : 'combobox';
    if (tag === 'textarea') return 'textbox';
    if (tag === 'input') {
      const type = it.type;
      if (type === 'checkbox' || type === 'radio') return type;
      if (['button', 'submit', 'reset', 'image'].includes(type)) return 'button';
      if (type === 'range') return 'slider';
      return type === 'search' ? 'searchbox' : 'textbox';
    }
    return it.isContentEditable ? 'textbox' : 'button';
  };

  const isUsable = (it) => {
    const tag = tagOf(it);
    if (tag === 'a' || tag === 'area') return hasAttribute(it, 'href');
    if (tag === 'input') return it.type !== 'hidden';
    if (['button', 'select', 'textarea', 'summary'].includes(tag)) return true;
    if (CLICKABLE_ROLES.has(roleOf(it)) || hasAttribute(it, 'onclick')) return true;
    return hasAttribute(it, 'contenteditable') && isHtml(it) && it.isContentEditable;
  };

  const isDisabled = (it) =>
    matches(it, ':disabled') || attribute(it, 'aria-disabled') === 'true';

  const hrefOf = (it) => {
    const link = it instanceof HTMLAnchorElement || it instanceof HTMLAreaElement ? it : null;
    return link && /^https?:/.test(link.href) ? cut(link.href, 2000) : null;
  };

  const describe = (it, seen) => {
    const isField = it instanceof HTMLInputElement || it instanceof HTMLSelectElement ||
      it instanceof HTMLTextAreaElement;
    const isButton = it instanceof HTMLInputElement &&
      ['button', 'submit', 'reset'].includes(it.type);
    const label = labelOf(it, seen);
    let text = isField ? '' : wordsOf(it, seen, 120);
    if (isButton) text = cut(squeeze(it.value || it.type), 120);
    if (!text) {
      const image = isField ? null : query(it, 'img[alt]');
      text = image ? cut(squeeze(attribute(image, 'alt')), 120) : label;
    }
    const options = it instanceof HTMLSelectElement
      ? Array.from(it.options).slice(0, 40).map((option) =>
        ({ value: cut(option.value, 120), text: cut(squeeze(option.text), 120) }))
      : [];
    const words = (name) => (hasAttribute(it, name) ? cut(attribute(it, name), 120) : null);
    return {
      handle_id: handleFor(it),
      role: cut(impliedRole(it), 40),
      text: cut(text, 120),
      href: hrefOf(it),
      input_type: it instanceof HTMLInputElement ? it.type : null,
      label: label || null,
      name: isField ? words('name') : null,
      autocomplete: isField ? words('autocomplete') : null,
      is_disabled: isDisabled(it),
      options,
    };
  };

  const isAside = (it) => {
    const tag = tagOf(it);
    return ['nav', 'footer', 'header', 'aside', 'menu', 'form'].includes(tag) ||
      ['navigation', 'banner', 'contentinfo', 'menu', 'menubar', 'complementary', 'search']
        .includes(roleOf(it));
  };

  const isItem = (it) =>
    ['li', 'article', 'tr'].includes(tagOf(it)) || ['listitem', 'article', 'row'].includes(roleOf(it));

  const isComment = (it) => {
    if (roleOf(it) === 'comment') return true;
    if (/(^|\/)(Comment|UserComments)$/.test(attribute(it, 'itemtype') || '')) return true;
    const tokens = (attribute(it, 'class') || '').slice(0, 400).split(/\s+/);
    return tokens.some((token) => /^(comment|comtr|thing-comment|reply|comment-item)$/i.test(token));
  };

  const readItem = (it, seen, most) => {
    let best = null;
    let title = '';
    const links = queryAll(it, 'a[href]');
    for (let index = 0; index < links.length && index < 12; index += 1) {
      const link = links[index];
      if (!seen.has(link) || !hrefOf(link)) continue;
      const words = wordsOf(link, seen, most);
      const isHeading = query(link, 'h1,h2,h3,h4,h5,h6') !== null ||
        /^h[1-6]$/.test(isElement(parentNode(link)) ? tagOf(parentNode(link)) : '');
      if (isHeading && words) {
        best = link;
        title = words;
        break;
      }
      if (words.length > title.length) {
        best = link;
        title = words;
      }
    }
    if (!best || title.length < 8) return null;
    const words = wordsOf(it, seen, most * 2 + title.length);
    const count = /(\d[\d.,]*)\s+(comments?|replies|responses)\b/i.exec(words);
    const snippet = cut(squeeze(words.replace(title, ' ')), most);
    return {
      title,
      url: hrefOf(best),
      snippet,
      comment_count: count ? Math.min(Number(count[1].replace(/[.,]/g, '')), 4000000000) : null,
      handle_id: handleFor(best),
    };
  };

  const readComment = (it, depth, seen, most) => {
    const part = (selector) => {
      const found = query(it, selector);
      return found && seen.has(found) ? wordsOf(found, seen, 80) : '';
    };
    const body = query(it, '[itemprop=text],.comment-body,.comment-text,.commtext,.body,.content');
    return {
      text: wordsOf(body && seen.has(body) ? body : it, seen, most),
      depth,
      author: part('[itemprop=author],[rel=author],.author,.username,.user,.hnuser'),
      age: part('time,.age,.date,.timestamp'),
      score: part('.score,.points,.votes'),
      handle_id: handleFor(it),
    };
  };

  const isCrossOrigin = (frame) => {
    try {
      return frame.contentDocument === null;
    } catch {
      return true;
    }
  };

  // What lies over the page: fixed, and most of the window.
  const overlay = () => {
    const hit = hitIn(document, window.innerWidth / 2, window.innerHeight / 2);
    for (let it = hit; it && isElement(it); it = parentNode(it)) {
      const style = styleOf(it);
      const isModal = roleOf(it) === 'dialog' || roleOf(it) === 'alertdialog' ||
        attribute(it, 'aria-modal') === 'true' || matches(it, 'dialog[open]');
      const box = boxOf(it);
      const covers = box.width * box.height > window.innerWidth * window.innerHeight * 0.5;
      if (isModal || (style.position === 'fixed' && covers)) return it;
      if (!parentNode(it)) break;
    }
    return null;
  };

  const signalsOf = (text, seen, facts) => {
    const found = new Set();
    const lower = text.toLowerCase();
    const over = overlay();
    if (over) {
      found.add('overlay_blocking');
      if (/\b(cookies?|consent|gdpr)\b/i.test(wordsOf(over, seen, 2000))) found.add('consent_modal');
    }
    const short = text.length < 4000;
    if (facts.hasPassword || (short &&
      /\b(subscribe to (read|continue)|subscribers? only|log ?in to (read|continue)|sign in to (read|continue)|create an account to (read|continue))\b/.test(lower))) {
      found.add('paywall_or_login');
    }
    if (facts.hasCaptcha || (short &&
      /\b(verify (that )?you are (a )?human|are you a robot|unusual traffic|checking your browser)\b/.test(lower))) {
      found.add('captcha_or_robot_check');
    }
    if (short && /\b(are you (over|at least) (18|21)|confirm your age|age verification)\b/.test(lower)) {
      found.add('age_gate');
    }
    if (short && /\bnot available in your (country|region|location)\b/.test(lower)) {
      found.add('geo_block');
    }
    if (text.length < 600 && /\b(enable|turn on) javascript\b/.test(lower)) {
      found.add('script_required');
    }
    if (text.length < 200) found.add('sparse_text');
    if (text.length < 400 && facts.pictures) found.add('non_text_content');
    if (facts.hasForeignFrame) found.add('cross_origin_iframe');
    if (facts.hasClosedShadow) found.add('closed_shadow_root');
    if (facts.hasPdf) found.add('pdf_viewer');
    if (facts.hasFeed) found.add('infinite_scroll');
    if (facts.hasVirtualList) found.add('virtualized_list');
    return Array.from(found);
  };

  const note = (it, facts) => {
    const tag = tagOf(it);
    if (tag === 'iframe' || tag === 'frame') {
      const address = attribute(it, 'src') || '';
      if (isCrossOrigin(it)) facts.hasForeignFrame = true;
      if (/recaptcha|hcaptcha|challenges\.cloudflare/.test(address)) facts.hasCaptcha = true;
    } else if (tag === 'input' && it.type === 'password') {
      facts.hasPassword = true;
    } else if (tag === 'embed' || tag === 'object') {
      if (/application\/pdf/.test(attribute(it, 'type') || '')) facts.hasPdf = true;
    } else if (['img', 'canvas', 'video', 'svg'].includes(tag)) {
      const box = boxOf(it);
      if (box.width * box.height > 40000) facts.pictures += 1;
    } else if (tag.includes('-')) {
      // An element that draws something and shows us nothing of how.
      if (!shadowOf(it) && !firstChild(it) && boxOf(it).height > 0) facts.hasClosedShadow = true;
    }
    if (roleOf(it) === 'feed') facts.hasFeed = true;
    const size = attribute(it, 'aria-setsize') || attribute(it, 'aria-rowcount');
    if (size && (Number(size) === -1 || Number(size) > 200)) facts.hasVirtualList = true;
  };

  const find = (id) => {
    const it = table.get(id);
    return it && isConnected(it) ? it : null;
  };

  // What was found out of a page that may have changed since.
  const forget = () => {
    for (const known of [shares, areas, shown, colors]) known.clear();
    painted.length = 0;
    const all = Document.prototype.getElementsByTagName.call(document, '*');
    for (let place = 0; place < all.length && place < 8000; place += 1) notePaint(all[place]);
  };

  const observe = (options, first) => {
    let start = bodyOf(document) || rootOf(document);
    if (options.rootHandleId) {
      start = find(options.rootHandleId);
      if (!start) return fail('STALE_HANDLE', 'the element is no longer in the page');
    }
    table.clear();
    known.clear();
    forget();
    nextHandle = first;
    const result = {
      url: cut(String(window.location.href), 2000),
      title: cut(squeeze(titleOf(document)), 300),
      text: '', primary: null, blocks: [], outline: [], items: [], comments: [], elements: [],
      signals: [],
    };
    if (!start) return { value: result, next: nextHandle };

    const seen = new Map();
    const facts = { hasPassword: false, hasCaptcha: false, hasForeignFrame: false, hasPdf: false,
      hasClosedShadow: false, hasFeed: false, hasVirtualList: false, pictures: 0 };
    const later = { usable: [], blocks: [], headings: [], items: [], comments: [], mains: [] };
    const asides = [];
    const within = [];
    let lines = '';
    const room = () => lines.length <= options.maxChars * 2;
    const endLine = () => { if (lines && !lines.endsWith('\n')) lines += '\n'; };
    const isComplete = walk(start, MOST_NODES,
      (it) => {
        const how = hiding(it);
        if (how === 'gone') return false;
        note(it, facts);
        const tag = tagOf(it);
        seen.set(it, how);
        if (isBreak(it)) endLine();
        if (how !== 'mute' && isUsable(it)) later.usable.push(it);
        if (SKIPPED.has(tag)) return false;
        if (/^h[1-6]$/.test(tag) || roleOf(it) === 'heading') later.headings.push(it);
        if (BLOCKS.has(tag)) later.blocks.push(it);
        if (isAside(it)) asides.push(it);
        if (asides.length === 0) {
          if (isComment(it)) {
            later.comments.push([it, within.length]);
            within.push(it);
          }
          if (isItem(it)) later.items.push(it);
          if (matches(it, 'article,main,[role=main],[itemprop=articleBody],#content')) {
            later.mains.push(it);
          }
        }
        return true;
      },
      (it) => {
        if (asides[asides.length - 1] === it) asides.pop();
        if (within[within.length - 1] === it) within.pop();
        if (isBreak(it)) endLine();
        else if (styleOf(it).display === 'table-cell' && room()) lines += ' ';
      },
      (it) => {
        const parent = parentNode(it);
        const how = isElement(parent) ? seen.get(parent) : '';
        if (room() && how !== 'mute' && isShown(it)) lines += nodeValue(it).slice(0, options.maxChars * 2)
          .replace(/[\s\u00a0]+/g, ' ');
      });
    if (!isComplete) facts.hasVirtualList = true;

    const text = lines.split('\n').map(squeeze).filter((line) => line).join('\n');
    result.text = cut(text, options.maxChars);
    for (const it of later.headings.slice(0, options.maxOutline * 2)) {
      if (result.outline.length === options.maxOutline) break;
      const words = wordsOf(it, seen, options.maxOutlineChars);
      const digit = /^h([1-6])$/.exec(tagOf(it));
      const level = digit ? Number(digit[1]) : Number(attribute(it, 'aria-level') || 2);
      if (words) result.outline.push({ level: Math.min(Math.max(Math.trunc(level) || 2, 1), 6),
        tag: tagOf(it), role: cut(roleOf(it), 40), text: words });
    }
    for (const it of later.blocks.slice(0, options.maxBlocks * 4)) {
      if (result.blocks.length === options.maxBlocks) break;
      const words = wordsOf(it, seen, 1000);
      if (words) result.blocks.push({ tag: tagOf(it), text: words });
    }
    let main = null;
    let most = 0;
    for (const it of later.mains.slice(0, 20)) {
      const length = wordsOf(it, seen, 4000).length;
      if (length > most) {
        main = it;
        most = length;
      }
    }
    if (!main && isElement(start)) main = start;
    if (main && options.maxPrimaryChars > 0) {
      const words = wordsOf(main, seen, options.maxPrimaryChars);
      if (words) result.primary = { text: words, tag: tagOf(main), role: cut(roleOf(main), 40),
        handle_id: handleFor(main) };
    }
    const addresses = new Set();
    for (const it of later.items.slice(0, options.maxItems * 8)) {
      if (result.items.length === options.maxItems) break;
      const item = readItem(it, seen, options.maxItemChars);
      if (item && !addresses.has(item.url)) {
        addresses.add(item.url);
        result.items.push(item);
      }
    }
    for (const [it, depth] of later.comments.slice(0, options.maxComments)) {
      result.comments.push(readComment(it, depth, seen, options.maxCommentChars));
    }
    for (const it of later.usable.slice(0, options.maxElements)) {
      result.elements.push(describe(it, seen));
    }
    result.signals = signalsOf(text, seen, facts);
    return { value: result, next: nextHandle };
  };

  const inside = (outer, inner) => {
    for (let it = inner; it; it = parentNode(it) || it.host) if (it === outer) return true;
    return false;
  };

  // Brings an element into view and says where its middle is, if nothing is in the way.
  const locate = (id) => {
    const it = find(id);
    if (!it) return fail('STALE_HANDLE', 'the element is no longer in the page');
    if (isDisabled(it)) return fail('DISABLED', 'the element is disabled');
    const style = styleOf(it);
    if (style.visibility !== 'visible' || style.pointerEvents === 'none') {
      return fail('NOT_INTERACTABLE', 'the element takes no clicks');
    }
    scrollIntoView(it, { block: 'center', inline: 'center', behavior: 'instant' });
    const box = Array.from(boxesOf(it)).find((some) => some.width > 0 && some.height > 0);
    if (!box) return fail('NOT_INTERACTABLE', 'the element is not shown');
    const left = Math.max(box.left, 0);
    const top = Math.max(box.top, 0);
    const right = Math.min(box.right, window.innerWidth);
    const bottom = Math.min(box.bottom, window.innerHeight);
    if (right <= left || bottom <= top) {
      return fail('NOT_INTERACTABLE', 'the element cannot be brought into view');
    }
    const x = (left + right) / 2;
    const y = (top + bottom) / 2;
    let hit = hitIn(document, x, y);
    while (hit && shadowOf(hit)) {
      const deeper = hitIn(shadowOf(hit), x, y);
      if (!deeper || deeper === hit) break;
      hit = deeper;
    }
    const isLabel = (some) => some instanceof HTMLLabelElement && some.control === it;
    let isOurs = hit !== null && inside(it, hit);
    for (let up = hit; up && !isOurs; up = parentNode(up)) isOurs = isLabel(up);
    if (!isOurs) {
      const what = hit ? tagOf(hit) : 'nothing';
      return fail('BLOCKED_BY_OVERLAY', 'something lies over the element: ' + what);
    }
    return { value: { x, y } };
  };

  const deepFocus = () => {
    let it = focused(document);
    while (it && shadowOf(it) && shadowOf(it).activeElement) it = shadowOf(it).activeElement;
    return it;
  };

  const tell = (it, names) => {
    for (const name of names) dispatch(it, new Event(name, { bubbles: true, composed: true }));
  };

  // Puts the cursor into a field, with what is there selected. 'set' when the text went in already.
  const prepare = (id, text) => {
    const place = locate(id);
    if (place.error) return place;
    const it = find(id);
    const isInput = it instanceof HTMLInputElement;
    const isArea = it instanceof HTMLTextAreaElement;
    if (isInput && PICKED.has(it.type)) {
      if (it.readOnly) return fail('DISABLED', 'the field is read-only');
      focus(it);
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(it, text);
      if (it.value !== text && text) {
        return fail('INVALID_ARGUMENTS', 'the field takes no such value');
      }
      tell(it, ['input', 'change']);
      return { value: 'set' };
    }
    const isEditable = isHtml(it) && it.isContentEditable;
    if (!isArea && !isEditable && !(isInput && TYPED.has(it.type))) {
      return fail('NOT_INTERACTABLE', 'the element takes no text');
    }
    if ((isInput || isArea) && it.readOnly) return fail('DISABLED', 'the field is read-only');
    focus(it);
    const active = deepFocus();
    if (active !== it && !(isEditable && active && inside(active, it))) {
      return fail('NOT_INTERACTABLE', 'the element does not take the focus');
    }
    if (isInput || isArea) {
      it.select();
    } else {
      const range = document.createRange();
      range.selectNodeContents(it);
      const selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    }
    return { value: 'ready' };
  };

  const select = (id, wanted) => {
    const place = locate(id);
    if (place.error) return place;
    const it = find(id);
    if (!(it instanceof HTMLSelectElement)) {
      return fail('NOT_INTERACTABLE', 'the element is not a list to choose from');
    }
    const all = Array.from(it.options);
    const option = all.find((some) => some.value === wanted) ||
      all.find((some) => squeeze(some.text) === squeeze(wanted));
    if (!option) return fail('NOT_FOUND', 'the list has no such option');
    const group = parentNode(option);
    if (option.disabled || (group instanceof HTMLOptGroupElement && group.disabled)) {
      return fail('DISABLED', 'the option is disabled');
    }
    focus(it);
    for (const some of all) if (some !== option && it.multiple) some.selected = false;
    option.selected = true;
    tell(it, ['input', 'change']);
    return { value: true };
  };

  const scroll = (deltaY) => {
    const canScroll = (it) => {
      const style = styleOf(it);
      return it.scrollHeight > it.clientHeight + 1 && /auto|scroll/.test(style.overflowY);
    };
    let it = document.scrollingElement || rootOf(document);
    if (it && it.scrollHeight <= window.innerHeight + 1) {
      // The page itself does not move, but something in the middle of it may.
      let inner = hitIn(document, window.innerWidth / 2, window.innerHeight / 2);
      while (inner && isElement(inner) && !canScroll(inner)) inner = parentNode(inner);
      if (inner && isElement(inner)) it = inner;
    }
    if (!it) return fail('NOT_INTERACTABLE', 'there is nothing to scroll');
    Element.prototype.scrollBy.call(it, { top: deltaY, behavior: 'instant' });
    return { value: { top: Math.round(it.scrollTop),
      most: Math.max(0, Math.round(it.scrollHeight - it.clientHeight)) } };
  };

  const selectionLinks = (most) => {
    forget();
    const selection = window.getSelection();
    const links = [];
    const seenAddresses = new Set();
    for (let index = 0; index < selection.rangeCount; index += 1) {
      const range = selection.getRangeAt(index);
      if (range.collapsed) continue;
      let top = range.commonAncestorContainer;
      while (top && nodeType(top) !== 1 && nodeType(top) !== 9) top = parentNode(top);
      // A selection inside of a link means that link.
      for (let up = top; up && isElement(up); up = parentNode(up)) {
        if (up instanceof HTMLAnchorElement) top = parentNode(up) || up;
      }
      const found = nodeType(top) === 9
        ? Document.prototype.querySelectorAll.call(top, 'a[href]') : queryAll(top, 'a[href]');
      for (let place = 0; place < found.length && place < MOST_NODES; place += 1) {
        const link = found[place];
        const address = hrefOf(link);
        if (!address || !range.intersectsNode(link) || seenAddresses.has(address)) continue;
        if (hiding(link) === 'gone') continue;
        seenAddresses.add(address);
        let words = '';
        walk(link, MOST_NODES_OF_ONE, (it) => hiding(it) !== 'gone' && !SKIPPED.has(tagOf(it)), () => {},
          (it) => { if (words.length < 2000 && isShown(it)) words += nodeValue(it).slice(0, 2000); });
        links.push({ url: address, text: cut(squeeze(words), 200) });
        if (links.length === most) return { value: links };
      }
    }
    return { value: links };
  };

  const content = (most) => {
    const root = rootOf(document);
    const html = root ? '<!doctype html>' + outerHtml(root) : '';
    return { value: { url: cut(String(window.location.href), 8000),
      title: cut(squeeze(titleOf(document)), 300), html: cut(html, most), is_cut: html.length > most } };
  };

  const place = () => {
    const entry = performance.getEntriesByType('navigation')[0];
    return { value: { url: cut(String(window.location.href), 2000),
      title: cut(squeeze(titleOf(document)), 300),
      status: entry && entry.responseStatus > 0 ? entry.responseStatus : null } };
  };

  const settle = () => new Promise((done) => setTimeout(() => done({ value: true }), 60));

  return { observe, locate, prepare, select, scroll, selectionLinks, content, place, settle };
})()
