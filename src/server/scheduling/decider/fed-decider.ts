import { assert } from '../../../base/assert.ts';
import type { Timer, World } from '../../../base/ports.ts';
import type { Steps } from '../../../base/steps.ts';
import type { SchedulerResult } from '../../../scheduler/view.ts';
import { encodeBatch } from '../../../state/codec.ts';
import { Feed, feedView } from '../../../state/engine/feed.ts';
import type { State } from '../../../state/types.ts';
import type { Log } from '../../context.ts';
import { readerLimits } from '../../readers/limits.ts';
import { ThreadFault } from '../../readers/thread-ends.ts';
import type { Decider, DeciderPort, FromDecider, Question, StartDecider } from './decider.ts';
import { deciderLimits } from './limits.ts';
import { unpacked } from './packed-result.ts';

export interface FedDeciderOptions {
  /** The state of the term. */
  readonly state: Pick<State, 'head' | 'onRan'>;
  readonly start: StartDecider;
  readonly world: Pick<World, 'timers'>;
  readonly log: Log;
}

/** A decider that runs, and all that it was sent. */
interface Run {
  readonly port: DeciderPort;
  readonly feed: Feed;
  isReady: boolean;
}

interface Waiting {
  readonly resolve: (result: Steps<SchedulerResult> | undefined) => void;
  readonly reject: (error: Error) => void;
  late: Timer;
}

/**
 * Feeds a decider the head of a term, from transaction to transaction, and asks it.
 *
 * Invariants
 *  E1. A decider is sent a view of the head and then each transaction after it, once and in order. They need not be
 *      durable: a term that ends takes its decider with it.
 *  E2. Before a question it is sent every transaction that has run, so that it decides on the head.
 *  E3. A decider that has ended is replaced after a while. Until the next one is ready there is none.
 *  E4. A decider that does not answer in time is ended and asked nothing more, also if it cannot be ended.
 *  E5. The bytes that wait for it are bounded (`Feed`).
 */
export class FedDecider implements Decider {
  readonly #options: FedDeciderOptions;
  readonly #unsubscribe: () => void;
  #run: Run | undefined;
  /** Transactions that it was not sent yet. */
  #texts: { readonly text: string }[] = [];
  #lastIndex = 0;
  #length = 0;
  #waiting: Waiting | undefined;
  #restart: Timer | undefined;
  #isStopped = false;

  constructor(options: FedDeciderOptions) {
    this.#options = options;
    this.#unsubscribe = options.state.onRan((_, index, text) => this.#noteTransaction(index, text));
    this.#beginRun();
  }

  decide(question: Question): Promise<Steps<SchedulerResult> | undefined> | undefined {
    const run = this.#run;
    if (run?.isReady !== true || run.feed.isOver) return undefined;
    assert(this.#waiting === undefined, 'a decider is asked one question at a time');
    this.#sendTexts();
    run.port.send({ kind: 'decide', question });
    const { timers } = this.#options.world;
    const late = timers.after(deciderLimits.answerMs, () => this.#endHung(run));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, late };
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
    this.#restart?.clear();
    this.#run?.feed.end();
    this.#run?.port.end();
    this.#run = undefined;
    this.#answerQuestion(({ resolve }) => resolve(undefined));
  }

  #beginRun(): void {
    const { start, state, world } = this.#options;
    const port = start((message) => this.#takeMessage(run, message));
    const feed = new Feed({
      send: (fed) => port.send(fed),
      taken: () => port.taken(),
      tooSlow: () => port.end(new ThreadFault('slow', 'it does not keep up with the log')),
    });
    const run: Run = { port, feed, isReady: false };
    this.#run = run;
    this.#forgetTexts();
    void port.ended.then((error) => this.#replaceRun(run, error));
    void feedView(state.head(), [feed], world.timers);
  }

  /** E4. Its end answers the question. A thread that the system holds does not end, so the question does not wait for long. */
  #endHung(run: Run): void {
    run.isReady = false;
    run.port.end(new ThreadFault('hung', 'it did not answer a question'));
    if (this.#waiting === undefined) return;
    const giveUp = () => this.#answerQuestion(({ resolve }) => resolve(undefined));
    this.#waiting.late = this.#options.world.timers.after(readerLimits.endMs, giveUp);
  }

  /** E3. */
  #replaceRun(run: Run, error: Error | undefined): void {
    if (this.#run !== run) return;
    const { log, world } = this.#options;
    this.#run = undefined;
    run.feed.end();
    const sentence = 'the decider has ended: it is started again';
    if (error === undefined) log.warn({}, sentence);
    else log.error({ error }, sentence);
    this.#answerQuestion(({ resolve }) => resolve(undefined));
    this.#restart = world.timers.after(deciderLimits.restartMs, () => this.#beginRun());
  }

  #takeMessage(run: Run, message: FromDecider): void {
    if (this.#run !== run) return;
    if (message.kind === 'ready') {
      run.isReady = true;
      this.#options.log.info({}, 'evaluations are decided by a thread of their own');
    } else if (message.kind === 'failed') {
      this.#answerQuestion(({ reject }) => reject(new Error(message.reason)));
    } else this.#answerQuestion(({ resolve }) => resolve(unpacked(message.result)));
  }

  #answerQuestion(tell: (waiting: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    waiting.late.clear();
    tell(waiting);
  }

  #noteTransaction(index: number, text: string | undefined): void {
    if (this.#run === undefined || this.#run.feed.isOver) return;
    assert(text !== undefined, 'only this process writes in its term');
    if (this.#texts.length === 0) {
      this.#options.world.timers.soon(() => {
        if (!this.#isStopped) this.#sendTexts();
      });
    }
    this.#texts.push({ text });
    this.#lastIndex = index;
    this.#length += text.length;
    if (this.#length >= deciderLimits.gatheredMax) this.#sendTexts();
  }

  /** Sends the transactions that wait, as one batch. */
  #sendTexts(): void {
    const texts = this.#texts;
    if (texts.length === 0 || this.#run === undefined) return;
    const lastIndex = this.#lastIndex;
    this.#forgetTexts();
    const batch = {
      firstIndex: lastIndex - texts.length + 1,
      lastIndex,
      bytes: encodeBatch(texts),
      previous: undefined,
      hash: undefined,
      timeMs: undefined,
      isPackable: false,
    };
    this.#run.feed.send({ kind: 'batch', batch });
  }

  #forgetTexts(): void {
    this.#texts = [];
    this.#length = 0;
  }
}
