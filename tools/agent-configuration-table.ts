/** The settings of the agent in the words of docs/reference/agent-configuration.md, in its order. */
import { formatDuration, nanosecondsPerMillisecond } from '../src/base/duration.ts';
import type { SettingName } from '../src/cli/agent/settings.ts';
import { limits } from '../src/model/limits.ts';

export interface About {
  /** The value that means the same as no value; a test compares the two. */
  readonly default?: unknown;
  /** The effect of no value, in words. */
  readonly without?: string;
  readonly meaning: string;
}

export interface Section {
  readonly title: string;
  readonly rows: readonly (readonly [SettingName, About])[];
}

/** `"1h"` rather than `"1h0m0s"`. */
const lasting = (ms: number): string => {
  const text = formatDuration(ms * nanosecondsPerMillisecond);
  return `\`"${text.replace(/(?<=m)0s$/, '').replace(/(?<=h)0m$/, '')}"\``;
};
const counted = (count: number): string => `\`${count}\``;
const { artifact, docker, garbage, network, snapshot } = limits;

export const sections: readonly Section[] = [
  {
    title: 'General',
    rows: [
      [
        'dev',
        {
          default: false,
          meaning:
            'Try it out: make a root token and print it, keep the state only with `data_dir`, allow all drivers, and reach tasks on 127.0.0.1.',
        },
      ],
      [
        'data_dir',
        {
          without: 'required without `dev`',
          meaning: 'The directory of the state, of the identity of the node, and of tasks.',
        },
      ],
      ['region', { default: 'global', meaning: 'The region of the cluster.' }],
      ['server_only', { default: false, meaning: 'A server alone: no tasks run on this machine.' }],
      [
        'run',
        {
          default: [],
          meaning: 'Job files to register when the agent is ready, unless the job exists.',
        },
      ],
      [
        'tasks_on_exit',
        {
          without: '`"keep"` with `data_dir`, else `"stop"`',
          meaning: 'Whether running tasks stop when the agent ends.',
        },
      ],
      ['log_level', { default: 'info', meaning: 'The least level of log messages.' }],
      [
        'readers',
        {
          without: '0 with `dev` or etcd, else as suits the machine',
          meaning:
            'Threads that answer reads, each with a copy of the state ([readers](../operations/readers.md)).',
        },
      ],
      [
        'decider',
        {
          without: '`false` with `dev`, else as suits the machine',
          meaning:
            'Whether a thread of its own decides where allocations run ([decider](../operations/readers.md#the-decider)).',
        },
      ],
    ],
  },
  {
    title: 'API and TLS',
    rows: [
      [
        'http',
        {
          default: '127.0.0.1:4720',
          meaning: 'Where the API listens; also `http { address = … }`.',
        },
      ],
      [
        'http.allowed_hosts',
        {
          default: [],
          meaning:
            "Host names that requests without a token may use (with access control off, or rights for the anonymous token), besides addresses, `localhost` and the machine's own name. Pages of other sites are refused.",
        },
      ],
      [
        'tls.cert_file',
        {
          without: 'no TLS',
          meaning: 'The certificate in PEM, followed by its issuers ([TLS](../guides/tls.md)).',
        },
      ],
      ['tls.key_file', { without: 'no TLS', meaning: 'The key of the certificate, in PEM.' }],
      ['tls.ca_file', { meaning: 'The certificate authorities of clients, in PEM.' }],
      [
        'tls.verify_client',
        { default: false, meaning: 'Serve only clients with a certificate of `tls.ca_file`.' },
      ],
    ],
  },
  {
    title: 'Web interface',
    rows: [
      [
        'ui.enabled',
        {
          default: true,
          meaning:
            'Whether the agent serves the [web interface](../operations/web-interface.md) below `/ui/`.',
        },
      ],
      [
        'ui.label',
        {
          without: 'no label',
          meaning: 'The name of the environment, which every page of the web interface shows.',
        },
      ],
      [
        'ui.color',
        {
          without: 'the colour of the interface',
          meaning:
            'The colour of the label. The text on it is black or white, as can be read better.',
        },
      ],
    ],
  },
  {
    title: 'A node alone',
    rows: [
      [
        'servers',
        {
          without: 'a server runs here',
          meaning:
            'The servers that the node joins ([nodes](../guides/nodes.md)). Settings of servers are refused beside it.',
        },
      ],
      [
        'introduction_token_file',
        {
          meaning:
            'The introduction token of a new node: the secret of `roster node intro create`.',
        },
      ],
      [
        'ca_cert',
        {
          without: 'the authorities of the system',
          meaning: 'The certificate authority of servers with `https://`, in PEM.',
        },
      ],
      ['client_cert', { meaning: 'The certificate for servers that check clients, in PEM.' }],
      ['client_key', { meaning: 'The key of `client_cert`, in PEM.' }],
    ],
  },
  {
    title: 'The state in etcd',
    rows: [
      [
        'engine',
        {
          default: 'embedded',
          meaning: 'Where the state is: in the data directory, or in [etcd](etcd.md).',
        },
      ],
      ['etcd.endpoints', { without: 'required with etcd', meaning: 'Where etcd listens.' }],
      ['etcd.prefix', { without: '`"/roster/"`', meaning: 'The keys in etcd begin with it.' }],
      ['etcd.user', { meaning: 'The user of etcd.' }],
      ['etcd.password_file', { meaning: 'A file with the password of `etcd.user`.' }],
      ['etcd.ca_file', { meaning: 'The certificate authority of etcd, in PEM; implies TLS.' }],
      ['etcd.cert_file', { meaning: 'The certificate for an etcd that checks clients, in PEM.' }],
      ['etcd.key_file', { meaning: 'The key of `etcd.cert_file`, in PEM.' }],
      [
        'etcd.quota_bytes',
        {
          without: 'that of etcd',
          meaning:
            'The quota of the database of etcd, for versions before 3.6, which do not tell it.',
        },
      ],
      [
        'cluster.advertise',
        {
          without: 'where the agent listens',
          meaning: 'The address for the other servers on the same etcd.',
        },
      ],
      [
        'cluster.allow_plaintext',
        { without: '`false`', meaning: 'Speak to servers of other machines without TLS.' },
      ],
      [
        'cluster.stale_max',
        {
          without: lasting(limits.servers.staleMaxMs),
          meaning:
            'The age of the state of a server from which on it refuses reads with `stale`, and ends streams and sessions: so long a revoked token may live at a server that is cut off.',
        },
      ],
    ],
  },
  {
    title: 'Access control and secrets',
    rows: [
      ['acl.enabled', { default: true, meaning: 'Whether access control is on.' }],
      [
        'acl.default_policy',
        {
          default: 'deny',
          meaning:
            'The decision where no rule of a token applies. Tokens, roles and policies always need a rule.',
        },
      ],
      [
        'root_token',
        {
          without: 'made with `dev`',
          meaning:
            'The secret of the first management token. Every user of the machine can read a flag.',
        },
      ],
      ['root_token_file', { meaning: 'A file with the secret of the first management token.' }],
      [
        'keyring.root_key_file',
        {
          without: '`root-key` in the data directory',
          meaning:
            'A file with the [root key](root-key.md) that seals secrets, 32 bytes in base64.',
        },
      ],
      ['keyring.root_key', { meaning: 'The root key itself; a file or the variable is safer.' }],
      ['keyring.kms.url', { meaning: 'The [service](root-key.md) that opens the root key.' }],
      ['keyring.kms.key', { meaning: 'The name of the key of the service.' }],
      ['keyring.kms.wrapped_key_file', { meaning: 'A file with the wrapped root key.' }],
      ['keyring.kms.token_file', { meaning: 'A file with the token for the service.' }],
      [
        'keyring.kms.ca_file',
        {
          without: 'the authorities of the system',
          meaning: 'The certificate authority of the service, in PEM.',
        },
      ],
      [
        'identity.issuer',
        { meaning: 'The public address of the keys that sign the tokens of workloads.' },
      ],
      [
        'audit.file',
        {
          without: 'no audit log',
          meaning:
            'Where the [audit log](../guides/access-control.md#the-audit-log) goes: a path, or `stdout`.',
        },
      ],
      [
        'audit.events',
        {
          without: '`"all"`',
          meaning:
            'Whether it has all requests, or only those that may change something, and refusals.',
        },
      ],
      [
        'telemetry.otlp.endpoint',
        {
          without: 'nothing is sent',
          meaning:
            'A collector of [traces and metrics](../operations/telemetry.md), by OTLP over HTTP: `http://127.0.0.1:4318`.',
        },
      ],
      [
        'telemetry.otlp.headers_file',
        { meaning: 'A file with headers for the collector, each `Name: value` on a line.' },
      ],
    ],
  },
  {
    title: 'Peering',
    rows: [
      [
        'peering.advertise',
        {
          without: 'where the agent listens',
          meaning:
            'Where other clusters reach the servers ([peering](peering.md#addresses-and-tls)).',
        },
      ],
      [
        'peering.ca_file',
        {
          without: 'that of `tls`',
          meaning: 'The authority that other clusters have to trust, in PEM.',
        },
      ],
    ],
  },
  {
    title: 'Snapshots and garbage collection',
    rows: [
      [
        'snapshots.directory',
        {
          without: 'no snapshots',
          meaning:
            'Save [snapshots](../operations/backup.md#on-a-schedule) to this directory, on a schedule.',
        },
      ],
      [
        'snapshots.interval',
        { without: lasting(snapshot.intervalMs), meaning: 'The time between two snapshots.' },
      ],
      [
        'snapshots.keep',
        { without: counted(snapshot.kept), meaning: 'The number of snapshots that are kept.' },
      ],
      [
        'garbage_collection.interval',
        { without: lasting(garbage.intervalMs), meaning: 'The time between two collections.' },
      ],
      [
        'garbage_collection.job_age',
        { without: lasting(garbage.jobAgeMs), meaning: 'How long jobs that have ended are kept.' },
      ],
      [
        'garbage_collection.evaluation_age',
        {
          without: lasting(garbage.evaluationAgeMs),
          meaning: 'How long evaluations that have ended are kept, with their allocations.',
        },
      ],
      [
        'garbage_collection.batch_evaluation_age',
        { without: lasting(garbage.batchEvaluationAgeMs), meaning: 'The same for batch jobs.' },
      ],
      [
        'garbage_collection.deployment_age',
        {
          without: lasting(garbage.deploymentAgeMs),
          meaning: 'How long deployments that have ended are kept.',
        },
      ],
      [
        'garbage_collection.node_age',
        { without: lasting(garbage.nodeAgeMs), meaning: 'How long nodes that are down are kept.' },
      ],
    ],
  },
  {
    title: 'The node',
    rows: [
      ['node.name', { without: "the machine's name", meaning: 'The name of the node.' }],
      ['node.datacenter', { default: 'dc1', meaning: 'The datacenter of the node.' }],
      ['node.class', { without: 'none', meaning: 'The class of the node, for constraints.' }],
      ['node.pool', { default: 'default', meaning: 'The node pool.' }],
      [
        'node.meta',
        { default: {}, meaning: 'Labels of the node, for constraints: `${meta.rack}`.' },
      ],
      [
        'node.disable_remote_exec',
        { default: false, meaning: 'No token runs commands in tasks of this node.' },
      ],
      [
        'node.host_volume',
        {
          default: {},
          meaning:
            'Directories that tasks may mount, by name ([volumes](drivers.md#volumes)). In HCL a block for each: `host_volume "data" { path = "/srv/data" }`.',
        },
      ],
      [
        'node.address',
        {
          without: "that of the machine's default route; with `dev` `127.0.0.1`",
          meaning:
            'The address at which tasks of the node are reached, with the ports that they have.',
        },
      ],
      [
        'node.cpu_total_compute',
        {
          without: 'detected',
          meaning: 'The processor time of the node in MHz: that of all its cores.',
        },
      ],
      ['node.memory_total_mb', { without: 'detected', meaning: 'The memory of the node in MB.' }],
      [
        'node.disk_total_mb',
        {
          without: 'what is free in the data directory when the agent starts',
          meaning: 'The disk space of the node in MB.',
        },
      ],
      [
        'node.reserved.cpu',
        {
          without: counted(0),
          meaning:
            'MHz of the node that no task gets: for the machine itself, and for what else runs there.',
        },
      ],
      ['node.reserved.memory', { without: counted(0), meaning: 'The same for memory, in MB.' }],
      ['node.reserved.disk', { without: counted(0), meaning: 'The same for disk space, in MB.' }],
      [
        'node.reserved.reserved_ports',
        { without: 'none', meaning: 'Ports of the machine that no task gets.' },
      ],
      [
        'node.min_dynamic_port',
        {
          without: counted(network.dynamicPortMin),
          meaning: 'The first of the ports that tasks get where they name none.',
        },
      ],
      [
        'node.max_dynamic_port',
        { without: counted(network.dynamicPortMax), meaning: 'The last of these ports.' },
      ],
      [
        'node.artifacts.sources',
        {
          without: 'all',
          meaning:
            'The sources that artifacts may come from ([artifacts](../guides/artifacts.md)).',
        },
      ],
      [
        'node.artifacts.http_timeout',
        { without: lasting(artifact.httpTimeoutMs), meaning: 'How long a download may take.' },
      ],
      [
        'node.artifacts.git_timeout',
        { without: lasting(artifact.gitTimeoutMs), meaning: 'How long a clone may take.' },
      ],
      [
        'node.artifacts.download_bytes',
        { without: counted(artifact.downloadBytesMax), meaning: 'The largest download.' },
      ],
      [
        'node.artifacts.files',
        { without: counted(artifact.filesMax), meaning: 'The most files of an archive.' },
      ],
      [
        'node.artifacts.unpacked_bytes',
        { without: counted(artifact.unpackedBytesMax), meaning: 'The largest unpacked archive.' },
      ],
      [
        'node.artifacts.ratio',
        {
          without: counted(artifact.ratioMax),
          meaning: 'The largest ratio of an unpacked archive to its packed size.',
        },
      ],
    ],
  },
  {
    title: 'Drivers',
    rows: [
      [
        'drivers.allow',
        {
          without: 'all but `raw_exec`; with `dev` all',
          meaning:
            'The drivers that tasks may use ([drivers](drivers.md#which-drivers-a-node-has)).',
        },
      ],
      [
        'isolation.chroot',
        {
          without: 'the usual parts of a system',
          meaning: 'The parts of the machine that isolated tasks see ([drivers](drivers.md)).',
        },
      ],
      [
        'isolation.allow_capabilities',
        {
          without: '`["net_bind_service"]`',
          meaning: 'The capabilities that isolated tasks may ask for.',
        },
      ],
      [
        'isolation.uid_range',
        {
          without: 'see [exec](drivers.md#exec)',
          meaning: 'The user ids that allocations get if the agent is root.',
        },
      ],
      [
        'isolation.allow_root',
        { without: '`false`', meaning: 'Whether isolated tasks may run as root.' },
      ],
      [
        'isolation.allow_host_pid',
        {
          without: '`false`',
          meaning: 'Whether isolated tasks may see the processes of the machine.',
        },
      ],
      [
        'isolation.allow_host_ipc',
        {
          without: '`false`',
          meaning: 'Whether isolated tasks may share the IPC namespace of the machine.',
        },
      ],
      [
        'docker.socket',
        {
          without: 'found',
          meaning: 'The socket of the engine ([containers](drivers/docker.md)).',
        },
      ],
      [
        'docker.volumes',
        { without: '`false`', meaning: 'Whether tasks may mount any path of the machine.' },
      ],
      [
        'docker.allow_privileged',
        { without: '`false`', meaning: 'Whether tasks may be privileged.' },
      ],
      [
        'docker.allow_caps',
        { without: 'those of a container', meaning: 'What `cap_add` may name; `["all"]` for any.' },
      ],
      [
        'docker.image_delay',
        { without: 'never', meaning: 'How long after its last task a pulled image is removed.' },
      ],
      [
        'docker.unreachable_timeout',
        {
          without: lasting(docker.unreachableTimeoutMs),
          meaning: 'How long a task waits for an engine that does not answer.',
        },
      ],
    ],
  },
];
