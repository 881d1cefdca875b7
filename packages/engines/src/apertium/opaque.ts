/** Finds text that Apertium must not see because it would spoil it. The patterns match in linear time. */

import { CODE, KEEP } from './outline.ts';

/** Quoted text with marks in it, but none of a question. */
const QUOTED = '[^"“”«»\\n?!.,;:…]{1,200}';
/** A capital that is a word in one of the languages, such as an article, and that touches no other letter. */
const CAPITAL_WORD = "(?<![\\p{L}\\p{M}\\p{N}])(?<!\\p{L}\\.)[AEOUYÀÈÉÅ](?![\\p{L}\\p{M}\\p{N}]|[.'’]\\p{L})";
/** A word before the number of a century, which French writes as an ordinal. */
const CENTURY = '\\b(?:siglo|século|segle|siècle|secolo|century)s?';
/** A noun that a number in capitals follows. Behind other words, I is the English pronoun. */
const NUMBERED =
  '(?<!\\p{L})(?:annexe?|anexo|app?[eéèê]nd(?:ix|ice)|cap[íi]t(?:ulo|olo?)|chap(?:ter|itre)|part[ei]?|regi(?:[oó]n?|ão)|région)';
/** Where an option may stand: behind a mark or a word, or at the start of a line in a list of options. */
const OPTION_PLACE = '(?:(?<=[(\\["“«,/|]|\\S[^\\S\\n]{1,9})|(?<!\\S)(?=-\\p{L}(?:,\\s-|\\s\\s|$)))';
/** A dash and a word of one letter that begin direct speech or an aside: "Dijo: -A veces voy.", "La casa -a veces-". */
const DIALOGUE =
  '(?<=[.:;!?…"“«][^\\S\\n]{0,9})-[AEIOUYÀÈÉ]\\s\\p{Ll}|-[aeiouyàèé]\\s[^\\n-]{0,80}[\\p{L}\\p{N}]-(?:[\\s,.;:)]|$)';
