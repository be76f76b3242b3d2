/**
 * Writes docs/reference/limits.md from the limits that the code goes by:
 * `node tools/run.mjs tools/limits-reference.ts`.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatDuration, nanosecondsPerMillisecond } from '../src/base/duration.ts';
import { AclPolicySchema } from '../src/model/acl-policy/acl-policy.ts';
import { AclRoleSchema } from '../src/model/acl-role/acl-role.ts';
import { AclTokenInputSchema } from '../src/model/acl-token/acl-token.ts';
import { AuthMethodSchema } from '../src/model/auth-method/auth-method.ts';
import { BindingRuleSchema } from '../src/model/binding-rule/binding-rule.ts';
import { SourceSchema } from '../src/model/config-entry/intention.ts';
import { IntroductionTokenSchema } from '../src/model/introduction-token/introduction-token.ts';
import { JobPolicySchema } from '../src/model/job-policy/job-policy.ts';
import { limits } from '../src/model/limits.ts';
import { NamespaceSchema } from '../src/model/namespace/namespace.ts';
import { NodePoolSchema } from '../src/model/node-pool/node-pool.ts';
import { PartitionSchema } from '../src/model/partition/partition.ts';
import { shapeOf } from '../src/model/schema-shape.ts';

/** Where the page is, below the checkout. */
export const page = 'docs/reference/limits.md';

type Groups = typeof limits;
/** Where a limit stands: `http.bodyBytesMax`. */
type LimitPath = {
  [Group in keyof Groups & string]: `${Group}.${keyof Groups[Group] & string}`;
}[keyof Groups & string];

type Row = readonly [meaning: string, path: LimitPath];

interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly after?: string;
}

