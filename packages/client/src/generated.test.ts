import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { printClientTypes } from '../../../scripts/client-types.ts';
import { describeApp } from '../../server/src/roles/app.ts';
import { OPERATIONS } from './generated.ts';

const written = readFileSync(new URL('./generated.ts', import.meta.url), 'utf8');

it('client: generated.ts contains exactly the types that are generated from the OpenAPI description', async () => {
  expect(printClientTypes(await describeApp()), 'run: npm run client-types').toBe(written);
});

it('client: each operation of the API has a method', () => {
  const client = readFileSync(new URL('./client.ts', import.meta.url), 'utf8');
  expect(Object.keys(OPERATIONS).filter((operation) => !client.includes(`'${operation}'`))).toEqual([]);
});

it('client: comparing generated.ts with the OpenAPI description detects a missing field', async () => {
  const document = structuredClone(await describeApp());
  document.components.schemas.Job!.properties!.planted = { type: 'string' };
  expect(printClientTypes(document)).not.toBe(written);
});

it('client: the generator of types rejects schemas that it does not support', async () => {
  const document = structuredClone(await describeApp());
  document.components.schemas.Job = { allOf: [] };
  expect(() => printClientTypes(document)).toThrow(/unsupported schema/);
});