/** Matches an opaque text that joins two words, with its own spaces. Apertium gets it as a word between two spaces. */
export const JOINER = /^ ?[/&"“”«»] ?$/;
/** Before a word that begins a sentence. A code may stand between. */
const SENTENCE_START = `(?<=(?:^|\\s\\s|[.!?…:;¿¡"“‘«(\\[*>—–-])\\s{0,3}${CODE}?\\s?)`;

/** Matches text that is never translated, in the outline of a source. */
export const OPAQUE = new RegExp(
  [
    // One unknown word takes quadratic time (100,000 characters: 20 s).
    '(?<!\\S)\\S{257,}',
    '(?<![\\p{L}\\p{N}])[A-Za-z][A-Za-z\\d+.-]{1,15}://[\\w./?#=&%:@~+-]*',
    // Clock times.
    '(?<![\\p{L}\\p{N}])\\d{1,2}(?:[:.]\\d\\d)?\\s?[AaPp][Mm](?![\\p{L}\\p{N}])',
    // The letter of a list item, a letter in brackets, and abbreviations such as "n/a" and "a.k.a.".
    '(?=\\p{L}[.)](?:\\s|$))(?!.\\.\\s\\p{L}{1,4}\\.)(?<=^\\s{0,9}\\(?)\\p{L}',
    '(?<=\\()\\p{L}(?=\\))',
    '(?<![\\p{L}\\p{N}])(?:[Nn]/[Aa]|a(?:/\\p{Ll}){1,4}|\\p{Ll}(?:\\.\\p{Ll}){2,4})(?![\\p{L}\\p{N}])',
    '(?<![\\p{L}\\p{N}])I(?=[/&+]\\p{L})|(?<=\\p{L}[/&+-])[AEIOUY](?![\\p{L}\\p{N}])',
    // Apertium moves words over these marks: "big/small house" became "casa/pequeña grande".
    `(?<=\\p{L}) ["“«](?=\\S)(?=${QUOTED}[.,;:…][^"“”«»\\n?!]{0,200}["”»])|(?<=[.,;:…]${QUOTED}\\p{L})["”»] (?=\\p{L})`,
    '(?<=\\p{L}) ?/ ?(?=[\\p{L}\\p{N}])|(?<=\\p{N}) ?/ ?(?=\\p{L})|(?<=[\\p{L}\\p{N}.]) & (?=[\\p{L}\\p{N}])',
    // Catalan reads a mark that touches a word as "and": "red&" became "vermellai".
    '(?<=[\\p{L}\\p{N}])&(?![\\p{L}\\p{N}])',
    // Names that Apertium would take apart, such as "D-Bus" and "GNU/Linux".
    '(?<![\\p{L}\\p{N}-])(?!E-Mail)\\p{Lu}-\\p{Lu}\\p{Ll}+(?![\\p{L}\\p{N}-])',
    '(?<![\\p{L}\\p{N}/])\\p{Lu}{2,5}/\\p{Lu}\\p{Ll}{2,}(?![\\p{L}\\p{N}/])',
    // Initials such as "E.U.A.", the names of two capitals such as "X-Y", and arguments such as "<file>".
    '(?<![\\p{L}\\p{N}])(?:\\p{Lu}\\.){3,}|(?<![\\p{L}\\p{N}-])\\p{Lu}-\\p{Lu}(?![\\p{L}\\p{N}-])|<\\p{L}[\\p{L}\\p{N}_-]{0,40}>',
    // Options such as "-A", names such as "O'Higgins" and "HL7v2", and identifiers such as "_Complex".
    `${OPTION_PLACE}(?!${DIALOGUE})-\\p{L}(?=[\\s,.;:)\\]"”»/|]|$)`,
    "(?<![\\p{L}\\p{N}])O['’]\\p{Lu}\\p{Ll}+",
    '(?<![\\p{L}\\p{N}])\\p{Lu}{1,10}\\d{1,10}\\p{L}[\\p{L}\\d]{0,20}(?![\\p{L}\\p{N}])',
    '(?<![\\p{L}\\p{N}_])_[A-Z][A-Za-z]{1,40}(?![\\p{L}\\p{N}_])(?!.{0,200}\\S_(?![\\p{L}\\p{N}]))',
    // Latin that Apertium moved before the name, or took for other words: "i.e." became "et.e.".
    '(?<!\\p{L})et al(?:\\.|(?![\\p{L}·-]))|(?<![\\p{L}.])i\\.e\\.',
    // The plural of API, which the Catalan dictionary has as celery.
    '(?<![\\p{L}\\p{N}])APIs(?![\\p{L}\\p{N}])',
    // A letter or number behind its word, as in "Annex G", "Region II" and "C++". Apertium moved it, or wrote the ordinals of
    // centuries, and took a full stop after it for that of an abbreviation.
    `(?<=\\p{L}\\s)(?<!${CENTURY}\\s)(?:(?!I)\\p{Lu}|[IVX]{2,6}|(?<=(?i:${NUMBERED})\\s)I)(?=[)\\],;:”»"]|\\.?\\s*$)`,
    '(?<![\\p{L}\\p{N}])C(?:\\+\\+|#)',
    // English pronouns in quotation marks, which other languages drop.
    `(?<=["“‘'])(?:I|[Ii]t|[Yy]ou|[Hh]e|[Ss]he|[Ww]e|[Tt]hey)(?=["”]|['’](?!\\p{L}))`,
    // A single capital is a word at the beginning of a sentence and in titles, such as "What A Day". It is none in
    // "Plan A" and "Q&A".
    `(?=${CAPITAL_WORD})(?!${SENTENCE_START}.\\s+\\S)(?!.\\s+\\p{Lu})\\p{L}`,
  ].join('|'),
  'gu',
);

/**
 * Like {@link OPAQUE}, but also matches each word that has other characters than letters and simple punctuation. Used
 * for a segment whose reply was faulty.
 */
export const RISKY = new RegExp(
  `(?<!\\S)(?=[^\\s]*[^\\s\\p{L}\\p{M}${KEEP}${CODE}.,;:!?…'"’“”‘«»()¿¡–—-])\\S+|${OPAQUE.source}`,
  'gu',
);
