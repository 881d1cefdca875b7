/**
 * The supported Apertium modes and their Debian packages.
 *
 * These modes worked when they were tested on Debian 12 (apertium 3.8.3, lttoolbox 3.7.1). Excluded are `*-latin1`
 * (prints nothing), `eco-*` (worse than the plain mode), `rus-ukr` (crashes on nearly every sentence), and `eng-hbs` and
 * `rus-bel` (most words come back untranslated, marked with `@` or `#`). `megabytes` is the measured proportional memory
 * (PSS) of one running pipeline.
 */

export interface Mode {
  /** Apertium's name of the mode, which is used only in this folder. */
  name: string;
  package: string;
  /** Source and target language, as codes of the API. */
  from: string;
  to: string;
  megabytes: number;
}

const mode = (name: string, pkg: string, from: string, to: string, megabytes: number): Mode => ({
  name,
  package: `apertium-${pkg}`,
  from,
  to,
  megabytes,
});

export const MODES: readonly Mode[] = [
  mode('eng-spa', 'eng-spa', 'en', 'es', 114),
  mode('spa-eng', 'eng-spa', 'es', 'en', 100),
  mode('es-pt', 'es-pt', 'es', 'pt', 45),
  mode('pt-es', 'es-pt', 'pt', 'es', 45),
  mode('fr-es', 'fr-es', 'fr', 'es', 90),
  mode('es-fr', 'fr-es', 'es', 'fr', 90),
  mode('spa-cat', 'spa-cat', 'es', 'ca', 198),
  mode('cat-spa', 'spa-cat', 'ca', 'es', 133),
  mode('eng-cat', 'eng-cat', 'en', 'ca', 159),
  mode('cat-eng', 'eng-cat', 'ca', 'en', 115),
  mode('fra-cat', 'fra-cat', 'fr', 'ca', 333),
  mode('cat-fra', 'fra-cat', 'ca', 'fr', 636),
  mode('por-cat', 'por-cat', 'pt', 'ca', 325),
  mode('cat-por', 'por-cat', 'ca', 'pt', 240),
  mode('en-gl', 'en-gl', 'en', 'gl', 149),
  mode('gl-en', 'en-gl', 'gl', 'en', 149),
  mode('es-gl', 'es-gl', 'es', 'gl', 258),
  mode('gl-es', 'es-gl', 'gl', 'es', 258),
  mode('pt-gl', 'pt-gl', 'pt', 'gl', 50),
  mode('gl-pt', 'pt-gl', 'gl', 'pt', 50),
  mode('spa-ita', 'spa-ita', 'es', 'it', 66),
  mode('ita-spa', 'spa-ita', 'it', 'es', 110),
  mode('cat-ita', 'cat-ita', 'ca', 'it', 209),
  mode('ita-cat', 'cat-ita', 'it', 'ca', 291),
  mode('swe-dan', 'swe-dan', 'sv', 'da', 165),
  mode('dan-swe', 'swe-dan', 'da', 'sv', 193),
  mode('swe-nob', 'swe-nor', 'sv', 'nb', 217),
  mode('swe-nno', 'swe-nor', 'sv', 'nn', 217),
  mode('nob-swe', 'swe-nor', 'nb', 'sv', 267),
  mode('nno-swe', 'swe-nor', 'nn', 'sv', 267),
  mode('dan-nob', 'dan-nor', 'da', 'nb', 200),
  mode('dan-nno', 'dan-nor', 'da', 'nn', 200),
  mode('nob-dan', 'dan-nor', 'nb', 'da', 228),
  mode('nno-dan', 'dan-nor', 'nn', 'da', 228),
  mode('nno-nob', 'nno-nob', 'nn', 'nb', 281),
  mode('nob-nno', 'nno-nob', 'nb', 'nn', 419),
];

const byName = new Map(MODES.map((each) => [each.name, each]));

/** Returns the mode with this name in Apertium, or undefined if the mode is not supported. */
export function modeNamed(name: string): Mode | undefined {
  return byName.get(name);
}

const packagesOf = (languages: string[]): string[] => [
  ...new Set(MODES.filter((each) => languages.includes(each.from)).map((each) => each.package)),
];

/** The twelve packages for all 42 directions among en es pt fr ca gl it (37 MB to download, 122 MiB on disk). */
export const DEFAULT_PACKAGES: readonly string[] = packagesOf(['en', 'es', 'pt', 'fr', 'ca', 'gl', 'it']);

/** Packages that some releases lack: Debian 13 has no English–Galician. Without it, en>pt, en>gl and gl>en are not offered. */
export const OPTIONAL_PACKAGES: readonly string[] = ['apertium-en-gl'];

/** The four additional packages for the 12 directions among da sv nb nn. */
export const SCANDINAVIAN_PACKAGES: readonly string[] = packagesOf(['da', 'sv', 'nb', 'nn']);
