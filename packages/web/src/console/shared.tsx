/** Components and helpers that several pages of the console use. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FormattedNumber, useIntl } from 'react-intl';
import { query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Search } from '../page.tsx';
import { paths } from '../paths.ts';
import { Facts as UiFacts } from '../ui/Facts.tsx';
import type { Choice } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { type LanguagePair, useLanguageName } from '../ui/Pair.tsx';
import { toast } from '../ui/Toast.tsx';
import css from './console.module.css';

/** Returns the function that runs a change, then reads all visible data again and shows a message. */
export function useChange(): <T>(work: () => Promise<T>, message?: string) => Promise<T> {
  const queries = useQueryClient();
  return async (work, message) => {
    const result = await work();
    await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    if (message !== undefined) toast(message);
    return result;
  };
}

/** Shows a language pair by its codes, always left to right. @param props.of the pair, or what has one */
export function Pair({ of }: { of: LanguagePair }) {
  return (
    <bdi className={css.pair} dir="ltr">
      {of.source_language} → {of.target_language}
    </bdi>
  );
}

/** The choices of a select for the environment. */
export function useEnvironmentChoices(): Choice[] {
  const t = useTranslate();
  return (['production', 'sandbox'] as const).map((value) => ({
    value,
    label: t(`console.environment.${value}`),
  }));
}

/** Returns the source and the target languages of all pairs, sorted by name, as choices of a filter. */
export function useLanguageChoices(search: Search): Record<'source' | 'target', Choice[]> {
  const t = useTranslate();
  const intl = useIntl();
  const nameOf = useLanguageName();
  const known = useQuery(query('listConsolePairs', { query: {} })).data?.pairs ?? [];
  function choicesOf(field: 'source_language' | 'target_language'): Choice[] {
    // The address may name a language that no pair has any more.
    const chosen = search[field] || undefined;
    const codes = new Set([...known.map((pair) => pair[field]), ...(chosen === undefined ? [] : [chosen])]);
    const named = [...codes].map((value) => ({ value, label: nameOf(value) }));
    named.sort((one, other) => one.label.localeCompare(other.label, intl.locale));
    return [{ value: '', label: t('console.any') }, ...named];
  }
  return { source: choicesOf('source_language'), target: choicesOf('target_language') };
}

export function AccountLink({ username }: { username: string }) {
  return (
    <Link to={paths.console.account(username)}>
      <bdi>{username}</bdi>
    </Link>
  );
}

export function Count({ value }: { value: number }) {
  return (
    <span className="numbers">
      <FormattedNumber value={value} />
    </span>
  );
}

/** Shows a duration in its two largest units. */
export function Duration({ seconds }: { seconds: number }) {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'day'],
    [Math.floor((seconds % 86_400) / 3_600), 'hour'],
    [Math.floor((seconds % 3_600) / 60), 'minute'],
    [Math.floor(seconds % 60), 'second'],
  ];
  const first = Math.max(
    0,
    parts.findIndex(([count]) => count > 0),
  );
  const shown =
    seconds < 1 ? [[0, 'second'] as const] : parts.slice(first, first + 2).filter(([count]) => count > 0);
  return (
    <span className="numbers">
      {shown.map(([count, unit], at) => (
        <span key={unit}>
          {at > 0 && ' '}
          <FormattedNumber value={count} style="unit" unit={unit} unitDisplay="short" />
        </span>
      ))}
    </span>
  );
}

type NamedValue = readonly [name: string, value: ReactNode];

/** Shows names with their values. Names without a value are left out. */
export function Facts({ facts }: { facts: readonly NamedValue[] }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return <UiFacts facts={known.map(([label, value]) => ({ label, value }))} />;
}

/** Shows a few key figures. */
export function Figures({ figures }: { figures: readonly NamedValue[] }) {
  return (
    <dl className={css.figures}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
