/** The choices of the page *Translate*. The browser keeps them for the next visit, without any document. */
import { useEffect, useState } from 'react';

export interface Choices {
  tier: 'human' | 'machine';
  /** The source language; empty to detect it. */
  source: string;
  targets: readonly string[];
  /** The external id of a brand; empty for the default brand. */
  brand: string;
  /** A tone; empty for the tone of the brand. */
  tone: string;
  instructions: string;
  /** Whether segments of XLIFF with the state `translated` are translated again. */
  retranslate: boolean;
  /** Whether HTML pages declare the target language. */
  set_lang: boolean;
  /** Whether the user gets a mail when the documents are finished. Only for jobs of editors, which take longer. */
  mail: boolean;
}

const FIRST: Choices = {
  tier: 'human',
  source: '',
  targets: [],
  brand: '',
  tone: '',
  instructions: '',
  retranslate: false,
  set_lang: false,
  mail: true,
};

/** Returns the choices of a user, and a function that changes them. */
export function useChoices(user: string): [Choices, (change: Partial<Choices>) => void] {
  const key = `dragoman_translate ${user}`;
  const [choices, setChoices] = useState(() => ({ ...FIRST, ...read(key) }));
  useEffect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(choices));
    } catch {
      // Without storage, the next visit begins with the default choices.
    }
  }, [key, choices]);
  return [choices, (change) => setChoices((before) => ({ ...before, ...change }))];
}

/** Returns the stored choices that have the right type. Another version of the app may have stored them. */
function read(key: string): Partial<Choices> {
  try {
    const stored = Object.entries(JSON.parse(localStorage.getItem(key) ?? '{}'));
    return Object.fromEntries(
      stored.filter(([name, value]) => {
        const first = FIRST[name as keyof Choices];
        return Array.isArray(first) ? Array.isArray(value) : typeof value === typeof first;
      }),
    );
  } catch {
    return {};
  }
}
