import { WebSocket } from 'ws';
import { onTarget } from './agent.ts';
import { withBaseline } from './baseline.ts';
import {
  alternate,
  type Benchmark,
  type Results,
  type Setting,
  tookFigures,
  until,
} from './benchmark.ts';
import { jobPath, purge, readyNode, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { ask, authorityOf, call, type Target } from './target.ts';

export const exec: Benchmark = {
  name: 'exec',
  title: 'A session in a task: open it, run `true`, exit code back, `raw_exec`',
  baseline: 'bare `node:http` that starts a process and answers once it has started',
  takesGiven: true,
  run: onTarget(measure),
};

async function measure(setting: Setting, target: Target): Promise<Results> {
  await readyNode(target);
  const id = `bench-exec-${Date.now().toString(36)}`;
  await call(target, 'POST', '/v1/jobs', smallJob(id, { count: 1 }));
  const allocation = await until('that the task runs', async () => {
    const path = `${jobPath(id)}/allocations`;
    const { value } = await call<readonly AllocationFacts[]>(target, 'GET', path);
    return value.find(({ ClientStatus }) => ClientStatus === 'running')?.ID;
  });
  const ours = () => sessions(target, allocation);
  const empty = { headers: {}, body: '{}' };
  const results = await withBaseline(empty, async (baseline) => {
    setting.progress('warm-up');
    await ours();
    return alternate(setting, ours, () => processes(baseline.target));
  });
  await call(target, 'DELETE', jobPath(id));
  await purge(target, id);
  return {
    figures: tookFigures('round trip', results, 20),
    notes: [
      `${limits.execSessions} sessions in each run, one after another, each a WebSocket of its own, ` +
        'without a terminal. From the upgrade to the message with the exit code: client, server, ' +
        'node, supervisor, process, and back.',
    ],
  };
}

interface AllocationFacts {
  readonly ID: string;
  readonly ClientStatus: string;
}

async function sessions(target: Target, allocation: string): Promise<number[]> {
  const query = new URLSearchParams({ command: '["/bin/true"]' });
  const url = `ws://${authorityOf(target)}/v1/client/allocation/${allocation}/exec?${query}`;
  const tookMs: number[] = [];
  for (let count = 0; count < limits.execSessions; count++) {
    const startMs = performance.now();
    await oneSession(url, target.token);
    tookMs.push(performance.now() - startMs);
  }
  return tookMs;
}

function oneSession(url: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      headers: { 'x-registry-token': token },
      perMessageDeflate: false,
    });
    socket.on('message', (text) => {
      if (JSON.parse(String(text)).exited) resolve();
    });
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`closed with ${code}: ${reason}`)));
  });
}

async function processes(target: Target): Promise<number[]> {
  const tookMs: number[] = [];
  for (let count = 0; count < limits.execSessions; count++) {
    const startMs = performance.now();
    await ask(target, 'POST', '/', { command: '/bin/true', args: [] });
    tookMs.push(performance.now() - startMs);
  }
  return tookMs;
}
