import { privateApertium } from '../../../scripts/test-tools.ts';
import { createApertium } from '../src/engines.ts';
import { conformance } from './conformance.ts';
import { needApertium } from './need.ts';

if (needApertium(['eng-spa']))
  conformance('Apertium, one hop', { make: () => createApertium(privateApertium()), to: 'es' });
if (needApertium(['eng-cat', 'cat-fra']))
  conformance('Apertium, two hops', { make: () => createApertium(privateApertium()), to: 'fr' });
