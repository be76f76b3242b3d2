import type { ByteStream } from '../../model/node-stream/byte-stream.ts';
import type { TableVersions } from '../../state/form.ts';
import type { PeerLag } from '../servers.ts';
import { networkLimits } from './limits.ts';

/** The kind of the stream on which a server reports to another one as long as they are connected. */
export const reportKind = 'report';

/** The state of a server, as it tells the others. */
export interface Standing {
  /** The epoch of its term; `undefined`: it does not lead. */
  readonly epoch: number | undefined;
  /** Index of its newest durable view. */
  readonly index: number;
  /** Its clock. */
  readonly nowMs: number;
  /** Its name for a leader that steps down; `undefined`: it cannot succeed it at once. */
  readonly candidate?: string | undefined;
  /** Of a leader: milliseconds for which its log has been silent. */
  readonly silentMs?: number | undefined;
  /** Of a leader: peers that lag, the first ones. */
  readonly lags?: readonly PeerLag[] | undefined;
}

export interface ReportLine {
  readonly standing?: Standing;
  /** When it asked for an echo, on its own monotonic clock. */
  readonly askedMs?: number;
  /**
   * The newest time of asking that it has heard: the standing is of later. `null`: it has heard none. Absent from servers of
   * an earlier version.
   */
  readonly echoMs?: number | null;
  /** The newest version of each table that it reads, in its first line. */
  readonly tables?: TableVersions;
  /** Nodes that have connected to it, and nodes that have disconnected. */
  readonly held?: readonly string[];
  readonly lost?: readonly string[];
}

/**
 * Reports on a stream: at each beat, and at once when something has changed, or the other server has asked. Each beat asks
 * for an echo. A report may wait for long in the socket of a server that is asleep; by the echo that server knows how old
 * the report may be, whatever both clocks show.
 */
export class Reporter {
  readonly #stream: ByteStream;
  readonly #standing: () => Standing;
  readonly #isHeld: (nodeId: string) => boolean;
  /** Nodes that are to be told. A set, so a slow reader costs no queue. */
  readonly #changed: Set<string>;
  #wake: () => void = () => {};
  #isDue = true;
  #isAsking = true;
  #echoMs: number | null = null;
  readonly #nowMs: () => number;
  #tables: TableVersions | undefined;

  constructor(
    stream: ByteStream,
    told: {
      readonly standing: () => Standing;
      readonly tables: TableVersions;
      readonly nodeIds: Iterable<string>;
      readonly isHeld: (nodeId: string) => boolean;
      /** The monotonic clock. */
      readonly nowMs: () => number;
    },
  ) {
    this.#stream = stream;
    this.#standing = told.standing;
    this.#tables = told.tables;
    this.#isHeld = told.isHeld;
    this.#nowMs = told.nowMs;
    this.#changed = new Set(told.nodeIds);
  }

  /** The standing is due. */
  beat(): void {
    this.#isDue = true;
    this.#isAsking = true;
    this.#wake();
  }

  /** The other server has asked for an echo, at this time of its own. */
  echo(askedMs: number): void {
    this.#echoMs = askedMs;
    this.#isDue = true;
    this.#wake();
  }

  noteNode(nodeId: string): void {
    this.#changed.add(nodeId);
    this.#wake();
  }

  /** Ends, or rejects with a `StreamFault`, with the stream. */
  async run(): Promise<void> {
    this.#stream.signal.addEventListener('abort', () => this.#wake());
    while (!this.#stream.isOver) {
      const line = this.#nextLine();
      if (line === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else await this.#stream.write(Buffer.from(`${JSON.stringify(line)}\n`));
    }
  }

  #nextLine(): ReportLine | undefined {
    if (this.#isDue) {
      this.#isDue = false;
      const tables = this.#tables;
      this.#tables = undefined;
      const asked = this.#isAsking && { askedMs: this.#nowMs() };
      this.#isAsking = false;
      const told = { standing: this.#standing(), echoMs: this.#echoMs };
      return { ...told, ...asked, ...(tables && { tables }) };
    }
    if (this.#changed.size === 0) return undefined;
    const held: string[] = [];
    const lost: string[] = [];
    for (const nodeId of this.#changed) {
      if (held.length + lost.length >= networkLimits.nodesPerLineMax) break;
      (this.#isHeld(nodeId) ? held : lost).push(nodeId);
      this.#changed.delete(nodeId);
    }
    return { held, lost };
  }
}

/** The lines of a report, as they come. Ends with the stream, and at a malformed line. */
export async function* linesOf(stream: ByteStream): AsyncGenerator<ReportLine, void> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = lineIn(text.slice(0, end));
      if (line === undefined) return;
      yield line;
      text = text.slice(end + 1);
    }
    if (text.length > networkLimits.reportLineBytesMax) return;
  }
}

function lineIn(text: string): ReportLine | undefined {
  try {
    const { standing, askedMs, echoMs, tables, held, lost } = JSON.parse(text) as ReportLine;
    const told = standing === undefined ? undefined : standingIn(standing);
    return {
      ...(told && { standing: told }),
      ...(Number.isFinite(askedMs) && { askedMs: askedMs! }),
      ...((echoMs === null || Number.isFinite(echoMs)) && { echoMs: echoMs! }),
      ...(tables && { tables: versionsIn(tables) }),
      held: idsIn(held),
      lost: idsIn(lost),
    };
  } catch {
    return undefined;
  }
}

const idsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];

const versionsIn = (tables: TableVersions): TableVersions =>
  Object.fromEntries(Object.entries(tables).filter(([, version]) => Number.isInteger(version)));

function standingIn(told: Standing): Standing | undefined {
  const { epoch, index, nowMs, candidate, silentMs, lags } = told;
  if (!Number.isFinite(index) || !Number.isFinite(nowMs)) return undefined;
  return {
    epoch: Number.isInteger(epoch) ? epoch : undefined,
    index,
    nowMs,
    candidate: typeof candidate === 'string' ? candidate : undefined,
    silentMs: Number.isFinite(silentMs) ? silentMs : 0,
    lags: Array.isArray(lags) ? lags.filter(isLag) : [],
  };
}

const isLag = (value: unknown): value is PeerLag => {
  const { partition, name, lagMs } = (value ?? {}) as Partial<PeerLag>;
  return typeof partition === 'string' && typeof name === 'string' && Number.isFinite(lagMs);
};
