/**
 * The reference of the interface, drawn in the reader's browser out of `/openapi.json` by a program that is served
 * from here. Everything in it that would ask somebody else is turned off.
 *
 * That program is four megabytes of text, so it is loaded when somebody first asks for it, packed once, and kept.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import fastify from 'fastify';

export interface Reference {
  /** @param nonce of the page's scripts */
  html(nonce: string): string;
  /** Packed with gzip. */
  script: Buffer;
}

/** Stands in the page for the nonce. */
const NONCE = 'NONCE-OF-THIS-ANSWER';

const CONFIGURATION = {
  url: '/openapi.json',
  pageTitle: 'Reference · Dragoman',
  nonce: NONCE,
  cdn: '/docs/reference/scalar.js',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
} as const;

let made: Promise<Reference> | undefined;

export function readReference(): Promise<Reference> {
  made ??= makeReference();
  made.catch(() => {
    made = undefined;
  });
  return made;
}

async function makeReference(): Promise<Reference> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(plugin, { routePrefix: '/reference', configuration: CONFIGURATION });
  const [page, script] = await Promise.all([
    app.inject('/reference/'),
    app.inject('/reference/js/scalar.js'),
  ]);
  await app.close();
  const html = page.body.replace('<html>', '<html lang="en">');
  return {
    html: (nonce) => html.replaceAll(NONCE, nonce),
    script: await promisify(gzip)(script.rawPayload),
  };
}
