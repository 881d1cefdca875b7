/** Installs models from a registry, and copies models into a mirror. */

import { existsSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DownloadOptions, downloadFiles, FREE } from './download.ts';
import type { Manifest } from './models.ts';
import { filesOf, MANIFEST, ModelError, PAIR, parseManifest, precisionOf, readModel } from './models.ts';
import type { RemoteFile, RemoteFiles, RemoteModel } from './registry.ts';
import { chooseModel, filesOfRemote, writeRegistry } from './registry.ts';
import { testModel } from './self-test.ts';
import { createModelSource, MIRROR_MODELS, MIRROR_RECORDS, type ModelSource } from './source.ts';

export interface SourceOptions extends DownloadOptions {
  /** `mozilla`, the URL of a mirror or the path of its folder; see {@link createModelSource}. */
  from: string;
  insecure?: boolean | undefined;
}

export interface PullOptions extends SourceOptions {
  /** The language pair, such as `en-es`. */
  pair: string;
  /** Takes the smallest model instead of the best. */
  small?: boolean | undefined;
  /** Folder of all models; see {@link BergamotOptions.folder}. */
  folder: string;
}

/** The codes of errors of a machine that has no way to the source. */
const NOT_REACHED = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The codes of errors that come from the disk. All other errors come from the network. */
const FILE_ERRORS = new Set('EACCES EDQUOT EIO EISDIR ENOENT ENOSPC ENOTDIR EPERM EROFS'.split(' '));

const LICENCE = 'MPL-2.0';

/** Returns all models of a registry. @throws ModelError */
export function listRemoteModels(options: SourceOptions): Promise<RemoteModel[]> {
  return withSource(options, async (source) => (await source.registry()).models);
}

/**
 * Installs a model of the pair: downloads it, verifies its checksums, translates a sentence with it, and only then
 * replaces an older model.
 * @throws ModelError with the fault, or the reason of `signal`
 */
export function pullModel(options: PullOptions): Promise<RemoteModel> {
  const { pair, folder, small, signal } = options;
  return withSource(options, async (source) => {
    if (!PAIR.test(pair))
      throw new ModelError(`a pair must be written like en-es, not ${JSON.stringify(pair)}`);
    const chosen = chooseModel(await source.registry(), pair, small);
    const partial = join(folder, `.${pair}.partial`);
    const staged = join(partial, pair);
    await downloadFiles(filesOfRemote(chosen), source, staged, options);
    const manifest = manifestOf(chosen.files!);
    const { architecture, scores } = chosen;
    const origin = { from: withoutSecrets(options.from), architecture, licence: LICENCE, scores };
    await writeFile(join(staged, MANIFEST), `${JSON.stringify({ ...manifest, origin }, null, 2)}\n`);
    // After a failed test the files stay, so that a later pull need not download them again.
    await testModel(await readModel(staged), (options.free ?? FREE).memory());
    signal?.throwIfAborted();
    await settle(staged, join(folder, pair), filesOf(manifest));
    await rm(partial, { recursive: true, force: true });
    return chosen;
  });
}

/**
 * Copies the best and the smallest model of each pair into a folder that serves as a mirror. Models of other pairs
 * that are already in the folder stay there.
 * @throws ModelError with the fault, or the reason of `signal`
 */
export function mirrorModels(
  options: SourceOptions & { pairs: readonly string[]; folder: string },
): Promise<RemoteModel[]> {
  const { pairs, folder } = options;
  return withSource(options, async (source) => {
    const registry = await source.registry();
    const copied: RemoteModel[] = [];
    for (const pair of pairs) {
      for (const model of new Set([chooseModel(registry, pair), chooseModel(registry, pair, true)])) {
        copied.push(await copyModel(model, source, folder, options));
      }
    }
    // If the mirror's list of models cannot be read, this call throws. A new list would lack the models that are
    // already in the mirror.
    const present = existsSync(join(folder, MIRROR_MODELS))
      ? await createModelSource(folder).registry()
      : { models: [] };
    const others = present.models.filter(({ pair }) => !pairs.includes(pair));
    const { models, records } = writeRegistry([...others, ...copied]);
    await writeFile(join(folder, MIRROR_RECORDS), `${JSON.stringify(records, null, 2)}\n`);
    await writeFile(join(folder, MIRROR_MODELS), `${JSON.stringify(models, null, 2)}\n`);
    return copied;
  });
}

/** Downloads a model into `pair/architecture-hash` of a mirror. */
async function copyModel(
  model: RemoteModel,
  source: ModelSource,
  folder: string,
  options: DownloadOptions,
): Promise<RemoteModel> {
  const place = `${model.pair}/${model.architecture}-${model.files!.model.sha256.slice(0, 12)}`;
  await downloadFiles(filesOfRemote(model), source, join(folder, place), options);
  const moved = (file: RemoteFile): RemoteFile => ({ ...file, path: `${place}/${file.name}` });
  const { model: file, shortlist, vocabularies } = model.files!;
  return {
    ...model,
    files: {
      ...model.files!,
      model: moved(file),
      shortlist: shortlist === null ? null : moved(shortlist),
      vocabularies: vocabularies.map(moved),
    },
  };
}

async function withSource<T>(
  { from, insecure, signal }: SourceOptions,
  use: (source: ModelSource) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const source = createModelSource(from, { insecure, signal });
  try {
    return await use(source);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ModelError) throw error;
    const { code } = error as { code?: unknown };
    const name = typeof code === 'string' ? code : String(error);
    if (FILE_ERRORS.has(name)) throw new ModelError(`the files cannot be written or read (${name})`);
    throw new ModelError(
      NOT_REACHED.has(name)
        ? `the source cannot be reached (${name}); on a machine without internet access, use --from FOLDER`
        : `the download was interrupted (${name}); start it again to resume`,
    );
  } finally {
    await source.close();
  }
}

/** Returns the URL of a model source without user name, password and query. The path of a folder stays unchanged. */
function withoutSecrets(from: string): string {
  if (!URL.canParse(from)) return from;
  const url = new URL(from);
  return url.origin === 'null' ? from : `${url.origin}${url.pathname}`;
}

function manifestOf({ from, to, model, shortlist, vocabularies }: RemoteFiles): Manifest {
  return parseManifest(
    JSON.stringify({ from, to, precision: precisionOf(model.name), model, shortlist, vocabularies }),
  );
}

/** Syncs a complete model to disk and moves it to its folder. An older model is moved aside first. */
async function settle(staged: string, place: string, files: readonly { name: string }[]): Promise<void> {
  for (const name of [...files.map((file) => file.name), MANIFEST]) {
    const handle = await open(join(staged, name), 'r+');
    await handle.sync().finally(() => handle.close());
  }
  const old = `${staged}.old`;
  await rm(old, { recursive: true, force: true });
  await rename(place, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(staged, place);
  await rm(old, { recursive: true, force: true });
}
