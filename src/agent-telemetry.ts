/** Sends traces and metrics of an agent to a collector, by OTLP over HTTP. Loaded only where a collector is configured. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import {
  type Span as OpenSpan,
  type Tracer as OpenTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { emptyResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Family } from './api/metrics/family.ts';
import { countedFamilies } from './api/metrics/node-families.ts';
import { processFamilies } from './api/metrics/process.ts';
import { metricData, type ShownMetric } from './api/otlp-metrics.ts';
import { delay, type World } from './base/ports.ts';
import type { Span, Tracer } from './base/tracer.ts';
import type { NodeAgent } from './node/node-agent.ts';
import type { Log } from './server/context.ts';
import { tracingLimits } from './server/tracing/limits.ts';
import { Tracing } from './server/tracing/tracing.ts';
import type { State } from './state/types.ts';

/** A collector of OpenTelemetry. */
export interface TelemetrySettings {
  /** `http://127.0.0.1:4318`; traces go to `/v1/traces` below it, metrics to `/v1/metrics`. */
  readonly endpoint: string;
  /** A file with headers for the collector, each `Name: value` on a line of its own. */
  readonly headersFile?: string | undefined;
}

interface CollectorOptions {
  readonly world: World;
  readonly version: string;
  readonly name: string;
  readonly log: Log;
}

/** The way to a collector. */
export interface Collector {
  readonly tracer: Tracer;
  /** Sends metrics from now on. `read` gives them as `GET /v1/metrics` does. */
  push(read: () => Promise<readonly Family[]>): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** The traces and metrics of a server, on their way to a collector. */
export interface Telemetry extends Omit<Collector, 'tracer'> {
  readonly tracing: Tracing;
}

/** Follows the state. @throws Error if the file of the headers cannot be used */
export async function startTelemetry(
  settings: TelemetrySettings,
  { state, ...options }: CollectorOptions & { readonly state: State },
): Promise<Telemetry> {
  const { tracer, push, close } = await openCollector(settings, options);
  const tracing = new Tracing({ state, clock: options.world.clock, tracer });
  return {
    tracing,
    push,
    close: async () => {
      tracing.stop();
      await close();
    },
  };
}

/** The metrics of a node, from its own agent. */
export async function metricsOfNode(node: NodeAgent): Promise<readonly Family[]> {
  const { description, allocations } = node;
  if (description === undefined) return [];
  const rows = {
    node: description,
    allocation: (id: string) => allocations?.get(id)?.allocation,
    // Only registered services have checks here.
    hasService: () => true,
  };
  return countedFamilies(rows, await node.counters());
}

/** The metrics of the process of a node alone. */
export const metricsOfProcess = (): Promise<readonly Family[]> => processFamilies();

/** @throws Error if the file of the headers cannot be used */
export async function openCollector(
  { endpoint, headersFile }: TelemetrySettings,
  { world, version, name, log }: CollectorOptions,
): Promise<Collector> {
  const headers = headersFile === undefined ? {} : headersIn(await readHeaders(headersFile));
  const to = (path: string) => ({
    url: `${endpoint.replace(/\/+$/, '')}${path}`,
    headers,
    timeoutMillis: tracingLimits.collectorMs,
  });
  const resource = resourceFromAttributes({
    'service.name': 'roster',
    'service.version': version,
    'service.instance.id': name,
    'host.name': hostname(),
  });
  const telling = tellingOf(log);
  const exporter = telling(new OTLPTraceExporter(to('/v1/traces')));
  const traces = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  let meters: MeterProvider | undefined;
  return {
    tracer: tracerOf(traces.getTracer('roster', version)),
    push: (read) => {
      const reader = new PeriodicExportingMetricReader({
        exporter: telling(new OTLPMetricExporter(to('/v1/metrics'))),
        exportIntervalMillis: tracingLimits.metricsIntervalMs,
        exportTimeoutMillis: tracingLimits.metricsIntervalMs,
        metricProducers: [producerOf(read, world, version)],
      });
      meters = new MeterProvider({ resource, readers: [reader] });
    },
    close: async () => {
      const sent = Promise.allSettled([traces.shutdown(), meters?.shutdown()]);
      // A collector that is gone must not keep the agent.
      await Promise.race([sent, delay(world.timers, tracingLimits.collectorMs)]);
    },
  };
}

/** Logs that a collector takes nothing, once until it does again. */
function tellingOf(log: Log): <E extends Exporter>(exporter: E) => E {
  let isTold = false;
  return (exporter) => {
    const send = exporter.export.bind(exporter);
    exporter.export = (items, done) =>
      send(items, (result) => {
        const reason = result.error?.message;
        if (reason !== undefined && !isTold) {
          log.warn({ reason }, 'the collector of OpenTelemetry takes nothing');
        }
        isTold = reason !== undefined;
        done(result);
      });
    return exporter;
  };
}

interface Exporter {
  export(items: never, done: (result: { code: number; error?: Error }) => void): void;
}

/** The metrics that the agent keeps anyway. */
function producerOf(
  read: () => Promise<readonly Family[]>,
  { clock }: World,
  version: string,
): MetricProducer {
  const startMs = clock.nowMs();
  return {
    async collect() {
      const metrics = metricData((await read()) as readonly ShownMetric[], {
        startMs,
        endMs: clock.nowMs(),
      });
      const scopeMetrics = [{ scope: { name: 'roster', version }, metrics }];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

function tracerOf(tracer: OpenTracer): Tracer {
  return {
    begin({ name, kind, parent, startMs, attributes }) {
      const above =
        parent === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, {
              ...parent,
              traceFlags: TraceFlags.SAMPLED,
              isRemote: kind === 'server',
            });
      const kinds = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL };
      const options = { kind: kinds[kind], startTime: startMs, attributes: { ...attributes } };
      return spanOf(tracer.startSpan(name, options, above));
    },
  };
}

const spanOf = (span: OpenSpan): Span => ({
  context: span.spanContext(),
  end(endMs, outcome) {
    if (outcome?.isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endMs);
  },
});

async function readHeaders(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`telemetry.otlp.headers_file cannot be read: ${(error as Error).message}`);
  }
}

/** @throws Error naming the line */
function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').map((line) => line.trim());
  const found = lines.flatMap((line, at) => {
    if (line === '') return [];
    const match = /^([\w!#$%&'*+.^`|~-]+):\s*(.+)$/.exec(line);
    if (match === null) {
      throw new Error(`line ${at + 1} of telemetry.otlp.headers_file is not "Name: value"`);
    }
    return [[match[1]!, match[2]!] as const];
  });
  return Object.fromEntries(found);
}
