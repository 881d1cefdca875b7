/** Downloads the files of a model. Partial files stay on disk, so that an interrupted download can be resumed. */

import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { ModelError, sha256Of } from './models.ts';
import type { RemoteFile } from './registry.ts';
import type { ModelSource } from './source.ts';

export interface Progress {
  file: string;
  /**
   * The number of bytes on disk, and the total number (`of`). During the download, both are sizes of the compressed
   * file; afterwards, of the uncompressed file.
   */
  bytes: number;
  of: number;
}

export interface DownloadOptions {
  /** The free space and memory of the machine in bytes; tests replace them. */
  free?: { disk(folder: string): Promise<number>; memory(): number } | undefined;
  /** Called at least once for each file. */
  onProgress?: ((progress: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** The free space and memory of this machine. */
export const FREE: NonNullable<DownloadOptions['free']> = {
  async disk(folder) {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
  memory: () => process.availableMemory(),
};

/**
 * Downloads files into a folder under their names, and verifies size and SHA-256 of each.
 * @throws ModelError with the fault; another error when the connection fails, or the reason of `signal`
 */
export async function downloadFiles(
  files: readonly RemoteFile[],
  source: ModelSource,
  folder: string,
  options: DownloadOptions,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await requireSpace(folder, files, (options.free ?? FREE).disk);
  for (const file of files) await downloadFile(file, source, folder, options);
}

/**
 * Checks the free space on the disk. A file needs twice its size, because the compressed file is removed only after
 * it is unpacked.
 */
async function requireSpace(
  folder: string,
  files: readonly RemoteFile[],
  disk: (folder: string) => Promise<number>,
): Promise<void> {
  const sizes = await Promise.all(
    files.map(async ({ name, bytes }) => 2 * bytes - Math.max(0, await sizeOf(join(folder, name)))),
  );
  const needed = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const free = await disk(folder);
  if (needed <= free) return;
  const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000);
  throw new ModelError(
    `it needs ${megabytes(needed)} MB on the disk of ${folder}, which has ${megabytes(free)} MB left`,
  );
}

async function downloadFile(
  file: RemoteFile,
  source: ModelSource,
  folder: string,
  options: DownloadOptions,
): Promise<void> {
  const whole = join(folder, file.name);
  const matches = async () => (await sizeOf(whole)) === file.bytes && (await sha256Of(whole)) === file.sha256;
  // A partial file may belong to an older version. Its checksum is then wrong, so the file is downloaded once
  // more from the start.
  for (let again = true; !(await matches()); again = false) {
    await rm(whole, { force: true });
    const resumed = await fetchFile(file, source, folder, options);
    if (await matches()) break;
    await rm(whole, { force: true });
    if (!resumed || !again)
      throw new ModelError(`${file.name} does not match the size and checksum of the registry`);
  }
  options.onProgress?.({ file: file.name, bytes: file.bytes, of: file.bytes });
}

/** Downloads and unpacks a file. @returns whether it resumed a partial file */
async function fetchFile(
  file: RemoteFile,
  source: ModelSource,
  folder: string,
  { onProgress, signal }: DownloadOptions,
): Promise<boolean> {
  const compression = /\.(?:gz|zst)$/.exec(file.path)?.[0] ?? '';
  const part = join(folder, `${file.name}${compression}.part`);
  const have = Math.max(0, await sizeOf(part));
  const opened = await source.open(file.path, have);
  if (opened !== null) {
    const start = opened.resumed ? have : 0;
    const of = opened.bytes === undefined ? file.bytes : start + opened.bytes;
    // The limit allows for a file that compression could not shrink. Compression then adds only a header and a
    // checksum.
    const limit = bounded(file, file.bytes + 4_096 - start, (bytes) =>
      onProgress?.({ file: file.name, bytes: start + bytes, of: Math.max(of, start + bytes) }),
    );
    const flags = opened.resumed ? 'a' : 'w';
    await pipeline(opened.body, limit, createWriteStream(part, { flags }), { signal: signal! });
  }
  if (compression === '') await rename(part, join(folder, file.name));
  else await unpack(part, join(folder, file.name), compression, file, signal);
  return have > 0;
}

async function unpack(
  part: string,
  whole: string,
  compression: string,
  file: RemoteFile,
  signal: AbortSignal | undefined,
): Promise<void> {
  const decompress = compression === '.gz' ? createGunzip() : createZstdDecompress();
  const limit = bounded(file, file.bytes, () => {});
  try {
    await pipeline(createReadStream(part), decompress, limit, createWriteStream(whole), { signal: signal! });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ModelError) throw error;
    // The compressed data is corrupt. It is replaced by an empty file, whose checksum is wrong, so the next attempt
    // downloads the file from its start.
    await writeFile(whole, '');
  } finally {
    if (signal?.aborted !== true) await rm(part, { force: true });
  }
}

/** Returns a transform that fails when the file is larger than it should be. */
function bounded(file: RemoteFile, most: number, report: (bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > most) return done(new ModelError(`${file.name} is larger than in the registry`));
      report(bytes);
      done(null, chunk);
    },
  });
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  );
}
