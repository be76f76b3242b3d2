import { expect, test } from 'vitest';
import { launchCrashTest } from './launches.ts';

test('kills around launches lose no slot, and launch none twice', {
  timeout: 240_000,
}, async () => {
  const report = await launchCrashTest(3, 1);
  expect(report.faults).toEqual([]);
  expect(report.kills).toBe(3);
  expect(report.launches).toBeGreaterThanOrEqual(3 * 40);
});
