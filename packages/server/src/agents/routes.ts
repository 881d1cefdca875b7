/**
 * The route `/mcp`: the Model Context Protocol over streamable HTTP, without sessions. The tools call the routes
 * of this process with the API key of the request.
 */
import { createDragoman } from '@dragoman/client';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Environment } from '../base/account.ts';
import { fieldError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { resource } from '../http/http.ts';
import type { Waits } from './waits.ts';

/** The base of the URLs of requests within this process, because URLs must be absolute. */
const HERE = 'http://here';

export interface AgentRouteOptions {
  log: Log;
  /** The waiting calls of both environments, counted together. */
  waits: Waits;
}

export function agentRoutes(
  app: FastifyInstance,
  { log, waits }: AgentRouteOptions,
  environment: Environment,
): void {
  const closing = new AbortController();
  // Makes the calls that wait for results answer now. Otherwise a stopping server would wait for them.
  app.addHook('preClose', async () => closing.abort());
  let handler: Promise<McpHttpHandler> | undefined;

  /** Logs no message, because the SDK quotes the request in some messages. */
  function logRefused({ name }: Error): void {
    log.warn({ name, environment }, 'the protocol of agents reported an error');
  }

  async function createHandler(): Promise<McpHttpHandler> {
    // One after the other: each is a long turn of the event loop.
    const { createMcpHandler } = await import('@modelcontextprotocol/server');
    const { createAgentServer } = await import('./tools.ts');
    return createMcpHandler(
      ({ requestInfo, authInfo }) => {
        const dragoman = createDragoman({
          baseUrl: HERE,
          key: '', // Not used: `sendWith` replaces the authorization header.
          sandbox: environment === 'sandbox',
          retries: 0, // Retries would add requests to a server that refuses them because it is busy.
          fetch: sendWith(app, requestInfo!.headers.get('authorization')!),
        });
        const onError = (error: unknown, tool: string) => log.error({ error, tool }, 'tool failed');
        const takeWait = () => waits.take(authInfo!.clientId);
        const server = createAgentServer(dragoman, { signal: closing.signal, takeWait, onError });
        server.server.onerror = logRefused;
        return server;
      },
      // The list of tools never changes, so clients need no subscriptions.
      { maxSubscriptions: 0, onerror: logRefused },
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
        if (Array.isArray(request.body) && request.body.length > 1) {
          throw fieldError('body', 'must be one message, because a list has no limit of requests.');
        }
        handler ??= createHandler().catch((error: unknown) => {
          handler = undefined; // The next request tries again to create the handler.
          throw error;
        });
        const { fetch } = await handler;
        // The SDK passes the account (`clientId`) on to the server of the tools. The key stays in the header.
        const authInfo = { token: '', clientId: request.caller.account.accountId, scopes: [] };
        const web = toWebRequest(request, gone.signal);
        return reply.send(await fetch(web, { parsedBody: request.body, authInfo }));
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
