/** Tests of reading a registry of models and choosing a model from it. */

import { describe, expect, test } from 'vitest';
import { ModelError } from '../src/bergamot/models.ts';
import { chooseModel, filesOfRemote, readRegistry, writeRegistry } from '../src/bergamot/registry.ts';

interface Planted {
  architecture?: string;
  status?: string;
  chrf?: number;
  megabytes?: number;
  /** The file of the model for which the registry has no record. */
  without?: string;
  split?: boolean;
  path?: string;
}

const hashOf = (text: string): string => Buffer.from(text.padEnd(32, '.')).toString('hex').slice(0, 64);

/** Returns both documents of a registry with these models of one pair, named a, b, c, … */
function documents(planted: Planted[], pair = 'en-es') {
  const [from, to] = pair.split('-');
  const records: object[] = [];
  const entries = planted.map((one, index) => {
    const name = 'abcdef'[index]!;
    const { architecture = 'tiny', status = 'Release', chrf, megabytes = 17, split = false } = one;
    const vocabularies = split ? ['srcvocab', 'trgvocab'] : ['vocab'];
    for (const fileType of ['model', 'lex', ...vocabularies]) {
      if (fileType === one.without) continue;
      records.push({
        fileType,
        sourceLanguage: from,
        targetLanguage: to,
        architecture,
        version: `${index + 1}.0`,
        decompressedHash: hashOf(`${name} ${fileType}`),
        decompressedSize: fileType === 'model' ? megabytes * 1_000_000 : 1_000,
      });
    }
    const path = (file: string) => ({ path: one.path ?? `models/${name}/${file}.gz` });
    return {
      architecture,
      releaseStatus: status,
      files: {
        model: {
          ...path('model.bin'),
          uncompressedHash: hashOf(`${name} model`),
          uncompressedSize: megabytes * 1_000_000,
        },
        lexicalShortlist: path('lex.bin'),
        ...(split
          ? { srcVocab: path('srcvocab.spm'), trgVocab: path('trgvocab.spm') }
          : { vocab: path('vocab.spm') }),
      },
      metrics: chrf === undefined ? {} : { 'flores200-plus': { chrf, bleu: 25, comet22: 0.85 } },
    };
  });
  return {
    models: { baseUrl: 'https://files.example/', models: { [pair]: entries } },
    records: { data: records },
  };
}

const read = (planted: Planted[], pair?: string) => {
  const { models, records } = documents(planted, pair);
  return readRegistry(models, records);
};
/** Returns the name (a, b, c, …) of the chosen model. */
const chosen = (planted: Planted[], small = false): string =>
  chooseModel(read(planted), 'en-es', small).files!.model.path.split('/')[1]!;

describe('chooseModel', () => {
  test.each<[why: string, planted: Planted[], best: string, small?: boolean]>([
    ['it is the only one', [{ chrf: 55 }], 'a'],
    ['its chrF is the highest', [{ chrf: 55 }, { chrf: 56.5, architecture: 'base-memory' }], 'b'],
    [
      'its chrF is the highest although another is larger',
      [
        { chrf: 58.1, megabytes: 17 },
        { chrf: 56.7, megabytes: 43, architecture: 'base' },
      ],
      'a',
    ],
    ['the better one is not released', [{ chrf: 55 }, { chrf: 60, status: 'Nightly' }], 'a'],
    [
      'the release is for the desktop',
      [
        { chrf: 55, status: 'Experimental' },
        { chrf: 50, status: 'Release Desktop' },
      ],
      'b',
    ],
    [
      'the better one lacks the record of its vocabulary',
      [{ chrf: 60, without: 'vocab' }, { chrf: 55 }],
      'b',
    ],
    [
      'the better one lacks the record of its model file',
      [{ chrf: 60, without: 'model' }, { chrf: 55 }],
      'b',
    ],
    ['the other has no score', [{}, { chrf: 20 }], 'b'],
    [
      'equal chrF: it is smaller',
      [
        { chrf: 55, megabytes: 43 },
        { chrf: 55, megabytes: 17 },
      ],
      'b',
    ],
    [
      'small: it has the fewest bytes',
      [
        { chrf: 60, megabytes: 43 },
        { chrf: 55, megabytes: 17 },
      ],
      'b',
      true,
    ],
    ['small: equal bytes, its chrF is higher', [{ chrf: 54 }, { chrf: 55 }], 'b', true],
    ['its vocabularies are split', [{ chrf: 55, split: true }], 'a'],
  ])('chooses the expected model when %s', (_, planted, best, small) => {
    expect(chosen(planted, small)).toBe(best);
  });

  test.each<[Planted[], RegExp]>([
    [[], /no model for en-es/],
    [[{ status: 'Nightly' }], /no released model for en-es/],
    [[{ without: 'lex' }], /no record has the checksum of its lexicalShortlist/],
    [[{ path: '../../etc/passwd' }], /not a relative path/],
    [[{ path: '/etc/passwd' }], /not a relative path/],
    [[{ path: 'a/./b' }], /not a relative path/],
    [[{ path: 'https://other.example/model.bin' }], /not a relative path/],
    [[{ megabytes: 300 }], /valid size/],
  ])('fails with the reason when the registry has %j', (planted, message) => {
    expect(() => chosen(planted)).toThrow(message);
    expect(() => chosen(planted)).toThrow(ModelError);
  });
});

