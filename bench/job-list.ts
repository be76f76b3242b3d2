/** The cost of listing many jobs: the first page, and all of them. */
import { withAgent } from './agent.ts';
import { withBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Figure, type Results, type Setting } from './benchmark.ts';
import { drained, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { requestBytes, sendAll } from './load.ts';
import { ask, type Target } from './target.ts';
import { type Load, load, loadFigures } from './wrk.ts';

const { jobs, perPage } = limits.jobList;

export const jobList: Benchmark = {
  name: 'job-list',
  title: `GET /v1/jobs with ${jobs} jobs, one request after another`,
  baseline: 'bare `node:http` that answers with the same bytes of the page',
  takesGiven: false,
  usesWrk: true,
  run: (setting) => withAgent(({ target }) => measure(setting, target)),
};

async function measure(setting: Setting, target: Target): Promise<Results> {
  setting.progress(`registering ${jobs} jobs`);
  await sendAll(target, jobs, (number) => {
    const job = smallJob(`bench-list-${number}`, { count: 0 });
    return requestBytes(target, 'POST', '/v1/jobs', JSON.stringify(job));
  });
  await drained(target);
  const page = await listed(target, `?per_page=${perPage}`);
  const all = await listed(target, '');
  return {
    figures: [...(await onePage(setting, target, page)), ...(await everything(setting, target))],
    notes: [
      `Every job has one group of one task and no instances. The page is ${page.length} bytes of ` +
        `JSON, the whole list ${all.length}, which is made and sent part by part. A run lists for ` +
        `${limits.loadSeconds} s over one connection; times are from sending the request to the last byte.`,
    ],
  };
}

const listPath = (query: string): string => `/v1/jobs${query}`;

/** The answer, which is checked for completeness. */
async function listed(target: Target, query: string): Promise<Buffer> {
  const { status, body } = await ask(target, 'GET', listPath(query));
  const expected = query === '' ? jobs : perPage;
  const { length } = JSON.parse(body.toString()) as readonly unknown[];
  if (status !== 200 || length !== expected) {
    throw new Error(`${length} jobs were listed with ${status} instead of ${expected}`);
  }
  return body;
}

const list = (target: Target, query: string): Promise<Load> =>
  load(target, requestBytes(target, 'GET', listPath(query)), { connections: 1 });

async function onePage(setting: Setting, target: Target, body: Buffer): Promise<Figure[]> {
  const query = `?per_page=${perPage}`;
  const results = await withBaseline({ headers: {}, body: body.toString() }, (baseline) => {
    setting.progress(`the first ${perPage}`);
    return alternate(
      setting,
      () => list(target, query),
      () => list(baseline.target, query),
    );
  });
  const goals = { p50Ms: { of: 'median', is: 'at most', value: 10 } } as const;
  return loadFigures(`the first ${perPage}`, results, goals);
}

/** It has no baseline, because the answer is too long for the baseline's command line. */
async function everything(setting: Setting, target: Target): Promise<Figure[]> {
  const ours: Load[] = [];
  for (let run = 1; run <= setting.runs; run++) {
    setting.progress(`all, run ${run} of ${setting.runs}`);
    ours.push(await list(target, ''));
  }
  return [
    {
      name: 'all, for each 1,000',
      unit: 'ms',
      ours: ours.map(({ p50Ms }) => (p50Ms / jobs) * 1000),
      target: { of: 'median', is: 'at most', value: 8 },
    },
    ...loadFigures(`all ${jobs.toLocaleString('en')}`, { ours }),
  ];
}
