import type { Clock, Timer, Timers } from '../../base/ports.ts';
import { pause } from '../../base/slices.ts';
import type { eventEndpoints } from '../../contract/event.ts';
import { RosterError } from '../../model/errors.ts';
import type { EventFrame } from '../../model/event/event.ts';
import { limits } from '../../model/limits.ts';
import type { Log } from '../../server/context.ts';
import type { EventLog } from '../../server/events/event-log.ts';
import type { PushedBody, Sink } from '../http.ts';
import type { StreamInput } from '../route.ts';
import type { InputOf } from '../serve.ts';
import { type Encoded, type Lines, type Selection, selectionOf, toldAfter } from './lines.ts';
import { NewestEvents } from './newest.ts';
import { pushed } from './pushed.ts';

type Given = InputOf<typeof eventEndpoints.follow>;

export interface ReadersOptions {
  readonly events: EventLog;
  readonly log: Pick<Log, 'error'>;
  readonly world: { readonly clock: Clock; readonly timers: Timers };
}

interface Reader {
  readonly input: StreamInput<Given>;
  readonly selection: Selection;
  readonly sink: Sink;
  /** The index of the last commit that was told. */
  position: number;
  isFull: boolean;
  toldMs: number;
  /** Until its next line without events may be due. */
  beat: Timer | undefined;
  /** Of a reader who wants the newest events alone. */
  readonly newest: NewestEvents | undefined;
  /** Until its next line of them may be due. */
  pause: Timer | undefined;
}

/** Lines that were made in a round, by caller and by what the readers asked for. */
type Round = Map<object, Map<string, Lines>>;

/**
 * Tells the readers of the event stream of each commit, in rounds.
 *
 * Invariants
 *  E1. Readers with the same token who ask for the same, and are equally far, get the same bytes: they are made once.
 *  E2. The pause between two rounds grows with the number of readers, so a server with many readers writes to each less
 *      often. The first commit after a quiet time is told at once.
 *  E3. A reader that is full is left out until it has drained. It has a position and no queue.
 *  E4. The permissions of each reader are checked in each round.
 *  E5. A reader of the newest events alone takes part in each round also while it is full (`newest.ts`), and gets a line at
 *      most every `newestPauseMs`. The first event after a quiet time is told at once.
 */
export class EventReaders {
  readonly #options: ReadersOptions;
  readonly #readers = new Set<Reader>();
  #isTelling = false;

