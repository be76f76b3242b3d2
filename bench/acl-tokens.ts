/** A server with a hundred thousand tokens: lists, memory, and a change that affects all of them. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Question, Said } from './acl-agent.ts';
import { temporaryFolder } from './agent.ts';
import { agentFlags } from './agent-flags.ts';
import type { Benchmark, Figure, Results, Setting } from './benchmark.ts';
import { limits } from './limits.ts';
import { requestBytes, sendAll } from './load.ts';
import { type Changes, changeFigures, changeNote, changesOf } from './policy-change.ts';
import { quiet } from './processes.ts';
import { ask, call, type Target, targetOf } from './target.ts';

const count = limits.tokens;
const teams = 100;
/** Filters that match a single token and a hundredth of all tokens. */
const filters = {
  one: `Description == "token ${count - 1} of team ${teams - 1}"`,
  some: `Description matches "of team 42$"`,
};

export const aclTokens: Benchmark = {
  name: 'acl-tokens',
  title: `A server with ${count.toLocaleString('en')} tokens`,
  baseline: 'none; of memory the same server before there are any',
  takesGiven: false,
  isDurable: true,
  async run(setting) {
    const folder = temporaryFolder();
    try {
      const server = await start(join(folder.path, 'data'));
      try {
        return await measure(setting, server);
      } finally {
        server.end();
      }
    } finally {
      await folder.remove();
    }
  },
};

interface Server {
  readonly target: Target;
  readonly pid: number;
  ask(question: Question): Promise<number>;
  end(): void;
}

async function start(dataDirectory: string): Promise<Server> {
  const token = randomUUID();
  const program = fileURLToPath(new URL('./acl-agent.ts', import.meta.url));
  const child = fork(program, [dataDirectory, token], {
    execArgv: [...agentFlags(), '--disable-warning=ExperimentalWarning', '--expose-gc'],
  });
  const { value: address } = await said(child, 'ready');
  return {
    target: targetOf(String(address), token),
    pid: child.pid!,
    async ask(question) {
      child.send(question);
      return Number((await said(child, question)).value);
    },
    end: () => void child.kill('SIGKILL'),
  };
}

/** Rejects if the agent does not answer in time. */
async function said(child: ChildProcess, question: Said['question']): Promise<Said> {
  const signal = AbortSignal.timeout(limits.answerMs);
  const [answer] = (await once(child, 'message', { signal })) as [Said];
  if (answer.question !== question) throw new Error(`${question} was answered otherwise`);
  return answer;
}

interface Policy {
  readonly ID: string;
}

interface Token {
  readonly AccessorID: string;
  readonly SecretID: string;
}

const rules = (access: string) => `
  namespace "default" { policy = "read" }
  service_prefix "web-" { policy = "${access}" }
`;

async function measure(setting: Setting, server: Server): Promise<Results> {
  const { target } = server;
  const body = { Name: 'of-all', Rules: rules('read') };
  const { value: policy } = await call<Policy>(target, 'PUT', '/v1/acl/policy', body);
  const { value: own } = await call<Token>(target, 'PUT', '/v1/acl/token', linked(policy, 'own'));
  const emptyBytes = await server.ask('heap');
  setting.progress(`making ${count} tokens`);
  await sendAll(target, count, (number) => {
    const text = `token ${number} of team ${number % teams}`;
    return requestBytes(target, 'PUT', '/v1/acl/token', JSON.stringify(linked(policy, text)));
  });
  const eachBytes = ((await server.ask('heap')) - emptyBytes) / count;
  // The snapshot of the log of all these writes is under way.
  await quiet(server.pid);
  const reader = { ...target, token: own.SecretID };
  const runs: Run[] = [];
  for (let run = 0; run <= setting.runs; run++) {
    setting.progress(run === 0 ? 'warm-up' : `run ${run} of ${setting.runs}`);
    const measured = await oneRun(server, policy, reader);
    if (run > 0) runs.push(measured);
  }
  return resultsOf(runs, eachBytes);
}

