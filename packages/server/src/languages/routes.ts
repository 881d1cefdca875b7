/** The route for the list of language pairs: `/tapi/v2/language_pair/`. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { resource } from '../http/http.ts';
import type { Languages } from './languages.ts';
import { listPairsSchema } from './schemas.ts';

/** Lists with at least this many pairs are compressed. Shorter lists fit into one or two network packets. */
const MIN_COMPRESSED_PAIRS = 20;

export function languageRoutes(app: FastifyInstance, { languages }: { languages: Languages }): void {
  const compressed = new WeakMap<object, Promise<Buffer>>();

  /**
   * Compresses each cached list once. Compression is safe here: the list contains no secrets and no data of
   * the request, so its length reveals nothing.
   */
  function compress(objects: object): Promise<Buffer> {
    const made = compressed.get(objects) ?? promisify(gzip)(JSON.stringify({ objects }));
    compressed.set(objects, made);
    return made;
  }

  resource(app, '/tapi/v2/language_pair/', {
    GET: {
      schema: listPairsSchema,
      scope: 'any',
      async handler({ caller, headers }, reply) {
        const objects = await languages.pairs(caller.environment);
        reply.header('vary', 'accept-encoding');
        if (!acceptsGzip(headers['accept-encoding']) || objects.length < MIN_COMPRESSED_PAIRS)
          return { objects };
        const body = await compress(objects);
        return reply.header('content-encoding', 'gzip').type('application/json; charset=utf-8').send(body);
      },
    },
  });
}

/** Returns whether a client accepts gzip according to its `Accept-Encoding` header (RFC 9110, 12.5.3). */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '')
    .toLowerCase()
    .split(',');
  return codings.some((coding) => {
    const [name, ...parameters] = coding.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return name === 'gzip' && Number(quality?.slice(2) ?? 1) > 0;
  });
}
