/** `GET /api/live`: one stream of hints for each window of a person who is signed in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type DoorOptions, requirePerson, requireSameOrigin } from '../accounts/door.ts';
import { ApiError } from '../errors.ts';
import { parametersOf, resource } from '../http.ts';
import type { Hub, Joined, Onlooker } from './hub.ts';
import { schemas } from './schemas.ts';
import { readTopics, type TopicOptions } from './topics.ts';

export interface LiveRouteOptions extends TopicOptions, Pick<DoorOptions, 'settings'> {
  live: Hub;
}

/** Something comes this often, so that whoever stands between does not take the line for dead. */
const HEARTBEAT_MILLISECONDS = 15_000;
/** After which a browser that lost its line comes again by itself; our own pages mind it themselves. */
const RETRY_MILLISECONDS = 5_000;
const RETRY_AFTER = { 'retry-after': '30' };

export const LIVE_PATH = '/api/live';

export function liveRoutes(app: FastifyInstance, options: LiveRouteOptions): void {
  // Before the server waits for the requests under way: these would never end.
  app.addHook('preClose', async () => options.live.endAll());
  void app.register(async (people) => {
    requireSameOrigin(people, options.settings);
    requirePerson(people, options, 'customer', 'editor', 'operator');
    resource(people, LIVE_PATH, {
      GET: { schema: schemas.live, handler: (request, reply) => open(options, request, reply) },
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
  const { sessionId, userId, role } = request.person;
  const write = (event: string, data: object) =>
    raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const onlooker: Onlooker = {
    ...{ sessionId, userId, role, topics },
    changed: (topic) => !raw.writableNeedDrain && (write('changed', { topic }), true),
    progressed: (topic, { drafted, segments }) =>
      !raw.writableNeedDrain && (write('progress', { topic, drafted, segments }), true),
    end(how) {
      if (how === 'session') write('ended', {});
      leave();
      raw.end();
    },
  };
  const joined = options.live.join(onlooker);
  if (joined === 'person') {
    throw new ApiError('too_many_streams', 'Too many pages of this person look on.', RETRY_AFTER);
  }
  if (joined === 'process') throw new ApiError('unavailable', 'Too many pages look on.', RETRY_AFTER);
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(':\n\n');
  }, HEARTBEAT_MILLISECONDS);
  function leave(): void {
    clearInterval(heartbeat);
    (joined as Joined).leave();
  }
  raw.once('close', leave);
  reply.hijack();
  // It went away while it was let in: `close` has been told already.
  if (raw.destroyed) return leave();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    // A proxy that gathers answers would gather these for ever.
    'x-accel-buffering': 'no',
  });
  // Other processes know of it before the page does: what they change after the page has looked is told.
  await joined.ready;
  if (!raw.writableEnded) raw.write(`retry: ${RETRY_MILLISECONDS}\n\n`);
}
