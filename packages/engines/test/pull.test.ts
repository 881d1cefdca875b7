/** Tests of model downloads: they are atomic and resumable, and accept only files that match the manifest. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { findModels, parseManifest } from '../src/bergamot/models.ts';
import { ModelError, pullModel, sealModel } from '../src/engines.ts';
import { placeModels } from './bergamot/model.ts';

const MODEL = 'model.enes.intgemm.alphas.bin';
const source = mkdtempSync(join(tmpdir(), 'dragoman-source-'));
const folders: string[] = [];
let server: Server;
let from = '';
/** The files of the test server by path. Tests change them. */
let files: Map<string, Buffer>;
let requests: { path: string; range: string | undefined }[] = [];
let hook: ((request: IncomingMessage, response: ServerResponse, body: Buffer) => boolean) | null = null;

beforeAll(async () => {
  await placeModels(source, ['en-es']);
  server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push({ path, range: request.headers.range });
    const body = files.get(path);
    if (body === undefined) return response.writeHead(404).end('not here');
    if (hook?.(request, response, body) === true) return;
    answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requests = [];
  hook = null;
  const names = readdirSync(join(source, 'en-es'));
  files = new Map(names.map((name) => [`/en-es/${name}`, readFileSync(join(source, 'en-es', name))]));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  for (const folder of [source, ...folders]) rmSync(folder, { recursive: true });
});

