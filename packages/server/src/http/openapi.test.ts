/** Tests that the OpenAPI document is valid, complete and public, and lists all errors. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import fastify from 'fastify';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../base/errors.ts';
import { describeApp } from '../roles/app.ts';
import { createChecker } from '../testing/answers.ts';
import { startTestServer, type TestServer } from '../testing/harness.ts';
import { resource } from './http.ts';
import { describeInterface, type JsonSchema, type OpenApi } from './openapi.ts';
import { answer } from './schemas.ts';

/** The rules of the recommended set that are disabled, each with the reason. */
const EXCEPTIONS = {
  // This rule is disabled because the paths of the API end with a slash.
  'no-path-trailing-slash': 'off',
} as const;

let document: OpenApi;
let server: TestServer;
beforeAll(async () => {
  document = await describeApp();
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_URL: 'http://sandbox.test' } });
});
afterAll(() => server.stop());

async function lint(described: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: EXCEPTIONS });
  const problems = await lintFromString({
    source: JSON.stringify(described),
    absoluteRef: 'openapi.json',
    config,
  });
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`,
  );
}

it('the OpenAPI document is valid OpenAPI 3.1 by the recommended rules', async () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(await lint(document)).toEqual([]);
});

it('the check of the OpenAPI document reports a missing operation id and an unknown type', async () => {
  const broken = structuredClone(document);
  delete (broken.paths['/tapi/v2/translation/']!.post as { operationId?: string }).operationId;
  broken.components.schemas.Job = { type: 'objekt' };
  const problems = (await lint(broken)).join('\n');
  expect(problems).toMatch(/operation-operationId/);
  expect(problems).toMatch(/objekt|`type`/);
});

it('every deprecated field is named in the guide about limits, and no operation is deprecated', () => {
  // A deprecated operation needs the headers that the guide promises. No code sends them yet.
  for (const operations of Object.values(document.paths)) {
    for (const operation of Object.values(operations)) expect(operation).not.toHaveProperty('deprecated');
  }
  const deprecated = new Set<string>();
  JSON.stringify(document, (name, value) => {
    if (value?.deprecated === true) deprecated.add(name);
    return value;
  });
  const guide = readFileSync(new URL('../../../../docs/limits.md', import.meta.url), 'utf8');
  expect([...deprecated]).toEqual(['formality']);
  expect(guide).toContain('One field is deprecated: `formality` in requests');
});

it('the OpenAPI document is served without authentication and can be cached', async () => {
  for (const path of ['/openapi.json', '/openapi.json/']) {
    const response = await fetch(`${server.url}${path}`);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
    const etag = response.headers.get('etag')!;
    const again = await fetch(`${server.url}${path}`, { headers: { 'if-none-match': `W/${etag}, "x"` } });
    expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: '' });
    const other = await fetch(`${server.url}${path}`, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
    await other.body?.cancel();
  }
});

it('the OpenAPI document is served at the sandbox’s own host name, without the sandbox prefix', async () => {
  const ask = async (path: string, key = ''): Promise<{ status: number | undefined; text: string }> => {
    const headers = { host: 'sandbox.test', authorization: `ApiKey ${key}` };
    const [response] = await once(get(`${server.url}${path}`, { headers }), 'response');
    return { status: response.statusCode, text: await text(response) };
  };
  const described = await ask('/openapi.json');
  expect({ ...described, text: JSON.parse(described.text) }).toEqual({
    status: 200,
    text: JSON.parse(JSON.stringify(document)),
  });
  const account = await server.createAccount();
  expect((await ask('/tapi/v2/translation/', account.sandbox_key)).status).toBe(200);
  expect((await ask('/tapi/v2/translation/', account.production_key)).status).toBe(401);
});

it('the OpenAPI document has a description of each operation', () => {
  const silent = Object.values(document.paths)
    .flatMap((operations) => Object.values(operations))
    .filter((operation) => !operation?.description)
    .map((operation) => operation?.operationId);
  expect(silent).toEqual([]);
});

it('the OpenAPI document has no default in a request body, because some generators require such fields', () => {
  const defaults = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties).flatMap(([field, schema]) => ('default' in schema ? `${name}.${field}` : [])),
  );
  expect(defaults).toEqual([]);
});

it('the OpenAPI document lists each path with a final slash and without the sandbox prefix', () => {
  const paths = Object.keys(document.paths);
  expect(paths).toContain('/tapi/v2/translation/{uid}/');
  expect(paths.filter((path) => path.startsWith('/tapi/') && !path.endsWith('/'))).toEqual([]);
  expect(paths.filter((path) => path.startsWith('/sandbox'))).toEqual([]);
});

describe('the errors of the OpenAPI document', () => {
  it('are exactly the errors that callers can get', () => {
    const listed = Object.entries(ERRORS).map(([code, error]) => ({ code, ...error }));
    expect(document['x-errors']).toEqual(listed);
  });

  it('include 413 for every operation with a body', () => {
    const bare = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations as Record<string, { requestBody?: unknown; responses: object }>)
        .filter(([, { requestBody, responses }]) => requestBody !== undefined && !('413' in responses))
        .map(([method]) => `${method} ${path}`),
    );
    expect(bare).toEqual([]);
  });

  it('have their codes listed for each error status', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const refusals = Object.keys(operation!.responses).filter((status) => Number(status) >= 400);
        const codes = operation!['x-errors'] ?? {};
        expect(Object.keys(codes), `${method} ${path}`).toEqual(refusals);
        for (const [status, group] of Object.entries(codes)) {
          expect(group.map((code) => ERRORS[code].status)).toEqual(group.map(() => Number(status)));
        }
      }
    }
  });
});

/** Returns an example value for a header. */
const sample = ({ const: only, examples }: JsonSchema) => String(only ?? examples?.[0]);

it('the examples of the OpenAPI document match their schemas', () => {
  const checker = createChecker(document);
  let examples = 0;
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const headers = new Headers({ 'content-type': 'application/json' });
      const given = { method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'x'), headers };
      if (operation!.requestBody !== undefined) {
        const { schema, example } = operation!.requestBody.content['application/json']!;
        expect(example, `${method} ${path}`).toBeDefined();
        expect(checker.complaintsOf(schema, example), `${method} ${path}`).toEqual([]);
      }
      for (const [status, response] of Object.entries(operation!.responses)) {
        const example = response.content?.['application/json']?.example;
        if (example === undefined) continue;
        checker.answer({ ...given, status: Number(status), text: JSON.stringify(example) });
        examples++;
      }
    }
  }
  for (const { post } of Object.values(document.webhooks)) {
    const { example } = post.requestBody.content['application/json']!;
    const headers = Object.fromEntries(post.parameters.map(({ name, schema }) => [name, sample(schema)]));
    const given = { 'content-type': 'application/json', ...headers };
    expect(checker.callback(given, JSON.stringify(example))).toBeUndefined();
    examples++;
  }
  expect(examples).toBeGreaterThan(5);
});

it('the server fails to start when two different schemas have the same title', async () => {
  const app = fastify();
  describeInterface(app, {});
  const operation = (shape: object) => ({
    schema: { response: { 200: answer('', Type.Object({ ...shape }, { title: 'Planted' })) } },
    handler: async () => ({}),
  });
  void app.register(async (root) => {
    resource(root, '/one/', { GET: operation({ one: Type.String() }) });
    resource(root, '/two/', { GET: operation({ two: Type.String() }) });
  });
  await expect(app.ready().then(() => app.swagger())).rejects.toThrow('two schemas are titled "Planted"');
  await app.close();
});
