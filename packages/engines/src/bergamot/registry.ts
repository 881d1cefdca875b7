/**
 * The public registry of Firefox's translation models: which models exist, how good they are, and the checksums of
 * their files.
 *
 * Two documents describe the models. `models.json` has paths, published scores and the checksum of each model file.
 * The records of Remote Settings (`translations-models-v2`) have the checksums of all files, also of shortlists and
 * vocabularies. They are joined by the SHA-256 of the model file. A mirror has both documents in the same form.
 */

import type { Language } from '../engine.ts';
import type { ModelFile } from './models.ts';
import { MAX_MODEL_BYTES, ModelError, PAIR } from './models.ts';

/** A file of a model in a registry. Size and checksum are those of the uncompressed file. */
export interface RemoteFile extends ModelFile {
  /**
   * The path, relative to the base address of the registry's files. Files with `.gz` or `.zst` at the end are
   * compressed.
   */
  path: string;
}

export interface RemoteFiles {
  from: Language;
  to: Language;
  model: RemoteFile;
  shortlist: RemoteFile | null;
  /** One vocabulary for both languages, or one for the source and one for the target. */
  vocabularies: RemoteFile[];
}

export interface RemoteModel {
  /** The language pair, such as `en-es`. */
  pair: string;
  /** The architecture of the model, such as `tiny` or `base-memory`. */
  architecture: string;
  released: boolean;
  /** Published scores on FLORES-200 (`flores200-plus`); null if there are none. */
  scores: { chrf: number | null; bleu: number | null; comet: number | null };
  /** The total uncompressed size of all files in bytes; the size of the model file alone if `files` is null. */
  bytes: number;
  files: RemoteFiles | null;
  /** Why the model cannot be installed; null if it can be. */
  fault: string | null;
}

export interface Registry {
  /** The address to which the files' paths are relative, if `models.json` names one. */
  baseUrl: string | null;
  models: RemoteModel[];
}

type Fields = Record<string, unknown>;

const HASH = /^[\da-f]{64}$/;
const FILE_NAME = /^\w[\w.-]{0,127}$/;
/** Matches a relative path without the parts `.` and `..`. */
const PATH = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.-]+(?:\/[\w.-]+)*$/;
const SUFFIX = /\.(?:gz|zst)$/;
/**
 * Matches the name of an architecture that may be a part of a path, because a mirror uses it in the names of folders.
 */
const ARCHITECTURE = /^\w[\w.-]{0,63}$/;

/**
 * Joins the two documents of a registry to one list of models.
 * @param models the content of `models.json`
 * @param records the records of Remote Settings, as `{ data: [...] }`
 * @throws ModelError when a document does not have the known form
 */
export function readRegistry(models: unknown, records: unknown): Registry {
  const { models: byPair, baseUrl } = fieldsOf(models);
  const { data } = fieldsOf(records);
  if (typeof byPair !== 'object' || byPair === null || Array.isArray(byPair))
    throw new ModelError('models.json of the registry has no object "models"');
  if (!Array.isArray(data)) throw new ModelError('the records of the registry have no list "data"');
  const known = data.map(fieldsOf);
  return {
    baseUrl: typeof baseUrl === 'string' ? baseUrl : null,
    models: Object.entries(byPair).flatMap(([name, entries]) => {
      const pair = codeOf(name);
      if (!PAIR.test(pair) || !Array.isArray(entries)) return [];
      return entries.map((entry) => readModel(pair, fieldsOf(entry), known));
    }),
  };
}

/**
 * Chooses the model of a pair to install, among the released models with all checksums. It is the one with the
 * highest chrF, because the largest model is not always the best. With `small`, it is the one with the fewest
 * bytes.
 * @throws ModelError when the registry has none
 */
export function chooseModel(registry: Registry, pair: string, small = false): RemoteModel {
  const models = registry.models.filter((model) => model.pair === pair);
  if (models.length === 0) throw new ModelError(`the registry has no model for ${pair}`);
  const released = models.filter((model) => model.released);
  if (released.length === 0) throw new ModelError(`the registry has no released model for ${pair}`);
  const [best] = released
    .filter(({ files }) => files !== null)
    .sort((a, b) => {
      const better = (b.scores.chrf ?? -1) - (a.scores.chrf ?? -1);
      return (small ? a.bytes - b.bytes || better : better || a.bytes - b.bytes) || 0;
    });
  if (best === undefined) throw new ModelError(`${pair} cannot be installed: ${released[0]!.fault}`);
  return best;
}

export const filesOfRemote = ({ files }: RemoteModel): RemoteFile[] =>
  files === null
    ? []
    : [files.model, ...(files.shortlist === null ? [] : [files.shortlist]), ...files.vocabularies];

/**
 * Returns the contents of the two JSON files of a mirror with these models: `models.json` and `records.json`. Models
 * without files are left out.
 */
