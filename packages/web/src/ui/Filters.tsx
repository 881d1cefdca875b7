/**
 * Filters above a list. The address of the page contains them, so that a filtered list can be shared and
 * bookmarked.
 */
import { NativeSelect, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type Search, useFilters } from '../page.tsx';
import css from './Filters.module.css';
import type { Choice } from './form.tsx';

export function Filters({ children }: { children: ReactNode }) {
  return <search className={css.filters}>{children}</search>;
}

interface FilterProps {
  name: string;
  label: string;
  search: Search;
}

/** How long typing must pause before the list is loaded. */
const TYPING_PAUSE_MS = 250;

export function SearchFilter({ name, label, search }: FilterProps) {
  const change = useFilters();
  const current = search[name] ?? '';
  const [typed, setTyped] = useState(current);
  const latest = useRef(change);
  latest.current = change;
  useEffect(() => setTyped(current), [current]);
  useEffect(() => {
    if (typed === current) return;
    const timer = setTimeout(() => latest.current({ [name]: typed, after: undefined }), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, current, name]);
  return (
    <TextInput
      className={css.search!}
      type="search"
      label={label}
      value={typed}
      leftSection={<IconSearch size={16} aria-hidden />}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

/** A filter with a fixed list of values. @param choices the values; the first one selects everything */
export function ChoiceFilter({ name, label, search, choices }: FilterProps & { choices: readonly Choice[] }) {
  const change = useFilters();
  return (
    <NativeSelect
      label={label}
      data={[...choices]}
      value={search[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value, after: undefined })}
    />
  );
}
