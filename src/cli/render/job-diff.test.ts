import { expect, test } from 'vitest';
import type { JobDiff } from '../../model/job-diff/job-diff.ts';
import { printJobDiff } from './job-diff.ts';
import type { Screen } from './screen.ts';

const edited = (Name: string, Old: string, New: string) =>
  ({ Type: 'Edited', Name, Old, New, Annotations: null }) as const;

test('durations and instants are shown as text, and other numbers unchanged', async () => {
  const diff = {
    Type: 'Edited',
    ID: 'web',
    Objects: null,
    TaskGroups: null,
    Fields: [
      edited('KillTimeout', '5000000000', '90000000000'),
      edited('Max', '3', '10'),
      edited('TaggedTime', '0', '1767225600000000000'),
      edited('Env[Delay]', '5000000000', '6000000000'),
    ],
  } as unknown as JobDiff;
  const lines: string[] = [];
  const plain = new Proxy({}, { get: () => String });
  const line = async (text = '') => void lines.push(text);
  await printJobDiff({ colors: plain, line } as unknown as Screen, diff, { isVerbose: false });
  expect(lines).toEqual([
    '+/- Job: "web"',
    '+/- KillTimeout: "5s" => "1m30s"',
    '+/- Max:         "3" => "10"',
    '+/- TaggedTime:  "0" => "2026-01-01T00:00:00Z"',
    '+/- Env[Delay]:  "5000000000" => "6000000000"',
  ]);
});
