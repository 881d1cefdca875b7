/** `dragoman brand` and `dragoman glossary`: how an account wants to sound, as the operator keeps it. */
import type { Term } from '@dragoman/engines';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AccountRef } from '../account.ts';
import { accountNamed } from '../accounts/accounts.ts';
import { readBrandFile, toBrandFile, toLanguage } from '../brands/brand.ts';
import { type Brand, listBrands, readBrand, removeBrand, saveBrand, saveGlossary } from '../brands/brands.ts';
import {
  type BrandChanges,
  countChanges,
  type LanguageChanges,
  type TermChanges,
} from '../brands/changes.ts';
import { readCsv, writeCsv } from '../brands/csv.ts';
import { readText } from '../brands/files.ts';
import { readTbx, writeTbx } from '../brands/tbx.ts';
import { presentTerm } from '../brands/terms.ts';
import type { Database } from '../database/database.ts';
import { recordAudit } from '../operations/audit.ts';
import { data, json, withStore } from './options.ts';
import { CommandError, print, printJson, say, write } from './output.ts';

type Format = 'json' | 'csv' | 'tbx';

interface Common {
  data?: string;
  json?: boolean;
}

const dryRun = () => new Option('--dry-run', 'only say what would change: added, changed, removed');

export function addBrandCommands(program: Command): void {
  const brand = program.command('brand').description('tone, instructions and glossaries of a customer');
  brand
    .command('import')
    .description('put the brand of a JSON file in the place of the one with its external_id, or make it')
    .argument('<account>', 'the username')
    .argument('<file>', 'a brand in JSON')
    .addOption(dryRun())
    .addOption(data())
    .addOption(json())
    .action((username: string, file: string, options: Common & { dryRun?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const read = readBrandFile(file, readText(file));
        const changes = await saveBrand(database, ref, read, options.dryRun ?? false);
        await audit(database, ref, changes, options);
        report(username, changes, options);
      }),
    );

  brand
    .command('list')
    .description('list the brands of an account')
    .argument('<account>', 'the username')
    .addOption(data())
    .addOption(json())
    .action((username: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const brands = await listBrands(database, ref);
        if (options.json) return printJson({ brands });
        if (brands.length === 0) print(`${username} has no brands.`);
        for (const { external_id, name, default: isDefault, languages } of brands) {
          print(`${external_id}  ${name}${isDefault ? '  (default)' : ''}`);
          for (const { language, tone, instructions, terms } of languages) {
            const parts = [tone ?? 'no tone', `${terms} terms`, ...(instructions ? ['instructions'] : [])];
            print(`  ${language.padEnd(8)} ${parts.join(', ')}`);
          }
        }
      }),
    );

  brand
    .command('export')
    .description('write a brand as JSON, or the glossary of one of its languages as CSV or TBX')
    .argument('<account>', 'the username')
    .argument('<brand>', 'its external_id')
    .option('--language <language>', 'only this target language', shortname)
    .addOption(
      new Option('--format <format>', 'CSV and TBX hold the glossary of one language')
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

  brand
    .command('remove')
    .description('remove a brand with its glossaries; jobs under way go on without it')
    .argument('<account>', 'the username')
    .argument('<brand>', 'its external_id')
    .addOption(data())
    .addOption(json())
    .action((username: string, externalId: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        await removeBrand(database, ref, externalId);
        await recordAudit(database, 'command', {
          ...{ action: 'brand.removed', account: ref, subject: externalId, detail: {} },
        });
        if (options.json) printJson({ removed: externalId });
        else print(`${username} has no brand ${externalId} any more.`);
      }),
    );

  const glossary = program.command('glossary').description('the terms of a brand for one target language');
  glossary
    .command('import')
    .description('put the terms of a file in the place of a brand’s glossary for a language')
    .argument('<account>', 'the username')
    .argument('<brand>', 'the brand’s external_id')
    .argument('<language>', 'the target language, such as es or pt-br', shortname)
    .argument('<file>', 'a table in CSV, or a termbase in TBX')
    .option('--from <language>', 'TBX only: the source language, where there are several', shortname)
    .addOption(dryRun())
    .addOption(data())
    .addOption(json())
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
          const terms = readGlossary(file, language, options.from);
          const changes = await saveGlossary(
            database,
            ref,
            externalId,
            { language, terms },
            options.dryRun ?? false,
          );
          await audit(database, ref, changes, options);
          report(username, changes, options);
        }),
    );
}

async function audit(
  database: Database,
  account: AccountRef,
  changes: BrandChanges,
  { dryRun = false }: { dryRun?: boolean },
): Promise<void> {
  if (dryRun || changes.change === 'unchanged') return;
  await recordAudit(database, 'command', {
    ...{ action: 'brand.published', account, subject: changes.externalId, detail: countChanges(changes) },
  });
}

function shortname(written: string): string {
  const language = toLanguage(written);
  if (language === undefined) throw new InvalidArgumentError('It must be a language, such as es or pt-br.');
  return language;
}

/** The terms of a table or of a termbase: the latter begins as all XML does. */
function readGlossary(file: string, into: string, from: string | undefined): Term[] {
  const text = readText(file);
  if (!/^\s*</.test(text)) return readCsv(file, text);
  const read = readTbx(file, text, into, from);
  if (read.skipped > 0) {
    say(`${read.skipped} concepts without terms in both ${read.from} and ${into} are left out.`);
  }
  return read.terms;
}

/** What `brand export` writes. @throws CommandError when it is not told which language, or there is no such one */
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
  if (settings === undefined) throw new CommandError(`The brand has ${having}, and not ${language}.`);
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
  if (changes.fallback) print('  what it does where no editor comes in time changes');
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
    .map((kind) => `${terms[kind].length} terms ${kind}`);
  return [
    change,
    ...(change === 'changed' && tone ? ['another tone'] : []),
    ...(change === 'changed' && instructions ? ['other instructions'] : []),
    ...counts,
    ...(terms.reordered ? ['terms in another order'] : []),
    ...(terms.unchanged > 0 ? [`${terms.unchanged} unchanged`] : []),
  ];
}

/** A person reads so many of a kind; `--json` has them all. */
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
