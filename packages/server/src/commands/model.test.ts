import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { dragoman } from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-model-'));
const place = join(directory, 'source', 'en-pt-br');
const server = createServer((request, response) => {
  try {
    response.end(readFileSync(join(directory, 'source', request.url ?? '')));
  } catch {
    response.writeHead(404).end();
  }
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

it('dragoman model writes the manifest of a model, installs the model, and refuses a changed model', async () => {
  mkdirSync(place, { recursive: true });
  const seal = ['model', 'seal', 'en', 'pt-br', '--folder', join(directory, 'source')];
  expect(await dragoman(seal)).toMatchObject({
    status: 1,
    stderr: 'The model could not be sealed: there is no model.….bin.\n',
  });
  for (const name of ['model.enpt.intgemm.alphas.bin', 'vocab.enpt.spm'])
    writeFileSync(join(place, name), name);
  expect(await dragoman(seal)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Wrote the manifest'),
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pull = ['model', 'pull', 'en', 'pt-br', '--from', from, '--data', join(directory, 'data')];
  const { status, stdout, stderr } = await dragoman(pull);
  expect([status, stdout]).toEqual([0, `Installed en-pt-br in ${join(directory, 'data', 'bergamot')}.\n`]);
  expect(stderr).toContain('model.enpt.intgemm.alphas.bin: 100 %');
  expect(readFileSync(join(directory, 'data', 'bergamot', 'en-pt-br', 'vocab.enpt.spm'), 'utf8')).toBe(
    'vocab.enpt.spm',
  );

  writeFileSync(join(place, 'vocab.enpt.spm'), 'Vocab.enpt.spm');
  rmSync(join(directory, 'data'), { recursive: true });
  expect(await dragoman(pull)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/checksum[^\n]*\.\n$/),
  });
});
