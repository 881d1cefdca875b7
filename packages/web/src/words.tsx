/**
 * What the app says. Each area has its own `messages/{en,de,ar}.json` (this folder's is the shell's); they are fetched
 * when the area is opened, in the language of now, and again when another language is chosen.
 */
import { type ReactNode, useSyncExternalStore } from 'react';
import { IntlProvider, useIntl } from 'react-intl';
import type account from './account/messages/en.json';
import type console_ from './console/messages/en.json';
import type { Language } from './languages.ts';
import { readLook, setLook } from './look.ts';
import type shell from './messages/en.json';
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
let spoken: { language: Language; messages: Messages } = { language: 'en', messages: {} };

function fetchMessages(area: Area, language: Language): Promise<Messages> {
  const file = `./${area === '' ? '' : `${area}/`}messages/${language}.json`;
  const known = fetched.get(file);
  if (known !== undefined) return known;
  const messages = fetch(files[file]!).then((response) => {
    if (!response.ok) throw new Error(`${file} was answered with ${response.status}`);
    return response.json() as Promise<Messages>;
  });
  fetched.set(file, messages);
  // What could not be fetched now may be there the next time.
  messages.catch(() => fetched.delete(file));
  return messages;
}

async function speak(language: Language): Promise<void> {
  const parts = await Promise.all([...areas].map((area) => fetchMessages(area, language)));
  spoken = { language, messages: Object.assign({}, ...parts) };
  for (const tell of listeners) tell();
}

/** Has the words of an area there, before anything of it is drawn. */
export async function loadWords(area: Area): Promise<void> {
  if (areas.has(area) && spoken.language === readLook().language) return;
  areas.add(area);
  try {
    await speak(readLook().language);
  } catch (error) {
    areas.delete(area);
    throw error;
  }
}

/** Speaks another language from now on; the page changes when its words are there. */
export async function chooseLanguage(language: Language): Promise<void> {
  await speak(language);
  setLook({ language });
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Words({ children }: { children: ReactNode }) {
  const { language, messages } = useSyncExternalStore(watch, () => spoken);
  return (
    <IntlProvider locale={language} messages={messages as Record<MessageId, string>} onError={complain}>
      {children}
    </IntlProvider>
  );
}

/** A message that is missing is a fault: the browser tests fail on it. */
function complain(error: Error): void {
  console.error(error.message);
}

type Values = Record<string, string | number | Date | boolean | null | undefined>;

/** The one way to say something: `const say = useSay()`, `say('queue.title', { count: 3 })`. */
export function useSay(): (id: MessageId, values?: Values) => string {
  const intl = useIntl();
  return (id, values) => intl.formatMessage({ id }, values);
}
