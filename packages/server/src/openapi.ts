/**
 * The interface's own description: OpenAPI 3.1 at `/openapi.json`, made from the schemas of the routes.
 *
 * The schemas describe, they do not check: requests are checked by the rooms, which name every wrong field at once
 * in the interface's own words, and take what careless clients send (`null`, unknown fields). That every answer
 * fits its schema is what the tests check.
 */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { resource } from './http.ts';

/** Must be registered before the routes that it is to describe. */
export function describeInterface(app: FastifyInstance): void {
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Dragoman',
        version: '2',
        description: 'Translation jobs and chat translation, by machine and by people.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [
        { url: '/', description: 'production' },
        { url: '/sandbox', description: 'sandbox: done by machine, held, not charged to anybody' },
      ],
      components: {
        securitySchemes: {
          ApiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: '`ApiKey USERNAME:KEY`',
          },
        },
      },
      security: [{ ApiKey: [] }],
    },
    // The sandbox is the same interface behind another server address.
    transform: ({ schema, url }) => ({
      schema: url.startsWith('/sandbox/') ? { ...schema, hide: true } : schema,
      url,
    }),
  });
  void app.register(async (root) => {
    let description: object | undefined;
    resource(root, '/openapi.json', {
      GET: async () => {
        description ??= root.swagger();
        return description;
      },
    });
  });
}
