/**
 * A user whose token may do everything in its own namespace, and nothing elsewhere, except to mount
 * the nodes' volume read-only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, eventually } from '../support/agent.ts';
import { openExecSocket } from '../support/exec-socket.ts';
import type { Allocation } from '../support/jobs.ts';

/** Stands for a log that could not be read in time. */
export const noAnswer = 'the log was not answered';
const ended = new Set(['complete', 'failed', 'lost']);

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export class Adversary {
  readonly namespace: string;
  readonly #address: string;
  readonly #token: string;

  constructor(namespace: string, address: string, token: string) {
    this.namespace = namespace;
    this.#address = address;
    this.#token = token;
  }

  /** Makes a request in its namespace. An endless answer is cut after the time. */
  async ask(method: string, path: string, body?: object, patienceMs = 20_000): Promise<Answer> {
    const url = new URL(path, this.#address);
    if (!url.searchParams.has('namespace')) url.searchParams.set('namespace', this.namespace);
    const answer = await fetch(url, {
      method,
      headers: { 'x-registry-token': this.#token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    });
    return { status: answer.status, text: await answer.text() };
  }

  register(job: object): Promise<Answer> {
    return this.ask('PUT', '/v1/jobs', { Job: { ...job, Namespace: this.namespace } });
  }

  /** The newest allocation. */
  async allocation(job: string): Promise<Allocation | undefined> {
    const { text } = await this.ask('GET', `/v1/job/${job}/allocations`);
    const found = JSON.parse(text) as Allocation[];
    return found.toSorted((left, right) => right.CreateIndex - left.CreateIndex)[0];
  }

  /** Whether the scheduler has found a node for the job. */
  isPlaced(job: string): Promise<boolean> {
    return eventually(async () => {
      const { text } = await this.ask('GET', `/v1/job/${job}/evaluations`);
      const statuses = (JSON.parse(text) as { Status: string }[]).map(({ Status }) => Status);
      if (statuses.includes('blocked')) return false;
      if ((await this.allocation(job)) === undefined) throw new Error(`${job}: ${statuses}`);
      return true;
    });
  }

  /** Waits until the allocation runs, and returns its id. */
  running(job: string): Promise<string> {
    return eventually(async () => {
      const found = await this.allocation(job);
      if (found?.ClientStatus === 'running') return found.ID;
      const error = new Error(`${job} does not run: ${JSON.stringify(found?.TaskStates)}`);
      throw Object.assign(error, { isFinal: ended.has(found?.ClientStatus ?? '') });
    });
  }

  /** The ended allocation; `undefined` if it does not end in time. */
  async ended(job: string, patienceMs = 30_000): Promise<Allocation | undefined> {
    const endMs = performance.now() + patienceMs;
    while (performance.now() < endMs) {
      const found = await this.allocation(job);
      if (ended.has(found?.ClientStatus ?? '')) return found;
      await sleep(50);
    }
    return undefined;
  }

  /** The output of a command in a task, over a session at the path. */
  async session(path: string, query: Readonly<Record<string, string>>): Promise<string> {
    const url = new URL(path, this.#address);
    url.search = new URLSearchParams({ namespace: this.namespace, ...query }).toString();
    const headers = { 'x-registry-token': this.#token };
    const { stdout, stderr } = await openExecSocket(url.href, headers, [{ stdin: { close: true } }])
      .closed;
    return `${stdout}${stderr}`;
  }

  async output(allocId: string, task = 'task'): Promise<string> {
    const of = (type: string) =>
      this.ask('GET', `/v1/client/fs/logs/${allocId}?task=${task}&type=${type}&plain=true`).then(
        ({ text }) => text,
        (error: Error) => `${noAnswer}: ${error.message}\n`,
      );
    return (await Promise.all([of('stdout'), of('stderr')])).join('');
  }
}

export async function newAdversary(server: Agent, namespace: string): Promise<Adversary> {
  const put = async (path: string, body: object) => {
    const { status, text, json } = await server.request('PUT', path, body);
    if (status !== 200) throw new Error(`${path}: ${text}`);
    return json;
  };
  await put(`/v1/namespace/${namespace}`, { Name: namespace });
  const Rules = `namespace "${namespace}" { policy = "write" variables { path "*" { capabilities = ["write", "read"] } } } host_volume "*" { policy = "read" }`;
  await put('/v1/acl/policy', { Name: namespace, Rules });
  const { SecretID } = await put('/v1/acl/token', { Policies: [{ Name: namespace }] });
  return new Adversary(namespace, server.address, SecretID);
}
