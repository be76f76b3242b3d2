/** A collector of OpenTelemetry, by OTLP over HTTP in JSON. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the first span of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** The name of the agent that has sent it. */
  readonly instance: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

type Attributes = readonly { readonly key: string; readonly value: { stringValue?: string } }[];

const instanceOf = ({ attributes }: { readonly attributes: Attributes }): string =>
  attributes.find(({ key }) => key === 'service.instance.id')?.value.stringValue ?? '';

export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Names of metrics. */
  readonly metrics = new Set<string>();
  /** Names of metrics, by the name of the agent that has sent them. */
  readonly metricsBy = new Map<string, Set<string>>();
  /** All bodies as they came. */
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly #server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    this.bodies.push(body);
    this.headers.push(request.headers);
    const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(body);
    for (const { resource, scopeSpans } of resourceSpans) {
      const instance = instanceOf(resource);
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, instance });
      }
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const instance = instanceOf(resource);
      const own = this.metricsBy.get(instance) ?? new Set();
      this.metricsBy.set(instance, own);
      for (const { metrics } of scopeMetrics) {
        for (const { name } of metrics) {
          this.metrics.add(name);
          own.add(name);
        }
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });

  async start(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** The spans of a trace as a tree: each name with the names below it, in the order of the alphabet. */
  treeOf(traceId: string, parent: string): object {
    const below = this.spans.filter(
      (span) => span.traceId === traceId && span.parentSpanId === parent,
    );
    const named = below.toSorted((left, right) => (left.name < right.name ? -1 : 1));
    return named.map(({ name, spanId }) => {
      const children = this.treeOf(traceId, spanId) as object[];
      return children.length === 0 ? name : { [name]: children };
    });
  }
}
