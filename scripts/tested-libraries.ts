/** Finds in the lock file of the repository the libraries that a package needs: the versions with which it was tested. */

export interface Locked {
  version?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/**
 * Returns the folders of libraries and of all that they need, except optional packages.
 * @param packages the packages of the lock file, by their folder
 * @throws Error when the lock file lacks a library
 */
export function testedLibraries(libraries: Iterable<string>, packages: Record<string, Locked>): string[] {
  const found = new Set<string>();
  follow(libraries, '');
  return [...found].sort();

  function follow(names: Iterable<string>, from: string): void {
    for (const name of names) {
      const folder = locate(name, from);
      if (found.has(folder)) continue;
      found.add(folder);
      follow(requiredOf(packages[folder]!), folder);
    }
  }

  /** Finds the folder of a library as Node does: in the nearest `node_modules`. */
  function locate(name: string, from: string): string {
    for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
      const folder = `${place === '' ? '' : `${place}/`}node_modules/${name}`;
      if (packages[folder] !== undefined) return folder;
      if (place === '') throw new Error(`package-lock.json lacks ${name}, which ${from} needs`);
    }
  }
}

const requiredOf = ({ dependencies = {}, optionalDependencies = {}, ...one }: Locked): string[] => [
  ...Object.keys(dependencies).filter((name) => optionalDependencies[name] === undefined),
  ...Object.keys(one.peerDependencies ?? {}).filter((name) => !one.peerDependenciesMeta?.[name]?.optional),
];
