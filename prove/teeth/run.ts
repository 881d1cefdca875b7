/** Runs the tests that plant faults with Vitest and returns their results. */
import { createVitest } from 'vitest/node';
import type { Planted } from './planted.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

/** Runs the tests. For a file that cannot be loaded, the result has no tests. */
export async function runPlanted(planted: Readonly<Record<string, Planted>>) {
  const vitest = await createVitest('test', {
    root: ROOT,
    watch: false,
    project: ['prove'],
    reporters: [{}],
  });
  try {
    await vitest.standalone();
    const [project] = vitest.projects;
    const files = new Map(
      Object.entries(planted).map(([proof, { file }]) => [proof, `${ROOT}prove/${file}`]),
    );
    const specifications = Object.entries(planted).map(([proof, { tests }]) =>
      project!.createSpecification(files.get(proof)!, { testNamePattern: tests }),
    );
    const { testModules } = await vitest.runTestSpecifications(specifications);
    return Object.keys(planted).flatMap((proof) => {
      const module = testModules.find(({ moduleId }) => moduleId === files.get(proof));
      return [...(module?.children.allTests() ?? [])].flatMap((test) => {
        const { state } = test.result();
        return state === 'skipped' ? [] : [{ proof, name: test.fullName, caught: state === 'passed' }];
      });
    });
  } finally {
    await vitest.close();
  }
}
