/** Every metric of Roster. docs/reference/metrics.md is made from this table. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Its meaning. */
  readonly help: string;
  readonly labels?: readonly string[];
  /** The number of its series, in words; absent: a single one. */
  readonly series?: string;
  /** The only servers that have it. */
  readonly only?: 'leader' | 'etcd' | 'etcd-leader';
}

/** The labels that name a node. */
const node = ['pool', 'node', 'node_id'] as const;
const perNode = 'a series for each node, above `metrics.nodesMax` one for each pool';
const perJob =
  'for each namespace and job, above `metrics.jobsMax` for each namespace, above `metrics.namespacesMax` for all together';
const perNamespace = 'for each namespace, above `metrics.namespacesMax` for all together';
const ofNode = 'one for each node that is asked';
const ofTask =
  'for each task of an allocation that runs there, above `metrics.allocationsPerNodeMax` for each job and task';
const task = ['namespace', 'job_id', 'group', 'task', 'alloc_id'] as const;

const definitions = {
  // Requests
  roster_http_requests_total: {
    type: 'counter',
    help: 'Requests that were answered.',
    labels: ['route', 'method', 'status'],
    series: 'the routes of the API, with the statuses that occurred',
  },
  roster_http_request_seconds: {
    type: 'histogram',
    help: 'From the arrival of a request to its answer; blocking queries include their wait.',
    labels: ['route'],
    series: 'the routes of the API',
  },
  roster_http_refusals_total: {
    type: 'counter',
    help: 'Requests that were refused, by the code of the problem; `permission-denied` and `token-not-found` are denials.',
    labels: ['code'],
    series: 'the codes of the error catalogue that occurred',
  },
  roster_http_connections: { type: 'gauge', help: 'Open connections to the API.' },
  roster_blocking_queries: { type: 'gauge', help: 'Blocking queries that wait.' },
  roster_exec_sessions: { type: 'gauge', help: 'WebSockets that carry commands in tasks.' },
  roster_ui_connections: { type: 'gauge', help: 'Connections of pages of the web interface.' },
  roster_ui_watches: {
    type: 'gauge',
    help: 'Paths that pages of the web interface follow; a path of several pages with the same token counts once.',
  },
  roster_nodes_connected: { type: 'gauge', help: 'Nodes that hold a stream open to this server.' },
  roster_tokens_resolved_total: {
    type: 'counter',
    help: 'Tokens of requests that were found, `hit`: as at the request before, `miss`: looked up in the state.',
    labels: ['cache'],
    series: 'two',
  },
  roster_tokens_refused_total: {
    type: 'counter',
    help: 'Requests with a secret that is unknown or has expired.',
  },

  // Servers
  roster_server_leader: { type: 'gauge', help: '1 on the server that leads.' },
  roster_servers: {
    type: 'gauge',
    help: 'Servers of the cluster, as this one knows them.',
    labels: ['status'],
    series: 'two: `alive` and `unreachable`',
  },
  roster_server_contact_seconds: {
    type: 'gauge',
    help: 'Time since this server was last known to show all that the leader had; 0 on a leader whose log answers.',
  },
  roster_writes_closed: { type: 'gauge', help: '1 when nothing can be written.' },
  roster_metrics_limited: {
    type: 'gauge',
    help: '1 when there are too many values of a label, so that its series are summed up.',
    labels: ['label'],
    series: 'three: `job_id`, `namespace` and `node`',
  },

  // State
  roster_state_index: { type: 'gauge', help: 'Committed transactions.' },
  roster_state_rows: {
    type: 'gauge',
    help: 'Rows that are stored.',
    labels: ['table'],
    series: 'the tables of the state',
  },
  roster_state_commit_seconds: {
    type: 'histogram',
    help: 'From the first transaction of a batch until the batch is durable.',
    only: 'leader',
  },
  roster_state_writes_waiting: {
    type: 'gauge',
    help: 'Transactions that wait to become durable.',
    only: 'leader',
  },
  roster_state_snapshot_bytes: {
    type: 'gauge',
    help: 'Size of the last snapshot in the log.',
    only: 'leader',
  },
  roster_state_log_bytes: {
    type: 'gauge',
    help: 'Length of the log after that snapshot.',
    only: 'leader',
  },
  roster_snapshot_failures_total: {
    type: 'counter',
    help: 'Snapshots on schedule that failed since this server leads.',
    only: 'leader',
  },
  roster_snapshot_saved_timestamp_seconds: {
    type: 'gauge',
    help: 'When the newest snapshot on schedule was saved; 0: there is none. Absent without a schedule.',
    only: 'leader',
  },
  roster_state_oldest_write_seconds: {
    type: 'gauge',
    help: 'Age of the oldest transaction that waits to become durable; 0: none waits. It grows while the disk of the store hangs.',
    only: 'leader',
  },
  roster_thread_ends_total: {
    type: 'counter',
    help: 'Readers and deciders that ended and were replaced: they `failed`, `hung`, or were too `slow` for the log. Absent without such threads.',
    labels: ['thread', 'reason'],
    series: 'six',
  },

  // Scheduling
  roster_evaluation_queue: {
    type: 'gauge',
    help: 'Evaluations of the scheduler: `ready`, `out` (at work), `waiting` (behind another of their job), `delayed` (tried again later) and `blocked` (for room).',
    labels: ['place'],
    series: 'five',
    only: 'leader',
  },
  roster_evaluation_seconds: {
    type: 'histogram',
    help: 'From the beginning of the decision of an evaluation until its plan is durable.',
    only: 'leader',
  },
  roster_plan_refusals_total: {
    type: 'counter',
    help: 'Plans that did not fit any more when they were committed, and were decided again.',
    only: 'leader',
  },
  roster_decider_decisions_total: {
    type: 'counter',
    help: 'Decisions of the decider, as long as there is one.',
    only: 'leader',
  },
  roster_evaluations: {
    type: 'gauge',
    help: 'Evaluations that are stored.',
    labels: ['status'],
    series: 'the statuses of evaluations',
  },
  roster_evaluation_oldest_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest evaluation that waits, from the time on at which it may run; 0: none waits.',
    labels: ['status'],
    series: 'two: `pending` and `blocked`',
  },
  roster_placements_total: {
    type: 'counter',
    help: 'Allocations that were placed.',
    labels: ['namespace', 'job_id'],
    series: perJob,
  },
  roster_placement_failures_total: {
    type: 'counter',
    help: 'Allocations that could not be placed, counted again at every attempt, by the reason that ruled out most nodes.',
    labels: ['reason'],
    series: 'the kinds of reasons',
  },

  // Jobs
  roster_jobs: {
    type: 'gauge',
    help: 'Jobs that are stored, with the children of periodic and parameterized jobs.',
    labels: ['namespace', 'type', 'status'],
    series: `statuses and types, ${perNamespace}`,
  },
  roster_allocations: {
    type: 'gauge',
    help: 'Allocations that are stored, by client status. Allocations of children count for their parent.',
    labels: ['namespace', 'job_id', 'status'],
    series: `statuses, ${perJob}`,
  },
  roster_allocations_unplaced: {
    type: 'gauge',
    help: 'Allocations that jobs want and that have no place.',
    labels: ['namespace', 'job_id'],
    series: perJob,
  },
  roster_allocations_ended_total: {
    type: 'counter',
    help: 'Allocations that became `complete`, `failed` or `lost`.',
    labels: ['namespace', 'job_id', 'status'],
    series: `three, ${perJob}`,
  },
  roster_task_restarts_total: {
    type: 'counter',
    help: 'Restarts of tasks.',
    labels: ['namespace', 'job_id'],
    series: perJob,
  },
  roster_deployments: {
    type: 'gauge',
    help: 'Deployments that are stored.',
    labels: ['namespace', 'status'],
    series: `statuses, ${perNamespace}`,
  },
  roster_deployments_ended_total: {
    type: 'counter',
    help: 'Deployments that became `successful`, `failed` or `cancelled`.',
    labels: ['namespace', 'status'],
    series: `three, ${perNamespace}`,
  },
  roster_service_instances: {
    type: 'gauge',
    help: 'Registered instances of services, by the worst status of their checks.',
    labels: ['namespace', 'status'],
    series: `statuses, ${perNamespace}`,
  },

  // Nodes
  roster_nodes: {
    type: 'gauge',
    help: 'Nodes by status.',
    labels: ['pool', 'status'],
    series: 'statuses, for each pool with a node',
  },
  roster_nodes_work: {
    type: 'gauge',
    help: 'Nodes by whether they take new work: `eligible`, `ineligible` or `draining`.',
    labels: ['pool', 'work'],
    series: 'three, for each pool with a node',
  },
  roster_node_capacity_cpu_hertz: {
    type: 'gauge',
    help: 'CPU that allocations may have, of nodes that are not down.',
    labels: node,
    series: perNode,
  },
  roster_node_capacity_memory_bytes: {
    type: 'gauge',
    help: 'Memory that allocations may have, of nodes that are not down.',
    labels: node,
    series: perNode,
  },
  roster_node_capacity_disk_bytes: {
    type: 'gauge',
    help: 'Disk that allocations may have, of nodes that are not down.',
    labels: node,
    series: perNode,
  },
  roster_node_allocated_cpu_hertz: {
    type: 'gauge',
    help: 'CPU that allocations hold, of nodes that are not down.',
    labels: node,
    series: perNode,
  },
  roster_node_allocated_memory_bytes: {
    type: 'gauge',
    help: 'Memory that allocations hold, of nodes that are not down.',
    labels: node,
    series: perNode,
  },
  roster_node_allocated_disk_bytes: {
    type: 'gauge',
    help: 'Disk that allocations hold, of nodes that are not down.',
    labels: node,
    series: perNode,
  },

  // Peerings
  roster_peerings: {
    type: 'gauge',
    help: 'Peerings by state.',
    labels: ['state'],
    series: 'the states of peerings',
    only: 'leader',
  },
  roster_peering_received_timestamp_seconds: {
    type: 'gauge',
    help: 'When the last frame of the peer came. A peer sends one every 15 seconds at least.',
    labels: ['partition', 'peer'],
    series:
      'one for each peering that was connected since this server leads; `peering.countMax` at most',
    only: 'leader',
  },
  roster_peering_export_lag_seconds: {
    type: 'gauge',
    help: 'Time since the oldest change of exported services that the peer has not applied; 0: it has applied all.',
    labels: ['partition', 'peer'],
    series: 'one for each peering with an open stream; `peering.countMax` at most',
    only: 'leader',
  },

  // The log in etcd
  roster_log_term: { type: 'gauge', help: 'Newest term of a leader that is known.', only: 'etcd' },
  roster_log_contact_seconds: {
    type: 'gauge',
    help: 'Time since the log last answered, also before a restart.',
    only: 'etcd',
  },
  roster_log_lease_age_seconds: {
    type: 'gauge',
    help: 'Time since the leader renewed its lease.',
    only: 'etcd-leader',
  },
  roster_log_unconfirmed: {
    type: 'gauge',
    help: '1 while this server shows its copy of the state, as it has not read the log since its start.',
    only: 'etcd',
  },
  roster_log_diverged: {
    type: 'gauge',
    help: '1 when the log is another one than this server has applied.',
    only: 'etcd',
  },
  roster_log_diverged_heads: {
    type: 'gauge',
    help: '1 when the log has diverged: what this server has applied, and what the log has.',
    labels: ['own', 'log'],
    series: 'one, while the log has diverged',
    only: 'etcd',
  },
  roster_log_appends_total: { type: 'counter', help: 'Appends of this server.', only: 'etcd' },
  roster_log_append_seconds_total: {
    type: 'counter',
    help: 'Time of these appends. Its rate by that of their number is the mean latency.',
    only: 'etcd',
  },
  roster_log_outcomes_unknown_total: {
    type: 'counter',
    help: 'Appends of which nobody knows whether they were done.',
    only: 'etcd',
  },
  roster_etcd_db_bytes: {
    type: 'gauge',
    help: 'Size of the database of etcd, which its quota counts.',
    only: 'etcd',
  },
  roster_etcd_db_in_use_bytes: {
    type: 'gauge',
    help: 'The same without what a defragmentation would free.',
    only: 'etcd',
  },
  roster_etcd_quota_bytes: {
    type: 'gauge',
    help: 'Quota of the database of etcd.',
    only: 'etcd',
  },
  roster_etcd_out_of_space: {
    type: 'gauge',
    help: '1 when etcd takes no writes, since its database has reached its quota.',
    only: 'etcd',
  },
  roster_etcd_full: {
    type: 'gauge',
    help: '1 when new jobs are refused, since the database of etcd is nearly full.',
    only: 'etcd',
  },
} as const satisfies Record<string, MetricDefinition>;

