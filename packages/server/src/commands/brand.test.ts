/** Tests the commands `dragoman brand` and `dragoman glossary` while a server is running. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { readBrandFile } from '../brands/brand.ts';
import { readContext, saveBrand } from '../brands/brands.ts';
import { shareCommands } from '../testing/commands.ts';
import { createClient, type TestServer, until } from '../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const commands = shareCommands();
const { command, directory, runJson, runText } = commands;
let server: TestServer;
beforeAll(() => {
  ({ server } = commands);
});

function file(name: string, content: unknown): string {
  const path = join(directory, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function customer() {
  const { username, production_key } = await server.createAccount();
  const call = createClient(server.url, production_key);
  const create = (fields: object = {}) =>
    call('POST', HUMAN, {
      text: 'The house is big.',
      source_language: 'en',
      target_language: 'es',
      ...fields,
    });
  const { ref } = await accountNamed(server.database, username);
  const context = (language: string) => readContext(server.database, ref, 'acme', language);
  /** Imports a brand directly, without starting a process. */
  const save = (brand: object) =>
    saveBrand(server.database, 'command', ref, readBrandFile('brand', JSON.stringify(brand)), false);
  return { username, create, context, save };
}

const BRAND = {
  external_id: 'acme',
  name: 'Acme, the shop',
  default: true,
  languages: {
    es: {
      tone: 'Formal',
      instructions: 'Prices stay in euros.',
      glossary: [
        { source: 'house', target: 'casa' },
        { source: 'house', target: 'domicilio', forbidden: true, note: 'Our old word.' },
        { source: 'Acme', case_sensitive: true, do_not_translate: true },
      ],
    },
    fr: { glossary: [] },
  },
};

it('dragoman brand imports, lists, exports, changes and removes a brand while the server is running', async () => {
  const { username, create } = await customer();
  const path = file('brand.json', BRAND);
  const before = await create({ brand: 'acme' });
  expect(before).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^brand: is not known/) },
  });

  const dryRun = await runJson('brand', 'import', username, path, '--dry-run');
  expect(dryRun).toMatchObject({ account: username, brand: 'acme', dry_run: true, change: 'added' });
  expect(dryRun.languages[0].terms.added).toEqual(BRAND.languages.es.glossary);
  expect(await runJson('brand', 'list', username)).toEqual({ brands: [] });

  expect(await runText('brand', 'import', username, path)).toBe(
    `acme is added.\n  it has become the default of ${username}\n  es: added, 3 terms added\n  fr: added\n`,
  );
  expect((await create({ brand: 'acme' })).status).toBe(201);
  expect(await runText('brand', 'import', username, path)).toBe('acme is unchanged.\n');

  expect(await runText('brand', 'list', username)).toBe(
    'BRAND  NAME            DEFAULT  LANGUAGE  TONE    TERMS  INSTRUCTIONS\n' +
      'acme   Acme, the shop  yes      es        Formal  3      yes\n' +
      'acme   Acme, the shop  yes      fr        -       0      no\n',
  );
  expect(JSON.parse(await runText('brand', 'export', username, 'acme'))).toEqual(BRAND);

  const { es } = BRAND.languages;
  const changed = file('changed.json', {
    ...BRAND,
    default: false,
    languages: {
      es: {
        ...es,
        glossary: [
          { ...es.glossary[0], note: 'n' },
          { source: 'car', target: 'coche' },
        ],
      },
    },
  });
  expect(await runText('brand', 'import', username, changed, '--dry-run')).toBe(
    `acme would be changed.\n  it would be no longer the default of ${username}\n` +
      '  es: changed, 1 term added, 1 term changed, 2 terms removed\n' +
      '    + car → coche\n    ~ house → casa\n    - house → domicilio\n    - Acme → =\n  fr: removed\n',
  );
  expect(await runJson('brand', 'import', username, changed)).toMatchObject({
    change: 'changed',
    default: 'no longer',
    languages: [
      {
        language: 'es',
        change: 'changed',
        terms: { added: [{ source: 'car', target: 'coche' }], unchanged: 0 },
      },
      { language: 'fr', change: 'removed' },
    ],
  });

  expect(await runText('brand', 'remove', username, 'acme')).toBe(`Deleted the brand acme of ${username}.\n`);
  expect(await command('brand', 'remove', username, 'acme')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'brand: is not known; the account has no brands.\n',
  });
  await until(async () => (await create({ brand: 'acme' })).status === 400);
});

it('dragoman brand export writes a glossary as CSV or TBX, and importing this file changes nothing', async () => {
  const { username, context, save } = await customer();
  await save(BRAND);
  const { terms } = await context('es');
  for (const format of ['csv', 'tbx']) {
    const text = await runText('brand', 'export', username, 'acme', '--language', 'es', '--format', format);
    const path = file(`terms.${format}`, text);
    expect(await runText('glossary', 'import', username, 'acme', 'es', path)).toBe('acme is unchanged.\n');
  }
  const table = join(directory, 'terms.csv');
  expect(await runText('glossary', 'import', username, 'acme', 'pt-BR', table, '--dry-run')).toMatch(
    /^acme would be changed\.\n {2}pt-br: added, 3 terms added\n {4}\+ house → casa\n/,
  );
  const added = await runJson('glossary', 'import', username, 'acme', 'pt', table);
  expect(added.languages.map(({ change }: { change: string }) => change)).toEqual([
    'unchanged',
    'unchanged',
    'added',
  ]);
  expect(await until(async () => (await context('pt-br')).terms.length > 0 && context('pt-br'))).toEqual({
    terms,
  });
});

