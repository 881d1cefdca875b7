/** Installs Apertium from Debian's packages, for the system or in a private folder. */

import { type DebianOptions, InstallError, installPackages } from '../debian.ts';
import { findApertium } from './find.ts';
import { DEFAULT_PACKAGES, OPTIONAL_PACKAGES, SCANDINAVIAN_PACKAGES } from './modes.ts';

export interface InstallOptions extends Omit<DebianOptions, 'complete' | 'optional'> {
  /** Debian packages of language pairs to install. Default: {@link DEFAULT_PACKAGES}. */
  packages?: readonly string[];
  /** Also installs {@link SCANDINAVIAN_PACKAGES}. */
  scandinavian?: boolean;
}

/**
 * Installs missing packages. The first installation takes 10 to 60 s and downloads 37 MB.
 *
 * @throws InstallError with a message for the operator
 */
export async function installApertium(options: InstallOptions = {}): Promise<void> {
  const packages = [
    ...(options.packages ?? DEFAULT_PACKAGES),
    ...(options.scandinavian === true ? SCANDINAVIAN_PACKAGES : []),
  ];
  const where = options.root === undefined ? {} : { root: options.root };
  const found = await findApertium({ ...where, packages });
  const inSystem = found.where === 'the system';
  if (found.missing.length === 0 && (options.private !== true || !inSystem)) return;
  // A new private installation replaces the old one, so it must contain the language pairs of the old one too.
  const had = inSystem ? [] : Object.keys(found.packages).filter((name) => PAIRS.has(name));
  await installPackages(['apertium', ...new Set([...packages, ...had])], {
    ...options,
    private: options.private === true || !inSystem,
    ...APERTIUM_PACKAGES,
  });
  const after = await findApertium({ ...where, packages });
  if (after.missing.length > 0) {
    throw new InstallError(
      `apt-get reported success, but these are still missing: ${after.missing.join(', ')}`,
    );
  }
}

const PAIRS = new Set([...DEFAULT_PACKAGES, ...SCANDINAVIAN_PACKAGES]);

/** A private installation contains all of Apertium's packages, because they load each other's files. */
export const APERTIUM_PACKAGES = {
  complete: /^(lib)?(apertium|lttoolbox|cg3)/,
  optional: OPTIONAL_PACKAGES,
};
