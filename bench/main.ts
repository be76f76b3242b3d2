/**
 * `npm run bench [-- NAME … --base URL --token TOKEN --runs N --write]`: measures a new agent, or a running
 * agent on this machine, and compares it with a bare baseline.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { acl } from './acl.ts';
import { aclRead } from './acl-read.ts';
import { aclTokens } from './acl-tokens.ts';
import type { Benchmark, Setting } from './benchmark.ts';
import { configEntries } from './config-entries.ts';
import { discoveryChain } from './discovery-chain.ts';
import { exchange } from './exchange.ts';
import { exec } from './exec.ts';
import { holds } from './holds.ts';
import { jobFile } from './job-file.ts';
import { jobList } from './job-list.ts';
import { jobModel } from './job-model.ts';
import { limits } from './limits.ts';
import { logs } from './logs.ts';
import { describeMachine } from './machine.ts';
import { million } from './million.ts';
import { millionServers } from './million-servers.ts';
import { node } from './node.ts';
import { parked } from './parked.ts';
import { peering } from './peering.ts';
import { plan } from './plan.ts';
import { readJob } from './read-job.ts';
import { register } from './register.ts';
import { type Finished, page, section } from './report.ts';
import { runJob } from './run-job.ts';
import { scheduler } from './scheduler.ts';
import { servers } from './servers.ts';
import { simulator } from './simulator.ts';
import { start } from './start.ts';
import { state } from './state.ts';
import { type Target, targetOf } from './target.ts';

const benchmarks: readonly Benchmark[] = [
  readJob,
  register,
  state,
  parked,
  start,
  runJob,
  node,
  logs,
  exec,
  exchange,
  acl,
  aclRead,
  aclTokens,
  configEntries,
  discoveryChain,
  jobFile,
  jobModel,
  jobList,
  plan,
  peering,
  scheduler,
  servers,
  holds,
  simulator,
  million,
  millionServers,
];
const usage = `usage: npm run bench -- [NAME …] [--base URL --token TOKEN] [--runs N] [--write]
  names: ${benchmarks.map(({ name }) => name).join(', ')} (default: all)
  --base   measure this server instead of starting one; only at 127.0.0.1 or ::1
  --token  a management token of it
  --runs   runs of each benchmark, 1 to ${limits.runsMax} (default ${limits.runsDefault})
  --write  write BENCHMARKS.md; with all benchmarks and agents of its own only`;

interface Command {
  readonly chosen: readonly Benchmark[];
  readonly given: Target | undefined;
  readonly runs: number;
  readonly write: boolean;
}

function readCommand(): Command {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      base: { type: 'string' },
      token: { type: 'string', default: '' },
      runs: { type: 'string', default: String(limits.runsDefault) },
      write: { type: 'boolean', default: false },
    },
  });
  const given = values.base === undefined ? undefined : targetOf(values.base, values.token);
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1 || runs > limits.runsMax) {
    throw new Error(`--runs must be a number from 1 to ${limits.runsMax}`);
  }
  const unknown = positionals.filter((name) => benchmarks.every((one) => one.name !== name));
  if (unknown.length > 0) throw new Error(`there is no benchmark ${unknown.join(', ')}`);
  const named = benchmarks.filter(({ name }) => positionals.includes(name));
  const chosen = named.length > 0 ? named : benchmarks.filter((one) => !given || one.takesGiven);
  const refused = chosen.filter(({ takesGiven }) => given !== undefined && !takesGiven);
  if (refused.length > 0) {
    throw new Error(`${refused.map(({ name }) => name).join(', ')} cannot be measured with --base`);
  }
  if (values.write && (given !== undefined || named.length > 0)) {
    throw new Error('--write goes with all benchmarks and agents of its own only');
  }
  return { chosen, given, runs, write: values.write };
}

async function measure({ chosen, given, runs, write }: Command): Promise<void> {
  const machine = await describeMachine();
  const finished: Finished[] = [];
  for (const benchmark of chosen) {
    const progress: Setting['progress'] = (text) => console.error(`${benchmark.name}: ${text}`);
    const results = await benchmark.run({ runs, given, progress });
    finished.push({ benchmark, ...results });
    console.log(section({ benchmark, ...results }));
  }
  console.log(machine.join('\n'));
  if (!write) return;
  const date = new Date().toISOString().slice(0, 10);
  const path = fileURLToPath(new URL('../BENCHMARKS.md', import.meta.url));
  writeFileSync(path, page(finished, { machine, date, runs }));
  console.error(`wrote ${path}`);
}

let command: Command | undefined;
try {
  command = readCommand();
} catch (error) {
  console.error(`${(error as Error).message}\n${usage}`);
  process.exitCode = 2;
}
if (command !== undefined) {
  await measure(command);
  // Connections that are kept alive would delay the end of the process.
  process.exit();
}
