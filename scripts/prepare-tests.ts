// Puts on the machine what the tests need: the offline engine (Apertium), from Debian's packages.
import { findApertium, installApertium } from '../packages/engines/src/engines.ts';

const { missing } = await findApertium({});
if (missing.length > 0) {
  console.error(`Installing the offline engine for the tests (${missing.length} packages) …`);
  await installApertium({ onProgress: (line) => console.error(`  ${line}`) });
}
