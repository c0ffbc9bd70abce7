/** The happy turn with a listener of every event and a span for every step, beside the same without them. */
import { Agent, Model, Telemetry } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { each, report, times } from "../figures.ts"
import { assertEqual, interleaved, type Subject } from "../harness.ts"
import * as Ours from "../ours.ts"
import { effects } from "../portion.ts"
import * as Work from "../work.ts"

const runs = 2000
const turns = 2
const agent = Ours.agentOf(Ours.add)

/** Run, two model calls, one tool call. */
const spansEach = 4
/** `run-start`, twice `turn-start`, `model-start`, `model-end` and `turn-end`, `tool-start`, `tool-end`, `run-completed`; no deltas. */
const eventsEach = 12

let spans = 0
const tracer = Tracer.make({
  span: (options) => {
    spans++
    return new Tracer.NativeSpan(options)
  }
})

let heard = 0
const listening = agent.pipe(
  Agent.onEvent(() =>
    Effect.sync(() => {
      heard++
    })
  )
)

const provided = <A, E>(run: Effect.Effect<A, E, Model.Model>) =>
  Effect.provideService(run, Model.Model, Ours.modelOf(turns))

const observed = (subject: Subject): Subject => ({
  ...subject,
  portion: async () => {
    spans = 0
    heard = 0
    await subject.portion()
    assertEqual("spans", spans, runs * spansEach)
    if (heard < runs * eventsEach) throw new Error(`heard ${heard} of at least ${runs * eventsEach} events`)
  }
})

/** The telemetry of a program is built once, around all of its runs. */
const traced = <A>(subject: Effect.Effect<A, unknown>) =>
  subject.pipe(Effect.provide(Telemetry.layerWith({ metrics: false })), Effect.provideService(Tracer.Tracer, tracer))

const portionOf = (name: string, run: Effect.Effect<unknown, unknown>): Subject =>
  observed({
    name,
    portion: () =>
      Effect.runPromise(
        traced(
          Effect.gen(function* () {
            for (let i = 0; i < runs; i++) assertEqual(name, yield* run, Work.answer)
          })
        )
      )
  })

/** As many spans of Effect's own around a run without a listener: what they cost by themselves. */
const inSpans = Effect.suspend(() => agent(Work.input)).pipe(
  Effect.withSpan("tool"),
  Effect.withSpan("model"),
  Effect.withSpan("model"),
  Effect.withSpan("run"),
  Effect.provideService(Tracer.Tracer, tracer)
)

const streamed = Effect.suspend(() => {
  let output: unknown
  const all = Stream.runForEachArray(agent.stream(Work.input), (events) =>
    Effect.sync(() => {
      heard += events.length
      for (const event of events) if (event.type === "run-completed") output = event.output
    })
  )
  return Effect.map(all, () => output)
})

const samples = await interleaved(
  [
    effects("no listener", runs, provided(Effect.suspend(() => agent(Work.input))), Work.answer),
    effects("no listener, in four spans", runs, provided(inSpans), Work.answer),
    portionOf("a listener, and spans", provided(Effect.suspend(() => listening(Work.input)))),
    portionOf("the stream of events, and spans", provided(streamed))
  ],
  { laps: 11 }
)

report("events consumed and spans on", [
  ...each(samples, "no listener", runs),
  ...each(samples, "no listener, in four spans", runs),
  ...each(samples, "a listener, and spans", runs),
  ...each(samples, "the stream of events, and spans", runs),
  times("four spans alone", samples, ["no listener, in four spans", "no listener"]),
  times("with a listener and spans", samples, ["a listener, and spans", "no listener"], { most: 2.2, margin: 0.2 }),
  times("streamed, with spans", samples, ["the stream of events, and spans", "no listener"], { margin: 0.2 })
])
