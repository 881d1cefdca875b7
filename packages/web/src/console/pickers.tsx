/** Form fields for accounts, languages, the language pairs of editors, and engines in their order. */
import { ActionIcon, Button } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useId, useState } from 'react';
import { query } from '../api/client.ts';
import type { EditorLanguage } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useList, usePaused } from '../page.tsx';
import { CheckField, ChoiceField, Field, type Values } from '../ui/form.tsx';
import { useLanguageName } from '../ui/Pair.tsx';
import css from './console.module.css';

type PickerProps = Omit<ComponentProps<typeof Field>, 'list' | 'ltr' | 'onChange' | 'type'>;

/** The maximum number of suggested accounts. */
const MAX_ACCOUNTS = 20;

/** A field for the username of an account. The server searches accounts by the typed text. */
export function AccountField(props: PickerProps) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const q = usePaused(typed.trim());
  const search = { limit: MAX_ACCOUNTS, ...(q === '' ? {} : { q }) };
  const { data } = useList(query('listAccounts', { query: search }));
  return (
    <>
      <Field {...props} list={id} ltr onChange={setTyped} />
      <datalist id={id}>
        {data?.accounts.map(({ username, email }) => (
          <option key={username} value={username} label={email ?? username} />
        ))}
      </datalist>
    </>
  );
}

/** A field for the code of a language. It suggests the languages of all pairs; other codes are accepted too. */
export function LanguageField(props: PickerProps) {
  const id = useId();
  const nameOf = useLanguageName();
  const { data } = useQuery(query('listConsolePairs', { query: {} }));
  const codes = new Set(
    data?.pairs.flatMap(({ source_language, target_language }) => [source_language, target_language]),
  );
  return (
    <>
      <Field {...props} list={id} ltr />
      <datalist id={id}>
        {[...codes].sort().map((code) => (
          <option key={code} value={code} label={nameOf(code)} />
        ))}
      </datalist>
    </>
  );
}

/** One row of fields for each language pair of an editor, which can be removed, and a button that adds one. */
export function PairFields({ pairs }: { pairs: readonly EditorLanguage[] }) {
  const t = useTranslate();
  const [rows, setRows] = useState(() => (pairs.length === 0 ? [undefined] : pairs).map(toRow));
  const [added, setAdded] = useState(0);
  return (
    <fieldset className={css.pairs}>
      <legend>{t('console.languages')}</legend>
      {rows.map(({ id, pair }, place) => (
        <div key={id} className={css.pairFields}>
          <LanguageField
            name={`languages.${id}.source_language`}
            label={t('console.source')}
            defaultValue={pair?.source_language ?? ''}
            autoFocus={place === rows.length - 1 && added > 0}
          />
          <LanguageField
            name={`languages.${id}.target_language`}
            label={t('console.target')}
            defaultValue={pair?.target_language ?? ''}
          />
          <CheckField
            name={`languages.${id}.review`}
            label={t('console.people.reviews')}
            defaultChecked={pair?.review ?? false}
          />
          <ActionIcon
            size={32}
            aria-label={t('console.people.remove_pair', { place: place + 1 })}
            onClick={({ currentTarget }) => {
              // The removed button would lose the focus, so the next button gets it: that of the next row, or "Add".
              const next = currentTarget.parentElement!.nextElementSibling as HTMLElement;
              (next.querySelector<HTMLElement>(':scope > button') ?? next).focus();
              setRows(rows.filter((row) => row.id !== id));
            }}
          >
            <IconX size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button
        size="xs"
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={() => {
          setRows([...rows, { id: pairs.length + 1 + added, pair: undefined }]);
          setAdded(added + 1);
        }}
      >
        {t('console.people.add_pair')}
      </Button>
    </fieldset>
  );
}

const toRow = (pair: EditorLanguage | undefined, id: number) => ({ id, pair });

/** Returns the pairs of a form with `PairFields`, with the number of their row. Empty rows are left out. */
export function pairsOf(values: Values): (EditorLanguage & { row: string })[] {
  return Object.keys(values).flatMap((name) => {
    const [, row] = /^languages\.(\d+)\.source_language$/.exec(name) ?? [];
    if (row === undefined) return [];
    const codeOf = (field: string) => (values[`languages.${row}.${field}`] ?? '').trim().toLowerCase();
    const [source_language, target_language] = [codeOf('source_language'), codeOf('target_language')];
    if (source_language === '' && target_language === '') return [];
    return { row, source_language, target_language, review: codeOf('review') === 'on' };
  });
}

interface EngineFieldsProps {
  known: readonly string[];
  /** The current engines, in the order in which they are tried. */
  chosen: readonly string[];
}

/** One field for each chosen engine in order, and one more to add an engine. `enginesOf` reads them. */
export function EngineFields({ known, chosen }: EngineFieldsProps) {
  const t = useTranslate();
  const [picked, setPicked] = useState(chosen);
  const all = [...new Set([...known, ...chosen])];
  const isFull = picked.filter((engine) => engine !== '').length === all.length;
  const places = picked.at(-1) === '' || isFull ? picked : [...picked, ''];
  return (
    <div className={css.inline}>
      {places.map((engine, place) => (
        <ChoiceField
          // biome-ignore lint/suspicious/noArrayIndexKey: a place keeps its field when its engine changes
          key={place}
          name={`engines.${place}`}
          label={t('console.routes.place', { place: place + 1 })}
          defaultValue={engine}
          choices={[
            { value: '', label: t('console.none') },
            ...all
              .filter((name) => name === engine || !picked.includes(name))
              .map((name) => ({ value: name, label: name })),
          ]}
          onChange={(name) => setPicked(places.with(place, name))}
        />
      ))}
    </div>
  );
}

/** Returns the engines of a form with `EngineFields`, in their order. */
export function enginesOf(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    name.startsWith('engines.') && value !== '' ? [value] : [],
  );
}
