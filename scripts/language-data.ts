/**
 * Writes `packages/documents/src/language/language-data.txt` from message catalogues (gettext `.mo`):
 *
 *     node scripts/language-data.ts FOLDER… > packages/documents/src/language/language-data.txt
 *
 * Each folder has the same weight. The file was made from three folders with unpacked packages of Debian 12: the
 * campaigns of Wesnoth 1.16 (`wesnoth-1.16-httt`, `-utbs` and the other fourteen); `wesnoth-1.16-data`; and the
 * applications `evolution-common`, `gedit-common`, `gimp-data`, `gnome-control-center-data`, `gnucash-common`,
 * `gramps`, `libglib2.0-data`, `libgtk-3-common`, `nautilus-data`, `rhythmbox-data` and `shotwell-common`. All are
 * free software under the GPL or LGPL. The file contains frequencies of n-grams of letters, and no text.
 */
import { globSync, readFileSync } from 'node:fs';
import { ngramsOf } from '../packages/documents/src/language/ngrams.ts';

const LANGUAGES = ['en', 'es', 'pt', 'fr', 'ca', 'gl', 'it'];
/** Other languages in Latin letters. Their n-grams share one column of the file. */
const OTHERS = 'cs da de eu fi hr hu id lt nb nl pl ro sk sv tr vi'.split(' ');
/**
 * The number of n-grams in the file. Half as many would increase wrong results for short sentences by half a percent.
 */
const KEPT = 12_000;
/** The frequency assumed for an n-gram that a language does not have. */
const LEAST = 1e-6;
/**
 * The minimum number of n-grams that a folder must have of a language. With fewer, the folder is ignored for that
 * language.
 */
const FEWEST = 20_000;

/**
 * Words of personal letters and conversations, which message catalogues lack. Together they get a fiftieth of
 * the weight.
 */
const EVERYDAY: Readonly<Record<string, string>> = {
  en: 'hello hi hey dear goodbye bye please thanks thank sorry yes welcome morning evening night today tomorrow',
  es: 'hola adiós gracias favor perdón sí bienvenido bienvenida buenos buenas días tardes noches hoy mañana',
  pt: 'olá oi adeus tchau obrigado obrigada favor desculpe sim bom boa dia tarde noite hoje amanhã',
  fr: 'bonjour bonsoir salut merci adieu pardon désolé oui bienvenue bonne soirée nuit aujourd hui demain plaît',
  ca: 'hola adéu gràcies perdó sí benvingut benvinguda bon bona dia tarda nit avui demà plau',
  gl: 'ola adeus grazas favor perdón si benvido benvida bos boas bo días tardes noites hoxe mañá',
  it: 'ciao arrivederci grazie prego scusa scusi sì salve benvenuto benvenuta buongiorno buonasera buona notte oggi domani',
};
const EVERYDAY_SHARE = 0.02;

type Shares = Map<string, number>;

/** Yields the original and the translation of each message in a catalogue. */
function* messagesOf(file: string): Generator<[original: string, translation: string]> {
  const bytes = readFileSync(file);
  if (bytes.readUInt32LE(0) !== 0x950412de) throw new Error(`${file}: not a little-endian catalogue`);
  const [count, originals, translations] = [8, 12, 16].map((at) => bytes.readUInt32LE(at)) as [
    number,
    number,
    number,
  ];
  const read = (table: number, index: number) => {
    const [length, at] = [bytes.readUInt32LE(table + 8 * index), bytes.readUInt32LE(table + 8 * index + 4)];
    // Returns only the first plural form, without the context of the message.
    return bytes
      .toString('utf8', at, at + length)
      .split('\0', 1)[0]!
      .replace(/^.*\x04/s, '');
  };
  for (let index = 0; index < count; index += 1) yield [read(originals, index), read(translations, index)];
}

/**
 * Returns the distinct messages of a folder in one language. Each catalogue contains the English messages and
 * their translations, so the English ones are read from the French catalogues.
 */
function textsOf(folder: string, language: string): Set<string> {
  const texts = new Set<string>();
  const names = language === 'pt' ? '{pt,pt_BR}' : language === 'en' ? 'fr' : language;
  for (const file of globSync(`${folder}/**/${names}/LC_MESSAGES/*.mo`).sort()) {
    for (const [original, translation] of messagesOf(file)) {
      if (original !== '' && original !== translation) texts.add(language === 'en' ? original : translation);
    }
  }
  return texts;
}

/** Returns the frequency of each n-gram in a language, as the mean of all folders. */
function sharesOf(folders: readonly string[], language: string): Shares {
  const perFolder = folders.map((folder) => {
    const counts: Shares = new Map();
    let total = 0;
    for (const text of textsOf(folder, language)) {
      for (const ngram of ngramsOf(text.replaceAll(/<[^>]*>|[_&]/g, ''))) {
        counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
        total += 1;
      }
    }
    return { counts, total };
  });
  const used = perFolder.filter(({ total }) => total >= FEWEST);
  const shares: Shares = new Map();
  for (const { counts, total } of used) {
    for (const [ngram, count] of counts) {
      if (count > 1) shares.set(ngram, (shares.get(ngram) ?? 0) + count / total / used.length);
    }
  }
  const everyday = [...ngramsOf(EVERYDAY[language] ?? '')];
  for (const ngram of everyday)
    shares.set(ngram, (shares.get(ngram) ?? 0) + EVERYDAY_SHARE / everyday.length);
  return shares;
}

/** Returns half of each n-gram's highest frequency in any of the other languages. */
function sharesOfOthers(folders: readonly string[]): Shares {
  const most: Shares = new Map();
  for (const language of OTHERS) {
    for (const [ngram, share] of sharesOf(folders, language)) {
      most.set(ngram, Math.max(most.get(ngram) ?? 0, share / 2));
    }
  }
  return most;
}

const folders = process.argv.slice(2);
const columns = [...LANGUAGES.map((language) => sharesOf(folders, language)), sharesOfOthers(folders)];
const rows = [...new Set(columns.flatMap((shares) => [...shares.keys()]))].map((ngram) => {
  const shares = columns.map((column) => (column.get(ngram) ?? 0) + LEAST);
  const mean = shares.reduce((sum, share) => sum + share) / shares.length;
  const worth = shares.reduce((sum, share) => sum + share * Math.abs(Math.log(share / mean)), 0);
  const logarithms = shares.map(Math.log);
  const middle = logarithms.reduce((sum, one) => sum + one) / logarithms.length;
  // Each weight is a natural logarithm in steps of one fifth, written as one printable character. The character `P`
  // stands for 0.
  const weights = logarithms.map((one) =>
    String.fromCharCode(80 + Math.max(-47, Math.min(46, Math.round((one - middle) * 5)))),
  );
  return { ngram, worth, weights: weights.join('') };
});
const kept = rows
  .sort((one, other) => other.worth - one.worth || (one.ngram < other.ngram ? -1 : 1))
  .slice(0, KEPT);
const lines = kept.map(({ ngram, weights }) => ngram + weights).sort();
process.stdout.write(`${LANGUAGES.join(' ')}\n${lines.join('\n')}\n`);
