/** A customer's HTML as a document of its own, for the frame of the preview. */

/**
 * Nothing is fetched and nothing runs: the frame is sandboxed without scripts and without an origin, and this comes
 * before anything of the document can. Only styles that stand in the document itself are used.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

/**
 * The page lets no text become markup, except this one: it goes into `srcdoc`, which is another document. The policy is
 * named in the page's own.
 */
const policy = () =>
  (
    globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): Policy } }
  ).trustedTypes?.createPolicy('dragoman-preview', { createHTML: (text: string) => text });

interface Policy {
  createHTML(text: string): string;
}

let made: Policy | undefined;

export function framed(text: string, language: string, direction: 'ltr' | 'rtl'): string {
  const head = `<!doctype html><html lang="${language}" dir="${direction}"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="referrer" content="no-referrer"><base target="_blank">`;
  const page = head + text;
  made ??= policy();
  return made?.createHTML(page) ?? page;
}
