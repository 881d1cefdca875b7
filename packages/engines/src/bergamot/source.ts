/** Where models come from: the registry of Firefox, a mirror of it on the network, or a mirror in a folder. */

import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { ModelError } from './models.ts';
import { type Registry, readRegistry } from './registry.ts';

/**
 * An open file of the registry. `resumed` is false if a later part was requested but `body` begins at the start of
 * the file.
 */
export interface OpenFile {
  body: Readable;
  resumed: boolean;
  /** The number of bytes in `body`; undefined if the server does not send this number. */
  bytes: number | undefined;
}

export interface ModelSource {
  /** Returns the models of the registry. @throws ModelError when the registry cannot be read */
  registry(): Promise<Registry>;
  /**
   * Opens a file of the registry.
   * @param start the first byte to read
   * @returns null if the file has no byte at `start`
   * @throws ModelError when there is no such file
   */
  open(path: string, start: number): Promise<OpenFile | null>;
  close(): Promise<void>;
}

/** The name that stands for Firefox's own registry. */
export const MOZILLA = 'mozilla';
/**
 * The addresses of `models.json` and of the records. They are documented in `db/` of
 * https://github.com/mozilla/translations, and by Remote Settings.
 */
const MOZILLA_MODELS =
  'https://storage.googleapis.com/moz-fx-translations-data--303e-prod-translations-data/db/models.json';
const MOZILLA_RECORDS =
  'https://firefox.settings.services.mozilla.com/v1/buckets/main/collections/translations-models-v2/records';
/** The names of the two JSON documents that describe the models of a mirror. */
export const MIRROR_MODELS = 'models.json';
export const MIRROR_RECORDS = 'records.json';

/** The maximum size in bytes of a document that describes models. The documents of Firefox have less than 2 MB. */
const MAX_DOCUMENT = 16 * 1024 * 1024;
/** A download fails when no data arrives for this time. A later call resumes the download. */
const SILENCE_MS = 60_000;

/**
 * Creates the source that `from` names.
 * @param from `mozilla`, the URL of a mirror or the path of its folder
 * @param insecure allows http from other machines, although others could then replace the checksums in
 * transit
 * @throws ModelError for a URL that is not allowed
 */
export function createModelSource(
  from: string,
  { insecure = false, signal }: { insecure?: boolean | undefined; signal?: AbortSignal | undefined } = {},
): ModelSource {
  if (from === MOZILLA) return createWebSource(MOZILLA_MODELS, MOZILLA_RECORDS, undefined, signal);
  if (!/^[a-z][\w+.-]+:\/\//i.test(from)) return createFolderSource(from);
  const base = URL.canParse(from) ? new URL(from) : undefined;
  if (base === undefined || (base.protocol !== 'https:' && base.protocol !== 'http:'))
    throw new ModelError('models can only be downloaded over http or https');
  if (base.protocol === 'http:' && !isLoopback(base.hostname) && !insecure) {
    throw new ModelError(
      'models are downloaded over https; --insecure also allows http, where others can alter them',
    );
  }
  const root = base.href.replace(/(?<!\/)\/+$/, '');
  return createWebSource(`${root}/${MIRROR_MODELS}`, `${root}/${MIRROR_RECORDS}`, root, signal);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/**
 * Creates a source that reads over HTTP.
 * @param root the address of the files; undefined for the address that `models.json` names, which must be
 * https
 */
function createWebSource(
  models: string,
  records: string,
  root: string | undefined,
  signal: AbortSignal | undefined,
): ModelSource {
  const agent = new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  let files = root;
  // Redirects are not followed, because a registry does not need them and they could lead to another host.
  const get = (url: string, headers = {}) =>
    request(url, { dispatcher: agent, signal: signal ?? null, headers });

  async function readJson(url: string): Promise<unknown> {
    const { statusCode, body } = await get(url);
    if (statusCode !== 200) {
      await body.dump();
      throw new ModelError(`${url} responded with ${statusCode}`);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > MAX_DOCUMENT) throw new ModelError(`${url} has more than ${MAX_DOCUMENT} bytes`);
      chunks.push(chunk);
    }
    return parseDocument(Buffer.concat(chunks).toString('utf8'), url);
  }

  return {
    async registry() {
      const registry = readRegistry(await readJson(models), await readJson(records));
      if (files === undefined) {
        if (!registry.baseUrl?.startsWith('https://'))
          throw new ModelError('the registry does not name an https address for its files');
        files = registry.baseUrl.replace(/(?<!\/)\/+$/, '');
      }
      return registry;
    },
    async open(path, start) {
      const url = `${files}/${path}`;
      const range = start > 0 ? { range: `bytes=${start}-` } : {};
      const { statusCode, headers, body } = await get(url, { 'accept-encoding': 'identity', ...range });
      if (statusCode === 416) {
        await body.dump();
        return null;
      }
      if (statusCode !== 200 && statusCode !== 206) {
        await body.dump();
        throw new ModelError(`${url} responded with ${statusCode}`);
      }
      const resumed = statusCode === 206;
      if (resumed && !String(headers['content-range']).startsWith(`bytes ${start}-`)) {
        body.destroy();
        throw new ModelError(`${url} returned another range than requested`);
      }
      const length = Number(headers['content-length']);
      return { body, resumed, bytes: Number.isInteger(length) ? length : undefined };
    },
    close: () => agent.destroy(),
  };
}

function createFolderSource(folder: string): ModelSource {
  async function readJson(name: string): Promise<unknown> {
    const text = await readFile(join(folder, name), 'utf8').catch(() => undefined);
    if (text === undefined) throw new ModelError(`${folder} is not a mirror: ${name} cannot be read`);
    return parseDocument(text, name);
  }
  return {
    async registry() {
      return readRegistry(await readJson(MIRROR_MODELS), await readJson(MIRROR_RECORDS));
    },
    async open(path, start) {
      const file = join(folder, path);
      const found = await stat(file).catch(() => undefined);
      if (found?.isFile() !== true) throw new ModelError(`${file} does not exist`);
      if (start >= found.size) return null;
      return { body: createReadStream(file, { start }), resumed: start > 0, bytes: found.size - start };
    },
    close: async () => {},
  };
}

function parseDocument(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelError(`${name} is not JSON`);
  }
}
