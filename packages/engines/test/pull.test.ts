/**
 * Tests of installing a model: the download is atomic and resumable, and accepts only files that match the registry.
 */

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { findModels, parseManifest } from '../src/bergamot/models.ts';
import { listRemoteModels, ModelError, mirrorModels, pullModel, sealModel } from '../src/engines.ts';
import type { TinySize } from './bergamot/model.ts';
import { startRegistry, type TestRegistry } from './bergamot/registry.ts';

const MODEL = 'model.enes.intgemm.alphas.bin';
const SHORTLIST = 'lex.50.50.enes.s2t.bin';
const VOCABULARY = 'vocab.enes.spm';
const folders: string[] = [];
let registry: TestRegistry;

beforeAll(async () => {
  registry = await startRegistry();
});
beforeEach(() => {
  registry.clear();
  registry.add('en-es');
});
afterAll(() => {
  registry.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function target(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-pull-'));
  folders.push(folder);
  return folder;
}

const pull = (folder: string, more: object = {}) =>
  pullModel({ pair: 'en-es', from: registry.url, folder, ...more });
const found = async (folder: string): Promise<number> => (await findModels(folder)).models.length;
const digest = async (folder: string): Promise<string> => (await findModels(folder)).models[0]!.digest;
/** Returns the path of a file of the newest model on the registry's server. */
const pathOf = (name: string): string => [...registry.files.keys()].findLast((path) => path.includes(name))!;
const partial = (folder: string): string => join(folder, '.en-es.partial', 'en-es');

function change(name: string, how: (body: Buffer) => Buffer): void {
  registry.files.set(pathOf(name), how(registry.files.get(pathOf(name))!));
}

/** Replaces the files of a model on the registry's server by files with another compression. */
function recompress(suffix: string, compress: (body: Buffer) => Buffer): void {
  for (const name of [MODEL, SHORTLIST, VOCABULARY]) {
    const path = pathOf(name);
    registry.files.set(path.replace(/\.gz$/, suffix), compress(gunzipSync(registry.files.get(path)!)));
    registry.files.delete(path);
  }
  change('models.json', (body) => Buffer.from(body.toString().replaceAll('.gz"', `${suffix}"`)));
}

/** Interrupts the next response for the model after a part of it has been written to disk. */
function breakOnce(folder: string): void {
  const sizeNow = (): number => {
    const name = readdirSync(partial(folder)).find((each) => each.endsWith('.part'));
    return name === undefined ? 0 : statSync(join(partial(folder), name)).size;
  };
  registry.hook = (request, response, body) => {
    if (!request.url?.includes(MODEL)) return false;
    registry.hook = null;
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const range = { 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` };
    response.writeHead(start > 0 ? 206 : 200, { 'content-length': body.length - start, ...range });
    response.write(body.subarray(start, start + Math.ceil(body.length / 40)));
    void vi
      .waitFor(() => expect(sizeNow()).toBeGreaterThan(start), { timeout: 60_000 })
      .finally(() => response.destroy());
    return true;
  };
}

describe('pullModel', () => {
  test('stores the files with licence and source, reports progress, and makes the model available', async () => {
    const folder = target();
    const progress = new Map<string, [number, number]>();
    const secret = new URL(registry.url);
    secret.password = 'secret';
    await pull(folder, {
      from: secret.href,
      onProgress: ({ file, bytes, of }: { file: string; bytes: number; of: number }) =>
        progress.set(file, [bytes, of]),
    });
    expect(await found(folder)).toBe(1);
    expect(readdirSync(folder)).toEqual(['en-es']);
    for (const [bytes, of] of progress.values()) expect(bytes).toBe(of);
    expect([...progress.keys()]).toEqual([MODEL, SHORTLIST, VOCABULARY]);
    expect(JSON.parse(readFileSync(join(folder, 'en-es', 'manifest.json'), 'utf8')).origin).toMatchObject({
      from: `${registry.url}/`,
      licence: 'MPL-2.0',
      architecture: 'tiny',
    });
  });

  test.each<[string, (body: Buffer) => Buffer]>([
    ['', (body) => body],
    ['.zst', zstdCompressSync],
  ])('accepts files with the suffix "%s"', async (suffix, compress) => {
    recompress(suffix, compress);
    const folder = target();
    await pull(folder);
    expect(await found(folder)).toBe(1);
  });

  test('replaces an older model of the same pair', async () => {
    const folder = target();
    await pull(folder);
    const before = await digest(folder);
    registry.add('en-es');
    await pull(folder);
    expect(await digest(folder)).not.toBe(before);
    expect(readdirSync(folder)).toEqual(['en-es']);
  });

  test('resumes after each of twenty interruptions', async () => {
    const folder = target();
    for (let cut = 0; cut < 20; cut++) {
      breakOnce(folder);
      await expect(pull(folder)).rejects.toThrow(/start it again to resume/);
      expect(await found(folder)).toBe(0);
    }
    registry.requests = [];
    await pull(folder);
    expect(await found(folder)).toBe(1);
    const { range } = registry.requests.find(({ path }) => path === pathOf(MODEL))!;
    const size = registry.files.get(pathOf(MODEL))!.length;
    expect(Number(/^bytes=(\d+)-$/.exec(range!)![1])).toBeGreaterThanOrEqual(size / 2);
  });

  test('downloads the file from its start when the partial file belongs to another version', async () => {
    const folder = target();
    breakOnce(folder);
    await expect(pull(folder)).rejects.toThrow(ModelError);
    const part = join(partial(folder), `${MODEL}.gz.part`);
    writeFileSync(part, Buffer.alloc(statSync(part).size, 1));
    await pull(folder);
    expect(await found(folder)).toBe(1);
  });

  test('completes when the server does not support range requests', async () => {
    const folder = target();
    breakOnce(folder);
    await expect(pull(folder)).rejects.toThrow(ModelError);
    registry.hook = (_request, response, body) => {
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

describe('pullModel with a faulty source', () => {
  const flip = (body: Buffer): Buffer => {
    const copy = gunzipSync(body);
    copy[Math.floor(copy.length / 2)]! ^= 1;
    return gzipSync(copy);
  };

  test.each<[string, () => void, RegExp]>([
    ['a model file with a flipped bit', () => change(MODEL, flip), /checksum/],
    ['a shortlist with a flipped bit', () => change(SHORTLIST, flip), /checksum/],
    ['a vocabulary with a flipped bit', () => change(VOCABULARY, flip), /checksum/],
    ['a file that is cut short', () => change(MODEL, (body) => body.subarray(0, 9_000)), /checksum/],
    [
      'a compressed file that is too large when decompressed',
      () => change(MODEL, () => gzipSync(Buffer.alloc(50_000_000))),
      /larger/,
    ],
    [
      'a compressed file that is longer than its content can be',
      () => change(VOCABULARY, (body) => Buffer.concat([body, Buffer.alloc(1_000_000)])),
      /larger/,
    ],
    ['a corrupt compressed file', () => change(MODEL, () => Buffer.from('not packed')), /checksum/],
    ['a missing file', () => registry.files.delete(pathOf(VOCABULARY)), /responded with 404/],
    ['no registry', () => registry.files.delete('/models.json'), /models.json responded with 404/],
    ['no records', () => registry.files.delete('/records.json'), /records.json responded with 404/],
    ['records that are not JSON', () => change('records.json', () => Buffer.from('<html>')), /not JSON/],
    [
      'no checksums',
      () => change('records.json', () => Buffer.from('{"data":[]}')),
      /no record has the checksum/,
    ],
    ['endless records', () => change('records.json', () => Buffer.alloc(20_000_000, 32)), /more than/],
    [
      'a redirect',
      () => {
        registry.hook = (_, response) => {
          response.writeHead(302, { location: '/x' }).end();
          return true;
        };
      },
      /responded with 302/,
    ],
  ])('fails and keeps the old model when the source has %s', async (_, spoil, message) => {
    const folder = target();
    await pull(folder);
    const before = await digest(folder);
    registry.clear();
    registry.add('en-fr');
    registry.add('en-es');
    spoil();
    await expect(pull(folder)).rejects.toThrow(message);
    expect(await digest(folder)).toBe(before);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual(['en-es']);
  });

  test('fails and keeps the old model when the new model does not load', async () => {
    const folder = target();
    await pull(folder);
    const before = await digest(folder);
    // A registry entry with correct checksums for a file that is not a model.
    const junk = Buffer.alloc(100_000, 7);
    const old = gunzipSync(registry.files.get(pathOf(MODEL))!);
    const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    change(MODEL, () => gzipSync(junk));
    for (const name of ['models.json', 'records.json']) {
      change(name, (body) =>
        Buffer.from(
          body.toString().replaceAll(sum(old), sum(junk)).replaceAll(`:${old.length}`, `:${junk.length}`),
        ),
      );
    }
    await expect(pull(folder)).rejects.toThrow(/self-test failed/);
    expect(await digest(folder)).toBe(before);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual(['en-es']);
  });

  test.each<[string, object, TinySize, RegExp]>([
    [
      'the disk is too small',
      { free: { disk: async () => 100_000, memory: () => 1e9 } },
      {},
      /^it needs \d+ MB on the disk of \S+, which has 1 MB left$/,
    ],
    [
      'the memory is too small',
      { free: { disk: async () => 1e12, memory: () => 100 * 1024 * 1024 } },
      {},
      /^it needs about \d+ MB of memory, and 100 MB are free$/,
    ],
    ['the model writes nothing', {}, { mute: true }, /^its self-test failed: /],
  ])('fails and keeps the old model when %s', async (_, options, size, message) => {
    const folder = target();
    await pull(folder);
    const before = await digest(folder);
    registry.add('en-es', size);
    await expect(pull(folder, options)).rejects.toThrow(message);
    expect(await digest(folder)).toBe(before);
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual(['en-es']);
  });

  test('names the error of the disk when the folder cannot be written', async () => {
    const file = join(target(), 'file');
    writeFileSync(file, '');
    await expect(pull(join(file, 'models'))).rejects.toThrow('the files cannot be written or read (ENOTDIR)');
  });

  test.each([
    ['../../etc', 'http://127.0.0.1'],
    ['en-es/..', 'http://127.0.0.1'],
    ['en-es', 'file:///etc'],
    ['en-es', '/nowhere/at/all'],
  ])('fails when the pair or the source is invalid: %s from %s', async (pair, from) => {
    await expect(pullModel({ pair, from, folder: target() })).rejects.toThrow(ModelError);
  });

  test.each(['http://models.example/', 'http://10.0.0.1/', 'http://127.0.0.1.example/'])(
    'refuses to download from %s without --insecure, because http has no protection against changes',
    async (from) => {
      await expect(pull(target(), { from })).rejects.toThrow(
        'models are downloaded over https; --insecure also allows http',
      );
    },
  );
});

describe('a mirror of a model registry', () => {
  test('stays unchanged when its list of models cannot be read', async () => {
    const folder = target();
    writeFileSync(join(folder, 'models.json'), '{"models":');
    writeFileSync(join(folder, 'records.json'), '{}');
    const mirrored = mirrorModels({ from: registry.url, pairs: ['en-es'], folder });
    await expect(mirrored).rejects.toThrow('models.json is not JSON');
    expect(readFileSync(join(folder, 'models.json'), 'utf8')).toBe('{"models":');
  });

  test('installs the same model as the registry, and keeps the models of other pairs', async () => {
    registry.add('es-en');
    const [folder, direct, mirrored] = [target(), target(), target()];
    await pull(direct);
    for (const pair of ['es-en', 'en-es']) {
      await mirrorModels({ from: registry.url, pairs: [pair], folder });
    }
    const models = await listRemoteModels({ from: folder });
    expect(models.map(({ pair, fault }) => [pair, fault])).toEqual([
      ['es-en', null],
      ['en-es', null],
    ]);
    await pull(mirrored, { from: folder });
    expect(await digest(mirrored)).toBe(await digest(direct));
    await pull(mirrored, { from: folder, pair: 'es-en' });
    expect(await found(mirrored)).toBe(2);
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