function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  if (range === null) return void response.writeHead(200).end(body);
  const start = Number(range[1]);
  if (start >= body.length) return void response.writeHead(416).end();
  const header = { 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` };
  response.writeHead(206, header).end(body.subarray(start));
}

function target(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-pull-'));
  folders.push(folder);
  return folder;
}

const pull = (folder: string, more: object = {}) => pullModel({ pair: 'en-es', from, folder, ...more });
const found = async (folder: string): Promise<number> => (await findModels(folder)).models.length;

/** Interrupts the first response for the model after a part of it has been written to disk. */
function breakOnce(folder: string): void {
  hook = (request, response, body) => {
    if (!request.url?.includes(MODEL)) return false;
    hook = null;
    response.writeHead(200, { 'content-length': body.length });
    response.write(body.subarray(0, 100_000));
    const partial = join(folder, '.en-es.partial');
    const part = (): number => {
      const name = readdirSync(partial).find((each) => each.endsWith('.part'));
      return name === undefined ? 0 : statSync(join(partial, name)).size;
    };
    void vi
      .waitFor(() => expect(part()).toBeGreaterThan(0), { timeout: 60_000 })
      .finally(() => response.destroy());
    return true;
  };
}

describe('a model download', () => {
  test('stores the files, reports progress, and makes the model available', async () => {
    const folder = target();
    const progress = new Map<string, [number, number]>();
    await pull(folder, {
      onProgress: ({ file, bytes, of }: { file: string; bytes: number; of: number }) =>
        progress.set(file, [bytes, of]),
    });
    expect(await found(folder)).toBe(1);
    expect(readdirSync(folder)).toEqual(['en-es']);
    for (const [bytes, of] of progress.values()) expect(bytes).toBe(of);
    expect([...progress.keys()].sort()).toEqual([MODEL, 'vocab.enes.spm']);
  });

  test('accepts compressed files', async () => {
    for (const name of [MODEL, 'vocab.enes.spm']) {
      files.set(`/en-es/${name}.gz`, gzipSync(files.get(`/en-es/${name}`)!));
      files.delete(`/en-es/${name}`);
    }
    const folder = target();
    await pull(folder);
    expect(await found(folder)).toBe(1);
  });

  test('replaces an older model of the same pair', async () => {
    const folder = target();
    await pull(folder);
    const other = target();
    await placeModels(other, ['fr-en', 'en-es']);
    for (const name of readdirSync(join(other, 'en-es'))) {
      files.set(`/en-es/${name}`, readFileSync(join(other, 'en-es', name)));
    }
    const before = (await findModels(folder)).models[0]!.digest;
    await pull(folder);
    expect((await findModels(folder)).models[0]!.digest).not.toBe(before);
    expect(readdirSync(folder)).toEqual(['en-es']);
  });

  test.each([false, true])('resumes after an interruption (compressed file: %s)', async (packed) => {
    if (packed) {
      const path = `/en-es/${MODEL}`;
      files.set(`${path}.gz`, gzipSync(files.get(path)!));
      files.delete(path);
    }
    const folder = target();
    breakOnce(folder);
    await expect(pull(folder)).rejects.toThrow(ModelError);
    expect(await found(folder)).toBe(0);
    requests = [];
    await pull(folder);
    expect(await found(folder)).toBe(1);
    const path = `/en-es/${MODEL}${packed ? '.gz' : ''}`;
    expect(requests.find((each) => each.path === path)?.range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  test('starts over when the partial file belongs to another version', async () => {
    const folder = target();
    breakOnce(folder);
    await expect(pull(folder)).rejects.toThrow(ModelError);
    const part = join(folder, '.en-es.partial', `${MODEL}.part`);
    writeFileSync(part, Buffer.alloc(readFileSync(part).length, 1));
    await pull(folder);
    expect(await found(folder)).toBe(1);
  });

  test('completes when the server does not support range requests', async () => {
    const folder = target();
    breakOnce(folder);
    await expect(pull(folder)).rejects.toThrow(ModelError);
    hook = (_request, response, body) => {
      response.writeHead(200).end(body);
      return true;
    };
    await pull(folder);
    expect(await found(folder)).toBe(1);
  });

  test('keeps the partial files when it is aborted', async () => {
    const folder = target();
    const abort = new AbortController();
    const onProgress = ({ file, bytes }: { file: string; bytes: number }): void => {
      if (file === MODEL && bytes > 10_000) abort.abort(new Error('given up'));
    };
    await expect(pull(folder, { signal: abort.signal, onProgress })).rejects.toThrow('given up');
    expect(readdirSync(folder)).toEqual(['.en-es.partial']);
    expect(await found(folder)).toBe(0);
    await pull(folder);
    expect(await found(folder)).toBe(1);
  });
});

describe('an invalid model download', () => {
  const change = (path: string, how: (body: Buffer) => Buffer): void => {
    files.set(path, how(files.get(path)!));
  };
  const flip = (body: Buffer): Buffer => {
    const copy = Buffer.from(body);
    copy[5_000]! ^= 1;
    return copy;
  };
  const rewrite = (how: (manifest: Record<string, unknown>) => object) => (body: Buffer) =>
    Buffer.from(JSON.stringify(how(JSON.parse(body.toString()))));

  test.each<[string, () => void, RegExp]>([
    ['a file with a flipped bit', () => change(`/en-es/${MODEL}`, flip), /checksum/],
    [
      'a file that is shorter',
      () => change(`/en-es/${MODEL}`, (body) => body.subarray(0, 9_000)),
      /checksum/,
    ],
    [
      'a file that is much longer',
      () => change(`/en-es/${MODEL}`, (body) => Buffer.concat([body, body])),
      /larger/,
    ],
    [
      'a compressed file that is too large when decompressed',
      () => files.set(`/en-es/${MODEL}.gz`, gzipSync(Buffer.alloc(50_000_000))),
      /larger/,
    ],
    [
      'a corrupt compressed file',
      () => files.set(`/en-es/${MODEL}.gz`, Buffer.from('not packed')),
      /checksum/,
    ],
    ['a missing file', () => files.delete('/en-es/vocab.enes.spm'), /responded with 404/],
    ['no manifest', () => files.delete('/en-es/manifest.json'), /manifest.json responded with 404/],
    [
      'a manifest for another pair',
      () =>
        change(
          '/en-es/manifest.json',
          rewrite((each) => ({ ...each, to: 'fr' })),
        ),
      /en-fr, not for en-es/,
    ],
    [
      'a manifest that is not JSON',
      () => change('/en-es/manifest.json', () => Buffer.from('<html>')),
      /not JSON/,
    ],
    [
      'an endless manifest',
      () => change('/en-es/manifest.json', () => Buffer.alloc(100_000, 32)),
      /more than/,
    ],
    [
      'a redirect',
      () => {
        hook = (_, response) => {
          response.writeHead(302, { location: '/x' }).end();
          return true;
        };
      },
      /responded with 302/,
    ],
  ])('is rejected and leaves no model behind: %s', async (_, spoil, message) => {
    spoil();
    const folder = target();
    await expect(pull(folder)).rejects.toThrow(message);
    expect(await found(folder)).toBe(0);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test.each([
    ['../../etc', 'http://127.0.0.1'],
    ['en-es/..', 'http://127.0.0.1'],
    ['en-es', 'file:///etc'],
  ])('is rejected for the pair %s from %s', async (pair, from) => {
    await expect(pullModel({ pair, from, folder: target() })).rejects.toThrow(ModelError);
  });
});

test.each([
  { name: '../x' },
  { name: '.hidden' },
  { name: 'manifest.json' },
  { bytes: -1 },
  { bytes: 1e12 },
  { bytes: 1.5 },
  { sha256: 'x' },
  { sha256: 'A'.repeat(64) },
])('parseManifest rejects a manifest whose model file has %j', (wrong) => {
  const file = { name: 'a.bin', bytes: 1, sha256: '0'.repeat(64) };
  const manifest = { from: 'en', to: 'es', precision: 'int8shiftAll', vocabularies: [file] };
  expect(parseManifest(JSON.stringify({ ...manifest, model: file }))).toMatchObject({
    from: 'en',
    shortlist: null,
  });
  expect(() => parseManifest(JSON.stringify({ ...manifest, model: { ...file, ...wrong } }))).toThrow(
    ModelError,
  );
});

test("sealModel writes a manifest for files with Firefox's names, but rejects several files of one kind", async () => {
  const folder = target();
  await expect(sealModel(folder, 'en', 'es')).rejects.toThrow('no model');
  for (const name of [
    'model.enes.intgemm8.bin',
    'lex.50.50.enes.s2t.bin',
    'srcvocab.enes.spm',
    'trgvocab.enes.spm',
  ]) {
    writeFileSync(join(folder, name), name);
  }
  expect(await sealModel(folder, 'en', 'es')).toMatchObject({
    precision: 'int8shiftAll',
    shortlist: { name: 'lex.50.50.enes.s2t.bin' },
    vocabularies: [{ name: 'srcvocab.enes.spm' }, { name: 'trgvocab.enes.spm' }],
  });
  writeFileSync(join(folder, 'model.other.bin'), '');
  await expect(sealModel(folder, 'en', 'es')).rejects.toThrow('several files');
});

describe('the source of a model download', () => {
  test.each(['http://models.example/', 'http://10.0.0.1/', 'http://127.0.0.1.example/'])(
    'cannot be %s without --insecure, because it uses http on another machine',
    async (place) => {
      const pulled = pullModel({ pair: 'en-es', from: place, folder: target() });
      await expect(pulled).rejects.toThrow('models are downloaded over https; --insecure also allows http');
    },
  );

  test('gets no further request when the manifest has another checksum than required', async () => {
    const folder = target();
    const requests: string[] = [];
    const onProgress = ({ file }: { file: string }) => requests.push(file);
    const wrong = pull(folder, { sha256: '0'.repeat(64), onProgress });
    await expect(wrong).rejects.toThrow(/the manifest has the SHA-256 [0-9a-f]{64}, not 0{64}/);
    expect(requests).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    const [, sum] = /SHA-256 (\w+),/.exec(String(await wrong.catch((error: unknown) => error)))!;
    await pull(folder, { sha256: sum!.toUpperCase() });
    expect(readdirSync(folder)).toContain('en-es');
  });
});
