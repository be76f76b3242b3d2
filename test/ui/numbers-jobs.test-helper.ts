/** The numbers of the list of jobs, and of the tabs of a job. */
import { countBy, isOver, type Row, type Truth, type View } from './numbers.test-helper.ts';
import type { Shown } from './numbers-shown.test-helper.ts';

/** `name: running/wanted` of each job of the namespace. */
async function jobsTold(of: Truth, namespace: string): Promise<string[]> {
  const stubs = await of.list(`jobs?namespace=${namespace}`);
  const told = stubs
    .filter(({ ParentID }) => ParentID === '')
    .map(async ({ ID, Namespace }) => {
      const job = await of.read(`job/${ID}?namespace=${Namespace}`);
      return `${ID}: ${await countsOf(of, job)}: ${job.Priority}: ${job.Version}`;
    });
  return (await Promise.all(told)).toSorted();
}

async function countsOf(of: Truth, job: Row): Promise<string> {
  const { ID, Namespace, Type } = job;
  if (job.Periodic !== null || job.ParameterizedJob !== null) {
    const children = await of.list(`jobs?namespace=${Namespace}&prefix=${ID}/`);
    return children.length === 0
      ? 'none'
      : `${children.length} ${children.length === 1 ? 'child' : 'children'}`;
  }
  // Allocations of earlier versions that have ended were replaced, or stopped.
  const now = (await of.allocationsOf(Namespace, ID)).filter(
    ({ ClientStatus, JobVersion }) => JobVersion === job.Version || !isOver(ClientStatus),
  );
  if (now.length === 0 && job.Stop) return 'none';
  const counts = countBy(now, (one) => one.ClientStatus);
  const wanted = job.TaskGroups.reduce((sum: number, { Count }: Row) => sum + Count, 0);
  const { running = 0, complete = 0, failed = 0, pending = 0 } = counts;
  if (Type === 'service' && !job.Stop) return `${running}/${wanted}`;
  const isDone = running === 0 && job.Status === 'dead';
  return `${isDone ? complete : running}/${running + complete + failed + pending}`;
}

/** The groups of a job: how many run, and the parts of the bar. */
const groupsShown = async (on: Shown) =>
  Promise.all(
    (await on.page.locator('ul.groups > li').all()).map(async (group) => {
      const numbers = await on.firstOf(group.locator('.numbers'));
      return { numbers, going: (await on.barIn(group)).filter((part) => / running$/.test(part)) };
    }),
  );
async function groupsTold(of: Truth, id: string) {
  const [job, summary] = await Promise.all([of.read(`job/${id}`), of.read(`job/${id}/summary`)]);
  const allocations = await of.allocationsOf('default', id);
  return job.TaskGroups.map(({ Name, Count }: Row) => {
    const own = allocations.filter(({ TaskGroup }) => TaskGroup === Name);
    const running = own.filter(({ ClientStatus }) => ClientStatus === 'running').length;
    const wanted = job.Stop ? 0 : Count;
    const isCounted = job.Type === 'service' && running <= wanted;
    const queued = summary.Summary[Name]?.Queued ?? 0;
    const has =
      job.Type === 'system'
        ? `${running} running`
        : isCounted
          ? `${running} of ${wanted} running`
          : `${running} running, ${wanted} wanted`;
    const waits = queued === 0 ? '' : ` ${queued} ${queued === 1 ? 'waits' : 'wait'} for a node`;
    return { numbers: `${has}${waits}`, going: running === 0 ? [] : [`${running} running`] };
  });
}

const ofJob = (id: string): View => ({
  name: `the groups of the job ${id}`,
  path: `jobs/default/${id}`,
  shown: groupsShown,
  told: (of) => groupsTold(of, id),
});

