/**
 * The API reference. A script that this server serves renders it in the browser from `/openapi.json`. The
 * configuration turns off all requests of the script to other servers.
 *
 * The script has four megabytes, so it is loaded and compressed at the first request and then kept in memory.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import fastify from 'fastify';

export interface Reference {
  /** Returns the HTML page. @param nonce the nonce that allows its scripts */
  html(nonce: string): string;
  /** The script that renders the reference (Scalar), compressed with gzip. */
  script: Buffer;
}

/** The script's placeholder in the field for the API key. It is replaced by the format of our keys. */
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
  // The plugin may take any time to load: it reads 3 MB, and after a timeout the next request would read them again.
  const app = fastify({ pluginTimeout: 0 });
  await app.register(plugin, { routePrefix: '/reference', configuration: CONFIGURATION });
  const [page, script] = await Promise.all([
    app.inject('/reference/'),
    app.inject('/reference/js/scalar.js'),
  ]);
  await app.close();
  // Browsers request /favicon.ico unless the page links to an icon. The page therefore links to an empty
  // icon.
  const html = page.body
    .replace('<html>', '<html lang="en">')
    .replace('<head>', '<head><link rel="icon" href="data:,">');
  return {
    html: (nonce) => html.replaceAll(NONCE, nonce),
    script: await promisify(gzip)(script.payload.replaceAll(PLACEHOLDER, KEY_PLACEHOLDER)),
  };
}
