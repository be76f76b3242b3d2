/** Counts tests from vitest's JSON report. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * What failed without being a test counts as one failure each: a file that could not be loaded,
 * an absent report, and an exit code that no failure explains (an unhandled error, no test found, a crash).
 */
export function countTests(report: string, exitCode: number): Counts {
  if (report === '') return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report) as Report;
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  const failed = numFailedTests + brokenFiles.length;
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

export function addCounts(left: Counts, right: Counts): Counts {
  return { passed: left.passed + right.passed, failed: left.failed + right.failed };
}
