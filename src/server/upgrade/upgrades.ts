import { instantFromMs } from '../../base/instant.ts';
import type { Timer } from '../../base/ports.ts';
import type { Upgrade } from '../../model/cluster-version/cluster-version.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { TableVersions } from '../../state/form.ts';
import { clusterVersions } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import type { Servers } from '../servers.ts';
import { lacking, nextRow, type PresentServer, raised } from './versions.ts';

export interface UpgradesOptions {
  readonly servers: Servers;
  /** Whether several servers may hold the log. */
  readonly isShared: boolean;
  /** The newest version of each table that this program reads. */
  readonly tables: TableVersions;
  readonly version: string;
}

/**
 * Raises the versions in which the state is written, once every server reads them.
 *
 * Invariants
 *  U1. A version is raised when every server that was seen within 24 hours reads it and no operator holds
 *      it, or when an operator finishes the upgrade and every connected server reads it. It never goes down.
 *  U2. Where this process holds the log alone, versions are those of its program.
 */
export class Upgrades {
  readonly #context: ServerContext;
  readonly #options: UpgradesOptions;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(context: ServerContext, options: UpgradesOptions) {
    this.#context = context;
    this.#options = options;
  }

  start(): void {
    if (this.#options.isShared) this.#lookLater();
    else if (this.#row !== undefined) void this.#lookAtServers();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.clear();
  }

  status(): Upgrade {
    const { tables, isShared, version } = this.#options;
    const row = this.#row;
    const written = isShared && row !== undefined ? row.Tables : tables;
    const pending = Object.entries(tables).filter(
      ([name, newest]) => (written[name] ?? 0) < newest,
    );
    const connected = new Set(this.#present().flatMap(({ id, tables }) => (tables ? [id] : [])));
    const own = {
      ID: this.#options.servers.id,
      Address: '',
      Version: version,
      Tables: tables,
      SeenAt: instantFromMs(this.#context.world.clock.nowMs()),
    };
    return {
      Final: pending.length === 0,
      Hold: row?.Hold ?? false,
      RaisedAt: row?.RaisedAt ?? 0,
      Pending: pending.map(([Table, Newest]) => ({ Table, Written: written[Table] ?? 0, Newest })),
      Servers: (row?.Servers ?? [own]).map(({ Tables, ...server }) => ({
        ...server,
        Connected: connected.has(server.ID),
        Lacks: [...lacking(Tables, tables)],
      })),
    };
  }

  /** @throws RosterError `upgrade-alone` */
  async hold(Hold: boolean): Promise<Written<unknown>> {
    this.#requireShared();
    return this.#context.state.write((transaction) => {
      const table = transaction.table(clusterVersions);
      const row = table.get('version') ?? this.#firstRow();
      if (row.Hold !== Hold) table.put({ ...row, Hold });
    });
  }

  /** Forgets the servers that are not connected. @throws RosterError `upgrade-alone`, `upgrade-blocked` */
  async finish(): Promise<Written<unknown>> {
    this.#requireShared();
    const { tables: wanted } = this.#options;
    const present = this.#present();
    for (const { id, version, tables } of present) {
      const lacks = tables === undefined ? [] : lacking(tables, wanted);
      if (lacks.length === 0) continue;
      throw refusal('upgrade-blocked', { server: id, version, tables: lacks.join(', ') });
    }
    const connected = present.filter(({ tables }) => tables !== undefined);
    return this.#context.state.write((transaction) => {
      const table = transaction.table(clusterVersions);
      const row = table.get('version') ?? this.#firstRow();
      const now = instantFromMs(this.#context.world.clock.nowMs());
      const next = nextRow({ ...row, Hold: false, Servers: [] }, connected, now);
      const Tables = raised(row.Tables, wanted);
      table.put({ ...row, Hold: false, ...next, RaisedAt: now, Tables });
    });
  }

  get #row() {
    return this.#context.state.read().table(clusterVersions).get('version');
  }

  #firstRow() {
    const { tables: Tables } = this.#options;
    return { ID: 'version' as const, Tables, Hold: false, RaisedAt: 0, Servers: [] };
  }

  #requireShared(): void {
    if (!this.#options.isShared) throw refusal('upgrade-alone');
  }

  #present(): readonly PresentServer[] {
    const { servers, tables, version } = this.#options;
    return servers.members().map(({ id, address }) =>
      id === servers.id
        ? { id, address, version, tables }
        : {
            id,
            address,
            version: servers.reportOf(id)?.version ?? '',
            tables: servers.tablesOf(id),
          },
    );
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer = this.#context.world.timers.after(limits.upgrade.lookMs, () => {
      void this.#lookAtServers().then(() => this.#lookLater());
    });
  }

  async #lookAtServers(): Promise<void> {
    const { state, world, log } = this.#context;
    const present = this.#present();
    const look = (row = this.#row) => nextRow(row, present, instantFromMs(world.clock.nowMs()));
    if (look() === undefined) return;
    try {
      await state.write((transaction) => {
        const table = transaction.table(clusterVersions);
        const row = table.get('version');
        const next = look(row);
        if (next === undefined) return;
        table.put({ ID: 'version', ...next });
        const news = lacking(row?.Tables ?? {}, next.Tables);
        if (row !== undefined && news.length > 0) {
          log.info({ tables: news }, 'every server reads these tables, so they are written');
        }
      });
    } catch (error) {
      if (!this.#isStopped) log.warn({ error }, 'the versions of the tables could not be stored');
    }
  }
}