const linked = ({ ID }: Policy, Description: string) => ({ Description, Policies: [{ ID }] });

interface Timed {
  readonly ms: number;
  /** Longest time for which the server's loop was held meanwhile. */
  readonly heldMs: number;
}

interface Run {
  readonly one: Timed;
  readonly some: Timed;
  readonly whole: Timed;
  readonly changes: Changes;
}

async function oneRun(server: Server, policy: Policy, reader: Target): Promise<Run> {
  const { target } = server;
  const timed = async (work: () => Promise<unknown>): Promise<Timed> => {
    await server.ask('watch');
    const startMs = performance.now();
    await work();
    const ms = performance.now() - startMs;
    return { ms, heldMs: await server.ask('longest') };
  };
  const list = (filter: string, expected: number) => async () => {
    const path = `/v1/acl/tokens?filter=${encodeURIComponent(filter)}`;
    const { length } = (await call<readonly Token[]>(target, 'GET', path)).value;
    if (length !== expected) throw new Error(`${path} gave ${length} tokens, not ${expected}`);
  };
  const one = await timed(list(filters.one, 1));
  const some = await timed(list(filters.some, count / teams));
  let whole: Buffer | undefined;
  const wholeTimed = await timed(async () => {
    whole = (await ask(target, 'GET', '/v1/acl/tokens')).body;
  });
  checkWhole(whole!);
  const changes = await changesOf(server, {
    between: list(filters.some, count / teams),
    change(number) {
      const body = { Name: 'of-all', Rules: rules(number % 2 === 0 ? 'write' : 'read') };
      return call(target, 'PUT', `/v1/acl/policy/${policy.ID}`, body);
    },
    firstRead: () => call(reader, 'GET', '/v1/jobs'),
  });
  return { one, some, whole: wholeTimed, changes };
}

/** @throws Error unless the list has all tokens: the created ones, the first two and the reader's. */
function checkWhole(body: Buffer): void {
  let found = 0;
  const word = '"AccessorID":';
  for (let at = body.indexOf(word); at >= 0; at = body.indexOf(word, at + word.length)) found++;
  if (found !== count + 3) throw new Error(`the whole list holds ${found} tokens`);
}

function resultsOf(runs: readonly Run[], eachBytes: number): Results {
  const of = (name: string, figure: (run: Run) => number, most?: number): Figure => ({
    name,
    unit: 'ms',
    ours: runs.map(figure),
    ...(most !== undefined && { target: { of: 'median', is: 'at most', value: most } as const }),
  });
  return {
    figures: [
      {
        name: 'heap for each token',
        unit: 'bytes',
        ours: [eachBytes],
        target: { of: 'median', is: 'at most', value: 2048 },
      },
      of('list, filter that one passes', ({ one }) => one.ms, 300),
      of(`list, filter that ${count / teams} pass`, ({ some }) => some.ms, 300),
      of('list, filter: loop held', ({ some }) => some.heldMs, heldMs),
      of('whole list, with secrets', ({ whole }) => whole.ms),
      of('whole list: loop held', ({ whole }) => whole.heldMs, heldMs),
      ...changeFigures(
        runs.map(({ changes }) => changes),
        { wholeMs: 10, heldMs },
      ),
    ],
    notes: [
      'Heap is the growth of what is left of it after a collection, from before the first of the ' +
        'tokens to when all are there, each with a description, a link and a secret.',
      'Lists and changes count from sending the request until the whole answer has come; a change ' +
        'is durable by then. “Loop held” is the longest time for which the server’s loop was held ' +
        'meanwhile, looked at every millisecond. It includes this work and garbage collection. It ' +
        'does not include the time in which the thread waited for a processor (`schedstat`): the ' +
        'load takes its share of the machine.',
      changeNote,
    ],
  };
}

/** Longest time that anything may hold the loop. Source: docs/behaviour/scheduling.md#the-scheduler. */
const heldMs = 10;