/** The metrics of a node, which the server asks the node for. */
const definitionsOfNodes = {
  roster_node_cpu_seconds_total: {
    type: 'counter',
    help: 'Time in which the cores of the machine were busy, summed over its cores.',
    labels: node,
    series: ofNode,
  },
  roster_node_cpu_cores: {
    type: 'gauge',
    help: 'Cores of the machine.',
    labels: node,
    series: ofNode,
  },
  roster_node_memory_bytes: {
    type: 'gauge',
    help: 'Memory of the machine.',
    labels: node,
    series: ofNode,
  },
  roster_node_memory_used_bytes: {
    type: 'gauge',
    help: 'Memory of the machine that is not available to programs.',
    labels: node,
    series: ofNode,
  },
  roster_node_disk_bytes: {
    type: 'gauge',
    help: 'Size of the file system with the data directory.',
    labels: node,
    series: ofNode,
  },
  roster_node_disk_used_bytes: {
    type: 'gauge',
    help: 'Bytes of that file system that are not available to programs.',
    labels: node,
    series: ofNode,
  },
  roster_node_uptime_seconds: {
    type: 'gauge',
    help: 'Time since the machine was booted.',
    labels: node,
    series: ofNode,
  },
  roster_task_cpu_seconds_total: {
    type: 'counter',
    help: 'Time on a core that the processes of a run of the task have used.',
    labels: task,
    series: ofTask,
  },
  roster_task_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the processes of the task.',
    labels: task,
    series: ofTask,
  },
  roster_task_memory_limit_bytes: {
    type: 'gauge',
    help: 'Memory that the task may use before it is killed; without isolation nothing enforces it.',
    labels: task,
    series: ofTask,
  },
  roster_service_checks: {
    type: 'gauge',
    help: 'Checks of the services of the node, by the status of their last run.',
    labels: ['namespace', 'job_id', 'group', 'service', 'alloc_id', 'status'],
    series:
      'four for each registered service with checks of an allocation that runs there, above `metrics.allocationsPerNodeMax` for each job and service',
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof definitions | keyof typeof definitionsOfNodes;

export const serverMetrics: Readonly<Record<string, MetricDefinition>> = definitions;
export const nodeMetrics: Readonly<Record<string, MetricDefinition>> = definitionsOfNodes;

const all: Readonly<Record<MetricName, MetricDefinition>> = {
  ...definitions,
  ...definitionsOfNodes,
};

export const definitionOf = (name: MetricName): MetricDefinition => all[name];
