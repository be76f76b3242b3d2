/**
 * Words of other control planes that name nothing here, with a sentence about the way to the same end. A longer entry
 * takes precedence. No entry is a command or an alias. docs/reference/commands.md lists them.
 */
export const foreignWords: Readonly<Record<string, string>> = {
  volume:
    'Nodes offer host volumes, from node.host_volume in the configuration of the agent; a job mounts them by a block "volume". No storage plugins are managed here.',
  plugin:
    'No storage plugins are managed here. Nodes offer host volumes, from node.host_volume in the configuration of the agent; "roster node status NODE" shows the drivers of a node.',
  quota:
    'No quotas exist here. Job policies limit the resources of jobs: see "roster job policy --help".',
  recommendation:
    'No sizes are recommended here. "roster alloc status -stats ALLOC" shows the usage of tasks.',
  sentinel: 'Job policies do this without a second language: see "roster job policy --help".',
  license: 'Roster has no editions: namespaces, partitions, logins and quorums need no licence.',
  tls: 'Make certificates with a tool such as openssl; docs/guides/tls.md shows each command.',
  setup: 'Set access control up with "roster acl bootstrap" and "roster acl auth-method create".',
  kv: 'Key and value pairs are variables here: "roster var put PATH KEY=VALUE", "roster var get PATH".',
  lock: 'No locks are offered here. A variable is written with -check-index only if nobody else has written it: "roster var put".',
  'var lock':
    'No locks are offered here. A variable is written with -check-index only if nobody else has written it: "roster var put".',
  watch:
    'Follow changes with "roster event stream". Lists of the API wait for a change with the parameter index.',
  catalog: 'Services are listed by "roster service list", nodes by "roster node status".',
  'catalog datacenters': 'The column Datacenter of "roster node status" shows them.',
  'services register':
    'Services are registered by the jobs that run them: a block "service" in the job file, then "roster job run".',
  'services deregister': 'Take an instance out with "roster service delete SERVICE ID".',
  'services export': 'Write an entry of the kind exported-services: "roster config write FILE".',
  'intention get':
    'An entry holds all intentions of a destination: "roster config read service-intentions NAME".',
  'intention delete':
    'An entry holds all intentions of a destination: take the source out of it, and "roster config write FILE".',
  'intention create':
    'Write an entry of the kind service-intentions: "roster config write FILE"; docs/reference/config-entries/service-intentions.md has examples.',
  connect:
    'No sidecar proxies are run here. "roster config --help" and "roster intention --help" keep and explain their configuration.',
  troubleshoot:
    '"roster intention check SOURCE DESTINATION" and "roster config chain SERVICE" explain how services reach each other.',
  join: 'Servers find each other through etcd: start each with --engine etcd and the same --etcd-endpoints. Nodes join with "roster agent --servers".',
  leave: 'End the agent with SIGTERM; drain a node first, with "roster node drain -enable NODE".',
  'force-leave': 'Delete a node that will not return with "roster node purge NODE".',
  'server join':
    'Servers find each other through etcd: start each with --engine etcd and the same --etcd-endpoints.',
  'server force-leave': 'A server that is gone leaves the list by itself: "roster server members".',
  keygen:
    'A server makes its root key itself, in its data directory; docs/reference/root-key.md tells of keys of your own.',
  keyring: 'The keys that seal secrets are listed by "roster operator keyring list".',
  'operator gossip':
    'Servers do not gossip here, and need no key for it. "roster operator keyring list" lists the keys that seal secrets.',
  'operator keyring remove':
    'A rotation deletes the old key once every secret is sealed with the new key: "roster operator keyring rotate".',
  'operator raft':
    'The log of several servers is in etcd. "roster server members" lists the servers, "roster operator leader step-down" moves the leadership.',
  'operator autopilot': 'The health of the servers is shown by "roster server health".',
  'operator utilization': 'Usage is shown by "roster node status -stats NODE".',
  'operator client-state': 'The state of a node is shown by "roster node status NODE".',
  maint:
    'Take a node out of service with "roster node drain -enable NODE", or "roster node eligibility -disable NODE".',
  rtt: 'No network coordinates are kept here.',
  'node meta':
    'The labels of a node are in node.meta of the configuration of its agent, which takes them without a restart: "roster agent reload".',
  'node config':
    'The settings of a node are in the configuration of its agent; "roster server members" lists the servers.',
  'node identity': 'Nodes are admitted by introduction tokens: "roster node intro create".',
  'alloc pause':
    'Stop an allocation with "roster alloc stop ALLOC"; no schedules pause tasks here.',
  'acl set-agent-token':
    'A node gets a secret of its own when it joins: "roster node intro create" makes the token that admits it.',
  'acl translate-rules':
    'Policies in older forms are read as they are: "roster acl policy create -rules FILE NAME".',
  region: 'Each region is a cluster of its own; connect clusters with "roster peering establish".',
};

/** The entry that the words begin with, if any. */
export function foreignWord(
  given: readonly string[],
): { readonly name: string; readonly sentence: string } | undefined {
  for (let length = given.length; length > 0; length--) {
    const name = given.slice(0, length).join(' ');
    if (Object.hasOwn(foreignWords, name)) return { name, sentence: foreignWords[name]! };
  }
  return undefined;
}
