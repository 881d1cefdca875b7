/** Runs the tests that plant faults with Vitest and returns their results. */
import { createVitest } from 'vitest/node';

const ROOT = new URL('../..', import.meta.url).pathname;

const testFile = (proof: string) => `${ROOT}prove/${proof}/${proof}.test.ts`;

/** Runs the tests of some proofs. For a file that cannot be loaded, the result has no tests. */
export async function runPlanted(proofs: readonly string[]) {
  const vitest = await createVitest('test', {
    root: ROOT,
    watch: false,
    project: ['prove'],
    reporters: [{}],
  });
  try {
    await vitest.standalone();
    const [project] = vitest.projects;
    const specifications = proofs.map((proof) =>
      project!.createSpecification(testFile(proof), { testNamePattern: /the planted fault/ }),
    );
    const { testModules } = await vitest.runTestSpecifications(specifications);
    return proofs.flatMap((proof) => {
      const module = testModules.find(({ moduleId }) => moduleId === testFile(proof));
      return [...(module?.children.allTests() ?? [])].flatMap((test) => {
        const { state } = test.result();
        return state === 'skipped' ? [] : [{ proof, name: test.fullName, caught: state === 'passed' }];
      });
    });
  } finally {
    await vitest.close();
  }
}
