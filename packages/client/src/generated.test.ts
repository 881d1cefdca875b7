import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { printClientTypes } from '../../../scripts/client-types.ts';
import { describeApp } from '../../server/src/roles/app.ts';

const written = readFileSync(new URL('./generated.ts', import.meta.url), 'utf8');

it('generated.ts matches the OpenAPI description', async () => {
  expect(printClientTypes(await describeApp()), 'run: npm run client-types').toBe(written);
});

it('the comparison detects a field that the types lack', async () => {
  const document = structuredClone(await describeApp());
  document.components.schemas.Job!.properties!.planted = { type: 'string' };
  expect(printClientTypes(document)).not.toBe(written);
});

it('the generator rejects schemas that it does not support', async () => {
  const document = structuredClone(await describeApp());
  document.components.schemas.Job = { allOf: [] };
  expect(() => printClientTypes(document)).toThrow(/unsupported schema/);
});
