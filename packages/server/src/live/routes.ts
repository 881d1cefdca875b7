/** `GET /api/live`: one event stream for each open page of a signed-in user. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requirePerson, requireSameOrigin, type SessionAuthOptions } from '../access/session-auth.ts';
import { ApiError } from '../base/errors.ts';
import { parametersOf, resource } from '../http/http.ts';
import type { Hub, LiveSubscription, Subscriber } from './hub.ts';
import { liveSchema } from './schemas.ts';
import { readTopics, type TopicOptions } from './topics.ts';

export interface LiveRouteOptions extends TopicOptions, Pick<SessionAuthOptions, 'settings'> {
  live: Hub;
}

/** Milliseconds between comments in a stream, which keep proxies from closing the connection as idle. */
const HEARTBEAT_MILLISECONDS = 15_000;
/**
 * The reconnection delay in ms for clients other than our own pages, which schedule their reconnection
 * themselves.
 */
const RETRY_MILLISECONDS = 5_000;
const RETRY_AFTER = { 'retry-after': '30' };

export const LIVE_PATH = '/api/live';

export function liveRoutes(app: FastifyInstance, options: LiveRouteOptions): void {
  // Ends the streams before the server waits for open requests, because streams never end by themselves.
  app.addHook('preClose', async () => options.live.endAll());
  void app.register(async (signedIn) => {
    requireSameOrigin(signedIn, options.settings);
    requirePerson(signedIn, options, 'customer', 'editor', 'operator');
    resource(signedIn, LIVE_PATH, {
      GET: {
        schema: liveSchema,
        unchecked: true,
        handler: (request, reply) => open(options, request, reply),
      },
    });
  });
}

async function open(options: LiveRouteOptions, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const topics = await readTopics(options, request.person, parametersOf(request).getAll('topic'));
  if (request.method === 'HEAD') {
    await reply.type('text/event-stream').send('');
    return;
  }
  const { raw } = reply;
  const { sessionId, userId, role, account } = request.person;
  const write = (event: string, data: object) =>
    raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const writeUnlessFull = (event: string, data: object) => {
    if (raw.writableNeedDrain) return false;
    write(event, data);
    return true;
  };
  const subscriber: Subscriber = {
    sessionId,
    userId,
    accountId: account?.ref.accountId,
    role,
    topics,
    changed: (topic) => writeUnlessFull('changed', { topic }),
    progressed: (topic, { drafted, segments }) => writeUnlessFull('progress', { topic, drafted, segments }),
    end(reason) {
      if (reason === 'session') write('ended', {});
      leave();
      raw.end();
    },
  };
  const subscription = options.live.subscribe(subscriber);
  if (subscription === 'person' || subscription === 'account') {
    const whose = subscription === 'person' ? 'this user' : 'the users of this account';
    const message = `Too many live-update streams for ${whose}. Close some tabs.`;
    throw new ApiError('too_many_streams', message, RETRY_AFTER);
  }
  if (subscription === 'process') {
    throw new ApiError('unavailable', 'Too many live-update streams in this process.', RETRY_AFTER);
  }
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(':\n\n');
  }, HEARTBEAT_MILLISECONDS);
  function leave(): void {
    clearInterval(heartbeat);
    (subscription as LiveSubscription).cancel();
  }
  raw.once('close', leave);
  reply.hijack();
  // The client disconnected before this listener existed, so the `close` event was missed.
  if (raw.destroyed) return leave();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    // Stops nginx from buffering the stream.
    'x-accel-buffering': 'no',
  });
  // Other processes must know of the subscription before the page reads. Otherwise the page would miss
  // changes in between.
  await subscription.ready;
  if (!raw.writableEnded) raw.write(`retry: ${RETRY_MILLISECONDS}\n\n`);
}
