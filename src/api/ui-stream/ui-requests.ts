import { RosterError, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { encodePart, type ServerMessage } from '../../model/ui-stream/messages.ts';
import { problemAnswer } from '../answers.ts';
import type { Answer, Request } from '../http.ts';
import type { Pipeline } from '../pipeline.ts';

export interface UiRequestsOptions {
  readonly pipeline: Pipeline;
  readonly send: (message: ServerMessage) => void;
  /** Resolves when the socket has taken the part, or is closed. */
  readonly sendPart: (part: Uint8Array) => Promise<void>;
  /** A refusal that may mean the end of the connection. */
  readonly onRefused: (answer: Answer) => void;
  /** Called for bugs, not for refusals. */
  readonly onFailure: (error: unknown) => void;
}

/** The calls and streams under way on a connection. */
export class UiRequests {
  readonly #options: UiRequestsOptions;
  readonly #byId = new Map<number, UnderWay>();

  constructor(options: UiRequestsOptions) {
    this.#options = options;
  }

  has(id: number): boolean {
    return this.#byId.has(id);
  }

  /** Sends the answer. `credit`: the bytes that may be sent before the first grant; `undefined`: all. */
  async carry(id: number, makeRequest: () => Request, credit?: number): Promise<void> {
    const underWay = new UnderWay(credit);
    const limit = limits.uiStream.requestsPerConnectionMax;
    if (this.#byId.size >= limit) {
      const refused = refusal('too-many-ui-requests', { limit, kind: 'requests under way' });
      return this.#sendAnswer(id, problemAnswer(refused), underWay);
    }
    this.#byId.set(id, underWay);
    try {
      const answer = await this.#answerTo(makeRequest, underWay);
      if (!underWay.isGone) await this.#sendAnswer(id, answer, underWay);
    } catch (error) {
      this.#options.onFailure(error);
      this.#options.send({ kind: 'broken', id });
    } finally {
      this.#byId.delete(id);
    }
  }

  async #answerTo(makeRequest: () => Request, underWay: UnderWay): Promise<Answer> {
    const { pipeline, onRefused } = this.#options;
    try {
      const request = makeRequest();
      const answer = await pipeline.handle({ ...request, onGone: underWay.onGone });
      if (answer.status >= 400) onRefused(answer);
      return answer;
    } catch (error) {
      if (error instanceof RosterError) return problemAnswer(error);
      throw error;
    }
  }

  async #sendAnswer(id: number, answer: Answer, underWay: UnderWay): Promise<void> {
    const { send, sendPart } = this.#options;
    const { status, headers, body = '' } = answer;
    const head = { id, status, headers };
    if (typeof body === 'string' && body.length <= limits.uiStream.answerLengthMax) {
      send({ kind: 'answer', ...head, body });
      return;
    }
    send({ kind: 'head', ...head });
    try {
      for await (const bytes of piecesIn(body)) {
        for (let at = 0; at < bytes.length; ) {
          const length = await underWay.credit(Math.min(partBytesMax, bytes.length - at));
          if (underWay.isGone) return;
          await sendPart(encodePart(id, bytes.subarray(at, at + length)));
          at += length;
        }
      }
    } catch (error) {
      if (!underWay.isGone) throw error;
      return;
    }
    if (!underWay.isGone) await sendPart(encodePart(id, new Uint8Array()));
  }

  grant(id: number, bytes: number): void {
    this.#byId.get(id)?.grant(bytes);
  }

  end(id: number): void {
    this.#byId.get(id)?.leave();
  }

  endAll(): void {
    for (const underWay of this.#byId.values()) underWay.leave();
  }
}

const { partBytesMax } = limits.uiStream;

async function* piecesIn(body: NonNullable<Answer['body']>): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') yield new TextEncoder().encode(body);
  else if (body instanceof Uint8Array) yield body;
  else yield* body;
}

/** A request under way, until its reader leaves. */
class UnderWay {
  #credit: number;
  #isGone = false;
  readonly #leaving = new Set<() => void>();
  #granted: () => void = () => {};

  constructor(credit = Number.POSITIVE_INFINITY) {
    this.#credit = credit;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  readonly onGone = (run: () => void): (() => void) => {
    if (this.#isGone) run();
    else this.#leaving.add(run);
    return () => this.#leaving.delete(run);
  };

  leave(): void {
    this.#isGone = true;
    for (const run of [...this.#leaving]) run();
    this.#leaving.clear();
    this.#granted();
  }

  grant(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, limits.uiStream.creditBytesMax);
    this.#granted();
  }

  /** Resolves with the number of bytes that may be sent, at most so many; 0: the reader has left. */
  async credit(most: number): Promise<number> {
    while (this.#credit === 0 && !this.#isGone) {
      await new Promise<void>((resolve) => {
        this.#granted = resolve;
      });
    }
    if (this.#isGone) return 0;
    const taken = Math.min(most, this.#credit);
    this.#credit -= taken;
    return taken;
  }
}
