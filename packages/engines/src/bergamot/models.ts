/**
 * Models in the operator's folder: `models/en-es/manifest.json` lists the files of a model with sizes and
 * checksums. Only files that match the manifest are loaded.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Language } from '../engine.ts';
import type { Setup } from './worker.ts';

export interface ModelFile {
  name: string;
  bytes: number;
  sha256: string;
}

const PRECISIONS = ['int8shiftAlphaAll', 'int8shiftAll', 'float32'] as const;

export interface Manifest {
  from: Language;
  to: Language;
  /**
   * How matrices are multiplied: `int8shiftAlphaAll` if the model's name has `alphas`, `float32` if it has `float32`,
   * otherwise `int8shiftAll`. The models of Firefox have 8-bit matrices.
   */
  precision: (typeof PRECISIONS)[number];
  model: ModelFile;
  /** Likely target words for each source word (Marian's shortlist). It makes translation twice as fast. */
  shortlist: ModelFile | null;
  /** One vocabulary for both languages, or one for the source and one for the target. */
  vocabularies: ModelFile[];
}

export interface Model {
  manifest: Manifest;
  setup: Setup;
  /** A hash that changes when the files change. */
  digest: string;
}

export const MANIFEST = 'manifest.json';
/** Maximum size of a model. The largest model of Firefox has 43 MB when uncompressed. */
export const MAX_MODEL_BYTES = 256 * 1024 * 1024;
export const PAIR = /^[a-z]{2,3}(?:-[a-z\d]{2,8})*$/;
const NAME = /^[\w][\w.-]{0,127}$/;

export class ModelError extends Error {}

/** Parses and checks a manifest. @throws ModelError when the manifest is invalid */
export function parseManifest(text: string): Manifest {
  let json: Partial<Manifest>;
  try {
    json = JSON.parse(text);
  } catch {
    throw new ModelError('the manifest is not JSON');
  }
  if (typeof json !== 'object' || json === null) throw new ModelError('the manifest is not an object');
  const { from, to, precision, model, shortlist = null, vocabularies } = json;
  for (const language of [from, to]) {
    if (typeof language !== 'string' || !PAIR.test(language))
      throw new ModelError('the manifest lacks a valid language');
  }
  if (precision === undefined || !PRECISIONS.includes(precision)) {
    throw new ModelError(`the precision in the manifest must be one of ${PRECISIONS.join(', ')}`);
  }
  if (!Array.isArray(vocabularies) || vocabularies.length < 1 || vocabularies.length > 2) {
    throw new ModelError('the manifest must have one or two vocabularies');
  }
  return {
    from: from!,
    to: to!,
    precision,
    model: parseFile(model),
    shortlist: shortlist === null ? null : parseFile(shortlist),
    vocabularies: vocabularies.map(parseFile),
  };
}

function parseFile(value: unknown): ModelFile {
  const { name, bytes, sha256 } = (value ?? {}) as Partial<ModelFile>;
  if (typeof name !== 'string' || !NAME.test(name) || name === MANIFEST) {
    throw new ModelError('a file in the manifest has an invalid name');
  }
  if (typeof bytes !== 'number' || !Number.isInteger(bytes) || bytes < 1 || bytes > MAX_MODEL_BYTES) {
    throw new ModelError(`the manifest has no valid size for ${name}`);
  }
  if (typeof sha256 !== 'string' || !/^[\da-f]{64}$/.test(sha256)) {
    throw new ModelError(`the manifest has no SHA-256 for ${name}`);
  }
  return { name, bytes, sha256 };
}

export const filesOf = (manifest: Manifest): ModelFile[] => [
  manifest.model,
  ...(manifest.shortlist === null ? [] : [manifest.shortlist]),
  ...manifest.vocabularies,
];

/** Returns the models whose files match their manifests, and the faults of the other models. */
export async function findModels(folder: string): Promise<{ models: Model[]; faults: string[] }> {
  const models: Model[] = [];
  const faults: string[] = [];
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => !each.startsWith('.')).sort()) {
    try {
      models.push(await readModel(join(folder, name)));
    } catch (error) {
      faults.push(`${name}: ${error instanceof ModelError ? error.message : 'it cannot be read'}`);
    }
  }
  return { models, faults };
}

/** Reads the model in a folder. @throws ModelError when a file does not match the manifest */
export async function readModel(folder: string): Promise<Model> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => null);
  if (text === null) throw new ModelError(`it has no ${MANIFEST}`);
  const manifest = parseManifest(text);
  for (const { name, bytes, sha256 } of filesOf(manifest)) {
    const path = join(folder, name);
    const { size } = await stat(path).catch(() => ({ size: -1 }));
    if (size < 0) throw new ModelError(`${name} is missing`);
    if (size !== bytes) throw new ModelError(`${name} has ${size} bytes, not ${bytes}`);
    if ((await sha256Of(path)) !== sha256) throw new ModelError(`${name} has a wrong checksum`);
  }
  return {
    manifest,
    setup: {
      model: join(folder, manifest.model.name),
      shortlist: manifest.shortlist === null ? null : join(folder, manifest.shortlist.name),
      vocabularies: manifest.vocabularies.map(({ name }) => join(folder, name)),
      precision: manifest.precision,
    },
    digest: createHash('sha256').update(JSON.stringify(manifest)).digest('hex').slice(0, 12),
  };
}

/** Derives the precision of a model from its name, as Firefox does. */
export function precisionOf(name: string): Manifest['precision'] {
  if (name.includes('float32')) return 'float32';
  return name.includes('alphas') ? 'int8shiftAlphaAll' : 'int8shiftAll';
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * Writes the manifest of a folder whose files have Firefox's names: `model.*.bin`, `lex.*.bin`, and `vocab.*.spm` or
 * `srcvocab.*.spm` and `trgvocab.*.spm`. The operator trusts these files; the manifest reveals later changes.
 *
 * @throws ModelError when a file is missing or several files match
 */
export async function sealModel(folder: string, from: Language, to: Language): Promise<Manifest> {
  const names = await readdir(folder);
  const one = (pattern: RegExp): string | null => {
    const found = names.filter((name) => pattern.test(name));
    if (found.length > 1) throw new ModelError(`there are several files like ${found[0]}`);
    return found[0] ?? null;
  };
  const describe = async (name: string): Promise<ModelFile> => {
    const path = join(folder, name);
    return { name, bytes: (await stat(path)).size, sha256: await sha256Of(path) };
  };
  const [model, shortlist, both] = [one(/^model\..*\.bin$/), one(/^lex\..*\.bin$/), one(/^vocab\..*\.spm$/)];
  const vocabularies = both === null ? [one(/^srcvocab\..*\.spm$/), one(/^trgvocab\..*\.spm$/)] : [both];
  if (model === null) throw new ModelError('there is no model.….bin');
  if (vocabularies.includes(null)) throw new ModelError('there is no vocab.….spm');
  const manifest = parseManifest(
    JSON.stringify({
      from,
      to,
      precision: precisionOf(model),
      model: await describe(model),
      shortlist: shortlist === null ? null : await describe(shortlist),
      vocabularies: await Promise.all(vocabularies.map((name) => describe(name!))),
    }),
  );
  await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}
