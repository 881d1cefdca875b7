/** The SQL statements about brands, their languages and their terms. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { columnsOf, statement } from '../database/statements.ts';
import type { Brand, VoteRule } from './brand.ts';
import type { Tone } from './tones.ts';

export interface FoundBrand {
  name: string;
  fallback: 'wait' | 'machine';
  votes: VoteRule;
  protect: string[];
  version: number;
}

export const findBrand = statement<FoundBrand, { account: AccountRef; externalId: string }>(
  'brands.find',
  `select name, fallback, votes, protect, version from brands where part = :part and account_id = :account_id
    and external_id = :externalId`,
).first;

/**
 * Returns the external identifiers of an account's brands in alphabetical order, up to a limit. Each row also contains
 * the number of all brands.
 */
export const listNames = statement<
  { external_id: string; count: number },
  { account: AccountRef; limit: number }
>(
  'brands.names',
  `select external_id, count(*) over () as count from brands where part = :part and account_id = :account_id
    order by external_id limit :limit`,
).rows;

export interface BrandRow {
  external_id: string;
  name: string;
  default: boolean;
  changed_at: Date;
  version: number;
}

export const findBrands = statement<BrandRow, { account: AccountRef }>(
  'brands.list',
  `select b.external_id, b.name, b.external_id = a.default_brand is true as default, b.changed_at, b.version
     from brands b join accounts a using (part, account_id)
    where b.part = :part and b.account_id = :account_id order by b.external_id`,
).rows;

const DEFAULT = statement<{ default_brand: string | null }>(
  'brands.default',
  `select default_brand from accounts where part = $1 and account_id = $2`,
);

export async function findDefault(on: Queryable, account: AccountRef): Promise<string | undefined> {
  const [row] = await on.query(DEFAULT, [account.part, account.accountId]);
  return row?.default_brand ?? undefined;
}

export const setDefault = statement<never, { account: AccountRef; externalId: string | null }>(
  'brands.set_default',
  `update accounts set default_brand = :externalId where part = :part and account_id = :account_id`,
).run;

const INSERT = statement<{ external_id: string }>(
  'brands.insert',
  `insert into brands (part, account_id, external_id, name) values ($1, $2, $3, $4)
   on conflict (part, account_id, external_id) do nothing returning external_id`,
);
const LOCK = statement(
  'brands.lock',
  `select from brands where part = $1 and account_id = $2 and external_id = $3 for update`,
);

/** Inserts a brand if it is missing, and locks it. @returns whether the brand was inserted */
export async function insertAndLock(
  transaction: Transaction,
  account: AccountRef,
  brand: { externalId: string; name: string },
): Promise<boolean> {
  const key = [account.part, account.accountId, brand.externalId];
  const made = await transaction.query(INSERT, [...key, brand.name]);
  await transaction.query(LOCK, key);
  return made.length > 0;
}

const TOUCH = statement(
  'brands.touch',
  `update brands set name = $4, fallback = $5, votes = $6, changed_at = now(), version = version + $7, protect = $8
    where part = $1 and account_id = $2 and external_id = $3`,
);

export async function touchBrand(
  transaction: Transaction,
  account: AccountRef,
  brand: Pick<Brand, 'externalId' | 'name' | 'fallback' | 'votes' | 'protect'> & { made: boolean },
): Promise<void> {
  const { externalId, name, fallback = 'wait', votes = 'draft', protect = [], made } = brand;
  const key = [account.part, account.accountId, externalId];
  await transaction.query(TOUCH, [...key, name, fallback, votes, made ? 0 : 1, protect]);
}

/** Deletes a brand. @returns whether the brand existed */
export const deleteBrand = statement<{ external_id: string }, { account: AccountRef; externalId: string }>(
  'brands.remove',
  `delete from brands where part = :part and account_id = :account_id and external_id = :externalId
    returning external_id`,
).found;

export interface LanguageRow {
  language: string;
  tone: Tone['name'] | null;
  instructions: string | null;
}

export const listLanguages = statement<LanguageRow, { account: AccountRef; externalId: string }>(
  'brands.languages',
  `select language, tone, instructions from brand_languages
    where part = :part and account_id = :account_id and external_id = :externalId order by language`,
).rows;

