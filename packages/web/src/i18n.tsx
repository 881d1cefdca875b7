/**
 * The app's messages. Each area has its own `messages/{en,de,ar}.json`; the files next to this module belong
 * to the shell, which every page needs: navigation, forms, errors. The messages of an area are loaded when a
 * user opens the area, and again when the language changes.
 */
import { type ReactNode, useSyncExternalStore } from 'react';
import { IntlProvider, useIntl } from 'react-intl';
import type account from './account/messages/en.json';
import type console_ from './console/messages/en.json';
import type { Language } from './languages.ts';
import type shell from './messages/en.json';
import { readPreferences, setPreferences } from './preferences.ts';
import type workbench from './workbench/messages/en.json';

export type Area = '' | 'account' | 'console' | 'workbench';
export type MessageId =
  | keyof typeof shell
  | keyof typeof account
  | keyof typeof console_
  | keyof typeof workbench;

declare global {
  namespace FormatjsIntl {
    interface Message {
      ids: MessageId;
    }
  }
}

type Messages = Record<string, string>;
const files = import.meta.glob<string>('./**/messages/*.json', {
  query: '?url',
  import: 'default',
  eager: true,
});
const fetched = new Map<string, Promise<Messages>>();
const areas = new Set<Area>();
const listeners = new Set<() => void>();
let current: { language: Language; messages: Messages } = { language: 'en', messages: {} };

function fetchMessages(area: Area, language: Language): Promise<Messages> {
  const file = `./${area === '' ? '' : `${area}/`}messages/${language}.json`;
  const known = fetched.get(file);
  if (known !== undefined) return known;
  const messages = fetch(files[file]!).then((response) => {
    if (!response.ok) throw new Error(`${file}: status ${response.status}`);
    return response.json() as Promise<Messages>;
  });
  fetched.set(file, messages);
  // Removes a failed request from the cache, so that the next call sends the request again.
  messages.catch(() => fetched.delete(file));
  return messages;
}

/** Starts to load the messages of an area that is not rendered yet. */
export function loadMessagesAhead(area: Area): void {
  void fetchMessages(area, readPreferences().language).catch(() => {});
}

async function showLanguage(language: Language): Promise<void> {
  const parts = await Promise.all([...areas].map((area) => fetchMessages(area, language)));
  current = { language, messages: Object.assign({}, ...parts) };
  for (const notify of listeners) notify();
}

/** Loads the messages of an area, before it is rendered. */
export async function loadMessages(area: Area): Promise<void> {
  if (areas.has(area) && current.language === readPreferences().language) return;
  areas.add(area);
  try {
    await showLanguage(readPreferences().language);
  } catch (error) {
    areas.delete(area);
    throw error;
  }
}

/** Changes the app's language once its messages are loaded. */
export async function chooseLanguage(language: Language): Promise<void> {
  await showLanguage(language);
  setPreferences({ language });
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function MessagesProvider({ children }: { children: ReactNode }) {
  const { language, messages } = useSyncExternalStore(watch, () => current);
  return (
    <IntlProvider locale={language} messages={messages as Record<MessageId, string>} onError={report}>
      {children}
    </IntlProvider>
  );
}

/** Logs a missing message as an error, which fails the browser tests. */
function report(error: Error): void {
  console.error(error.message);
}

type Values = Record<string, string | number | Date | boolean | null | undefined>;

/** Returns the function that formats a message: `t('queue.title', { count: 3 })`. */
export function useTranslate(): (id: MessageId, values?: Values) => string {
  const intl = useIntl();
  return (id, values) => intl.formatMessage({ id }, values);
}
