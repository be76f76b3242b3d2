/** A control plane that has something of everything, and the address of each page in it. */
import { generateKeyPairSync } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { runAllocation } from '../support/allocation-page.ts';
import { sleeper, sleepingJob } from '../support/job-pages.ts';
import type { MadeToken, UiTests } from '../support/ui-tests.ts';

/** Where a page stands in this world. */
export interface Sample {
  /** Below `/ui/`. */
  readonly path: string;
  /** The keys of its tabs; the first one is the address without one. */
  readonly tabs?: readonly string[];
  /** Buttons in the head that act at once, without a question. */
  readonly acting?: readonly string[];
}

export interface World {
  readonly allocation: string;
  readonly node: string;
  readonly policy: string;
  readonly role: string;
  readonly token: string;
  readonly plan: string;
}

/** Names with everything that makes a page wide. */
const long = 'a-name-that-is-long-and-has-no-place-to-break';

/** @param text stands wherever a job, a task or a token may say anything */
export async function makeWorld(ui: UiTests, text = long): Promise<World> {
  const { agent } = ui;
  const started = runAllocation(agent, {
    id: 'shop',
    job: { Meta: { [text]: text }, UI: { Description: text, Links: [{ Label: text, URL: text }] } },
    tasks: [
      {
        name: 'serve',
        script: 'cd "$ROSTER_ALLOC_DIR/data"; >"$SAID"; echo "$SAID"; exec sleep 100000',
        more: {
          Env: { SAID: text },
          Meta: { [text]: text },
          Actions: [{ Name: 'say', Command: '/bin/echo', Args: [text] }],
        },
      },
    ],
    more: {
      Meta: { [text]: text },
      Scaling: { Min: 1, Max: 3, Policy: {} },
      Networks: [{ DynamicPorts: [{ Label: 'http' }] }],
      Services: [
        {
          Name: 'shop',
          PortLabel: 'http',
          Tags: [text, 'v2'],
          Meta: { [text]: text },
          Checks: [{ Name: text, Type: 'tcp', Interval: 1e9, Timeout: 1e9 }],
        },
      ],
    },
  });
  // Jobs and groups may have no control characters, jobs no space, groups no slash.
  const name = text.replace(/\p{Cc}|\//gu, '');
  const resources = { CPU: 20, MemoryMB: 900_000 };
  const parameters = { Payload: 'optional', MetaRequired: ['customer'] };
  const periodic = { Specs: ['0 6 * * *'], TimeZone: 'Europe/Berlin' };
  for (const job of [
    sleepingJob(
      'blocked',
      { Meta: { [text]: text } },
      {
        Constraints: [{ LTarget: '${attr.kernel.name}', RTarget: text, Operand: '!=' }],
        Tasks: [sleeper({ Resources: resources })],
      },
    ),
    sleepingJob('convert', { Type: 'batch', ParameterizedJob: parameters }),
    sleepingJob(long, { Type: 'batch', Periodic: periodic }),
    sleepingJob(`of-${name.replaceAll(' ', '/')}`, { Name: text }, { Name: name }),
  ]) {
    await agent.register(job);
  }
  await makeRecords(ui, text);
  const policy = await ui.made<{ ID: string }>('acl/policy', {
    Name: long,
    Description: text,
    Rules: 'namespace "default" {\n  policy = "read"\n}\n',
  });
  const role = await ui.made<{ ID: string }>('acl/role', {
    Name: 'readers',
    Description: text,
    Policies: [{ ID: policy.ID }],
  });
  const token = await ui.made('acl/token', { Description: text, Roles: [{ ID: role.ID }] });
  for (const job of ['shop', text]) {
    await ui.ask('DELETE', `job/${encodeURIComponent(job)}`, undefined, token.SecretID);
  }
  const allocation = await started;
  await ui.made('job/shop/tag/first', { Version: 0, Description: text });
  const plan = await ui.answer<{ ID: string }>('POST', 'plan', {
    Kind: 'job',
    Job: sleepingJob('planned', { Meta: { [text]: text } }),
  });
  const [node] = await ui.answer<readonly { readonly ID: string }[]>('GET', 'nodes');
  return {
    allocation,
    node: node!.ID,
    policy: policy.ID,
    role: role.ID,
    token: (token as MadeToken).AccessorID,
    plan: plan.ID,
  };
}

/** Configuration, a peer, an auth method and its rule, a variable, a namespace. */
async function makeRecords(ui: UiTests, text: string): Promise<void> {
  for (const entry of [
    { Kind: 'service-defaults', Name: 'shop', Protocol: 'http', Meta: { owner: text } },
    { Kind: 'service-defaults', Name: 'shop-next', Protocol: 'http' },
    {
      Kind: 'service-splitter',
      Name: 'shop',
      Meta: { owner: text },
      Splits: [{ Weight: 90 }, { Weight: 10, Service: 'shop-next' }],
    },
    {
      Kind: 'service-intentions',
      Name: 'shop',
      Sources: [
        { Name: 'web', Action: 'allow', Description: text },
        { Name: '*', Action: 'deny' },
      ],
    },
  ]) {
    await ui.answer('PUT', 'config', entry);
  }
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await ui.answer('PUT', 'acl/auth-method', {
    Name: 'ci',
    DisplayName: text,
    Description: text,
    Type: 'jwt',
    Config: {
      JWTValidationPubKeys: [publicKey.export({ type: 'spki', format: 'pem' }).toString()],
      ClaimMappings: { project: 'team' },
    },
  });
  await ui.answer('PUT', 'acl/binding-rule', {
    AuthMethod: 'ci',
    BindType: 'service',
    BindName: 'web',
    Selector: 'value.team == "web"',
    Description: text,
  });
  await ui.answer('POST', 'peering/token', { PeerName: 'west' });
  await ui.answer('PUT', 'var/shop/database', { Items: { password: text } });
  await ui.answer('PUT', 'namespace/team', {
    Name: 'team',
    Description: text,
    Meta: { [text]: text },
  });
}

const question = JSON.stringify([['node:write', 'one', 'default']]);
const jobTabs = [
  'overview',
  'allocations',
  'deployments',
  'versions',
  'evaluations',
  'definition',
  'scale',
];
const patternTabs = ['overview', 'launches', 'versions', 'definition'];

/** For the path of each route, the addresses to look at. A route without one fails the test. */
export const samplesOf: Readonly<Record<string, (world: World) => readonly Sample[]>> = {
  '/': () => [{ path: '' }],
  '/access/denied': ({ token }) => [
    { path: 'access/denied' },
    { path: `access/denied?accessor=${token}&ask=${encodeURIComponent(question)}` },
  ],
  '/access/methods': () => [{ path: 'access/methods' }],
  '/access/methods/:name': () => [{ path: 'access/methods/ci' }],
  '/access/policies': () => [{ path: 'access/policies' }],
  '/access/policies/:id': ({ policy }) => [{ path: `access/policies/${policy}` }],
  '/access/policies/:id/edit': ({ policy }) => [
    { path: `access/policies/${policy}/edit`, acting: ['Save'] },
  ],
  '/access/policies/new': () => [{ path: 'access/policies/new', acting: ['Create'] }],
  '/access/roles': () => [{ path: 'access/roles' }],
  '/access/roles/:id': ({ role }) => [{ path: `access/roles/${role}` }],
  '/access/rules': () => [{ path: 'access/rules' }],
  '/access/templates': () => [{ path: 'access/templates' }],
  '/access/tokens': () => [{ path: 'access/tokens' }],
  '/access/tokens/:id': ({ token }) => [{ path: `access/tokens/${token}` }],
  '/allocations': () => [{ path: 'allocations' }],
  '/allocations/:id': ({ allocation }) => [
    {
      path: `allocations/${allocation}`,
      tabs: ['overview', 'logs', 'files', 'terminal', 'why'],
    },
  ],
  '/chains/:service': () => [{ path: 'chains/shop', tabs: ['drawing', 'list', 'json'] }],
  '/configuration': () => [{ path: 'configuration', tabs: ['entries', 'kinds'] }],
  '/configuration/:kind/:name': () => [
    { path: 'configuration/service-splitter/shop', tabs: ['fields', 'json', 'edit'] },
  ],
  '/configuration/new/:kind': () => [{ path: 'configuration/new/service-router' }],
  '/events': () => [{ path: 'events' }],
  '/intentions': () => [{ path: 'intentions', tabs: ['matrix', 'list'] }],
  '/jobs': () => [{ path: 'jobs' }],
  '/jobs/:namespace/:id': () => [
    { path: 'jobs/default/shop', tabs: jobTabs },
    { path: 'jobs/default/blocked', tabs: jobTabs },
    { path: 'jobs/default/convert', tabs: patternTabs },
    { path: `jobs/default/${long}`, tabs: patternTabs },
  ],
  '/namespaces': () => [{ path: 'namespaces' }],
  '/nodes': () => [{ path: 'nodes' }],
  '/nodes/:id': ({ node }) => [
    { path: `nodes/${node}`, tabs: ['overview', 'allocations', 'attributes', 'events'] },
  ],
  '/partitions': () => [{ path: 'partitions' }],
  '/peerings': () => [{ path: 'peerings' }],
  '/peerings/:name': () => [{ path: 'peerings/west', tabs: ['overview', 'exported', 'imported'] }],
  '/plan': () => [
    { path: 'plan', acting: ['Format', 'Plan'] },
    { path: 'plan?job=default/shop', acting: ['Format', 'Plan'] },
  ],
  '/plans': () => [{ path: 'plans' }],
  '/plans/:id': ({ plan }) => [{ path: `plans/${plan}`, acting: ['Apply', 'Discard'] }],
  '/servers': () => [{ path: 'servers' }],
  '/services': () => [{ path: 'services' }],
  '/services/:name': () => [{ path: 'services/shop' }],
  '/settings': () => [{ path: 'settings' }],
  '/topology': () => [{ path: 'topology' }],
  '/variables': () => [{ path: 'variables' }],
  '/variables/item': () => [{ path: 'variables/item?path=shop/database' }],
};

export interface View extends Sample {
  readonly name: string;
  readonly route: string;
  readonly index: number;
  readonly tab: string | undefined;
}

/** The addresses need the world, which is made later: by then a view knows its place in the table. */
const nobody: World = { allocation: '', node: '', policy: '', role: '', token: '', plan: '' };

/** Every tab of every address. */
export const views: readonly View[] = Object.entries(samplesOf).flatMap(([route, samples]) =>
  samples(nobody).flatMap((sample, index) =>
    (sample.tabs ?? [undefined]).map((tab) => ({
      ...sample,
      route,
      index,
      tab,
      name: [route, index > 0 ? ` (${index + 1})` : '', tab === undefined ? '' : ` ${tab}`].join(
        '',
      ),
    })),
  ),
);

/** Goes there as a link does, so that the page is not loaded again. */
export async function goTo(page: Page, world: World, view: View): Promise<void> {
  const { route, index, tab, tabs = [] } = view;
  const { path } = samplesOf[route]!(world)[index]!;
  const query = tab === undefined || tab === tabs[0] ? '' : `?tab=${tab}`;
  await page.evaluate((address) => {
    // From another page, so that this one begins anew.
    for (const to of [address === 'settings' ? 'jobs' : 'settings', address]) {
      const link = document.createElement('a');
      link.href = to === '' ? './' : to;
      document.body.append(link);
      link.click();
      link.remove();
    }
  }, `${path}${query}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('main .loading').count()).toBe(0);
  if (tabs.length > 0) await expect.poll(() => page.getByRole('tab').count()).toBe(tabs.length);
}
