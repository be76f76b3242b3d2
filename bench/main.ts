/**
 * `npm run bench [-- NAME … --base URL --token TOKEN --runs N --write]`: measures a new agent, or a running
 * agent on this machine, and compares it with a bare baseline.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePrograms } from '../tools/programs.mjs';
import { acl } from './acl.ts';
import { aclRead } from './acl-read.ts';
import { aclTokens } from './acl-tokens.ts';
import { type Benchmark, isMet, type Setting } from './benchmark.ts';
import { configEntries } from './config-entries.ts';
import { decider } from './decider.ts';
import { discoveryChain } from './discovery-chain.ts';
import { syncsPerSecond } from './disk.ts';
import { exchange } from './exchange.ts';
import { exec } from './exec.ts';
import { executable } from './executable.ts';
import { fleet } from './fleet.ts';
import { fleetEvents } from './fleet-events.ts';
import { grow } from './grow/grow.ts';
import { holds } from './holds.ts';
import { jobFile } from './job-file.ts';
import { jobList } from './job-list.ts';
import { jobModel } from './job-model.ts';
import { libraryTest } from './library-test.ts';
import { limits } from './limits.ts';
import { logForms } from './log-forms.ts';
import { logs } from './logs.ts';
import { describeMachine } from './machine.ts';
import { memory } from './memory.ts';
import { million } from './million.ts';
import { millionServers } from './million-servers.ts';
import { node } from './node.ts';
import { parked } from './parked.ts';
import { peer } from './peer.ts';
import { peering } from './peering.ts';
import { plan } from './plan.ts';
import { readJob } from './read-job.ts';
import { readers } from './readers.ts';
import { register } from './register.ts';
import { type Finished, page, section } from './report.ts';
import { runJob } from './run-job.ts';
import { scheduler } from './scheduler.ts';
import { servers } from './servers.ts';
import { simulator } from './simulator.ts';
import { start } from './start.ts';
import { state } from './state.ts';
import { targetOf } from './target.ts';
import { ui } from './ui.ts';

const benchmarks: readonly Benchmark[] = [
  readJob,
  register,
  state,
  logForms,
  parked,
  readers,
  decider,
  start,
  executable,
  memory,
  runJob,
  node,
  logs,
  exec,
  exchange,
  fleet,
  fleetEvents,
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
  grow,
  simulator,
  libraryTest,
  million,
  millionServers,
  ui,
  peer,
];
const ownAddress = 'http://127.0.0.1:{port}';
const usage = `usage: npm run bench -- [NAME …] [--base URL --token TOKEN] [--runs N] [--rest SECONDS] [--floods]
                        [--command COMMAND [--address URL]] [--check] [--write]
  names: ${benchmarks.map(({ name }) => name).join(', ')} (default: all)
  --base   measure this server instead of starting one; only at 127.0.0.1 or ::1
  --token  a management token of it
  --runs   runs of each benchmark, 1 to ${limits.runsMax} (default ${limits.runsDefault})
  --rest   seconds: of \`memory\` the rest before it is read (default ${limits.restSeconds}), of \`ui\` the time over
           which the heap of a page grows (default ${limits.ui.heapSeconds})
  --floods of \`ui\`: only the pages with more events and lines than anybody could read
  --command, --address
           of \`peer\`: command of another program that serves the same paths, and its address (default
           ${ownAddress}); {port}, {token} and {directory} are filled in
  --check  end with exit code 1 if a figure misses its target
  --write  write BENCHMARKS.md; with all benchmarks and agents of its own only`;

const wrk = { name: 'wrk', package: 'wrk', why: 'the load of the benchmarks over HTTP' };

interface Command extends Pick<Setting, 'given' | 'runs' | 'peer' | 'restSeconds' | 'floodsOnly'> {
  readonly chosen: readonly Benchmark[];
  readonly write: boolean;
  readonly check: boolean;
}

function readCommand(): Command {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      base: { type: 'string' },
      token: { type: 'string', default: '' },
      runs: { type: 'string', default: String(limits.runsDefault) },
      rest: { type: 'string' },
      floods: { type: 'boolean', default: false },
      command: { type: 'string' },
      address: { type: 'string', default: ownAddress },
      write: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
    },
  });
  const given = values.base === undefined ? undefined : targetOf(values.base, values.token);
  const peer = values.command && { command: values.command, address: values.address };
  const restSeconds = values.rest === undefined ? undefined : Number(values.rest);
  if (restSeconds !== undefined && !(restSeconds >= 0))
    throw new Error('--rest must be a number of seconds');
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
  const { write, check, floods: floodsOnly } = values;
  return { chosen, given, runs, peer: peer || undefined, restSeconds, floodsOnly, write, check };
}

async function measure({ chosen, write, check, ...setting }: Command): Promise<void> {
  const machine = await describeMachine();
  const finished: Finished[] = [];
  for (const benchmark of chosen) {
    const progress: Setting['progress'] = (text) => console.error(`${benchmark.name}: ${text}`);
    const syncs = benchmark.isDurable ? [await syncsPerSecond()] : [];
    const results = await benchmark.run({ ...setting, progress });
    if (benchmark.isDurable) syncs.push(await syncsPerSecond());
    finished.push({ benchmark, ...results, syncs });
    console.log(section(finished.at(-1)!));
  }
  console.log(machine.join('\n'));
  const figures = finished.flatMap((one) => one.figures);
  if (check && figures.some((figure) => isMet(figure) === false)) process.exitCode = 1;
  if (!write) return;
  const date = new Date().toISOString().slice(0, 10);
  const path = fileURLToPath(new URL('../BENCHMARKS.md', import.meta.url));
  writeFileSync(path, page(finished, { machine, date, runs: setting.runs }));
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
  if (command.chosen.some(({ usesWrk }) => usesWrk)) await ensurePrograms([wrk], 'The benchmarks');
  await measure(command);
  // Connections that are kept alive would delay the end of the process.
  process.exit();
}
