/** The routes that list the values of `tone` and `topics`: `/tapi/v2/tone/` and `/tapi/v2/topic/`. */
import type { FastifyInstance } from 'fastify';
import { resource } from '../http/http.ts';
import { listTones, listTopics } from './schemas.ts';
import { TONES, TOPICS } from './tones.ts';

const tones = { objects: TONES.map((tone) => ({ tone })) };
const topics = { objects: TOPICS.map((topic) => ({ topic })) };

export function brandRoutes(app: FastifyInstance): void {
  resource(app, '/tapi/v2/tone/', {
    GET: { schema: listTones, scope: 'any', handler: async () => tones },
  });
  resource(app, '/tapi/v2/topic/', {
    GET: { schema: listTopics, scope: 'any', handler: async () => topics },
  });
}
