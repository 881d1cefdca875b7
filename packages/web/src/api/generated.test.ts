/** Tests that the generated types match the server's current routes. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { printClientTypes } from '../../../../scripts/client-types.ts';
import { describeApp } from '../../../server/src/roles/app.ts';

const written = readFileSync(new URL('./generated.ts', import.meta.url), 'utf8');

it('generated.ts is equal to the types generated from the OpenAPI description', async () => {
  expect(printClientTypes(await describeApp('web')), 'run: npm run client-types').toBe(written);
});

it('the routes of customers and of the web app have separate OpenAPI descriptions', async () => {
  const [pub, web] = await Promise.all([describeApp(), describeApp('web')]);
  const webPath = /^\/api\/(?!v1\/)/;
  expect(Object.keys(pub.paths).filter((path) => webPath.test(path))).toEqual([]);
  expect(Object.keys(pub.paths)).toContain('/api/v1/deliveries/');
  expect(Object.keys(web.paths).filter((path) => !webPath.test(path))).toEqual([]);
});
