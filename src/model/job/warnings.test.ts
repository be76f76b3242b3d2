import { describe, expect, test } from 'vitest';
import { canonicalizeJob } from './canonicalize.ts';
import { webJob, webJobWith } from './sample.test-helper.ts';
import { jobWarnings, sentencesOf, warningsText } from './warnings.ts';

const service = { PortLabel: 'http' };
const warned = (changes: Record<string, unknown>): string[] =>
  sentencesOf(jobWarnings(canonicalizeJob(webJobWith(changes))));

describe('warnings of a job', () => {
  test.each([
    [{}, []],
    [
      { Update: { MaxParallel: 4 } },
      ['TaskGroups[0].Update.MaxParallel is 4, which is more than the count 3'],
    ],
    [
      { 'TaskGroups.0.Networks.1': {} },
      ['TaskGroups[0].Networks[1] has no effect: only the first network is used'],
    ],
    [
      { 'TaskGroups.0.Networks.0.Mode': 'cni/own' },
      ['TaskGroups[0].Networks[0].Mode is unknown to every node, so the group waits: "cni/own"'],
    ],
    [
      { 'TaskGroups.0.Networks.0.Mode': 'none' },
      ['TaskGroups[0].Networks[0].Mode has no effect: tasks see the network of the node'],
    ],
    [
      { 'TaskGroups.0.Volumes': { data: { Type: 'csi', Source: 'data' } } },
      ['TaskGroups[0].Volumes.data.Type is csi, and no node has storage plugins: the group waits'],
    ],
    [
      { 'TaskGroups.0.Tasks.0.Identities': [{ Name: 'secrets_default' }] },
      [
        'TaskGroups[0].Tasks[0].Identities[0] is for the secrets engine, and the task has no Secrets block',
      ],
    ],
    // Fields of nearly every job, and fields with an effect, give no warning.
    [{ 'TaskGroups.0.Services': [service] }, []],
    [{ 'TaskGroups.0.Tasks.0.Resources.MemoryMaxMB': 128 }, []],
    [{ Type: 'batch', Periodic: { Spec: '@daily' } }, []],
  ])('%j', (changes, expected) => {
    expect(warned(changes)).toEqual(expected);
  });

  test('auto promotion of only some groups with canaries', () => {
    const web = webJob.TaskGroups[0];
    const TaskGroups = [
      { ...web, Name: 'a', Update: { Canary: 1, AutoPromote: true } },
      { ...web, Name: 'b', Update: { Canary: 1 } },
    ];
    expect(warned({ TaskGroups })).toEqual([
      'TaskGroups[1].Update.AutoPromote must be true for every group with canaries to take effect',
    ]);
  });

  test('as one text', () => {
    expect(warningsText([])).toBe('');
    expect(warningsText(['A.', 'B.'])).toBe('2 warning(s):\n\n* A.\n* B.');
  });
});
