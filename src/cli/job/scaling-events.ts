import { instantToMs } from '../../base/instant.ts';
import type { ScaleStatus, ScalingEvent } from '../../model/scaling-event/scaling-event.ts';
import { type ClientCommand, verbose } from '../definition.ts';
import { printRecords } from '../list-command.ts';
import { withJob } from '../nouns.ts';
import { ago, oneLine, orDash } from '../render/text.ts';
import { jobArgument } from './argument.ts';

export const jobScalingEvents: ClientCommand = {
  words: ['job', 'scaling-events'],
  summary: 'List the scaling events of a job.',
  definition: {
    isPaged: true,
    arguments: [jobArgument],
    options: [verbose],
    details: 'The newest events come first. Only the newest events of each group are kept.',
  },
  async run(context, [job]) {
    const { value } = await withJob(context, job!, () => context.client.jobs.scaleStatus(job!));
    const events = eventsOf(value);
    return printRecords(context, events, {
      records: events,
      empty: `Nothing was said of the scale of the job "${oneLine(job!)}".`,
      columns: {
        Group: ({ TaskGroup }) => oneLine(TaskGroup),
        Count: ({ Count }) => (Count === null ? '-' : String(Count)),
        Before: ({ PreviousCount }) => String(PreviousCount),
        Said: saidIn,
        When: ({ Time }, { nowMs }) => ago(Time, nowMs),
        Evaluation: ({ EvalID }, { id }) => (EvalID ? id(EvalID) : '-'),
      },
    });
  },
};

function eventsOf({ TaskGroups }: ScaleStatus) {
  return Object.entries(TaskGroups)
    .flatMap(([TaskGroup, { Events }]) => (Events ?? []).map((one) => ({ TaskGroup, ...one })))
    .sort(
      (left, right) =>
        right.CreateIndex - left.CreateIndex || instantToMs(right.Time) - instantToMs(left.Time),
    );
}

/** The error of the event, if it has one, and its message. */
function saidIn({ Error: error, Message }: ScalingEvent): string {
  if (error === true) return `error: ${orDash(Message)}`;
  if (typeof error !== 'string' || error === '') return orDash(Message);
  return Message === ''
    ? `error: ${oneLine(error)}`
    : `error: ${oneLine(error)} (${oneLine(Message)})`;
}
