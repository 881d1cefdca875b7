/**
 * The translated HTML page in the flow view. It is shown in a frame without scripts (`sandbox`) whose content security
 * policy loads nothing. The workbench, which is outside the frame, reads the positions of the sentences and draws over
 * them. The frame is inert: it takes no clicks and no keys, so a hostile page can neither cover nor imitate the
 * workbench.
 */
import { nonce } from '../../ui/trusted-types.ts';
import { codesOf, type Piece, plainText, withoutCuts } from '../text/pieces.ts';
import { inertDocument } from './preview-frame.ts';

/** A rectangle in pixels of the page, which do not change when the page scrolls. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The maximum height. Browsers cannot lay out much higher elements. */
const MAX_HEIGHT = 8_000_000;

/** Styles that turn off scrolling and animations inside the page, so that each sentence stays where it was measured. */
const OWN_STYLE = `
html, body { overflow: visible !important; scroll-behavior: auto !important; }
*, ::before, ::after { animation: none !important; transition: none !important; }`;

/**
 * Attributes that load a file, except for the `href` of links, without which the browser would not style them as links.
 * The policy of the frame blocks these loads too, but the browser logs each of them.
 */
const LOADING = ['src', 'srcset', 'poster', 'background', 'data', 'href', 'xlink:href', 'ping', 'autofocus'];

/** The HTML comments that mark the start and the end of a segment. */
interface Ends {
  start: Comment;
  end: Comment;
}

export class PageFrame {
  readonly #frame: HTMLIFrameElement;
  #ends = new Map<number, Ends>();
  readonly #written = new Set<number>();

  constructor(frame: HTMLIFrameElement) {
    this.#frame = frame;
  }

  /** Replaces the page. @param mark the word in the HTML comments that mark segments */
  show(text: string, mark: string, language: string, direction: 'ltr' | 'rtl'): void {
    const page = this.#frame.contentDocument;
    const inert = inertDocument(text, mark);
    this.#ends = new Map();
    this.#written.clear();
    if (!page || !inert) return;
    const styles = withoutLoading(inert);
    const style = inert.createElement('style');
    style.setAttribute('nonce', nonce);
    style.textContent = OWN_STYLE;
    inert.head.append(style);
    const root = page.adoptNode(inert.documentElement);
    root.lang = language;
    root.dir = direction;
    page.replaceChild(root, page.documentElement);
    // Scripts may set styles that the content security policy refuses in markup.
    for (const [element, css] of styles) element.style.cssText = css;
    this.#findEnds(page, mark);
  }

  #findEnds(page: Document, mark: string): void {
    const comments = page.createTreeWalker(page, NodeFilter.SHOW_COMMENT);
    const starts = new Map<number, Comment>();
    for (let node = comments.nextNode(); node; node = comments.nextNode()) {
      const [word, number] = (node as Comment).data.split(' ');
      const position = Number(number);
      if (word === mark) starts.set(position, node as Comment);
      const start = starts.get(position);
      if (word === `/${mark}` && start) this.#ends.set(position, { start, end: node as Comment });
    }
  }

  get size(): { width: number; height: number } {
    const root = this.#frame.contentDocument?.documentElement;
    if (!root) return { width: 0, height: 0 };
    return { width: root.scrollWidth, height: Math.min(MAX_HEIGHT, root.scrollHeight) };
  }

  scrollTo(left: number, top: number): void {
    this.#frame.contentWindow?.scrollTo({ left, top, behavior: 'instant' });
  }

  /** Returns one box for each line of a segment. A segment in an attribute or in a hidden element has none. */
  boxesOf(position: number): Box[] {
    const ends = this.#ends.get(position);
    const view = this.#frame.contentWindow;
    if (!ends?.start.isConnected || !ends.end.isConnected || !view) return [];
    const range = ends.start.ownerDocument.createRange();
    range.setStartAfter(ends.start);
    range.setEndBefore(ends.end);
    const lines: Box[] = [];
    for (const { left, top, width, height } of range.getClientRects()) {
      if (width > 0 && height > 0)
        addToLine(lines, { left: left + view.scrollX, top: top + view.scrollY, width, height });
    }
    return lines;
  }

  /** Returns the position of the segment nearest to a point of the page, undefined if none is on its line or near it. */
  positionAt(left: number, top: number): number | undefined {
    let nearest: number | undefined;
    let least = 80;
    for (const position of this.#ends.keys()) {
      for (const box of this.boxesOf(position)) {
        const across = Math.max(0, box.left - left, left - box.left - box.width);
        const down = Math.max(0, box.top - top, top - box.top - box.height);
        const distance = Math.hypot(across, down * 2);
        if (distance >= least) continue;
        nearest = position;
        least = distance;
      }
    }
    return nearest;
  }

  /**
   * Writes a text that is not saved yet into the page. A segment with markup waits for the page that the server
   * assembles.
   */
  write(position: number, pieces: readonly Piece[]): void {
    const ends = this.#ends.get(position);
    if (!ends || codesOf(withoutCuts(pieces)).length > 0) return;
    const nodes: Node[] = [];
    for (let node = ends.start.nextSibling; node !== ends.end; node = node.nextSibling) {
      if (node?.nodeType !== Node.TEXT_NODE) return;
      nodes.push(node);
    }
    const text = plainText(pieces);
    if (nodes.map((node) => node.nodeValue).join('') === text) return;
    for (const node of nodes) node.parentNode!.removeChild(node);
    ends.end.before(text);
    this.#written.add(position);
  }

  /** Returns true if the page has a text for the segment that is not the one of the document. */
  hasWritten(position: number): boolean {
    return this.#written.has(position);
  }
}

/**
 * Merges a box into the last line if the box is on that line; otherwise adds a new line. Boxes of nested elements
 * overlap.
 */
function addToLine(lines: Box[], box: Box): void {
  const last = lines.at(-1);
  const middle = box.top + box.height / 2;
  if (!last || middle < last.top || middle > last.top + last.height) {
    lines.push(box);
    return;
  }
  const right = Math.max(last.left + last.width, box.left + box.width);
  const bottom = Math.max(last.top + last.height, box.top + box.height);
  last.left = Math.min(last.left, box.left);
  last.top = Math.min(last.top, box.top);
  last.width = right - last.left;
  last.height = bottom - last.top;
}

/**
 * Removes event handlers and the addresses of files. Returns the `style` attributes, which it also removes, with their
 * elements.
 */
function withoutLoading(inert: Document): [HTMLElement, string][] {
  const styles: [HTMLElement, string][] = [];
  for (const element of inert.querySelectorAll<HTMLElement>('*')) {
    const link = element.localName === 'a' || element.localName === 'area';
    const css = element.getAttribute('style');
    if (css !== null) styles.push([element, withoutAddresses(css)]);
    for (const { name } of [...element.attributes]) {
      if (name === 'href' && link) continue;
      if (name === 'style' || name.startsWith('on') || LOADING.includes(name)) element.removeAttribute(name);
    }
    if (element.localName === 'style') element.textContent = withoutAddresses(element.textContent);
  }
  return styles;
}

/**
 * Removes `url(…)`, `src(…)` and `@import` from styles, except where they are written with CSS escapes. As in CSS, an
 * unclosed `url(` extends to the end of the text, so matching takes linear time.
 */
const withoutAddresses = (css: string): string =>
  css.replace(/@import[^;]*;?/gi, '').replace(/\b(?:url|src)\([^)]*\)?/gi, 'none');
