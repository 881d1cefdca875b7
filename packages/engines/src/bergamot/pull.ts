/**
 * Fetches a model: `FROM/en-es/manifest.json`, then each of its files, as it is or packed (`.gz`). What was fetched is
 * kept beside the folder until it is whole, so that a broken pull goes on where it ended; a model appears under its
 * name at once and complete, or not at all.
 */

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
  /** `en-es`. */
  pair: string;
  /** A folder of folders over http or https. Redirects are not followed. */
  from: string;
  /** Where models stand, as {@link createBergamot} is told. */
  folder: string;
  /** Bytes written of the file, and its whole size, unpacked; at least once a file. */
  onProgress?: (progress: { file: string; bytes: number; of: number }) => void;
  signal?: AbortSignal;
}

const MAX_MANIFEST = 64 * 1024;
/** Without a byte for so long, the pull ends; it can be begun again. */
const SILENCE_MS = 60_000;

/** @throws ModelError with what is wrong, or the reason of `signal` */
export async function pullModel(options: PullOptions): Promise<Manifest> {
  const { pair, folder, signal } = options;
  if (!PAIR.test(pair)) throw new ModelError(`a pair is written en-es, not ${JSON.stringify(pair)}`);
  const base = new URL(options.from);
  if (base.protocol !== 'https:' && base.protocol !== 'http:') {
    throw new ModelError('models are pulled over http or https');
  }
  signal?.throwIfAborted();
  const address = `${base.href.replace(/(?<!\/)\/+$/, '')}/${pair}`;
  const agent = new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  try {
    const text = await fetchManifest(`${address}/${MANIFEST}`, agent, signal);
    const manifest = parseManifest(text);
    if (`${manifest.from}-${manifest.to}` !== pair) {
      throw new ModelError(`the manifest is of ${manifest.from}-${manifest.to}, not of ${pair}`);
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
      `the pull broke off (${typeof code === 'string' ? code : String(error)}); begin it again`,
    );
  } finally {
    await agent.destroy();
  }
}

async function fetchManifest(url: string, agent: Agent, signal: AbortSignal | undefined): Promise<string> {
  const answer = await request(url, { dispatcher: agent, signal: signal ?? null });
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw new ModelError(`${url} answered ${answer.statusCode}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    if (size > MAX_MANIFEST) throw new ModelError(`the manifest has more than ${MAX_MANIFEST} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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
  // A part may be of another file than the one there now: then the sum is wrong, and it is fetched once from the start.
  for (const again of [true, false]) {
    const resumed = await fetchFile(file, address, partial, agent, options);
    if ((await sizeOf(whole)) === file.bytes && (await sha256Of(whole)) === file.sha256) return;
    await rm(whole, { force: true });
    if (!resumed || !again)
      throw new ModelError(`${file.name} has another size or checksum than its manifest says`);
  }
}

/** @returns whether it went on from a part fetched before */
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
      // What is there is all there is, or of another file; the sum tells.
      await body.dump();
    } else if (status === 200 || status === 206) {
      const goesOn = status === 206 && String(headers['content-range']).startsWith(`bytes ${have}-`);
      if (status === 206 && !goesOn) {
        body.destroy();
        throw new ModelError(`${url} answered another range than was asked for`);
      }
      const from = goesOn ? have : 0;
      // A packed file is never larger than the plain one by more than its frame.
      const limit = bounded(
        file.bytes + 4_096 - from,
        `${file.name} is larger than its manifest says`,
        (bytes) => {
          if (!packed) report(from + bytes);
        },
      );
      await pipeline(body, limit, createWriteStream(part, { flags: goesOn ? 'a' : 'w' }), {
        signal: signal!,
      });
    } else {
      await body.dump();
      throw new ModelError(`${url} answered ${status}`);
    }
    if (!packed) await rename(part, join(partial, file.name));
    else await unpack(part, join(partial, file.name), file, report, signal);
    return have > 0;
  }
  throw new ModelError(`${file.name} is not there`);
}

async function unpack(
  part: string,
  whole: string,
  file: ModelFile,
  report: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const limit = bounded(file.bytes, `${file.name} is larger than its manifest says`, report);
  try {
    await pipeline(createReadStream(part), createGunzip(), limit, createWriteStream(whole), {
      signal: signal!,
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ModelError) throw error;
    // Broken: an empty file fails the sum, and the next try begins anew.
    await writeFile(whole, '');
  } finally {
    if (signal?.aborted !== true) await rm(part, { force: true });
  }
}

/** Passes bytes on up to a limit. */
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

/** On the disk before it has its name. An older model of the pair is put aside for the moment between. */
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
