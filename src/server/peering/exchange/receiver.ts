import type { ExchangeFrame, ServiceKey } from '../../../model/peering/exchange.ts';
import type { ServerContext } from '../../context.ts';
import type { ExchangeLink } from '../exchange.ts';
import type { ExchangeBounds } from './bounds.ts';
import { type ExchangeChange, Refused } from './imported-rows.ts';
import type { Imports } from './imports.ts';
import { Told } from './told.ts';

type ReceivedFrame = Exclude<ExchangeFrame, { readonly type: 'acknowledge' }>;

/**
 * Takes in what one peer tells over one stream.
 *
 * Invariants (X1, X2 and X4 of `model/peering/exchange.ts`)
 *  R1. Frames are taken in one after the other. At most so many wait; a peer that sends more has not
 *      waited for what it was owed, and is refused.
 *  R2. A change is acknowledged when it is durable, and not before.
 *  R3. From `begin` on it is noted what was told; what was not, is removed after `complete`, beside
 *      what comes then. Without a `complete` nothing is.
 *  R4. Once something was refused, or the stream is closed, nothing that came on it is written.
 */
export class Receiver {
  readonly #context: ServerContext;
  readonly #imports: Imports;
  readonly #link: ExchangeLink;
  readonly #onComplete: () => void;
  readonly #framesWaitingMax: number;
  readonly #waiting: ReceivedFrame[] = [];
  #isTaking = false;
  #isClosed = false;
  #lastId = 0;
  /** What was told since `begin`, for as long as somebody asks. */
  #told: Told | undefined;
  #hasBegun = false;
  #isComplete = false;

  constructor(
    context: ServerContext,
    options: {
      readonly imports: Imports;
      readonly link: ExchangeLink;
      readonly bounds: ExchangeBounds;
      /** All that the peer exports was told once. */
      readonly onComplete: () => void;
    },
  ) {
    this.#context = context;
    this.#imports = options.imports;
    this.#link = options.link;
    this.#framesWaitingMax = options.bounds.framesWaitingMax;
    this.#onComplete = options.onComplete;
  }

  /** Everything that the peer exports came over this stream. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
  }

  receive(frame: ReceivedFrame): void {
    if (this.#isClosed) return;
    if (this.#waiting.length >= this.#framesWaitingMax) {
      this.fail(`has sent more than ${this.#framesWaitingMax} frames that nobody asked for`);
      return;
    }
    this.#waiting.push(frame);
    if (!this.#isTaking) void this.#takeAll();
  }

  /** Ends the stream. */
  fail(reason: string): void {
    if (this.#isClosed) return;
    this.close();
    const { name: peer } = this.#link.peering;
    this.#context.log.warn({ peer, reason }, 'a peer was refused what it told of its services');
    this.#link.fail(reason);
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true;
    try {
      for (let frame = this.#waiting[0]; frame !== undefined; frame = this.#waiting[0]) {
        await this.#take(frame);
        this.#waiting.shift();
      }
    } catch (error) {
      if (error instanceof Refused) this.fail(error.message);
      else this.#stopAfter(error);
    } finally {
      this.#isTaking = false;
    }
  }

  /** The state cannot be written: the peer tells again on the next stream. */
  #stopAfter(error: unknown): void {
    if (this.#isClosed) return;
    this.close();
    this.#context.log.error(
      { error, peer: this.#link.peering.name },
      'what a peer told of its services could not be written',
    );
    this.#link.fail('what was told could not be written');
  }

  async #take(frame: ReceivedFrame): Promise<void> {
    if (frame.type === 'begin') {
      this.#told = new Told();
      this.#hasBegun = true;
      this.#isComplete = false;
    } else if (!this.#hasBegun) {
      throw new Refused(`has sent ${frame.type} before begin`);
    } else if (frame.type === 'complete') {
      this.#complete();
    } else {
      await this.#takeChange(frame);
    }
  }

  #complete(): void {
    if (this.#isComplete || this.#told === undefined) throw new Refused('has sent complete twice');
    const told = this.#told;
    this.#isComplete = true;
    // What comes meanwhile is noted as told: the two do not get into each other's way.
    const sweeping = this.#imports.inTurn(async () => {
      if (this.#isClosed || this.#told !== told) return;
      await this.#imports.sweep(told);
      if (this.#told === told) this.#told = undefined;
    });
    sweeping.then(this.#onComplete, (error: unknown) => this.#stopAfter(error));
  }

  async #takeChange(change: ExchangeChange): Promise<void> {
    if (change.id !== this.#lastId + 1) {
      throw new Refused(`has sent the change ${change.id} after ${this.#lastId}`);
    }
    this.#lastId = change.id;
    this.#told?.note(change);
    const isTaken = await this.#imports.inTurn(async () => {
      if (this.#isClosed) return false;
      const mayHave = (service: ServiceKey, isKnown: boolean) => this.#mayHave(service, isKnown);
      return this.#imports.take(this.#link.peering.id, change, mayHave);
    });
    if (!isTaken || this.#isClosed) return;
    this.#link.send({ type: 'acknowledge', id: change.id });
  }

  /** While everything is told anew, what is known from before does not count. */
  #mayHave(service: ServiceKey, isKnown: boolean): boolean {
    if (this.#isComplete) return isKnown;
    return this.#told?.hasService(service) === true;
  }
}
