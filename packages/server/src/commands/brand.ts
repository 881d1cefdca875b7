/** The commands `dragoman brand` and `dragoman glossary`: manage the brands of an account. */
import type { Term } from '@dragoman/engines';
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import { counted } from '../base/text.ts';
import { readBrandFile, toBrandFile, toLanguage } from '../brands/brand.ts';
import { type Brand, listBrands, readBrand, removeBrand, saveBrand, saveGlossary } from '../brands/brands.ts';
import type { BrandChanges, LanguageChanges, TermChanges } from '../brands/changes.ts';
import { readCsv, writeCsv } from '../brands/csv.ts';
import { readText } from '../brands/files.ts';
import { readTbx, writeTbx } from '../brands/tbx.ts';
import { presentTerm } from '../brands/terms.ts';
import { type Command, data, withStore } from './options.ts';
import { CommandError, print, printJson, printTable, say, write } from './output.ts';

type Format = 'json' | 'csv' | 'tbx';

interface Common {
  data?: string;
  json?: boolean;
}

const dryRun = () => new Option('--dry-run', 'only show what would change');

export function addBrandCommands(program: Command): void {
  const brand = program
    .command('brand')
    .description('manage tone, instructions and glossaries of a customer');
  addImport(brand);
  addList(brand);
  addExport(brand);
  addRemove(brand);
  const glossary = program.command('glossary').description('import the terms of a brand');
  addGlossaryImport(glossary);
}

function addImport(brand: Command): void {
  brand
    .command('import')
    .description('create or replace a brand from a JSON file, by its external_id')
    .argument('<account>', 'the username')
    .argument('<file>', 'the brand as JSON')
    .addOption(dryRun())
    .onStore()
    .action((username: string, file: string, options: Common & { dryRun?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const read = readBrandFile(file, readText(file));
        const changes = await saveBrand(database, 'command', ref, read, options.dryRun ?? false);
        report(username, changes, options);
      }),
    );
}

function addList(brand: Command): void {
  brand
    .command('list')
    .description('list the brands of an account')
    .argument('<account>', 'the username')
    .onStore()
    .action((username: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const brands = await listBrands(database, ref);
        if (options.json) return printJson({ brands });
        const rows = brands.flatMap(({ external_id, name, default: isDefault, languages }) => {
          const brand = [external_id, name, isDefault ? 'yes' : 'no'];
          if (languages.length === 0) return [[...brand, '-', '-', '-', '-']];
          return languages.map(({ language, tone, instructions, terms }) => [
            ...brand,
            language,
            tone ?? '-',
            String(terms),
            instructions ? 'yes' : 'no',
          ]);
        });
        const columns = ['brand', 'name', 'default', 'language', 'tone', 'terms', 'instructions'];
        printTable(columns, rows, `${username} has no brands.`);
      }),
    );
}

function addExport(brand: Command): void {
  brand
    .command('export')
    .description('write a brand as JSON, or one of its glossaries as CSV or TBX')
    .argument('<account>', 'the username')
    .argument('<brand>', 'the external_id of the brand')
    .option('--language <language>', 'only this target language', shortname)
    .addOption(
      new Option('--format <format>', 'the format; CSV and TBX contain the glossary of one language')
        .choices(['json', 'csv', 'tbx'])
        .default('json'),
    )
    .option('--from <language>', 'TBX only: the source language, which brands do not have', shortname, 'und')
    .addOption(data())
    .action(
      (
        username: string,
        externalId: string,
        options: { language?: string; format: Format; from: string; data?: string },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const { brand, isDefault } = await readBrand(database, ref, externalId);
          write(exported(brand, isDefault, options));
        }),
    );
}

function addRemove(brand: Command): void {
  brand
    .command('remove')
    .description('delete a brand with its glossaries; jobs in progress continue without it')
    .argument('<account>', 'the username')
    .argument('<brand>', 'the external_id of the brand')
    .onStore()
    .action((username: string, externalId: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        await removeBrand(database, 'command', ref, externalId);
        if (options.json) printJson({ removed: externalId });
        else print(`Deleted the brand ${externalId} of ${username}.`);
      }),
    );
}

function addGlossaryImport(glossary: Command): void {
  glossary
    .command('import')
    .description('replace the glossary of a brand for one language')
    .argument('<account>', 'the username')
    .argument('<brand>', 'the external_id of the brand')
    .argument('<language>', 'the target language, such as es or pt-br', shortname)
    .argument('<file>', 'a CSV or TBX file')
    .option('--from <language>', 'TBX only: the source language, if the file has several', shortname)
    .addOption(dryRun())
    .onStore()
    .action(
      (
        username: string,
        externalId: string,
        language: string,
        file: string,
        options: Common & { from?: string; dryRun?: boolean },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const terms = await readGlossary(file, language, options.from);
          const changes = await saveGlossary(
            database,
            'command',
            ref,
            externalId,
            { language, terms },
            options.dryRun ?? false,
          );
          report(username, changes, options);
        }),
    );
}