  constructor(options: ReadersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** The events after the index `position`, until `signal` aborts. */
  body(input: StreamInput<Given>, position: number, signal: AbortSignal): PushedBody {
    const selection = selectionOf(input);
    return pushed((sink) => {
      const toldMs = this.#options.world.clock.monotonicMs();
      const begin = { position, toldMs, isFull: false, beat: undefined, pause: undefined };
      const { newest: most } = selection;
      const newest = most === undefined ? undefined : new NewestEvents(selection, most, position);
      const reader: Reader = { input, selection, sink, newest, ...begin };
      const leave = () => this.#leaveOut(reader);
      this.#readers.add(reader);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      sink.on('drain', () => {
        reader.isFull = false;
        this.#tellReader(reader, new Map(), new Map());
      });
      if (newest === undefined) this.#write(reader, line({}));
      // The position, from which the stream can be resumed.
      else this.#write(reader, Buffer.from(newest.line(input)));
      this.#tellReader(reader, new Map(), new Map());
      this.#beat(reader);
      void this.#tellAll();
      return leave;
    });
  }

  /** E2. One loop serves all readers, as long as there are some. */
  async #tellAll(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const { events, world } = this.#options;
    while (this.#readers.size > 0) {
      const { changed } = events;
      const startMs = world.clock.monotonicMs();
      await this.#takeRound();
      await changed;
      const pauseMs = Math.floor(this.#readers.size / limits.events.readersPerPauseMs);
      const leftMs = startMs + pauseMs - world.clock.monotonicMs();
      if (leftMs > 0) await new Promise<void>((over) => world.timers.after(leftMs, over));
    }
    this.#isTelling = false;
  }

  /** In slices, between which other work gets its turn. */
  async #takeRound(): Promise<void> {
    const { clock, timers } = this.#options.world;
    const [round, encoded]: [Round, Encoded] = [new Map(), new Map()];
    let endMs = clock.monotonicMs() + limits.events.sliceMs;
    for (const reader of this.#readers) {
      this.#tellReader(reader, round, encoded);
      if (clock.monotonicMs() < endMs) continue;
      await pause(timers);
      endMs = clock.monotonicMs() + limits.events.sliceMs;
    }
  }

  #tellReader(reader: Reader, round: Round, encoded: Encoded): void {
    this.#orEnd(reader, () => {
      const { events } = this.#options;
      if (reader.newest !== undefined) return this.#tellNewest(reader, reader.newest);
      let isAll = !events.isAfter(reader.position);
      if (isAll || !this.#mayWrite(reader)) return;
      const input = reader.input.renew();
      while (!isAll && this.#mayWrite(reader)) {
        const lines = this.#shared(reader, input, round, encoded);
        reader.position = lines.position;
        if (lines.bytes !== undefined) this.#write(reader, lines.bytes);
        isAll = lines.isAll;
      }
    });
  }

  /** E5. */
  #tellNewest(reader: Reader, newest: NewestEvents): void {
    const { events, world } = this.#options;
    const { clock, timers } = world;
    if (!events.isAfter(newest.position) && !newest.isDue) return;
    const input = reader.input.renew();
    newest.take(events, input);
    if (!newest.isDue || !this.#mayWrite(reader)) return;
    const leftMs = reader.toldMs + limits.events.newestPauseMs - clock.monotonicMs();
    if (leftMs <= 0) {
      this.#write(reader, Buffer.from(newest.line(input)));
      return;
    }
    reader.pause ??= timers.after(leftMs, () => {
      reader.pause = undefined;
      this.#tellReader(reader, new Map(), new Map());
    });
  }

  /** E1. */
  #shared({ position, selection }: Reader, input: Given, round: Round, encoded: Encoded): Lines {
    // All requests with the same permissions have the same caller.
    const ofCaller = round.get(input.caller) ?? new Map<string, Lines>();
    round.set(input.caller, ofCaller);
    const key = `${position} ${selection.key}`;
    let lines = ofCaller.get(key);
    if (lines === undefined) {
      lines = toldAfter(this.#options.events, position, { selection, input, encoded });
      ofCaller.set(key, lines);
    }
    return lines;
  }

  /** Sends a line without events when nothing else was sent for some time. */
  #beat(reader: Reader): void {
    const { clock, timers } = this.#options.world;
    const leftMs = reader.toldMs + limits.events.heartbeatMs - clock.monotonicMs();
    if (leftMs <= 0 && this.#mayWrite(reader)) {
      this.#orEnd(reader, () => {
        reader.input.renew();
        this.#write(reader, line({}));
      });
    }
    if (!this.#readers.has(reader)) return;
    const nextMs = leftMs > 0 ? leftMs : limits.events.heartbeatMs;
    reader.beat = timers.after(nextMs, () => this.#beat(reader));
  }

  /** The answer has begun, so an error is sent as a line. */
  #orEnd(reader: Reader, run: () => void): void {
    try {
      run();
    } catch (thrown) {
      if (thrown instanceof RosterError) {
        const { code: Code, detail: Message } = thrown;
        this.#write(reader, line({ Error: { Code, Message } }));
      } else {
        this.#options.log.error({ error: thrown }, 'an event stream failed');
      }
      this.#leaveOut(reader);
    }
  }

  #leaveOut(reader: Reader): void {
    this.#readers.delete(reader);
    reader.beat?.clear();
    reader.pause?.clear();
    reader.sink.end();
  }

  #mayWrite(reader: Reader): boolean {
    return !reader.isFull && this.#readers.has(reader);
  }

  #write(reader: Reader, bytes: Uint8Array): void {
    reader.toldMs = this.#options.world.clock.monotonicMs();
    reader.isFull = !reader.sink.write(bytes);
  }
}

const line = (frame: EventFrame): Uint8Array => Buffer.from(`${JSON.stringify(frame)}\n`);
