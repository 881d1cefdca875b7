import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dragoman, engineWithoutLanguages } from '../testing/programs.ts';

const SOURCE = ['The red house is near the river.', 'My sister buys bread. She pays.'];
const GOOD: Record<string, string> = {
  'The red house is near the river.': 'La casa roja está cerca del río.',
  'My sister buys bread.': 'Mi hermana compra pan.',
  'She pays.': 'Ella paga.',
};
/** The translations of each model. The model `poor` copies words, and does not translate one sentence. */
const MODELS: Record<string, (text: string) => string> = {
  good: (text) => GOOD[text]!,
  poor: (text) => (text === 'She pays.' ? '' : `La ${text.split(' ').slice(1, -1).join(' ')} rio`),
};

describe('dragoman engine compare', () => {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-compare-'));
  let requests = 0;
  const service = createServer((request, response) => {
    requests++;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { model, messages } = JSON.parse(Buffer.concat(chunks).toString());
      const text = /\nEnglish: (.*)\nSpanish:$/.exec(messages[0].content)![1]!;
      const content = MODELS[model]!(text);
      const tokens = [{ token: content, logprob: Math.log(0.8), bytes: null }];
      const logprobs = model === 'good' ? { content: tokens } : null;
      const choices = [{ message: { content }, logprobs, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices }));
    });
  });
  const write = (name: string, lines: string[]): string => {
    const path = join(directory, name);
    writeFileSync(path, `${lines.join('\n\n')}\n`);
    return path;
  };
  const file = write('source.txt', SOURCE);
  const references = write('references.txt', [
    'La casa roja está cerca del río.',
    'Mi hermana compra pan. Ella paga.',
  ]);
  let environment: Record<string, string>;

  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const model = (name: string, pairs = 'en>es') => ({
      [`DRAGOMAN_LLM_${name.toUpperCase()}_URL`]: url,
      [`DRAGOMAN_LLM_${name.toUpperCase()}_MODEL`]: name,
      [`DRAGOMAN_LLM_${name.toUpperCase()}_PAIRS`]: pairs,
      [`DRAGOMAN_LLM_${name.toUpperCase()}_PROFILE`]: 'plain',
    });
    environment = {
      DRAGOMAN_ENGINES: 'llm:poor,llm:good,llm:other',
      DRAGOMAN_ENGINE_COSTS: 'llm:good=1000000',
      ...model('poor'),
      ...model('good'),
      ...model('other', 'en>de'),
    };
  });
  afterAll(async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  });

  const compare = (...more: string[]) =>
    dragoman(['engine', 'compare', 'en', 'es', file, ...more], environment);

  it('prints the measures of each engine as a table', async () => {
    const { status, stdout, stderr } = await compare('--references', references);
    expect(status).toBe(0);
    expect(stderr.match(/^Translating 2 lines with llm:/gm)).toHaveLength(3);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual([
      'ENGINE',
      'CHRF',
      'AGREEMENT',
      'COPIED',
      'CONFIDENCE',
      'WORDS/S',
      'CENTS',
      'FAILED',
    ]);
    expect(rows[1]?.[0]).toBe('llm:poor');
    expect(rows[1]?.slice(4, 5)).toEqual(['-']);
    expect(rows[1]?.[7]).toBe('1 garbled');
    expect(rows[2]).toEqual([
      'llm:good',
      '100.0',
      expect.any(String),
      '0.0 %',
      '80.0 %',
      expect.any(String),
      '62.00',
      '0',
    ]);
    expect(rows[3]?.slice(0, 2)).toEqual(['llm:other', '0.0']);
    // The share of copied words is not computed for an engine that translates no line completely.
    expect(rows[3]?.[3]).toBe('-');
    expect(rows[3]?.[7]).toBe('3 unsupported');
    expect(Number(rows[1]?.[1])).toBeLessThan(60);
  });

  it('prints the measures and all translations as JSON', async () => {
    const { stdout } = await compare('--json', '--engines', 'llm:good,llm:poor');
    const { words, engines, texts } = JSON.parse(stdout);
    expect(words).toBe(13);
    expect(engines).toMatchObject([
      { engine: 'llm:good', chrf: null, confidence: expect.closeTo(0.8), failed: {} },
      { engine: 'llm:poor', chrf: null, confidence: null, cents: 0, failed: { garbled: 1 } },
    ]);
    expect(engines[0].agreement).toBeGreaterThan(0);
    expect(engines[1].copied).toBeGreaterThan(engines[0].copied);
    expect(texts[1]).toMatchObject({
      source: SOURCE[1],
      reference: null,
      translations: [
        { engine: 'llm:good', text: 'Mi hermana compra pan. Ella paga.', complete: true, copied: [] },
        { engine: 'llm:poor', complete: false },
      ],
    });
    expect(texts[0].translations[1]).toMatchObject({ copied: ['house', 'near'] });
  });

  it('prints no agreement between engines when there is only one engine', async () => {
    const { stdout } = await compare('--json', '--engines', 'llm:good');
    expect(JSON.parse(stdout).engines).toMatchObject([{ agreement: null }]);
  });

  it.each([
    [
      'references for other lines',
      () => ['--references', write('one.txt', ['La casa.'])],
      /^Line 3 has no reference in .*one\.txt\./,
    ],
    [
      'references in lines with other numbers',
      () => ['--references', write('shifted.txt', ['', 'La casa.', 'Ella paga.'])],
      /^Line 1 has no reference in .*shifted\.txt\./,
    ],
    [
      'a reference without text',
      () => ['--references', write('more.txt', ['La casa.', 'Ella paga.', 'Sí.'])],
      /^Line 5 has a reference in .*more\.txt, but no text\./,
    ],
    ['a missing file', () => ['--references', join(directory, 'absent')], /cannot be read/],
    [
      'an engine without settings',
      () => ['--engines', 'llm:none'],
      /DRAGOMAN_ENGINES must name the engine llm:none/,
    ],
  ])('refuses %s', async (_, args, sentence) => {
    const ended = await compare(...args());
    expect(ended).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) });
  });

  it('sends nothing to the first engine when the second engine lacks a setting', async () => {
    const before = requests;
    const ended = await dragoman(
      ['engine', 'compare', 'en', 'es', file, '--engines', 'llm:good,deepl'],
      environment,
    );
    expect(ended).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/DRAGOMAN_DEEPL_KEY/),
    });
    expect(requests).toBe(before);
  });

  it('offers to install Apertium before it translates', async () => {
    const before = requests;
    const ended = await dragoman(['engine', 'compare', 'en', 'es', file, '--engines', 'llm:good,apertium'], {
      ...environment,
      CI: '',
      ...engineWithoutLanguages(join(directory, 'apertium')),
    });
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringMatching(/engine install/) });
    expect(requests).toBe(before);
  });

  it('refuses an unknown engine', async () => {
    const ended = await compare('--engines', 'llm:Good');
    expect(ended).toMatchObject({ status: 2, stderr: expect.stringMatching(/no engine named llm:Good/) });
  });

  it('refuses a file without text', async () => {
    const empty = write('empty.txt', ['', ' ']);
    const ended = await dragoman(['engine', 'compare', 'en', 'es', empty], environment);
    expect(ended).toMatchObject({ status: 1, stderr: `${empty} has no text.\n` });
  });
});
