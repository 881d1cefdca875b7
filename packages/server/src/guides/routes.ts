/**
 * The route `/docs`: the guides and the API reference. The pages need no authentication and load nothing from
 * other servers.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { resource } from '../http/http.ts';
import { type Guide, readGuides } from './guides.ts';
import { layOut, layOutMissing } from './layout.ts';
import { readReference } from './reference.ts';

const STYLES = ['../../../web/src/ui/tokens.css', './guides.css'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const FIRST = 'quick-start';

const COMMON = ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"];
/** The Content-Security-Policy of guides. It allows no scripts. */
const GUIDE_POLICY = [...COMMON, "style-src 'self'", 'img-src data:', "form-action 'none'"].join('; ');
/**
 * Returns the Content-Security-Policy of the API reference. It allows the script's own file, the script with
 * the nonce, and inline styles.
 */
const referencePolicy = (nonce: string) =>
  [
    ...COMMON,
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "form-action 'self'",
  ].join('; ');

export function guideRoutes(app: FastifyInstance): void {
  const guides = once(async () => new Map((await readGuides()).map((guide) => [guide.name, guide])));
  const styles = once(async () =>
    Buffer.from((await Promise.all(STYLES.map((file) => readFile(file, 'utf8')))).join('\n')),
  );

  async function show(name: string, reply: FastifyReply): Promise<FastifyReply> {
    const all = await guides();
    const guide: Guide | undefined = all.get(name);
    const html = guide === undefined ? layOutMissing() : layOut(guide, [...all.values()]);
    return reply
      .code(guide === undefined ? 404 : 200)
      .headers({ 'content-security-policy': GUIDE_POLICY, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(html);
  }

  resource(app, '/docs', { GET: (_, reply) => show(FIRST, reply) });
  resource(app, '/docs/:guide', {
    GET: (request, reply) => show((request.params as { guide: string }).guide, reply),
  });
  resource(app, '/docs/guides.css', {
    async GET(request, reply) {
      const text = await styles();
      const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
      reply.headers({ etag: tag, 'cache-control': 'no-cache' });
      // At each use the browser asks the server whether its cached copy is up to date.
      if (request.headers['if-none-match']?.includes(tag)) return reply.code(304).send();
      return reply.type('text/css; charset=utf-8').send(text);
    },
  });
  resource(app, '/docs/reference', {
    async GET(_, reply) {
      const reference = await readReference();
      const nonce = randomBytes(16).toString('base64');
      return reply
        .headers({ 'content-security-policy': referencePolicy(nonce), 'cache-control': 'no-cache, private' })
        .type('text/html; charset=utf-8')
        .send(reference.html(nonce));
    },
  });
  resource(app, '/docs/reference/scalar.js', {
    async GET(_, reply) {
      const { script } = await readReference();
      return reply
        .headers({ 'content-encoding': 'gzip', 'cache-control': 'public, max-age=3600' })
        .type('text/javascript; charset=utf-8')
        .send(script);
    },
  });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
