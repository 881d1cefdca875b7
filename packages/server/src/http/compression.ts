/**
 * Compresses answers of 1 kB or more with Brotli or gzip, as the client's `Accept-Encoding` header asks.
 *
 * BREACH: a page of another site could find out a secret of a compressed answer from the answer's length, if
 * it makes a browser send its guesses with the user's credentials. It cannot do so with API keys, because a
 * browser never sends them by itself. Cookies have `SameSite=Lax`, so only a link or a new window of another
 * site sends them; answers to such requests are not compressed (`mayCompress`).
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addVary, isWebPath } from './http.ts';

type Coding = 'br' | 'gzip';

/** Shorter answers fit into one network packet, whether or not they are compressed. */
const LEAST_BYTES = 1024;
const COMPRESSIBLE = /^(?:application\/(?:json|javascript|xml)|text\/(?!event-stream)|image\/svg\+xml)/;

/** Quality 4 compresses JSON better than gzip does, in less time. The default of 11 takes fifty times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const compressors: Record<Coding, (body: Buffer | string) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, BROTLI),
  gzip: (body) => promisify(gzip)(body),
};

/** Adds the compression of answers to all routes of `app`. Streams are sent as they are. */
export function compressAnswers(app: FastifyInstance): void {
  /** Answers that are sent again as the same `Buffer`, such as documents, are compressed once. */
  const compressed = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>();

  function compress(body: Buffer | string, coding: Coding): Promise<Buffer> {
    if (typeof body === 'string') return compressors[coding](body);
    const made = compressed.get(body) ?? new Map<Coding, Promise<Buffer>>();
    compressed.set(body, made);
    const known = made.get(coding) ?? compressors[coding](body);
    made.set(coding, known);
    return known;
  }

  app.addHook('onSend', async (request, reply, body: unknown) => {
    if (!(typeof body === 'string' || Buffer.isBuffer(body)) || !isCompressible(reply, body)) return body;
    addVary(reply, 'accept-encoding');
    const coding = codingOf(request.headers['accept-encoding']);
    if (coding === undefined || !mayCompress(request)) return body;
    reply.header('content-encoding', coding).removeHeader('content-length');
    // The compressed answer has other bytes, so it cannot have the same strong validator (RFC 9110, 8.8.1).
    const etag = reply.getHeader('etag');
    if (typeof etag === 'string' && etag.startsWith('"')) reply.header('etag', `W/${etag}`);
    return compress(body, coding);
  });
}

function isCompressible(reply: FastifyReply, body: Buffer | string): boolean {
  return (
    Buffer.byteLength(body) >= LEAST_BYTES &&
    !reply.hasHeader('content-encoding') &&
    COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? ''))
  );
}

/** Returns whether no page of another site can have caused the request with a user's cookie. */
function mayCompress({ url, routeOptions, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  // The path of the route, because a request can spell its own path in other ways.
  return (
    !isWebPath(routeOptions.url ?? url) || site === undefined || site === 'same-origin' || site === 'none'
  );
}

/** Returns the coding that a client prefers according to its `Accept-Encoding` header (RFC 9110, 12.5.3). */
function codingOf(header: string | string[] | undefined): Coding | undefined {
  const qualities = new Map<string, number>();
  for (const written of String(header ?? '')
    .toLowerCase()
    .split(',')) {
    const [name = '', ...parameters] = written.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    qualities.set(name, Number(quality?.slice(2) ?? 1) || 0);
  }
  const qualityOf = (coding: Coding) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const [br, gzip] = [qualityOf('br'), qualityOf('gzip')];
  if (br > 0 && br >= gzip) return 'br';
  return gzip > 0 ? 'gzip' : undefined;
}
