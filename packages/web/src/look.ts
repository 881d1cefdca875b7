/**
 * How a person wants to see the app: theme and language. Kept in a cookie, so that the server can write both into the
 * page and nothing flashes; and on the user, so that it is the same at another machine (`session.ts`).
 */
import { LANGUAGES, type Language } from './languages.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
export interface Look {
  theme: Theme;
  language: Language;
}

const COOKIE = 'dragoman_look';
const YEAR_SECONDS = 365 * 24 * 3600;
const listeners = new Set<() => void>();
let look = read();

export function readLook(): Look {
  return look;
}

/** @param change what is different from now on */
export function setLook(change: Partial<Look>): void {
  look = { ...look, ...change };
  const secure = location.protocol === 'https:' ? '; secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is not there without https
  document.cookie = `${COOKIE}=${look.theme}.${look.language}; path=/app; max-age=${YEAR_SECONDS}; samesite=lax${secure}`;
  apply();
  for (const tell of listeners) tell();
}

export function watchLook(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether it was ever chosen at this browser. */
export function isChosen(): boolean {
  return cookie() !== undefined;
}

function read(): Look {
  const [theme, language] = (cookie() ?? '').split('.');
  return {
    theme: THEMES.find((one) => one === theme) ?? 'system',
    language: knownLanguage(language) ?? navigator.languages.map(knownLanguage).find(Boolean) ?? 'en',
  };
}

function cookie(): string | undefined {
  return document.cookie
    .split('; ')
    .find((one) => one.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1);
}

/** @param tag such as `de-AT` */
export function knownLanguage(tag: string | null | undefined): Language | undefined {
  const language = tag?.split('-')[0]?.toLowerCase() ?? '';
  return Object.hasOwn(LANGUAGES, language) ? (language as Language) : undefined;
}

const dark = matchMedia('(prefers-color-scheme: dark)');
dark.addEventListener('change', apply);

/** The theme as it is now: that of the system where none was chosen. */
export function schemeOf(theme: Theme): 'light' | 'dark' {
  return theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
}

/** Writes theme, language and direction on the root of the page. */
export function apply(): void {
  const root = document.documentElement;
  root.dataset.mantineColorScheme = schemeOf(look.theme);
  root.lang = look.language;
  root.dir = LANGUAGES[look.language].direction;
}
