/**
 * Spans and metrics of all runs, by OpenTelemetry's conventions for generative AI. They are made of the events of runs.
 *
 * The names and attributes of `gen_ai.*` are those of the semantic conventions for generative AI, which are still in
 * development. Those without a name there begin with `kintsugi.`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metrics from "./metrics.ts"
import { promiseCounter } from "./promises.ts"
import { Operations } from "./Operations.ts"
import * as Spans from "./spans.ts"
import * as RunContext from "../event/RunContext.ts"

/** The signals that the layer emits, and whether they have contents. */
type Options = {
  /** Whether the layer makes spans; `true` by default. */
  readonly spans?: boolean
  /** Whether the layer measures metrics; `true` by default. */
  readonly metrics?: boolean
  /** Whether spans contain redacted messages, arguments and results of tools, and texts of errors; `false` by default. */
  readonly content?: boolean
}

/**
 * Spans and metrics of all runs of a program, with options. Spans go to the tracer of the program. A run, its fixers and its sub-agents are
 * one tree of spans, below the span in which the run began; the spans of tools and transports are in that tree too. If a program has the
 * layer twice, the inner one counts.
 */
export const layerWith = ({ content = false, metrics = true, spans = true }: Options): Layer.Layer<never> => {
  const own = [
    ...(spans ? [spansOf(content)] : []),
    ...(metrics ? [durations, Metrics.errorCounter, promiseCounter] : [])
  ]
  for (const make of own) ours.add(make)
  return Layer.effect(
    RunContext.Observers,
    Effect.map(RunContext.Observers, (others) => [...others.filter((other) => !ours.has(other)), ...own])
  )
}

type MakeObserver = (typeof RunContext.Observers.Service)[number]

const ours = new WeakSet<MakeObserver>()

const spansOf =
  (hasContent: boolean): MakeObserver =>
  (context) => {
    const operations = new Operations(Spans.watcher(hasContent), context)
    return (event, at) => operations.hear(event, at)?.span
  }

const durations: MakeObserver = (context) => {
  const operations = new Operations(Metrics.watcher, context)
  return (event, at) => void operations.hear(event, at)
}

/** Spans and metrics of all runs, without content. It is `layerWith` without options. */
export const layer: Layer.Layer<never> = layerWith({})
