/**
 * The address of the running server, in a file of the data directory. Commands read it for the links that they
 * print, because the server may listen on another port than their settings say.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicRoot, type Settings } from '../settings/settings.ts';

type DataSettings = Pick<Settings, 'data'>;

const fileOf = ({ data }: DataSettings): string => join(data, 'address');

/** Writes the URL at which this process answers HTTP requests. @throws Error when the file cannot be written */
export function writeAddress(settings: DataSettings, url: string): void {
  writeFileSync(fileOf(settings), `${url}\n`);
}

/** Deletes the file with this process's address when the process stops. The file of another process stays. */
export function removeAddress(settings: DataSettings, url: string): void {
  if (readAddress(settings) === url) rmSync(fileOf(settings), { force: true });
}

function readAddress(settings: DataSettings): string | undefined {
  try {
    const written = readFileSync(fileOf(settings), 'utf8').trim();
    return URL.canParse(written) ? written : undefined;
  } catch {
    // The file is missing or may not be read. Links then have the address of the settings.
    return undefined;
  }
}

/**
 * Returns the address for links, without a final slash: the public URL of the settings; otherwise the address at
 * which the server of this data directory listens, or listened before it was killed; otherwise the address of the
 * settings.
 */
export function addressForLinks(settings: DataSettings & Parameters<typeof publicRoot>[0]): string {
  return settings.publicUrl ?? readAddress(settings) ?? publicRoot(settings);
}
