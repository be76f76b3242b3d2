/** The pages of events and of logs while more comes than anybody could read. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from './agent.ts';
import { type Figure, type Setting, until } from './benchmark.ts';
import { jobPath, paperDatacenter, purge, readyNode, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { ask, call, type Target } from './target.ts';
import { figure, longTaskFigures } from './ui-figures.ts';
import type { Tab } from './ui-tab.ts';

const { eventFlood, logFlood, answerMs } = limits.ui;

/** Jobs with many allocations are registered again, so that each of these changes. */
export async function eventsOf(setting: Setting, target: Target, tab: Tab): Promise<Figure[]> {
  const { perSecond, count, seconds } = eventFlood;
  await tab.visit('events');
  await tab.says('Waiting for events', 'events a second');
  await pause(limits.ui.settledMs);
  await tab.forgetTasks();
  setting.progress(`${perSecond} events a second for ${seconds} s`);
  const jobs = Math.ceil(perSecond / count);
  const open = new Set<Promise<unknown>>();
  const beganMs = performance.now();
  let number = 0;
  const timer = setInterval(() => {
    number += 1;
    const { Job } = smallJob(`events-${number % jobs}`, { count, datacenter: paperDatacenter });
    const [group] = Job.TaskGroups;
    const Priority = 1 + (number % 99);
    const job = { ...Job, Priority, TaskGroups: [{ ...group, Update: { MaxParallel: 0 } }] };
    const sent = ask(target, 'POST', '/v1/jobs', { Job: job }).finally(() => open.delete(sent));
    open.add(sent);
  }, 1000 / jobs);
  await pause(seconds * 1000);
  clearInterval(timer);
  await Promise.all(open);
  const took = (performance.now() - beganMs) / 1000;
  const tasks = await tab.longTasks();
  const { received = 0, ...parts } = await tab.counts();
  const counted = Object.values(parts).reduce((sum, part) => sum + part, 0);
  if (received !== counted) throw new Error(`${received} events were received, ${counted} counted`);
  for (let job = 0; job < jobs; job++) await purge(target, `events-${job}`);
  return [
    figure('events: received by the page', '/s', received / took),
    ...longTaskFigures('events: ', tasks, seconds),
  ];
}

/** A task prints numbered lines at a steady pace while a page follows its log. */
export async function logsOf(setting: Setting, target: Target, tab: Tab): Promise<Figure[]> {
  const { megabytesPerSecond, seconds } = logFlood;
  await readyNode(target);
  const folder = temporaryFolder();
  try {
    const [go, done] = ['go', 'done'].map((name) => join(folder.path, name)) as [string, string];
    const id = await startPrinter(target, [go, done, `${megabytesPerSecond}`, `${seconds}`]);
    await tab.visit(`allocations/${id}?tab=logs`);
    await tab.says('Following.');
    await tab.forgetTasks();
    setting.progress(`a log of ${megabytesPerSecond} MB/s for ${seconds} s`);
    writeFileSync(go, '');
    const end = tab.says('the end of the flood', '', seconds * 1000 + answerMs);
    const printed = await until('the end of the flood', () => {
      const text = existsSync(done) ? readFileSync(done, 'utf8') : '';
      return Promise.resolve(text.endsWith('}') ? (JSON.parse(text) as Printed) : undefined);
    });
    const lateMs = (await end) - printed.endedAtMs;
    const tasks = await tab.longTasks();
    const skipped = await tab.text(/([\d.,]+ [KMG]iB) skipped$/);
    const isFound = await searched(tab, printed.lines - 1000);
    await purge(target, 'printer');
    return [
      {
        ...figure('logs: the task prints', 'MB/s', printed.bytes / 1e3 / printed.tookMs),
        target: { of: 'median', is: 'at least', value: megabytesPerSecond * 0.98 },
      },
      figure('logs: from the last line to the screen', 'ms', lateMs),
      figure('logs: skipped, as the page says', 'MB', bytesOf(skipped) / 1e6),
      ...longTaskFigures('logs: ', tasks, seconds),
      { ...figure('logs: lines that the search finds', '', isFound ? 1 : 0), target: exactlyOne },
    ];
  } finally {
    await folder.remove();
  }
}

const exactlyOne = { of: 'median', is: 'at least', value: 1 } as const;

/** Whether the search of the whole log finds the line. */
async function searched(tab: Tab, line: number): Promise<boolean> {
  await tab.fill('Search the lines that are held', `line ${line} of`);
  await tab.press('Search the whole log');
  return (await tab.says(/^1\s+line in [\d.]+ MiB,\s+[\d,]+ lines(?! so far)/)) > 0;
}

const units = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;

function bytesOf(text: string): number {
  const [, number = '0', unit = 'KiB'] = /([\d.,]+) ([KMG]iB)/.exec(text) ?? [];
  return Number(number.replaceAll(',', '')) * units[unit as keyof typeof units];
}

interface Printed {
  readonly bytes: number;
  readonly lines: number;
  readonly tookMs: number;
  readonly endedAtMs: number;
}

/** Prints lines of 100 bytes at a steady pace once the file `go` is there, and tells in the file `done` how it went. */
const printer = `
const { existsSync, renameSync, writeFileSync, writeSync } = require('fs');
const [, go, done, megabytes, seconds] = process.argv;
const perMs = Number(megabytes) * 10;
const print = (text) => {
  for (let bytes = Buffer.from(text); bytes.length > 0; ) {
    try { bytes = bytes.subarray(writeSync(1, bytes)); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
  }
};
const wait = setInterval(() => {
  if (!existsSync(go)) return;
  clearInterval(wait);
  const began = performance.now();
  const total = perMs * 1000 * Number(seconds);
  let lines = 0;
  const step = setInterval(() => {
    const due = Math.min(total, Math.floor((performance.now() - began) * perMs));
    let text = '';
    for (; lines < due; lines++) text += ('line ' + lines + ' of the flood ').padEnd(99, '.') + '\\n';
    print(text);
    if (lines < total) return;
    clearInterval(step);
    print('the end of the flood\\n');
    const told = { bytes: lines * 100, lines, tookMs: performance.now() - began, endedAtMs: Date.now() };
    writeFileSync(done + '.part', JSON.stringify(told));
    renameSync(done + '.part', done);
    setInterval(() => {}, 1e6);
  }, 20);
}, 50);
`;

/** Resolves with the id of its allocation. */
async function startPrinter(target: Target, args: readonly string[]): Promise<string> {
  const { Job } = smallJob('printer', {
    count: 1,
    command: process.execPath,
    arguments: ['-e', printer, ...args],
    datacenter: 'dc1',
  });
  await call(target, 'POST', '/v1/jobs', { Job });
  type Allocations = readonly { readonly ID: string; readonly ClientStatus: string }[];
  return until('that the task runs', async () => {
    const { value } = await call<Allocations>(target, 'GET', `${jobPath('printer')}/allocations`);
    return value.find(({ ClientStatus }) => ClientStatus === 'running')?.ID;
  });
}