it('dragoman glossary import reports skipped concepts on standard error', async () => {
  const { username, save } = await customer();
  await save(BRAND);
  const section = (language: string, word: string) =>
    `<langSec xml:lang="${language}"><termSec><term>${word}</term></termSec></langSec>`;
  const path = file(
    'some.tbx',
    `<tbx xml:lang="en"><text><body><conceptEntry>${section('en', 'car')}${section('es', 'coche')}</conceptEntry>` +
      `<conceptEntry>${section('en', 'tree')}</conceptEntry></body></text></tbx>`,
  );
  expect(await command('glossary', 'import', username, 'acme', 'es', path)).toMatchObject({
    status: 0,
    stderr: 'Skipped 1 concept without terms in both en and es.\n',
  });
});

it('dragoman account set sets and removes the default brand of an account', async () => {
  const { username, save } = await customer();
  await save({ external_id: 'acme' });
  expect(await runJson('account', 'set', username)).toMatchObject({ default_brand: null });
  expect(await runText('account', 'set', username, '--default-brand', 'acme')).toContain(
    'default brand acme\n',
  );
  expect(await runJson('brand', 'list', username)).toMatchObject({ brands: [{ default: true }] });
  // A brand file that does not mention `default` does not change the default brand.
  await runText('brand', 'import', username, file('plain.json', { external_id: 'acme', name: 'Acme' }));
  expect(await runJson('account', 'set', username)).toMatchObject({ default_brand: 'acme' });
  expect(await runJson('account', 'set', username, '--default-brand', 'none')).toMatchObject({
    default_brand: null,
  });
  expect(await command('account', 'set', username, '--default-brand', 'other')).toMatchObject({
    status: 1,
    stderr: 'brand: "other" is not one of acme.\n',
  });
  // The command names an unknown brand, so it must not change the other settings either.
  const before = await runJson('account', 'set', username);
  expect(
    await command('account', 'set', username, '--chat', 'on', '--prepaid', 'on', '--default-brand', 'other'),
  ).toMatchObject({ status: 1 });
  expect(await runJson('account', 'set', username)).toEqual(before);
});

it('dragoman brand import changes nothing for an invalid file, and names every fault with its place', async () => {
  const { username } = await customer();
  const wrong = file('wrong.json', {
    external_id: ' ',
    nam: 'x',
    languages: {
      spanish: {},
      __proto__x: {},
      es: {
        tone: 'formal',
        glossary: [
          { source: 'a', target: 'b' },
          { source: 'a', tgt: 'c' },
        ],
      },
      fr: { glossary: [{ source: 'a', target: 'b' }, { source: '\ud800', target: 'b' }, { source: 1 }] },
      'pt-br': {},
      PT_BR: {},
    },
  });
  const { status, stdout, stderr } = await command('brand', 'import', username, wrong);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.trim().split('\n')).toEqual(
    [
      'the file: "nam" is not one of external_id, name, default, fallback, votes, protect, languages.',
      'external_id: is required: 1 to 128 characters, none of them a control character.',
      'languages.spanish: is not the shortname of a language, such as es or pt-br.',
      'languages.__proto__x: is not the shortname of a language, such as es or pt-br.',
      'languages.es.tone: "formal" is not one of Informal, Formal.',
      'languages.es.glossary[1]: "tgt" is not one of source, target, case_sensitive, forbidden, do_not_translate, note.',
      'languages.fr.glossary[1].source: must not contain control characters or half surrogate pairs.',
      'languages.fr.glossary[2].source: must be a string.',
      'languages.PT_BR: is a duplicate of pt-br.',
    ].map((line) => `${wrong}: ${line}`),
  );
  expect(await runJson('brand', 'list', username)).toEqual({ brands: [] });
});

it.each([
  [['brand', 'import', 'nobody', 'x.json'], 1, /^There is no account named nobody\.\n$/],
  [['brand', 'import', '*', 'absent.json'], 1, /^absent\.json: cannot be read: ENOENT/],
  [['brand', 'import', '*', '@latin1.csv'], 1, /latin1\.csv: is not text in UTF-8; save it as UTF-8\.\n$/],
  [['brand', 'import', '*', '@no.json'], 1, /no\.json: is not JSON: /],
  [['brand', 'export', '*', 'other'], 1, /^brand: "other" is not one of acme\.\n$/],
  [['brand', 'export', '*', 'acme', '--format', 'csv'], 1, /^Give --language: the brand has es, fr\.\n$/],
  [['brand', 'export', '*', 'acme', '--language', 'de'], 1, /^The brand has es, fr, but not de\.\n$/],
  [['brand', 'export', '*', 'acme', '--format', 'docx'], 2, /docx/],
  [['glossary', 'import', '*', 'other', 'es', '@terms.csv'], 1, /^brand: "other" is not one of acme\.\n$/],
  [
    ['glossary', 'import', '*', 'acme', 'Spanish!', '@terms.csv'],
    2,
    /must be a language, such as es or pt-br/,
  ],
  [
    ['glossary', 'import', '*', 'acme', 'es', '@bad.csv'],
    1,
    /bad\.csv: line 3: source: must not be empty\.\n$/,
  ],
] as const)('dragoman refuses the command line %j', async (args, status, sentence) => {
  const { username, save } = await customer();
  await save(BRAND);
  file('terms.csv', 'source,target\na,b\n');
  file('bad.csv', 'source,target\na,b\n,b\n');
  file('no.json', '{"external_id":\n');
  writeFileSync(join(directory, 'latin1.csv'), Buffer.from('source\ncaf\xe9\n', 'latin1'));
  const given = args.map((arg) =>
    arg === '*' ? username : arg.startsWith('@') ? join(directory, arg.slice(1)) : arg,
  );
  const ended = await command(...given);
  expect(ended).toEqual({ status, stdout: '', stderr: expect.stringMatching(sentence) });
  expect(ended.stderr).not.toMatch(/^\s+at /m);
});
