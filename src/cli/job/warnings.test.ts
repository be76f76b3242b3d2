import { expect, test } from 'vitest';
import { job } from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const nothingPlanned = {
  PlanID: '',
  Diff: { Type: 'None', ID: 'web' },
  FailedTGAllocs: null,
  CreatedEvals: null,
  Annotations: { DesiredTGUpdates: {}, PreemptedAllocs: null },
  Changes: [],
  ChangesHidden: 0,
  JobModifyIndex: 7,
  NextPeriodicLaunch: '0001-01-01T00:00:00Z',
};

const odd = {
  'odd.hcl': `job "web" {
  group "g" {
    network {
      mode = "host"
    }
    service {
      connect {}
    }
    task "t" {
      driver = "exec"
      config { command = "true" }
    }
  }
}
`,
};
const connectWarning =
  'TaskGroups[0].Services[0].Connect has no effect: there is no mesh, and so no sidecar and no upstream';
const connectShown = `Warning: odd.hcl:7:7: ${connectWarning}
  7 |       connect {}
    |       ^
`;
const warned = `2 warning(s):\n\n* ${connectWarning}\n* a thing that only the server knows`;

test.each([
  ['validate', 'POST /v1/validate/job', { ValidationErrors: [], Warnings: warned }],
  ['plan', 'POST /v1/job/web/plan', { ...nothingPlanned, Warnings: warned }],
  ['run', 'POST /v1/jobs', { EvalID: '', JobModifyIndex: 7, Warnings: warned }],
])('%s shows warnings where they were written', async (command, call, json) => {
  const server = { [call]: { json }, 'GET /v1/job/web': { json: job() } };
  const ran = await run(['job', command, 'odd.hcl'], { files: odd, server });
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toContain(connectShown);
  expect(ran.stdout).toContain('Warning: a thing that only the server knows\n');
  const colored = await run(['job', command, 'odd.hcl'], {
    files: odd,
    server,
    env: { FORCE_COLOR: '1' },
  });
  expect(colored.stdout).toContain('\u001b[33mWarning: odd.hcl:7:7');
  const structured = await run(['job', command, '-json', 'odd.hcl'], { files: odd, server });
  expect(JSON.parse(structured.stdout).WarningPlaces).toEqual([
    {
      Message: connectWarning,
      Pointer: '/TaskGroups/0/Services/0/Connect',
      File: 'odd.hcl',
      Line: 7,
      Column: 7,
    },
    { Message: 'a thing that only the server knows' },
  ]);
});

test('validate -offline shows the warnings that need no server', async () => {
  const ran = await run(['job', 'validate', '-offline', 'odd.hcl'], { files: odd });
  expect(ran).toMatchObject({ seen: [] });
  expect(ran).toMatchObject({ exitCode: 0, stdout: `${connectShown}The job is valid.\n` });
});