/** Returns the settings for the most specific of `languages` for which the brand has settings. */
export const findNearest = statement<
  LanguageRow,
  { account: AccountRef; externalId: string; languages: readonly string[] }
>(
  'brands.nearest_language',
  `select language, tone, instructions from brand_languages
    where part = :part and account_id = :account_id and external_id = :externalId and language = any(:languages)
    order by char_length(language) desc limit 1`,
).first;

/** Returns every language of every brand of an account, with its number of terms. */
export const summarise = statement<
  LanguageRow & { external_id: string; terms: number },
  { account: AccountRef }
>(
  'brands.summary',
  `select l.external_id, l.language, l.tone, l.instructions,
          (select count(*) from terms t
            where t.part = :part and t.account_id = l.account_id and t.external_id = l.external_id
              and t.language = l.language) as terms
     from brand_languages l where l.part = :part and l.account_id = :account_id order by l.external_id, l.language`,
).rows;

const KEEP_LANGUAGE = statement(
  'brands.keep_language',
  `insert into brand_languages (part, account_id, external_id, language, tone, instructions)
   values ($1, $2, $3, $4, $5, $6)
   on conflict (part, account_id, external_id, language)
   do update set tone = excluded.tone, instructions = excluded.instructions`,
);

export async function upsertLanguage(
  transaction: Transaction,
  account: AccountRef,
  externalId: string,
  row: LanguageRow,
): Promise<void> {
  const { language, tone, instructions } = row;
  const key = [account.part, account.accountId, externalId];
  await transaction.query(KEEP_LANGUAGE, [...key, language, tone, instructions]);
}

export const removeLanguage = statement<
  never,
  { account: AccountRef; externalId: string; language: string },
  Transaction
>(
  'brands.remove_language',
  `delete from brand_languages where part = :part and account_id = :account_id and external_id = :externalId
    and language = :language`,
).run;

export interface TermRow {
  source: string;
  target: string;
  case_sensitive: boolean;
  forbidden: boolean;
  do_not_translate: boolean;
  note: string | null;
}

export const listTerms = statement<TermRow, { account: AccountRef; externalId: string; language: string }>(
  'brands.terms',
  `select source, target, case_sensitive, forbidden, do_not_translate, note from terms
    where part = :part and account_id = :account_id and external_id = :externalId and language = :language
      order by position`,
).rows;

const CLEAR_TERMS = statement(
  'brands.clear_terms',
  `delete from terms where part = $1 and account_id = $2 and external_id = $3 and language = $4`,
);
const INSERT_TERMS = statement(
  'brands.insert_terms',
  `insert into terms (part, account_id, external_id, language, position, source, target, case_sensitive, forbidden,
     do_not_translate, note)
   select :part, :account_id, :external_id, :language, position, source, target, case_sensitive, forbidden,
          do_not_translate, note
     from unnest(:positions::integer[], :sources::text[], :targets::text[], :case_sensitive::boolean[],
            :forbidden::boolean[], :do_not_translate::boolean[], :notes::text[])
       as t (position, source, target, case_sensitive, forbidden, do_not_translate, note)`,
);

/** Replaces the glossary of a language with `terms`, in their order. */
export async function replaceTerms(
  transaction: Transaction,
  account: AccountRef,
  externalId: string,
  language: string,
  terms: readonly TermRow[],
): Promise<void> {
  await transaction.query(CLEAR_TERMS, [account.part, account.accountId, externalId, language]);
  await transaction.query(INSERT_TERMS, {
    part: account.part,
    account_id: account.accountId,
    external_id: externalId,
    language,
    positions: terms.map((_, position) => position),
    ...columnsOf(terms, {
      sources: ({ source }) => source,
      targets: ({ target }) => target,
      case_sensitive: ({ case_sensitive }) => case_sensitive,
      forbidden: ({ forbidden }) => forbidden,
      do_not_translate: ({ do_not_translate }) => do_not_translate,
      notes: ({ note }) => note,
    }),
  });
}
