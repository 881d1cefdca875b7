/** Filters above a list. They stand in the address, so that a list can be passed on and come back to. */
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

/** So long after the last key the list is asked for. */
const PAUSE_MILLISECONDS = 250;

export function SearchFilter({ name, label, search }: FilterProps) {
  const change = useFilters();
  const given = search[name] ?? '';
  const [typed, setTyped] = useState(given);
  const latest = useRef(change);
  latest.current = change;
  useEffect(() => setTyped(given), [given]);
  useEffect(() => {
    if (typed === given) return;
    const timer = setTimeout(() => latest.current({ [name]: typed, after: undefined }), PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [typed, given, name]);
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

/** @param choices the first stands for all */
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