const sections: readonly Section[] = [
  {
    title: 'Requests',
    rows: [
      ['a body', 'http.bodyBytesMax'],
      ['a body with a job or a job file', 'http.jobBodyBytesMax'],
      ['a body with a configuration entry', 'config.entryBytesMax'],
      ['lists and objects one within the other, in JSON', 'http.jsonDepthMax'],
      ['path and query together', 'http.urlBytesMax'],
      ['all headers together', 'http.headerBytesMax'],
      ['the headers must arrive within', 'http.headersTimeoutMs'],
      ['the body must arrive within', 'http.bodyTimeoutMs'],
      ['connections of one address', 'http.connectionsPerAddressMax'],
      ['connections', 'http.connectionsMax'],
      ['text of a parameter that has no other limit', 'names.lengthMax'],
      ['a filter', 'list.filterLengthMax'],
      ['rows on one page', 'list.perPageMax'],
      ['rows of a list that is sorted or counted', 'list.sortedRowsMax'],
      ['records on a page of a sorted list', 'list.sortedPerPageMax'],
      ['the text of a search', 'search.textLengthMax'],
      ['matches of each context in an answer to a search by the beginning', 'search.matchesMax'],
      ['matches of each context in an answer to a search by a part', 'search.fuzzyMatchesMax'],
      ['items that need attention in one answer', 'attention.itemsMax'],
      ['an `Idempotency-Key`', 'idempotency.keyLengthMax'],
      ['an answer is kept for repetitions of a write', 'idempotency.keptMs'],
      ['a body of an answer that is kept', 'idempotency.bodyBytesMax'],
      ['answers that are kept', 'idempotency.answersMax'],
      ['faults that one refusal lists', 'fault.listedMax'],
      ['warnings that one answer lists', 'fault.warningsMax'],
    ],
  },
  {
    title: 'Waiting and following',
    rows: [
      ['wait of a blocking query without `wait`', 'watch.waitDefaultMs'],
      ['longest wait of a blocking query; a longer `wait` is reduced to it', 'watch.waitMaxMs'],
      ['blocking queries that wait at a time', 'watch.parkedMax'],
      ['waiting blocking queries without a token', 'watch.parkedAnonymousMax'],
      ['readers of the event stream', 'events.readersMax'],
      ['topics of a reader', 'events.topicsMax'],
      ['changes that are kept for readers of events', 'events.changesKept'],
      ['`newest`: events that are told at a time', 'events.newestMax'],
      ['readers of the log of an agent', 'monitor.readersMax'],
      ['lines of the log that wait for a reader', 'monitor.linesMax'],
      ['seconds of a profile', 'profile.secondsMax'],
      ['followers of the logs of one task', 'stream.logFollowersPerTaskMax'],
      ['followers of the files of one allocation', 'files.followersPerAllocationMax'],
      ['commands that run in one task', 'exec.sessionsPerTaskMax'],
      ['commands that run on one node', 'exec.sessionsPerNodeMax'],
      ['a message to a command', 'exec.messageBytesMax'],
      ['connections of pages of the web interface', 'uiStream.connectionsPerServerMax'],
      ['paths that a page watches', 'uiStream.watchesPerConnectionMax'],
      ['calls and streams of a page under way', 'uiStream.requestsPerConnectionMax'],
      ['a message of a page', 'uiStream.messageBytesMax'],
      ['the path and query of a watch', 'uiStream.pathLengthMax'],
      ['characters of a watched answer', 'uiStream.valueLengthMax'],
      ['characters of all answers that are kept for a page', 'uiStream.heldPerConnectionLengthMax'],
      ['characters of all watched answers', 'uiStream.heldLengthMax'],
      ['bytes that a page may grant a stream', 'uiStream.creditBytesMax'],
    ],
  },
  {
    title: 'Names',
    rows: [
      [
        'names and ids that have no other limit: of jobs, groups, tasks, nodes, roles, service and node identities',
        'names.lengthMax',
      ],
      ['a namespace or partition; a service', 'names.serviceLengthMax'],
      ['a policy', 'acl.policyNameLengthMax'],
      ['a job policy', 'jobPolicy.nameLengthMax'],
      ['a node pool', 'nodePool.nameLengthMax'],
      ['an action of a task', 'names.actionLengthMax'],
      ['the tag of a version', 'job.tagLengthMax'],
      ['the path of a variable', 'variable.pathLengthMax'],
    ],
  },
  {
    title: 'Meta',
    rows: [
      ['pairs of a job, a group or a task, each', 'job.metaMax'],
      ['a key or value of these', 'job.metaTextLengthMax'],
      ['pairs of a node', 'node.attributesMax'],
      ['a key or value of these', 'node.attributeLengthMax'],
      ['pairs of a node pool', 'nodePool.metaMax'],
      ['a key or value of these', 'nodePool.metaTextLengthMax'],
      ['pairs of a configuration entry or a peering', 'config.metaPairsMax'],
      ['a key of these', 'config.metaKeyLengthMax'],
      ['a value of these', 'config.metaValueLengthMax'],
      ['pairs of an instance of a service', 'service.entriesMax'],
      ['a key or value of these', 'service.textLengthMax'],
      ['pairs of a login', 'aclLogin.metaEntriesMax'],
      ['a key or value of these', 'aclLogin.metaTextLengthMax'],
      ['pairs of a drain', 'node.drainMetaMax'],
      ['a key or value of these', 'node.drainMetaTextLengthMax'],
      ['all of a scaling, as JSON', 'scaling.metaLengthMax'],
    ],
    after: 'For the pairs of a namespace, only the limit of a body counts.',
  },
  {
    title: 'Access control',
    rows: [
      [
        'policies, roles, service identities, node identities and templated policies of a token or role, of each',
        'acl.linksMax',
      ],
      ['datacenters of a policy or of an identity', 'acl.datacentersMax'],
      ['rules of a policy', 'acl.rulesLengthMax'],
      ['life of a token that ends: at least', 'acl.tokenTtlMinMs'],
      ['life of a token that ends: at most', 'acl.tokenTtlMaxMs'],
      ['questions about permissions in one request', 'acl.questionsMax'],
      ['refused requests that a server remembers, of each caller', 'denial.keptPerCallerMax'],
      ['callers whose refused requests a server remembers', 'denial.callersMax'],
      ['a text in the configuration of an auth method', 'authMethod.configTextLengthMax'],
      ['certificates in one text of it', 'authMethod.pemLengthMax'],
      ['claim mappings of an auth method, of each kind', 'authMethod.claimMappingsMax'],
      ['namespace rules of an auth method', 'authMethod.namespaceRulesMax'],
      ['the selector of a binding rule', 'bindingRule.selectorLengthMax'],
      ['the name that a binding rule binds', 'bindingRule.bindNameLengthMax'],
      ['the credential of a login', 'aclLogin.bearerLengthMax'],
      ['failed logins of one address before it has to wait', 'aclLogin.failuresBurst'],
      ['redirect URI, nonce and `Meta` of a login in a browser together', 'oidcSession.lengthMax'],
      ['age of a link that signs in to the web interface', 'signInLink.ageMs'],
      ['life of the token that the link is exchanged for', 'signInLink.tokenTtlMs'],
      ['such links of one token', 'signInLink.keptPerTokenMax'],
      ['life of an introduction token: at least', 'introduction.ttlMinMs'],
      ['life of an introduction token: at most', 'introduction.ttlMaxMs'],
      ['introduction tokens', 'introduction.countMax'],
    ],
  },
  {
    title: 'Identities of workloads',
    rows: [
      ['shortest life of a token; a shorter `TTL` is raised to it', 'identity.ttlMinMs'],
      ['longest life of a token; a longer `TTL` is reduced to it', 'identity.ttlMaxMs'],
      ['life of a renewable token without a `TTL`', 'identity.ttlDefaultMs'],
      ['further claims of a token that are kept', 'identity.extraClaimsMax'],
    ],
  },
  {
    title: 'Jobs',
    rows: [
      ['groups of a job', 'job.groupsMax'],
      ['tasks of a group', 'job.tasksPerGroupMax'],
      ['allocations that a job asks for', 'job.countMax'],
      ['priority', 'job.priorityMax'],
      ['versions that are kept', 'job.versionsKept'],
      ['versions with a tag', 'job.tagsMax'],
      ['sources that are kept', 'job.submissionsKept'],
      ['one source, with its variables; a larger one is not kept', 'job.submissionBytesMax'],
      ['a job file that a server reads', 'jobFile.textLengthMax'],
      ['the payload of a dispatch', 'dispatch.payloadBytesMax'],
      ['expressions of a periodic job', 'periodic.specsMax'],
      ['an expression of a periodic job', 'periodic.specLengthMax'],
      ['one environment variable of a task, with its name', 'task.variableBytesMax'],
      ['one template', 'template.textLengthMax'],
      ['the output of a template', 'template.outputLengthMax'],
      [
        'time between the signal and the kill of a task; a longer `KillTimeout` is reduced to it',
        'task.killTimeoutMaxMs',
      ],
      ['files of one log', 'task.logFilesMax'],
      ['events that are kept of a task', 'task.eventsKept'],
      ['scalings that are kept of a group', 'scaling.eventsKept'],
      ['message of a scaling', 'scaling.textLengthMax'],
      ['notes of a check', 'names.checkNotesLengthMax'],
      ['job policies', 'jobPolicy.countMax'],
      ['rule of a job policy', 'jobPolicy.ruleLengthMax'],
      ['message of a job policy', 'jobPolicy.messageLengthMax'],
      ['plans that are kept', 'plan.keptMax'],
      ['all plans that are kept', 'plan.keptBytesMax'],
      ['a plan is kept for', 'plan.keptMs'],
      ['changes of a plan that is kept', 'plan.exactChangesMax'],
      ['content of a plan that is kept, of any act but a registration', 'plan.contentBytesMax'],
      ['rounds of a drain that a plan foretells', 'plan.wavesMax'],
      ['blocked evaluations that the plan of an eligible node decides', 'plan.blockedMax'],
      ['services whose discovery chains a plan compares', 'plan.chainsComparedMax'],
      ['open evaluations, beyond which no job is registered', 'evaluation.queueMax'],
    ],
  },
  {
    title: 'Variables',
    rows: [
      ['items of a variable', 'variable.itemsMax'],
      ['the name of an item', 'variable.nameLengthMax'],
      ['names and texts of one variable together', 'variable.itemsBytesMax'],
      ['variables', 'variable.countMax'],
    ],
  },
  {
    title: 'Metrics',
    rows: [
      ['jobs with series of their own; with more, those of namespaces are told', 'metrics.jobsMax'],
      [
        'namespaces with series of their own; with more, those of the cluster are told',
        'metrics.namespacesMax',
      ],
      ['nodes with series of their own; with more, those of pools are told', 'metrics.nodesMax'],
      [
        'allocations of a node with series of their own; with more, those of jobs are told',
        'metrics.allocationsPerNodeMax',
      ],
    ],
  },
  {
    title: 'Snapshots',
    rows: [
      ['a file that is restored', 'snapshot.fileBytesMax'],
      ['a part of it has to come within', 'snapshot.pieceWithinMs'],
      ['snapshots that a server saves at the same time', 'snapshot.savesMax'],
      ['a snapshot has to be saved within', 'snapshot.saveMaxMs'],
      ['time between two snapshots on a schedule, at least', 'snapshot.intervalMinMs'],
      ['snapshots that a schedule keeps', 'snapshot.keptMax'],
      ['nodes keep what a restored snapshot does not know for', 'snapshot.unknownGraceMs'],
      ['of these, a server lists', 'snapshot.unknownListedMax'],
    ],
  },
  {
    title: 'Configuration and peering',
    rows: [
      ['items of a list in an entry, members of an object', 'config.itemsMax'],
      ['entries', 'config.countMax'],
      ['one text with certificates or a key', 'config.pemLengthMax'],
      ['parts of a discovery chain', 'discoveryChain.partsMax'],
      ['splitters or redirects one after the other', 'discoveryChain.depthMax'],
      ['peerings', 'peering.countMax'],
      ['addresses of a peering', 'peering.addressesMax'],
      ['a peering token', 'peering.tokenLengthMax'],
    ],
  },
];

