/** The version of the program, as its package says it. */
import pack from '../../package.json' with { type: 'json' };

export const VERSION: string = pack.version;
