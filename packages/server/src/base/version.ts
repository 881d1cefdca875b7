/** The version of the program, taken from its package.json. */
import pack from '../../package.json' with { type: 'json' };

export const VERSION: string = pack.version;
