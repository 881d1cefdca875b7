/**
 * The route `/mcp`: the Model Context Protocol over streamable HTTP, without sessions. The tools call the routes
 * of this process with the API key of the request.
 */
import { createDragoman } from '@dragoman/client';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Environment } from '../base/account.ts';
import { resource } from '../http/http.ts';

/** A base address for requests that never leave the process. */
const HERE = 'http://here';

export function agentRoutes(app: FastifyInstance, environment: Environment): void {
  const closing = new AbortController();
  // Ends the waits for results before the server waits for open requests.
  app.addHook('preClose', async () => closing.abort());
  let handler: Promise<McpHttpHandler> | undefined;

  async function createHandler(): Promise<McpHttpHandler> {
    const [{ createMcpHandler }, { createAgentServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('./tools.ts'),
    ]);
    return createMcpHandler(
      ({ requestInfo }) => {
        const dragoman = createDragoman({
          baseUrl: HERE,
          key: '', // `sendWith` replaces the header.
          sandbox: environment === 'sandbox',
          fetch: sendWith(app, requestInfo!.headers.get('authorization')!),
        });
        return createAgentServer(dragoman, { signal: closing.signal });
      },
      // The tools never change, so there is nothing to subscribe to.
      { maxSubscriptions: 0 },
    );
  }

  resource(app, '/mcp', {
    POST: {
      schema: { hide: true, body: Type.Unknown() },
      scope: 'any',
      readOnlyKeys: true,
      bodyLimit: 'texts',
      unchecked: true,
      async handler(request, reply) {
        const gone = new AbortController();
        reply.raw.once('close', () => gone.abort());
        handler ??= createHandler();
        const { fetch } = await handler;
        return reply.send(await fetch(toWebRequest(request, gone.signal), { parsedBody: request.body }));
      },
    },
  });
}

/** Returns the request without its body, which is passed on in its parsed form. */
function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name !== 'content-length' && value !== undefined) headers.set(name, String(value));
  }
  return new Request(`${HERE}/mcp`, { method: 'POST', headers, signal });
}

/** Returns a `fetch` that sends requests to the routes of this process. @param authorization the header of all requests */
function sendWith(app: FastifyInstance, authorization: string): typeof fetch {
  return async (address, init) => {
    const { method, headers, body } = init as { method: 'GET' | 'POST'; headers: object; body?: string };
    const url = String(address).slice(HERE.length);
    const request = { method, url, headers: { ...headers, authorization } };
    const answer = await app.inject(body === undefined ? request : { ...request, payload: body });
    const answered = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
    return new Response(answer.payload, {
      status: answer.statusCode,
      headers: Object.fromEntries(answered),
    });
  };
}
