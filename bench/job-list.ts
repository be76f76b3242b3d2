/** The cost of listing many jobs: the first page, and all of them. */
import { withAgent } from './agent.ts';
import { withBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Figure, type Results, type Setting } from './benchmark.ts';
import { drained, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { drive, requestBytes, series } from './load.ts';
import { percentile } from './statistics.ts';
import { ask, type Target } from './target.ts';

const { jobs, perPage, repeats } = limits.jobList;

export const jobList: Benchmark = {
  name: 'job-list',
  title: `GET /v1/jobs with ${jobs} jobs, one request after another`,
  baseline: 'bare `node:http` that answers with the same bytes of the page',
  takesGiven: false,
  run: (setting) => withAgent(({ target }) => measure(setting, target)),
};

async function measure(setting: Setting, target: Target): Promise<Results> {
  setting.progress(`registering ${jobs} jobs`);
  await drive(
    target,
    series(jobs, (number) => {
      const job = smallJob(`bench-list-${number}`, { count: 0 });
      return requestBytes(target, 'POST', '/v1/jobs', JSON.stringify(job));
    }),
  );
  await drained(target);
  const page = await listed(target, `?per_page=${perPage}`);
  const all = await listed(target, '');
  const figures = [
    await onePage(setting, target, page),
    await everything(setting, target, all.length),
  ];
  return {
    figures,
    notes: [
      `Every job has one group of one task and no instances. The page is ${page.length} bytes of ` +
        `JSON, the whole list ${all.length}, which is made and sent part by part. A run is ` +
        `${repeats} lists over one connection, of which the median counts, from sending the ` +
        'request to the last byte.',
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

/** The median of one run. */
async function run(target: Target, query: string): Promise<number> {
  const tookMs: number[] = [];
  for (let number = 0; number < repeats; number++) {
    const startMs = performance.now();
    await ask(target, 'GET', listPath(query));
    tookMs.push(performance.now() - startMs);
  }
  return percentile(tookMs, 50);
}

async function onePage(setting: Setting, target: Target, body: Buffer): Promise<Figure> {
  const query = `?per_page=${perPage}`;
  const results = await withBaseline({ headers: {}, body: body.toString() }, (baseline) => {
    setting.progress(`the first ${perPage}`);
    return alternate(
      setting,
      () => run(target, query),
      () => run(baseline.target, query),
    );
  });
  return {
    name: `the first ${perPage}`,
    unit: 'ms',
    ...results,
    target: { of: 'median', is: 'at most', value: 10 },
  };
}

/** It has no baseline, because the answer is too long for the baseline's command line. */
async function everything(setting: Setting, target: Target, bytes: number): Promise<Figure> {
  const ours: number[] = [];
  for (let number = 1; number <= setting.runs; number++) {
    setting.progress(`all ${bytes} bytes, run ${number} of ${setting.runs}`);
    ours.push(await run(target, ''));
  }
  return {
    name: `all ${jobs}`,
    unit: 'ms',
    ours,
    target: { of: 'median', is: 'at most', value: 300 },
  };
}
