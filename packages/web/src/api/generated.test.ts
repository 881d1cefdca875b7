/** The types of the web app are those of the routes that the server has today. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { printClientTypes } from '../../../../scripts/client-types.ts';
import { describeApp } from '../../../server/src/app.ts';

const written = readFileSync(new URL('./generated.ts', import.meta.url), 'utf8');

it('keeps generated.ts equal to the description of the web app’s routes', async () => {
  expect(printClientTypes(await describeApp('web')), 'run: npm run client-types').toBe(written);
});

it('keeps what customers’ programs call and what the web app calls apart', async () => {
  const [pub, web] = await Promise.all([describeApp(), describeApp('web')]);
  const webPath = /^\/api\/(?!v1\/)/;
  expect(Object.keys(pub.paths).filter((path) => webPath.test(path))).toEqual([]);
  expect(Object.keys(pub.paths)).toContain('/api/v1/deliveries/');
  expect(Object.keys(web.paths).filter((path) => !webPath.test(path))).toEqual([]);
});