describe('a model registry', () => {
  test('lists each file with its checksum, its size and its name without `.gz`', () => {
    const [model] = read([{ chrf: 55, split: true }]).models;
    expect(filesOfRemote(model!)).toEqual([
      { name: 'model.bin', path: 'models/a/model.bin.gz', bytes: 17_000_000, sha256: hashOf('a model') },
      { name: 'lex.bin', path: 'models/a/lex.bin.gz', bytes: 1_000, sha256: hashOf('a lex') },
      { name: 'srcvocab.spm', path: 'models/a/srcvocab.spm.gz', bytes: 1_000, sha256: hashOf('a srcvocab') },
      { name: 'trgvocab.spm', path: 'models/a/trgvocab.spm.gz', bytes: 1_000, sha256: hashOf('a trgvocab') },
    ]);
    expect(model).toMatchObject({ scores: { chrf: 55, bleu: 25, comet: 0.85 }, bytes: 17_003_000 });
  });

  test('reads language codes with a script', () => {
    const [model] = read([{ chrf: 55 }], 'zh_hant-en').models;
    expect(model).toMatchObject({ pair: 'zh-hant-en', files: { from: 'zh-hant', to: 'en' } });
  });

  test.each(['../../etc', 'a/b', '..', '', 7])(
    'replaces the architecture %j of a model by “unknown”',
    (given) => {
      const { models, records } = documents([{ chrf: 55 }]);
      const [model] = models.models['en-es']!;
      Object.assign(model!, { architecture: given });
      expect(readRegistry(models, records).models).toMatchObject([{ architecture: 'unknown', fault: null }]);
    },
  );

  test('has the same models after it was written to a mirror', () => {
    const { models } = read([{ chrf: 55, split: true }, { chrf: 54, architecture: 'base' }, { chrf: 53 }]);
    const written = JSON.parse(JSON.stringify(writeRegistry(models)));
    expect(readRegistry(written.models, written.records).models).toEqual(models);
  });

  test.each([
    [{}, { data: [] }, /no object "models"/],
    [{ models: [] }, { data: [] }, /no object "models"/],
    [{ models: {} }, {}, /no list "data"/],
    [null, null, /no object "models"/],
  ])('is refused when models.json is %j and records.json is %j', (models, records, message) => {
    expect(() => readRegistry(models, records)).toThrow(message);
  });

  test('leaves out entries of an unknown form', () => {
    const models = { 'en-es': [null, 7, { files: [] }], '../x': [{}], 'en-fr': 'none' };
    const { models: found } = readRegistry({ models }, { data: [null, 'x', {}] });
    expect(found.map(({ pair, files }) => [pair, files])).toEqual([
      ['en-es', null],
      ['en-es', null],
      ['en-es', null],
    ]);
  });
});
