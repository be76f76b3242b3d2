/** The cost of authorization, as a part of a read. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manyRules } from './acl.ts';
import { type RunningAgent, rosterCommand, startAgent, temporaryFolder } from './agent.ts';
import type { Benchmark, Figure, Results, Setting } from './benchmark.ts';
import { jobPath, settled } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes } from './load.ts';
import { exampleJob } from './read-job.ts';
import { call, type Target } from './target.ts';
import { costNote, type Load, load, loadFigures, partFigure } from './wrk.ts';

const id = 'bench-read';

export const aclRead: Benchmark = {
  name: 'acl-read',
  title: `What authorization adds to GET /v1/job/:id, ${limits.connections} connections`,
  baseline:
    'the same server with `acl.enabled` set to `false`, which is sent the same bytes but under a ' +
    'header that says nothing',
  takesGiven: false,
  usesWrk: true,
  async run(setting) {
    const folder = temporaryFolder();
    const agents: RunningAgent[] = [];
    const withAcl = async (enabled: boolean): Promise<Target> => {
      const config = join(folder.path, `agent-${enabled}.json`);
      writeFileSync(config, JSON.stringify({ acl: { enabled } }));
      const dataDirectory = join(folder.path, `data-${enabled}`);
      const agent = await startAgent({ command: rosterCommand, dataDirectory, config });
      agents.push(agent);
      await call(agent.target, 'POST', '/v1/jobs', exampleJob(id));
      await settled(agent.target, id);
      return agent.target;
    };
    try {
      return await measure(setting, await withAcl(true), await withAcl(false));
    } finally {
      for (const agent of agents) await agent.stop();
      await folder.remove();
    }
  },
};

interface Kind {
  readonly name: string;
  readonly target: Target;
  readonly request: Buffer;
  readonly loads: Load[];
}

async function measure(setting: Setting, on: Target, off: Target): Promise<Results> {
  const ordinary = [
    'namespace "default" { policy = "read" }\nnamespace "dev-*" { policy = "write" }',
    'service_prefix "web" { policy = "write" }\nkey_prefix "config/" { policy = "read" }',
    'node_prefix "" { policy = "read" }\nagent_prefix "" { policy = "read" }',
  ];
  const many = `namespace "def*" { policy = "read" }\n${manyRules()}`;
  const kinds: Kind[] = [
    await kindOf('a token with three policies', on, ordinary),
    await kindOf('a token with 1,000 rules', on, [many]),
    { name: 'off', target: off, request: withoutToken(off), loads: [] },
  ];
  setting.progress('warm-up');
  for (const { target, request } of kinds) {
    await load(target, request, { seconds: limits.warmUpSeconds });
  }
  for (let run = 1; run <= setting.runs; run++) {
    setting.progress(`run ${run} of ${setting.runs}`);
    for (let turn = 0; turn < limits.authorization.turns; turn++) {
      // The order alternates, so that no kind always follows the same one.
      for (const { target, request, loads } of turn % 2 === 0 ? kinds : kinds.toReversed()) {
        loads.push(await load(target, request, { seconds: limits.authorization.seconds }));
      }
    }
  }
  const [three, thousand, without] = kinds as [Kind, Kind, Kind];
  const figures = ({ name, loads }: Kind): Figure[] => [
    ...loadFigures(name, { ours: loads, baseline: without.loads }),
    partFigure(name, { ours: loads, baseline: without.loads }, 0.95),
  ];
  return {
    figures: [...figures(three), ...figures(thousand)],
    notes: [
      `The job is that of \`read-job\`. A run is ${limits.authorization.turns} loads of ` +
        `${limits.authorization.seconds} s of each kind, in turns, so that what the machine does ` +
        'meanwhile hits all of them alike.',
      'Without authorization every caller could be a page of a foreign site, so the host of each ' +
        'request is checked, which a token makes unnecessary: about 0.5 µs. A part above 1 is this ' +
        'and what the machine does meanwhile.',
      costNote(kinds.flatMap(({ loads }) => loads)),
    ],
  };
}

/** The read with a token that has these policies. */
async function kindOf(name: string, target: Target, policies: readonly string[]): Promise<Kind> {
  const Policies: { readonly ID: string }[] = [];
  for (const Rules of policies) {
    const body = { Name: `bench-${randomUUID()}`, Rules };
    Policies.push(
      (await call<{ readonly ID: string }>(target, 'PUT', '/v1/acl/policy', body)).value,
    );
  }
  const made = await call<{ readonly SecretID: string }>(target, 'PUT', '/v1/acl/token', {
    Policies: Policies.map(({ ID }) => ({ ID })),
  });
  const asked = { ...target, token: made.value.SecretID };
  return { name, target, request: requestBytes(asked, 'GET', jobPath(id)), loads: [] };
}

/** A request whose answer has the same length, without authorization. */
function withoutToken(target: Target): Buffer {
  const request = requestBytes({ ...target, token: randomUUID() }, 'GET', jobPath(id));
  return Buffer.from(request.toString().replace('x-registry-token', 'x-registry-other'));
}
