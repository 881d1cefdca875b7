/** The command palette: finds accounts, jobs, people and pages by a text, and opens one of them. */
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { useList, usePaused } from '../page.tsx';
import { paths } from '../paths.ts';
import type { NavigationItem } from '../ui/AppLayout.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import css from './Palette.module.css';

export interface PaletteProps {
  opened: boolean;
  /** Counts the openings. Each opening starts with an empty field, even while the last one still fades out. */
  opening: number;
  pages: readonly NavigationItem[];
  onClose(): void;
  /** Called when an option was chosen. */
  onChoose(): void;
}

interface Option {
  key: string;
  name: string;
  /** Distinguishes options with the same name. */
  detail?: string;
  to: string;
  search?: Record<string, string>;
}
interface Group {
  label: string;
  options: readonly Option[];
}

/** The maximum number of accounts, of jobs and of people that are shown. */
const MAX_FOUND = 5;
const MAX_LENGTH = 100;

export default function Palette({ opened, opening, ...search }: PaletteProps) {
  const t = useTranslate();
  return (
    <Dialog title={t('palette.title')} opened={opened} onClose={search.onClose}>
      <Search key={opening} {...search} />
    </Dialog>
  );
}

function Search({ pages, onClose, onChoose }: Omit<PaletteProps, 'opened' | 'opening'>) {
  const t = useTranslate();
  const navigate = useNavigate();
  const id = useId();
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  /** Whether Enter was pressed before the results had arrived. */
  const [isEntered, setEntered] = useState(false);
  const { groups, isPending, error } = useGroups(typed.trim(), pages);
  const options = groups.flatMap((group) => group.options);
  const index = Math.min(active, options.length - 1);
  const current = options[index];

  function open({ to, search = {} }: Option): void {
    onClose();
    onChoose();
    void navigate({ to, search: search as never });
  }
  useEffect(() => {
    if (!isEntered || isPending) return;
    setEntered(false);
    if (current !== undefined) open(current);
  });
  useEffect(() => {
    document.getElementById(`${id}-${index}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, index]);

  function press(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0 && options.length > 0) setActive((index + by + options.length) % options.length);
    else if (event.key === 'Enter') setEntered(true);
    else return;
    event.preventDefault();
  }

  return (
    <>
      <TextInput
        data-autofocus
        data-palette
        role="combobox"
        aria-label={t('palette.title')}
        aria-autocomplete="list"
        aria-expanded={options.length > 0}
        {...(current === undefined ? {} : { 'aria-controls': id, 'aria-activedescendant': `${id}-${index}` })}
        leftSection={<IconSearch size={16} aria-hidden />}
        maxLength={MAX_LENGTH}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
          setEntered(false);
        }}
        onKeyDown={press}
      />
      <p className={options.length > 0 ? 'visually-hidden' : css.none} role="status">
        {!isPending && t('palette.results', { count: options.length })}
      </p>
      {error !== null && <FailureNotice error={error} />}
      {options.length > 0 && (
        <div
          id={id}
          role="listbox"
          aria-label={t('palette.title')}
          aria-busy={isPending}
          className={css.list}
        >
          {groups.map((group, position) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset would group form fields
            <div key={group.label} role="group" aria-labelledby={`${id}-group-${position}`}>
              <p id={`${id}-group-${position}`} className={css.group} role="presentation">
                {group.label}
              </p>
              {group.options.map((option) => {
                const at = options.indexOf(option);
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
                  // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field above
                  <div
                    key={option.key}
                    id={`${id}-${at}`}
                    role="option"
                    aria-selected={at === index}
                    className={css.option}
                    onPointerMove={() => setActive(at)}
                    onClick={() => open(option)}
                  >
                    <bdi>{option.name}</bdi>
                    {option.detail !== undefined && <bdi className={css.detail}>{option.detail}</bdi>}
                  </div>
                );
              })}
            </div>
          ))}
        </div>
      )}
    </>
  );
}

/**
 * Returns what matches a text, by group; all pages without a text. Until the server has answered, the accounts,
 * jobs and people of the previous text are shown, and the search is pending.
 */
function useGroups(text: string, pages: readonly NavigationItem[]) {
  const t = useTranslate();
  const q = usePaused(text);
  const enabled = q !== '';
  const accounts = useList({ ...query('listAccounts', { query: { q, limit: MAX_FOUND } }), enabled });
  const jobs = useList({ ...query('listConsoleJobs', { query: { q, limit: MAX_FOUND } }), enabled });
  const people = useList({ ...query('listPeople', { query: { q } }), enabled });
  const searches = [accounts, jobs, people];
  const lower = text.toLocaleLowerCase();
  const groups: Group[] = [
    {
      label: t('palette.pages'),
      options: pages
        .filter(({ label }) => label.toLocaleLowerCase().includes(lower))
        .map(({ to, label }) => ({ key: to, name: label, to })),
    },
    {
      label: t('nav.accounts'),
      options: (accounts.data?.accounts ?? []).map(({ username, email }) => ({
        key: username,
        name: username,
        ...(email === null ? {} : { detail: email }),
        to: paths.console.account(username),
      })),
    },
    {
      label: t('nav.jobs'),
      options: (jobs.data?.jobs ?? []).map(({ account, job, uid, order_number }) => ({
        key: job,
        name: uid,
        detail: `#${order_number} ${account}`,
        to: paths.console.job(account, job),
      })),
    },
    {
      label: t('nav.people'),
      options: (people.data?.people ?? []).slice(0, MAX_FOUND).map(({ user_id, email, name }) => ({
        key: user_id,
        name: name || email,
        detail: email,
        to: paths.console.people,
        // Browsers and proxies keep addresses, so the address has no e-mail address.
        search: { open: user_id },
      })),
    },
  ];
  return {
    // Without a text, nothing is searched, and the previous results do not count.
    groups: (text === '' ? groups.slice(0, 1) : groups).filter(({ options }) => options.length > 0),
    isPending: text !== q || (enabled && searches.some((one) => one.isPending || one.isPlaceholderData)),
    error: enabled ? (searches.find((one) => one.error !== null)?.error ?? null) : null,
  };
}
