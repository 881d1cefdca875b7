/** The tones and topics that requests can name. They are the same for every account. */
export interface Tone {
  name: 'Informal' | 'Formal';
  description: string;
}

export const TONES: readonly Tone[] = [
  {
    name: 'Informal',
    description: 'Speaks to the reader as a friend would: familiar forms of address, everyday words.',
  },
  {
    name: 'Formal',
    description: 'Speaks to the reader with polite distance: formal forms of address, no slang.',
  },
];

export interface Topic {
  name: string;
}

export const TOPICS: readonly Topic[] = [
  { name: 'politics' },
  { name: 'gossip' },
  { name: 'sex & relationships' },
  { name: 'crafts' },
  { name: 'parenting' },
  { name: 'startups' },
  { name: 'tech' },
  { name: 'sports' },
];

/** The names that the field `tone` of a job accepts. */
export const TONE_NAMES: readonly Tone['name'][] = TONES.map(({ name }) => name);
/** The names that the field `topics` of a job accepts. */
export const TOPIC_NAMES: readonly string[] = TOPICS.map(({ name }) => name);