export const jobViews: readonly View[] = [
  {
    name: 'the list of jobs',
    path: 'jobs?namespace=default',
    shown: async (on) =>
      (await on.column('Jobs', 'Job', 'Allocations', 'Priority', 'Version')).toSorted(),
    told: (of) => jobsTold(of, 'default'),
  },
  {
    name: 'the list of jobs of a token that may read a namespace',
    path: 'jobs',
    isNarrow: true,
    shown: async (on) =>
      (await on.column('Jobs', 'Job', 'Allocations', 'Priority', 'Version')).toSorted(),
    told: (of) => jobsTold(of, '*'),
  },
  {
    name: 'the ages of jobs',
    path: 'jobs?namespace=default',
    shown: async (on) => {
      const times = on.page.getByRole('table', { name: 'Jobs' }).locator('time');
      const nowMs = Date.now();
      const all = await times.evaluateAll((found) =>
        found.map((one) => [one.getAttribute('datetime'), one.textContent] as const),
      );
      // In words, the seconds or minutes since then.
      const isRight = all.every(([instant, said]) => {
        const seconds = (nowMs - Date.parse(instant!)) / 1000;
        const [, count = '0', unit] = /^(\d+) (s|min) ago$/.exec(said ?? '') ?? [];
        return Math.abs(Number(count) * (unit === 'min' ? 60 : 1) - seconds) < 60;
      });
      return { instants: all.map(([instant]) => instant).toSorted(), isRight };
    },
    told: async (of) => ({
      instants: (await of.list('jobs?namespace=default'))
        .filter(({ ParentID }) => ParentID === '')
        .map(({ SubmitTime }) => new Date(Math.floor(SubmitTime / 1e6)).toISOString())
        .toSorted(),
      isRight: true,
    }),
  },
  ...['web', 'half', 'fails', 'waits', 'done', 'everywhere', 'huge', 'stopped'].map(ofJob),
  {
    name: 'the tabs of a job',
    path: 'jobs/default/half',
    shown: async (on) => ({ allocations: await on.tabCount('Allocations') }),
    told: async (of) => ({
      allocations: String((await of.allocationsOf('default', 'half')).length),
    }),
  },
  {
    name: 'the launches of a job',
    path: 'jobs/default/form?tab=launches',
    shown: async (on) => ({
      count: await on.tabCount('Launches'),
      foot: (await on.foot()).split(',')[0],
    }),
    told: async (of) => {
      const { length } = await of.list('jobs?prefix=form/');
      return { count: String(length), foot: `${length} rows` };
    },
  },
  {
    name: 'the scale of a job',
    path: 'jobs/default/half?tab=scale',
    shown: async (on) => ({
      pairs: await on.textsOf(on.page.locator('dl').first().locator('dt, dd')),
      changes: await on.textsOf(on.page.locator('table.plain tbody td:nth-child(2)')),
    }),
    told: async (of) => {
      const job = await of.read('job/half');
      const all = await of.allocationsOf('default', 'half');
      const now = all.filter((one) => !isOver(one.ClientStatus));
      const health = (wanted: boolean) =>
        String(now.filter(({ DeploymentStatus: one }) => one?.Healthy === wanted).length);
      const running = now.filter(({ ClientStatus }) => ClientStatus === 'running').length;
      const pairs = {
        Wanted: String(job.TaskGroups[0].Count),
        Placed: String(now.length),
        Running: String(running),
        Healthy: health(true),
        Unhealthy: health(false),
        Bounds: 'none: no scaling policy',
      };
      return { pairs: Object.entries(pairs).flat(), changes: ['3 → 4', '4 → 3'] };
    },
  },
  {
    name: 'the evaluations of a job',
    path: 'jobs/default/half?tab=evaluations',
    shown: async (on) => (await on.text('[role=tabpanel] .row .muted')).split(',')[0],
    told: async (of) => `${(await of.list('job/half/evaluations')).length} evaluations`,
  },
  {
    name: 'the deployments of a job with canaries',
    path: 'jobs/default/canaries?tab=deployments',
    shown: (on) => on.textsOf(on.page.locator('[role=tabpanel] .group .spread')),
    told: async (of) => {
      const found = await of.list('job/canaries/deployments');
      const all = found.toSorted((left, right) => right.CreateIndex - left.CreateIndex);
      return all.map(({ TaskGroups: { main } }: Row) =>
        main.DesiredCanaries > 0 && !main.Promoted
          ? `${main.HealthyAllocs} of ${main.DesiredCanaries} canaries healthy`
          : `${main.HealthyAllocs} of ${main.DesiredTotal} healthy`,
      );
    },
  },
];
