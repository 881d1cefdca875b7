/** Tests of the OpenAPI descriptions of the two audiences. */
import { expect, it } from 'vitest';
import { describeApp } from './app.ts';

it('the routes of customers and of the web app have separate OpenAPI descriptions', async () => {
  const [pub, web] = await Promise.all([describeApp(), describeApp('web')]);
  const webPath = /^\/api\/(?!v1\/)/;
  expect(Object.keys(pub.paths).filter((path) => webPath.test(path))).toEqual([]);
  expect(Object.keys(pub.paths)).toContain('/api/v1/deliveries/');
  expect(Object.keys(web.paths).filter((path) => !webPath.test(path))).toEqual([]);
  // `share` leaves out the fields of other audiences. Registered without it, a field would be shown to everybody.
  expect(JSON.stringify([pub, web])).not.toContain('x-audiences');
});
