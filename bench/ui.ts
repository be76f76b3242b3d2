/** The web interface with a large cluster that changes: the waits of a reader, and its cost. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { type RunningAgent, startAgent } from './agent.ts';
import type { Benchmark, Figure, Results, Setting } from './benchmark.ts';
import { drained, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes, sendAll } from './load.ts';
import { report } from './million.ts';
import { connectionsOfOthers, usedMs } from './processes.ts';
import { percentile } from './statistics.ts';
import { ask, type Target } from './target.ts';
import { figure, longTaskFigures, slopeOf } from './ui-figures.ts';
import { eventsOf, logsOf } from './ui-floods.ts';
import { startBrowser, Tab, withBusyNeighbours, withYieldingBrowser } from './ui-tab.ts';

const {
  nodes,
  jobs,
  count,
  registrationsPerSecond,
  paints,
  probes,
  tabs,
  tabTurns,
  tabSlices,
  watchSeconds,
} = limits.ui;

export const ui: Benchmark = {
  name: 'ui',
  title: `The web interface with ${jobs.toLocaleString('en')} jobs and ${(jobs * count).toLocaleString('en')} allocations on ${nodes.toLocaleString('en')} nodes`,
  baseline: 'none',
  takesGiven: false,
  async run(setting) {
    const agent = await startAgent({ dataDirectory: undefined });
    const browser = await startBrowser();
    try {
      const fleet = await fill(setting, agent.target);
      const figures = setting.floodsOnly ? [] : await measure(setting, agent, browser);
      figures.push(...(await floods(setting, agent.target, browser)));
      fleet.leave();
      return { figures, notes } satisfies Results;
    } finally {
      await browser.close();
      await agent.kill();
    }
  },
};

const notes = [
  `A headless Chromium on the same machine shows the pages, ${registrationsPerSecond} registrations a second of jobs with ` +
    `${count} allocations change about ten rows each, and the nodes exist on paper only. A paint is measured from the ` +
    'navigation to the frame after the first rows, with the files of the interface in the cache of the browser from the second ' +
    'on. A change is measured from before its request to the frame that shows it. The heap is read after a collection, and its growth is the slope ' +
    'of a line through all readings.',
];

const jobOf = (id: string, priority: number) => {
  const { Job } = smallJob(id, { count, datacenter: paperDatacenter });
  const [group] = Job.TaskGroups;
  return {
    Job: { ...Job, Priority: priority, TaskGroups: [{ ...group, Update: { MaxParallel: 0 } }] },
  };
};

const jobId = (number: number): string => `ui-${number}`;
const priorityDefault = 50;
/** A prime number, so that each job has another one the next time. */
const priorities = 37;

async function fill(setting: Setting, target: Target) {
  setting.progress(`${nodes} nodes join`);
  const jobsEach = Math.ceil(((jobs * count) / nodes) * 1.5);
  const fleet = await joinPaperFleet(target, { nodes, jobsEach });
  if (setting.floodsOnly) return fleet;
  setting.progress(`${jobs} jobs are registered`);
  await sendAll(target, jobs, (number) =>
    requestBytes(target, 'POST', '/v1/jobs', JSON.stringify(jobOf(jobId(number), priorityDefault))),
  );
  await drained(target);
  setting.progress('the nodes report');
  await report(target, fleet);
  return fleet;
}

/** Registers jobs again with another priority, at a steady pace, until it is ended. */
function change(target: Target): () => Promise<void> {
  let number = 0;
  const open = new Set<Promise<unknown>>();
  const timer = setInterval(() => {
    number += 1;
    const job = jobOf(jobId(number % jobs), priorityDefault + 1 + (number % priorities));
    const sent = ask(target, 'POST', '/v1/jobs', job).finally(() => open.delete(sent));
    open.add(sent);
  }, 1000 / registrationsPerSecond);
  return async () => {
    clearInterval(timer);
    await Promise.all(open);
  };
}

async function measure(setting: Setting, agent: RunningAgent, browser: Browser): Promise<Figure[]> {
  const { target } = agent;
  const end = change(target);
  try {
    const tab = await Tab.open(browser, target);
    const painted = await paintsOf(setting, tab);
    const changed = await changesOf(setting, target, tab);
    const watched = await watch(setting, tab);
    const heap = await heapOf(setting, tab);
    await tab.show('jobs');
    await pause(limits.ui.settledMs);
    const connections = connectionsOfOthers(target.port, [process.pid, agent.pid]);
    await tab.close();
    return [
      ...painted,
      ...changed,
      ...watched,
      ...heap,
      figure('connections of a tab, two seconds after its load', '', connections, 2),
      ...(await tabsOf(setting, agent)),
    ];
  } finally {
    await end();
  }
}

/**
 * The cost of many tabs for the server: what it uses with them, less what it uses just before and after, in several turns,
 * as the changes alone cost more or less from minute to minute. The tabs yield to the server and to the changes, since
 * readers have machines of their own: they would take both processors, and the changes would become fewer. The same work
 * takes another processor time beside idle processors, so without the tabs neighbours keep them busy.
 */
