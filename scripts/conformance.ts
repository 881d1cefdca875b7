/** Writes `docs/conformance.md` from the list of the specification's sentences. */
import { writeFileSync } from 'node:fs';
import { conformancePage } from '../packages/server/src/conformance/document.ts';

writeFileSync(new URL('../docs/conformance.md', import.meta.url), conformancePage());
