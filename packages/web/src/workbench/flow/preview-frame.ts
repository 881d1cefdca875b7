/** Prepares a customer's HTML for the sandboxed frame of the translated page. */
import { nonce } from '../../ui/trusted-types.ts';

/**
 * The content security policy of the frame, written before its document. The frame is also sandboxed without scripts
 * and without an origin, so it fetches and runs nothing. Only inline styles apply.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

/**
 * Elements that open connections outside the content security policy (preconnect, dns-prefetch, speculation rules),
 * change how the document loads, or embed another document.
 */
const CONNECTING =
  'link, meta, base, script, template, iframe, frame, frameset, object, embed, portal, fencedframe';
/**
 * Serializing and parsing a document again can produce new elements, so the removal is repeated until none is
 * found.
 */
const MAX_PASSES = 5;

/**
 * The only Trusted Types policy that lets text become markup: it goes into `srcdoc`, which is another document. The
 * page's content security policy names it.
 */
const createPolicy = () =>
  (
    globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): Policy } }
  ).trustedTypes?.createPolicy('dragoman-preview', { createHTML: (text: string) => text });

interface Policy {
  createHTML(text: string): string;
}

let previewPolicy: Policy | undefined;

function trusted(text: string): string {
  previewPolicy ??= createPolicy();
  return previewPolicy?.createHTML(text) ?? text;
}

/** Returns the content of the frame's `srcdoc`: an empty document with the policy. */
export function emptyFrame(language: string, direction: string): string {
  return trusted(
    `<!doctype html><html lang="${language}" dir="${direction}"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="referrer" content="no-referrer">`,
  );
}

/**
 * Parses a document without elements that could open connections. The result has no window, so it fetches and runs
 * nothing. Returns undefined when these elements cannot be removed.
 */
export function inertDocument(text: string, mark?: string): Document | undefined {
  // Without the nonce, the browser would report each style while it parses the text.
  let html = text.replaceAll(/<style(?=[\s>])/gi, `<style nonce="${nonce}"`);
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    // A document without a window fetches and runs nothing. But the browser console still reports its inline
    // handlers.
    const inert = new DOMParser().parseFromString(trusted(html), 'text/html');
    removeHidingNames(inert);
    const found = inert.querySelectorAll(CONNECTING);
    if (pass > 0 && found.length === 0) return inert;
    for (const element of found) element.remove();
    // The frame inherits the content security policy of the page, which allows only styles with its nonce.
    // Styles cannot fetch anything either.
    for (const style of inert.querySelectorAll('style')) style.setAttribute('nonce', nonce);
    if (mark !== undefined) removeVisibleMarks(inert, mark);
    html = inert.documentElement.outerHTML;
  }
  return undefined;
}

/**
 * The elements whose name or id becomes a property of the document or of their form, and hides a property of the same
 * name there ("DOM clobbering").
 */
const NAMED = 'form, img, iframe, embed, object, button, fieldset, input, output, select, textarea';

/**
 * Removes the names and ids that hide properties of documents and forms, such as `body` or `attributes`. Reads through
 * prototypes, which nothing can hide, so that later code may use all properties.
 */
function removeHidingNames(inert: Document): void {
  for (const element of Document.prototype.querySelectorAll.call(inert, NAMED)) {
    for (const attribute of ['id', 'name']) {
      const value = Element.prototype.getAttribute.call(element, attribute);
      if (value === null || !(value in Document.prototype || value in HTMLFormElement.prototype)) continue;
      Element.prototype.removeAttribute.call(element, attribute);
    }
  }
}

/** Removes the comments that mark segments from elements with text-only content, where a comment would be visible. */
function removeVisibleMarks(inert: Document, mark: string): void {
  for (const element of inert.querySelectorAll('textarea, title')) {
    const text = element.textContent;
    const clean = text.replaceAll(/<!--\/?([0-9a-f]+) \d+-->/g, (found, word: string) =>
      word === mark ? '' : found,
    );
    if (clean !== text) element.textContent = clean;
  }
}