async function tabsOf(setting: Setting, { pid, target }: RunningAgent): Promise<Figure[]> {
  setting.progress(`processor time with and without ${tabs} tabs, ${tabTurns} times`);
  const quiet = await shareOf(pid);
  const alone = [await withBusyNeighbours(() => shareOf(pid))];
  const costs: number[] = [];
  for (let turn = 0; turn < tabTurns; turn++) {
    const during = await withYieldingBrowser(async (browser) => {
      // One after another: a token has few sign-in links at a time.
      for (let opened = 0; opened < tabs; opened++) {
        const tab = await Tab.open(browser, target);
        await tab.show('jobs');
      }
      await pause(limits.ui.tabsSettledMs);
      return shareOf(pid);
    });
    alone.push(await withBusyNeighbours(() => shareOf(pid)));
    costs.push(during - (alone.at(-1)! + alone.at(-2)!) / 2);
    const [cost, without] = [costs.at(-1)!, during - costs.at(-1)!].map((share) =>
      share.toFixed(2),
    );
    setting.progress(`${cost} % of a core for the tabs, ${without} % without them`);
  }
  return [
    figure(
      `processor time of the server for ${tabs} tabs`,
      '% of a core',
      percentile(costs, 50),
      5,
    ),
    figure('its processor time for the changes alone', '% of a core', percentile(alone, 50)),
    figure('the same without busy neighbours', '% of a core', quiet),
  ];
}

/** Pages with more than anybody could read, without the other changes. */
async function floods(setting: Setting, target: Target, browser: Browser): Promise<Figure[]> {
  const tab = await Tab.open(browser, target);
  const figures = [
    ...(await eventsOf(setting, target, tab)),
    ...(await logsOf(setting, target, tab)),
  ];
  await tab.close();
  return figures;
}

const lists = [
  ['jobs', 'jobs'],
  ['allocations', 'allocations'],
  ['nodes', 'nodes'],
  ['topology?view=table', 'nodes in the topology'],
  ['access/tokens', 'tokens'],
] as const;

async function paintsOf(setting: Setting, tab: Tab): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [path, title] of lists) {
    setting.progress(`paints of the list of ${title}`);
    const took: number[] = [];
    for (let run = 0; run < paints; run++) took.push(await tab.show(path));
    figures.push(
      figure(`first rows of the list of ${title}`, 'ms', percentile(took, 50), 1000),
      figure('the slowest of them', 'ms', Math.max(...took)),
    );
  }
  return figures;
}

async function changesOf(setting: Setting, target: Target, tab: Tab): Promise<Figure[]> {
  setting.progress('changes on the screen');
  const probe = jobId(jobs);
  await ask(target, 'POST', '/v1/jobs', jobOf(probe, priorityDefault));
  await tab.show(`jobs?filter=${encodeURIComponent(`ID == "${probe}"`)}`);
  const took: number[] = [];
  // No other column of the list has such a number.
  for (let priority = 100 - probes; priority < 100; priority++) {
    const seen = tab.shows(String(priority));
    const sentMs = Date.now();
    await ask(target, 'POST', '/v1/jobs', jobOf(probe, priority));
    took.push((await seen) - sentMs);
  }
  return [
    figure('a change, from its request to the screen', 'ms', percentile(took, 50), 300),
    figure('the slowest of them', 'ms', Math.max(...took)),
  ];
}

async function watch(setting: Setting, tab: Tab): Promise<Figure[]> {
  await tab.show('jobs');
  await tab.forgetTasks();
  setting.progress(`the list of jobs for ${watchSeconds} s`);
  await pause(watchSeconds * 1000);
  return longTaskFigures('', await tab.longTasks(), watchSeconds);
}

/** The heap of the list of jobs, which changes all the time. */
async function heapOf(setting: Setting, tab: Tab): Promise<Figure[]> {
  const { heapSeconds, heapJudgedSeconds, heapLooks, heapWarmUpMs } = limits.ui;
  const { restSeconds: seconds = heapSeconds } = setting;
  await tab.show('jobs');
  setting.progress(`the heap of the list of jobs for ${seconds} s`);
  await pause(heapWarmUpMs);
  const looks: [hours: number, megabytes: number][] = [];
  for (const beganMs = performance.now(); looks.length <= heapLooks; ) {
    looks.push([(performance.now() - beganMs) / 3_600_000, await tab.heapMb()]);
    await pause((seconds * 1000) / heapLooks);
  }
  const greatest = Math.max(...looks.map(([, megabytes]) => megabytes));
  const slope = slopeOf(looks);
  // A whole hour is not to be lost if a later part fails.
  setting.progress(
    `at most ${greatest.toFixed(1)} MB of heap, ${slope.toFixed(2)} MB more an hour`,
  );
  return [
    figure('heap of the page, at its greatest', 'MB', greatest, 150),
    figure('its growth, over an hour', 'MB', slope, seconds < heapJudgedSeconds ? undefined : 5),
  ];
}

/**
 * The processor time of the server in percent of a core: the median of several slices, as a snapshot that the server writes
 * now and then takes more than the tabs.
 */
async function shareOf(pid: number): Promise<number> {
  await pause(limits.ui.settledMs);
  const shares: number[] = [];
  while (shares.length < tabSlices) {
    const [startMs, usedBeforeMs] = [performance.now(), usedMs(pid)];
    await pause(limits.ui.tabSliceMs);
    shares.push((100 * (usedMs(pid) - usedBeforeMs)) / (performance.now() - startMs));
  }
  return percentile(shares, 50);
}
