/** Counts tests from vitest's JSON report. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** Why, for each test that was passed over. */
  readonly notRun: readonly string[];
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      /** As `test/support/not-run.ts` leaves it. */
      readonly meta?: { readonly notRun?: string };
    }[];
  }[];
}

const passedOver = new Set(['skipped', 'pending', 'todo']);

/**
 * What failed without being a test counts as one failure each: a file that could not be loaded,
 * an absent report, and an exit code that no failure explains (an unhandled error, no test found, a crash).
 */
export function countTests(report: string, exitCode: number): Counts {
  if (report === '') return { passed: 0, failed: 1, notRun: [] };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report) as Report;
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  const failed = numFailedTests + brokenFiles.length;
  const notRun = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => passedOver.has(status))
    .map(({ meta }) => meta?.notRun ?? 'this machine lacks what they need');
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed, notRun };
}

/** Paths of the files in which a test failed, with the names of these tests. */
export function failuresIn(report: string): ReadonlyMap<string, readonly string[]> {
  const { testResults } = JSON.parse(report) as Report;
  const failed = testResults.filter(({ status }) => status === 'failed');
  return new Map(
    failed.map(({ name, assertionResults }) => [
      name,
      assertionResults.filter(({ status }) => status === 'failed').map((test) => test.fullName),
    ]),
  );
}

export function addCounts(left: Counts, right: Counts): Counts {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    notRun: [...left.notRun, ...right.notRun],
  };
}

/** A line for each reason, with how many tests it kept from running. */
export function sayNotRun(reasons: readonly string[]): string[] {
  return [...new Set(reasons)].map((reason) => {
    const count = reasons.filter((other) => other === reason).length;
    return `${count} not run, because ${reason}`;
  });
}
