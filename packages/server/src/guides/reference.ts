/**
 * The API reference, rendered in the browser from `/openapi.json` by a script that this server serves. All requests of
 * the script to other servers are turned off.
 *
 * The script has four megabytes, so it is loaded and compressed at the first request and kept in memory.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import fastify from 'fastify';

export interface Reference {
  /** Returns the page. @param nonce the nonce of its scripts */
  html(nonce: string): string;
  /** Compressed with gzip. */
  script: Buffer;
}

/** The script's placeholder in the field for the key, and its replacement. */
const PLACEHOLDER = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';
const KEY_PLACEHOLDER = 'ApiKey USERNAME:KEY';

/** The placeholder of the nonce in the page. */
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
  // Without a link to an icon, browsers request /favicon.ico.
  const html = page.body
    .replace('<html>', '<html lang="en">')
    .replace('<head>', '<head><link rel="icon" href="data:,">');
  return {
    html: (nonce) => html.replaceAll(NONCE, nonce),
    script: await promisify(gzip)(script.payload.replaceAll(PLACEHOLDER, KEY_PLACEHOLDER)),
  };
}
