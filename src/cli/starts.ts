import type { AllocationStub } from '../model/allocation/allocation-stub.ts';
import type { Context } from './context.ts';
import { cliLimits } from './limits.ts';
import { addressesOf } from './render/addresses.ts';
import type { Screen } from './render/screen.ts';
import { oneLine, orDash, plural } from './render/text.ts';

/** Task events that explain why an allocation does not start. */
const telling = new Set([
  'Driver Failure',
  'Setup Failure',
  'Failed Validation',
  'Failed Artifact Download',
  'Terminated',
  'Restarting',
  'Not Restarting',
]);

/** The interval of the lines of a group. */
const stagesOfGroup = 10;

/** Prints the progress of starting allocations: of each, or for many the counts of each group. */
export class StartsTeller {
  readonly #context: Context;
  readonly #screen: Screen;
  readonly #signal: AbortSignal;
  readonly #statuses = new Map<string, string>();
  readonly #events = new Set<string>();
  readonly #stages = new Map<string, number>();
  #lines = 0;
  #hidden = 0;

  constructor(context: Context, screen: Screen, signal: AbortSignal) {
    this.#context = context;
    this.#screen = screen;
    this.#signal = signal;
  }

  /** Prints the changes since the last call. */
  async tell(allocations: readonly AllocationStub[]): Promise<void> {
    const isCrowd = allocations.length > cliLimits.start.linesMax;
    for (const allocation of allocations) {
      const { ID, ClientStatus } = allocation;
      for (const text of this.#eventsOf(allocation)) {
        await (isCrowd ? this.#lineOfFew(text) : this.#screen.line(text));
      }
      if (this.#statuses.get(ID) === ClientStatus) continue;
      this.#statuses.set(ID, ClientStatus);
      if (!isCrowd) await this.#screen.line(await this.#statusOf(allocation));
      else if (ClientStatus === 'failed' || ClientStatus === 'lost') {
        await this.#lineOfFew(await this.#statusOf(allocation));
      }
    }
    if (isCrowd) await this.#tellGroups(allocations);
  }

  /** Prints the remaining lines at the end. */
  async end(): Promise<void> {
    if (this.#hidden > 0) await this.#screen.line(`  … and ${this.#hidden} more`);
  }

  async #lineOfFew(text: string): Promise<void> {
    if (this.#lines === cliLimits.start.linesMax) {
      this.#hidden++;
    } else {
      this.#lines++;
      await this.#screen.line(text);
    }
  }

  async #tellGroups(allocations: readonly AllocationStub[]): Promise<void> {
    const groups = Map.groupBy(allocations, ({ TaskGroup }) => oneLine(TaskGroup));
    const all = `all ${groups.size} groups`;
    const told = groups.size > cliLimits.start.linesMax ? new Map([[all, allocations]]) : groups;
    for (const [name, members] of told) {
      const decided = members.filter(({ ClientStatus }) => ClientStatus !== 'pending').length;
      const stage = Math.floor((decided * stagesOfGroup) / members.length);
      if (this.#stages.get(name) === stage) continue;
      this.#stages.set(name, stage);
      const counts = Map.groupBy(members, ({ ClientStatus }) => ClientStatus);
      const words = [...counts]
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([status, those]) => `${those.length} ${this.#screen.status(status)}`);
      const count = plural(members.length, 'allocation');
      await this.#screen.line(`  ${name}: ${words.join(', ')}, of ${count}`);
    }
  }

  *#eventsOf({ ID, Name, TaskStates }: AllocationStub): Iterable<string> {
    for (const [task, { Events }] of Object.entries(TaskStates ?? {})) {
      for (const { Type, Time, DisplayMessage, Message } of Events ?? []) {
        const key = `${ID} ${task} ${Type} ${Time}`;
        if (!telling.has(Type) || this.#events.has(key)) continue;
        this.#events.add(key);
        const text = oneLine(DisplayMessage || Message);
        yield `  ${oneLine(Name)}  task "${task}": ${Type}${text && `: ${text}`}`;
      }
    }
  }

  async #statusOf(allocation: AllocationStub): Promise<string> {
    const { client, id } = this.#context;
    const { ID, Name, NodeName, ClientStatus, ClientDescription } = allocation;
    const text = `  ${oneLine(Name)}  ${id(ID)}  ${this.#screen.status(ClientStatus)}`;
    if (ClientStatus === 'pending') return `${text} on ${orDash(NodeName)}`;
    if (ClientStatus === 'running') {
      const { value } = await client.allocations.read(ID, { signal: this.#signal });
      return `${text}  ${addressesOf(value.AllocatedResources).join(' ')}`.trimEnd();
    }
    return ClientDescription === '' ? text : `${text}: ${oneLine(ClientDescription)}`;
  }
}