function shortname(written: string): string {
  const language = toLanguage(written);
  if (language === undefined) throw new InvalidArgumentError('It must be a language, such as es or pt-br.');
  return language;
}

/** Reads a glossary as TBX if its text begins like XML, otherwise as CSV. */
async function readGlossary(file: string, into: string, from: string | undefined): Promise<Term[]> {
  const text = readText(file);
  if (!/^\s*</.test(text)) return readCsv(file, text);
  const read = await readTbx(file, text, into, from);
  if (read.skipped > 0) {
    say(`Skipped ${counted(read.skipped, 'concept')} without terms in both ${read.from} and ${into}.`);
  }
  return read.terms;
}

/** Formats a brand for `brand export`. @throws CommandError when the language is missing or unknown */
function exported(
  brand: Brand,
  isDefault: boolean,
  options: { language?: string; format: Format; from: string },
): string {
  const [only] = brand.languages.size === 1 ? brand.languages.keys() : [];
  const language = options.language ?? (options.format === 'json' ? undefined : only);
  const having = [...brand.languages.keys()].join(', ') || 'no language';
  if (language === undefined) {
    if (options.format !== 'json') throw new CommandError(`Give --language: the brand has ${having}.`);
    return `${JSON.stringify(toBrandFile(brand, isDefault), null, 2)}\n`;
  }
  const settings = brand.languages.get(language);
  if (settings === undefined) throw new CommandError(`The brand has ${having}, but not ${language}.`);
  if (options.format === 'csv') return writeCsv(settings.terms);
  if (options.format === 'tbx') return writeTbx(settings.terms, options.from, language);
  const part = { ...brand, languages: new Map([[language, settings]]) };
  return `${JSON.stringify(toBrandFile(part, isDefault), null, 2)}\n`;
}

function report(username: string, changes: BrandChanges, options: Common & { dryRun?: boolean }): void {
  const dryRun = options.dryRun ?? false;
  if (options.json) {
    printJson({ account: username, dry_run: dryRun, ...presentChanges(changes) });
    return;
  }
  const { externalId, change, languages } = changes;
  const [is, becomes] = dryRun ? ['would be', 'would become'] : ['is', 'has become'];
  print(`${externalId} ${change === 'unchanged' ? 'is unchanged' : `${is} ${change}`}.`);
  if (changes.name) print('  its name changes');
  if (changes.fallback) print('  the fallback changes');
  if (changes.votes) print('  the use of votes changes');
  if (changes.protect) print('  the protected patterns change');
  if (changes.default === 'becomes') print(`  it ${becomes} the default of ${username}`);
  if (changes.default === 'no longer') print(`  it ${is} no longer the default of ${username}`);
  for (const one of languages.filter(({ change }) => change !== 'unchanged')) {
    print(`  ${one.language}: ${describe(one).join(', ')}`);
    if (dryRun) printTerms(one.terms);
  }
}

function describe({ change, tone, instructions, terms }: LanguageChanges): string[] {
  const counts = (['added', 'changed', 'removed'] as const)
    .filter((kind) => terms[kind].length > 0)
    .map((kind) => `${counted(terms[kind].length, 'term')} ${kind}`);
  return [
    change,
    ...(change === 'changed' && tone ? ['another tone'] : []),
    ...(change === 'changed' && instructions ? ['other instructions'] : []),
    ...counts,
    ...(terms.reordered ? ['terms in another order'] : []),
    ...(terms.unchanged > 0 ? [`${terms.unchanged} unchanged`] : []),
  ];
}

/**
 * The maximum number of added, of changed and of removed terms that are printed. With `--json` all terms are
 * printed.
 */
const SHOWN_TERMS = 50;

function printTerms({ added, changed, removed }: TermChanges): void {
  const some = (mark: string, terms: readonly { source: string; target: string }[]) => {
    for (const { source, target } of terms.slice(0, SHOWN_TERMS))
      print(`    ${mark} ${source} → ${target || '='}`);
    if (terms.length > SHOWN_TERMS) print(`    ${mark} … and ${terms.length - SHOWN_TERMS} more`);
  };
  some('+', added);
  some(
    '~',
    changed.map(({ to }) => to),
  );
  some('-', removed);
}

function presentChanges({ externalId, languages, ...rest }: BrandChanges): object {
  return {
    brand: externalId,
    ...rest,
    languages: languages.map(({ terms, ...language }) => ({
      ...language,
      terms: {
        ...terms,
        added: terms.added.map(presentTerm),
        changed: terms.changed.map(({ from, to }) => ({ from: presentTerm(from), to: presentTerm(to) })),
        removed: terms.removed.map(presentTerm),
      },
    })),
  };
}
