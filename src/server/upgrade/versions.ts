/** The form of the state that servers of different programs can share. Pure. */

import { instantToMs } from '../../base/instant.ts';
import type { ClusterVersion, SeenServer } from '../../model/cluster-version/cluster-version.ts';
import { limits } from '../../model/limits.ts';
import type { TableVersions } from '../../state/form.ts';

/** A server that is a member now. */
export interface PresentServer {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  /** `undefined`: it has not told, or cannot. */
  readonly tables: TableVersions | undefined;
}

/** The newest version of each table that all of them read. */
export function readByAll(all: readonly TableVersions[]): TableVersions {
  const [first = {}, ...others] = all;
  const entries = Object.entries(first).flatMap(([name, version]) => {
    const versions = others.map((one) => one[name] ?? 0);
    const least = Math.min(version, ...versions);
    return least > 0 ? [[name, least] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Versions never go down. */
export function raised(from: TableVersions, to: TableVersions): TableVersions {
  const versions: Record<string, number> = { ...from };
  for (const [name, version] of Object.entries(to)) {
    versions[name] = Math.max(version, versions[name] ?? 0);
  }
  return versions;
}

/** The tables of `wanted` that a server with `read` does not read, in words. */
export const lacking = (read: TableVersions, wanted: TableVersions): readonly string[] =>
  Object.entries(wanted)
    .filter(([name, version]) => (read[name] ?? 0) < version)
    .map(([name, version]) => `${name} ${version}`);

/** A server keeps its place when it starts again, even with another program. */
const placeOf = ({ ID, Address }: SeenServer): string => Address || ID;

/** The servers of the last day, the newest last. */
export function seenServers(
  before: readonly SeenServer[],
  present: readonly PresentServer[],
  now: number,
): readonly SeenServer[] {
  const seen = new Map<string, SeenServer>();
  for (const one of before) {
    if (instantToMs(now - one.SeenAt) < limits.upgrade.seenMs) seen.set(placeOf(one), one);
  }
  for (const { id, address, version, tables = {} } of present) {
    const one = { ID: id, Address: address, Version: version, SeenAt: now, Tables: tables };
    const known = seen.get(placeOf(one));
    seen.delete(placeOf(one));
    const isFresh =
      known !== undefined &&
      isSameServer(known, one) &&
      instantToMs(now - known.SeenAt) < limits.upgrade.refreshMs;
    seen.set(placeOf(one), isFresh ? known : one);
  }
  return [...seen.values()].slice(-limits.upgrade.serversMax);
}

const isSameServer = (one: SeenServer, other: SeenServer): boolean =>
  one.ID === other.ID &&
  one.Version === other.Version &&
  lacking(one.Tables, other.Tables).length === 0 &&
  lacking(other.Tables, one.Tables).length === 0;

type Row = Pick<ClusterVersion, 'Tables' | 'Hold' | 'RaisedAt' | 'Servers'>;

/** The row after a look at the servers; `undefined`: nothing changes. */
export function nextRow(
  row: Row | undefined,
  present: readonly PresentServer[],
  now: number,
): Row | undefined {
  const Servers = seenServers(row?.Servers ?? [], present, now);
  const { Tables = {}, Hold = false, RaisedAt = 0 } = row ?? {};
  const target = raised(Tables, readByAll(Servers.map((one) => one.Tables)));
  const isRaise = !Hold && lacking(Tables, target).length > 0;
  if (isRaise) return { Tables: target, Hold, RaisedAt: now, Servers };
  // A state without the row may have servers that do not know its table.
  if (row === undefined || isSameList(row.Servers, Servers)) return undefined;
  return { Tables, Hold, RaisedAt, Servers };
}

const isSameList = (one: readonly SeenServer[], other: readonly SeenServer[]): boolean =>
  one.length === other.length && one.every((server) => other.includes(server));
