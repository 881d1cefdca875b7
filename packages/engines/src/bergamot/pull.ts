/**
 * Downloads a model: `FROM/en-es/manifest.json`, then each of its files, plain or compressed (`.gz`).
 * Partial files are kept, so that an interrupted download can resume. Only a complete model is moved to its
 * folder.
 */

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Agent, request } from 'undici';
import type { Manifest, ModelFile } from './models.ts';
import { filesOf, MANIFEST, ModelError, PAIR, parseManifest, sha256Of } from './models.ts';

export interface PullOptions {
  /** The language pair, such as `en-es`. */
  pair: string;
  /** URL of the folder with the pairs: https, or http on this machine. Redirects are not followed. */
  from: string;
  /** Allows http from other machines, although others could then replace the model in transit. */
  insecure?: boolean;
  /** The SHA-256 that the manifest must have, in hexadecimal digits. */
  sha256?: string | undefined;
  /** The folder of all models; see {@link BergamotOptions.folder}. */
  folder: string;
  /** Called at least once per file, with the uncompressed bytes written so far and the uncompressed size. */
  onProgress?: (progress: { file: string; bytes: number; of: number }) => void;
  signal?: AbortSignal;
}

const MAX_MANIFEST = 64 * 1024;
/** The download ends when no data comes for this time. A later call resumes it. */
const SILENCE_MS = 60_000;

