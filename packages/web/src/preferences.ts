/**
 * The display preferences of a user: theme and language. They are stored in a cookie, so that the server can
 * write both into the page before its first paint. They are also stored in the user record, for other devices
 * (`session.ts`).
 */
import { LANGUAGES, type Language } from './languages.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
export interface Preferences {
  theme: Theme;
  language: Language;
}

const COOKIE = 'dragoman_look';
const YEAR_SECONDS = 365 * 24 * 3600;
const listeners = new Set<() => void>();
let preferences = read();

export function readPreferences(): Preferences {
  return preferences;
}

export function setPreferences(change: Partial<Preferences>): void {
  preferences = { ...preferences, ...change };
  const secure = location.protocol === 'https:' ? '; secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs https
  document.cookie = `${COOKIE}=${preferences.theme}.${preferences.language}; path=/app; max-age=${YEAR_SECONDS}; samesite=lax${secure}`;
  apply();
  for (const notify of listeners) notify();
}

export function watchPreferences(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function read(): Preferences {
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

/** Returns the app's language for a BCP 47 tag such as `de-AT`. */
export function knownLanguage(tag: string | null | undefined): Language | undefined {
  const language = tag?.split('-')[0]?.toLowerCase() ?? '';
  return Object.hasOwn(LANGUAGES, language) ? (language as Language) : undefined;
}

const dark = matchMedia('(prefers-color-scheme: dark)');
dark.addEventListener('change', apply);

/** Returns the colour scheme of a theme; `system` follows the operating system. */
export function schemeOf(theme: Theme): 'light' | 'dark' {
  return theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
}

/** Writes theme, language and direction to the root element. */
export function apply(): void {
  const root = document.documentElement;
  root.dataset.mantineColorScheme = schemeOf(preferences.theme);
  root.lang = preferences.language;
  root.dir = LANGUAGES[preferences.language].direction;
}
