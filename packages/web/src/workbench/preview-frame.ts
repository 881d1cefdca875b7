/** Prepares a customer's HTML for the preview's sandboxed frame. */
import { nonce } from '../ui/trusted-types.ts';

/**
 * The frame fetches nothing and runs nothing: it is sandboxed without scripts and without an origin, and this policy
 * stands before the document. Only inline styles apply.
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

/** Returns the content of the frame's `srcdoc`. */
export function framed(text: string, language: string, direction: 'ltr' | 'rtl'): string {
  const head = `<!doctype html><html lang="${language}" dir="${direction}"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="referrer" content="no-referrer"><base target="_blank">`;
  return trusted(head + withoutConnections(text));
}

/** Removes elements that could open connections. Returns an empty document when they cannot be removed. */
function withoutConnections(text: string): string {
  let html = text;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    // A document without a window fetches and runs nothing. But the browser console still reports its inline
    // handlers.
    const inert = new DOMParser().parseFromString(trusted(html), 'text/html');
    const found = inert.querySelectorAll(CONNECTING);
    if (pass > 0 && found.length === 0) return html;
    for (const element of found) element.remove();
    // The frame inherits the content security policy of the page, which allows only styles with its nonce.
    // Styles cannot fetch anything either.
    for (const style of inert.querySelectorAll('style')) style.setAttribute('nonce', nonce);
    html = inert.documentElement.outerHTML;
  }
  return '';
}