/** Each noun that has one. */
const described: Readonly<Record<string, { readonly properties: Described }>> = {
  'a token': AclTokenInputSchema,
  'a role': AclRoleSchema,
  'a policy': AclPolicySchema,
  'an auth method': AuthMethodSchema,
  'a binding rule': BindingRuleSchema,
  'an introduction token': IntroductionTokenSchema,
  'a namespace': NamespaceSchema,
  'a partition': PartitionSchema,
  'a node pool': NodePoolSchema,
  'a job policy': JobPolicySchema,
  'a source of an intention': SourceSchema,
};

interface Described {
  readonly Description: object;
}

/** The page. */
export function limitsReference(): string {
  const texts = [descriptionsText(), ...sections.map(sectionText)];
  return `${[heading, ...texts].join('\n\n')}\n`;
}

const heading = `# Limits

The limits that a caller may meet. This page is generated from the limits of the code (\`node tools/run.mjs
tools/limits-reference.ts\`), and a test compares the two. \`GET /v1/agent/self\` shows these and all other limits in
\`Limits\`, under the names of the last column.

A value beyond a limit is refused, with its place in the request, unless the table says that only so much is kept, or
that the value is reduced. Characters are counted in UTF-16. 1 KiB is 1,024 bytes, 1 MiB is 1,048,576. Limits of a job's
fields that are not named here are in [the job](job.md).`;

