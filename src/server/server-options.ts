import type { SchedulerConfiguration } from '../scheduler/view.ts';
import type { TableVersions } from '../state/form.ts';
import type { BootstrapReset } from './acl/bootstrap.ts';
import type { ServerContext } from './context.ts';
import type { GarbageSettings } from './garbage/collector.ts';
import type { Keyring } from './keyring/keyring.ts';
import type { Outbound } from './login/outbound.ts';
import type { Exchange } from './peering/exchange.ts';
import type { PeeringTransport } from './peering/link.ts';
import type { ThreadEnds } from './readers/thread-ends.ts';
import type { StartDecider } from './scheduling/decider/decider.ts';
import type { Servers } from './servers.ts';
import type { SnapshotScheduleSettings } from './snapshots/schedule.ts';

export interface ServerOptions extends Omit<ServerContext, 'box' | 'openEvaluations'> {
  readonly keyring: Keyring;
  /** Of the program; the default: 0.0.0. */
  readonly version?: string;
  /** The newest version of each table that the program reads; the default is that of `allTables`. */
  readonly tables?: TableVersions;
  /** The way to identity providers. */
  readonly outbound: Outbound;
  /** Where this server stands. */
  readonly datacenter: string;
  /** The address under which others find the keys of this cluster; `undefined`: it has none. */
  readonly issuer?: string | undefined;
  /** The secret of the first management token, when the operator or `--dev` gives one. */
  readonly rootSecret: string | undefined;
  readonly scheduler: SchedulerConfiguration;
  /** How long is kept what nobody needs; the default is that of `limits.garbage`. */
  readonly garbage?: Partial<GarbageSettings>;
  /** Snapshots on a schedule; the default: none. */
  readonly snapshots?: SnapshotScheduleSettings;
  /** Nodes reach it only from `beHeard` on; the default: at once. */
  readonly isHeardLater?: boolean;
  /** The way to other clusters; `undefined`: there is none. */
  readonly peers?: PeeringTransport;
  /** The exchange over the streams of peerings; the default is that of services. */
  readonly exchange?: Exchange;
  /** How an operator of the machine allows another first token; the default: not at all. */
  readonly bootstrapReset?: BootstrapReset;
  /** Threads that answer reads for this server, to which nodes connect as well; the default: there are none. */
  readonly readers?: Pick<Servers, 'streamTo'> | undefined;
  /** Decides evaluations beside the thread of the server; the default: the server decides. */
  readonly startDecider?: StartDecider | undefined;
  /** Ends of readers and of the decider; absent where there are none. */
  readonly threadEnds?: ThreadEnds | undefined;
  /** Milliseconds since the log last answered, also while it leads; absent where the log has no other holder. */
  readonly logContactMs?: (() => number | undefined) | undefined;
  /** The age of its state from which on it answers no `stale` requests; the default is that of `limits.servers`. */
  readonly staleMaxMs?: number | undefined;
  /** The way to the other servers of the cluster; the default: there are none. */
  readonly servers?: Servers;
}
