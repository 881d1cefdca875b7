import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { printClientTypes } from '../../../scripts/client-types.ts';
import { describeApp } from '../../server/src/app.ts';

const written = readFileSync(new URL('./generated.ts', import.meta.url), 'utf8');

it('keeps generated.ts equal to the description of the interface', async () => {
  expect(printClientTypes(await describeApp()), 'run: npm run client-types').toBe(written);
});

it('notices a field that the description has and the types have not', async () => {
  const document = structuredClone(await describeApp());
  document.components.schemas.Job!.properties!.planted = { type: 'string' };
  expect(printClientTypes(document)).not.toBe(written);
});

it('does not print what it does not understand', async () => {
  const document = structuredClone(await describeApp());
  document.components.schemas.Job = { allOf: [] };
  expect(() => printClientTypes(document)).toThrow(/cannot print/);
});