function descriptionsText(): string {
  const rows = Object.entries(described).map(([noun, { properties }]) => {
    const shape = shapeOf(properties.Description);
    const most = shape.kind === 'string' ? shape.maxLength : undefined;
    if (most === undefined) throw new Error(`the description of ${noun} has no limit`);
    return `| ${noun} | ${counted(most)} characters |`;
  });
  return ['## Descriptions', '', '| Of | At most |', '|---|---|', ...rows].join('\n');
}

function sectionText({ title, rows, after }: Section): string {
  const lines = rows.map(([meaning, path]) => `| ${meaning} | ${valueText(path)} | \`${path}\` |`);
  const table = [`## ${title}`, '', '| What | Limit | Name |', '|---|---|---|', ...lines];
  return [...table, ...(after === undefined ? [] : ['', after])].join('\n');
}

/** The value with the unit that the end of its name tells. */
export function valueText(path: LimitPath): string {
  const [group, name] = path.split('.') as [keyof Groups, string];
  const value = (limits[group] as Readonly<Record<string, unknown>>)[name];
  if (typeof value !== 'number') throw new Error(`${path} is no number`);
  if (name.endsWith('Ms')) return durationText(value);
  if (/Bytes(Max)?$/.test(name)) return bytesText(value);
  if (/lengthMax$/i.test(name)) return `${counted(value)} characters`;
  return counted(value);
}

/** `10m` rather than `10m0s`. */
const durationText = (ms: number): string =>
  formatDuration(ms * nanosecondsPerMillisecond)
    .replace(/(?<=m)0s$/, '')
    .replace(/(?<=h)0m$/, '');

function bytesText(bytes: number): string {
  if (bytes % 2 ** 20 === 0) return `${counted(bytes / 2 ** 20)} MiB`;
  return bytes % 2 ** 10 === 0 ? `${counted(bytes / 2 ** 10)} KiB` : `${counted(bytes)} bytes`;
}

const counted = (count: number): string => count.toLocaleString('en');

if (import.meta.main) {
  const checkout = fileURLToPath(new URL('..', import.meta.url));
  writeFileSync(`${checkout}/${page}`, limitsReference());
  console.log(`wrote ${page}`);
}