/** Downloads a model. @throws ModelError that names the fault, or the abort reason of `signal` */
export async function pullModel(options: PullOptions): Promise<Manifest> {
  const { pair, folder, signal } = options;
  if (!PAIR.test(pair))
    throw new ModelError(`a pair must be written like en-es, not ${JSON.stringify(pair)}`);
  const base = new URL(options.from);
  if (base.protocol !== 'https:' && base.protocol !== 'http:') {
    throw new ModelError('models can only be downloaded over http or https');
  }
  if (base.protocol === 'http:' && !isLoopback(base.hostname) && options.insecure !== true) {
    throw new ModelError(
      'models are downloaded over https; --insecure also allows http, where others can alter them',
    );
  }
  signal?.throwIfAborted();
  const address = `${base.href.replace(/(?<!\/)\/+$/, '')}/${pair}`;
  const agent = new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  try {
    const text = await fetchManifest(`${address}/${MANIFEST}`, agent, signal);
    if (options.sha256 !== undefined) checkSum(text, options.sha256);
    const manifest = parseManifest(text.toString('utf8'));
    if (`${manifest.from}-${manifest.to}` !== pair) {
      throw new ModelError(`the manifest is for ${manifest.from}-${manifest.to}, not for ${pair}`);
    }
    const partial = join(folder, `.${pair}.partial`);
    await mkdir(partial, { recursive: true });
    for (const file of filesOf(manifest)) await pullFile(file, address, partial, agent, options);
    await writeFile(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    await settle(partial, join(folder, pair), filesOf(manifest));
    return manifest;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ModelError) throw error;
    const { code } = error as { code?: unknown };
    throw new ModelError(
      `the download was interrupted (${typeof code === 'string' ? code : String(error)}); start it again to resume`,
    );
  } finally {
    await agent.destroy();
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/**
 * Checks the SHA-256 of the manifest, which contains the checksums of all files. @throws ModelError when it
 * differs
 */
function checkSum(manifest: Buffer, wanted: string): void {
  const found = createHash('sha256').update(manifest).digest('hex');
  if (found !== wanted.toLowerCase()) {
    throw new ModelError(`the manifest has the SHA-256 ${found}, not ${wanted.toLowerCase()}`);
  }
}

async function fetchManifest(url: string, agent: Agent, signal: AbortSignal | undefined): Promise<Buffer> {
  const answer = await request(url, { dispatcher: agent, signal: signal ?? null });
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw new ModelError(`${url} responded with ${answer.statusCode}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    if (size > MAX_MANIFEST) throw new ModelError(`the manifest has more than ${MAX_MANIFEST} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function pullFile(
  file: ModelFile,
  address: string,
  partial: string,
  agent: Agent,
  options: PullOptions,
): Promise<void> {
  const whole = join(partial, file.name);
  if ((await sizeOf(whole)) === file.bytes && (await sha256Of(whole)) === file.sha256) {
    options.onProgress?.({ file: file.name, bytes: file.bytes, of: file.bytes });
    return;
  }
  // A partial file may belong to an older version. Its checksum is then wrong, so the file is downloaded once
  // more from the start.
  for (const again of [true, false]) {
    const resumed = await fetchFile(file, address, partial, agent, options);
    if ((await sizeOf(whole)) === file.bytes && (await sha256Of(whole)) === file.sha256) return;
    await rm(whole, { force: true });
    if (!resumed || !again)
      throw new ModelError(`${file.name} does not match the size and checksum of the manifest`);
  }
}

/** Downloads a file. @returns whether the download resumed a partial file */
async function fetchFile(
  file: ModelFile,
  address: string,
  partial: string,
  agent: Agent,
  { onProgress, signal }: PullOptions,
): Promise<boolean> {
  const report = (bytes: number): void => onProgress?.({ file: file.name, bytes, of: file.bytes });
  for (const packed of [true, false]) {
    const part = join(partial, `${file.name}${packed ? '.gz' : ''}.part`);
    const have = Math.max(0, await sizeOf(part));
    const url = `${address}/${file.name}${packed ? '.gz' : ''}`;
    const answer = await request(url, {
      dispatcher: agent,
      signal: signal ?? null,
      headers: { 'accept-encoding': 'identity', ...(have > 0 ? { range: `bytes=${have}-` } : {}) },
    });
    const { statusCode: status, headers, body } = answer;
    if (status === 404 && packed) {
      await body.dump();
      continue;
    }
    if (status === 416) {
      // The partial file is complete or belongs to another version; the checksum shows which.
      await body.dump();
    } else if (status === 200 || status === 206) {
      const goesOn = status === 206 && String(headers['content-range']).startsWith(`bytes ${have}-`);
      if (status === 206 && !goesOn) {
        body.destroy();
        throw new ModelError(`${url} returned another range than requested`);
      }
      const from = goesOn ? have : 0;
      // A compressed file is larger than the plain file by at most its frame.
      const limit = bounded(
        file.bytes + 4_096 - from,
        `${file.name} is larger than in the manifest`,
        (bytes) => {
          if (!packed) report(from + bytes);
        },
      );
      await pipeline(body, limit, createWriteStream(part, { flags: goesOn ? 'a' : 'w' }), {
        signal: signal!,
      });
    } else {
      await body.dump();
      throw new ModelError(`${url} responded with ${status}`);
    }
    if (!packed) await rename(part, join(partial, file.name));
    else await unpack(part, join(partial, file.name), file, report, signal);
    return have > 0;
  }
  throw new ModelError(`${file.name} does not exist`);
}

async function unpack(
  part: string,
  whole: string,
  file: ModelFile,
  report: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const limit = bounded(file.bytes, `${file.name} is larger than in the manifest`, report);
  try {
    await pipeline(createReadStream(part), createGunzip(), limit, createWriteStream(whole), {
      signal: signal!,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ModelError) throw error;
    // The compressed data is corrupt. An empty file fails the checksum, so the next attempt starts from the
    // beginning.
    await writeFile(whole, '');
  } finally {
    if (signal?.aborted !== true) await rm(part, { force: true });
  }
}

/** Returns a transform that fails after `max` bytes. */
function bounded(max: number, complaint: string, report: (bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > max) return done(new ModelError(complaint));
      report(bytes);
      done(null, chunk);
    },
  });
}

/** Syncs a complete model to disk and moves it to its folder. An older model is moved aside first. */
async function settle(partial: string, place: string, files: readonly ModelFile[]): Promise<void> {
  for (const name of [...files.map((file) => file.name), MANIFEST]) {
    const handle = await open(join(partial, name), 'r+');
    await handle.sync().finally(() => handle.close());
  }
  const old = `${partial}.old`;
  await rm(old, { recursive: true, force: true });
  await rename(place, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(partial, place);
  await rm(old, { recursive: true, force: true });
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  );
}
