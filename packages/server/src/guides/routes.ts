/**
 * The route `/docs`: the guides and the API reference. The pages need no authentication and load nothing from
 * other servers.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { resource } from '../http/http.ts';
import { FILES, ROOT, readGuides } from './guides.ts';
import { layOut, layOutMissing, layOutSearch, STYLES } from './layout.ts';
import { readReference } from './reference.ts';
import { MAX_QUERY_CHARACTERS, searchGuides } from './search.ts';

const COPY_SCRIPT = fileURLToPath(new URL('./copy.js', import.meta.url));
const FIRST = 'quick-start';

const COMMON = ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"];
/** The Content-Security-Policy of guides. The only script adds the buttons that copy code. */
const GUIDE_POLICY = [
  ...COMMON,
  "script-src 'self'",
  `style-src 'sha256-${createHash('sha256').update(STYLES).digest('base64')}'`,
  'img-src data:',
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
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
  const script = once(() => readFile(COPY_SCRIPT));

  const show = (reply: FastifyReply, html: string, code = 200): FastifyReply =>
    reply
      .code(code)
      .headers({ 'content-security-policy': GUIDE_POLICY, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(html);

  async function showGuide(name: string, reply: FastifyReply): Promise<FastifyReply> {
    const all = await guides();
    const guide = all.get(name);
    return guide === undefined
      ? show(reply, layOutMissing(), 404)
      : show(reply, layOut(guide, [...all.values()]));
  }

  resource(app, '/docs', { GET: (_, reply) => showGuide(FIRST, reply) });
  resource(app, '/docs/:guide', {
    GET: (request, reply) => showGuide((request.params as { guide: string }).guide, reply),
  });
  for (const path of FILES) {
    resource(app, `/docs/${path}`, {
      async GET(_, reply) {
        const content = await readFile(`${ROOT}${path}`);
        return reply.headers({ 'cache-control': 'no-cache' }).type('text/plain; charset=utf-8').send(content);
      },
    });
  }
  resource(app, '/docs/search', {
    async GET(request, reply) {
      const { q } = request.query as { q?: unknown };
      const query = typeof q === 'string' ? q.trim().slice(0, MAX_QUERY_CHARACTERS) : '';
      const all = [...(await guides()).values()];
      return show(reply, layOutSearch(query, searchGuides(all, query), all));
    },
  });
  resource(app, '/docs/copy.js', {
    // At each use the browser asks the server whether its cached copy of the file is up to date.
    async GET(request, reply) {
      const content = await script();
      const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
      reply.headers({ etag: tag, 'cache-control': 'no-cache' });
      if (request.headers['if-none-match']?.includes(tag)) return reply.code(304).send();
      return reply.type('text/javascript; charset=utf-8').send(content);
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
