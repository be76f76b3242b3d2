import type { ExchangeFrame, ServiceKey } from '../../../model/peering/exchange.ts';
import type { ServerContext } from '../../context.ts';
import type { ExchangeLink } from '../exchange.ts';
import type { ExchangeBounds } from './bounds.ts';
import { ChangeRefusal, type ExchangeChange } from './imported-rows.ts';
import type { Imports } from './imports.ts';
import { Told } from './told.ts';

type ReceivedFrame = Exclude<ExchangeFrame, { readonly type: 'acknowledge' }>;

/**
 * Takes the frames of one peer over one stream.
 *
 * Invariants (X1, X2 and X4 of `model/peering/exchange.ts`)
 *  R1. Frames are handled one after the other. The number of waiting frames is bounded: a peer that
 *      exceeds it has not waited for acknowledgements, and is refused.
 *  R2. A change is acknowledged when it is durable, and not before.
 *  R3. From `begin` on, told services are noted. After `complete`, all others are removed, while new
 *      changes come in. Without a `complete` nothing is removed.
 *  R4. After a refusal, or when the stream is closed, nothing that came on it is written.
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
  /** The services told since `begin`, as long as they are needed. */
  #told: Told | undefined;
  #hasBegun = false;
  #isComplete = false;

  constructor(
    context: ServerContext,
    options: {
      readonly imports: Imports;
      readonly link: ExchangeLink;
      readonly bounds: ExchangeBounds;
      /** Called when the peer has told all its exports once. */
      readonly onComplete: () => void;
    },
  ) {
    this.#context = context;
    this.#imports = options.imports;
    this.#link = options.link;
    this.#framesWaitingMax = options.bounds.framesWaitingMax;
    this.#onComplete = options.onComplete;
  }

  /** Whether the peer has told all its exports over this stream. */
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
    this.#context.log.warn({ peer, reason }, 'a peer broke a rule of the exchange of services');
    this.#link.fail(reason);
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true;
    try {
      for (let frame = this.#waiting[0]; frame !== undefined; frame = this.#waiting[0]) {
        await this.#takeFrame(frame);
        this.#waiting.shift();
      }
    } catch (error) {
      if (error instanceof ChangeRefusal) this.fail(error.message);
      else this.#stopAfter(error);
    } finally {
      this.#isTaking = false;
    }
  }

  /** The state cannot be written: the peer tells everything again on the next stream. */
  #stopAfter(error: unknown): void {
    if (this.#isClosed) return;
    this.close();
    this.#context.log.error(
      { error, peer: this.#link.peering.name },
      'services of a peer could not be stored',
    );
    this.#link.fail('received services could not be written');
  }

  async #takeFrame(frame: ReceivedFrame): Promise<void> {
    if (frame.type === 'begin') {
      this.#told = new Told();
      this.#hasBegun = true;
      this.#isComplete = false;
    } else if (!this.#hasBegun) {
      throw new ChangeRefusal(`has sent ${frame.type} before begin`);
    } else if (frame.type === 'complete') {
      this.#complete();
    } else {
      await this.#takeChange(frame);
    }
  }

  #complete(): void {
    if (this.#isComplete || this.#told === undefined)
      throw new ChangeRefusal('has sent complete twice');
    const told = this.#told;
    this.#isComplete = true;
    // Changes that come meanwhile are noted as told, so the sweep spares them.
    const sweeping = this.#imports.inTurn(async () => {
      if (this.#isClosed || this.#told !== told) return;
      await this.#imports.sweep(told);
      if (this.#told === told) this.#told = undefined;
    });
    sweeping.then(this.#onComplete, (error: unknown) => this.#stopAfter(error));
  }

  async #takeChange(change: ExchangeChange): Promise<void> {
    if (change.id !== this.#lastId + 1) {
      throw new ChangeRefusal(`has sent the change ${change.id} after ${this.#lastId}`);
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

  /** While everything is told again, exports known from before do not count. */
  #mayHave(service: ServiceKey, isKnown: boolean): boolean {
    if (this.#isComplete) return isKnown;
    return this.#told?.hasService(service) === true;
  }
}
