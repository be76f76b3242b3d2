import { aclTokenEndpoints } from '../../contract/acl-token.ts';
import { allocationEndpoints } from '../../contract/allocation.ts';
import { configEntryEndpoints } from '../../contract/config-entry.ts';
import { deploymentEndpoints } from '../../contract/deployment.ts';
import { evaluationEndpoints } from '../../contract/evaluation.ts';
import { jobEndpoints } from '../../contract/job.ts';
import { jobStatusesEndpoints } from '../../contract/job-statuses.ts';
import { namespaceEndpoints } from '../../contract/namespace.ts';
import { nodeEndpoints } from '../../contract/node.ts';
import { nodePoolEndpoints } from '../../contract/node-pool.ts';
import { serviceEndpoints } from '../../contract/service.ts';
import { variableEndpoints } from '../../contract/variable.ts';
import { rowCheckOf } from '../../contract/visible.ts';
import { isExpired } from '../../model/acl-token/acl-token.ts';
import type { Job } from '../../model/job/job.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import { type Permission, resourceAccess } from '../../model/permission/permission.ts';
import type { SearchContext } from '../../model/search/search.ts';
import { servicesIn } from '../../server/services/names.ts';
import * as tables from '../../state/tables.ts';
import type { ScanOptions, Snapshot, Stamps, TableDefinition } from '../../state/types.ts';
import type { Findable } from './found.ts';

/** The question of a search. */
export interface Asked {
  readonly snapshot: Snapshot;
  readonly namespace: string;
  readonly partition: string;
  readonly nowMs: number;
  /** The beginning of ids and names; `undefined`: a search for a part, which looks at every row. */
  readonly prefix: string | undefined;
}

/** Where findable things of some contexts come from. */
export interface Source {
  readonly contexts: readonly SearchContext[];
  /** Whether it is there without access control, too. */
  readonly isOfAccessControl?: true;
  /** The rows that may match; others cost time only. */
  readonly rows: (asked: Asked) => Iterable<unknown>;
  readonly of: (row: never, asked: Asked) => Iterable<Findable>;
}

const source = <R>(one: {
  readonly contexts: readonly SearchContext[];
  readonly isOfAccessControl?: true;
  readonly rows: (asked: Asked) => Iterable<R>;
  readonly of: (row: R, asked: Asked) => Iterable<Findable>;
}): Source => one as Source;

/** The permission to see a row in a list. */
function seenIn(list: Parameters<typeof rowCheckOf>[0]): (row: unknown) => Permission {
  const check = rowCheckOf(list)!;
  return check.permissionFor;
}

const listsJob = seenIn(jobEndpoints.list);
const readsJob = seenIn(jobStatusesEndpoints.statuses);
const seesAllocation = seenIn(allocationEndpoints.list);
const seesEvaluation = seenIn(evaluationEndpoints.list);
const seesDeployment = seenIn(deploymentEndpoints.list);
const seesNode = seenIn(nodeEndpoints.list);
const seesPool = seenIn(nodePoolEndpoints.list);
const seesNamespace = seenIn(namespaceEndpoints.list);
const seesVariable = seenIn(variableEndpoints.list);
const seesService = seenIn(serviceEndpoints.list);
const seesEntry = seenIn(configEntryEndpoints.list);
const seesAcl = seenIn(aclTokenEndpoints.list);

type Row = Stamps & { readonly Namespace: string };

/** Rows whose keys begin with the partition, the namespace and the name. */
function* named<R extends Stamps, I extends string>(
  definition: TableDefinition<R, I>,
  { snapshot, namespace, prefix }: Asked,
  partition: string = defaultPartition,
): Iterable<R> {
  const table = snapshot.table(definition);
  if (namespace !== everyNamespace) {
    yield* table.scan({ prefix: [partition, namespace], ...(prefix && { text: prefix }) });
  } else if (!prefix) {
    yield* table.scan({ prefix: [partition] });
  } else {
    for (const { Name } of snapshot.table(tables.namespaces).scan({ prefix: [partition] })) {
      yield* table.scan({ prefix: [partition, Name], text: prefix });
    }
  }
}

/** Rows with an index by their id. */
function* identified<R extends Row, I extends string>(
  definition: TableDefinition<R, I | 'id'>,
  { snapshot, namespace, prefix }: Asked,
): Iterable<R> {
  const isIn = (row: R) => namespace === everyNamespace || row.Namespace === namespace;
  const table = snapshot.table(definition);
  const range: ScanOptions = prefix === undefined ? {} : { text: prefix };
  const rows = prefix === undefined ? table.scan() : table.by('id').scan(range);
  for (const row of rows) if (isIn(row)) yield row;
}

/** Rows of few: all of the partition, or of its namespace. */
const placed = <R extends Stamps, I extends string>(
  definition: TableDefinition<R, I>,
  { snapshot, namespace, partition }: Asked,
): Iterable<R> =>
  snapshot
    .table(definition)
    .scan({ prefix: namespace === everyNamespace ? [partition] : [partition, namespace] });

/** Each name of a service once, however many instances it has. */
function* serviceNames({ snapshot, namespace, prefix }: Asked) {
  const all = snapshot.table(tables.namespaces).scan({ prefix: [defaultPartition] });
  const names = namespace === everyNamespace ? [...all].map(({ Name }) => Name) : [namespace];
  for (const name of names) yield* servicesIn(snapshot, name, prefix);
}

function* ofJob(job: Job): Iterable<Findable> {
  const scope = [job.Namespace, job.ID];
  const names = job.Name === job.ID ? [job.ID] : [job.ID, job.Name];
  yield { context: 'jobs', names, scope, permission: listsJob(job) };
  const permission = readsJob(job);
  for (const { Name, Tasks } of job.TaskGroups) {
    yield { context: 'groups', names: [Name], scope, permission };
    for (const task of Tasks) {
      yield { context: 'tasks', names: [task.Name], scope: [...scope, Name], permission };
    }
  }
}

