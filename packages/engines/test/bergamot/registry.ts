/** A registry of models for tests, in the form of Firefox's, served on the loopback interface. */

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type TinySize, tinyModel, tinyShortlist, tinyVocabulary } from './model.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => boolean;

export interface TestRegistry {
  url: string;
  /** The responses of the server, by path. Tests change them. */
  files: Map<string, Buffer>;
  requests: { path: string; range: string | undefined }[];
  /** A hook that may answer a request instead of the server, and returns whether it has answered. */
  hook: Answer | null;
  /** Adds a model with new random weights, compressed with gzip, as the newest of its pair. */
  add(pair: string, size?: TinySize): void;
  /** Removes all models, the log of requests and the hook. */
  clear(): void;
  close(): void;
}

export async function startRegistry(): Promise<TestRegistry> {
  const models: Record<string, object[]> = {};
  const records: object[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    registry.requests.push({ path, range: request.headers.range });
    const body = registry.files.get(path);
    if (body === undefined) return response.writeHead(404).end('not here');
    if (registry.hook?.(request, response, body) === true) return;
    answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const registry: TestRegistry = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files: new Map(),
    requests: [],
    hook: null,
    add(pair, size) {
      const [from, to] = pair.split('-');
      const count = records.length;
      const version = `3.${count}`;
      const files: Record<string, object> = {};
      const parts = [
        ['model', 'model', `model.${from}${to}.intgemm.alphas.bin`, tinyModel({ seed: count + 1, ...size })],
        ['lexicalShortlist', 'lex', `lex.50.50.${from}${to}.s2t.bin`, tinyShortlist()],
        ['vocab', 'vocab', `vocab.${from}${to}.spm`, tinyVocabulary()],
      ] as const;
      for (const [key, fileType, name, bytes] of parts) {
        const path = `models/${pair}/run_${count}/exported/${name}.gz`;
        registry.files.set(`/${path}`, gzipSync(bytes));
        const decompressedHash = createHash('sha256').update(bytes).digest('hex');
        const sums = { uncompressedSize: bytes.length, uncompressedHash: decompressedHash };
        files[key] = { path, ...(key === 'model' ? sums : {}) };
        records.push({
          name,
          fileType,
          sourceLanguage: from,
          targetLanguage: to,
          architecture: 'tiny',
          version,
          decompressedSize: bytes.length,
          decompressedHash,
        });
      }
      const metrics = { 'flores200-plus': { bleu: 27.1, chrf: 55 + count, comet22: 0.86 } };
      const model = { architecture: 'tiny', releaseStatus: 'Release', files, metrics };
      models[pair] = [...(models[pair] ?? []), model];
      registry.files.set('/models.json', Buffer.from(JSON.stringify({ models })));
      registry.files.set('/records.json', Buffer.from(JSON.stringify({ data: records })));
    },
    clear() {
      for (const pair of Object.keys(models)) delete models[pair];
      records.length = 0;
      registry.files.clear();
      registry.requests = [];
      registry.hook = null;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return registry;
}

function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  if (range === null) return void response.writeHead(200, { 'content-length': body.length }).end(body);
  const start = Number(range[1]);
  if (start >= body.length) return void response.writeHead(416).end();
  const header = { 'content-range': `bytes ${start}-${body.length - 1}/${body.length}` };
  response.writeHead(206, header).end(body.subarray(start));
}
