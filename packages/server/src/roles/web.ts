/**
 * Serves the web app from `packages/web/dist`, the output of `npm run build`. Every path below `/app/` that
 * is not a file is answered with the page, whose script shows the view for the path.
 *
 * The content security policy allows only the app's own files, and forbids creating markup from strings (Trusted
 * Types). The nonce for styles is new in each answer. The names of files contain a hash, so files are cached for a
 * year. The page is not cached.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../base/errors.ts';
import { resource } from '../http/http.ts';
import type { Settings } from '../settings/settings.ts';

const DIST = fileURLToPath(new URL('../../../web/dist/', import.meta.url));
const NOT_BUILT = 'The web app is not built: run `npm run build`, and load this page again.\n';
/** The placeholder of the nonce in `index.html`. */
const NONCE = '{{nonce}}';
const YEAR_SECONDS = 365 * 24 * 3600;

/** Returns the content security policy. @param nonce the nonce of the page's styles */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    // Names of Trusted Types policies of the web app: `default` refuses all markup; `dragoman-preview` is for the
    // document in the preview.
    'trusted-types default dragoman-preview',
  ].join('; ');
}

const PAGE_HEADERS = {
  'cache-control': 'no-cache, private',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // The preview contains links of customers' documents. Browsers must not look up their host names in advance.
  'x-dns-prefetch-control': 'off',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

export interface WebOptions {
  settings: Pick<Settings, 'publicUrl'>;
  /** The folder with the output of the build. */
  dist?: string;
}

export function webRoutes(app: FastifyInstance, { settings, dist = DIST }: WebOptions): void {
  const https = settings.publicUrl?.startsWith('https:') ?? false;
  void app.register(fastifyStatic, { root: dist, serve: false, preCompressed: true, cacheControl: false });

  app.addHook('onRequest', async (_, reply) => {
    if (https) reply.header('strict-transport-security', `max-age=${YEAR_SECONDS}`);
  });

  resource(app, '/', { GET: async (_, reply) => reply.redirect('/app/') });
  const page = (request: FastifyRequest, reply: FastifyReply) => sendPage(dist, request, reply);
  resource(app, '/app', { GET: page });
  resource(app, '/app/*', { GET: page });
  resource(app, '/app/assets/:file', {
    async GET(request, reply) {
      const { file } = request.params as { file: string };
      // Only names of files that the build creates are accepted, without `.br` or `.gz`: the server itself chooses
      // the compressed file.
      if (!/^[\w.-]+\.(js|css|json|woff2|svg)$/.test(file)) throw notFound();
      reply.header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`);
      return reply.sendFile(`assets/${file}`, dist);
    },
  });
}

async function sendPage(dist: string, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const html = await readFile(`${dist}index.html`, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (html === undefined) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  const nonce = randomBytes(16).toString('base64');
  reply.headers({ ...PAGE_HEADERS, 'content-security-policy': policy(nonce) });
  return reply
    .type('text/html; charset=utf-8')
    .send(html.replaceAll(NONCE, nonce).replace('<html lang="en">', rootOf(request.headers.cookie)));
}

/** Returns the root element with the user's last theme and language, so that the page looks right from the start. */
function rootOf(cookies = ''): string {
  const [, theme, language = 'en'] =
    /(?:^|; )dragoman_look=(system|light|dark)\.([a-z]{2})(?:;|$)/.exec(cookies) ?? [];
  const direction = RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr';
  const scheme = theme === 'light' || theme === 'dark' ? ` data-mantine-color-scheme="${theme}"` : '';
  return `<html lang="${language}" dir="${direction}"${scheme}>`;
}

const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur']);
