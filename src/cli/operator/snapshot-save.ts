import { RosterError } from '../../model/errors.ts';
import { framesIn } from '../../model/snapshot/snapshot-file.ts';
import { type SnapshotHeader, snapshotName } from '../../model/snapshot/snapshot-header.ts';
import type { Context } from '../context.ts';
import type { ClientCommand } from '../definition.ts';
import type { FileInProgress } from '../environment.ts';
import { CliError } from '../errors.ts';
import { cliLimits } from '../limits.ts';
import { bytesText } from '../render/bytes.ts';
import { unreadableReason } from '../unreadable.ts';

export const snapshotSave: ClientCommand = {
  words: ['operator', 'snapshot', 'save'],
  summary: 'Save a snapshot of the whole state to a file.',
  definition: {
    arguments: [
      {
        name: 'FILE',
        kind: 'file',
        isRequired: false,
        description: 'Where to write it (roster-TIME-INDEX.snapshot).',
      },
    ],
    details: `The file holds all records as they are stored: secrets in it are sealed with the keyring, and the
keyring with the root key of the servers, which is not in the file. Keep a copy of the root key apart from it.
The file appears under its name once it is complete, its checksum is right, and the disk has it. A file of that
name is replaced. Needs a management token.`,
  },
  async run(context, [given]) {
    const path = given ?? defaultName;
    const saved = await save(context, path);
    return context.show(saved, async () => {
      const { File, Index, Bytes } = saved;
      const size = bytesText(Bytes);
      await context.screen.line(`Saved the state at index ${Index} to ${File} (${size}).`);
    });
  },
};

/** Stands for the name that the header of the snapshot gives. */
const defaultName = '';

interface Saved extends SnapshotHeader {
  readonly File: string;
  readonly Bytes: number;
  readonly Checksum: string;
}

async function save(context: Context, given: string): Promise<Saved> {
  return context.untilInterrupted(async (signal) => {
    const { environment, client } = context;
    const target = new Target(given, environment.beginFile);
    const progress = new Progress(context);
    let header: SnapshotHeader | undefined;
    let checksum = '';
    try {
      const pieces = target.keep(client.snapshots.save({ signal }), () => header, progress);
      for await (const frame of framesIn(pieces)) {
        if (frame.kind === 'header') header = frame.header;
        if (frame.kind === 'end') checksum = frame.checksum;
      }
      await target.finish();
    } catch (error) {
      await target.discard();
      if (!(error instanceof RosterError)) throw error;
      const hint = 'Nothing was saved. Try it again.';
      throw new CliError(`The file of the server is no snapshot. ${error.message}`, { hint });
    } finally {
      await progress.end();
    }
    return { File: target.path, Bytes: target.bytes, Checksum: checksum, ...header! };
  });
}

/** The file that is written. It is begun when its name is known. */
class Target {
  path: string;
  bytes = 0;
  readonly #begin: (path: string) => Promise<FileInProgress>;
  #file: FileInProgress | undefined;
  #early: Uint8Array[] = [];

  constructor(path: string, begin: (path: string) => Promise<FileInProgress>) {
    this.path = path;
    this.#begin = begin;
  }

  /** Passes the pieces on, and writes each after it was looked at. */
  async *keep(
    pieces: AsyncIterable<Uint8Array>,
    header: () => SnapshotHeader | undefined,
    progress: Progress,
  ): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      yield piece;
      this.bytes += piece.byteLength;
      this.#early.push(piece);
      await this.#write(header());
      await progress.show(this.bytes);
    }
  }

  async finish(): Promise<void> {
    await this.#withName(() => this.#file!.finish());
  }

  async discard(): Promise<void> {
    await this.#file?.discard();
  }

  async #write(header: SnapshotHeader | undefined): Promise<void> {
    if (header === undefined) return;
    this.path ||= snapshotName(header);
    await this.#withName(async () => {
      this.#file ??= await this.#begin(this.path);
      for (const piece of this.#early.splice(0)) await this.#file.write(piece);
    });
  }

  /** @throws CliError naming the file */
  async #withName(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const reason = unreadableReason(error as NodeJS.ErrnoException);
      throw new CliError(`"${this.path}" cannot be written: ${reason}.`);
    }
  }
}

/** Shows at a terminal how much has come. */
class Progress {
  readonly #context: Context;
  readonly #isShown: boolean;
  #shownMs = Number.NEGATIVE_INFINITY;

  constructor(context: Context) {
    this.#context = context;
    this.#isShown = context.environment.stderr.isTerminal && !context.isJson;
  }

  async show(bytes: number): Promise<void> {
    const { clock, stderr } = this.#context.environment;
    const nowMs = clock.monotonicMs();
    if (!this.#isShown || nowMs - this.#shownMs < cliLimits.snapshot.progressMs) return;
    this.#shownMs = nowMs;
    await stderr.write(`\r${bytesText(bytes)} `);
  }

  async end(): Promise<void> {
    if (this.#isShown && this.#shownMs >= 0) await this.#context.environment.stderr.write('\r');
  }
}