const acl = <R extends Stamps & { readonly Namespace: string }, I extends string>(
  context: SearchContext,
  definition: TableDefinition<R, I>,
  textsOf: (row: R) => { readonly ids: readonly string[]; readonly names: readonly string[] },
  addressOf: (row: R) => string,
): Source =>
  source({
    contexts: [context],
    isOfAccessControl: true,
    rows: (asked) => placed(definition, asked),
    of: (row) => [
      {
        context,
        ...textsOf(row),
        scope: [row.Namespace, addressOf(row)],
        permission: seesAcl(row),
      },
    ],
  });

/** In the order in which a person looks for things. */
export const sources: readonly Source[] = [
  source({
    contexts: ['jobs', 'groups', 'tasks'],
    rows: (asked) => named(tables.jobs, asked),
    of: ofJob,
  }),
  source({
    contexts: ['services'],
    rows: serviceNames,
    of: (row) => [
      {
        context: 'services',
        names: [row.ServiceName],
        scope: [row.Namespace, row.ServiceName],
        permission: seesService(row),
      },
    ],
  }),
  source({
    contexts: ['nodes'],
    *rows({ snapshot, prefix }) {
      const table = snapshot.table(tables.nodes);
      if (prefix === undefined) return yield* table.scan();
      yield* table.scan({ text: prefix });
      for (const node of table.by('name').scan({ text: prefix })) {
        if (!node.ID.startsWith(prefix)) yield node;
      }
    },
    of: (node) => [
      {
        context: 'nodes',
        ids: [node.ID],
        names: [node.Name],
        scope: [node.ID],
        permission: seesNode(node),
      },
    ],
  }),
  source({
    contexts: ['allocs'],
    rows: (asked) => identified(tables.allocations, asked),
    of: (row) => [
      {
        context: 'allocs',
        ids: [row.ID],
        names: [row.Name],
        scope: [row.Namespace, row.ID],
        permission: seesAllocation(row),
      },
    ],
  }),
  source({
    contexts: ['evals'],
    rows: (asked) => identified(tables.evaluations, asked),
    of: ({ ID, Namespace, ...row }) => [
      {
        context: 'evals',
        ids: [ID],
        scope: [Namespace, ID],
        permission: seesEvaluation({ ...row, Namespace }),
      },
    ],
  }),
  source({
    contexts: ['deployment'],
    rows: (asked) => identified(tables.deployments, asked),
    of: (row) => [
      {
        context: 'deployment',
        ids: [row.ID],
        scope: [row.Namespace, row.ID],
        permission: seesDeployment(row),
      },
    ],
  }),
  source({
    contexts: ['config_entries'],
    rows: (asked) => placed(tables.configEntries, asked),
    of: (entry) => [
      {
        context: 'config_entries',
        names: [entry.Name],
        scope: [entry.Namespace, entry.Kind, entry.Name],
        permission: seesEntry(entry),
      },
    ],
  }),
  source({
    contexts: ['vars'],
    rows: (asked) => named(tables.variables, asked),
    of: (row) => [
      {
        context: 'vars',
        names: [row.Path],
        scope: [row.Namespace, row.Path],
        permission: seesVariable(row),
      },
    ],
  }),
  source({
    contexts: ['namespaces'],
    rows: ({ snapshot, partition }) =>
      snapshot.table(tables.namespaces).scan({ prefix: [partition] }),
    of: (row) => [
      {
        context: 'namespaces',
        names: [row.Name],
        scope: [row.Name],
        permission: seesNamespace(row),
      },
    ],
  }),
  source({
    contexts: ['node_pools'],
    rows: ({ snapshot }) => snapshot.table(tables.nodePools).scan(),
    of: (row) => [
      { context: 'node_pools', names: [row.Name], scope: [row.Name], permission: seesPool(row) },
    ],
  }),
  source({
    contexts: ['peerings'],
    rows: ({ snapshot, partition }) =>
      snapshot.table(tables.peerings).scan({ prefix: [partition] }),
    of: ({ Name, Partition: partition }) => [
      {
        context: 'peerings',
        names: [Name],
        scope: [Name],
        permission: resourceAccess('peering', 'read', { partition }),
      },
    ],
  }),
  source({
    contexts: ['job_policies'],
    rows: ({ snapshot }) => snapshot.table(tables.jobPolicies).scan(),
    of: ({ Name }) => [
      {
        context: 'job_policies',
        names: [Name],
        scope: [Name],
        permission: resourceAccess('operator', 'read'),
      },
    ],
  }),
  source({
    contexts: ['tokens'],
    isOfAccessControl: true,
    *rows(asked) {
      for (const token of placed(tables.aclTokens, asked)) {
        if (!isExpired(token, asked.nowMs)) yield token;
      }
    },
    of: (token) => [
      {
        context: 'tokens',
        ids: [token.AccessorID],
        names: [token.Description],
        scope: [token.Namespace, token.AccessorID],
        permission: seesAcl(token),
      },
    ],
  }),
  acl(
    'policies',
    tables.aclPolicies,
    ({ ID, Name }) => ({ ids: [ID], names: [Name] }),
    ({ ID }) => ID,
  ),
  acl(
    'roles',
    tables.aclRoles,
    ({ ID, Name }) => ({ ids: [ID], names: [Name] }),
    ({ ID }) => ID,
  ),
  acl(
    'auth_methods',
    tables.authMethods,
    ({ Name, DisplayName }) => ({ ids: [], names: [Name, DisplayName] }),
    ({ Name }) => Name,
  ),
];