export function writeRegistry(models: readonly RemoteModel[]): { models: object; records: object } {
  const complete = models.filter(({ files }) => files !== null);
  const entries = complete.map(({ pair, architecture, scores, files }) => {
    const { model, shortlist, vocabularies } = files!;
    const [first, second] = vocabularies.map(({ path }) => ({ path }));
    return {
      pair,
      architecture,
      releaseStatus: 'Release',
      files: {
        model: { path: model.path, uncompressedSize: model.bytes, uncompressedHash: model.sha256 },
        ...(shortlist === null ? {} : { lexicalShortlist: { path: shortlist.path } }),
        ...(second === undefined ? { vocab: first } : { srcVocab: first, trgVocab: second }),
      },
      metrics: { 'flores200-plus': { chrf: scores.chrf, bleu: scores.bleu, comet22: scores.comet } },
    };
  });
  const data = complete.flatMap(({ architecture, files }, index) => {
    const { from, to, model, shortlist, vocabularies } = files!;
    const types = vocabularies.length === 1 ? ['vocab'] : ['srcvocab', 'trgvocab'];
    const record = (fileType: string, { name, bytes, sha256 }: RemoteFile) => ({
      name,
      fileType,
      sourceLanguage: from,
      targetLanguage: to,
      architecture,
      // Two models of a pair may have the same architecture. The version shows which files belong to which model.
      version: `${index + 1}.0`,
      decompressedSize: bytes,
      decompressedHash: sha256,
    });
    return [
      record('model', model),
      ...(shortlist === null ? [] : [record('lex', shortlist)]),
      ...vocabularies.map((file, at) => record(types[at]!, file)),
    ];
  });
  const byPair = Map.groupBy(entries, ({ pair }) => pair);
  return {
    models: {
      models: Object.fromEntries(
        [...byPair].map(([pair, of]) => [pair, of.map(({ pair: _, ...rest }) => rest)]),
      ),
    },
    records: { data },
  };
}

function readModel(pair: string, entry: Fields, records: readonly Fields[]): RemoteModel {
  const { architecture: given } = entry;
  const architecture = typeof given === 'string' && ARCHITECTURE.test(given) ? given : 'unknown';
  const files = fieldsOf(entry.files);
  const scores = fieldsOf(fieldsOf(entry.metrics)['flores200-plus']);
  const size = fieldsOf(files.model).uncompressedSize;
  const model: RemoteModel = {
    pair,
    architecture,
    released: typeof entry.releaseStatus === 'string' && /^release\b/i.test(entry.releaseStatus),
    scores: {
      chrf: numberOf(scores.chrf),
      bleu: numberOf(scores.bleu),
      comet: numberOf(scores.comet22) ?? numberOf(scores.comet),
    },
    bytes: numberOf(size) ?? 0,
    files: null,
    fault: null,
  };
  try {
    model.files = readFiles(pair, files, records);
    model.bytes = filesOfRemote(model).reduce((sum, { bytes }) => sum + bytes, 0);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    model.fault = error.message;
  }
  return model;
}

function readFiles(pair: string, files: Fields, records: readonly Fields[]): RemoteFiles {
  const hash = fieldsOf(files.model).uncompressedHash;
  if (typeof hash !== 'string' || !HASH.test(hash))
    throw new ModelError('the registry has no checksum for its model file');
  const own = newest(records.filter((each) => each.fileType === 'model' && each.decompressedHash === hash));
  if (own === undefined)
    throw new ModelError('no record has the checksum of its model file, so those of the others are unknown');
  if (pairOf(own) !== pair) throw new ModelError(`its model file is recorded for ${pairOf(own)}`);
  const siblings = records.filter(
    (each) => pairOf(each) === pair && each.architecture === own.architecture && each.version === own.version,
  );
  const take = (key: string, fileType: string): RemoteFile => {
    const record = fileType === 'model' ? own : siblings.find((each) => each.fileType === fileType);
    if (record === undefined) throw new ModelError(`no record has the checksum of its ${key}`);
    return readFile(key, fieldsOf(files[key]).path, record);
  };
  return {
    from: codeOf(String(own.sourceLanguage)),
    to: codeOf(String(own.targetLanguage)),
    model: take('model', 'model'),
    shortlist: files.lexicalShortlist === undefined ? null : take('lexicalShortlist', 'lex'),
    vocabularies:
      files.vocab === undefined
        ? [take('srcVocab', 'srcvocab'), take('trgVocab', 'trgvocab')]
        : [take('vocab', 'vocab')],
  };
}

function readFile(key: string, path: unknown, record: Fields): RemoteFile {
  if (typeof path !== 'string' || !PATH.test(path))
    throw new ModelError(`the path of its ${key} is not a relative path without ".."`);
  const name = path.split('/').at(-1)!.replace(SUFFIX, '');
  if (!FILE_NAME.test(name)) throw new ModelError(`its ${key} has an invalid file name`);
  const { decompressedHash: sha256, decompressedSize: bytes } = record;
  if (typeof sha256 !== 'string' || !HASH.test(sha256))
    throw new ModelError(`no record has the checksum of its ${key}`);
  if (typeof bytes !== 'number' || !Number.isInteger(bytes) || bytes < 1 || bytes > MAX_MODEL_BYTES)
    throw new ModelError(`no record has a valid size of its ${key}`);
  return { name, path, bytes, sha256 };
}

/** Returns the record with the highest version; a release is higher than its alpha and beta versions. */
function newest(records: readonly Fields[]): Fields | undefined {
  const key = ({ version }: Fields): number[] => {
    const [, major = 0, minor = 0, rest = ''] =
      /^(\d{1,6})\.(\d{1,6})(?!\d)(.*)/s.exec(String(version).slice(0, 40)) ?? [];
    return [Number(major), Number(minor), rest === '' ? 1 : 0];
  };
  return [...records].sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    return right.map((part, index) => part - left[index]!).find((difference) => difference !== 0) ?? 0;
  })[0];
}

const pairOf = ({ sourceLanguage, targetLanguage }: Fields): string =>
  codeOf(`${sourceLanguage}-${targetLanguage}`);

/** The registry writes `zh_hant` for `zh-hant`. */
const codeOf = (name: string): string => name.toLowerCase().replaceAll('_', '-');

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
