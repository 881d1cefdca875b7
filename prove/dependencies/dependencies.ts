/**
 * `npm run prove -- dependencies` checks that the lock file has a checksum for every package, and that no package
 * runs a script at installation.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Figure, Report } from '../../bench/figures.ts';

const ROOT = new URL('../../', import.meta.url);
const MOST_DIRECT = 15;
/** The file for the bill of materials in the CycloneDX format, which each run writes. */
const BILL_NAME = 'prove/sbom.cdx.json';
const BILL = new URL(BILL_NAME, ROOT);

/** The parts of the bill of materials that are checked. */
interface Bill {
  components: { name?: string; version?: string }[];
}

/**
 * Returns the number of components without a name or version. An empty list counts as one such component, so that it
 * misses the goal of 0.
 */
export function unnamed(components: Bill['components']): number {
  if (components.length === 0) return 1;
  return components.filter(({ name, version }) => !name || !version).length;
}

/** The parts of a `package-lock.json` that are checked. */
export interface Lock {
  packages: Record<
    string,
    {
      dependencies?: Record<string, string>;
      link?: boolean;
      dev?: boolean;
      optional?: boolean;
      resolved?: string;
      integrity?: string;
      hasInstallScript?: boolean;
      license?: string;
    }
  >;
}

/** `allowScripts` of package.json: true allows the package to run its script at installation, false forbids it. */
type Scripts = Record<string, boolean>;

export async function proveDependencies(): Promise<Report> {
  const read = (file: string) => JSON.parse(readFileSync(new URL(file, ROOT), 'utf8'));
  const { allowScripts } = read('package.json') as { allowScripts: Scripts };
  const figures = judge(read('package-lock.json') as Lock, allowScripts);
  const bill = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  writeFileSync(BILL, bill);
  const { components } = JSON.parse(bill.toString()) as Bill;
  return {
    figures: [
      ...figures,
      {
        name: 'dependencies, bill of materials',
        value: components.length,
        unit: `components, in ${BILL_NAME}`,
      },
      limit('components without a version or a name', unnamed(components), 0),
    ],
  };
}

/** The packages that make up an installed server. The web app is not listed, because its bundle contains its dependencies. */
const SERVING =
  `packages/server packages/embedded-postgres packages/engines packages/documents packages/checks
packages/client`.split(/\s/);

export function judge({ packages }: Lock, allowed: Scripts): Figure[] {
  const direct = new Set(
    SERVING.flatMap((place) => Object.keys(packages[place]?.dependencies ?? {})).filter(
      (name) => !name.startsWith('@dragoman/'),
    ),
  );
  const foreign = Object.entries(packages).filter(
    ([place, { link }]) => place.includes('node_modules/') && link !== true,
  );
  // For a binary of another platform that the registry does not have, npm writes no checksum. It is an optional
  // development dependency that is never installed from this lock file. Any other package without a checksum could be
  // replaced unnoticed.
  const unsealed = foreign.filter(([, { integrity, dev, optional }]) => !integrity && !(dev && optional));
  const scripts = foreign
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
  const undecided = scripts.filter((name) => !(name in allowed));
  const run = scripts.filter((name) => allowed[name] === true);
  const unlicensed = foreign.filter(([, { license, dev }]) => license === undefined && dev !== true);
  return [
    limit('direct dependencies of what serves', direct.size, MOST_DIRECT),
    limit('packages without a checksum in the lock file', unsealed.length, 0),
    limit('packages without a licence', unlicensed.length, 0),
    limit('scripts at installation that nobody decided on', undecided.length, 0),
    // A script can download files without a checksum. The `node` package downloaded the Node.js binary that way.
    limit('scripts at installation that run', run.length, 0),
    { name: 'dependencies, packages in the lock file', value: foreign.length, unit: 'packages' },
  ];
}

function limit(name: string, value: number, most: number): Figure {
  return {
    name: `dependencies, ${name}`,
    value,
    goal: most === 0 ? '0' : `at most ${most}`,
    held: value <= most,
  };
}
